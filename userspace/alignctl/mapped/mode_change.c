// SPDX-License-Identifier: GPL-2.0
/*
 * Change the mode of an align device in use, after checks that the kernel
 * cannot make.
 */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "ledger/mode.h"
#include "mapped/mode_change.h"
#include "remedy/remedy.h"
#include "sysfs/device.h"
#include "sysfs/sysfs.h"

static void warn_shared_below(const struct align_target *target)
{
	CLEANUP_FREE char *reason = NULL;
	struct device below;

	if (device_open_devno(&below, target->table.device, "device below"))
		return;
	reason = device_shared_reason(&below);
	if (reason)
		message_warning("%s; the mode rewrites neighbouring sectors and must be the only writer, on all hosts together",
				reason);
	device_close(&below);
}

void mode_warn_shared(const struct dm_align *device)
{
	size_t i;

	for (i = 0; i < device->nr_targets; i++)
		warn_shared_below(&device->target[i]);
}

bool mode_check_hold(const struct dm_align *device)
{
	CLEANUP_FREE char *detach = remedy_of_name(REMEDY_DETACH,
						   device->name);
	CLEANUP_SYSFS struct sysfs_device self = { 0 };

	if (!sysfs_device_open(&self, device->devno) ||
	    mode_can_hold(self.disk_dir))
		return true;
	message_error("%s: has no volatile write cache, so no flush reaches held writes; '%s', then attach with --mode coalesce or --write-cache on",
		      device->name, detach);
	return false;
}

bool mode_check_report(const struct dm_align *device)
{
	const struct align_target *target = dm_align_smaller(device);
	CLEANUP_FREE char *detach = remedy_of_name(REMEDY_DETACH,
						   device->name);

	if (target)
		message_error("%s: offers logical blocks of %" PRIu32
			      " bytes over those of %" PRIu32
			      ", which only pad and coalesce can; '%s', then attach without --logical",
			      device->name, device->logical,
			      target->lower_logical, detach);
	return !target;
}

int mode_enter(const struct dm_align *device, const char *mode)
{
	CLEANUP_FREE char *message = message_format("mode %s", mode);
	int result = dm_align_message_all(device, message);

	if (result && mode_holds(mode))
		mode_check_hold(device);
	if (result && !mode_rewrites(mode))
		mode_check_report(device);
	return result;
}
