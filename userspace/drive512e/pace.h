/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ties the model's clock to the machine's.
 *
 * The model says when a request is complete; a thread that sleeps until then
 * always wakes a little late, and on a busy machine much later.  A client that
 * sends its next request when it has seen the last answer is then late through
 * no fault of its own, and on a model with a rotating disk a lateness of
 * microseconds can cost a revolution.  So the drive's clock is the machine's
 * clock minus a lag: the lag is how late the last answer left, and it is taken
 * off the arrival of the requests that follow.  The time that the client
 * really spent between an answer and its next request counts in full.  As
 * every answer is due at a time of the machine's clock, the lag is paid back
 * by the next request that has to wait, and errors never add up.
 *
 * A server sees a write when its data is there; a drive sees the command first,
 * and takes the data after it, which the model charges for.  So that the bytes
 * are not paid for twice, a request is taken to have come earlier by the time
 * that its data takes on the drive's own interface (the lead), though never
 * before the last answer was due.
 *
 * A lag is forgiven beyond a ceiling (the machine was stopped, and did more
 * than lag) and when the client has been idle for longer than that.
 */
#ifndef DRIVE512E_PACE_H
#define DRIVE512E_PACE_H

#include <stdint.h>

#define PACE_CEILING_NS 100000000	/* 0.1 s: a dozen revolutions */

/* All times in ns of CLOCK_MONOTONIC. Zero-initialised. Caller locks. */
struct pace {
	int64_t lag;
	int64_t left;		/* when the last answer left */
	int64_t due;		/* when it was due */
	int64_t arrival;	/* the model's clock never runs backwards */
};

/* When a request that is seen at @now arrived, on the model's clock. */
int64_t pace_arrival(struct pace *pace, int64_t now, int64_t lead);

/* Notes that an answer due at @due left at @now. */
void pace_answered(struct pace *pace, int64_t due, int64_t now);

#endif
