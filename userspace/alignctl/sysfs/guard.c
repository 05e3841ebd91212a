// SPDX-License-Identifier: GPL-2.0
/* Find who uses a device and what data it has, before alignctl writes to it. */
#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/pattern.h"
#include "sysfs/guard.h"

#define DEPTH_MAX	8	/* deepest stack of devices; ends a loop */

/**
 * struct mount_space - the mounts of a mount namespace
 * @id: the namespace, as "mnt:[4026531841]"
 * @whose: a process in the namespace, for people; NULL: our own namespace
 * @mounts: the namespace's mounts
 */
struct mount_space {
	char *id;
	char *whose;
	struct libmnt_table *mounts;
};

/* A loop device over a block device. */
struct loop {
	char *name;
	dev_t below;
};

/* One walk over a stack of devices. */
struct walk {
	struct guard_report *report;
	struct mount_space *space;	/* our own first */
	size_t nr_spaces;
	struct libmnt_table *swaps;
	struct loop *loop;
	size_t nr_loops;
	const struct sysfs_device *from;	/* device being visited */
	unsigned int depth;
};

/* Add and free a finding, once; control characters of labels are escaped. */
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
	*ARRAY_APPEND(report->finding, report->nr) = finding;
}

/* Return "dm-0 (vg-root)" or just "sda1", for free(). */
static char *label(const struct sysfs_device *device)
{
	CLEANUP_FREE char *dm = sysfs_text(device->dir, "dm/name");

	return dm ? message_format("%s (%s)", device->name, dm) :
		    message_format("%s", device->name);
}

/* Check whether a path from a mount or swap table means this device. */
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

/* Check whether a device is mounted in a namespace; add each mount point. */
static bool check_mounts(struct walk *walk, const struct sysfs_device *device,
			 const struct mount_space *space)
{
	CLEANUP_FREE char *name = label(device);
	struct libmnt_iter *iter = memory_or_exit(
		mnt_new_iter(MNT_ITER_FORWARD));
	struct libmnt_fs *fs;
	bool mounted = false;

	while (!mnt_table_next_fs(space->mounts, iter, &fs)) {
		/* NULL if libmount takes the table for one of swap areas */
		const char *place = mnt_fs_get_target(fs);

		if (mnt_fs_get_devno(fs) != device->devno &&
		    !is_source(device, mnt_fs_get_source(fs)))
			continue;
		mounted = true;
		add(walk->report,
		    message_format("%s is mounted on %s%s%s", name,
				   place ? place : "an unknown place",
				   space->whose ? " for " : "",
				   space->whose ? space->whose : ""));
	}
	mnt_free_iter(iter);
	return mounted;
}

static void check_tables(struct walk *walk, const struct sysfs_device *device)
{
	CLEANUP_FREE char *name = label(device);
	struct libmnt_iter *iter = memory_or_exit(
		mnt_new_iter(MNT_ITER_FORWARD));
	struct libmnt_fs *fs;
	size_t i;

	/* most namespaces have the same mounts: report those of one */
	for (i = 0; i < walk->nr_spaces; i++)
		if (check_mounts(walk, device, &walk->space[i]))
			break;
	while (!mnt_table_next_fs(walk->swaps, iter, &fs))
		if (is_source(device, mnt_fs_get_source(fs)))
			add(walk->report,
			    message_format("%s is in use as swap", name));
	mnt_free_iter(iter);
}

static void walk_up(struct walk *walk, const struct sysfs_device *device);

/* Open the device called @name in sysfs. */
static bool open_named(struct sysfs_device *device, const char *name)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	dev_t devno;

	return sysfs_devno(dir, "dev", &devno) &&
	       sysfs_device_open(device, devno);
}

/* Add a device above the one being visited, and what uses it. */
static void add_above(struct walk *walk, const char *name, const char *how)
{
	CLEANUP_SYSFS struct sysfs_device above = { 0 };
	CLEANUP_FREE char *below = label(walk->from);
	bool found = open_named(&above, name);
	CLEANUP_FREE char *said = found ? label(&above) :
					  message_format("%s", name);

	add(walk->report, message_format("%s is %s %s", below, how, said));
	if (found)
		walk_up(walk, &above);
}

