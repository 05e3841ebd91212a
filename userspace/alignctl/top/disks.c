// SPDX-License-Identifier: GPL-2.0
/*
 * Follow the disks that come and go, tell the programs their rules, and read their
 * counts.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "observe/programs.h"
#include "sysfs/device.h"
#include "sysfs/probed.h"
#include "top/disks.h"

/* The programs, as an object file that the Makefile compiles. */
PROGRAMS_OBJECT(disks_object, DISKS_BPF_OBJECT);

#define BLOCK_DIR	"/sys/block"

/**
 * struct disk_path - whose requests are those of a disk: the disk itself, or a path to it
 * @diskseq: diskseq of the requests' queue
 * @disk: index of the disk
 */
struct disk_path {
	uint64_t diskseq;
	size_t disk;
};

/**
 * struct disks - the programs while they count
 * @programs: the programs
 * @cgroups: number of cgroups that there is room for; 0: they are not counted
 * @rules: descriptor of the map that the programs count by; -1: none yet
 * @disk: the disks that are counted, by name
 * @nr: number of disks
 * @path: the paths to them
 * @nr_paths: number of paths
 * @processors: number of processors that a counter is kept for
 * @missed: the most completions so far that no program saw
 */
struct disks {
	struct programs programs;
	uint32_t cgroups;
	int rules;
	struct disk_counts *disk;
	size_t nr;
	struct disk_path *path;
	size_t nr_paths;
	int processors;
	uint64_t missed;
};

/* Report what the kernel has refused. Return: ALIGNCTL_IO. */
static int refuse_programs(const char *what)
{
	return programs_refuse("top", what);
}

static int map_fd(const struct disks *disks, const char *name)
{
	return programs_map_fd(&disks->programs, name);
}

/* Finding disks */

/* The disks that are found, and the paths to them, while sysfs is read. */
struct search {
	struct disk_counts *disk;
	size_t nr;
	struct disk_path *path;
	size_t nr_paths;
};

static void free_disks(struct disk_counts *disk, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(disk[i].name);
	free(disk);
}

/*
 * Find a disk's physical blocks, as check judges by them: those that were
 * measured, else the kernel's. A file that cannot be used is check's to tell of.
 */
static void find_blocks(struct disk_counts *disk, const struct device *device)
{
	uint32_t physical = device->physical, offset;
	CLEANUP_FREE char *wrong = NULL;
	struct probed probed;

	disk->source = UNIT_KERNEL;
	if (probed_read(&probed, device->sys.disk_dir, &wrong)) {
		disk->source = UNIT_MEASURED;
		physical = probed.block;
		offset = probed.offset;
	} else if (!device_offset_for(device, physical, &offset)) {
		return;
	}
	disk->rule.judged = !align_geometry_init(&disk->rule.geometry, physical,
						 device->logical, offset, 0,
						 device->sectors);
}

static void note_below(const char *name, void *context)
{
	bool *some = context;

	(void)name;
	*some = true;
}

/*
 * Check whether a device is made of others. Nearly all of these have no requests of
 * their own, but those of device-mapper's multipath have, and pass on each one.
 */
static bool is_made_of_others(const char *dir)
{
	CLEANUP_FREE char *slaves = message_format("%s/slaves", dir);
	bool some = false;

	sysfs_each(slaves, note_below, &some);
	return some;
}

/*
 * Return the name of the disk that a hidden path leads to, as nvme0n1 of nvme0c1n1, for
 * free(); @name itself where it is none.
 */
static char *head_of(const char *name)
{
	unsigned int subsystem, controller, number;
	int length = 0;

	if (sscanf(name, "nvme%uc%un%u%n", &subsystem, &controller, &number, &length) != 3 ||
	    name[length])
		return message_format("%s", name);
	return message_format("nvme%un%u", subsystem, number);
}

/* Read the diskseq of a disk; false without one, which older kernels have not. */
static bool read_diskseq(const char *dir, uint64_t *diskseq)
{
	int64_t number;

	if (!sysfs_number(dir, "diskseq", &number) || number < 0)
		return false;
	*diskseq = (uint64_t)number;
	return true;
}

