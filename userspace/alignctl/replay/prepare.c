// SPDX-License-Identifier: GPL-2.0
/* The sectors around a workload, written before it in whole physical blocks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "engine/io_queue.h"
#include "replay/replay.h"

#define DEPTH		16U	/* requests in flight */
/*
 * 256 KiB: at most 64 pages, so no disk's limits split it, and a multiple of
 * every physical block.
 */
#define REQUEST_SECTORS	512U

/* Return the sectors from @sector to where the next request starts: a boundary. */
static uint64_t request_sectors(const struct replay *replay,
				const struct plan_extent *extent,
				uint64_t sector)
{
	uint64_t left = extent->end - sector;
	uint64_t into = (sector + replay->blocks.lead) % REQUEST_SECTORS;

	return left < REQUEST_SECTORS - into ? left : REQUEST_SECTORS - into;
}

static void start_write(const struct replay *replay, struct io_queue *queue,
			struct io_request *request, uint64_t sector, uint64_t sectors)
{
	request->op = IO_WRITE;
	request->offset = sector << ALIGN_SECTOR_SHIFT;
	request->bytes = sectors << ALIGN_SECTOR_SHIFT;
	pattern_label(request->buffer, &(struct pattern_label) {
		      sector, 0, replay->mark }, sectors);
	io_queue_start(queue, request);
}

/* Write all extents. Return: enum alignctl_exit; errors have been reported. */
static int write_extents(const struct replay *replay)
{
	const size_t bytes = REQUEST_SECTORS << ALIGN_SECTOR_SHIFT;
	size_t nr, at = 0;
	CLEANUP_FREE struct plan_extent *extent =
		plan_extents(&replay->source.plan, &replay->blocks, &nr);
	struct io_queue *queue = io_queue_open(replay->direct_fd, DEPTH);
	char *memory = io_memory(DEPTH * bytes);
	struct io_request requests[DEPTH] = { 0 }, *idle[DEPTH];
	uint64_t sector = extent[0].first, total = 0, done = 0;
	unsigned int nr_idle, i;
	struct progress progress;
	int result = ALIGNCTL_FINE;

	pattern_fill(memory, DEPTH * REQUEST_SECTORS);
	for (nr_idle = 0; nr_idle < DEPTH; nr_idle++) {
		requests[nr_idle].buffer = memory + nr_idle * bytes;
		idle[nr_idle] = &requests[nr_idle];
	}
	for (i = 0; i < nr; i++)
		total += extent[i].end - extent[i].first;
	progress_start(&progress, "preparing", total);
	for (;;) {
		struct io_request *request;

		while (nr_idle && at < nr && !result && !interrupt_seen()) {
			uint64_t sectors = request_sectors(replay, &extent[at],
							   sector);

			start_write(replay, queue, idle[--nr_idle], sector, sectors);
			sector += sectors;
			if (sector == extent[at].end && ++at < nr)
				sector = extent[at].first;
		}
		if (nr_idle == DEPTH)
			break;
		request = io_queue_wait(queue);
		if (io_request_check(request, replay->device->path))
			result = ALIGNCTL_IO;
		idle[nr_idle++] = request;
		done += request->bytes >> ALIGN_SECTOR_SHIFT;
		progress_step(&progress, done);
	}
	progress_end(&progress);
	free(memory);
	io_queue_close(queue);
	return result;
}

int replay_prepare(struct replay *replay)
{
	uint64_t random;
	int result;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = clock_ns();
	replay->mark = pattern_run(random);
	replay->done = (struct engine_done) { 0 };
	replay->blocks = replay->geometry;
	replay->prepared = true;
	result = write_extents(replay);
	if (result || !fdatasync(replay->direct_fd))
		return result;
	message_error("%s: flushing: %s", replay->device->path,
		      strerror(errno));
	return ALIGNCTL_IO;
}

int replay_still_prepared(const struct replay *replay)
{
	uint32_t bytes = replay->geometry.logical;
	size_t nr;
	CLEANUP_FREE struct plan_extent *extent =
		plan_extents(&replay->source.plan, &replay->blocks, &nr);
	uint64_t sector = extent[nr - 1].end - (bytes >> ALIGN_SECTOR_SHIFT);
	CLEANUP_FREE void *block = io_memory(bytes);
	struct pattern_label label;
	ssize_t got = pread(replay->direct_fd, block, bytes,
			    (off_t)(sector << ALIGN_SECTOR_SHIFT));

	if (got != (ssize_t)bytes) {
		message_error("%s: reading sector %" PRIu64 ": %s",
			      replay->device->path, sector,
			      got < 0 ? strerror(errno) : "end of the device");
		return ALIGNCTL_IO;
	}
	if (pattern_read(block, &label) == PATTERN_WHOLE &&
	    label.sector == sector && label.run == replay->mark)
		return ALIGNCTL_FINE;
	message_error("%s: sector %" PRIu64
		      " does not hold the content that --phase prepare wrote; prepare again",
		      replay->device->path, sector);
	return ALIGNCTL_BUSY;
}
