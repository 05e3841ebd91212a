// SPDX-License-Identifier: GPL-2.0
/*
 * Find a span that suits both devices, and execute the program that alternates
 * between them.
 */
#include <inttypes.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "sysfs/device.h"
#include "sysfs/guard.h"
#include "verbs/compare.h"
#include "verbs/reports.h"
#include "verbs/run_options.h"

/* Return the workload's plan on a device, spread over @span; 0: all of it. */
static struct plan plan_on(const struct compare *compare,
			   const struct device *device, uint64_t span)
{
	struct plan_options options = *compare->plan;
	struct plan plan;

	if (span)
		options.span = span;
	plan_init(&plan, compare->workload);
	plan_options_apply(&options, &plan);
	plan_options_places(&options, &plan, device);
	return plan;
}

static bool same_requests(const struct plan *a, const struct plan *b)
{
	return a->places == b->places && a->period == b->period &&
	       a->length == b->length;
}

/*
 * Find the span, bytes, that makes a workload's requests equal on both devices;
 * 0: they are equal anyway. Return: enum alignctl_exit; reported.
 */
static int common_span(const struct compare *compare, const struct device *on,
		       const struct device *vs, uint64_t *span)
{
	const struct device *small = on->sectors < vs->sectors ? on : vs;
	uint64_t have = small->sectors << ALIGN_SECTOR_SHIFT;
	struct plan a, b;

	*span = 0;
	if (!compare->workload)
		return ALIGNCTL_FINE;
	a = plan_on(compare, on, 0);
	b = plan_on(compare, vs, 0);
	if (same_requests(&a, &b))
		return ALIGNCTL_FINE;
	if (!compare->plan->span && have > a.start + WORKLOAD_INSIDE) {
		*span = have - a.start - WORKLOAD_INSIDE;
		a = plan_on(compare, on, *span);
		b = plan_on(compare, vs, *span);
	}
	if (same_requests(&a, &b))
		return ALIGNCTL_FINE;
	message_error("%s: requests would have %" PRIu64 " bytes on %s and %"
		      PRIu64 " on %s, whose blocks differ; give --physical, or another workload",
		      compare->workload->name, a.length, compare->on, b.length,
		      compare->vs);
	return ALIGNCTL_USAGE;
}

static int check_force(const struct compare *compare, const struct device *on,
		       const struct device *vs)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		const char *path = compare->force[i];

		if (!path || guard_same_device(on, path) ||
		    guard_same_device(vs, path))
			continue;
		message_error("--force names %s, but --on is %s and --vs %s; name the same device",
			      path, compare->on, compare->vs);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

static int become_verify(const struct compare *compare, const struct device *on,
			 const struct device *vs, struct given *given)
{
	uint64_t span = 0;

	if (guard_same_device(on, vs->path)) {
		message_error("--vs %s: is the same device as --on %s; name another one",
			      compare->vs, compare->on);
		return ALIGNCTL_USAGE;
	}
	if (check_force(compare, on, vs) ||
	    common_span(compare, on, vs, &span))
		return ALIGNCTL_USAGE;
	if (span)
		json_add_number(given->members, "span", span);
	json_add_bool(given->members, "in_phases", compare->phased);
	/* each run has the same options */
	given_pass_on(given, RUN_NR_ROWS);
	return reports_become("compare", given->verb->name, given->members);
}

int compare_devices(const struct compare *compare, struct given *given)
{
	struct device on, vs;
	int result = device_open(&on, compare->on);

	if (result)
		return result;
	result = device_open(&vs, compare->vs);
	if (!result) {
		result = become_verify(compare, &on, &vs, given);
		device_close(&vs);
	}
	device_close(&on);
	return result;
}
