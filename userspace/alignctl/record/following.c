// SPDX-License-Identifier: GPL-2.0
/* Load follow.bpf.c, poll its ring buffer, and hand each event to shapes. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "observe/programs.h"
#include "record/following.h"

/* The programs, as an object file that the Makefile compiles. */
PROGRAMS_OBJECT(follow_object, FOLLOW_BPF_OBJECT);

#define LEAST_RING	4096U		/* bytes */
#define MOST_RING	(1U << 30)
/* Bytes of the buffer for each write in flight, of which there are at most so many. */
#define RING_PER_WRITE	64U
#define MOST_WRITES	(1U << 20)
/* Limit of the time for which a program is at work. */
#define SETTLED_NS	20000000L

/**
 * struct following - the programs while they follow
 * @programs: the programs
 * @ring: reader of the buffer of events
 * @followed: account of the writes, by their events
 */
struct following {
	struct programs programs;
	struct ring_buffer *ring;
	struct followed *followed;
};

/* Take an event of the buffer; the kernel sends no other kind of object. */
static int take_event(void *context, void *data, size_t bytes)
{
	struct following *following = context;
	struct follow_event event;

	if (bytes != sizeof(event))
		return -EBADMSG;
	memcpy(&event, data, sizeof(event));
	shapes_take(&following->followed->shapes, &event);
	return 0;
}

static uint32_t ring_bytes(uint64_t kib)
{
	uint32_t bytes = LEAST_RING;

	while (bytes < MOST_RING && bytes >> 10 < kib)
		bytes <<= 1;
	return bytes;
}

static bool start_following(struct following *following, uint64_t buffer_kib)
{
	struct followed *followed = following->followed;
	struct programs *programs = &following->programs;
	uint32_t ring = ring_bytes(buffer_kib);

	followed->room = ring / RING_PER_WRITE < MOST_WRITES ? ring / RING_PER_WRITE :
							   MOST_WRITES;
	if (!programs_open(programs, "alignctl_follow", follow_object,
			   follow_object_end - follow_object,
			   &followed->shapes.range))
		return false;
	programs_set_room(programs, "writes", followed->room);
	programs_set_room(programs, "events", ring);
	if (bpf_object__load(programs->object))
		return false;
	following->ring = ring_buffer__new(programs_map_fd(programs, "events"),
					   take_event, following, NULL);
	return following->ring && programs_attach(programs);
}

int following_check(struct followed *followed, const struct device *device)
{
	struct shapes *shapes = &followed->shapes;
	int status = programs_check_kernel("record", "record --requests",
					   "record alone");

	return status ? status : programs_find_range(device, &shapes->range,
						     &shapes->geometry);
}

int following_open(struct following **result, struct followed *followed,
		   uint64_t buffer_kib)
{
	struct following *following;
	int status;

	following = memory_or_exit(calloc(1, sizeof(*following)));
	following->followed = followed;
	if (!start_following(following, buffer_kib)) {
		status = programs_refuse("record",
					 "cannot load the BPF programs of --requests");
		following_close(following);
		return status;
	}
	*result = following;
	return ALIGNCTL_FINE;
}

int following_read(struct following *following)
{
	int taken = ring_buffer__consume(following->ring);

	if (taken >= 0)
		return ALIGNCTL_FINE;
	errno = -taken;
	return programs_refuse("record", "cannot read events of --requests");
}

int following_end(struct following *following)
{
	const struct programs *programs = &following->programs;
	struct followed *followed = following->followed;
	const struct timespec pause = { .tv_nsec = SETTLED_NS };
	const uint32_t first = 0;
	int result;

	programs_detach(&following->programs);
	result = following_read(following);
	/*
	 * A program that was at work when it was detached ends soon. If not, its
	 * write is counted as one that was not seen whole.
	 */
	nanosleep(&pause, NULL);
	if (!result)
		result = following_read(following);
	if (result)
		return result;
	if (bpf_map_lookup_elem(programs_map_fd(programs, "lost"), &first,
				&followed->lost))
		return programs_refuse("record", "cannot read a BPF map");
	followed->skipped =
		programs_missed(programs, "bio_queue", OBSERVED_ARRIVAL) +
		programs_missed(programs, "rq_issue", OBSERVED_ISSUE);
	followed->skipped_ends =
		programs_missed(programs, "rq_complete", OBSERVED_COMPLETION) +
		programs_missed_by_both(programs, "bio_complete",
					"bio_complete_again");
	shapes_finish(&followed->shapes);
	return ALIGNCTL_FINE;
}

void following_close(struct following *following)
{
	if (!following)
		return;
	ring_buffer__free(following->ring);
	programs_close(&following->programs);
	free(following);
}

void followed_free(struct followed *followed)
{
	shapes_free(&followed->shapes);
}

uint64_t followed_lost(const struct followed *followed)
{
	const struct follow_lost *lost = &followed->lost;
	uint64_t total = lost->map_full + lost->long_requests +
			 followed->skipped;
	unsigned int kind;

	for (kind = 0; kind < FOLLOW_NR_KINDS; kind++)
		total += lost->kind[kind];
	return total;
}
