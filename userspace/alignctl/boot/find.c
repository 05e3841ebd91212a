// SPDX-License-Identifier: GPL-2.0
/*
 * Match the DEVICE of a line against udev's database, and pick the most stable
 * name for a new line.
 */
#include <libudev.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "boot/find.h"
#include "mapped/dm.h"
#include "sysfs/sysfs.h"

#define BY_ID		"/dev/disk/by-id/"
#define LOOK_AGAIN_MS	1000	/* a device may come without an event of udev */

/* Check whether a word is in a list with blanks between. */
static bool in_list(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (list && *list) {
		size_t size = strcspn(list, " ");

		if (size == length && !strncmp(list, word, length))
			return true;
		list += size + strspn(list + size, " ");
	}
	return false;
}

/* Check for a device that no line can mean. */
static bool never_meant(find_property *property, void *context)
{
	const char *uuid = property("DM_UUID", context);
	const char *type = property("ID_FS_TYPE", context);
	const char *path = property("DM_MULTIPATH_DEVICE_PATH", context);

	return dm_uuid_attached(uuid) || dm_uuid_partition(uuid) ||
	       (type && !strcmp(type, "mpath_member")) ||
	       (path && !strcmp(path, "1"));
}

bool find_means(const struct aligntab_line *line, find_property *property,
		void *context)
{
	/* UUIDs of some file systems are in capitals */
	static const char *const names[ALIGNTAB_ID] = {
		[ALIGNTAB_UUID] = "ID_FS_UUID_ENC",
		[ALIGNTAB_LABEL] = "ID_FS_LABEL_ENC",
		[ALIGNTAB_PARTUUID] = "ID_PART_ENTRY_UUID",
		[ALIGNTAB_PARTLABEL] = "ID_PART_ENTRY_NAME",
	};
	CLEANUP_FREE char *link = NULL;
	const char *found;

	if (never_meant(property, context))
		return false;
	switch (line->by) {
	case ALIGNTAB_UUID:
	case ALIGNTAB_PARTUUID:
		found = property(names[line->by], context);
		return found && !strcasecmp(found, line->value);
	case ALIGNTAB_LABEL:
	case ALIGNTAB_PARTLABEL:
		found = property(names[line->by], context);
		return found && !strcmp(found, line->value);
	case ALIGNTAB_ID:
		link = message_format(BY_ID "%s", line->value);
		return in_list(property("DEVLINKS", context), link);
	case ALIGNTAB_PATH:
		break;
	}
	found = property("DEVNAME", context);
	return (found && !strcmp(found, line->value)) ||
	       in_list(property("DEVLINKS", context), line->value);
}

static const char *udev_property(const char *name, void *context)
{
	return udev_device_get_property_value(context, name);
}

void find_free(struct find_result *result)
{
	while (result->nr)
		free(result->device[--result->nr].node);
	free(result->device);
	memset(result, 0, sizeof(*result));
}

bool find_has(const struct find_result *result, dev_t devno)
{
	size_t i;

	for (i = 0; i < result->nr; i++)
		if (result->device[i].devno == devno)
			return true;
	return false;
}

static void add_device(struct find_result *result, dev_t devno, const char *node)
{
	if (find_has(result, devno))
		return;
	*ARRAY_APPEND(result->device, result->nr) = (struct find_device) {
		devno, memory_or_exit(strdup(node)),
	};
}

/* Add a path's device, which udev need not know. */
static void add_path(struct find_result *result, const char *path)
{
	struct udev *udev = udev_new();
	struct udev_device *device = NULL;
	struct stat found;

	if (!stat(path, &found) && S_ISBLK(found.st_mode)) {
		if (udev)
			device = udev_device_new_from_devnum(udev, 'b',
							     found.st_rdev);
		if (!device || !never_meant(udev_property, device))
			add_device(result, found.st_rdev, path);
	}
	if (device)
		udev_device_unref(device);
	if (udev)
		udev_unref(udev);
}

/* Add the devices in udev's database that a line means. */
static void add_known(struct find_result *result,
		      const struct aligntab_line *line)
{
	struct udev *udev = udev_new();
	struct udev_enumerate *all = udev ? udev_enumerate_new(udev) : NULL;
	struct udev_list_entry *entry;

	if (all && udev_enumerate_add_match_subsystem(all, "block") >= 0 &&
	    udev_enumerate_scan_devices(all) >= 0) {
		udev_list_entry_foreach(entry,
					udev_enumerate_get_list_entry(all)) {
			struct udev_device *device =
				udev_device_new_from_syspath(
					udev, udev_list_entry_get_name(entry));

			if (!device)
				continue;
			if (udev_device_get_devnode(device) &&
			    find_means(line, udev_property, device))
				add_device(result, udev_device_get_devnum(device),
					   udev_device_get_devnode(device));
			udev_device_unref(device);
		}
	}
	if (all)
		udev_enumerate_unref(all);
	if (udev)
		udev_unref(udev);
}

void find_now(const struct aligntab_line *line, struct find_result *result)
{
	memset(result, 0, sizeof(*result));
	if (line->by == ALIGNTAB_PATH)
		add_path(result, line->value);
	else
		add_known(result, line);
}

/*
 * Check for a device that has no size yet: an array that is being assembled, or a
 * loop or network block device before it is set up.
 */
