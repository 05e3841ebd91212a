/* SPDX-License-Identifier: GPL-2.0 */
/* Sort events that were read from the buffers of several processors. */
#ifndef ALIGNCTL_ARRIVALS_H
#define ALIGNCTL_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

/**
 * struct arrival - an event before which others may still arrive
 * @request: the request that was sent, or sent back
 * @sent_back: the device sent the request back
 * @dropped: the event is not to be recorded
 * @secure_erase: the discard is a secure erase
 */
struct arrival {
	struct trace_request request;
	bool sent_back;
	bool dropped;
	bool secure_erase;
};

/**
 * struct arrivals - list of events; all 0: empty
 * @at: the events
 * @spare: array of the same size, for arrivals_sort()
 * @nr: number of events
 * @room: allocated length of @at and @spare
 */
struct arrivals {
	struct arrival *at;
	struct arrival *spare;
	size_t nr;
	size_t room;
};

/* Return room for an event after the last; raise @nr to add it to the list. */
struct arrival *arrivals_next(struct arrivals *arrivals);

/* Sort by time; events of equal times stay in the order of their arrival. */
void arrivals_sort(struct arrivals *arrivals);

/* Remove the first @nr events. */
void arrivals_drop(struct arrivals *arrivals, size_t nr);

void arrivals_free(struct arrivals *arrivals);

#endif
