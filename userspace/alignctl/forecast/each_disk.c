// SPDX-License-Identifier: GPL-2.0
/*
 * One thread reads the trace, and finds the disk of each request. A disk belongs to
 * one lane, whose thread alone touches its tally and models from the first request
 * until lanes_end(); what the reader needs of all disks is their memory.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/figure.h"
#include "base/message.h"
#include "base/progress.h"
#include "forecast/each_disk.h"
#include "forecast/forecast.h"
#include "forecast/lanes.h"
#include "forecast/place.h"

#define FIRST_ROOM	16U
/* Requests between looks at the clock; they take a few ms. */
#define SHOWN_EACH	(1U << 14)

/**
 * struct reading - a source that is being read
 * @tallies: what is asked, and where the tallies go
 * @source: the source
 * @places: where its requests lie
 * @lanes: threads that work on the disks
 * @disk: the disks, by the trace's number; NULL: no request yet
 * @room: number of elements of @disk
 * @nr: number of disks with requests
 * @bytes: memory of all disks
 */
struct reading {
	struct tallies *tallies;
	struct source *source;
	struct places places;
	struct lanes *lanes;
	struct disk **disk;
	uint32_t room;
	uint32_t nr;
	atomic_uint_least64_t bytes;
};

/**
 * struct disk - a disk whose requests are read
 * @reading: the source
 * @tally: its tally
 * @model: model of the modes; NULL: what they leave is not asked for
 */
struct disk {
	struct reading *reading;
	struct tally tally;
	struct fixing *model;
};

/* Return the name of the disk of the last request. */
static const char *name_of(const struct reading *r, uint32_t file)
{
	const char *device = source_facts(r->source).origin.device;
	const char *name = trace_file(r->source->trace, file);

	if (name)
		return name;
	return device ? device : r->source->name;
}

/* Return the memory of a disk, bytes. */
static uint64_t bytes_of(const struct disk *disk)
{
	return sizeof(*disk) + tally_bytes(&disk->tally) +
	       (disk->model ? fixing_bytes(disk->model) : 0);
}

/* Begin a disk at its first request. */
static struct disk *begin_disk(struct reading *r, uint32_t file)
{
	const struct tallies_question *q = &r->tallies->question;
	const struct align_geometry *g = &q->geometry;
	struct disk *disk = memory_or_exit(calloc(1, sizeof(*disk)));

	disk->reading = r;
	tally_begin(&disk->tally, name_of(r, file),
		    source_facts(r->source).timed);
	if (!q->touches_only && align_can_fix(g))
		disk->model = fixing_new(g, disk->tally.timed,
					 fixing_max_blocks(g));
	atomic_fetch_add_explicit(&r->bytes, bytes_of(disk),
				  memory_order_relaxed);
	r->nr++;
	return disk;
}

/* Return a disk, maybe a new one. */
static struct disk *disk_of(struct reading *r, uint32_t file)
{
	uint32_t room = r->room;

	while (file >= room)
		room = room ? 2 * room : FIRST_ROOM;
	if (room != r->room) {
		r->disk = memory_or_exit(reallocarray(r->disk, room,
						      sizeof(*r->disk)));
		while (r->room < room)
			r->disk[r->room++] = NULL;
	}
	if (!r->disk[file])
		r->disk[file] = begin_disk(r, file);
	return r->disk[file];
}

/* Count a request with its disk; by the thread of the disk's lane. */
static void count_item(const struct lane_item *item)
{
	struct disk *disk = item->disk;
	struct reading *r = disk->reading;
	const struct tallies_question *q = &r->tallies->question;
	const struct trace_request *request = &item->request;
	uint64_t before = bytes_of(disk);

	tally_note(&disk->tally, request, item->clock_ns,
		   tallies_start_of(q, item->first), q->sectors);
	if (disk->model)
		fixing_do(disk->model, &(struct fixing_request) {
			.time_ns = request->time_ns, .first = item->first,
			.end = item->end, .op = request->op,
			.preflush = request->preflush, .fua = request->fua,
		}, 1);
	if (bytes_of(disk) != before)
		atomic_fetch_add_explicit(&r->bytes, bytes_of(disk) - before,
					  memory_order_relaxed);
}

