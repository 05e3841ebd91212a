/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tie the model's clock to the machine's.
 *
 * The model says when a request is complete; a thread that sleeps until then
 * wakes a little late, and on a busy machine much later. A client that sends
 * its next request after that answer is late through no fault of its own, and
 * on a rotating disk a few microseconds can cost a revolution. So the drive's
 * clock is the machine's clock minus a lag: how late the last answer left,
 * which is subtracted from the arrival of the following requests. The client's
 * own time between an answer and its next request counts in full. As every
 * answer is due at a time of the machine's clock, the next request that has to
 * wait pays the lag back, and errors never add up.
 *
 * A server sees a write when its data has arrived; a drive sees the command
 * first and then takes the data, for which the model charges.  To charge only
 * once, a request counts as having arrived earlier by the time that its data
 * takes on the drive's own interface (the lead), but never before the last
 * answer was due.
 *
 * The lag is dropped if it exceeds a ceiling, because the machine was stopped
 * then, and if the client has been idle for longer than that.
 */
#ifndef DRIVE512E_PACE_H
#define DRIVE512E_PACE_H

#include <stdint.h>

#define PACE_CEILING_NS 100000000	/* 0.1 s: a dozen revolutions */

/* Times in ns of CLOCK_MONOTONIC.  Zero-initialised; the caller locks. */
struct pace {
	int64_t lag;
	int64_t left;		/* when the last answer left */
	int64_t due;		/* when the last answer was due */
	int64_t arrival;	/* the last one; later ones never precede it */
};

/* Return when a request seen at @now arrived, on the model's clock. */
int64_t pace_arrival(struct pace *pace, int64_t now, int64_t lead);

/* Note that an answer due at @due left at @now. */
void pace_answered(struct pace *pace, int64_t due, int64_t now);

#endif
