// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "exit_codes.h"
#include "io_queue.h"
#include "message.h"
#include "pattern.h"
#include "progress.h"
#include "replay.h"

#define MEMORY_ALIGNMENT	4096U
#define BULK_DEPTH		16U	/* requests in flight: prepare, check */
/*
 * 256 KiB: at most 64 pages, so no disk's limits split it, and a multiple of
 * every physical block.
 */
#define BULK_SECTORS		512U
#define MISMATCHES_SHOWN	5U

/* One request of a bulk transfer. */
struct slot {
	struct io_request request;
	uint64_t sector;
};

static void *direct_memory(size_t bytes)
{
	size_t rounded = (bytes + MEMORY_ALIGNMENT - 1) &
			 ~(size_t)(MEMORY_ALIGNMENT - 1);

	return memory_or_exit(aligned_alloc(MEMORY_ALIGNMENT, rounded));
}

void replay_range(const struct workload *w, uint64_t count,
		  const struct align_geometry *g, uint64_t *first,
		  uint64_t *end)
{
	uint32_t block = align_block_sectors(g);
	uint64_t start = w->start >> ALIGN_SECTOR_SHIFT;
	uint64_t stop = workload_end(w, count) >> ALIGN_SECTOR_SHIFT;
	uint64_t back = align_sector_in_block(g, start) + block;
	uint64_t ahead = align_sector_in_block(g, stop);

	*first = start > back ? start - back : 0;
	*end = stop + (ahead ? block - ahead : 0) + block;
	if (*end > g->end_sector)
		*end = g->end_sector;
}

bool replay_expects(const struct replay_state *state, uint64_t sector,
		    uint64_t sequence)
{
	uint64_t owner;

	if (!workload_owner(state->workload, state->done + state->uncertain,
			    sector, &owner))
		return sequence == 0;
	if (owner == state->done)	/* the write that failed */
		return sequence == 0 || sequence == owner + 1;
	return sequence == owner + 1;
}

