/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mechanics of a disk: where is a byte, and when can a head be there?
 *
 * The platter turns at a constant speed, so the angle under the heads is the
 * time modulo a revolution.  Bytes lie on tracks in ascending order; a track
 * holds what passes in a revolution at its zone's rate.  The rates are those
 * that a sequential transfer sustains, so the skew between neighbouring tracks
 * is in them already and a transfer runs on from track to track unbroken.
 *
 * All positions are media bytes (touch.h), all times nanoseconds.
 */
#ifndef DRIVE512E_MECHANICS_H
#define DRIVE512E_MECHANICS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

#define ZONES 16

struct zone {
	uint64_t start;		/* first byte */
	uint64_t track_bytes;	/* a whole number of blocks */
	uint64_t first_track;
	int64_t start_time;	/* what lies before it, in time under the head */
};

/* seek(d) = base + root * sqrt(d) + linear * d, d in cylinders. */
struct seek_curve {
	double base;
	double root;
	double linear;
};

struct mechanics {
	int64_t revolution;
	unsigned int heads;
	struct zone zones[ZONES];
	struct seek_curve read;
	struct seek_curve write;
};

/* For blocks of @physical bytes, so that no block straddles two tracks. */
void mechanics_init(struct mechanics *m, const struct profile *profile,
		    uint32_t physical);

/* How long the bytes from @from to @to (>= @from) take to pass the head. */
int64_t mechanics_travel(const struct mechanics *m, uint64_t from, uint64_t to);

/* How many of the bytes from @from on have passed after @time. */
uint64_t mechanics_passed(const struct mechanics *m, uint64_t from,
			  int64_t time);

/*
 * When the byte @to is under the head, for a head that is done at @from at
 * @now and has to be positioned anew: a seek, never shorter than one to the
 * next track, and the wait for the byte to come round.
 */
int64_t mechanics_reach(const struct mechanics *m, int64_t now, uint64_t from,
			uint64_t to, bool write);

/*
 * The same within a sweep, in which the head is settled already: no seek is
 * needed on the same track and to the next one.
 */
int64_t mechanics_sweep(const struct mechanics *m, int64_t now, uint64_t from,
			uint64_t to, bool write);

#endif
