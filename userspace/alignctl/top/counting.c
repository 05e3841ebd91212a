// SPDX-License-Identifier: GPL-2.0
/* Swap the maps of top.bpf.c at each interval, and sort the rows that they had. */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/units.h"
#include "observe/programs.h"
#include "top/counting.h"

/* The programs, as an object file that the Makefile compiles. */
PROGRAMS_OBJECT(top_object, TOP_BPF_OBJECT);

enum inner { INNER_ROWS, INNER_CLASSES, NR_INNER };

static const char *const outer_names[NR_INNER] = { "rows", "classes" };

/* The programs of --drive begin so. */
#define DRIVE_PROGRAMS	"rq_"

/* The program at a function that not every kernel has, or allows to trace. */
#define CALL_PROGRAM	"iomap_next"

/**
 * struct top - the programs while they count
 * @options: what to count
 * @geometry: physical blocks of the device
 * @programs: the programs
 * @inner: descriptors of the maps that are being filled
 * @events: events up to the last reading
 * @skips: the most skipped events so far
 * @read_ns: time of the last reading
 * @knows_direct: files of direct writes are known
 */
struct top {
	struct top_options options;
	struct align_geometry geometry;
	struct programs programs;
	int inner[NR_INNER];
	struct top_events events;
	struct top_skips skips;
	uint64_t read_ns;
	bool knows_direct;
};

/* Report what the kernel has refused. Return: ALIGNCTL_IO. */
static int refuse_programs(const char *what)
{
	return programs_refuse("top", what);
}

static uint32_t nr_phases(const struct align_geometry *g)
{
	return g->physical / align_phase_bin_bytes(g);
}

static uint32_t nr_classes(const struct top *top)
{
	return top->options.drive ?
	       ALIGN_SIZE_BINS * nr_phases(&top->geometry) * 2 : 1;
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
	return programs_map_fd(&top->programs, name);
}

static void leave_out_drive(const struct top *top)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, top->programs.object)
		if (!strncmp(bpf_program__name(program), DRIVE_PROGRAMS,
			     strlen(DRIVE_PROGRAMS)))
			bpf_program__set_autoload(program, false);
}

/* Load the programs. Return: false, with errno set, if they are refused. */
static bool load_programs(struct top *top, const struct observed_range *range)
{
	const struct top_config config = {
		.geometry = top->geometry,
		.by_cgroup = top->options.by_cgroup,
		.phases = nr_phases(&top->geometry),
	};
	size_t i;

	if (!programs_open(&top->programs, "alignctl_top", top_object,
			   top_object_end - top_object, range))
		return false;
	if (bpf_map__set_initial_value(
			bpf_object__find_map_by_name(top->programs.object,
						     ".rodata.config"),
			&config, sizeof(config)))
		return false;
	for (i = 0; i < NR_INNER; i++)
		if (bpf_map__set_inner_map_fd(
				bpf_object__find_map_by_name(
					top->programs.object, outer_names[i]),
				top->inner[i]))
			return false;
	if (!top->options.drive)
		leave_out_drive(top);
	programs_set_room(&top->programs, "calls", top->options.rows);
	if (top->options.drive)
		programs_set_room(&top->programs, "issued",
				  top->options.rows * TOP_REQUESTS_PER_ROW);
	bpf_program__set_autoload(
		bpf_object__find_program_by_name(top->programs.object,
						 CALL_PROGRAM),
		top->knows_direct);
	return !bpf_object__load(top->programs.object);
}

/* Put a map where the programs look for it. */
static bool put_inner(const struct top *top, enum inner inner, int fd)
{
	const uint32_t first = 0;

	return !bpf_map_update_elem(map_fd(top, outer_names[inner]), &first,
				    &fd, BPF_ANY);
}

static bool start_counting(struct top *top, const struct observed_range *range)
{
	int i;

	if (!load_programs(top, range))
		return false;
	for (i = 0; i < NR_INNER; i++)
		if (!put_inner(top, i, top->inner[i]))
			return false;
	return programs_attach(&top->programs);
}

int top_open(struct top **result, const struct top_options *options)
{
	struct top *top;
	struct observed_range range;
	int status, i;

	status = programs_check_kernel("top", "top", "'alignctl record'");
	if (status)
		return status;
	top = memory_or_exit(calloc(1, sizeof(*top)));
	top->options = *options;
	top->inner[INNER_ROWS] = top->inner[INNER_CLASSES] = -1;
	top->knows_direct = true;
	status = programs_find_range(options->device, &range, &top->geometry);
	for (i = 0; !status && i < NR_INNER; i++) {
		top->inner[i] = make_inner(top, i);
		if (top->inner[i] < 0)
			status = refuse_programs("cannot create a BPF map");
	}
	if (!status && !start_counting(top, &range)) {
		/* a kernel that does not let calls be watched still has events */
		programs_close(&top->programs);
		top->knows_direct = false;
		if (!start_counting(top, &range))
			status = refuse_programs("cannot load the BPF programs");
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

	programs_close(&top->programs);
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

/* Read the events since the last reading. */
static bool read_events(struct top *top, struct top_interval *interval)
{
	const struct programs *programs = &top->programs;
	const uint32_t first = 0;
	struct top_events now;
	const struct top_skips skips = {
		.arrivals = programs_missed(programs, "bio_queue",
					    OBSERVED_ARRIVAL),
		.ends = programs_missed_by_both(programs, "bio_complete",
						"bio_complete_last_again"),
		.requests = programs_missed(programs, "rq_issue",
					    OBSERVED_ISSUE) +
			    programs_missed(programs, "rq_complete",
					    OBSERVED_COMPLETION),
	};

	if (bpf_map_lookup_elem(map_fd(top, "events"), &first, &now))
		return false;
	now.calls_lost += programs_skipped(programs, CALL_PROGRAM);
	interval->events = (struct top_events) {
		.lost = now.lost - top->events.lost,
		.sent_back = now.sent_back - top->events.sent_back,
		.counted_twice = now.counted_twice - top->events.counted_twice,
		.calls_lost = now.calls_lost - top->events.calls_lost,
		.requests_lost = now.requests_lost - top->events.requests_lost,
		.requeued = now.requeued - top->events.requeued,
	};
	interval->skips = (struct top_skips) {
		.arrivals = programs_raise(&top->skips.arrivals, skips.arrivals),
		.ends = programs_raise(&top->skips.ends, skips.ends),
		.requests = programs_raise(&top->skips.requests, skips.requests),
	};
	top->events = now;
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
			return refuse_programs("cannot create a BPF map");
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
		refuse_programs("cannot read a BPF map");
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
