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

/* Check whether a name that the user gave is the device's. */
static bool means(const char *wanted, const struct dm_align *device)
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
	struct ledger ledger = { 0 };
	bool wanted = !selection->nr_wanted;
	size_t i;

	if (!dm_align_from_sysfs(&ledger.device, name))
		return;
	for (i = 0; i < selection->nr_wanted; i++) {
		if (!means(selection->wanted[i], &ledger.device))
			continue;
		search->found[i] = true;
		wanted = true;
	}
	if (!wanted) {
		ledger_free(&ledger);
		return;
	}
	*ARRAY_APPEND(selection->ledger, selection->nr) = ledger;
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
		ledger_free(&selection->ledger[i]);
	free(selection->ledger);
	memset(selection, 0, sizeof(*selection));
}

/* Check whether no write is in flight: else the ledger need not balance now. */
static bool idle(const struct dm_align *device)
{
	CLEANUP_FREE char *text = sysfs_text(device->dir, "inflight");
	unsigned int reads, writes;

	return text && sscanf(text, "%u %u", &reads, &writes) == 2 && !writes;
}

/*
 * Read a device's ledger until it balances. Return: as ledger_select_read(); with
 * ALIGNCTL_IO nothing has been read or reported but *@error, for free().
 */
static int read_ledger(struct ledger *ledger, char **error)
{
	const struct timespec pause = { .tv_nsec = BALANCE_WAIT_NS };
	const struct align_target *gone;
	int result = ALIGNCTL_FINE;
	bool was_idle;
	int tries;

	for (tries = 0; ; tries++) {
		was_idle = idle(&ledger->device);
		*error = ledger_read(ledger, ledger->device.dir);
		if (*error)
			return ALIGNCTL_IO;
		if (ledger_balanced(ledger) || tries == BALANCE_TRIES)
			break;
		nanosleep(&pause, NULL);
	}
	if (!ledger_balanced(ledger) && was_idle && idle(&ledger->device)) {
		message_error("%s: the ledger does not balance, and no write is in flight",
			      ledger->device.name);
		result = ALIGNCTL_FINDINGS;
	}
	gone = dm_align_gone(&ledger->device);
	if (gone) {
		mode_report_gone(ledger->device.name, gone->device);
		result = ALIGNCTL_FINDINGS;
	}
	if (ledger->device.state.degraded) {
		mode_report_degraded(ledger->device.name,
				     ledger->device.state.degraded);
		result = ALIGNCTL_FINDINGS;
	}
	return result;
}

/* Take device number @i out of the selection. */
static void drop(struct ledger_selection *selection, size_t i)
{
	struct ledger *ledger = &selection->ledger[i];

	ledger_free(ledger);
	selection->nr--;
	memmove(ledger, ledger + 1, (selection->nr - i) * sizeof(*ledger));
}

int ledger_select_read(struct ledger_selection *selection)
{
	int result = ALIGNCTL_FINE, one;
	size_t i = 0;

	while (i < selection->nr) {
		CLEANUP_FREE char *error = NULL;

		one = read_ledger(&selection->ledger[i], &error);
		if (error && !selection->nr_wanted &&
		    dm_align_ended(&selection->ledger[i].device)) {
			drop(selection, i);
			continue;
		}
		if (one > result)
			result = one;
		if (error) {
			message_error("%s", error);
			drop(selection, i);
		} else {
			i++;
		}
	}
	return result;
}

size_t ledger_select_read_once(struct ledger_selection *selection)
{
	size_t i = 0, failed = 0;

	while (i < selection->nr) {
		struct ledger *ledger = &selection->ledger[i];
		CLEANUP_FREE char *error = ledger_read(ledger,
						       ledger->device.dir);

		if (!error) {
			i++;
			continue;
		}
		if (!dm_align_ended(&ledger->device)) {
			message_error("%s", error);
			failed++;
		}
		drop(selection, i);
	}
	return failed;
}

/*
 * Find the device among those read earlier, by the kernel's name, which stays when
 * dmsetup renames it; NULL: it was not there.
 */
static const struct ledger *find_device(const struct ledger_selection *among,
					const struct dm_align *device)
{
	size_t i;

	for (i = 0; i < among->nr; i++)
		if (!strcmp(among->ledger[i].device.dm, device->dm))
			return &among->ledger[i];
	return NULL;
}

void ledger_select_count_from(struct ledger_selection *selection,
			      const struct ledger_selection *earlier,
			      uint64_t earlier_ns)
{
	const struct ledger nothing = { .read_ns = earlier_ns };
	const struct ledger *before;
	size_t i;

	for (i = 0; i < selection->nr; i++) {
		before = find_device(earlier, &selection->ledger[i].device);
		ledger_count_from(&selection->ledger[i],
				  before ? before : &nothing);
	}
}
