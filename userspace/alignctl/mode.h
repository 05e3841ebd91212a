/* SPDX-License-Identifier: GPL-2.0 */
/* The names of the target's modes, as the user may give them. */
#ifndef ALIGNCTL_MODE_H
#define ALIGNCTL_MODE_H

#include <stdbool.h>

/* NULL if @mode can be had, else why not. */
const char *mode_refusal(const char *mode);

/* Does the mode write whole blocks, neighbours of the user's data included? */
bool mode_rewrites(const char *mode);

/* Why options of mode coalesce are refused. */
extern const char mode_needs_coalesce[];

#endif