/*
 * Add the disk of a name, unless another @path to it has. Return: its index, or -1 if
 * it is none.
 */
static ssize_t add_disk(struct search *search, const char *name, const char *path)
{
	CLEANUP_FREE char *dir = sysfs_path(BLOCK_DIR "/%s", name);
	struct disk_counts *disk;
	struct device device;
	uint64_t diskseq;
	int64_t size;
	dev_t devno;
	size_t i;

	if (!read_diskseq(dir, &diskseq) || !sysfs_number(dir, "size", &size) ||
	    size <= 0 || !sysfs_devno(dir, "dev", &devno))
		return -1;
	/* only those that have hidden paths are met again */
	for (i = strcmp(name, path) ? 0 : search->nr; i < search->nr; i++)
		if (search->disk[i].rule.diskseq == diskseq)
			return (ssize_t)i;
	if (device_open_devno(&device, devno, name))
		return -1;
	disk = ARRAY_APPEND(search->disk, search->nr);
	memset(disk, 0, sizeof(*disk));
	disk->name = memory_or_exit(strdup(name));
	disk->rule.diskseq = diskseq;
	find_blocks(disk, &device);
	device_close(&device);
	return (ssize_t)i;
}

static void visit_disk(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path(BLOCK_DIR "/%s", name);
	CLEANUP_FREE char *queues = message_format("%s/mq", dir);
	CLEANUP_FREE char *head = head_of(name);
	struct search *search = context;
	uint64_t diskseq;
	ssize_t disk;

	if (access(queues, F_OK) || is_made_of_others(dir) ||
	    !read_diskseq(dir, &diskseq))
		return;
	disk = add_disk(search, head, name);
	if (disk >= 0)
		*ARRAY_APPEND(search->path, search->nr_paths) =
			(struct disk_path) { diskseq, (size_t)disk };
}

/* Return the disk with a number in a list, or NULL. */
static const struct disk_counts *same_disk(const struct disk_counts *disk,
					   size_t nr, uint64_t diskseq)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (disk[i].rule.diskseq == diskseq)
			return &disk[i];
	return NULL;
}

/* Check whether a disk is still counted in the same way. */
static bool same_rule(const struct disk_counts *before,
		      const struct disk_counts *now)
{
	const struct align_geometry *g = &before->rule.geometry;
	const struct align_geometry *new = &now->rule.geometry;

	return before->rule.diskseq == now->rule.diskseq &&
	       before->rule.judged == now->rule.judged &&
	       g->physical == new->physical && g->logical == new->logical &&
	       g->offset == new->offset;
}

/* Check whether the programs would count the same by another list of disks. */
static bool same_rules(const struct disks *disks, const struct search *found)
{
	size_t i;

	if (disks->rules < 0 || disks->nr != found->nr ||
	    disks->nr_paths != found->nr_paths)
		return false;
	for (i = 0; i < found->nr_paths; i++)
		if (disks->path[i].diskseq != found->path[i].diskseq ||
		    disks->path[i].disk != found->path[i].disk)
			return false;
	for (i = 0; i < found->nr; i++)
		if (!same_rule(&disks->disk[i], &found->disk[i]))
			return false;
	return true;
}

/* Make an empty map of rules, which takes memory for those in it only; or -1. */
static int make_rules(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options,
		    .map_flags = BPF_F_NO_PREALLOC);

	return bpf_map_create(BPF_MAP_TYPE_HASH, "disks_rules",
			      sizeof(uint64_t), sizeof(struct disks_rule),
			      DISKS_MAX, &options);
}

/* Let the programs count by new rules; no program uses the old ones after that. */
static bool put_rules(struct disks *disks, const struct search *found)
{
	const uint32_t first = 0;
	int fd = make_rules();
	size_t i;

	if (fd < 0)
		return false;
	for (i = 0; i < found->nr_paths; i++)
		if (bpf_map_update_elem(fd, &found->path[i].diskseq,
					&found->disk[found->path[i].disk].rule,
					BPF_ANY)) {
			close(fd);
			return false;
		}
	if (bpf_map_update_elem(map_fd(disks, "rules"), &first, &fd, BPF_ANY)) {
		close(fd);
		return false;
	}
	if (disks->rules >= 0)
		close(disks->rules);
	disks->rules = fd;
	return true;
}

