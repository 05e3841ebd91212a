// SPDX-License-Identifier: GPL-2.0
/*
 * Mode coalesce as the callbacks of device-mapper need it.
 */
#include "hold.h"

/* Take what a table line says of holding. */
void hold_take_args(struct align_target *at, const struct align_args *args)
{
	at->engine.held.hold_ms = at->given.hold_ms ? args->hold_ms :
						      ALIGN_DEFAULT_HOLD_MS;
	at->ti->flush_supported = at->given.write_cache_on ||
				  at->mode == ALIGN_COALESCE;
}

/*
 * A device can be opened, and stacked upon, before its first table is resumed.
 * An opener that did that, or has a device open that gains a write cache by this
 * table, has looked already and sends no flushes.
 */
void hold_preresume(struct align_target *at)
{
	if (!node_is_flushed(at->node) &&
	    READ_ONCE(at->mode) == ALIGN_COALESCE)
		DMWARN("%s: coalesce holds nothing: device was open while it had no write cache",
		       dm_device_name(at->node->md));
}

/**
 * hold_say_unwritten - log that held blocks could not be written for a message
 * @at: the target
 * @message: the first word of the message
 * @ret: result of hold_drain(); only -EIO is logged
 */
void hold_say_unwritten(const struct align_target *at, const char *message,
			int ret)
{
	if (ret == -EIO)
		DMERR("%s: message \"%s\": cannot write held blocks; drop_failed discards them",
		      dm_device_name(at->node->md), message);
}

/**
 * hold_message - take a message about holding
 * @at: the target
 * @argc: the number of words
 * @argv: the words:
 *	hold_ms <ms>: change how long a block is held;
 *	drop_failed: give up held blocks that could not be written
 *
 * Return: NULL, or the text of the error.
 */
const char *hold_message(struct align_target *at, unsigned int argc,
			 char **argv)
{
	const char *error;
	unsigned int ms;

	if (argc == 2 && !strcasecmp(argv[0], "hold_ms")) {
		error = table_parse_hold_ms(argv[1], &ms);
		if (error)
			return error;
		WRITE_ONCE(at->given.hold_ms, true);
		hold_set_ms(at, ms);
		return NULL;
	}
	if (argc == 1 && !strcasecmp(argv[0], "drop_failed")) {
		hold_drop_failed(at);
		return NULL;
	}
	return "must be mode|hold_ms|max_blocks <value> or reset_stats|flush|drop_failed";
}
