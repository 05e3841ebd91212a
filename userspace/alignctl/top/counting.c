// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/units.h"
#include "top/counting.h"

/* The programs, as an object file that the Makefile compiles. */
__asm__(".section .rodata\n"
	".balign 8\n"
	".local top_object\n"
	"top_object: .incbin \"" TOP_BPF_OBJECT "\"\n"
	".local top_object_end\n"
	"top_object_end:\n"
	".previous\n");
extern const char top_object[], top_object_end[];

#define BTF_FILE	"/sys/kernel/btf/vmlinux"

enum inner { INNER_ROWS, INNER_CLASSES, NR_INNER };

static const char *const outer_names[NR_INNER] = { "rows", "classes" };

/* The programs of --drive. */
static const char *const drive_programs[] = {
	"rq_issue", "rq_issue_again", "rq_requeue", "rq_complete",
	"rq_complete_again",
};

/* The second programs of an event: see top.bpf.c. */
static const char *const second_programs[] = {
	"bio_queue_again", "bio_complete_again", "rq_issue_again",
	"rq_complete_again",
};
#define PREEMPTIBLE_SINCE	7	/* Linux 7.0 */

/* The program at a function that not every kernel has, or lets anybody look at. */
#define CALL_PROGRAM	"iomap_next"

#define MAX_LINKS	16

/**
 * struct top - the programs while they count
 * @options: what to count
 * @geometry: physical blocks of the device
 * @object: the programs
 * @link: their attachments
 * @nr_links: number of attachments
 * @inner: descriptors of the maps that are being filled
 * @events: events up to the last reading
 * @skips: skipped events up to the last reading
 * @read_ns: time of the last reading
 * @knows_direct: files of direct writes are known
 * @preemptible: each event has two programs
 */
struct top {
	struct top_options options;
	struct align_geometry geometry;
	struct bpf_object *object;
	struct bpf_link *link[MAX_LINKS];
	size_t nr_links;
	int inner[NR_INNER];
	struct top_events events;
	struct top_skips skips;
	uint64_t read_ns;
	bool knows_direct;
	bool preemptible;
};

/* The first complaint of libbpf, to be part of our own. */
static char complaint[160];

static int keep_complaint(enum libbpf_print_level level, const char *format,
			  va_list arguments)
{
	if (level == LIBBPF_WARN && !*complaint) {
		vsnprintf(complaint, sizeof(complaint), format, arguments);
		complaint[strcspn(complaint, "\n")] = '\0';
	}
	return 0;
}

/* Report what the kernel, or libbpf, has refused. Return: ALIGNCTL_IO. */
static int refuse(const char *what)
{
	message_error("top: %s: %s%s%s", what, strerror(errno),
		      *complaint ? "; " : "", complaint);
	return ALIGNCTL_IO;
}

static uint32_t nr_phases(const struct align_geometry *g)
{
	return g->physical / g->logical;
}

static uint32_t nr_classes(const struct top *top)
{
	return top->options.drive ?
	       ALIGN_SIZE_BINS * nr_phases(&top->geometry) * 2 : 1;
}