static bool add_counter(const struct disks *disks, uint64_t diskseq)
{
	CLEANUP_FREE struct disks_count *none = memory_or_exit(
		calloc((size_t)disks->processors, sizeof(*none)));

	return !bpf_map_update_elem(map_fd(disks, "disks"), &diskseq, none,
				    BPF_NOEXIST) || errno == EEXIST;
}

/* Remove the counters of disks that are no more. */
static void remove_counters(const struct disks *disks,
			    const struct search *found)
{
	int fd = map_fd(disks, "cgroups");
	struct disks_cgroup key, next;
	bool more;
	size_t i;

	for (i = 0; i < disks->nr; i++) {
		uint64_t diskseq = disks->disk[i].rule.diskseq;

		if (!same_disk(found->disk, found->nr, diskseq))
			bpf_map_delete_elem(map_fd(disks, "disks"), &diskseq);
	}
	more = !bpf_map_get_next_key(fd, NULL, &next);
	while (more) {
		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (!same_disk(found->disk, found->nr, key.diskseq))
			bpf_map_delete_elem(fd, &key);
	}
}

/*
 * Follow the disks that come and go. A counter is there before a rule leads to
 * it, and for as long as one does. Return: enum alignctl_exit, reported.
 */
static int follow_disks(struct disks *disks)
{
	CLEANUP_FREE char *dir = sysfs_path(BLOCK_DIR);
	struct search found = { 0 };
	bool done = true;
	size_t i;

	sysfs_each(dir, visit_disk, &found);
	for (i = 0; done && i < found.nr; i++)
		if (!same_disk(disks->disk, disks->nr,
			       found.disk[i].rule.diskseq))
			done = add_counter(disks, found.disk[i].rule.diskseq);
	if (done && !same_rules(disks, &found))
		done = put_rules(disks, &found);
	if (!done) {
		free_disks(found.disk, found.nr);
		free(found.path);
		return refuse_programs("the kernel takes no disk to count");
	}
	remove_counters(disks, &found);
	free_disks(disks->disk, disks->nr);
	free(disks->path);
	disks->disk = found.disk;
	disks->nr = found.nr;
	disks->path = found.path;
	disks->nr_paths = found.nr_paths;
	return ALIGNCTL_FINE;
}

/* Loading */

/* Load the programs. Return: false, with errno set, if they are refused. */
static bool load_programs(struct disks *disks)
{
	const struct disks_config config = { .by_cgroup = disks->cgroups > 0 };
	struct programs *programs = &disks->programs;
	struct observed_range range = { 0 };
	int inner;
	bool done;

	programs_find_kernel(&range);
	if (!programs_open(programs, "alignctl_disks", disks_object,
			   disks_object_end - disks_object, &range) ||
	    bpf_map__set_initial_value(
			bpf_object__find_map_by_name(programs->object,
						     ".rodata.config"),
			&config, sizeof(config)))
		return false;
	/* what a map in "rules" is like; it can be closed when that is loaded */
	inner = make_rules();
	if (inner < 0)
		return false;
	programs_set_room(programs, "disks", DISKS_MAX);
	if (disks->cgroups)
		programs_set_room(programs, "cgroups", disks->cgroups);
	done = !bpf_map__set_inner_map_fd(
			bpf_object__find_map_by_name(programs->object, "rules"),
			inner) &&
	       !bpf_object__load(programs->object);
	close(inner);
	return done;
}

