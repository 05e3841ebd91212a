/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "alignctl complete WORD...": what the last WORD, which may be empty, could be
 * behind "alignctl" and the others. It is for completion/alignctl, which knows
 * nothing itself, and in no help.
 *
 * A line is a whole word that begins with the last WORD. The line "/" stands for
 * the files that do, which the shell knows best; no other word is that. As bash
 * splits it, "=" between an option and its argument is a WORD of its own.
 */
#ifndef ALIGNCTL_COMPLETE_H
#define ALIGNCTL_COMPLETE_H

#include "base/options.h"

#define COMPLETE_WORD	"complete"

/* Answer for these words, of which there may be none. Return: ALIGNCTL_FINE. */
int complete(const struct verb *const *verbs, size_t nr, int argc,
	     char **argv);

#endif