/* Check for BTF and rights. Return: enum alignctl_exit, reported. */
static int check_kernel(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	CLEANUP_FREE char *btf = sysfs_path("%s", BTF_FILE);
	static const struct { unsigned int number; const char *name; } needs[] = {
		{ CAP_BPF, "CAP_BPF" }, { CAP_PERFMON, "CAP_PERFMON" },
	};
	size_t i;

	if (access(btf, R_OK)) {
		message_error("%s: %s; top needs CONFIG_DEBUG_INFO_BTF, 'alignctl record' does not",
			      btf, strerror(errno));
		return ALIGNCTL_IO;
	}
	if (syscall(SYS_capget, &header, data))
		return ALIGNCTL_FINE;
	if (data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective &
	    CAP_TO_MASK(CAP_SYS_ADMIN))
		return ALIGNCTL_FINE;
	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		unsigned int n = needs[i].number;

		if (data[CAP_TO_INDEX(n)].effective & CAP_TO_MASK(n))
			continue;
		message_error("top: %s is missing; counting in the kernel needs CAP_BPF and CAP_PERFMON, or root",
			      needs[i].name);
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

/* Find the device's place on its disk, and its physical blocks. */
static int set_config(struct top *top, struct top_config *config)
{
	const struct device *device = top->options.device;
	const struct sysfs_device *sys = &device->sys;
	const char *wrong = NULL;
	int64_t start = 0;
	uint32_t offset;
	dev_t disk;

	if (!sysfs_devno(sys->disk_dir, "dev", &disk) ||
	    (sys->partition && (!sysfs_number(sys->dir, "start", &start) ||
				start < 0 || !device->sectors))) {
		message_error("%s: cannot read where it begins", sys->dir);
		return ALIGNCTL_IO;
	}
	if (!device_offset_for(device, device->physical, &offset))
		wrong = "alignment_offset is not known";
	else
		wrong = align_geometry_init(&top->geometry, device->physical,
					    device->logical, offset, 0,
					    device->sectors);
	if (wrong) {
		message_error("%s: %s; name the disk below it", device->path,
			      wrong);
		return ALIGNCTL_USAGE;
	}
	*config = (struct top_config) {
		.geometry = top->geometry,
		.start = (uint64_t)start,
		.end = sys->partition ? (uint64_t)start + device->sectors :
					UINT64_MAX >> ALIGN_SECTOR_SHIFT,
		.disk_major = major(disk),
		.disk_minor = minor(disk),
		.by_cgroup = top->options.by_cgroup,
		.preemptible = top->preemptible,
		.phases = nr_phases(&top->geometry),
	};
	return ALIGNCTL_FINE;
}

/* Make an empty map for the next interval; return its descriptor, or -1. */
static int make_inner(const struct top *top, enum inner inner)
{
	if (inner == INNER_ROWS)
		return bpf_map_create(BPF_MAP_TYPE_HASH, "top_rows",
				      sizeof(struct top_key),
				      sizeof(struct top_count),
				      top->options.rows, NULL);
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "top_classes",
			      sizeof(uint32_t), sizeof(struct top_class),
			      nr_classes(top), NULL);
}

static int map_fd(const struct top *top, const char *name)
{
	return bpf_object__find_map_fd_by_name(top->object, name);
}

static void set_room(const struct top *top, const char *map, uint32_t room)
{
	bpf_map__set_max_entries(bpf_object__find_map_by_name(top->object, map),
				 room);
}

static void set_autoload(const struct top *top, const char *program, bool on)
{
	bpf_program__set_autoload(
		bpf_object__find_program_by_name(top->object, program), on);
}

static void unload(struct top *top)
{
	while (top->nr_links)
		bpf_link__destroy(top->link[--top->nr_links]);
	bpf_object__close(top->object);
	top->object = NULL;
}

/* Load the programs. Return: false, with errno set, if they are refused. */
static bool load(struct top *top, const struct top_config *config)
{
	LIBBPF_OPTS(bpf_object_open_opts, open, .object_name = "alignctl_top");
	size_t i;

	*complaint = '\0';
	top->object = bpf_object__open_mem(top_object,
					   top_object_end - top_object, &open);
	if (!top->object)
		return false;
	if (bpf_map__set_initial_value(
			bpf_object__find_map_by_name(top->object,
						     ".rodata.config"),
			config, sizeof(*config)))
		return false;
	for (i = 0; i < NR_INNER; i++)
		if (bpf_map__set_inner_map_fd(
				bpf_object__find_map_by_name(top->object,
							     outer_names[i]),
				top->inner[i]))
			return false;
	for (i = 0; i < sizeof(drive_programs) / sizeof(drive_programs[0]); i++)
		set_autoload(top, drive_programs[i], top->options.drive);
	set_room(top, "calls", top->options.rows);
	if (top->options.drive)
		set_room(top, "issued",
			 top->options.rows * TOP_REQUESTS_PER_ROW);
	for (i = 0; !top->preemptible &&
		    i < sizeof(second_programs) / sizeof(second_programs[0]); i++)
		set_autoload(top, second_programs[i], false);
	set_autoload(top, CALL_PROGRAM, top->knows_direct);
	return !bpf_object__load(top->object);
}

/* Put a map where the programs look for it. */
static bool put_inner(const struct top *top, enum inner inner, int fd)
{
	const uint32_t first = 0;

	return !bpf_map_update_elem(map_fd(top, outer_names[inner]), &first,
				    &fd, BPF_ANY);
}

/*
 * Attach the loaded programs; the one that counts bios comes first in the object
 * and is attached last, so that what it needs is there.
 */
