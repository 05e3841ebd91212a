// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>

#include "cleanup.h"
#include "device.h"
#include "exit_codes.h"
#include "guard.h"
#include "message.h"
#include "replay_many.h"
#include "reports.h"

static uint64_t places(const struct replay_many *many,
		       const struct device *device)
{
	struct plan plan;

	plan_init(&plan, many->workload);
	plan_options_apply(many->plan, &plan);
	plan_options_places(many->plan, &plan, device);
	return plan.places;
}

/*
 * Over how many bytes random requests spread, where each device would have them
 * spread over all of itself: the same requests are for both. 0: no matter.
 */
static uint64_t common_span(const struct replay_many *many,
			    const struct device *on, const struct device *vs)
{
	uint64_t a, b;

	if (!many->workload || many->workload->order != WORKLOAD_RANDOM)
		return 0;
	a = places(many, on);
	b = places(many, vs);
	return a == b ? 0 : (a < b ? a : b) * many->workload->period;
}

static int check_force(const struct replay_many *many, const struct device *on,
		       const struct device *vs)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		const char *path = many->force[i];

		if (!path || guard_same_device(on, path) ||
		    (vs && guard_same_device(vs, path)))
			continue;
		message_error("--force names %s, but --on is %s%s%s; name the same device",
			      path, many->on, vs ? " and --vs " : "",
			      vs ? many->vs : "");
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/* @vs: NULL for a method. */
static int become(const struct replay_many *many, const struct device *on,
		  const struct device *vs, int argc, char **argv)
{
	uint64_t span = vs ? common_span(many, on, vs) : 0;
	CLEANUP_FREE char *span_option = message_format("--span=%" PRIu64,
							span);
	static char phased[] = "--phased";
	char *more[3] = { NULL };
	size_t nr = 0;

	if (vs && guard_same_device(on, vs->path)) {
		message_error("--vs %s: is the same device as --on %s; name another one",
			      many->vs, many->on);
		return ALIGNCTL_USAGE;
	}
	if (check_force(many, on, vs))
		return ALIGNCTL_USAGE;
	if (many->phased)
		more[nr++] = phased;
	if (span)
		more[nr++] = span_option;
	return reports_become("measure.py", argc, argv, more);
}

int replay_many(const struct replay_many *many, int argc, char **argv)
{
	struct device on, vs;
	int result = device_open(&on, many->on);

	if (result)
		return result;
	if (!many->vs) {
		result = become(many, &on, NULL, argc, argv);
	} else {
		result = device_open(&vs, many->vs);
		if (!result) {
			result = become(many, &on, &vs, argc, argv);
			device_close(&vs);
		}
	}
	device_close(&on);
	return result;
}
