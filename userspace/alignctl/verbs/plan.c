// SPDX-License-Identifier: GPL-2.0
/* alignctl plan: forecast what requests cost on a device. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "forecast/disks_report.h"
#include "forecast/lanes.h"
#include "forecast/report.h"
#include "verbs/plan_disks.h"
#include "verbs/plan_options.h"
#include "verbs/unit_note.h"
#include "verbs/verbs.h"

/* Default size of the device, beyond any request. */
#define ENDLESS_SECTORS	(1ULL << 54)

struct options {
	struct plan_options plan;
	const char *on;
	uint64_t size;
	uint32_t logical;
	uint64_t shift;
	uint32_t cache_block;
	bool touches_only;
	struct plan_disks disks;
	bool json;
};

enum row { ROW_ON = PLAN_NR_ROWS, ROW_LOGICAL, ROW_SIZE, ROW_SHIFT,
	   ROW_CACHE_BLOCK, ROW_TOUCHES_ONLY, ROW_EACH_DISK, ROW_PARTIAL,
	   ROW_MERGE, ROW_MEMORY, ROW_JOBS, ROW_HTML, ROW_JSON };

static const struct option_row rows[] = {
	PLAN_OPTION_ROWS,
	[ROW_ON] = OPTION("on", ARG_DEVICE, "take size and blocks from this device",
			  .excludes = "size logical"),
	[ROW_LOGICAL] = OPTION("logical", ARG_LOGICAL,
			       "logical block size, bytes, without --on (512)"),
	[ROW_SIZE] = OPTION("size", ARG_BYTES(1, OPTION_ANY), "device size, bytes, without --on"),
	[ROW_SHIFT] = OPTION("shift",
			     ARG_NUMBER_AS("SECTORS", 0, ENDLESS_SECTORS - 1,
					   .unit = "sectors of 512 bytes"),
			     "move all requests on by so many 512-byte sectors"),
	[ROW_CACHE_BLOCK] = OPTION("cache-block",
				   ARG_POWER(ALIGN_SECTOR_SIZE,
					     DEVICE_MAX_CACHE_BLOCK),
				   "buffered: block size of the page cache, bytes"),
	[ROW_TOUCHES_ONLY] = OPTION("touches-only", ARG_NONE,
				    "only count touches: quicker, without the modes"),
	[ROW_EACH_DISK] = OPTION("each-disk", ARG_NONE,
				 "trace: a row for each disk, the costliest first",
				 .excludes = "on cache-block buffered fdatasync",
				 .because = "as each disk is planned for by itself"),
	[ROW_PARTIAL] = OPTION("partial", ARG_FILE,
			       "trace: write a partial plan, for --merge",
			       .excludes = "json html on cache-block buffered fdatasync",
			       .because = "as a partial plan only has touches by disk"),
	[ROW_MERGE] = OPTION("merge", ARG_NONE,
			     "combine the partial plans SOURCE...",
			     .only_with = "each-disk partial memory html json",
			     .because = "as the partial plans contain the rest"),
	[ROW_MEMORY] = OPTION("memory", ARG_BYTES(1, OPTION_ANY),
			      "several disks: at most N bytes of memory (1G)",
			      .needs = "each-disk partial merge"),
	[ROW_JOBS] = OPTION("jobs", ARG_NUMBER(1, LANES_MOST),
			    "several disks: work on N at a time (all processors)",
			    .needs = "each-disk partial"),
	[ROW_HTML] = OPTION("html", ARG_FILE,
			    "several disks: write the plan as a page, too",
			    .needs = "each-disk merge"),
	[ROW_JSON] = OPTION_JSON,
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct options *options = context;

	if (row < PLAN_NR_ROWS) {
		plan_options_take(&options->plan, row, argument);
		return 0;
	}
	switch ((enum row)row) {
	case ROW_ON:
		options->on = argument;
		return 0;
	case ROW_LOGICAL:
		options->logical = options_number(argument);
		return 0;
	case ROW_SIZE:
		options->size = options_number(argument);
		return 0;
	case ROW_SHIFT:
		options->shift = options_number(argument);
		return 0;
	case ROW_CACHE_BLOCK:
		options->cache_block = options_number(argument);
		return 0;
	case ROW_TOUCHES_ONLY:
		options->touches_only = true;
		return 0;
	case ROW_EACH_DISK:
		options->disks.each = true;
		return 0;
	case ROW_PARTIAL:
		options->disks.partial = argument;
		return 0;
	case ROW_MERGE:
		options->disks.merge = true;
		return 0;
	case ROW_MEMORY:
		options->disks.memory = options_number(argument);
		return 0;
	case ROW_JOBS:
		options->disks.jobs = options_number(argument);
		return 0;
	case ROW_HTML:
		options->disks.html = argument;
		return 0;
	case ROW_JSON:
		options->json = true;
		return 0;
	}
	return -1;
}

