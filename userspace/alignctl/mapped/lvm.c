// SPDX-License-Identifier: GPL-2.0
/*
 * Find a physical volume of LVM below an align device, and let LVM use the
 * upper one.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/program.h"
#include "mapped/dm.h"
#include "mapped/lvm.h"
#include "sysfs/guard.h"

#define LVM_CONF		"/etc/lvm/lvm.conf"
#define LVM_DEVICES_FILE	"/etc/lvm/devices/system.devices"

/*
 * Return LVM's filter pattern for the device and its partitions, for free().
 * One name of the device is enough: LVM hides a device if any of its names is
 * rejected and none accepted.
 */
static char *lvm_pattern(const struct device *device)
{
	CLEANUP_FREE char *dm = sysfs_text(device->sys.dir, "dm/name");
	const char *from = dm ? dm : device->sys.name;
	CLEANUP_FREE char *name = memory_or_exit(malloc(3 * strlen(from) + 1));
	/* as the kernel names them, else that of md1 would hide md127, too */
	bool digit = isdigit((unsigned char)from[strlen(from) - 1]);
	const char *partitions = digit ? "(p[0-9]+)?" : "([0-9]+)?";
	char *to = name;

	for (; *from; from++) {
		bool plain = isalnum((unsigned char)*from) ||
			     strchr("-_/:", *from);

		/* the one of "\x20" would escape the bracket behind it */
		if (*from == '\\')
			*to++ = '.';
		else
			to += sprintf(to, plain ? "%c" : "[%c]", *from);
	}
	*to = '\0';
	return message_format("r|^/dev/%s%s%s$|", dm ? "mapper/" : "", name,
			      device->sys.partition || dm ? "" : partitions);
}

/*
 * Check whether LVM uses only the devices that its file lists: the file alone
 * counts for nothing while use_devicesfile is 0.
 */
static bool uses_devices_file(void)
{
	char *ask[] = { "lvm", "lvmconfig", "--typeconfig", "full",
			"devices/use_devicesfile", NULL };
	CLEANUP_FREE char *output = NULL;

	return !access(LVM_DEVICES_FILE, F_OK) && !program_run(ask, &output) &&
	       strstr(output, "use_devicesfile=1");
}

void lvm_volume_find(struct lvm_volume *volume, const char *name,
		     const struct device *device)
{
	CLEANUP_FREE char *pattern = NULL;
	int64_t partition;

	memset(volume, 0, sizeof(*volume));
	volume->below = guard_member(device, "LVM2_member", &partition);
	if (!volume->below)
		return;
	pattern = lvm_pattern(device);
	volume->above = dm_node(name, partition);
	volume->filter = message_format(
		"devices { global_filter = [ \"%s\" ] }", pattern);
	volume->listed = uses_devices_file();
}

void lvm_volume_free(struct lvm_volume *volume)
{
	free(volume->below);
	free(volume->above);
	free(volume->filter);
	memset(volume, 0, sizeof(*volume));
}

void lvm_warn(const char *name, const struct device *device)
{
	CLEANUP_FREE char *below = NULL, *above = NULL;
	struct lvm_volume volume;

	lvm_volume_find(&volume, name, device);
	if (volume.below) {
		below = message_shell_word(volume.below);
		above = message_shell_word(volume.above);
	}
	if (volume.below && !volume.listed)
		message_warning("%s: is a physical volume of LVM, which refuses a group with duplicate volumes; until you detach, " LVM_CONF
				" needs the line: %s",
				volume.below, volume.filter);
	else if (volume.below)
		message_warning("%s: is a physical volume of LVM, which would use this device instead of %s; before you activate the group: lvm lvmdevices -y --deldev %s && lvm lvmdevices -y --adddev %s",
				volume.below, volume.above, below, above);
	lvm_volume_free(&volume);
}

bool lvm_sees(const char *node)
{
	/* the list, and warnings of duplicates: "Not using device /dev/sdb for" */
	char *pvs[] = { "lvm", "pvs", "--all", "--noheadings", "--options",
			"pv_name", NULL };

	return program_names(pvs, node);
}

int lvm_replace(const char *old, const char *new)
{
	char *remove[] = { "lvm", "lvmdevices", "-y", "--deldev", (char *)old,
			   NULL };
	char *add[] = { "lvm", "lvmdevices", "-y", "--adddev", (char *)new,
			NULL };
	char *back[] = { "lvm", "lvmdevices", "-y", "--adddev", (char *)old,
			 NULL };
	CLEANUP_FREE char *removed = NULL, *added = NULL, *again = NULL;
	CLEANUP_FREE char *word = message_shell_word(old);
	/* one that is not listed need not be removed: --adddev decides */
	bool was_listed = !program_run(remove, &removed);

	if (!program_run(add, &added))
		return ALIGNCTL_FINE;
	message_error("%s: cannot be added to " LVM_DEVICES_FILE ": %s", new,
		      added);
	if (was_listed && program_run(back, &again))
		message_error("%s: is no longer in " LVM_DEVICES_FILE ", so LVM does not find its group; run: lvm lvmdevices -y --adddev %s",
			      old, word);
	return ALIGNCTL_IO;
}