static bool has_no_size(dev_t devno)
{
	CLEANUP_SYSFS struct sysfs_device device = { 0 };
	int64_t sectors;

	return sysfs_device_open(&device, devno) &&
	       sysfs_number(device.dir, "size", &sectors) && !sectors;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Report that a line means more than one device. */
static void report_several(const struct aligntab_line *line,
			   const struct find_result *result)
{
	message_error("%s: %s means both %s and %s; name the right device by ID= or PARTUUID= in " ALIGNTAB_FILE,
		      line->name, line->device, result->device[0].node,
		      result->device[1].node);
}

int find_wait(const struct aligntab_line *line, unsigned int seconds,
	      struct find_result *result)
{
	int64_t end = now_ms() + seconds * 1000LL, left;
	struct udev *udev = udev_new();
	struct udev_monitor *monitor = udev ?
		udev_monitor_new_from_netlink(udev, "udev") : NULL;
	struct udev_device *event;
	struct pollfd wait = { .fd = -1, .events = POLLIN };

	if (monitor &&
	    udev_monitor_filter_add_match_subsystem_devtype(monitor, "block",
							    NULL) >= 0 &&
	    udev_monitor_enable_receiving(monitor) >= 0)
		wait.fd = udev_monitor_get_fd(monitor);
	/* the monitor is on before the first look: no device is missed */
	for (;;) {
		find_now(line, result);
		if (result->nr == 1 && has_no_size(result->device[0].devno))
			find_free(result);
		left = end - now_ms();
		if (result->nr || left <= 0)
			break;
		poll(&wait, 1, left < LOOK_AGAIN_MS ? left : LOOK_AGAIN_MS);
		while (wait.fd >= 0 &&
		       (event = udev_monitor_receive_device(monitor)))
			udev_device_unref(event);
	}
	if (monitor)
		udev_monitor_unref(monitor);
	if (udev)
		udev_unref(udev);
	if (result->nr < 2)
		return ALIGNCTL_FINE;
	report_several(line, result);
	return ALIGNCTL_BUSY;
}

/*
 * Check that a name, as a line has it, means the device and no other one.
 */
static bool means_only(const char *name, dev_t devno)
{
	CLEANUP_FREE char *text = message_format("x %s\n", name);
	struct aligntab tab = { 0 };
	struct find_result result;
	bool only = false;

	aligntab_parse(&tab, "", text, strlen(text), true);
	if (tab.nr) {
		find_now(&tab.line[0], &result);
		only = result.nr == 1 && result.device[0].devno == devno;
		find_free(&result);
	}
	aligntab_free(&tab);
	return only;
}

size_t find_link_rank(const char *link)
{
	static const char *const ranks[] = {
		"dm-uuid-", "md-uuid-", "wwn-", "nvme-eui.", "nvme-uuid.",
		"ata-", "nvme-", "scsi-", "virtio-", "usb-", "",
	};
	size_t i;

	if (!strncmp(link, "lvm-pv-uuid-", strlen("lvm-pv-uuid-")))
		return SIZE_MAX;
	for (i = 0; strncmp(link, ranks[i], strlen(ranks[i])); i++)
		;
	return i;
}

/* Return the best "ID=..." of a device, of a rank below @rank, for free(), or NULL. */
static char *best_id(struct udev_device *device, dev_t devno, size_t rank)
{
	struct udev_list_entry *entry;
	char *best = NULL;

	udev_list_entry_foreach(entry,
				udev_device_get_devlinks_list_entry(device)) {
		const char *link = udev_list_entry_get_name(entry);
		CLEANUP_FREE char *name = NULL;

		if (strncmp(link, BY_ID, strlen(BY_ID)))
			continue;
		link += strlen(BY_ID);
		name = message_format("ID=%s", link);
		if (find_link_rank(link) >= rank || !means_only(name, devno))
			continue;
		rank = find_link_rank(link);
		free(best);
		best = name;
		name = NULL;
	}
	return best;
}

/* Return "TAG=" and a property that means only this device, or NULL. */
static char *by_property(struct udev_device *device, dev_t devno,
			 const char *tag, const char *property)
{
	const char *value = udev_device_get_property_value(device, property);
	char *name;

	if (!value)
		return NULL;
	name = message_format("%s=%s", tag, value);
	if (means_only(name, devno))
		return name;
	free(name);
	return NULL;
}

char *find_stable_name(dev_t devno, const char *path, bool *stable)
{
	struct udev *udev = udev_new();
	struct udev_device *device = udev ?
		udev_device_new_from_devnum(udev, 'b', devno) : NULL;
	char *name = NULL;

	if (device) {
		name = best_id(device, devno, FIND_RANK_DISK);
		if (!name)
			name = by_property(device, devno, "PARTUUID",
					   "ID_PART_ENTRY_UUID");
		if (!name)
			name = best_id(device, devno, SIZE_MAX);
		/* last: it is of the content, which mkfs replaces */
		if (!name)
			name = by_property(device, devno, "UUID",
					   "ID_FS_UUID_ENC");
		udev_device_unref(device);
	}
	if (udev)
		udev_unref(udev);
	*stable = name;
	return name ? name : memory_or_exit(strdup(path));
}
