// SPDX-License-Identifier: GPL-2.0
/* Give an align device the size that the device below it has now. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/figure.h"
#include "base/message.h"
#include "ledger/mode.h"
#include "mapped/mapping.h"
#include "mapped/online.h"
#include "mapped/resize.h"
#include "remedy/remedy.h"
#include "sysfs/sysfs.h"

/* Return the size of a device in sectors; 0: it is gone. */
static uint64_t sectors_of(dev_t devno)
{
	CLEANUP_SYSFS struct sysfs_device device = { 0 };
	int64_t sectors;

	if (!sysfs_device_open(&device, devno) ||
	    !sysfs_number(device.dir, "size", &sectors) || sectors < 0)
		return 0;
	return (uint64_t)sectors;
}

/*
 * Refuse a device whose size another program keeps, as its UUID tells: sectors
 * after its own may be another volume's. Return: ALIGNCTL_FINE if there is no
 * such program.
 */
static int refuse_resize(const struct dm_align *device)
{
	const char *name = device->name;
	CLEANUP_FREE char *detach = remedy_of_name(REMEDY_DETACH, name);
	CLEANUP_FREE char *node = dm_node(name, 0);
	CLEANUP_FREE char *attach = remedy_of_device(REMEDY_ATTACH_ONLINE,
						     node);

	if (!strncmp(device->uuid, "LVM-", 4))
		message_error("%s: LVM sets its size: '%s', extend the volume, '%s'",
			      name, detach, attach);
	else if (!strncmp(device->uuid, "part", 4))
		message_error("%s: the partition table sets its size: '%s', change the table, and let kpartx map the partition anew",
			      name, detach);
	else if (*device->uuid && !dm_align_attached(device))
		message_error("%s: not grown, since another program sets its size (UUID %s); resize the device with that program",
			      name, device->uuid);
	else
		return ALIGNCTL_FINE;
	return ALIGNCTL_USAGE;
}

/*
 * Refuse to grow into sectors that another segment, @at, maps or may map.
 * Return: ALIGNCTL_BUSY.
 */
static int refuse_taken(const struct dm_align *device,
			const struct mapping_line *at)
{
	CLEANUP_FREE char *below = NULL;
	struct align_table place;

	if (!mapping_place(at, &place)) {
		message_error("%s: not grown, since the segment at sector %" PRIu64
			      " is of target %s, which may own the new sectors",
			      device->name, at->start, at->type);
		return ALIGNCTL_BUSY;
	}
	below = online_path(place.device);
	message_error("%s: not grown, since the segment at sector %" PRIu64
		      " lies on %s behind the last segment",
		      device->name, at->start, below);
	return ALIGNCTL_BUSY;
}

/*
 * Report the result of mapping_resize() unless the device can grow. @line: the
 * line that the result is about.
 */
static int judge_fit(const struct dm_align *device, enum mapping_fit fit,
		     const struct online *online, size_t line)
{
	const struct mapping_line *at = &online->mapping.line[line];
	CLEANUP_FREE char *below = NULL, *other = NULL;
	struct align_table place;

	if (fit == MAPPING_TAKEN)
		return refuse_taken(device, at);
	if (!mapping_place(at, &place)) {
		message_error("%s: its last segment is of target %s; only linear and align can grow",
			      device->name, at->type);
		return ALIGNCTL_USAGE;
	}
	below = online_path(place.device);
	switch (fit) {
	case MAPPING_UNKNOWN:
		mode_report_gone(device->name, below);
		return ALIGNCTL_IO;
	case MAPPING_CUT:
		message_error("%s: ends at sector %" PRIu64
			      " of %s, which has only %" PRIu64
			      "; not shrunk, since data would be lost: enlarge %s again, or copy the remaining data",
			      device->name, place.start + at->length, below,
			      sectors_of(place.device), below);
		return ALIGNCTL_BUSY;
	case MAPPING_FITS:
		printf("%s: nothing to do: its %s end where %s ends\n",
		       device->name,
		       figure(FIGURE_SECTORS,
			      (double)mapping_sectors(&online->mapping)).text,
		       below);
		return ALIGNCTL_FINE;
	case MAPPING_TAKEN:
	case MAPPING_GROWS:
		break;
	}
	other = dm_other_holder(minor(device->devno), place.device);
	if (!other)
		return ALIGNCTL_FINE;
	message_error("%s: not grown, since %s is used by %s too, which may own the new sectors",
		      device->name, below, other);
	return ALIGNCTL_BUSY;
}

/* Print the old and the new size, and which segment has grown, of several. */
static void print_grown(const struct dm_align *device,
			const struct mapping *now, const struct mapping *next,
			size_t line)
{
	struct align_table place = { 0 };
	CLEANUP_FREE char *below = NULL;
	uint64_t before = mapping_sectors(now), after = mapping_sectors(next);

	mapping_place(&next->line[line], &place);
	below = online_path(place.device);
	printf("%s: grown from %" PRIu64 " to %" PRIu64 " sectors (%s), ",
	       device->name, before, after,
	       figure(FIGURE_SECTORS, (double)after).text);
	if (now->nr > 1)
		printf("by its last segment, ");
	printf("to the end of %s; the file system grows by its own tool\n",
	       below);
}

int resize_device(const struct dm_align *device)
{
	struct online online;
	struct mapping next;
	enum mapping_fit fit;
	int result = refuse_resize(device);
	size_t line;

	if (!result)
		result = online_open(&online, device->name);
	if (result)
		return result;
	fit = mapping_resize(&online.mapping, &next, sectors_of, &line);
	result = judge_fit(device, fit, &online, line);
	if (!result && fit == MAPPING_GROWS) {
		/* a suspend writes what is held, but cannot say that it failed */
		result = dm_align_message_all(device, "flush");
		if (!result)
			result = online_replace(&online, &next, false);
		if (!result)
			print_grown(device, &online.mapping, &next, line);
	}
	mapping_free(&next);
	online_close(&online);
	return result;
}