static void visit_holder(const char *name, void *context)
{
	add_above(context, name, "held by");
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

/* Add a loop device to the list if it lies on a block device. */
static void note_loop(const char *name, void *context)
{
	struct walk *walk = context;
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_FREE char *backing = sysfs_text(dir, "loop/backing_file");
	struct stat found;

	if (backing && !stat(backing, &found) && S_ISBLK(found.st_mode))
		*ARRAY_APPEND(walk->loop, walk->nr_loops) = (struct loop) {
			memory_or_exit(strdup(name)), found.st_rdev,
		};
}

static void list_loops(struct walk *walk)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block");

	sysfs_each(dir, note_loop, walk);
}

static void free_loops(struct walk *walk)
{
	while (walk->nr_loops)
		free(walk->loop[--walk->nr_loops].name);
	free(walk->loop);
}

/* Check the loop devices over a device. */
static void walk_loops(struct walk *walk, const struct sysfs_device *device)
{
	const struct sysfs_device *outer = walk->from;
	size_t i;

	if (walk->depth >= DEPTH_MAX)
		return;
	walk->from = device;
	walk->depth++;
	for (i = 0; i < walk->nr_loops; i++)
		if (walk->loop[i].below == device->devno)
			add_above(walk, walk->loop[i].name, "the backing device of");
	walk->depth--;
	walk->from = outer;
}

static void visit_partition(const char *name, void *context)
{
	struct walk *walk = context;
	CLEANUP_FREE char *dir = message_format("%s/%s", walk->from->dir, name);
	CLEANUP_SYSFS struct sysfs_device part = { 0 };
	int64_t number;
	dev_t devno;

	if (!sysfs_number(dir, "partition", &number) ||
	    !sysfs_devno(dir, "dev", &devno) ||
	    !sysfs_device_open(&part, devno))
		return;
	walk_up(walk, &part);
}

/* Check a device, its partitions, and all devices above them. */
static void walk_up(struct walk *walk, const struct sysfs_device *device)
{
	check_tables(walk, device);
	each_below(walk, device, "holders", visit_holder);
	walk_loops(walk, device);
	if (!device->partition)
		each_below(walk, device, ".", visit_partition);
}

/*
 * Check a device below. Other holders of it do not matter, as volumes of a
 * group hold other parts; its mounts do.
 */
static void visit_slave(const char *name, void *context)
{
	struct walk *walk = context;
	CLEANUP_SYSFS struct sysfs_device slave = { 0 };

	if (!open_named(&slave, name))
		return;
	check_tables(walk, &slave);
	each_below(walk, &slave, "slaves", visit_slave);
}

static void walk_block(struct walk *walk, const struct sysfs_device *device)
{
	CLEANUP_SYSFS struct sysfs_device disk = { 0 };
	dev_t devno;

	walk_up(walk, device);
	each_below(walk, device, "slaves", visit_slave);
	if (device->partition && sysfs_devno(device->disk_dir, "dev", &devno) &&
	    sysfs_device_open(&disk, devno)) {
		check_tables(walk, &disk);
		each_below(walk, &disk, "holders", visit_holder);
		walk_loops(walk, &disk);
	}
}

bool guard_overlaps(const struct sysfs_device *device, dev_t devno)
{
	CLEANUP_SYSFS struct sysfs_device other = { 0 };

	return sysfs_device_open(&other, devno) &&
	       !strcmp(other.disk_dir, device->disk_dir) &&
	       (!other.partition || !device->partition ||
		other.devno == device->devno);
}

char *guard_loop(const struct device *device)
{
	struct walk walk = { 0 };
	char *name = NULL;
	size_t i;

	list_loops(&walk);
	for (i = 0; i < walk.nr_loops && !name; i++) {
		if (!guard_overlaps(&device->sys, walk.loop[i].below))
			continue;
		name = walk.loop[i].name;
		walk.loop[i].name = NULL;
	}
	free_loops(&walk);
	return name;
}

/* A search for open files of a process. */
struct file_search {
	struct guard_report *report;
	const struct device *device;
	const char *process;	/* its folder in /proc */
	const char *pid;
};

