// SPDX-License-Identifier: GPL-2.0
/* alignctl list: every align device, what it lies on, and how it is set. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/table.h"
#include "device/dm.h"
#include "device/mode.h"
#include "device/sysfs.h"
#include "geometry.h"
#include "verbs/verbs.h"

#define JSON_FORMAT	1

static const struct option_row rows[] = {
	{ "json", NULL, "print one JSON object" },
	{ 0 },
};

static int take(size_t row, const char *argument, void *context)
{
	(void)row;
	(void)argument;
	*(bool *)context = true;
	return 0;
}

/* The kernel's name of a device, or its number; for free(). */
static char *kernel_name(dev_t devno)
{
	struct sysfs_device device;
	char *name;

	if (!sysfs_device_open(&device, devno))
		return message_format("%u:%u", major(devno), minor(devno));
	name = message_format("%s", device.name);
	sysfs_device_close(&device);
	return name;
}

/* Null where only device-mapper knows it. */
static void json_add_known(struct json_object *object, const char *key,
			   const struct dm_align *device, uint64_t n)
{
	if (device->from_sysfs)
		json_add_null(object, key);
	else
		json_add_number(object, key, n);
}

static struct json_object *json_target(const struct dm_align *device,
				       const struct dm_align_target *target)
{
	CLEANUP_FREE char *below = kernel_name(target->table.device);
	struct json_object *object = json_new();

	json_add_number(object, "index", target->index);
	json_add_known(object, "start_sector", device, target->start);
	json_add_known(object, "sectors", device, target->length);
	json_add_text(object, "device", below);
	json_add_bool(object, "device_gone", target->device_gone);
	json_add_known(object, "device_start_sector", device,
		       target->table.start);
	json_add_text(object, "mode", target->status.mode);
	json_add_number(object, "physical_block_size",
			target->status.physical);
	if (target->status.offset < 0)
		json_add_text(object, "alignment_offset", "unknown");
	else
		json_add_number(object, "alignment_offset",
				target->status.offset);
	json_add_number(object, "hold_ms", target->hold_ms);
	json_add_number(object, "max_blocks", target->status.max_blocks);
	json_add_number(object, "blocks", target->status.blocks);
	json_add_number(object, "memory_bytes", target->status.memory_bytes);
	json_add_number(object, "memory_high_water_bytes",
			target->memory_high_water);
	json_add_number(object, "epoch", target->status.epoch);
	return object;
}

static void print_json(const struct dm_align *devices, size_t nr)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct json_object *array = json_new_array();
	size_t i, k;

	for (i = 0; i < nr; i++) {
		CLEANUP_FREE char *dm = kernel_name(devices[i].devno);
		struct json_object *device = json_new();
		struct json_object *targets = json_new_array();

		json_add_text(device, "name", devices[i].name);
		json_add_text(device, "dm", dm);
		json_add_known(device, "open_count", &devices[i],
			       devices[i].open_count);
		json_add_bool(device, "suspended", devices[i].suspended);
		json_add_number(device, "held_blocks",
				devices[i].target[0].status.held_blocks);
		json_add_number(device, "degraded",
				devices[i].target[0].status.degraded);
		for (k = 0; k < devices[i].nr_targets; k++)
			json_append(targets,
				    json_target(&devices[i],
						&devices[i].target[k]));
		json_add(device, "targets", targets);
		json_append(array, device);
	}
	json_add(object, "devices", array);
	json_print(object, false);
}

static const char *state(const struct dm_align *device)
{
	if (dm_align_gone(device))
		return "gone";
	if (device->target[0].status.degraded)
		return "degraded";
	return device->suspended ? "suspended" : "live";
}

static void print_table(const struct dm_align *devices, size_t nr)
{
	static const char *const heading[] = {
		"NAME", "DM", "ON", "MODE", "PHYSICAL", "OFFSET", "SIZE-MIB",
		"HOLD-MS", "HELD", "OPEN", "STATE",
	};
	static const bool right[] = {
		false, false, false, false, true, true, true, true, true, true,
		false,
	};
	struct table table = {
		.columns = sizeof(right) / sizeof(right[0]), .right = right,
	};
	size_t i, k;

	for (i = 0; i < table.columns; i++)
		table_add(&table, message_format("%s", heading[i]));
	for (i = 0; i < nr; i++) {
		for (k = 0; k < devices[i].nr_targets; k++) {
			const struct dm_align_target *target =
				&devices[i].target[k];
			const struct align_status *status = &target->status;

			table_add(&table, message_format("%s",
							 devices[i].name));
			table_add(&table, kernel_name(devices[i].devno));
			table_add(&table, kernel_name(target->table.device));
			table_add(&table, message_format("%s", status->mode));
			table_add(&table, message_format("%" PRIu32,
							 status->physical));
			table_add(&table, status->offset < 0 ?
				  message_format("unknown") :
				  message_format("%" PRId64, status->offset));
			table_add(&table, devices[i].from_sysfs ?
				  message_format("-") :
				  message_format("%" PRIu64, target->length >>
						 (20 - ALIGN_SECTOR_SHIFT)));
			table_add(&table, mode_holds(status->mode) ?
				  message_format("%" PRId64, target->hold_ms) :
				  message_format("-"));
			table_add(&table, message_format("%" PRIu64,
							 status->held_blocks));
			table_add(&table, devices[i].from_sysfs ?
				  message_format("-") :
				  message_format("%d", devices[i].open_count));
			table_add(&table, message_format("%s",
							 state(&devices[i])));
		}
	}
	table_print(&table);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct dm_align *devices;
	bool json = false;
	int first, result;
	size_t nr;

	result = options_parse(verb, argc, argv, take, &json, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	result = dm_align_list(&devices, &nr);
	if (result)
		return result;
	if (json)
		print_json(devices, nr);
	else if (nr)
		print_table(devices, nr);
	else
		message_error("no align devices; 'alignctl attach DEV' makes one");
	dm_align_list_free(devices, nr);
	return ALIGNCTL_FINE;
}

const struct verb verb_list = {
	"list", "", 0, 0,
	"Show every align device, what it lies on, and how it is set",
	rows, NULL, run,
};
