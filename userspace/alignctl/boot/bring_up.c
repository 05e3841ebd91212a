// SPDX-License-Identifier: GPL-2.0
/*
 * Attach the device of each line, check one that exists against its line, and
 * detach at shutdown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/bring_up.h"
#include "boot/claim.h"
#include "boot/find.h"
#include "mapped/attach.h"
#include "mapped/dm.h"
#include "mapped/partitions.h"
#include "remedy/remedy.h"
#include "sysfs/device.h"

/*
 * Check that a device that exists is the one that a line means: made by attach,
 * over that device below if it is known. Return: enum alignctl_exit; errors have
 * been reported.
 */
static int check_existing(const struct aligntab_line *line,
			  const struct dm_align *device)
{
	dev_t below = device->target[0].table.device;
	struct find_result result;
	bool other;

	if (!dm_align_attached(device)) {
		message_error("%s: a device of this name exists and was not made by attach; give the line another name",
			      line->name);
		return ALIGNCTL_BUSY;
	}
	find_now(line, &result);
	other = result.nr && !find_has(&result, below);
	if (other)
		message_error("%s: lies on %u:%u, but %s means %s now; detach the device, then attach it anew",
			      line->name, major(below), minor(below),
			      line->device, result.device[0].node);
	find_free(&result);
	return other ? ALIGNCTL_BUSY : ALIGNCTL_FINE;
}

/*
 * Warn of a device that is not as its line says, as after a change of the line
 * that the initramfs does not know.
 */
static void warn_of_difference(const struct aligntab_line *line,
			       const struct dm_align *device)
{
	const struct align_status *status = &device->target[0].status;
	const char *mode = line->options.mode ? line->options.mode : "report";
	CLEANUP_FREE char *set = remedy_of_mode(line->name, mode);
	CLEANUP_FREE char *initramfs = remedy_of_machine(REMEDY_INITRAMFS);

	if (strcmp(status->mode, mode))
		message_warning("%s: is in mode %s, but its line says %s; '%s' changes the device, '%s' updates the initramfs",
				line->name, status->mode, mode, set,
				initramfs);
	if (line->options.logical && line->options.logical < device->logical)
		message_warning("%s: has logical blocks of %" PRIu32
				" bytes, but its line says %" PRIu32
				"; detach the device, then attach it anew",
				line->name, device->logical,
				line->options.logical);
	if (line->options.physical &&
	    line->options.physical != status->physical)
		message_warning("%s: has physical blocks of %" PRIu32
				" bytes, but its line says %" PRIu32
				"; detach the device, then attach it anew",
				line->name, status->physical,
				line->options.physical);
}

/* Create the device of a line over the device whose node is given. */
static int create_device(const struct aligntab_line *line, const char *node)
{
	struct attach_options options = line->options;
	struct device below;
	int result = attach_open(&below, node);

	if (result)
		return result;
	result = attach_create(&options, line->name, &below);
	device_close(&below);
	return result;
}

/* Find the device below, and create that of the line. */
static int find_and_create(const struct aligntab_line *line,
			   unsigned int seconds, bool *missing)
{
	struct find_result found;
	int result = find_wait(line, seconds, &found);

	*missing = !result && !found.nr;
	if (*missing)
		result = ALIGNCTL_IO;
	if (!result)
		result = create_device(line, found.device[0].node);
	find_free(&found);
	return result;
}

int bring_up(const struct aligntab_line *line, unsigned int seconds,
	     bool *missing)
{
	bool existed = dm_name_taken(line->name);
	struct dm_align device;
	int result = ALIGNCTL_FINE;

	*missing = false;
	if (!existed)
		result = find_and_create(line, seconds, missing);
	if (result)
		return result;
	result = dm_align_find(&device, line->name);
	if (result)
		return result;
	if (existed)
		result = check_existing(line, &device);
	if (existed && !result) {
		printf("%s: attached already\n", line->name);
		warn_of_difference(line, &device);
	}
	if (!result) {
		claim_warn(line, device.target[0].table.device);
		result = partitions_map(&device);
	}
	dm_align_free(&device);
	return result;
}

void bring_up_report_missing(const struct aligntab_line *line,
			     unsigned int seconds)
{
	struct find_result found;

	find_now(line, &found);
	if (found.nr && seconds)
		message_error("%s: %s had no size within %u s; is it set up, and a medium in the drive? See timeout= in aligntab(5)",
			      line->name, found.device[0].node, seconds);
	else if (found.nr)
		message_error("%s: %s has no size; is it set up, and a medium in the drive?",
			      line->name, found.device[0].node);
	else if (seconds)
		message_error("%s: device %s did not appear within %u s; is it connected? See timeout= in aligntab(5)",
			      line->name, line->device, seconds);
	else
		message_error("%s: there is no device %s", line->name,
			      line->device);
	find_free(&found);
}

int bring_up_all(const struct aligntab *tab, bool netdev, bool ignore_missing)
{
	int worst = ALIGNCTL_FINE, result;
	bool missing;
	size_t i;

	for (i = 0; i < tab->nr; i++) {
		const struct aligntab_line *line = &tab->line[i];

		if (line->noauto || (line->netdev && !netdev))
			continue;
		result = bring_up(line, 0, &missing);
		if (missing && !ignore_missing)
			bring_up_report_missing(line, 0);
		if (missing && (ignore_missing || line->nofail))
			result = ALIGNCTL_FINE;
		if (!worst)
			worst = result;
	}
	return worst;
}

int bring_down(const char *name)
{
	struct dm_align device;
	int result;

	if (!dm_name_taken(name))
		return ALIGNCTL_FINE;
	result = dm_align_find(&device, name);
	if (result)
		return result;
	if (dm_align_attached(&device)) {
		partitions_unmap(&device);
		result = dm_align_message_all(&device, "flush");
		/* how many have it open may have changed just now */
		if (!result && dm_align_open(&device))
			printf("%s: still open; held blocks are written, and it stays until the end\n",
			       name);
		else if (!result)
			result = dm_align_remove(&device);
	}
	dm_align_free(&device);
	return result;
}