/* Check by fdinfo whether a file is open for writing. */
static bool is_written(const char *process, const char *file)
{
	CLEANUP_FREE char *dir = message_format("%s/fdinfo", process);
	CLEANUP_FREE char *text = sysfs_text(dir, file);
	const char *flags = text ? strstr(text, "flags:") : NULL;

	return flags && strtoul(flags + strlen("flags:"), NULL, 8) & O_ACCMODE;
}

static bool is_inode(const struct device *device, const struct stat *found)
{
	return S_ISREG(found->st_mode) && found->st_dev == device->devno &&
	       found->st_ino == device->inode;
}

static void visit_file(const char *name, void *context)
{
	const struct file_search *search = context;
	const struct device *device = search->device;
	CLEANUP_FREE char *path = message_format("%s/fd/%s", search->process,
						 name);
	CLEANUP_FREE char *comm = NULL;
	struct stat found;

	if (stat(path, &found) ||
	    !(device->block ? S_ISBLK(found.st_mode) &&
			      guard_overlaps(&device->sys, found.st_rdev) :
			      is_inode(device, &found)) ||
	    !is_written(search->process, name))
		return;
	comm = sysfs_text(search->process, "comm");
	add(search->report,
	    message_format("process %s (%s) has it open for writing",
			   search->pid, comm ? comm : "?"));
}

static void visit_files(const char *name, void *context)
{
	struct file_search *search = context;
	CLEANUP_FREE char *process = message_format("/proc/%s", name);
	CLEANUP_FREE char *files = message_format("%s/fd", process);

	if (strspn(name, "0123456789") != strlen(name) ||
	    strtol(name, NULL, 10) == getpid())
		return;
	search->process = process;
	search->pid = name;
	sysfs_each(files, visit_file, search);
}

void guard_writers(struct guard_report *report, const struct device *device)
{
	struct file_search search = { .report = report, .device = device };

	/* the client of an nbd device has it open; /proc is of this machine, as files are */
	if (!device->block || strncmp(device->sys.name, "nbd", strlen("nbd")))
		sysfs_each("/proc", visit_files, &search);
}

static bool is_file(const struct device *device, const char *path)
{
	struct stat found;

	return path && !stat(path, &found) && is_inode(device, &found);
}

/* A search for loop devices over a regular file. */
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

/*
 * Return a process's mount namespace, "mnt:[4026531841]", for free(), or NULL.
 */
static char *mount_space_of(const char *process)
{
	CLEANUP_FREE char *link = sysfs_path("/proc/%s/ns/mnt", process);
	char id[64];
	ssize_t length = readlink(link, id, sizeof(id));

	return length > 0 && length < (ssize_t)sizeof(id) ?
		memory_or_exit(strndup(id, length)) : NULL;
}

/* Add the mount namespace of a process, unless it has been added. */
static void add_space(struct walk *walk, const char *process, bool own)
{
	CLEANUP_FREE char *id = mount_space_of(process);
	CLEANUP_FREE char *dir = sysfs_path("/proc/%s", process);
	CLEANUP_FREE char *mountinfo = message_format("%s/mountinfo", dir);
	CLEANUP_FREE char *comm = NULL;
	struct mount_space *space;
	size_t i;

	/* the process has just ended, or we may not look at it */
	if (!id && !own)
		return;
	for (i = 0; id && i < walk->nr_spaces; i++)
		if (walk->space[i].id && !strcmp(walk->space[i].id, id))
			return;
	space = ARRAY_APPEND(walk->space, walk->nr_spaces);
	*space = (struct mount_space) {
		.mounts = memory_or_exit(mnt_new_table()),
	};
	mnt_table_parse_file(space->mounts, mountinfo);
	space->id = id;
	id = NULL;
	if (own)
		return;
	comm = sysfs_text(dir, "comm");
	space->whose = message_format("process %s (%s)", process,
				      comm ? comm : "?");
}

static void visit_process(const char *name, void *context)
{
	if (strspn(name, "0123456789") == strlen(name))
		add_space(context, name, false);
}

