// SPDX-License-Identifier: GPL-2.0
/* Parse and check depth, threads, warm-up and the other options of a run. */
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "verbs/run_options.h"

void run_options_init(struct run_options *options)
{
	*options = (struct run_options) {
		.plan.choice = TRACE_ANY,
		.replay.timing = ENGINE_NR_TIMINGS,
	};
}

void run_options_take(struct run_options *options, size_t row,
		      const char *argument)
{
	static const struct option_row rows[] = { RUN_OPTION_ROWS };
	struct replay_options *replay = &options->replay;

	if (row < PLAN_NR_ROWS) {
		plan_options_take(&options->plan, row, argument);
		return;
	}
	switch ((enum run_row)row) {
	case RUN_ROW_DEPTH:
		replay->depth = options_number(argument);
		break;
	case RUN_ROW_THINK:
		options->think_given = true;
		replay->think_s = options_real(argument);
		break;
	case RUN_ROW_THREADS:
		replay->threads = options_number(argument);
		break;
	case RUN_ROW_WARMUP:
		replay->warmup_ns = options_real(argument) * NS_PER_S;
		break;
	case RUN_ROW_TIMING:
		replay->timing = options_index(&rows[row], argument);
		break;
	case RUN_ROW_SPEED:
		replay->speed = options_real(argument);
		break;
	case RUN_ROW_SCAN:
		replay->scan = true;
		break;
	case RUN_ROW_NO_CHECK:
		replay->no_check = true;
		break;
	case RUN_ROW_WRAP:
		replay->how = PLACEMENT_WRAP;
		break;
	case RUN_ROW_SCALE:
		replay->how = PLACEMENT_SCALE;
		break;
	case RUN_NR_ROWS:
		break;
	}
}

enum run_kind run_options_kind(const struct run_options *options,
			       const struct workload *w, bool phases)
{
	if (!w)
		return RUN_TRACE;
	if (w->reads)
		return RUN_READS;
	if (phases || (w->order != WORKLOAD_DRAWS &&
		       !plan_options_buffered(&options->plan, w)))
		return RUN_WRITES;
	return RUN_CACHED;
}

int run_options_fit(enum run_kind kind, const struct run_fit *fit, size_t nr)
{
	static const char *const kinds[] = {
		[RUN_WRITES] = "a workload that writes",
		[RUN_READS] = "a workload that reads", [RUN_TRACE] = "a trace",
		[RUN_CACHED] = "a workload that is buffered, or of records",
	};
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!fit[i].given || fit[i].is_for & kind)
			continue;
		message_error("--%s: does not apply to %s; leave it out",
			      fit[i].name, kinds[kind]);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

int run_options_check(const struct run_options *options, enum run_kind kind,
		      const struct workload *w)
{
	enum { WORKLOADS = RUN_WRITES | RUN_READS | RUN_CACHED };
	const struct plan_options *plan = &options->plan;
	const struct replay_options *replay = &options->replay;
	const char *for_trace = plan_options_for_trace(plan);
	const char *for_workload = plan_options_for_workload(plan);
	const struct run_fit fit[] = {
		{ for_trace, RUN_TRACE, for_trace },
		{ for_workload, WORKLOADS, for_workload },
		{ plan->fdatasync, RUN_WRITES | RUN_CACHED | RUN_TRACE,
		  "fdatasync" },
		{ options->think_given, RUN_WRITES | RUN_CACHED, "think" },
		{ replay->timing != ENGINE_NR_TIMINGS,
		  RUN_READS | RUN_CACHED | RUN_TRACE, "timing" },
		{ replay->speed > 0, RUN_READS | RUN_CACHED | RUN_TRACE,
		  "speed" },
		{ replay->scan, RUN_READS | RUN_CACHED | RUN_TRACE, "scan" },
		{ replay->no_check, RUN_CACHED | RUN_TRACE, "no-check" },
		{ replay->how == PLACEMENT_WRAP, RUN_READS | RUN_TRACE, "wrap" },
		{ replay->how == PLACEMENT_SCALE, RUN_READS | RUN_TRACE,
		  "scale" },
	};
	int result = run_options_fit(kind, fit, sizeof(fit) / sizeof(fit[0]));

	if (!result && options->think_given && !w->think_writes) {
		message_error("--think: does not apply to %s, only to db-daemon; leave it out",
			      w->name);
		result = ALIGNCTL_USAGE;
	}
	return result;
}
