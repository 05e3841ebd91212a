// SPDX-License-Identifier: GPL-2.0
#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "exit_codes.h"
#include "guard.h"
#include "message.h"
#include "pattern.h"

#define DEPTH_MAX	8	/* stacks are not deeper, and a loop must end */

/* One walk over a stack of devices. */
struct walk {
	struct guard_report *report;
	struct libmnt_table *mounts;
	struct libmnt_table *swaps;
	const struct sysfs_device *from;	/* whose entries are visited */
	unsigned int depth;
};

/* Takes a finding, fit to be shown: it has the words of whoever made a label. */
static void add(struct guard_report *report, char *text)
{
	char *finding = message_visible(text);
	size_t i;

	free(text);
	for (i = 0; i < report->nr; i++) {
		if (!strcmp(report->finding[i], finding)) {
			free(finding);
			return;
		}
	}
	report->finding = memory_or_exit(
		reallocarray(report->finding, report->nr + 1, sizeof(char *)));
	report->finding[report->nr++] = finding;
}

/* "dm-0 (vg-root)" or just "sda1"; for free(). */
static char *label(const struct sysfs_device *device)
{
	CLEANUP_FREE char *dm = sysfs_text(device->dir, "dm/name");

	return dm ? message_format("%s (%s)", device->name, dm) :
		    message_format("%s", device->name);
}

/* Does a path from a mount or swap table mean this device? */
static bool is_source(const struct sysfs_device *device, const char *source)
{
	CLEANUP_FREE char *node = message_format("/dev/%s", device->name);
	struct stat found;

	if (!source)
		return false;
	if (!strcmp(source, node))
		return true;
	return *source == '/' && !stat(source, &found) &&
	       S_ISBLK(found.st_mode) && found.st_rdev == device->devno;
}

static void check_tables(struct walk *walk, const struct sysfs_device *device)
{
	CLEANUP_FREE char *name = label(device);
	struct libmnt_iter *iter = memory_or_exit(
		mnt_new_iter(MNT_ITER_FORWARD));
	struct libmnt_fs *fs;

	while (!mnt_table_next_fs(walk->mounts, iter, &fs))
		if (mnt_fs_get_devno(fs) == device->devno ||
		    is_source(device, mnt_fs_get_source(fs)))
			add(walk->report,
			    message_format("%s is mounted on %s", name,
					   mnt_fs_get_target(fs)));
	mnt_reset_iter(iter, MNT_ITER_FORWARD);
	while (!mnt_table_next_fs(walk->swaps, iter, &fs))
		if (is_source(device, mnt_fs_get_source(fs)))
			add(walk->report,
			    message_format("%s is in use as swap", name));
	mnt_free_iter(iter);
}

static void walk_up(struct walk *walk, const struct sysfs_device *device);

/* Opens the device called @name in sysfs. */
static bool open_named(struct sysfs_device *device, const char *name)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	dev_t devno;

	return sysfs_devno(dir, "dev", &devno) &&
	       sysfs_device_open(device, devno);
}

static void visit_holder(const char *name, void *context)
{
	struct walk *walk = context;
	struct sysfs_device holder;
	CLEANUP_FREE char *below = label(walk->from);

	if (!open_named(&holder, name)) {
		add(walk->report, message_format("%s is held by %s", below,
						 name));
		return;
	}
	CLEANUP_FREE char *above = label(&holder);

	add(walk->report, message_format("%s is held by %s", below, above));
	walk_up(walk, &holder);
	sysfs_device_close(&holder);
}

static void each_below(struct walk *walk, const struct sysfs_device *device,
		       const char *subdir,
		       void (*visit)(const char *name, void *context))
{
	CLEANUP_FREE char *dir = message_format("%s/%s", device->dir, subdir);
	const struct sysfs_device *outer = walk->from;

	if (walk->depth >= DEPTH_MAX)
		return;
	walk->from = device;
	walk->depth++;
	sysfs_each(dir, visit, walk);
	walk->depth--;
	walk->from = outer;
}

