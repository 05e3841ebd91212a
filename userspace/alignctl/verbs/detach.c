// SPDX-License-Identifier: GPL-2.0
/* alignctl detach: remove an align device, or make it linear again. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/signals.h"
#include "boot/aligntab.h"
#include "boot/persist.h"
#include "ledger/mode.h"
#include "mapped/dm.h"
#include "mapped/online.h"
#include "mapped/partitions.h"
#include "remedy/remedy.h"
#include "sysfs/device.h"
#include "sysfs/guard.h"
#include "verbs/verbs.h"

/* How often, and how far apart, a device is looked at that a program has open. */
#define OPEN_LOOKS	25
#define OPEN_PAUSE_NS	200000000

enum row { ROW_FORCE, ROW_PERSIST, ROW_NR };

static const struct option_row rows[] = {
	[ROW_FORCE] = OPTION("force", ARG_NONE,
			     "detach even if acknowledged writes are lost"),
	[ROW_PERSIST] = OPTION("persist", ARG_NONE,
			       "for good: remove the line of " ALIGNTAB_FILE),
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	bool *given = context;

	(void)argument;
	given[row] = true;
	return 0;
}

/*
 * Return whether it is known who uses a device: a mount, a swap area, a device
 * above. If not, a program has it open. With @print, report the users.
 */
static bool users_known(const struct dm_align *device, bool print)
{
	struct guard_report report = { 0 };
	struct device self;
	bool known;

	if (device_open_devno(&self, device->devno, device->name))
		return true;
	guard_usage(&report, &self);
	known = report.nr;
	if (print)
		guard_print(&report, &self);
	guard_free(&report);
	device_close(&self);
	return known;
}

/*
 * Write a device's held blocks before it is removed. Removing writes them, too,
 * but does not fail if that fails. Return: enum alignctl_exit; errors have been
 * reported.
 */
static int empty_device(const struct dm_align *device, bool force)
{
	if (!device->state.held_blocks ||
	    !dm_align_message_all(device, "flush"))
		return ALIGNCTL_FINE;
	mode_report_degraded(device->name, dm_align_degraded(device));
	if (!force) {
		message_error("%s: detach would lose these acknowledged writes; use --force to detach all the same",
			      device->name);
		return ALIGNCTL_BUSY;
	}
	message_warning("%s: --force drops these writes; the kernel log, 'dmesg', names each block",
			device->name);
	return ALIGNCTL_FINE;
}

/*
 * Refuse to take smaller logical blocks than those of the device below from the users
 * of a device, whose requests would fail then. Return: enum alignctl_exit; errors have
 * been reported.
 */
static int refuse_larger(const struct dm_align *device)
{
	const struct align_target *target = dm_align_smaller(device);

	if (!target || !device->open_count)
		return ALIGNCTL_FINE;
	message_error("%s: its users have logical blocks of %" PRIu32
		      " bytes, and as a linear one it has those of %" PRIu32
		      "; unmount it or close it first",
		      device->name, device->logical, target->lower_logical);
	return ALIGNCTL_BUSY;
}

/*
 * Put linear back into a device that attach did not make, as a logical volume:
 * it is its maker's to remove. Each segment of align becomes linear by its own
 * table line, under the device's users. Return: enum alignctl_exit; errors have
 * been reported.
 */
static int put_back(const struct dm_align *device, bool force)
{
	struct mapping next;
	struct online online;
	int result = refuse_larger(device);

	if (!result)
		result = online_open(&online, device->name);
	if (result)
		return result;
	if (!mapping_to_linear(&online.mapping, &next)) {
		message_error("%s: its table has lines of other targets than align, so detach cannot put linear back",
			      device->name);
		result = ALIGNCTL_IO;
	} else {
		result = empty_device(device, force);
	}
	if (!result)
		result = online_replace(&online, &next, force);
	if (!result)
		printf("%s: linear again; not removed, as attach has not made it\n",
		       device->name);
	mapping_free(&next);
	online_close(&online);
	return result;
}

