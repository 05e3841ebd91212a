/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follow the writes to a disk to its requests, by the programs of follow.bpf.c,
 * and read the events that they send.
 */
#ifndef ALIGNCTL_FOLLOWING_H
#define ALIGNCTL_FOLLOWING_H

#include <stdint.h>

#include "record/follow_events.h"
#include "record/shapes.h"
#include "sysfs/device.h"

/**
 * struct followed - the requests of the writes, and the counts of lost events
 * @shapes: the writes
 * @lost: counts of events that were lost
 * @skipped: number of arrivals and issues, of any device, that no program saw, as
 *	they were running already on that processor
 * @skipped_ends: number of ends that no program saw, at most
 * @room: number of writes in flight that there was room for
 */
struct followed {
	struct shapes shapes;
	struct follow_lost lost;
	uint64_t skipped;
	uint64_t skipped_ends;
	uint32_t room;
};

struct following;

/*
 * Check that the writes to a device can be followed, and find its place and its
 * blocks; @followed is all 0. Return: enum alignctl_exit, reported.
 */
int following_check(struct followed *followed, const struct device *device);

/*
 * Load the programs and begin to follow, after following_check(). @buffer_kib:
 * size of the buffer for events; by it goes the room for writes in flight. Return:
 * enum alignctl_exit; errors have been reported, and leave nothing to close.
 */
int following_open(struct following **following, struct followed *followed,
		   uint64_t buffer_kib);

/* Take the events that have been sent. Return: enum alignctl_exit, reported. */
int following_read(struct following *following);

/* End: remove the programs, take all events. Return: as following_read(). */
int following_end(struct following *following);

void following_close(struct following *following);

void followed_free(struct followed *followed);

/* Return the number of writes, requests and events that are lost. */
uint64_t followed_lost(const struct followed *followed);

#endif
