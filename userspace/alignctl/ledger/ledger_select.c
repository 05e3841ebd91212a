// SPDX-License-Identifier: GPL-2.0
/*
 * Find the align devices that stats is asked about, and read them again for an
 * interval.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "ledger/ledger_select.h"
#include "ledger/mode.h"
#include "sysfs/dm_name.h"
#include "sysfs/sysfs.h"

#define BALANCE_TRIES	5
#define BALANCE_WAIT_NS	20000000L	/* 20 ms */

static void free_device(struct ledger_device *device)
{
	ledger_free(&device->ledger);
	free(device->name);
	free(device->dm);
	free(device->dir);
	memset(device, 0, sizeof(*device));
}

/* Check whether a name that the user gave is the device's. */
static bool means(const char *wanted, const struct ledger_device *device)
{
	CLEANUP_FREE char *name = dm_kernel_name(wanted);
	struct stat found;

	if (!strcmp(name, device->name) || !strcmp(wanted, device->dm))
		return true;
	return strchr(wanted, '/') && !stat(wanted, &found) &&
	       S_ISBLK(found.st_mode) && found.st_rdev == device->devno;
}

/* A search, and which of the wanted names it has met. */
struct search {
	struct ledger_selection *selection;
	bool *found;
};

static void visit_block(const char *name, void *context)
{
	struct search *search = context;
	struct ledger_selection *selection = search->selection;
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_FREE char *epoch = sysfs_text(dir, "align/epoch");
	struct ledger_device device = { 0 };
	bool wanted = !selection->nr_wanted;
	size_t i;

	if (!epoch)
		return;
	device.name = sysfs_text(dir, "dm/name");
	if (!device.name || !sysfs_devno(dir, "dev", &device.devno)) {
		free(device.name);
		return;
	}
	device.dm = message_format("%s", name);
	device.dir = message_format("%s", dir);
	for (i = 0; i < selection->nr_wanted; i++) {
		if (!means(selection->wanted[i], &device))
			continue;
		search->found[i] = true;
		wanted = true;
	}
	if (!wanted) {
		free_device(&device);
		return;
	}
	*ARRAY_APPEND(selection->device, selection->nr) = device;
}

void ledger_select_known(struct ledger_selection *selection,
			 char *const *wanted, size_t nr_wanted, bool *found)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block");
	struct search search = { selection, found };

	memset(selection, 0, sizeof(*selection));
	selection->wanted = wanted;
	selection->nr_wanted = nr_wanted;
	sysfs_each(dir, visit_block, &search);
}

int ledger_select(struct ledger_selection *selection, char *const *wanted,
		  size_t nr_wanted)
{
	CLEANUP_FREE bool *found =
		memory_or_exit(calloc(nr_wanted + 1, sizeof(bool)));
	int result = ALIGNCTL_FINE;
	size_t i;

	ledger_select_known(selection, wanted, nr_wanted, found);
	for (i = 0; i < nr_wanted; i++) {
		if (found[i])
			continue;
		message_error("%s: not an align device; 'alignctl list' shows them",
			      wanted[i]);
		result = ALIGNCTL_USAGE;
	}
	return result;
}

void ledger_select_free(struct ledger_selection *selection)
{
	size_t i;

	for (i = 0; i < selection->nr; i++)
		free_device(&selection->device[i]);
	free(selection->device);
	memset(selection, 0, sizeof(*selection));
}

/* Check whether no write is in flight: else the ledger need not balance now. */
static bool idle(const struct ledger_device *device)
{
	CLEANUP_FREE char *text = sysfs_text(device->dir, "inflight");
	unsigned int reads, writes;

	return text && sscanf(text, "%u %u", &reads, &writes) == 2 && !writes;
}

/*
 * Read a device's ledger until it balances. Return: as ledger_select_read(); with
 * ALIGNCTL_IO nothing has been read or reported but *@error, for free().
 */
static int read_ledger(struct ledger_device *device, char **error)
{
	const struct timespec pause = { .tv_nsec = BALANCE_WAIT_NS };
	const struct align_target *gone;
	int result = ALIGNCTL_FINE;
	bool was_idle;
	int tries;

	for (tries = 0; ; tries++) {
		was_idle = idle(device);
		*error = ledger_read(&device->ledger, device->dir);
		if (*error)
			return ALIGNCTL_IO;
		if (ledger_balanced(&device->ledger) || tries == BALANCE_TRIES)
			break;
		nanosleep(&pause, NULL);
	}
	if (!ledger_balanced(&device->ledger) && was_idle && idle(device)) {
		message_error("%s: the ledger does not balance, and no write is in flight",
			      device->name);
		result = ALIGNCTL_FINDINGS;
	}
	gone = dm_align_gone(&device->ledger.device);
	if (gone) {
		mode_report_gone(device->name, gone->device);
		result = ALIGNCTL_FINDINGS;
	}
	if (ledger_degraded(&device->ledger)) {
		mode_report_degraded(device->name,
				     ledger_degraded(&device->ledger));
		result = ALIGNCTL_FINDINGS;
	}
	return result;
}

/* Check whether the device has lost its last table with an align target. */
static bool is_gone(const struct ledger_device *device)
{
	CLEANUP_FREE char *epoch = message_format("%s/align/epoch",
						  device->dir);

	return access(epoch, F_OK);
}

/* Take device number @i out of the selection. */
static void drop(struct ledger_selection *selection, size_t i)
{
	struct ledger_device *device = &selection->device[i];

	free_device(device);
	selection->nr--;
	memmove(device, device + 1, (selection->nr - i) * sizeof(*device));
}

int ledger_select_read(struct ledger_selection *selection)
{
	int result = ALIGNCTL_FINE, one;
	size_t i = 0;

	while (i < selection->nr) {
		CLEANUP_FREE char *error = NULL;

		one = read_ledger(&selection->device[i], &error);
		if (error && !selection->nr_wanted &&
		    is_gone(&selection->device[i])) {
			drop(selection, i);
			continue;
		}
		if (error)
			message_error("%s", error);
		if (one > result)
			result = one;
		i++;
	}
	return result;
}

size_t ledger_select_read_once(struct ledger_selection *selection)
{
	size_t i = 0, failed = 0;

	while (i < selection->nr) {
		struct ledger_device *device = &selection->device[i];
		CLEANUP_FREE char *error = ledger_read(&device->ledger,
						       device->dir);

		if (!error) {
			i++;
			continue;
		}
		if (!is_gone(device)) {
			message_error("%s", error);
			failed++;
		}
		drop(selection, i);
	}
	return failed;
}

/* Find the device among those read earlier; NULL: it was not there. */
static const struct ledger_device *
find_device(const struct ledger_selection *among,
	    const struct ledger_device *device)
{
	size_t i;

	for (i = 0; i < among->nr; i++)
		if (!strcmp(among->device[i].dm, device->dm) &&
		    !strcmp(among->device[i].name, device->name))
			return &among->device[i];
	return NULL;
}

void ledger_select_count_from(struct ledger_selection *selection,
			      const struct ledger_selection *earlier,
			      uint64_t earlier_ns)
{
	const struct ledger nothing = { .read_ns = earlier_ns };
	const struct ledger_device *before;
	size_t i;

	for (i = 0; i < selection->nr; i++) {
		before = find_device(earlier, &selection->device[i]);
		ledger_count_from(&selection->device[i].ledger,
				  before ? &before->ledger : &nothing);
	}
}
