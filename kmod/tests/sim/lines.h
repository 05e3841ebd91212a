/* SPDX-License-Identifier: GPL-2.0 */
/* The written lines of memory, which CPUs would have to pass to one another. */
#ifndef SIM_LINES_H
#define SIM_LINES_H

/* Bytes that caches of CPUs pass on together. */
#define LINES_BYTES	64U

/* Whether the program was built so that written lines are seen. */
int lines_seen(void);
/* Forget all lines. */
void lines_forget(void);
/* Note writes from now on, up to lines_end(). */
void lines_begin(void);
/*
 * Add the lines of the noted writes to allocated memory for which @counts returns
 * true.
 */
void lines_end(int (*counts)(const void *word));
unsigned int lines_nr(void);

#endif
