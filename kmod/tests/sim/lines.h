/* SPDX-License-Identifier: GPL-2.0 */
/* The lines of memory that CPUs would have to pass to one another: what is written. */
#ifndef SIM_LINES_H
#define SIM_LINES_H

/* Bytes that caches of CPUs pass on together. */
#define LINES_BYTES	64U

/* Whether the program was built so that they are seen. */
int lines_seen(void);
/* Forget all lines. */
void lines_forget(void);
/* Note what is written from now on, up to lines_end(). */
void lines_begin(void);
/* Add the lines of what was noted in allocated memory, where @counts says so. */
void lines_end(int (*counts)(const void *word));
unsigned int lines_nr(void);

#endif