static void visit_partition(const char *name, void *context)
{
	struct walk *walk = context;
	CLEANUP_FREE char *dir = message_format("%s/%s", walk->from->dir, name);
	struct sysfs_device part;
	int64_t number;
	dev_t devno;

	if (!sysfs_number(dir, "partition", &number) ||
	    !sysfs_devno(dir, "dev", &devno) ||
	    !sysfs_device_open(&part, devno))
		return;
	walk_up(walk, &part);
	sysfs_device_close(&part);
}

/* The device, its partitions, and all that is built on them. */
static void walk_up(struct walk *walk, const struct sysfs_device *device)
{
	check_tables(walk, device);
	each_below(walk, device, "holders", visit_holder);
	if (!device->partition)
		each_below(walk, device, ".", visit_partition);
}

/*
 * What the device lies on. Others may hold parts of it (volumes of a group),
 * which is none of our business; a mount of the same bytes is.
 */
static void visit_slave(const char *name, void *context)
{
	struct walk *walk = context;
	struct sysfs_device slave;

	if (!open_named(&slave, name))
		return;
	check_tables(walk, &slave);
	each_below(walk, &slave, "slaves", visit_slave);
	sysfs_device_close(&slave);
}

static void walk_block(struct walk *walk, const struct sysfs_device *device)
{
	struct sysfs_device disk;
	dev_t devno;

	walk_up(walk, device);
	each_below(walk, device, "slaves", visit_slave);
	if (device->partition && sysfs_devno(device->disk_dir, "dev", &devno) &&
	    sysfs_device_open(&disk, devno)) {
		check_tables(walk, &disk);
		each_below(walk, &disk, "holders", visit_holder);
		sysfs_device_close(&disk);
	}
}

static bool is_file(const struct device *device, const char *path)
{
	struct stat found;

	return path && !stat(path, &found) && S_ISREG(found.st_mode) &&
	       found.st_dev == device->devno && found.st_ino == device->inode;
}

/* A regular file and what may lie over it. */
struct file_walk {
	struct walk *walk;
	const struct device *device;
};

static void visit_loop(const char *name, void *context)
{
	struct file_walk *file = context;
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_FREE char *backing = sysfs_text(dir, "loop/backing_file");

	if (is_file(file->device, backing))
		add(file->walk->report,
		    message_format("is the backing file of %s", name));
}

static void walk_file(struct walk *walk, const struct device *device)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block");
	struct file_walk file = { walk, device };
	struct libmnt_iter *iter = memory_or_exit(
		mnt_new_iter(MNT_ITER_FORWARD));
	struct libmnt_fs *fs;

	while (!mnt_table_next_fs(walk->swaps, iter, &fs))
		if (is_file(device, mnt_fs_get_source(fs)))
			add(walk->report, message_format("is in use as swap"));
	mnt_free_iter(iter);
	sysfs_each(dir, visit_loop, &file);
}

void guard_usage(struct guard_report *report, const struct device *device)
{
	CLEANUP_FREE char *mountinfo = sysfs_path("/proc/self/mountinfo");
	CLEANUP_FREE char *swaps = sysfs_path("/proc/swaps");
	struct walk walk = {
		.report = report,
		.mounts = memory_or_exit(mnt_new_table()),
		.swaps = memory_or_exit(mnt_new_table()),
	};

	mnt_table_parse_file(walk.mounts, mountinfo);
	mnt_table_parse_swaps(walk.swaps, swaps);
	if (device->block)
		walk_block(&walk, &device->sys);
	else
		walk_file(&walk, device);
	mnt_unref_table(walk.mounts);
	mnt_unref_table(walk.swaps);
}

