/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "alignctl complete WORD...": print the completions of the last WORD, which
 * may be empty, after "alignctl" and the other WORDs. A hidden verb for
 * completion/alignctl, which knows no words itself.
 *
 * Each line is a whole word that begins with the last WORD. The line "/" stands
 * for files, which the shell completes. As bash splits words, "=" between an
 * option and its argument is a WORD of its own.
 */
#ifndef ALIGNCTL_COMPLETE_H
#define ALIGNCTL_COMPLETE_H

#include "base/options.h"

#define COMPLETE_WORD	"complete"

/* Print the completions of the last word, if any. Return: ALIGNCTL_FINE. */
int complete(const struct verb *const *verbs, size_t nr, int argc,
	     char **argv);

#endif
