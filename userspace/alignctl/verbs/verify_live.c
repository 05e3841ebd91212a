// SPDX-License-Identifier: GPL-2.0
/*
 * Check the periods and modes, and execute the program that changes modes under
 * load.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "mapped/live.h"
#include "mapped/mode_change.h"
#include "verbs/reports.h"
#include "verbs/verify_live.h"

#define MAX_PERIOD_S	86400

const char *verify_live_period(struct verify_live *arguments, const char *text)
{
	static const char must[] = "must be whole seconds, MIN-MAX or N, from 1 to " OPTION_DIGITS(MAX_PERIOD_S) ", e.g. 10-30";
	uint64_t least, most;

	if (!decimal_read(&text, MAX_PERIOD_S, &least))
		return must;
	most = least;
	if (*text == '-') {
		text++;
		if (!decimal_read(&text, MAX_PERIOD_S, &most))
			return must;
	}
	if (*text || !least || most < least)
		return must;
	arguments->least_s = least;
	arguments->most_s = most;
	return NULL;
}

/* Check for a mode that passes every request on. */
static bool passes_on(const char *mode)
{
	return !mode_rewrites(mode);
}

/* Check whether one of the modes has a property. */
static bool any_mode(const struct verify_live *arguments,
		     bool (*has)(const char *mode))
{
	size_t i;

	for (i = 0; i < arguments->nr_modes; i++)
		if (has(arguments->mode[i]))
			return true;
	return false;
}

/* Say what the modes put at risk that the present one does not. */
static void warn_of_modes(const struct verify_live *arguments, const struct live *live)
{
	if (any_mode(arguments, mode_rewrites) &&
	    !mode_rewrites(live_mode(live)))
		mode_warn_shared(&live->start);
	if (any_mode(arguments, mode_holds) && !mode_holds(live_mode(live)))
		message_warning("%s: in the periods of coalesce a power cut or crash loses writes of about the last %" PRId64
				" ms, as with a drive's volatile write cache, unless they were flushed (fsync) or had FUA",
				live->start.name, live_hold_ms(live));
}

/* Add the device, and the socket of its mode's keeper; -1: there is none. */
static void add_keeper(struct json_object *members, const struct live *live,
		       int socket)
{
	struct json_object *keeper = json_new();

	json_add(keeper, "socket", memory_or_exit(json_object_new_int(socket)));
	json_add_bytes(keeper, "dm", live->dm);
	json_add_bytes(keeper, "mode", live_mode(live));
	json_add(keeper, "hold_ms",
		 memory_or_exit(json_object_new_int64(live_hold_ms(live))));
	json_add_bytes(keeper, "name", live->start.name);
	json_add(members, "keeper", keeper);
}

/* Add the modes and the range of a period, also where they are defaults. */
static void add_periods(struct json_object *members,
			const struct verify_live *arguments)
{
	struct json_object *modes = json_new_array(), *period = json_new_array();
	size_t i;

	for (i = 0; i < arguments->nr_modes; i++)
		json_append(modes, json_from_text(arguments->mode[i]));
	json_append_number(period, arguments->least_s);
	json_append_number(period, arguments->most_s);
	json_add(members, "modes", modes);
	json_add(members, "period", period);
}

/* Start the keeper and become the experiment; as verify_live(). */
static int become_verify(const struct verify_live *arguments, struct live *live,
			 struct given *given)
{
	int socket = -1, result;

	if (!arguments->dry_run) {
		result = live_lock(live);
		if (result)
			return result;
		warn_of_modes(arguments, live);
		socket = live_keep(live);
		if (socket < 0)
			return ALIGNCTL_IO;
	}
	add_keeper(given->members, live, socket);
	add_periods(given->members, arguments);
	result = reports_become("live", given->verb->name, given->members);
	/* the keeper has changed nothing, and ends with the socket */
	cleanup_close(&socket);
	return result;
}

int verify_live(const struct verify_live *arguments, struct given *given)
{
	struct live live;
	int result = live_open(&live, arguments->name);

	if (!result && any_mode(arguments, mode_holds) &&
	    !mode_check_hold(&live.start))
		result = ALIGNCTL_USAGE;
	if (!result && any_mode(arguments, passes_on) &&
	    !mode_check_report(&live.start))
		result = ALIGNCTL_USAGE;
	if (!result)
		result = become_verify(arguments, &live, given);
	live_close(&live);
	return result;
}
