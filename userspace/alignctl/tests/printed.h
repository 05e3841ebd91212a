/* SPDX-License-Identifier: GPL-2.0 */
/* What a function prints on standard output, which has TAP otherwise. */
#ifndef ALIGNCTL_TESTS_PRINTED_H
#define ALIGNCTL_TESTS_PRINTED_H

/* From begin to end, which returns it for free(). */
void printed_begin(void);
char *printed_end(void);

#endif
