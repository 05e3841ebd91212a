/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs; each is defined in the file verb_<name>.c. */
#ifndef ALIGNCTL_VERBS_H
#define ALIGNCTL_VERBS_H

#include "options.h"

extern const struct verb verb_replay;

#endif