/* 0, or reports why the request failed. */
static int request_result(const struct replay *replay,
			  const struct io_request *request)
{
	const char *what = request->write ? "writing" : "reading";

	if (request->result < 0) {
		message_error("%s: %s %" PRIu32 " bytes at byte %" PRIu64 ": %s",
			      replay->device->path, what, request->bytes,
			      request->offset, strerror(-request->result));
		return ALIGNCTL_IO;
	}
	if ((uint32_t)request->result != request->bytes) {
		message_error("%s: %s at byte %" PRIu64 ": only %d of %" PRIu32
			      " bytes", replay->device->path, what,
			      request->offset, request->result, request->bytes);
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

/* Sectors from @sector to where the next bulk request starts: a boundary. */
static uint64_t bulk_sectors(const struct replay *replay, uint64_t sector)
{
	uint64_t left = replay->state.end_sector - sector;
	uint64_t into = (sector + replay->geometry.lead) % BULK_SECTORS;

	return left < BULK_SECTORS - into ? left : BULK_SECTORS - into;
}

/* Labels every sector of a buffer that holds the filler. */
static void label_sectors(void *buffer, uint64_t sector, uint64_t sectors,
			  uint64_t sequence, uint64_t run)
{
	struct pattern_label label = {
		.sector = sector, .sequence = sequence, .run = run,
	};

	for (; label.sector < sector + sectors; label.sector++) {
		pattern_label(buffer, &label);
		buffer = (char *)buffer + PATTERN_SECTOR;
	}
}

static char *describe_sequence(uint64_t sequence)
{
	return sequence ? message_format("write %" PRIu64, sequence - 1) :
			  message_format("what was prepared");
}

/* Says what is wrong with a sector. */
static void show_mismatch(const struct replay *replay, uint64_t sector,
			  const void *bytes)
{
	const struct replay_state *state = &replay->state;
	struct pattern_label found;
	uint64_t owner, expected = 0;
	enum pattern_state kind = pattern_read(bytes, &found);
	CLEANUP_FREE char *wanted = NULL;
	CLEANUP_FREE char *got = NULL;

	if (workload_owner(state->workload, state->done, sector, &owner))
		expected = owner + 1;
	wanted = describe_sequence(expected);
	if (kind == PATTERN_ABSENT) {
		got = message_format("bytes that no replay wrote");
	} else {
		CLEANUP_FREE char *which = describe_sequence(found.sequence);

		got = message_format("%s%s of sector %" PRIu64 "%s",
			kind == PATTERN_TORN ? "damaged bytes of " : "", which,
			found.sector,
			found.run == state->run ? "" : " of another run");
	}
	message_error("%s: sector %" PRIu64 ": expected %s, found %s",
		      replay->device->path, sector, wanted, got);
}

static void compare(const struct replay *replay, const struct slot *slot,
		    struct replay_check *check)
{
	const char *bytes = slot->request.buffer;
	uint64_t sectors = slot->request.bytes >> ALIGN_SECTOR_SHIFT;
	uint64_t sector;

	for (sector = slot->sector; sector < slot->sector + sectors;
	     sector++, bytes += PATTERN_SECTOR) {
		struct pattern_label found;

		if (pattern_read(bytes, &found) == PATTERN_WHOLE &&
		    found.sector == sector && found.run == replay->state.run &&
		    replay_expects(&replay->state, sector, found.sequence))
			continue;
		if (!check->mismatches || sector < check->first_mismatch)
			check->first_mismatch = sector;
		if (check->mismatches++ < MISMATCHES_SHOWN)
			show_mismatch(replay, sector, bytes);
	}
	check->sectors += sectors;
}

/*
 * Goes through the prepared range with large requests: writes it, or, if
 * @check is given, reads it and compares.
 */
static int bulk(struct replay *replay, const char *label,
		struct replay_check *check)
{
	const size_t bytes = BULK_SECTORS << ALIGN_SECTOR_SHIFT;
	const uint64_t first = replay->state.first_sector;
	const uint64_t end = replay->state.end_sector;
	struct io_queue *queue = io_queue_open(replay->fd, BULK_DEPTH);
	char *memory = direct_memory(BULK_DEPTH * bytes);
	struct slot slots[BULK_DEPTH], *idle[BULK_DEPTH];
	unsigned int nr_idle, i;
	uint64_t sector = first;
	struct progress progress;
	int result = ALIGNCTL_FINE;

	pattern_fill(memory, BULK_DEPTH * BULK_SECTORS);
	for (i = 0; i < BULK_DEPTH; i++) {
		slots[i].request.buffer = memory + i * bytes;
		idle[i] = &slots[i];
	}
	nr_idle = BULK_DEPTH;
	progress_start(&progress, label, end - first);
	for (;;) {
		struct slot *slot;

		while (nr_idle && sector < end && !result &&
		       !interrupt_seen()) {
			uint64_t sectors = bulk_sectors(replay, sector);

			slot = idle[--nr_idle];
			slot->sector = sector;
			slot->request.write = !check;
			slot->request.offset = sector << ALIGN_SECTOR_SHIFT;
			slot->request.bytes = sectors << ALIGN_SECTOR_SHIFT;
			if (!check)
				label_sectors(slot->request.buffer, sector,
					      sectors, 0, replay->state.run);
			io_queue_start(queue, &slot->request);
			sector += sectors;
		}
		if (nr_idle == BULK_DEPTH)
			break;
		/* the request is the first member of its slot */
		slot = (struct slot *)io_queue_wait(queue);
		if (request_result(replay, &slot->request))
			result = ALIGNCTL_IO;
		else if (check)
			compare(replay, slot, check);
		idle[nr_idle++] = slot;
		progress_step(&progress, slot->sector - first);
	}
	progress_end(&progress);
	free(memory);
	io_queue_close(queue);
	if (check)
		check->done = !result && sector == end;
	return result;
}

static int flush(const struct replay *replay)
{
	if (!fdatasync(replay->fd))
		return ALIGNCTL_FINE;
	message_error("%s: flushing: %s", replay->device->path,
		      strerror(errno));
	return ALIGNCTL_IO;
}

int replay_prepare(struct replay *replay)
{
	struct replay_state *state = &replay->state;
	uint64_t random;
	int result;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = clock_ns();
	state->run = pattern_run(random);
	state->done = 0;
	state->uncertain = false;
	replay_range(state->workload, state->count, &replay->geometry,
		     &state->first_sector, &state->end_sector);
	result = bulk(replay, "preparing", NULL);
	return result ? result : flush(replay);
}

int replay_still_prepared(const struct replay *replay)
{
	const struct replay_state *state = &replay->state;
	uint32_t bytes = replay->geometry.logical;
	uint64_t sector = state->end_sector - (bytes >> ALIGN_SECTOR_SHIFT);
	CLEANUP_FREE void *block = direct_memory(bytes);
	struct pattern_label label;
	ssize_t got = pread(replay->fd, block, bytes,
			    (off_t)(sector << ALIGN_SECTOR_SHIFT));

	if (got != (ssize_t)bytes) {
		message_error("%s: reading sector %" PRIu64 ": %s",
			      replay->device->path, sector,
			      got < 0 ? strerror(errno) : "end of the device");
		return ALIGNCTL_IO;
	}
	if (pattern_read(block, &label) == PATTERN_WHOLE &&
	    label.sector == sector && label.run == state->run)
		return ALIGNCTL_FINE;
	message_error("%s: sector %" PRIu64
		      " does not hold what --phase prepare wrote; prepare again",
		      replay->device->path, sector);
	return ALIGNCTL_BUSY;
}

int replay_check(struct replay *replay, struct replay_check *check)
{
	memset(check, 0, sizeof(*check));
	return bulk(replay, "checking", check);
}

/* Adds up the latencies of each length of write; @ns is in order of issue. */
static void sum_sizes(const struct workload *w, const uint64_t *ns,
		      struct replay_run *run)
{
	double sum[WORKLOAD_MAX_PARTS] = { 0 };
	uint64_t i;

	run->nr_sizes = w->nr_parts;
	for (i = 0; i < run->requests; i++) {
		run->by_size[i % w->nr_parts].count++;
		sum[i % w->nr_parts] += ns[i];
	}
	for (i = 0; i < w->nr_parts; i++) {
		struct replay_size *size = &run->by_size[i];

		size->bytes = w->part[i].bytes;
		size->mean_us = size->count ? sum[i] / size->count / 1000 : 0;
	}
}

int replay_run(struct replay *replay, struct replay_run *run)
{
	struct replay_state *state = &replay->state;
	const struct workload *w = state->workload;
	uint64_t requests = workload_requests(w, state->count);
	uint32_t max_bytes = workload_max_bytes(w);
	struct io_queue *queue = io_queue_open(replay->fd, 1);
	uint64_t *ns = memory_or_exit(calloc(requests, sizeof(*ns)));
	struct io_request request = {
		.write = true, .buffer = direct_memory(max_bytes),
	};
	uint64_t begin, end, started;
	struct progress progress;
	int result = ALIGNCTL_FINE;

	memset(run, 0, sizeof(*run));
	run->method = io_queue_method(queue);
	pattern_fill(request.buffer, max_bytes / PATTERN_SECTOR);
	progress_start(&progress, w->name, requests);
	begin = end = clock_ns();
	while (state->done < requests && !interrupt_seen()) {
		request.offset = workload_request(w, state->done,
						  &request.bytes);
		label_sectors(request.buffer,
			      request.offset >> ALIGN_SECTOR_SHIFT,
			      request.bytes >> ALIGN_SECTOR_SHIFT,
			      state->done + 1, state->run);
		started = clock_ns();
		io_queue_start(queue, &request);
		io_queue_wait(queue);
		end = clock_ns();
		result = request_result(replay, &request);
		if (result) {
			state->uncertain = true;
			break;
		}
		ns[state->done++] = end - started;
		run->bytes += request.bytes;
		progress_step(&progress, state->done);
	}
	progress_end(&progress);
	run->requests = state->done;
	run->wall_s = (end - begin) / 1e9;
	sum_sizes(w, ns, run);
	latency_summarize(ns, run->requests, &run->latency);
	free(ns);
	free(request.buffer);
	io_queue_close(queue);

	begin = clock_ns();
	if (flush(replay))
		result = ALIGNCTL_IO;
	run->flush_s = (clock_ns() - begin) / 1e9;
	return result;
}