static bool attach(struct top *top)
{
	struct bpf_program *program = NULL;

	while ((program = bpf_object__prev_program(top->object, program))) {
		struct bpf_link *link;

		if (!bpf_program__autoload(program))
			continue;
		link = bpf_program__attach(program);
		if (!link || top->nr_links == MAX_LINKS)
			return false;
		top->link[top->nr_links++] = link;
	}
	return true;
}

static bool start(struct top *top, const struct top_config *config)
{
	int i;

	if (!load(top, config))
		return false;
	for (i = 0; i < NR_INNER; i++)
		if (!put_inner(top, i, top->inner[i]))
			return false;
	return attach(top);
}

/* Return whether a task can be preempted in a program at a tracepoint. */
static bool is_preemptible(void)
{
	struct utsname kernel;

	return uname(&kernel) ||
	       strtoul(kernel.release, NULL, 10) >= PREEMPTIBLE_SINCE;
}

int top_open(struct top **result, const struct top_options *options)
{
	struct top *top;
	struct top_config config;
	int status, i;

	status = check_kernel();
	if (status)
		return status;
	top = memory_or_exit(calloc(1, sizeof(*top)));
	top->options = *options;
	top->inner[INNER_ROWS] = top->inner[INNER_CLASSES] = -1;
	top->knows_direct = true;
	top->preemptible = is_preemptible();
	libbpf_set_print(keep_complaint);
	status = set_config(top, &config);
	for (i = 0; !status && i < NR_INNER; i++) {
		top->inner[i] = make_inner(top, i);
		if (top->inner[i] < 0)
			status = refuse("the kernel makes no map");
	}
	if (!status && !start(top, &config)) {
		/* a kernel that does not let calls be watched still has events */
		unload(top);
		top->knows_direct = false;
		if (!start(top, &config))
			status = refuse("the kernel does not take the programs");
	}
	if (status) {
		top_close(top);
		return status;
	}
	top->read_ns = clock_ns();
	*result = top;
	return ALIGNCTL_FINE;
}

void top_close(struct top *top)
{
	int i;

	unload(top);
	for (i = 0; i < NR_INNER; i++)
		if (top->inner[i] >= 0)
			close(top->inner[i]);
	free(top);
}

const struct align_geometry *top_geometry(const struct top *top)
{
	return &top->geometry;
}

bool top_knows_direct(const struct top *top)
{
	return top->knows_direct;
}

/* Return how often a program did not run because it was running already. */
static uint64_t skipped(const struct top *top, const char *name)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(top->object, name);
	struct bpf_prog_info info = { 0 };
	uint32_t length = sizeof(info);

	if (!bpf_program__autoload(program) ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length))
		return 0;
	return info.recursion_misses;
}

/*
 * Return how often an event was skipped by its program and by the second one, at
 * most: each may have skipped other ones.
 */
static uint64_t skipped_by_both(const struct top *top, const char *first,
				const char *second)
{
	uint64_t one = skipped(top, first), other;

	if (!top->preemptible)
		return one;
	other = skipped(top, second);
	return one < other ? one : other;
}