/* Refuse to remove a device that is open. Return: as put_back(). */
static int refuse_open(const struct dm_align *device)
{
	CLEANUP_FREE char *node = dm_node(device->name, 0);
	CLEANUP_FREE char *users = remedy_of_device(REMEDY_FIND_USERS, node);

	if (!device->open_count)
		return ALIGNCTL_FINE;
	if (!users_known(device, true))
		message_error("%s: a program has the device open; '%s' names the program",
			      device->name, users);
	message_error("%s: is open (count %d); unmount it or close it first",
		      device->name, device->open_count);
	return ALIGNCTL_BUSY;
}

/* Remove a device that attach made. Return: as put_back(). */
static int remove_device(const struct dm_align *device, bool force)
{
	int result = empty_device(device, force);

	if (!result)
		result = dm_align_remove(device);
	if (result)
		return result;
	printf("%s: detached\n", device->name);
	persist_stop_unit(device->name);
	return ALIGNCTL_FINE;
}

/*
 * Find a device, and if it is to be removed, free it first of the maps of its
 * partitions, which kpartx made for the device alone, and of programs that look
 * at it for a moment: udev does after a write to it. That moment is
 * as long as libdevmapper's for the removal itself; a signal that is held back ends
 * it. @unmapped: set to whether there were maps. @before: the mask before the signals
 * were held back. Return: as dm_align_find().
 */
static int look_until_closed(struct dm_align *device, const char *wanted,
			     bool *unmapped, const sigset_t *before)
{
	const struct timespec pause = { .tv_nsec = OPEN_PAUSE_NS };
	int result = dm_align_find(device, wanted);
	int looks;

	if (result || !device->open_count || !dm_align_attached(device))
		return result;
	*unmapped = partitions_unmap(device);
	for (looks = 0; looks < OPEN_LOOKS && !signals_end(before); looks++) {
		if (looks)
			nanosleep(&pause, NULL);
		dm_align_free(device);
		result = dm_align_find(device, wanted);
		if (result || !device->open_count || users_known(device, false))
			break;
	}
	return result;
}

/*
 * Find a device as look_until_closed() does. One that is to be removed and stays open
 * is refused, and its partitions are mapped again, as they are where a signal has come
 * meanwhile, which ends the program at the return. Return: as put_back(), with nothing
 * to free unless it is ALIGNCTL_FINE.
 */
static int find_closed(struct dm_align *device, const char *wanted, bool *unmapped)
{
	CLEANUP_SIGNALS sigset_t before = signals_block();
	int result = look_until_closed(device, wanted, unmapped, &before);

	if (result || !dm_align_attached(device))
		return result;
	result = signals_end(&before) ? ALIGNCTL_BUSY : refuse_open(device);
	if (result && *unmapped)
		partitions_remap(device);
	if (result)
		dm_align_free(device);
	return result;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct dm_align device;
	bool given[ROW_NR] = { false }, attached, unmapped = false;
	dev_t below;
	int first, result;

	result = options_parse(verb, argc, argv, take_option, given, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	/* a line may be left of a device that could not be attached */
	if (given[ROW_PERSIST] && persist_has_only_line(argv[first]))
		return persist_detach(argv[first], 0);
	result = find_closed(&device, argv[first], &unmapped);
	if (result)
		return result;
	below = device.target[0].table.device;
	attached = dm_align_attached(&device);
	result = attached ? remove_device(&device, given[ROW_FORCE]) :
			    put_back(&device, given[ROW_FORCE]);
	/* a refusal leaves everything as it was */
	if (result && unmapped)
		partitions_remap(&device);
	if (!result && attached && given[ROW_PERSIST])
		result = persist_detach(device.name, below);
	dm_align_free(&device);
	return result;
}

const struct verb verb_detach = {
	"detach", "NAME", 1, 1,
	"Remove an align device, or make it linear again",
	rows, NULL, run, NULL, NULL,
};