void guard_usage(struct guard_report *report, const struct device *device)
{
	CLEANUP_FREE char *processes = sysfs_path("/proc");
	CLEANUP_FREE char *swaps = sysfs_path("/proc/swaps");
	struct walk walk = {
		.report = report, .swaps = memory_or_exit(mnt_new_table()),
	};
	size_t i;

	add_space(&walk, "self", true);
	sysfs_each(processes, visit_process, &walk);
	mnt_table_parse_swaps(walk.swaps, swaps);
	list_loops(&walk);
	if (device->block)
		walk_block(&walk, &device->sys);
	else
		walk_file(&walk, device);
	for (i = 0; i < walk.nr_spaces; i++) {
		mnt_unref_table(walk.space[i].mounts);
		free(walk.space[i].whose);
		free(walk.space[i].id);
	}
	free(walk.space);
	free_loops(&walk);
	mnt_unref_table(walk.swaps);
}

/* Add the signature that the probe has found. */
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
		message_error("%s: libblkid cannot read the device: %s", device->path,
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
		message_error("%s: cannot look for signatures: %s", device->path,
			      strerror(errno ? errno : EIO));
		result = ALIGNCTL_IO;
	}
	blkid_free_probe(probe);
	return result;
}

bool guard_partition_table(const struct device *device)
{
	CLEANUP_CLOSE int fd = open(device->path, O_RDONLY | O_CLOEXEC);
	blkid_probe probe;
	const char *type;
	bool has;

	if (fd < 0)
		return false;
	probe = memory_or_exit(blkid_new_probe());
	has = !blkid_probe_set_device(probe, fd, 0, 0) &&
	      !blkid_probe_enable_superblocks(probe, 0) &&
	      !blkid_probe_enable_partitions(probe, 1) &&
	      !blkid_do_safeprobe(probe) &&
	      !blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL);
	blkid_free_probe(probe);
	return has;
}

/* Check whether a device node has the signature of a member of that type. */
static bool is_member_node(const char *path, const char *wanted)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	blkid_probe probe;
	const char *type;
	bool is;

	if (fd < 0)
		return false;
	probe = memory_or_exit(blkid_new_probe());
	is = !blkid_probe_set_device(probe, fd, 0, 0) &&
	     !blkid_probe_enable_superblocks(probe, 1) &&
	     !blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE) &&
	     !blkid_do_safeprobe(probe) &&
	     !blkid_probe_lookup_value(probe, "TYPE", &type, NULL) &&
	     !strcmp(type, wanted);
	blkid_free_probe(probe);
	return is;
}

/* A search for a member of a volume manager in the partitions of a disk. */
struct member_search {
	const char *dir;
	const char *type;
	char *node;
	int64_t partition;
};

static void visit_member_partition(const char *name, void *context)
{
	struct member_search *search = context;
	CLEANUP_FREE char *dir = message_format("%s/%s", search->dir, name);
	CLEANUP_FREE char *node = NULL;
	CLEANUP_SYSFS struct sysfs_device part = { 0 };
	int64_t number;
	dev_t devno;

	if (search->node || !sysfs_number(dir, "partition", &number) ||
	    !sysfs_devno(dir, "dev", &devno) ||
	    !sysfs_device_open(&part, devno))
		return;
	node = message_format("/dev/%s", part.name);
	if (!is_member_node(node, search->type))
		return;
	search->node = memory_or_exit(strdup(node));
	search->partition = number;
}

char *guard_member(const struct device *device, const char *type,
		   int64_t *partition)
{
	struct member_search search = { .dir = device->sys.dir, .type = type };

	if (is_member_node(device->path, type))
		search.node = memory_or_exit(strdup(device->path));
	else if (!device->sys.partition)
		sysfs_each(device->sys.dir, visit_member_partition, &search);
	*partition = search.partition;
	return search.node;
}

/* Check whether a sector is neither zero nor of an earlier replay. */
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
	/* skip the holes */
	while ((at = lseek(fd, at, SEEK_DATA)) >= 0 && (uint64_t)at < end) {
		ssize_t got, i;

		at -= at % PATTERN_SECTOR;
		got = pread(fd, buffer, chunk, at);
		if (got < 0) {
			message_error("%s: cannot read at byte %lld: %s",
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

bool guard_same_device(const struct device *device, const char *path)
{
	struct device other;
	bool same;

	if (device_open(&other, path))
		return false;
	same = other.block == device->block && other.devno == device->devno &&
	       other.inode == device->inode;
	device_close(&other);
	return same;
}
