// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/aligntab.h"
#include "boot/find.h"
#include "boot/lower.h"
#include "boot/partitions.h"
#include "boot/persist.h"
#include "device/guard.h"
#include "device/lvm.h"

#define INITRAMFS	"/usr/sbin/update-initramfs"

/* Return the settings as options of a line, for free(); "" for none. */
static char *line_options(const struct attach_options *options)
{
	char *text = message_format("%s", ""), *longer;
	size_t i;

	for (i = 0; i < ATTACH_NR_SETTINGS; i++) {
		if (!options->given[i])
			continue;
		longer = message_format("%s%s%s=%s", text, *text ? "," : "",
					attach_settings[i].name,
					options->given[i]);
		free(text);
		text = longer;
	}
	return text;
}

/*
 * Check that the line would be the only one of the name and of the device.
 * @there: set to whether this very line is there already. Return: enum
 * alignctl_exit; errors have been reported.
 */
static int check_lines(const char *name, const struct device *device,
		       bool *there)
{
	struct find_result found;
	struct aligntab tab;
	int result = aligntab_read(&tab, false);
	bool means;
	size_t i;

	*there = false;
	for (i = 0; i < tab.nr && !result; i++) {
		const struct aligntab_line *line = &tab.line[i];
		bool named = !strcmp(line->name, name);

		find_now(line, &found);
		means = find_has(&found, device->devno);
		find_free(&found);
		if (named && means) {
			*there = true;
		} else if (named) {
			message_error("%s: line %u of " ALIGNTAB_FILE " gives this name to %s; choose another --name",
				      name, line->number, line->device);
			result = ALIGNCTL_BUSY;
		} else if (means) {
			message_error("%s: line %u of " ALIGNTAB_FILE " attaches it as %s already",
				      device->path, line->number, line->name);
			result = ALIGNCTL_BUSY;
		}
	}
	aligntab_free(&tab);
	return result;
}

/* Check whether attach has made a device of that name over all of @device. */
static bool is_attached(const char *name, const struct device *device)
{
	struct dm_align found;
	bool is;

	if (!dm_name_taken(name) || dm_align_find(&found, name))
		return false;
	is = dm_align_attached(&found) && found.nr_targets == 1 &&
	     found.target[0].table.device == device->devno;
	dm_align_free(&found);
	return is;
}

/*
 * Check that LVM leaves the device below alone, now that it is hidden. Return:
 * enum alignctl_exit; errors have been reported.
 */
static int check_lvm(const struct lvm_volume *volume)
{
	if (!volume->below || volume->listed || !lvm_sees(volume->below))
		return ALIGNCTL_FINE;
	message_error("%s: LVM would use it beside %s; first add to lvm.conf(5): " LVM_FILTER_BELOW,
		      volume->below, volume->above);
	return ALIGNCTL_BUSY;
}

/* Say what else finds members of an array, and how to tell it. */
static void print_md(const char *name, const struct device *device)
{
	int64_t partition;
	CLEANUP_FREE char *node = guard_member(device, "linux_raid_member",
					       &partition);
	CLEANUP_FREE char *above = node ? lvm_node_above(name, partition) :
					  NULL;

	if (node)
		message_warning("%s: belongs to an md array; for 'mdadm --assemble --scan', its ARRAY in mdadm.conf needs devices=%s,... with all members",
				node, above);
}

/* Create the device unless it is there, and map its partitions. */
static int make(struct attach_options *options, const char *name,
		const struct device *device, bool attached)
{
	struct dm_align made;
	int result = attached ? ALIGNCTL_FINE :
				attach_create(options, name, device);

	if (!result)
		result = dm_align_find(&made, name);
	if (result)
		return result;
	result = partitions_map(&made);
	if (result && !attached) {
		partitions_unmap(&made);
		dm_align_remove(&made);
	}
	dm_align_free(&made);
	return result;
}

/* Return the same device with another path. */
static struct device device_at(const struct device *given, const char *path)
{
	struct device device = *given;

