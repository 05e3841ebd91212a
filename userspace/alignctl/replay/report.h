/* SPDX-License-Identifier: GPL-2.0 */
/* What a replay did, or would do, for people and as JSON. */
#ifndef ALIGNCTL_REPLAY_REPORT_H
#define ALIGNCTL_REPLAY_REPORT_H

#include "base/schema.h"
#include "replay/replay.h"

/*
 * Print the report: with the figures of the run if it was run, with those of the
 * scan if nothing was to be done (--dry-run).
 */
void replay_report(const struct replay *replay);

/*
 * The number of its documents. 1: workloads had latency_us and a name in "workload";
 * of traces "format" was what is source_format; 2: traces had a number, and
 * workloads their own keys
 */
#define REPLAY_FORMAT	3

/* Its documents: of a run, of phases prepare and check, and with --dry-run. */
extern const struct schema_document replay_run_schema;
extern const struct schema_document replay_phase_schema;
extern const struct schema_document replay_dry_schema;
/* The members of the first, for documents with whole runs in them. */
extern const struct schema_row replay_run_members[];
extern const struct schema_row replay_facts_members[];

#endif
