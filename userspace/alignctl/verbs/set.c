// SPDX-License-Identifier: GPL-2.0
/* alignctl set: change an align device while it is in use. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/figure.h"
#include "base/message.h"
#include "ledger/mode.h"
#include "mapped/dm.h"
#include "mapped/mode_change.h"
#include "mapped/resize.h"
#include "verbs/verbs.h"

struct set_options {
	const char *mode;
	uint64_t hold_ms;
	uint64_t max_blocks;
	bool flush;
	bool drop_failed;
	bool resize;
	bool reset_stats;
};

enum row { ROW_MODE, ROW_HOLD_MS, ROW_MAX_BLOCKS, ROW_FLUSH, ROW_DROP_FAILED,
	   ROW_RESIZE, ROW_RESET_STATS };

static const struct option_row rows[] = {
	[ROW_MODE] = OPTION("mode", ARG_NAME("MODE", mode_names),
			    MODES(MODES_COMMA, MODES_OR)),
	[ROW_HOLD_MS] = MODE_ROW_HOLD_MS,
	[ROW_MAX_BLOCKS] = MODE_ROW_MAX_BLOCKS,
	[ROW_FLUSH] = OPTION("flush", ARG_NONE,
			     "write back held blocks, evict cached ones"),
	[ROW_DROP_FAILED] = OPTION("drop-failed", ARG_NONE,
				   "drop held blocks that cannot be written back"),
	[ROW_RESIZE] = OPTION("resize", ARG_NONE,
			      "grow to the size of the device below"),
	[ROW_RESET_STATS] = OPTION("reset-stats", ARG_NONE,
				   "make 'alignctl stats' count from now on"),
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct set_options *options = context;

	switch ((enum row)row) {
	case ROW_MODE:
		options->mode = argument;
		break;
	case ROW_HOLD_MS:
		options->hold_ms = options_number(argument);
		break;
	case ROW_MAX_BLOCKS:
		options->max_blocks = options_number(argument);
		break;
	case ROW_FLUSH:
		options->flush = true;
		break;
	case ROW_DROP_FAILED:
		options->drop_failed = true;
		break;
	case ROW_RESIZE:
		options->resize = true;
		break;
	case ROW_RESET_STATS:
		options->reset_stats = true;
		break;
	}
	return 0;
}

/* Send a message with a number to each target, unless the number is 0. */
static int tell_number(const struct dm_align *device, const char *name,
		       uint64_t number)
{
	CLEANUP_FREE char *message = message_format("%s %" PRIu64, name,
						    number);

	return number ? dm_align_message_all(device, message) : ALIGNCTL_FINE;
}

/* Drop the blocks that cannot be written, and print how many there were. */
static int drop_failed(const struct dm_align *device)
{
	uint64_t blocks = device->state.degraded;
	int result = dm_align_message_all(device, "drop_failed");

	if (result)
		return result;
	if (blocks)
		printf("%s: %" PRIu64
		       " held block%s dropped; the kernel log, 'dmesg', names each\n",
		       device->name, blocks, PLURAL_OF(blocks));
	else
		printf("%s: no held block had failed\n", device->name);
	return ALIGNCTL_FINE;
}

/* Change the mode. @hold_ms: time to hold just set, ms; 0: it is unchanged. */
static int change_mode(const struct dm_align *device, const char *mode,
		       int64_t hold_ms)
{
	int result;
	size_t i;

	if (mode_rewrites(mode))
		mode_warn_shared(device);
	result = mode_enter(device, mode);
	if (result || !mode_holds(mode))
		return result;
	for (i = 0; i < device->nr_targets && !hold_ms; i++)
		hold_ms = device->target[i].hold_ms;
	mode_print_volatile(device->name, hold_ms);
	return ALIGNCTL_FINE;
}

/*
 * Make all changes. Failed blocks are dropped first: while there are any, no
 * flush succeeds, and no mode that does not hold can be entered.
 */
static int apply_changes(const struct dm_align *device,
			 const struct set_options *options)
{
	int result = ALIGNCTL_FINE;

	if (options->drop_failed)
		result = drop_failed(device);
	if (!result)
		result = tell_number(device, "hold_ms", options->hold_ms);
	if (!result)
		result = tell_number(device, "max_blocks", options->max_blocks);
	if (!result && options->mode)
		result = change_mode(device, options->mode, options->hold_ms);
	if (!result && options->flush)
		result = dm_align_message_all(device, "flush");
	if (!result && options->resize)
		result = resize_device(device);
	/* the ledger belongs to the device, not to a target */
	if (!result && options->reset_stats)
		result = dm_align_message(device, device->target[0].start,
					  "reset_stats");
	return result;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct set_options options = { 0 };
	struct dm_align device;
	int first, result;

	result = options_parse(verb, argc, argv, take_option, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	if (!options.mode && !options.hold_ms && !options.max_blocks &&
	    !options.flush && !options.drop_failed && !options.resize &&
	    !options.reset_stats) {
		message_error("set: nothing to change; 'alignctl set --help' lists what can be set");
		return ALIGNCTL_USAGE;
	}
	result = dm_align_find(&device, argv[first]);
	if (result)
		return result;
	result = apply_changes(&device, &options);
	if (result == ALIGNCTL_IO && dm_align_degraded(&device))
		mode_report_degraded(device.name, dm_align_degraded(&device));
	dm_align_free(&device);
	return result;
}

const struct verb verb_set = {
	"set", "NAME", 1, 1,
	"Change an align device, even while it is mounted",
	rows, NULL, run, NULL, NULL,
};
