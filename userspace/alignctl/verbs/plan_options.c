// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the options of a workload's plan, fit them to a device, and say what does
 * not fit.
 */
#include <inttypes.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "forecast/forecast.h"
#include "verbs/plan_options.h"
#include "workload/method.h"

const char *plan_options_for_trace(const struct plan_options *options)
{
	const struct trace_choice *choice = &options->choice;

	return choice->disk ? "disk" : choice->columns ? "columns" :
	       choice->from != TRACE_NR_READABLE ? "from" : NULL;
}

const char *plan_options_for_workload(const struct plan_options *options)
{
	return options->count ? "count" : options->start_given ? "start" :
	       options->span ? "span" : options->areas ? "areas" :
	       options->seed_given ? "seed" : NULL;
}

bool plan_options_method(const char *name, const char *instead)
{
	if (workload_find(name) || !method_find(name))
		return false;
	message_error("%s: is a method, which 'alignctl probe' runs; take %s",
		      name, instead);
	return true;
}

void plan_options_take(struct plan_options *options, size_t row,
		       const char *argument)
{
	if (row < CHOICE_NR_ROWS) {
		choice_options_take(&options->choice, row, argument);
		return;
	}
	switch ((enum plan_row)row) {
	case PLAN_ROW_COUNT:
		options->count = options_number(argument);
		break;
	case PLAN_ROW_START:
		options->start_given = true;
		options->start = options_number(argument);
		break;
	case PLAN_ROW_SPAN:
		options->span = options_number(argument);
		break;
	case PLAN_ROW_AREAS:
		options->areas = options_number(argument);
		break;
	case PLAN_ROW_SEED:
		options->seed_given = true;
		options->seed = options_number(argument);
		break;
	case PLAN_ROW_PHYSICAL:
		options->physical = options_number(argument);
		break;
	case PLAN_ROW_OFFSET:
		options->offset_given = true;
		options->offset = options_number(argument);
		break;
	case PLAN_ROW_BUFFERED:
		options->access = PLAN_BUFFERED;
		break;
	case PLAN_ROW_DIRECT:
		options->access = PLAN_DIRECT;
		break;
	case PLAN_ROW_FDATASYNC:
		options->fdatasync = true;
		break;
	case PLAN_NR_ROWS:
		break;
	}
}

bool plan_options_buffered(const struct plan_options *options,
			   const struct workload *w)
{
	if (options->access == PLAN_AS_PUBLISHED)
		return w && w->buffered;
	return options->access == PLAN_BUFFERED;
}

int plan_options_parallel(const struct workload *w, const char *option,
			  uint64_t nr)
{
	if (nr <= 1 || !workload_one_at_a_time(w))
		return ALIGNCTL_FINE;
	message_error("--%s %" PRIu64
		      ": the %s of %s must follow each other; leave it out",
		      option, nr, w->reads ? "reads" : "writes", w->name);
	return ALIGNCTL_USAGE;
}

