// SPDX-License-Identifier: GPL-2.0
/*
 * Answer udev for one event: whether to hide the device, and which devices to
 * process again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/program.h"
#include "boot/aligntab.h"
#include "boot/find.h"
#include "boot/lower.h"
#include "boot/unit_name.h"
#include "mapped/dm.h"
#include "mapped/lvm.h"
#include "remedy/remedy.h"
#include "sysfs/device.h"
#include "sysfs/guard.h"
#include "sysfs/sysfs.h"

static const char *from_environment(const char *name, void *context)
{
	(void)context;
	return getenv(name);
}

/* Read the number of a property; false if there is none. */
static bool property_number(const char *name, unsigned int *number)
{
	const char *at = getenv(name);
	uint64_t value;

	if (!at || !decimal_read(&at, UINT32_MAX, &value) || *at)
		return false;
	*number = value;
	return true;
}

/* A search for align devices over a device. */
struct holders {
	const char *wanted;	/* the kernel's name of one, or NULL for any */
	char *name;		/* name of the one that was found, or NULL */
};

static void visit_holder(const char *name, void *context)
{
	struct holders *holders = context;
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_FREE char *uuid = sysfs_text(dir, "dm/uuid");
	CLEANUP_FREE char *dm = sysfs_text(dir, "dm/name");

	if (holders->name || !dm || !dm_uuid_attached(uuid) ||
	    (holders->wanted && strcmp(dm, holders->wanted)))
		return;
	holders->name = dm;
	dm = NULL;
}

/*
 * Return the name of an align device over the device whose folder is given, for
 * free(); NULL: there is none, or none called @wanted unless that is NULL.
 */
static char *align_above(const char *folder, const char *wanted)
{
	CLEANUP_FREE char *dir = message_format("%s/holders", folder);
	struct holders holders = { .wanted = wanted };

	sysfs_each(dir, visit_holder, &holders);
	return holders.name;
}

/*
 * Check for an align device over @device; of the kernel's name @wanted, unless
 * it is NULL.
 */
static bool has_align_above(const struct device *device, const char *wanted)
{
	CLEANUP_FREE char *name = align_above(device->sys.dir, wanted);

	return name;
}

static void visit_block(const char *name, void *context)
{
	visit_holder(name, context);
}

/* Check whether an align device of the kernel's name exists, on any device. */
static bool align_exists(const char *wanted)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block");
	struct holders holders = { .wanted = wanted };

	bool found;

	sysfs_each(dir, visit_block, &holders);
	found = holders.name;
	free(holders.name);
	return found;
}

/*
 * Write a message to the kernel log, and so to the journal: udev drops what its
 * programs say.
 */
static void log_message(const char *text)
{
	CLEANUP_FREE char *path = sysfs_path("/dev/kmsg");
	CLEANUP_FREE char *visible = message_visible(text);
	/* without the newline it is shown only when another record follows */
	CLEANUP_FREE char *record = message_format("<3>alignctl: %s\n",
						   visible);
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd >= 0 && write(fd, record, strlen(record)) < 0)
		return;
}

/*
 * Check whether the device may be hidden: nothing but an align device may use
 * it, or systemd would unmount what is on it.
 */
static bool may_hide(const struct aligntab_line *line,
		     const struct device *device)
{
	struct guard_report report = { 0 };
	CLEANUP_FREE char *text = NULL;

	if (has_align_above(device, NULL))
		return true;
	guard_usage(&report, device);
	if (report.nr) {
		text = message_format(
			ALIGNTAB_FILE ":%u: %s: %s is in use (%s), so it is hidden only from the next boot on",
			line->number, line->name, device->path,
			report.finding[0]);
		log_message(text);
		guard_free(&report);
		return false;
	}
	return true;
}

/*
 * Check whether a link stays. Links to the content go: they are the align
 * device's; those of a partition's entry go only where the disk is hidden.
 */
