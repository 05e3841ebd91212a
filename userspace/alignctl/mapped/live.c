// SPDX-License-Identifier: GPL-2.0
/*
 * Open an align device in use for an experiment with its modes, and lock it
 * against others.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/figure.h"
#include "base/message.h"
#include "ledger/mode.h"
#include "mapped/live.h"
#include "mapped/mode_change.h"
#include "remedy/remedy.h"
#include "sysfs/sysfs.h"

#define WATCH_MS	1000

static bool same_settings(const struct align_target *a,
			  const struct align_target *b)
{
	return a->index == b->index && a->start == b->start &&
	       a->length == b->length &&
	       a->table.device == b->table.device &&
	       a->table.start == b->table.start &&
	       a->status.physical == b->status.physical &&
	       maybe_equal(a->status.offset, b->status.offset) &&
	       a->status.max_blocks == b->status.max_blocks &&
	       a->hold_ms == b->hold_ms;
}

/* Check whether table and settings of all targets are the same, but the mode. */
static bool same_targets(const struct dm_align *a, const struct dm_align *b)
{
	size_t i;

	if (a->nr_targets != b->nr_targets)
		return false;
	for (i = 0; i < a->nr_targets; i++)
		if (!same_settings(&a->target[i], &b->target[i]))
			return false;
	return true;
}

/* Return the mode of a target that is in neither mode; NULL: none is. */
static const char *other_mode(const struct dm_align *device,
			      const char *const ours[2])
{
	size_t i;

	for (i = 0; i < device->nr_targets; i++) {
		const char *mode = device->target[i].status.mode;

		if (strcmp(mode, ours[0]) && strcmp(mode, ours[1]))
			return mode;
	}
	return NULL;
}

/* Check whether the file in sysfs is still the one that was locked. */
static bool lock_lives(const struct live *live)
{
	char byte;

	return live->lock < 0 || pread(live->lock, &byte, 1, 0) == 1;
}

/* Say what disturbs a device in one of our modes, for free(); NULL: nothing. */
static char *disturbance(const struct live *live, const struct dm_align *now)
{
	uint64_t degraded = now->state.degraded;

	if (dm_align_gone(now))
		return message_format("the device below is gone");
	if (degraded)
		return message_format("degraded: acknowledged writes to %" PRIu64
				      " block%s cannot be written", degraded,
				      PLURAL_OF(degraded));
	if (now->suspended)
		return message_format("was suspended meanwhile");
	if (!same_targets(now, &live->start))
		return message_format("its table or settings were changed meanwhile");
	return NULL;
}

/* Look at the device, for its keeper. */
static enum keeper_sight look(void *context, const char *const ours[2],
			      char **reason)
{
	const struct live *live = context;
	enum keeper_sight sight = KEEPER_AS_LEFT;
	struct dm_align now;
	const char *other;

	if (!lock_lives(live) || !dm_align_again(&now, &live->start)) {
		*reason = message_format("is no align device any more: it was detached, or its table replaced");
		return KEEPER_GONE;
	}
	other = other_mode(&now, ours);
	if (other) {
		*reason = message_format("another program changed its mode meanwhile, to %s",
					 other);
		sight = KEEPER_FOREIGN;
	} else {
		*reason = disturbance(live, &now);
		if (*reason)
			sight = KEEPER_DISTURBED;
	}
	dm_align_free(&now);
	return sight;
}

static int enter(void *context, const char *mode)
{
	const struct live *live = context;
	int result = mode_enter(&live->start, mode);

	if (result == ALIGNCTL_IO && dm_align_degraded(&live->start))
		mode_report_degraded(live->start.name,
				     dm_align_degraded(&live->start));
	return result;
}

/* Check that the device is well. Return: enum alignctl_exit, reported. */
static int check_well(const struct dm_align *device)
{
	const struct align_target *gone = dm_align_gone(device);
	size_t i;

	if (gone) {
		mode_report_gone(device->name, gone->device);
		return ALIGNCTL_IO;
	}
	if (dm_align_degraded(device)) {
		mode_report_degraded(device->name, dm_align_degraded(device));
		return ALIGNCTL_BUSY;
	}
	if (device->suspended) {
		CLEANUP_FREE char *resume = remedy_of_name(REMEDY_DM_RESUME,
							   device->name);

		message_error("%s: is suspended; '%s' first", device->name,
			      resume);
		return ALIGNCTL_BUSY;
	}
	for (i = 1; i < device->nr_targets; i++)
		if (strcmp(device->target[i].status.mode,
			   device->target[0].status.mode)) {
			CLEANUP_FREE char *set = remedy_of_mode(device->name,
				device->target[0].status.mode);

			message_error("%s: its targets are in different modes, which --live cannot put back; '%s' first",
				      device->name, set);
			return ALIGNCTL_BUSY;
		}
	return ALIGNCTL_FINE;
}

int live_open(struct live *live, const char *name)
{
	CLEANUP_SYSFS struct sysfs_device self = { 0 };
	int result;

	*live = (struct live) { .lock = -1 };
	result = dm_align_find(&live->start, name);
	if (result == ALIGNCTL_USAGE) {
		CLEANUP_FREE char *attach = remedy_of_device(
			REMEDY_ATTACH_ONLINE, name);

		message_error("--live compares modes of an align device in use; '%s' makes an align device of a linear one in use",
			      attach);
	}
	if (!result)
		result = check_well(&live->start);
	if (result)
		return result;
	if (!sysfs_device_open(&self, live->start.devno)) {
		message_error("%s: has no folder in sysfs", live->start.name);
		return ALIGNCTL_IO;
	}
	live->dm = memory_or_exit(strdup(self.name));
	live->keeper = (struct keeper_device) {
		.name = live->start.name, .before = live_mode(live),
		.watch_ms = WATCH_MS, .look = look, .enter = enter,
		.context = live,
	};
	return ALIGNCTL_FINE;
}

void live_close(struct live *live)
{
	cleanup_close(&live->lock);
	free(live->dm);
	dm_align_free(&live->start);
}

const char *live_mode(const struct live *live)
{
	return live->start.target[0].status.mode;
}

int64_t live_hold_ms(const struct live *live)
{
	int64_t longest = 0;
	size_t i;

	for (i = 0; i < live->start.nr_targets; i++)
		if (live->start.target[i].hold_ms > longest)
			longest = live->start.target[i].hold_ms;
	return longest;
}

int live_lock(struct live *live)
{
	CLEANUP_FREE char *path = sysfs_path("/sys/class/block/%s/align/epoch",
					     live->dm);

	live->lock = open(path, O_RDONLY | O_CLOEXEC);
	if (live->lock < 0) {
		message_error("%s: %s", path, strerror(errno));
		return ALIGNCTL_IO;
	}
	if (!flock(live->lock, LOCK_EX | LOCK_NB))
		return ALIGNCTL_FINE;
	if (errno != EWOULDBLOCK) {
		message_error("%s: cannot be locked: %s", path,
			      strerror(errno));
		return ALIGNCTL_IO;
	}
	message_error("%s: another 'alignctl verify --live' is changing its mode; wait until that run has ended",
		      live->start.name);
	return ALIGNCTL_BUSY;
}

int live_keep(struct live *live)
{
	return mode_keeper_start(&live->keeper);
}