/*
 * Open the device to plan for: an existing one, or one made up from the options
 * or else from a recording's origin. Return: enum alignctl_exit; reported.
 */
static int open_device(struct device *device, const struct options *options,
		       const struct trace_origin *origin)
{
	if (options->on)
		return device_open(device, options->on);
	*device = (struct device) {
		.path = "the planned device",
		.sectors = options->size ? options->size >> ALIGN_SECTOR_SHIFT :
					   ENDLESS_SECTORS,
		.logical = DISK_LOGICAL,
		.physical = DISK_PHYSICAL,
	};
	if (origin->logical)
		device->logical = origin->logical;
	if (origin->physical)
		device->physical = origin->physical;
	if (options->logical)
		device->logical = options->logical;
	if (options->size % device->logical) {
		message_error("--size %" PRIu64
			      ": must be a multiple of the logical block, %"
			      PRIu32 " bytes", options->size, device->logical);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/*
 * Choose the blocks to plan for. A recording's offset holds only for its own
 * physical block; without recording and device the offset is not known. Return:
 * enum alignctl_exit; reported.
 */
static int choose_blocks(struct align_geometry *g, bool *offset_known,
			 const struct options *options,
			 const struct device *device,
			 const struct trace_origin *origin)
{
	struct plan_options blocks = options->plan;
	bool named = !blocks.physical || blocks.physical == origin->physical;
	int result;

	if (!options->on && !blocks.offset_given && origin->offset_known &&
	    named)
		blocks.offset = origin->offset;
	blocks.offset_given |= !options->on;
	result = plan_options_geometry(&blocks, device, g, offset_known);
	if (!options->on && !options->plan.offset_given && origin->physical)
		*offset_known = origin->offset_known && named;
	return result;
}

/* Complete the workload's plan for a device. Return: enum alignctl_exit. */
static int complete_plan(struct plan *plan, const struct options *options,
			 const struct device *device)
{
	const struct workload *w = plan->workload;
	int result = plan_options_check(&options->plan, w);

	if (result)
		return result;
	plan_options_apply(&options->plan, plan);
	if (((workload_random(w) && !plan->places) ||
	     w->device == WORKLOAD_SPREAD) && !options->on && !options->size &&
	    !options->plan.span) {
		message_error("%s: spreads over the whole device; give --on DEV, --size or --span",
			      w->name);
		return ALIGNCTL_USAGE;
	}
	plan_options_places(&options->plan, plan, device);
	return plan_check_fit(plan, device);
}

/* Refuse options that do not apply to a trace. Return: enum alignctl_exit. */
static int check_trace(const struct options *options, const char *name)
{
	const char *for_workload = plan_options_for_workload(&options->plan);

	if (!for_workload)
		return ALIGNCTL_FINE;
	message_error("--%s: does not apply to %s, a trace; leave it out",
		      for_workload, name);
	return ALIGNCTL_USAGE;
}

/* Return the page-cache block, bytes; 0: direct I/O. */
static uint32_t cache_block(const struct options *options,
			    const struct source *source,
			    const struct device *device)
{
	if (!plan_options_buffered(&options->plan, source->plan.workload))
		return 0;
	if (options->cache_block)
		return options->cache_block;
	return options->on ? device_cache_block(device) :
			     device_default_cache_block(device->logical,
							device->sectors <<
							ALIGN_SECTOR_SHIFT);
}

static int make_forecast(struct source *source, const struct options *options,
			 const struct device *device)
{
	CLEANUP_FREE struct forecast *forecast =
		memory_or_exit(malloc(sizeof(*forecast)));
	int (*const make)(struct forecast *forecast, struct source *source,
			  const struct align_geometry *g, uint64_t shift,
			  uint32_t cache_block) =
		options->touches_only ? forecast_touches : forecast_make;
	const struct trace_facts facts = source_facts(source);
	struct align_geometry g;
	bool offset_known;
	int result;

	result = choose_blocks(&g, &offset_known, options, device,
			       &facts.origin);
	if (!result && options->cache_block &&
	    !plan_options_buffered(&options->plan, source->plan.workload)) {
		message_error("--cache-block: does not apply to %s, which is direct; leave it out, or use --buffered",
			      source->name);
		result = ALIGNCTL_USAGE;
	}
	/* requests that lie further on are on blocks that begin earlier */
	if (!result)
		source_set_blocks(source, g.physical,
				  align_shifted_offset(g.offset, options->shift,
						       g.physical));
	source->plan.fdatasync = options->plan.fdatasync;
	if (!result && source->trace)
		result = check_trace(options, source->name);
	else if (!result)
		result = complete_plan(&source->plan, options, device);
	if (!result && plan_disks_asked(&options->disks))
		return plan_disks_trace(&options->disks, source, &g,
					options->shift, options->touches_only,
					options->json);
	if (!result)
		result = make(forecast, source, &g, options->shift,
			      cache_block(options, source, device));
	if (result)
		return result;
	if (options->json)
		forecast_report_json(forecast, source, offset_known);
	else
		forecast_report_text(forecast, source, offset_known);
	return ALIGNCTL_FINE;
}

/* Check for one source, and that it may have several disks if this is asked. */
static int check_operands(const struct options *options, char **name, int nr)
{
	if (nr > 1) {
		message_error("%s: is a second SOURCE; plan takes one, or with --merge partial plans",
			      name[1]);
		return ALIGNCTL_USAGE;
	}
	if (plan_disks_asked(&options->disks) && workload_find(name[0])) {
		message_error("%s: is a workload, which has one disk; leave --each-disk and --partial out, or give a trace",
			      name[0]);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct options options = { .plan.choice = TRACE_ANY };
	struct trace_origin origin;
	struct source source;
	struct device device;
	int first, result;

	result = options_parse(verb, argc, argv, take_option, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	if (plan_options_method(argv[first], "a workload or a trace"))
		return ALIGNCTL_USAGE;
	if (options.disks.merge) {
		return plan_disks_merge(&options.disks, argv + first,
					argc - first, options.json);
	}
	result = check_operands(&options, argv + first, argc - first);
	if (!result)
		result = source_open_as(&source, argv[first],
					&options.plan.choice);
	if (result)
		return result;
	origin = source_facts(&source).origin;
	result = open_device(&device, &options, &origin);
	if (!result && options.on && !options.plan.physical)
		unit_note(&device, device.physical, false);
	if (!result) {
		result = make_forecast(&source, &options, &device);
		if (options.on)
			device_close(&device);
	}
	source_close(&source);
	return result;
}

static const char *const forms[] = {
	"SOURCE [options]",
	"TRACE --each-disk [options]",
	"TRACE --partial FILE [options]",
	"--merge PARTIAL... [options]",
	NULL,
};

const struct verb verb_plan = {
	"plan", "SOURCE...", 1, INT_MAX,
	"Predict what a workload or a trace costs, without any I/O",
	rows, NULL, run, forms,
	SCHEMA_DOCUMENTS(&forecast_report_schema, &disks_report_schema),
};
