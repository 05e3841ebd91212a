// SPDX-License-Identifier: GPL-2.0
/* alignctl detach: remove an align device. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/aligntab.h"
#include "boot/partitions.h"
#include "boot/persist.h"
#include "device/device.h"
#include "device/dm.h"
#include "device/guard.h"
#include "device/mode.h"
#include "verbs/verbs.h"

enum row { ROW_FORCE, ROW_PERSIST, ROW_NR };

static const struct option_row rows[] = {
	[ROW_FORCE] = { "force", NULL,
			"detach even if acknowledged writes are lost" },
	[ROW_PERSIST] = { "persist", NULL,
			  "for good: remove the line of " ALIGNTAB_FILE },
	{ 0 },
};

static int take(size_t row, const char *argument, void *context)
{
	bool *given = context;

	(void)argument;
	given[row] = true;
	return 0;
}

/* Report the users of a device, as far as they are known. */
static void print_users(const struct dm_align *device)
{
	struct guard_report report = { 0 };
	struct device self;

	if (device_open_devno(&self, device->devno, device->name))
		return;
	guard_usage(&report, &self);
	guard_print(&report, &self);
	if (!report.nr)
		message_error("%s: open by a program; 'fuser -v /dev/mapper/%s' names it",
			      device->name, device->name);
	guard_free(&report);
	device_close(&self);
}

/*
 * Write a device's held blocks before it is removed. Removing writes them, too,
 * but does not fail if that fails. Return: enum alignctl_exit; errors have been
 * reported.
 */
static int empty(const struct dm_align *device, bool force)
{
	if (!device->target[0].status.held_blocks ||
	    !dm_align_message_all(device, "flush"))
		return ALIGNCTL_FINE;
	mode_report_degraded(device->name, dm_align_degraded(device));
	if (!force) {
		message_error("%s: detach would lose these writes; use --force to detach all the same",
			      device->name);
		return ALIGNCTL_BUSY;
	}
	message_warning("%s: --force drops these writes; the kernel log, 'dmesg', names each block",
			device->name);
	return ALIGNCTL_FINE;
}

/*
 * Refuse a device that attach did not make, as a logical volume whose table was
 * reloaded by hand: it is its maker's to remove. Return: ALIGNCTL_USAGE, after
 * reporting what the device is and what to do.
 */
static int refuse_foreign(const struct dm_align *device)
{
	const char *name = device->name;

	if (!strncmp(device->uuid, "LVM-", strlen("LVM-")))
		message_error("%s: is a logical volume of LVM, not made by attach; restore its table with 'lvchange --refresh /dev/mapper/%s'",
			      name, name);
	else if (!*device->uuid)
		message_error("%s: not made by attach (it has no UUID); remove it with 'dmsetup remove %s'",
			      name, name);
	else
		message_error("%s: not made by attach (its UUID is %s); if it was linear before: dmsetup table %s | sed -E 's/ align ([^ ]+ [^ ]+).*/ linear \\1/' | dmsetup reload %s && dmsetup resume %s",
			      name, device->uuid, name, name, name);
	return ALIGNCTL_USAGE;
}

/*
 * Read a device anew, without the maps of its partitions: kpartx made them for
 * the device alone. Return: as dm_align_find().
 */
static int find_without_partitions(struct dm_align *device, const char *wanted)
{
	int result = dm_align_find(device, wanted);

	if (result || !device->open_count || !dm_align_attached(device))
		return result;
	partitions_unmap(device);
	dm_align_free(device);
	return dm_align_find(device, wanted);
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct dm_align device;
	bool given[ROW_NR] = { false };
	dev_t below;
	int first, result;

	result = options_parse(verb, argc, argv, take, given, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	/* a line may be left of a device that could not be attached */
	if (given[ROW_PERSIST] && persist_has_only_line(argv[first]))
		return persist_detach(argv[first], 0);
	result = find_without_partitions(&device, argv[first]);
	if (result)
		return result;
	below = device.target[0].table.device;
	if (!dm_align_attached(&device)) {
		result = refuse_foreign(&device);
	} else if (device.open_count) {
		print_users(&device);
		message_error("%s: is open (count %d); unmount it or close it first",
			      device.name, device.open_count);
		result = ALIGNCTL_BUSY;
	} else {
		result = empty(&device, given[ROW_FORCE]);
		if (!result)
			result = dm_align_remove(&device);
		if (!result)
			printf("%s: detached\n", device.name);
		if (!result && given[ROW_PERSIST])
			result = persist_detach(device.name, below);
	}
	dm_align_free(&device);
	return result;
}

const struct verb verb_detach = {
	"detach", "NAME", 1, 1,
	"Remove a device that attach created",
	rows, NULL, run,
};