/* Adds what the probe has just found. */
static void add_signature(struct guard_report *report, blkid_probe probe)
{
	const char *type, *offset = "0", *name = NULL;

	if (!blkid_probe_lookup_value(probe, "TYPE", &type, NULL)) {
		blkid_probe_lookup_value(probe, "SBMAGIC_OFFSET", &offset,
					 NULL);
		blkid_probe_lookup_value(probe, "LABEL", &name, NULL);
		add(report, message_format(
			"carries the signature of %s%s%s%s at byte %s", type,
			name ? ", label " : "", name ? name : "",
			name ? "," : "", offset));
	} else if (!blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL)) {
		blkid_probe_lookup_value(probe, "PTMAGIC_OFFSET", &offset,
					 NULL);
		add(report, message_format(
			"carries a partition table (%s) at byte %s", type,
			offset));
	}
}

int guard_signatures(struct guard_report *report, const struct device *device)
{
	CLEANUP_CLOSE int fd = open(device->path, O_RDONLY | O_CLOEXEC);
	blkid_probe probe;
	int found, result = ALIGNCTL_FINE;

	if (fd < 0) {
		message_error("%s: %s", device->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	probe = memory_or_exit(blkid_new_probe());
	if (blkid_probe_set_device(probe, fd, 0, 0)) {
		message_error("%s: libblkid cannot read it: %s", device->path,
			      strerror(errno));
		blkid_free_probe(probe);
		return ALIGNCTL_IO;
	}
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE |
					  BLKID_SUBLKS_MAGIC |
					  BLKID_SUBLKS_LABEL);
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC);
	while (!(found = blkid_do_probe(probe)))
		add_signature(report, probe);
	if (found < 0) {
		message_error("%s: looking for signatures: %s", device->path,
			      strerror(errno ? errno : EIO));
		result = ALIGNCTL_IO;
	}
	blkid_free_probe(probe);
	return result;
}

/* Is a sector neither zero nor of an earlier replay? */
static bool holds_data(const char *sector)
{
	static const char zeroes[PATTERN_SECTOR];
	struct pattern_label found;

	return memcmp(sector, zeroes, PATTERN_SECTOR) &&
	       pattern_read(sector, &found) == PATTERN_ABSENT;
}

int guard_file_data(struct guard_report *report, const struct device *device,
		    uint64_t end)
{
	CLEANUP_CLOSE int fd = open(device->path, O_RDONLY | O_CLOEXEC);
	const size_t chunk = 1 << 20;
	CLEANUP_FREE char *buffer = memory_or_exit(malloc(chunk));
	off_t at = 0;

	if (fd < 0) {
		message_error("%s: %s", device->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	/* only what is allocated can hold data */
	while ((at = lseek(fd, at, SEEK_DATA)) >= 0 && (uint64_t)at < end) {
		ssize_t got, i;

		at -= at % PATTERN_SECTOR;
		got = pread(fd, buffer, chunk, at);
		if (got < 0) {
			message_error("%s: reading at byte %lld: %s",
				      device->path, (long long)at,
				      strerror(errno));
			return ALIGNCTL_IO;
		}
		if (!got)
			return ALIGNCTL_FINE;
		memset(buffer + got, 0, -got & (PATTERN_SECTOR - 1));
		for (i = 0; i < got && (uint64_t)(at + i) < end;
		     i += PATTERN_SECTOR) {
			if (!holds_data(buffer + i))
				continue;
			add(report, message_format(
				"holds data in the sector at byte %lld",
				(long long)(at + i)));
			return ALIGNCTL_FINE;
		}
		at += got;
	}
	if (at < 0 && errno != ENXIO) {
		message_error("%s: %s", device->path, strerror(errno));
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

void guard_print(const struct guard_report *report, const struct device *device)
{
	size_t i;

	for (i = 0; i < report->nr; i++)
		message_error("%s: %s", device->path, report->finding[i]);
}

void guard_free(struct guard_report *report)
{
	size_t i;

	for (i = 0; i < report->nr; i++)
		free(report->finding[i]);
	free(report->finding);
	memset(report, 0, sizeof(*report));
}