static bool link_stays(const char *link, bool partition)
{
	static const char *const gone[] = {
		"/dev/disk/by-uuid/", "/dev/disk/by-label/",
		"/dev/disk/by-id/lvm-pv-uuid-", LVM_FOLDER_BELOW,
	};
	static const char *const of_partition[] = {
		"/dev/disk/by-partuuid/", "/dev/disk/by-partlabel/",
		"/dev/gpt-auto-root",
	};
	size_t i;

	for (i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (!strncmp(link, gone[i], strlen(gone[i])))
			return false;
	for (i = 0; partition &&
	     i < sizeof(of_partition) / sizeof(of_partition[0]); i++)
		if (!strncmp(link, of_partition[i], strlen(of_partition[i])))
			return false;
	return !strncmp(link, "/dev/", strlen("/dev/"));
}

/*
 * What udev takes for a list of links, bytes: a longer one is dropped as a whole. The
 * rule has as many lists, ALIGN_LINKS, ALIGN_LINKS_2 and so on.
 */
#define LINKS_BYTES	1000
#define LINKS_LISTS	4

/**
 * struct link_lists - the lists that are being printed
 * @nr: number of the list that is being printed, from 1
 * @bytes: length of that list
 */
struct link_lists {
	unsigned int nr;
	size_t bytes;
};

/* Print a link, below /dev; false if there is no room for it. */
static bool print_link(struct link_lists *lists, const char *link)
{
	size_t bytes = 1 + strlen(link);

	if (lists->bytes + bytes <= LINKS_BYTES) {
		printf(" %s", link);
		lists->bytes += bytes;
		return true;
	}
	if (lists->nr == LINKS_LISTS || bytes > LINKS_BYTES)
		return false;
	lists->nr++;
	lists->bytes = bytes;
	printf("\nALIGN_LINKS_%u=%s", lists->nr, link);
	return true;
}

/*
 * Print ALIGN_LINKS. @partition: number of a hidden disk's partition, or 0. Return:
 * false if there is no room for all links.
 */
static bool print_links(const char *escaped, unsigned int partition)
{
	const char *given = getenv("DEVLINKS");
	CLEANUP_FREE char *links = memory_or_exit(strdup(given ? given : ""));
	CLEANUP_FREE char *own = partition ?
		message_format(LVM_LINKS_BELOW "%s-part%u", escaped, partition) :
		message_format(LVM_LINKS_BELOW "%s", escaped);
	struct link_lists lists = { .nr = 1, .bytes = strlen(own) };
	char *rest = links, *link;
	bool all = true;

	printf("ALIGN_LINKS=%s", own);
	while ((link = strsep(&rest, " ")))
		if (link_stays(link, partition))
			all &= print_link(&lists, link + strlen("/dev/"));
	putchar('\n');
	return all;
}

/* Say that a device loses links which other programs may know it by. */
static void report_links(const struct aligntab_line *line,
			 const struct device *device)
{
	CLEANUP_FREE char *text = message_format(
		ALIGNTAB_FILE ":%u: %s: %s has too many links, or too long ones, and keeps only the first",
		line->number, line->name, device->path);

	log_message(text);
}

/*
 * Print what the rule needs for the device of a line. The unit is not started
 * for a second device that the line means, nor twice.
 */
static void print_lower(const struct aligntab_line *line,
			const struct device *device)
{
	CLEANUP_FREE char *escaped = unit_escape(line->name);
	CLEANUP_FREE char *unit = unit_of(line->name);
	const char *name = line->kernel_name;
	CLEANUP_FREE char *detach = remedy_of_name(REMEDY_DETACH, line->name);
	CLEANUP_FREE char *attach = remedy_of_name(REMEDY_ATTACH_TAB,
						   line->name);
	CLEANUP_FREE char *text = NULL;

	printf("ALIGN_LOWER=%s\n", escaped);
	if (!print_links(escaped, 0))
		report_links(line, device);
	if (!align_exists(name)) {
		if (unit && !line->noauto)
			printf("ALIGN_UNIT=%s\n", unit);
	} else if (!has_align_above(device, name)) {
		text = message_format(
			dm_name_lost(line->name) ?
			ALIGNTAB_FILE ":%u: %s: %s is here, but the align device has lost its device %s; run: %s && %s" :
			ALIGNTAB_FILE ":%u: %s: %s is a second device that %s means, and is hidden, too; name the right device by ID=",
			line->number, line->name, device->path, line->device,
			detach, attach);
		log_message(text);
	}
}

int lower_print(void)
{
	const char *inherited = getenv("ALIGN_LOWER");
	const char *node = getenv("DEVNAME");
	unsigned int major, minor, partition;
	struct aligntab tab;
	struct device device;
	size_t i;

	if (!node || !property_number("MAJOR", &major) ||
	    !property_number("MINOR", &minor) || aligntab_off())
		return ALIGNCTL_FINE;
	if (inherited && *inherited) {
		if (property_number("PARTN", &partition))
			print_links(inherited, partition);
		return ALIGNCTL_FINE;
	}
	/* the generator names wrong lines, once a boot */
	if (aligntab_read(&tab, true))
		return ALIGNCTL_IO;
	for (i = 0; i < tab.nr; i++)
		if (find_means(&tab.line[i], from_environment, NULL))
			break;
	if (i < tab.nr && !device_open_devno(&device, makedev(major, minor),
					     node)) {
		if (may_hide(&tab.line[i], &device))
			print_lower(&tab.line[i], &device);
		device_close(&device);
	}
	aligntab_free(&tab);
	return ALIGNCTL_FINE;
}

int lower_print_above(const char *node)
{
	CLEANUP_FREE char *name = NULL, *path = NULL;
	CLEANUP_SYSFS struct sysfs_device device = { 0 };
	int64_t partition = 0;
	struct stat found;

	if (stat(node, &found) || !S_ISBLK(found.st_mode) ||
	    !sysfs_device_open(&device, found.st_rdev)) {
		message_error("%s: is no block device", node);
		return ALIGNCTL_USAGE;
	}
	name = align_above(device.dir, NULL);
	if (!name && sysfs_number(device.dir, "partition", &partition))
		name = align_above(device.disk_dir, NULL);
	else
		partition = 0;
	if (name) {
		path = dm_node(name, partition);
		puts(path);
	}
	return ALIGNCTL_FINE;
}

/* Let the kernel send an event of a device whose folder is @dir. */
static void send_change(const char *dir)
{
	CLEANUP_FREE char *path = message_format("%s/uevent", dir);
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "change", strlen("change")) < 0)
		message_warning("%s: %s: udev does not process the device again, so its links in /dev may be outdated",
				path, strerror(errno));
}

static void visit_partition(const char *name, void *context)
{
	CLEANUP_FREE char *dir = message_format("%s/%s", (char *)context, name);
	int64_t number;

	if (sysfs_number(dir, "partition", &number))
		send_change(dir);
}

void lower_trigger(dev_t devno)
{
	char *settle[] = { "udevadm", "settle", "--timeout=30", NULL };
	CLEANUP_FREE char *output = NULL;
	CLEANUP_SYSFS struct sysfs_device device = { 0 };

	if (!sysfs_device_open(&device, devno))
		return;
	send_change(device.dir);
	sysfs_each(device.dir, visit_partition, device.dir);
	program_run(settle, &output);
}
