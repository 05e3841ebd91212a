/* SPDX-License-Identifier: GPL-2.0 */
/* Events that were read from the buffers of several processors, put in order. */
#ifndef ALIGNCTL_ARRIVALS_H
#define ALIGNCTL_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

/**
 * struct arrival - an event that may not be the next one yet
 * @request: what was sent, or sent back
 * @sent_back: was it?
 * @dropped: it has been matched with its counterpart
 * @secure_erase: is the discard one?
 */
struct arrival {
	struct trace_request request;
	bool sent_back;
	bool dropped;
	bool secure_erase;
};

/**
 * struct arrivals - list of them; all 0: empty
 * @at: the events
 * @spare: as much room, for arrivals_sort()
 * @nr: how many there are
 * @room: how many fit
 */
struct arrivals {
	struct arrival *at;
	struct arrival *spare;
	size_t nr;
	size_t room;
};

/* The place behind the last one; it is on the list once @nr has been raised. */
struct arrival *arrivals_next(struct arrivals *arrivals);

/* By time; those of the same time stay in the order in which they were added. */
void arrivals_sort(struct arrivals *arrivals);

/* Takes the first @nr off the list. */
void arrivals_drop(struct arrivals *arrivals, size_t nr);

void arrivals_free(struct arrivals *arrivals);

#endif
