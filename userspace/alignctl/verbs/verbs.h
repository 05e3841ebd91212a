/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs; each is defined in verbs/<name>.c. */
#ifndef ALIGNCTL_VERBS_H
#define ALIGNCTL_VERBS_H

#include "base/options.h"

extern const struct verb verb_check;
extern const struct verb verb_attach;
extern const struct verb verb_detach;
extern const struct verb verb_list;
extern const struct verb verb_set;
extern const struct verb verb_stats;
extern const struct verb verb_top;
extern const struct verb verb_replay;
extern const struct verb verb_verify;
extern const struct verb verb_probe;
extern const struct verb verb_conform;
extern const struct verb verb_record;
extern const struct verb verb_convert;
extern const struct verb verb_workloads;
extern const struct verb verb_plan;
extern const struct verb verb_fleet;

#endif