static uint64_t excess(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Read the events since the last reading. */
static bool read_events(struct top *top, struct top_interval *interval)
{
	const uint32_t first = 0;
	uint64_t arrivals = skipped(top, "bio_queue");
	struct top_events now;
	struct top_skips skips = {
		.ends = skipped_by_both(top, "bio_complete",
					"bio_complete_again"),
		.requests = skipped_by_both(top, "rq_issue",
					    "rq_issue_again") +
			    skipped_by_both(top, "rq_complete",
					    "rq_complete_again"),
	};

	if (bpf_map_lookup_elem(map_fd(top, "events"), &first, &now))
		return false;
	now.calls_lost += skipped(top, CALL_PROGRAM);
	skips.arrivals = excess(arrivals, now.seen_again);
	interval->events = (struct top_events) {
		.lost = now.lost - top->events.lost,
		.sent_back = now.sent_back - top->events.sent_back,
		.counted_twice = now.counted_twice - top->events.counted_twice,
		.calls_lost = now.calls_lost - top->events.calls_lost,
		.requests_lost = now.requests_lost - top->events.requests_lost,
		.requeued = now.requeued - top->events.requeued,
	};
	/* an arrival may be between its two programs, and be missing for a while */
	interval->skips = (struct top_skips) {
		.arrivals = excess(skips.arrivals, top->skips.arrivals),
		.ends = excess(skips.ends, top->skips.ends),
		.requests = excess(skips.requests, top->skips.requests),
	};
	top->events = now;
	top->skips = skips;
	return true;
}

static bool read_rows(int fd, struct top_interval *interval)
{
	struct top_key *previous = NULL;
	size_t room = 0;

	for (;;) {
		struct top_row *row;

		if (interval->nr == room) {
			room = room * 2 + 64;
			interval->row = memory_or_exit(
				reallocarray(interval->row, room,
					     sizeof(*interval->row)));
			previous = interval->nr ?
				   &interval->row[interval->nr - 1].key : NULL;
		}
		row = &interval->row[interval->nr];
		if (bpf_map_get_next_key(fd, previous, &row->key))
			return errno == ENOENT;
		if (bpf_map_lookup_elem(fd, &row->key, &row->count))
			return false;
		previous = &row->key;
		interval->nr++;
	}
}

static bool read_classes(int fd, struct top_interval *interval)
{
	uint32_t i;

	interval->class = memory_or_exit(calloc(interval->nr_classes,
						sizeof(*interval->class)));
	for (i = 0; i < interval->nr_classes; i++)
		if (bpf_map_lookup_elem(fd, &i, &interval->class[i]))
			return false;
	return true;
}

int top_read(struct top *top, struct top_interval *interval)
{
	int full[NR_INNER], i;
	uint64_t now;
	bool read;

	memset(interval, 0, sizeof(*interval));
	for (i = 0; i < NR_INNER; i++) {
		int next = make_inner(top, i);

		full[i] = top->inner[i];
		/* returns when no program uses the old map any more */
		if (next < 0 || !put_inner(top, i, next)) {
			if (next >= 0)
				close(next);
			while (i--)
				close(full[i]);
			return refuse("the kernel makes no map");
		}
		top->inner[i] = next;
	}
	now = clock_ns();
	interval->time = time(NULL);
	interval->seconds = ns_to_s((double)(now - top->read_ns));
	top->read_ns = now;
	read = read_rows(full[INNER_ROWS], interval) &&
	       read_events(top, interval);
	if (read && top->options.drive) {
		interval->nr_classes = nr_classes(top);
		read = read_classes(full[INNER_CLASSES], interval);
	}
	for (i = 0; i < NR_INNER; i++)
		close(full[i]);
	if (!read) {
		refuse("a map cannot be read");
		top_interval_free(interval);
		return ALIGNCTL_IO;
	}
	top_interval_finish(interval);
	return ALIGNCTL_FINE;
}

static uint64_t touches_of(const struct top_count *count)
{
	return count->write_touches + count->zero_touches;
}

/* Order rows: most touches, then most bytes first; then by key, for a fixed order. */
static int compare_rows(const void *one, const void *other)
{
	const struct top_row *a = one, *b = other;

	if (touches_of(&a->count) != touches_of(&b->count))
		return touches_of(&a->count) > touches_of(&b->count) ? -1 : 1;
	if (a->count.bytes != b->count.bytes)
		return a->count.bytes > b->count.bytes ? -1 : 1;
	return memcmp(&a->key, &b->key, sizeof(a->key));
}

void top_interval_finish(struct top_interval *interval)
{
	struct top_count *total = &interval->total;
	size_t i, kept = 0;

	for (i = 0; i < interval->nr; i++) {
		const struct top_count *count = &interval->row[i].count;

		/* all of it was sent back */
		if (!count->writes && !count->zeroes)
			continue;
		total->writes += count->writes;
		total->misaligned += count->misaligned;
		total->zeroes += count->zeroes;
		total->zeroes_misaligned += count->zeroes_misaligned;
		total->write_touches += count->write_touches;
		total->zero_touches += count->zero_touches;
		total->bytes += count->bytes;
		interval->row[kept++] = interval->row[i];
	}
	interval->nr = kept;
	if (kept)
		qsort(interval->row, kept, sizeof(*interval->row),
		      compare_rows);
}

uint64_t top_lost_writes(const struct top_interval *interval)
{
	return interval->events.lost + interval->skips.arrivals;
}

uint64_t top_lost_requests(const struct top_interval *interval)
{
	return interval->events.requests_lost + interval->skips.requests;
}

void top_interval_free(struct top_interval *interval)
{
	free(interval->row);
	free(interval->class);
	memset(interval, 0, sizeof(*interval));
}