	device.path = path;
	return device;
}

/*
 * Hide the device, ask LVM, and create the align device, in this order. Return:
 * as persist_attach(); a line that was added must then be taken back.
 */
static int hide_and_make(struct attach_options *options, const char *name,
			 const struct device *device, bool attached)
{
	struct lvm_volume volume;
	int result;

	lvm_volume_find(&volume, name, device);
	lower_trigger(device->devno);
	result = check_lvm(&volume);
	if (!result)
		result = make(options, name, device, attached);
	if (!result && volume.below && volume.listed)
		result = lvm_replace(volume.below, volume.above);
	if (!result)
		print_md(name, device);
	lvm_volume_free(&volume);
	return result;
}

/* Print what was done, and what knows the old file still. */
static void print_kept(const char *name, const char *how, bool stable)
{
	printf("%s: %s " ALIGNTAB_FILE "%s\n", name, how,
	       access(INITRAMFS, X_OK) ? "" :
	       "; the initramfs learns it by 'update-initramfs -u'");
	if (!stable)
		message_warning("%s: the path of its device may be another device's after a reboot; name it by UUID= or ID= in " ALIGNTAB_FILE,
				name);
}

int persist_attach(struct attach_options *options, const char *name,
		   const struct device *given)
{
	CLEANUP_FREE char *node = message_format("/dev/%s", given->sys.name);
	CLEANUP_FREE char *below = NULL, *text = line_options(options);
	/* the link that was given may be one that goes */
	const struct device here = device_at(given, node), *device = &here;
	bool attached = is_attached(name, device), there, stable, removed;
	int result = check_lines(name, device, &there);

	/* a device in use must not be hidden: systemd would unmount it */
	if (!result && !attached)
		result = attach_check_free(device);
	if (result)
		return result;
	below = find_stable_name(device->devno, given->path, &stable);
	if (!there)
		result = aligntab_add(name, below, text);
	if (result)
		return result;
	options->persistent = true;
	result = hide_and_make(options, name, device, attached);
	if (result && !there) {
		aligntab_remove(name, &removed);
		lower_trigger(device->devno);
	}
	if (!result)
		print_kept(name, there ? "has its line in" : "added to",
			   there || stable);
	return result;
}

bool persist_has_only_line(const char *name)
{
	struct aligntab tab;
	bool has;

	if (aligntab_read(&tab, true))
		return false;
	has = aligntab_find(&tab, name) && !dm_name_taken(name);
	aligntab_free(&tab);
	return has;
}

/* Return the one device that a line of that name means now, or 0. */
static dev_t line_device(const char *name)
{
	const struct aligntab_line *line;
	struct find_result found = { 0 };
	struct aligntab tab;
	dev_t devno = 0;

	if (aligntab_read(&tab, true))
		return 0;
	line = aligntab_find(&tab, name);
	if (line)
		find_now(line, &found);
	if (found.nr == 1)
		devno = found.device[0].devno;
	find_free(&found);
	aligntab_free(&tab);
	return devno;
}

int persist_detach(const char *name, dev_t below)
{
	struct lvm_volume volume;
	struct device device;
	bool removed;
	int result;

	if (!below)
		below = line_device(name);
	result = aligntab_remove(name, &removed);
	if (result)
		return result;
	if (removed)
		print_kept(name, "removed from", true);
	else
		printf("%s: has no line in " ALIGNTAB_FILE "\n", name);
	if (!below || device_open_devno(&device, below, name))
		return ALIGNCTL_FINE;
	lower_trigger(below);
	CLEANUP_FREE char *node = message_format("/dev/%s", device.sys.name);
	const struct device here = device_at(&device, node);

	lvm_volume_find(&volume, name, &here);
	if (volume.below && volume.listed)
		result = lvm_replace(volume.above, volume.below);
	lvm_volume_free(&volume);
	device_close(&device);
	return result;
}
