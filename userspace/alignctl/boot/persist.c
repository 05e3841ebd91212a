// SPDX-License-Identifier: GPL-2.0
/*
 * Check a line before it is written: against other lines, LVM and md; then attach,
 * or detach and remove it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/program.h"
#include "base/signals.h"
#include "boot/aligntab.h"
#include "boot/bring_up.h"
#include "boot/claim.h"
#include "boot/find.h"
#include "boot/lower.h"
#include "boot/persist.h"
#include "boot/unit_name.h"
#include "mapped/lvm.h"
#include "mapped/online.h"
#include "mapped/partitions.h"
#include "remedy/remedy.h"
#include "sysfs/dm_name.h"
#include "sysfs/guard.h"

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
 * Check that a line which is there says what was given. Return: as
 * check_lines().
 */
static int check_options(const struct aligntab_line *line,
			 const struct attach_options *options)
{
	size_t i;

	for (i = 0; i < ATTACH_NR_SETTINGS; i++) {
		const char *given = options->given[i];
		const char *has = line->options.given[i];

		if (!given || (has && !strcmp(has, given)))
			continue;
		message_error("%s: line %u of " ALIGNTAB_FILE " has %s%s%s and not %s; change it there",
			      line->name, line->number, attach_settings[i].name,
			      has ? "=" : "", has ? has : " by default", given);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/*
 * Check that the name is short enough for the unit that attaches the device at boot:
 * without one the device would be hidden only. Return: as check_lines().
 */
static int check_name(const char *name)
{
	CLEANUP_FREE char *unit = unit_of(name);

	if (unit)
		return ALIGNCTL_FINE;
	message_error("%s: too long for a unit of systemd; give a shorter --name",
		      name);
	return ALIGNCTL_USAGE;
}

/*
 * Check that a line can mean the device at the next boot: never an align device, nor a
 * partition on one, or a device would lie below itself. Return: as check_lines().
 */
static int check_meant(const struct device *device)
{
	CLEANUP_FREE char *uuid = sysfs_text(device->sys.dir, "dm/uuid");

	if (!dm_uuid_attached(uuid) && !dm_uuid_partition(uuid))
		return ALIGNCTL_FINE;
	message_error("%s: is %s an align device, so no line of " ALIGNTAB_FILE " can mean it; leave out --persist",
		      device->path, dm_uuid_attached(uuid) ? "itself" : "a partition on");
	return ALIGNCTL_USAGE;
}

/* Check whether a line means a part of @device, or the disk that it is a part of. */
static bool means_overlapping(const struct find_result *found,
			      const struct device *device)
{
	size_t i;

	for (i = 0; i < found->nr; i++)
		if (guard_overlaps(&device->sys, found->device[i].devno))
			return true;
	return false;
}

/*
 * Check that the line would be the only one of the name and of the device, whole
 * or in part.
 * @there: set to whether this very line is there already. Return: enum
 * alignctl_exit; errors have been reported.
 */
static int check_lines(const char *name, const struct device *device,
		       const struct attach_options *options, bool *there)
{
	CLEANUP_FREE char *kernel_name = dm_kernel_name(name);
	struct find_result found;
	struct aligntab tab;
	int result = aligntab_read(&tab, false);
	bool means, overlaps;
	size_t i;

	*there = false;
	for (i = 0; i < tab.nr && !result; i++) {
		const struct aligntab_line *line = &tab.line[i];
		bool named = !strcmp(line->kernel_name, kernel_name);

		find_now(line, &found);
		means = find_has(&found, device->devno);
		overlaps = means_overlapping(&found, device);
		find_free(&found);
		if (named && means) {
			*there = true;
			result = check_options(line, options);
		} else if (named) {
			message_error("%s: line %u of " ALIGNTAB_FILE " gives this name to %s; choose another --name",
				      name, line->number, line->device);
			result = ALIGNCTL_BUSY;
		} else if (means) {
			message_error("%s: line %u of " ALIGNTAB_FILE " attaches it as %s already",
				      device->path, line->number, line->name);
			result = ALIGNCTL_BUSY;
		} else if (overlaps) {
			message_error("%s: line %u of " ALIGNTAB_FILE " attaches %s as %s, and one lies on the other; remove that line first",
				      device->path, line->number, line->device,
				      line->name);
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
 * Take the settings of the device of that name, as its table line has them, for
 * those that were not given. @text: set to what @options then point into, for
 * free(). Return: enum alignctl_exit; errors have been reported.
 */
static int take_settings(struct attach_options *options, const char *name,
			 char **text)
{
	struct online online;
	int result = online_open(&online, name);
	char *rest, *word;
	size_t i;

	if (result)
		return result;
	*text = memory_or_exit(strdup(online.mapping.line[0].params));
	online_close(&online);
	rest = *text;
	/* the device, the offset and the number of arguments come first */
	while ((word = strsep(&rest, " "))) {
		for (i = 0; i < ATTACH_NR_SETTINGS; i++) {
			if (!rest || strcmp(word, attach_arguments[i]))
				continue;
			word = strsep(&rest, " ");
			if (!options->given[i])
				options->given[i] = word;
			break;
		}
	}
	return ALIGNCTL_FINE;
}

/*
 * Write the options of a new line for @device into @text, for free().
 * @from_device: align device whose settings stand for those that are not in
 * @given. Return: enum alignctl_exit; errors have been reported.
 */
static int line_text(const struct attach_options *given, const char *name,
		     const struct device *device, bool from_device, char **text)
{
	struct attach_options options = *given;
	char *table = NULL;
	int result = from_device ? take_settings(&options, name, &table) :
				   ALIGNCTL_FINE;

	if (!result) {
		const struct aligntab_claim claim = claim_of(device);
		CLEANUP_FREE char *claimed = claim_option(&claim);
		CLEANUP_FREE char *settings = line_options(&options);

		*text = message_format("%s%s%s", settings,
				       *settings ? "," : "", claimed);
	}
	free(table);
	return result;
}

/*
 * Check that LVM leaves the device below alone, now that it is hidden. Return:
 * enum alignctl_exit; errors have been reported.
 */
static int check_lvm(const struct lvm_volume *volume)
{
	if (!volume->below || volume->listed || !lvm_sees(volume->below))
		return ALIGNCTL_FINE;
	message_error("%s: LVM would use both this device and %s; first add to lvm.conf(5): " LVM_FILTER_BELOW,
		      volume->below, volume->above);
	return ALIGNCTL_BUSY;
}

/*
 * Return whether mdadm looks at the node of a member of an array:
 * 'mdadm --assemble --scan', as the initramfs runs it, does so by itself.
 */
static bool md_sees(const char *node)
{
	char *examine[] = { "mdadm", "--examine", "--scan", "--verbose", NULL };

	return program_names(examine, node);
}

/*
 * Check that mdadm leaves a member of an array alone, now that it is hidden.
 * Return: enum alignctl_exit; errors have been reported.
 */
static int check_md(const char *name, const struct device *device)
{
	int64_t partition;
	CLEANUP_FREE char *node = guard_member(device, "linux_raid_member",
					       &partition);
	CLEANUP_FREE char *above = NULL;

	if (!node || !md_sees(node))
		return ALIGNCTL_FINE;
	above = dm_node(name, partition);
	message_error("%s: mdadm would use both this device and %s; first let the DEVICE line of mdadm.conf(5) name only devices of arrays, as: DEVICE /dev/mapper/*",
		      node, above);
	return ALIGNCTL_BUSY;
}

/* Warn if mdadm passes over a member of an array that is hidden no more. */
static void warn_of_md(const struct device *device)
{
	char *version[] = { "mdadm", "--version", NULL };
	int64_t partition;
	CLEANUP_FREE char *node = guard_member(device, "linux_raid_member",
					       &partition);
	CLEANUP_FREE char *output = NULL;

	if (node && !program_run(version, &output) && !md_sees(node))
		message_warning("%s: mdadm ignores this member; name it in the DEVICE line of mdadm.conf(5), or remove that line",
				node);
}

/* Create the device unless it is there, and map its partitions. */
static int make_device(struct attach_options *options, const char *name,
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
 * Hide the device, ask LVM and md, and create the align device, in this order.
 * Return: as persist_attach(); a line that was added must then be taken back.
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
		result = check_md(name, device);
	if (!result)
		result = make_device(options, name, device, attached);
	if (!result && volume.below && volume.listed) {
		result = lvm_replace(volume.below, volume.above);
		if (result && !attached)
			bring_down(name);
	}
	lvm_volume_free(&volume);
	return result;
}

/* Warn of a device that is there only when the network is, as the boot waits for it. */
static void warn_of_network(const char *name, const struct device *device)
{
	CLEANUP_FREE char *network = device_network_reason(device);

	if (network)
		message_warning("%s: %s; if that needs this machine's network, add _netdev to the line in " ALIGNTAB_FILE
				", or the boot waits for the device before the network is up",
				name, network);
}

/* Print what was done, and what knows the old file still. */
static void print_kept(const char *name, const char *how, bool stable)
{
	CLEANUP_FREE char *initramfs = remedy_of_machine(REMEDY_INITRAMFS);

	printf("%s: %s " ALIGNTAB_FILE, name, how);
	if (!access(INITRAMFS, X_OK))
		printf("; run '%s' before the next boot", initramfs);
	putchar('\n');
	if (!stable)
		message_warning("%s: the path of its device may name another device after a reboot; name the device by UUID= or ID= in " ALIGNTAB_FILE,
				name);
}

/*
 * Return the path of a device for its line, for free(): udev knows no name outside of
 * /dev, and would not hide what a line means by one.
 */
static char *path_of(const struct device *given)
{
	return strncmp(given->path, "/dev/", strlen("/dev/")) ?
		online_path(given->devno) :
		memory_or_exit(strdup(given->path));
}

int persist_attach(struct attach_options *options, const char *name,
		   const struct device *given)
{
	CLEANUP_FREE char *node = message_format("/dev/%s", given->sys.name);
	CLEANUP_FREE char *path = path_of(given);
	CLEANUP_FREE char *below = NULL, *text = NULL;
	/* the link that was given may be one that goes */
	const struct device here = device_at(given, node), *device = &here;
	bool attached = is_attached(name, device), there, stable;
	struct aligntab_added added;
	int result = check_name(name);

	if (!result)
		result = check_meant(given);
	if (!result)
		result = check_lines(name, device, options, &there);
	/* a device in use must not be hidden: systemd would unmount it */
	if (!result && !attached)
		result = attach_check_free(device);
	if (result)
		return result;
	result = line_text(options, name, device, attached && !there, &text);
	if (result)
		return result;
	below = find_stable_name(device->devno, path, &stable);
	/* from here on the line and the device are made, or taken back, both */
	CLEANUP_SIGNALS sigset_t before = signals_block();

	if (!there)
		result = aligntab_add(name, below, text, &added);
	if (result)
		return result;
	if (!there)
		warn_of_network(name, device);
	options->persistent = true;
	result = hide_and_make(options, name, device, attached);
	if (result && !there) {
		aligntab_take_back(name, &added);
		lower_trigger(device->devno);
	}
	if (!result)
		print_kept(name, there ? "has its line in" : "added to",
			   there || stable);
	return result;
}

/*
 * Return the unit of the line of a device, for free(), as the generator has called it;
 * NULL: there is none.
 */
static char *unit_of_device(const char *name)
{
	const struct aligntab_line *line;
	struct aligntab tab;
	char *unit;

	if (aligntab_read(&tab, true))
		return unit_of(name);
	line = aligntab_find(&tab, name);
	unit = unit_of(line ? line->name : name);
	aligntab_free(&tab);
	return unit;
}

void persist_stop_unit(const char *name)
{
	CLEANUP_FREE char *unit = unit_of_device(name);
	/*
	 * Wait, or the stop could come after the next attach; not for ever, as
	 * the caller may be what systemd waits for before this unit's stop.
	 */
	char *stop[] = { "timeout", "10", "systemctl", "stop", unit, NULL };
	CLEANUP_FREE char *output = NULL;

	if (unit && !access("/run/systemd/system", F_OK))
		program_run(stop, &output);
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

/*
 * Check that a line of that name, if there is one, does not mean another device.
 * @below: number of the device, or 0: set to that of the only one that the line
 * means now. Return: enum alignctl_exit; errors have been reported.
 */
static int check_line_of(const char *name, dev_t *below)
{
	const struct aligntab_line *line;
	struct find_result found = { 0 };
	struct aligntab tab;
	int result = aligntab_read(&tab, true);

	if (result)
		return result;
	line = aligntab_find(&tab, name);
	if (line)
		find_now(line, &found);
	if (!*below && found.nr == 1)
		*below = found.device[0].devno;
	if (*below && found.nr && !find_has(&found, *below)) {
		message_error("%s: line %u of " ALIGNTAB_FILE " stays, because it means %s, another device; remove the line by hand if it is wrong",
			      name, line->number, found.device[0].node);
		result = ALIGNCTL_BUSY;
	}
	find_free(&found);
	aligntab_free(&tab);
	return result;
}

int persist_detach(const char *name, dev_t below)
{
	/* without the line, a second try would not come to the steps behind */
	CLEANUP_SIGNALS sigset_t before = signals_block();
	struct lvm_volume volume;
	struct device device;
	bool removed;
	int result = check_line_of(name, &below);

	if (!result)
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
	warn_of_md(&here);
	device_close(&device);
	return result;
}