/* Give a request to its disk. Return: enum alignctl_exit; reported. */
static int give_request(struct reading *r, const struct trace_request *request)
{
	struct lane_item item = {
		.request = *request,
		.clock_ns = request->time_ns + trace_clock_ns(r->source->trace),
	};
	int result = ALIGNCTL_FINE;

	if (request->file == TRACE_OTHER_FILE) {
		message_error("%s: has more disks than the %" PRIu32
			      " that can be named; take it apart by disk, make a partial of each part, and put them together with --merge",
			      r->source->name, r->nr);
		return ALIGNCTL_USAGE;
	}
	if (request->op != TRACE_FLUSH)
		result = place_request(&r->places, request, &item.first,
				       &item.end);
	if (result)
		return result;
	item.disk = disk_of(r, request->file);
	lanes_give(r->lanes, request->file, &item);
	return tallies_check_memory(r->tallies, r->source->name, r->nr,
				    atomic_load_explicit(&r->bytes,
							 memory_order_relaxed));
}

static int read_all(struct reading *r)
{
	struct trace_request request;
	struct progress progress;
	enum trace_next next;
	int result = ALIGNCTL_FINE;
	uint64_t requests = 0;

	progress_start(&progress, r->source->name, 0);
	while (!result &&
	       (next = source_next(r->source, &request)) == TRACE_GOT) {
		CLEANUP_FREE char *text = NULL;

		result = give_request(r, &request);
		if (++requests % SHOWN_EACH)
			continue;
		text = message_format("%s: %" PRIu64 " requests, %" PRIu32
				      " disk%s", progress.label, requests,
				      r->nr, PLURAL_OF(r->nr));
		progress_text(&progress, text);
	}
	progress_end(&progress);
	return result ? result : trace_next_status(next);
}

static uint64_t count_left(const struct fixing *model, enum fixing_mode mode)
{
	const struct fixing_figures figures = fixing_figures(model, mode);

	return forecast_left_by(&figures);
}

/* End a disk: hand its tally over, or drop it after an error. */
static int end_disk(struct reading *r, struct disk *disk, bool failed)
{
	struct tally *tally = &disk->tally;
	int result = ALIGNCTL_FINE;

	if (disk->model) {
		fixing_flush(disk->model);
		tally->pad_left = count_left(disk->model, FIXING_PAD);
		tally->coalesce_left = count_left(disk->model, FIXING_COALESCE);
		tally->modes_known = true;
		fixing_free(disk->model);
	}
	if (failed)
		tally_free(tally);
	else
		result = tallies_take(r->tallies, tally);
	free(disk);
	return result;
}

int each_disk_read(struct tallies *tallies, struct source *source,
		   unsigned int jobs)
{
	const struct tallies_question *q = &tallies->question;
	struct reading r = {
		.tallies = tallies, .source = source,
		.places = {
			.source = source, .shift = q->shift,
			.end_sector = q->geometry.end_sector,
			.no_buffered = true,
		},
	};
	uint32_t i;
	int result;

	r.lanes = lanes_new(jobs, count_item);
	result = read_all(&r);
	lanes_end(r.lanes);
	/* what lanes had not worked on yet was not seen */
	if (!result)
		result = tallies_check_memory(tallies, source->name, r.nr,
					      atomic_load(&r.bytes));
	for (i = 0; i < r.room; i++) {
		int failed = r.disk[i] ? end_disk(&r, r.disk[i], result) :
					 ALIGNCTL_FINE;

		result = result ? result : failed;
	}
	free(r.disk);
	return result;
}
