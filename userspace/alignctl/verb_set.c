// SPDX-License-Identifier: GPL-2.0
/* alignctl set: changes an align device while it is in use. */
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "device.h"
#include "dm.h"
#include "exit_codes.h"
#include "message.h"
#include "mode.h"
#include "verbs.h"

struct set_options {
	const char *mode;
	uint64_t max_blocks;
	bool flush;
	bool reset_stats;
};

enum row { ROW_MODE, ROW_MAX_BLOCKS, ROW_FLUSH, ROW_RESET_STATS, ROW_HOLD_MS,
	   ROW_DROP_FAILED };

static const struct option_row rows[] = {
	[ROW_MODE] = { "mode", "MODE", "report or pad" },
	[ROW_MAX_BLOCKS] = { "max-blocks", "N",
			     "most physical blocks in memory at once" },
	[ROW_FLUSH] = { "flush", NULL, "forget the blocks that are known" },
	[ROW_RESET_STATS] = { "reset-stats", NULL,
			      "count from here on in 'alignctl stats'" },
	[ROW_HOLD_MS] = { "hold-ms", "MS",
			  "refused: needs mode coalesce" },
	[ROW_DROP_FAILED] = { "drop-failed", NULL,
			      "refused: needs mode coalesce" },
	{ 0 },
};

static int take(size_t row, const char *argument, void *context)
{
	struct set_options *options = context;
	const char *refusal;

	switch ((enum row)row) {
	case ROW_MODE:
		refusal = mode_refusal(argument);
		if (refusal)
			return options_refuse("mode", argument, refusal);
		options->mode = argument;
		return 0;
	case ROW_MAX_BLOCKS:
		if (parse_number(argument, &options->max_blocks))
			return 0;
		return options_refuse("max-blocks", argument,
				      "must be a number of blocks, at least 1");
	case ROW_FLUSH:
		options->flush = true;
		return 0;
	case ROW_RESET_STATS:
		options->reset_stats = true;
		return 0;
	case ROW_HOLD_MS:
	case ROW_DROP_FAILED:
		break;
	}
	return options_refuse(rows[row].name, argument, mode_needs_coalesce);
}

/* Warns if another host may write below a target that rewrites neighbours. */
static void warn_shared(const struct dm_align_target *target)
{
	CLEANUP_FREE char *reason = NULL;
	struct device below;

	if (device_open_devno(&below, target->table.device, "device below"))
		return;
	reason = device_shared_reason(&below);
	if (reason)
		message_warning("%s; mode pad rewrites neighbouring sectors and needs to be the only writer, on all hosts together",
				reason);
	device_close(&below);
}

/* Sends a message to each target of the device. */
static int tell(const struct dm_align *device, const char *message)
{
	int result = ALIGNCTL_FINE;
	size_t i;

	for (i = 0; i < device->nr_targets && !result; i++)
		result = dm_align_message(device, device->target[i].start,
					  message);
	return result;
}

static int change(const struct dm_align *device,
		  const struct set_options *options)
{
	int result = ALIGNCTL_FINE;
	size_t i;

	if (options->max_blocks) {
		CLEANUP_FREE char *message = message_format(
			"max_blocks %" PRIu64, options->max_blocks);

		result = tell(device, message);
	}
	if (!result && options->mode) {
		CLEANUP_FREE char *message = message_format("mode %s",
							    options->mode);

		if (mode_rewrites(options->mode))
			for (i = 0; i < device->nr_targets; i++)
				warn_shared(&device->target[i]);
		result = tell(device, message);
	}
	if (!result && options->flush)
		result = tell(device, "flush");
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

	result = options_parse(verb, argc, argv, take, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	if (!options.mode && !options.max_blocks && !options.flush &&
	    !options.reset_stats) {
		message_error("set: nothing to change; 'alignctl set --help' lists what can be set");
		return ALIGNCTL_USAGE;
	}
	result = dm_align_find(&device, argv[first]);
	if (result)
		return result;
	result = change(&device, &options);
	dm_align_free(&device);
	return result;
}

const struct verb verb_set = {
	"set", "NAME", 1, 1,
	"Change an align device, also while it is mounted",
	rows, NULL, run,
};
