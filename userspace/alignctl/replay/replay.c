// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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
#include "replay/content.h"
#include "replay/replay.h"

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

struct placement replay_placement(const struct replay *replay)
{
	return (struct placement) {
		.bytes = replay->device->sectors << ALIGN_SECTOR_SHIFT,
		.logical = replay->device->logical,
		.physical = replay->geometry.physical,
		.buffered = replay->state.plan.buffered,
	};
}

static bool failed(const struct replay_state *state, uint64_t write)
{
	uint32_t i;

	for (i = 0; i < state->nr_failed; i++)
		if (state->failed[i] == write)
			return true;
	return false;
}

bool replay_expects(const struct replay_state *state, uint64_t sector,
		    uint64_t sequence)
{
	uint64_t writes = state->issued;

	/* if the last one failed, what was there before may be there still */
	while (plan_owner(&state->plan, writes, sector, &writes)) {
		if (sequence == writes + 1)
			return true;
		if (!failed(state, writes))
			return false;
	}
	return sequence == 0;
}

/* Sectors from @sector to where the next bulk request starts: a boundary. */
static uint64_t bulk_sectors(const struct replay *replay,
			     const struct plan_extent *extent, uint64_t sector)
{
	uint64_t left = extent->end - sector;
	uint64_t into = (sector + replay->state.prepared.lead) % BULK_SECTORS;

	return left < BULK_SECTORS - into ? left : BULK_SECTORS - into;
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

	if (plan_owner(&state->plan, state->issued, sector, &owner))
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
 * Goes through the prepared extents with large requests: writes them, or, if
 * @check is given, reads them and compares.
 */
static int bulk(struct replay *replay, const char *label,
		struct replay_check *check)
{
	const size_t bytes = BULK_SECTORS << ALIGN_SECTOR_SHIFT;
	size_t nr, at = 0;
	CLEANUP_FREE struct plan_extent *extent =
		plan_extents(&replay->state.plan, &replay->state.prepared, &nr);
	struct io_queue *queue = io_queue_open(replay->fd, BULK_DEPTH);
	char *memory = io_memory(BULK_DEPTH * bytes);
	struct slot slots[BULK_DEPTH], *idle[BULK_DEPTH];
	uint64_t sector = extent[0].first, total = 0, done = 0;
	unsigned int nr_idle, i;
	struct progress progress;
	int result = ALIGNCTL_FINE;

	pattern_fill(memory, BULK_DEPTH * BULK_SECTORS);
	for (i = 0; i < BULK_DEPTH; i++) {
		slots[i].request.buffer = memory + i * bytes;
		slots[i].request.dsync = false;
		idle[i] = &slots[i];
	}
	nr_idle = BULK_DEPTH;
	for (i = 0; i < nr; i++)
		total += extent[i].end - extent[i].first;
	progress_start(&progress, label, total);
	for (;;) {
		struct slot *slot;

		while (nr_idle && at < nr && !result && !interrupt_seen()) {
			uint64_t sectors = bulk_sectors(replay, &extent[at],
							sector);

			slot = idle[--nr_idle];
			slot->sector = sector;
			slot->request.op = check ? IO_READ : IO_WRITE;
			slot->request.offset = sector << ALIGN_SECTOR_SHIFT;
			slot->request.bytes = sectors << ALIGN_SECTOR_SHIFT;
			if (!check)
				pattern_label(slot->request.buffer,
					      &(struct pattern_label) {
						      sector, 0,
						      replay->state.run },
					      sectors);
			io_queue_start(queue, &slot->request);
			sector += sectors;
			if (sector == extent[at].end && ++at < nr)
				sector = extent[at].first;
		}
		if (nr_idle == BULK_DEPTH)
			break;
		/* the request is the first member of its slot */
		slot = (struct slot *)io_queue_wait(queue);
		if (io_request_check(&slot->request, replay->device->path))
			result = ALIGNCTL_IO;
		else if (check)
			compare(replay, slot, check);
		idle[nr_idle++] = slot;
		done += slot->request.bytes >> ALIGN_SECTOR_SHIFT;
		progress_step(&progress, done);
	}
	progress_end(&progress);
	free(memory);
	io_queue_close(queue);
	if (check)
		check->done = !result && at == nr;
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
	state->issued = 0;
	state->nr_failed = 0;
	state->prepared = replay->geometry;
	result = bulk(replay, "preparing", NULL);
	return result ? result : flush(replay);
}

int replay_still_prepared(const struct replay *replay)
{
	const struct replay_state *state = &replay->state;
	uint32_t bytes = replay->geometry.logical;
	size_t nr;
	CLEANUP_FREE struct plan_extent *extent =
		plan_extents(&state->plan, &state->prepared, &nr);
	uint64_t sector = extent[nr - 1].end - (bytes >> ALIGN_SECTOR_SHIFT);
	CLEANUP_FREE void *block = io_memory(bytes);
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

/* Compares with a model, as of a trace, that is made of the writes in order. */
static int check_with_model(const struct replay *replay,
			    struct replay_check *check)
{
	const struct replay_state *state = &replay->state;
	const struct placement placement = replay_placement(replay);
	struct source source = {
		.name = state->plan.workload->name, .plan = state->plan,
	};
	struct engine_done done = {
		.issued = state->issued, .nr_failed = state->nr_failed,
	};
	size_t nr;
	CLEANUP_FREE struct plan_extent *extent =
		plan_extents(&state->plan, &state->prepared, &nr);
	const struct content content = {
		.source = &source, .placement = &placement, .run = state->run,
		.prepared = extent, .nr_prepared = nr, .done = &done,
		.device = replay->device, .fd = replay->fd,
	};
	struct content_check found;
	int result;

	memcpy(done.failed, state->failed, sizeof(state->failed));
	result = content_check(&content, &found);
	*check = (struct replay_check) {
		.done = found.done, .sectors = found.sectors,
		.mismatches = found.mismatches,
		.first_mismatch = found.first_mismatch,
	};
	return result;
}

int replay_check(struct replay *replay, struct replay_check *check)
{
	if (!plan_has_owners(&replay->state.plan))
		return check_with_model(replay, check);
	memset(check, 0, sizeof(*check));
	return bulk(replay, "checking", check);
}
