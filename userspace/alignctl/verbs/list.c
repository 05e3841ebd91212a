// SPDX-License-Identifier: GPL-2.0
/* alignctl list: every align device, what it lies on, and how it is set. */
#include <string.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/table.h"
#include "ledger/mode.h"
#include "mapped/dm.h"
#include "sysfs/sysfs.h"
#include "verbs/verbs.h"

#define JSON_FORMAT	1

/* A target, and the device that it is one of. */
struct list_row {
	const struct dm_align *device;
	const struct align_target *target;
};

enum list_column {
	LIST_NAME, LIST_DM, LIST_INDEX, LIST_START, LIST_SECTORS, LIST_ON,
	LIST_GONE, LIST_ON_START, LIST_MODE, LIST_LOGICAL, LIST_PHYSICAL,
	LIST_OFFSET,
	LIST_HOLD, LIST_MAX_BLOCKS, LIST_BLOCKS, LIST_MEMORY, LIST_HIGH_WATER,
	LIST_EPOCH, LIST_HOLDING, LIST_OPEN, LIST_SUSPENDED, LIST_HELD,
	LIST_HELD_BYTES, LIST_HELD_OLDEST, LIST_DEGRADED, LIST_STATE,
};

/* What is OUTER is of the device, the rest of its targets; rows go by NAME. */
static const struct table_column list_columns[] = {
	[LIST_NAME] = { .key = "name", .heading = "NAME",
			.flags = TABLE_OUTER | TABLE_RISING,
		COLUMN_MEMBER(JSON_TEXT, "The device's name") },
	[LIST_DM] = { .key = "dm", .heading = "DM", .flags = TABLE_OUTER,
		COLUMN_MEMBER(JSON_TEXT, "The kernel's name for it") },
	[LIST_INDEX] = { .key = "index",
		COLUMN_MEMBER(JSON_NUMBER, "Number of the target, from 0") },
	[LIST_START] = { .key = "start_sector",
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Where the target begins in the device, in sectors of 512 bytes; null without root privileges") },
	[LIST_SECTORS] = { .key = "sectors", .heading = "SIZE",
			   .flags = TABLE_RIGHT, .unit = FIGURE_SECTORS,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Length of the target; null without root privileges") },
	[LIST_ON] = { .key = "device", .heading = "ON",
		COLUMN_MEMBER(JSON_TEXT,
			"The kernel's name of the device below; its number if it is gone") },
	[LIST_GONE] = { .key = "device_gone",
		COLUMN_MEMBER(JSON_BOOL, "Whether the device below no longer exists") },
	[LIST_ON_START] = { .key = "device_start_sector",
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Where the target begins on the device below, in sectors of 512 bytes; null without root privileges") },
	[LIST_MODE] = { .key = "mode", .heading = "MODE",
		COLUMN_MEMBER(JSON_TEXT, "What the target does", SCHEMA_NAMES(mode_names)) },
	/* where the device makes it: else it is that of the device below */
	[LIST_LOGICAL] = { .key = "logical_block_size", .heading = "LOGICAL",
			   .flags = TABLE_RIGHT | TABLE_OPTIONAL,
			   .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Logical block that the target offers over larger ones of the device below; null: those of the device below") },
	[LIST_PHYSICAL] = { .key = "physical_block_size", .heading = "PHYSICAL",
			    .flags = TABLE_RIGHT, .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER,
			"The blocks by which touches are counted") },
	[LIST_OFFSET] = { .key = "alignment_offset", .heading = "OFFSET",
			  .flags = TABLE_RIGHT, .unit = FIGURE_LENGTH,
		COLUMN_MEMBER(JSON_NUMBER,
			"Where the first physical block begins; unknown: the kernel cannot say, and 0 is used",
			SCHEMA_WORDS("unknown")) },
	[LIST_HOLD] = { .key = "hold_ms", .heading = "HOLD",
			.flags = TABLE_RIGHT, .unit = FIGURE_MS,
		COLUMN_MEMBER(JSON_NUMBER, "How long a partial touch may be held") },
	[LIST_MAX_BLOCKS] = { .key = "max_blocks",
		COLUMN_MEMBER(JSON_NUMBER,
			"Most blocks that may be in memory") },
	[LIST_BLOCKS] = { .key = "blocks",
		COLUMN_MEMBER(JSON_NUMBER, "Blocks in memory now") },
	[LIST_MEMORY] = { .key = "memory_bytes",
		COLUMN_MEMBER(JSON_NUMBER, "Memory in use now") },
	[LIST_HIGH_WATER] = { .key = "memory_high_water_bytes",
		COLUMN_MEMBER(JSON_NUMBER, "Memory in use at most so far") },
	[LIST_EPOCH] = { .key = "epoch",
		COLUMN_MEMBER(JSON_NUMBER,
			"Number of the epoch: a reload that changes the physical block size starts a new one") },
	[LIST_HOLDING] = { .key = "holding",
		COLUMN_MEMBER(JSON_BOOL | JSON_NULL,
			"Whether mode coalesce may acknowledge a partial touch as soon as it is copied; null if the module is older and does not say") },
	[LIST_OPEN] = { .key = "open_count", .heading = "OPEN",
			.flags = TABLE_OUTER | TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"How often it is open; null without root privileges") },
	[LIST_SUSPENDED] = { .key = "suspended", .flags = TABLE_OUTER,
		COLUMN_MEMBER(JSON_BOOL, "Whether it is suspended") },
	[LIST_HELD] = { .key = "held_blocks", .heading = "HELD",
			.flags = TABLE_OUTER | TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER, "Number of blocks that are held") },
	[LIST_HELD_BYTES] = { .key = "held_bytes", .heading = "HELD-BYTES",
			      .flags = TABLE_OUTER | TABLE_RIGHT,
			      .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Acknowledged bytes that are not on the drive yet; null if the module is older and does not say") },
	[LIST_HELD_OLDEST] = { .key = "held_oldest_ms", .heading = "OLDEST",
			       .flags = TABLE_OUTER | TABLE_RIGHT,
			       .unit = FIGURE_MS,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Age of the oldest held block; 0 if nothing is held, null if the module is older and does not say") },
	[LIST_DEGRADED] = { .key = "degraded", .flags = TABLE_OUTER,
		COLUMN_MEMBER(JSON_NUMBER,
			"Number of held blocks that cannot be written back") },
	/* what device_gone, degraded, suspended and holding come to */
	[LIST_STATE] = { .heading = "STATE" },
};

/* Check for a target in mode coalesce that acknowledges nothing early now. */
static bool may_not_hold(const struct align_target *target)
{
	int64_t holding;

	return !strcmp(target->status.mode, "coalesce") &&
	       maybe_get(target->holding, &holding) && !holding;
}

static const char *state_word(const struct dm_align *device)
{
	if (dm_align_gone(device))
		return "gone";
	if (device->state.degraded)
		return "degraded";
	if (device->suspended)
		return "suspended";
	return may_not_hold(&device->target[0]) ? "holds nothing" : "live";
}

/* Null where only device-mapper knows it. */
static struct table_value known(const struct dm_align *device, uint64_t n)
{
	return device->from_sysfs ? table_null() : table_number(n);
}

/* Null where the module, which is older, does not say. */
static struct table_value from_later(struct maybe figure)
{
	int64_t n;

	return maybe_get(figure, &n) ? table_number((uint64_t)n) :
				       table_null();
}

/*
 * Return the age of the oldest held block, as held_oldest_ms; 0 if nothing was
 * held when the status was read, which is earlier: under load, a row could else
 * have an age of no block.
 */
static struct maybe held_oldest(const struct dm_align *device)
{
	if (!maybe_known(device->held_oldest_ms) ||
	    device->state.held_blocks)
		return device->held_oldest_ms;
	return maybe_of(0);
}

static struct table_value list_value(const void *row, size_t column)
{
	const struct list_row *r = row;
	const struct dm_align *device = r->device;
	const struct align_target *target = r->target;
	const struct align_status *status = &target->status;
	int64_t offset, holding;

	switch ((enum list_column)column) {
	case LIST_NAME:
		return table_text(device->name);
	case LIST_DM:
		return table_text_taken(sysfs_name(device->devno));
	case LIST_INDEX:
		return table_number(target->index);
	case LIST_START:
		return known(device, target->start);
	case LIST_SECTORS:
		return known(device, target->length);
	case LIST_ON:
		return table_text(target->device);
	case LIST_GONE:
		return table_bool(target->device_gone);
	case LIST_ON_START:
		return known(device, target->table.start);
	case LIST_MODE:
		return table_text(status->mode);
	case LIST_LOGICAL:
		return target_offers_smaller(target, device->logical) ?
			table_number(device->logical) : table_null();
	case LIST_PHYSICAL:
		return table_number(status->physical);
	case LIST_OFFSET:
		return maybe_get(status->offset, &offset) ?
			table_number((uint64_t)offset) : table_text("unknown");
	case LIST_HOLD:
		return mode_hold_value(status->mode, target->hold_ms);
	case LIST_MAX_BLOCKS:
		return table_number(status->max_blocks);
	case LIST_BLOCKS:
		return table_number(status->blocks);
	case LIST_MEMORY:
		return table_number(status->memory_bytes);
	case LIST_HIGH_WATER:
		return table_number(target->memory_high_water);
	case LIST_EPOCH:
		return table_number(device->state.epoch);
	case LIST_HOLDING:
		return maybe_get(target->holding, &holding) ?
			table_bool(holding) : table_null();
	case LIST_OPEN:
		return known(device, device->open_count);
	case LIST_SUSPENDED:
		return table_bool(device->suspended);
	case LIST_HELD:
		return table_number(device->state.held_blocks);
	case LIST_HELD_BYTES:
		return from_later(device->state.held_bytes);
	case LIST_HELD_OLDEST:
		return from_later(held_oldest(device));
	case LIST_DEGRADED:
		return table_number(device->state.degraded);
	case LIST_STATE:
		return table_text(state_word(device));
	}
	return table_absent();
}

static const struct table_type list_table =
	TABLE_TYPE(list_columns, list_value);

static const struct schema_row target_rows[] = {
	MEMBERS_OF_TABLE(&list_table),
	{ 0 },
};

static const struct schema_row device_rows[] = {
	MEMBERS_OF_TABLE(&list_table, .outer = TABLE_OUTER),
	MEMBER("targets", JSON_ARRAY | JSON_OBJECT, NULL, "For each target",
	       .rows = target_rows),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("devices", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each align device", .rows = device_rows),
	{ 0 },
};

static const struct schema_document document = {
	"list", JSON_FORMAT, NULL, document_rows,
};

static struct json_object *json_device(const struct dm_align *device)
{
	struct json_object *object = json_new(), *targets = json_new_array();
	struct list_row row = { device, &device->target[0] };
	size_t i;

	table_json_outer(object, &list_table, &row);
	for (i = 0; i < device->nr_targets; i++) {
		row.target = &device->target[i];
		json_append(targets, table_json(&list_table, &row));
	}
	json_add(object, "targets", targets);
	return object;
}

static void print_json(const struct dm_align *devices, size_t nr)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < nr; i++)
		json_append(array, json_device(&devices[i]));
	json_add(object, "devices", array);
	json_print(object, false);
}

static void print_table(const struct dm_align *devices, size_t nr)
{
	struct table *table = table_new(&list_table);
	size_t i, k;

	for (i = 0; i < nr; i++) {
		for (k = 0; k < devices[i].nr_targets; k++) {
			const struct list_row row = {
				&devices[i], &devices[i].target[k],
			};

			table_add(table, &row);
		}
	}
	table_print(table, 0);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct dm_align *devices;
	bool json = false;
	int first, result;
	size_t nr;

	result = options_parse(verb, argc, argv, options_take_json, &json, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	result = dm_align_list(&devices, &nr);
	if (json && (nr || !result))
		print_json(devices, nr);
	else if (nr)
		print_table(devices, nr);
	else if (!result)
		message_error("no align devices; 'alignctl attach DEV' makes one");
	dm_align_list_free(devices, nr);
	return result;
}

const struct verb verb_list = {
	"list", "", 0, 0,
	"Show every align device, what it lies on, and how it is set",
	options_json_only, NULL, run, NULL, SCHEMA_DOCUMENTS(&document),
};