int plan_options_check(const struct plan_options *options,
		       const struct workload *w)
{
	const char *for_trace = plan_options_for_trace(options);

	if (for_trace) {
		message_error("--%s: does not apply to %s, a workload; leave it out",
			      for_trace, w->name);
		return ALIGNCTL_USAGE;
	}
	if (options->span && !workload_random(w) &&
	    w->device != WORKLOAD_SPREAD) {
		message_error("--span: does not apply to %s; it is for random places, as of rand512 and rand4k, and for seqread and seqwrite",
			      w->name);
		return ALIGNCTL_USAGE;
	}
	if (options->seed_given && !workload_random(w)) {
		message_error("--seed: does not apply to %s; it is for random places, as of rand512 and rand4k",
			      w->name);
		return ALIGNCTL_USAGE;
	}
	if (options->areas && w->order != WORKLOAD_ROUNDS) {
		message_error("--areas: does not apply to %s; it is for areasync", w->name);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

void plan_options_apply(const struct plan_options *options, struct plan *plan)
{
	if (options->count)
		plan->count = options->count;
	if (options->start_given)
		plan->start = options->start;
	if (options->areas)
		plan->places = options->areas;
	if (options->seed_given)
		plan->seed = options->seed;
	plan->buffered = plan_options_buffered(options, plan->workload);
	plan->fdatasync = options->fdatasync;
}

/* Return the shortest request that suits the device, bytes. */
static uint32_t unit_of(const struct plan_options *options,
			const struct device *device)
{
	uint32_t unit = options->physical ? options->physical :
					    device->physical;

	if (unit < device->logical)
		unit = device->logical;
	return unit < device->io_min ? device->io_min : unit;
}

void plan_options_places(const struct plan_options *options, struct plan *plan,
			 const struct device *device)
{
	const struct workload *w = plan->workload;
	uint64_t have = device->sectors << ALIGN_SECTOR_SHIFT;
	uint64_t span = options->span;

	if (w->device == WORKLOAD_UNIT)
		plan->period = plan->length = unit_of(options, device);
	if (w->device != WORKLOAD_SPREAD &&
	    (!workload_random(w) || (plan->places && !span)))
		return;
	if (!span && have > plan->start + WORKLOAD_INSIDE)
		span = have - plan->start - WORKLOAD_INSIDE;
	plan_spread(plan, span);
	if (plan->length && plan->length < w->part[0].bytes &&
	    w->device == WORKLOAD_SPREAD)
		message_warning("%s: %" PRIu64 " probes of %" PRIu32
				" bytes do not fit: shortened to %" PRIu64
				" bytes each", device->path, plan->count,
				w->part[0].bytes, plan->length);
}

int plan_options_geometry(const struct plan_options *options,
			  const struct device *device,
			  struct align_geometry *g, bool *offset_known)
{
	uint32_t physical = device->physical, offset = 0;
	const char *wrong;

	if (options->physical)
		physical = options->physical;
	*offset_known = options->offset_given ||
			device_offset_for(device, physical, &offset);
	if (options->offset_given)
		offset = options->offset;

	wrong = align_geometry_init(g, physical, device->logical, offset, 0,
				    device->sectors);
	if (!wrong)
		wrong = forecast_refuse_blocks(g);
	if (!wrong)
		return ALIGNCTL_FINE;
	message_error("%s: physical block %" PRIu32 ", logical block %" PRIu32
		      ", alignment offset %" PRIu32
		      ": %s; set --physical and --offset", device->path,
		      physical, device->logical, offset, wrong);
	return ALIGNCTL_USAGE;
}

/* Return the number of places, @period apart, from @start to the end. */
static uint64_t most_places(uint64_t start, uint64_t have, uint64_t period)
{
	return have > start ? (have - start) / period : 0;
}

/* Return how to make room, for people; the arguments say which options help. */
static const char *way_out(bool count, bool span, bool start)
{
	if (count && span)
		return "give a smaller --count or a larger --span";
	if (count)
		return "give a smaller --count";
	if (span)
		return "give a larger --span";
	return start ? "give a smaller --start" : "take a larger device";
}

/* Return how to make room where random requests have too few places. */
static const char *more_places(const struct plan *plan, uint64_t have)
{
	uint64_t needed = plan_places_needed(plan);

	/* the places that draws and pairs need do not depend on the count */
	return way_out(plan->places && needed == plan->count,
		       most_places(plan->start, have, plan->period) >= needed,
		       plan->start > plan->workload->start &&
		       most_places(plan->workload->start, have, plan->period));
}

/* Return how to make room where the shortest probes do not fit. */
static const char *room_for_probes(const struct plan *plan, uint64_t have)
{
	uint64_t most = most_places(plan->start, have, WORKLOAD_INSIDE);

	return way_out(plan->count > 1 && most > 1, most >= plan->count,
		       plan->start > plan->workload->start &&
		       most_places(plan->workload->start, have,
				   WORKLOAD_INSIDE) > 1);
}

/* Return how to make room where the last request ends beyond the device. */
static const char *nearer_end(const struct plan *plan, uint64_t have)
{
	const struct workload *w = plan->workload;
	const char *what = "give a smaller --count";
	struct plan least = *plan;

	if (w->order == WORKLOAD_ROUNDS) {
		what = "give a smaller --areas";
		least.places = 1;
	} else if (w->device == WORKLOAD_SPREAD) {
		what = "give a smaller --span";
		least.length = WORKLOAD_INSIDE;
	} else if (workload_random(w)) {
		what = "give a smaller --span";
		least.places = 1;
		/* the journal, before the places, grows with the count */
		if (plan_end(&least) > have ||
		    plan_places_needed(plan) >
		    most_places(plan->start, have, plan->period))
			what = "give a smaller --span and --count";
	}
	least.count = 1;
	if (plan_end(&least) <= have)
		return what;
	least.start = w->start;
	return way_out(false, false, plan->start > w->start &&
		       plan_end(&least) <= have);
}

int plan_check_fit(const struct plan *plan, const struct device *device)
{
	const struct workload *w = plan->workload;
	uint32_t granularity = plan_granularity(plan);
	uint64_t have = device->sectors << ALIGN_SECTOR_SHIFT;
	uint64_t need;

	if (!plan->length && w->device == WORKLOAD_SPREAD) {
		message_error("%s: too small: %s with --count %" PRIu64
			      " needs %u bytes for each; %s",
			      device->path, w->name, plan->count,
			      WORKLOAD_INSIDE, room_for_probes(plan, have));
		return ALIGNCTL_USAGE;
	}
	if (granularity < device->logical && w->buffered && !plan->buffered &&
	    (plan->period | plan->length) % device->logical) {
		message_error("--direct: %s writes %" PRIu64
			      " bytes each, not a multiple of %s's logical block, %"
			      PRIu32 " bytes, which the kernel refuses (EINVAL); leave --direct out",
			      w->name, plan->length, device->path,
			      device->logical);
		return ALIGNCTL_USAGE;
	}
	if (plan->buffered)
		granularity = device->logical;
	if (granularity < device->logical && plan->start != w->start) {
		message_error("--start %" PRIu64 ": must be a multiple of %"
			      PRIu32 ", the smallest direct write to %s",
			      plan->start, device->logical, device->path);
		return ALIGNCTL_USAGE;
	}
	if (granularity < device->logical) {
		message_error("%s: %s writes in units of %" PRIu32
			      " bytes, and the smallest direct write here is %"
			      PRIu32 "; take another workload or a 512-byte device",
			      device->path, w->name, granularity,
			      device->logical);
		return ALIGNCTL_USAGE;
	}
	if (plan->start < w->first) {
		message_error("--start %" PRIu64 ": %s writes %" PRIu32
			      " bytes before the start; give at least %" PRIu32,
			      plan->start, w->name, w->first, w->first);
		return ALIGNCTL_USAGE;
	}
	if (workload_random(w) && plan_places_needed(plan) > plan->places) {
		message_error("%s: %s with --count %" PRIu64 " needs %" PRIu64
			      " places of %" PRIu64
			      " bytes, but there are %" PRIu64
			      "; %s", device->path, w->name, plan->count,
			      plan_places_needed(plan), plan->period,
			      plan->places, more_places(plan, have));
		return ALIGNCTL_USAGE;
	}
	need = plan_end(plan);
	if (have < need) {
		bool rounds = w->order == WORKLOAD_ROUNDS;

		message_error("%s: too small: %s with --%s %" PRIu64
			      " needs %" PRIu64 " bytes, but the device has %" PRIu64
			      "; %s", device->path, w->name,
			      rounds ? "areas" : "count",
			      rounds ? plan->places : plan->count, need, have,
			      nearer_end(plan, have));
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}
