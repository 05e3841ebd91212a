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

#define MAX_PERIOD_S	86400U

const char *verify_live_period(const char *text)
{
	static const char must[] = "must be whole seconds, MIN-MAX or N, from 1 to 86400, e.g. 10-30";
	uint64_t least, most;

	if (!decimal_read(&text, MAX_PERIOD_S, &least))
		return must;
	most = least;
	if (*text == '-') {
		text++;
		if (!decimal_read(&text, MAX_PERIOD_S, &most))
			return must;
	}
	return *text || !least || most < least ? must : NULL;
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

/* Start the keeper and become the experiment; as verify_live(). */
static int become_verify(const struct verify_live *arguments, struct live *live,
			 int argc, char **argv)
{
	CLEANUP_FREE char *keeper = NULL;
	char *more[] = { NULL, NULL };
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
	/* the name is last, for it may have commas */
	keeper = message_format("--keeper=%d,%s,%s,%" PRId64 ",%s", socket,
				live->dm, live_mode(live), live_hold_ms(live),
				live->start.name);
	more[0] = keeper;
	result = reports_become("live", argc, argv, more);
	/* the keeper has changed nothing, and ends with the socket */
	cleanup_close(&socket);
	return result;
}

int verify_live(const struct verify_live *arguments, int argc, char **argv)
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
		result = become_verify(arguments, &live, argc, argv);
	live_close(&live);
	return result;
}