int disks_open(struct disks **result, uint32_t cgroups)
{
	struct disks *disks;
	int status = programs_check_kernel("top", "top", "'alignctl record'");

	if (status)
		return status;
	disks = memory_or_exit(calloc(1, sizeof(*disks)));
	disks->cgroups = cgroups;
	disks->rules = -1;
	disks->processors = libbpf_num_possible_cpus();
	if (disks->processors <= 0)
		status = refuse_programs("the number of processors is not known");
	if (!status && !load_programs(disks))
		status = refuse_programs("cannot load the BPF programs");
	if (!status)
		status = follow_disks(disks);
	if (!status && !programs_attach(&disks->programs))
		status = refuse_programs("cannot load the BPF programs");
	if (status) {
		disks_close(disks);
		return status;
	}
	*result = disks;
	return ALIGNCTL_FINE;
}

void disks_close(struct disks *disks)
{
	programs_close(&disks->programs);
	if (disks->rules >= 0)
		close(disks->rules);
	free_disks(disks->disk, disks->nr);
	free(disks->path);
	free(disks);
}

/* Reading */

static bool read_count(const struct disks *disks, struct disk_counts *disk)
{
	CLEANUP_FREE struct disks_count *each = memory_or_exit(
		calloc((size_t)disks->processors, sizeof(*each)));
	struct disks_count *sum = &disk->count;
	int i;

	memset(sum, 0, sizeof(*sum));
	if (bpf_map_lookup_elem(map_fd(disks, "disks"), &disk->rule.diskseq,
				each))
		return false;
	for (i = 0; i < disks->processors; i++) {
		sum->writes += each[i].writes;
		sum->misaligned += each[i].misaligned;
		sum->inside += each[i].inside;
		sum->touches += each[i].touches;
		sum->bytes += each[i].bytes;
		sum->block_bytes += each[i].block_bytes;
	}
	return true;
}

/* Order cgroups: most touches first; then by disk and id, for a fixed order. */
static int compare_cgroups(const void *one, const void *other)
{
	const struct disk_cgroup_counts *a = one, *b = other;

	if (a->touches != b->touches)
		return a->touches > b->touches ? -1 : 1;
	if (a->disk != b->disk)
		return a->disk < b->disk ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void read_cgroups(const struct disks *disks,
			 struct disks_reading *reading)
{
	int fd = map_fd(disks, "cgroups");
	struct disks_cgroup *previous = NULL, key;
	uint64_t touches;

	while (!bpf_map_get_next_key(fd, previous, &key)) {
		const struct disk_counts *disk =
			same_disk(disks->disk, disks->nr, key.diskseq);

		previous = &key;
		if (!disk || bpf_map_lookup_elem(fd, &key, &touches))
			continue;
		*ARRAY_APPEND(reading->cgroup, reading->nr_cgroups) =
			(struct disk_cgroup_counts) {
				.disk = disk - disks->disk, .id = key.cgroup,
				.touches = touches,
			};
	}
	if (reading->nr_cgroups)
		qsort(reading->cgroup, reading->nr_cgroups,
		      sizeof(*reading->cgroup), compare_cgroups);
}

int disks_read(struct disks *disks, struct disks_reading *reading)
{
	const uint32_t first = 0;
	struct disks_events events;
	int result = follow_disks(disks);
	size_t i;

	memset(reading, 0, sizeof(*reading));
	if (result)
		return result;
	for (i = 0; i < disks->nr; i++)
		if (!read_count(disks, &disks->disk[i]))
			return refuse_programs("a counter cannot be read");
	if (bpf_map_lookup_elem(map_fd(disks, "events"), &first, &events))
		return refuse_programs("a counter cannot be read");
	if (disks->cgroups)
		read_cgroups(disks, reading);
	reading->disk = disks->disk;
	reading->nr = disks->nr;
	/* a counter that falls is one that has begun anew, to Prometheus */
	programs_raise(&disks->missed, programs_missed(&disks->programs, "rq_complete",
						       OBSERVED_COMPLETION));
	reading->missed = disks->missed;
	reading->cgroups_missed = events.no_room;
	return ALIGNCTL_FINE;
}

void disks_reading_free(struct disks_reading *reading)
{
	free(reading->cgroup);
	memset(reading, 0, sizeof(*reading));
}
