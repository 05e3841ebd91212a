/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mechanics of a disk: the position of a byte, and when a head reaches it.
 *
 * The platter turns at a constant speed, so the angle under the heads is the
 * time modulo a revolution.  Bytes lie on tracks in ascending order; a track
 * has the bytes that pass in a revolution at its zone's rate.  The rates are
 * those of a sustained sequential transfer, so they include the skew between
 * neighbouring tracks, and a transfer crosses tracks without a pause.
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
	int64_t start_time;	/* pass_time() of its first byte */
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
	double cylinders;	/* which the capacity takes */
	struct zone zones[ZONES];
	struct seek_curve read;
	struct seek_curve write;
};

/* Set up tracks on which no block of @physical bytes straddles two of them. */
void mechanics_init(struct mechanics *m, const struct profile *profile,
		    uint32_t physical);

/* Return how long the bytes from @from to @to (>= @from) take to pass. */
int64_t mechanics_travel(const struct mechanics *m, uint64_t from, uint64_t to);

/* Return how many bytes from @from on have passed after @time. */
uint64_t mechanics_passed(const struct mechanics *m, uint64_t from,
			  int64_t time);

/*
 * Return when the byte @to is under a head that leaves @from at @now and has to
 * be positioned: a seek, at least to the next track, and the rotational delay.
 */
int64_t mechanics_reach(const struct mechanics *m, int64_t now, uint64_t from,
			uint64_t to, bool write);

/*
 * Return when the byte @to is under a head in a sweep, which needs no seek on
 * its track and to the next one.
 */
int64_t mechanics_sweep(const struct mechanics *m, int64_t now, uint64_t from,
			uint64_t to, bool write);

#endif
