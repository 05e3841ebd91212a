// SPDX-License-Identifier: GPL-2.0
/*
 * Fit the seek curve to three published times, divide the disk into zones of one rate,
 * and compute when a byte passes under the head.
 */
#include "mechanics.h"

#include <math.h>

#define NS_PER_MINUTE INT64_C(60000000000)
#define NS_PER_S 1e9
#define NS_PER_US 1e3

/*
 * Fit the curve through the seek to the next of @n cylinders and that over all
 * of them, so that seeks between cylinders at random take the mean time.  The
 * distance of two such cylinders, x as a share of all, has the density
 * 2 (1 - x): its mean is 1/3, that of its root 8/15.
 */
static struct seek_curve fit_curve(const struct seek_times *times, double n)
{
	double near = times->track_to_track * NS_PER_US;
	double mean = times->mean * NS_PER_US - near;
	double full = times->full_stroke * NS_PER_US - near;
	double root_mean = sqrt(n) * 8 / 15 - 1;
	double root_full = sqrt(n) - 1;
	double linear_mean = n / 3 - 1;
	double linear_full = n - 1;
	struct seek_curve c;

	c.root = (mean * linear_full - full * linear_mean) /
		 (root_mean * linear_full - root_full * linear_mean);
	c.linear = (full - c.root * root_full) / linear_full;
	c.base = near - c.root - c.linear;
	return c;
}

void mechanics_init(struct mechanics *m, const struct profile *profile,
		    uint32_t physical)
{
	uint64_t zone_bytes = profile->capacity / ZONES;
	double step = (profile->outer_rate - profile->inner_rate) / (ZONES - 1);
	uint64_t start = 0;
	uint64_t track = 0;
	int64_t time = 0;

	m->revolution = NS_PER_MINUTE / profile->rpm;
	m->heads = profile->heads;

	for (unsigned int i = 0; i < ZONES; i++) {
		double rate = profile->outer_rate - i * step;
		double bytes = rate * (double)m->revolution / NS_PER_S;
		uint64_t track_bytes = (uint64_t)bytes / physical * physical;
		uint64_t tracks = zone_bytes / track_bytes + 1;

		m->zones[i] = (struct zone){
			.start = start,
			.track_bytes = track_bytes,
			.first_track = track,
			.start_time = time,
		};
		start += tracks * track_bytes;
		track += tracks;
		time += (int64_t)tracks * m->revolution;
	}
	m->cylinders = (double)track / m->heads;
	m->read = fit_curve(&profile->read_seek, m->cylinders);
	m->write = fit_curve(&profile->write_seek, m->cylinders);
}

static const struct zone *zone_of(const struct mechanics *m, uint64_t byte)
{
	unsigned int i = ZONES - 1;

	while (byte < m->zones[i].start)
		i--;
	return &m->zones[i];
}

/* Return when the byte passes if the whole disk is read from time 0 on. */
static int64_t pass_time(const struct mechanics *m, uint64_t byte)
{
	const struct zone *z = zone_of(m, byte);
	uint64_t inside = byte - z->start;
	uint64_t turns = inside / z->track_bytes;
	uint64_t rest = inside % z->track_bytes;

	return z->start_time + (int64_t)turns * m->revolution +
	       (int64_t)(rest * (uint64_t)m->revolution / z->track_bytes);
}

static uint64_t track_of(const struct mechanics *m, uint64_t byte)
{
	const struct zone *z = zone_of(m, byte);

	return z->first_track + (byte - z->start) / z->track_bytes;
}

int64_t mechanics_travel(const struct mechanics *m, uint64_t from, uint64_t to)
{
	return pass_time(m, to) - pass_time(m, from);
}

uint64_t mechanics_passed(const struct mechanics *m, uint64_t from, int64_t time)
{
	const struct zone *z = zone_of(m, from);

	return (uint64_t)((double)time / (double)m->revolution *
			  (double)z->track_bytes);
}

static int64_t seek_time(const struct mechanics *m, uint64_t from_track,
			 uint64_t to_track, bool write)
{
	const struct seek_curve *c = write ? &m->write : &m->read;
	uint64_t tracks = from_track > to_track ? from_track - to_track
						: to_track - from_track;
	double cylinders = (double)tracks / m->heads;

	/* A head switch costs as much as a seek to the next cylinder. */
	if (cylinders < 1)
		cylinders = 1;
	return (int64_t)(c->base + c->root * sqrt(cylinders) +
			 c->linear * cylinders);
}

static int64_t wait_for(const struct mechanics *m, int64_t now, uint64_t byte)
{
	int64_t wait = (pass_time(m, byte) - now) % m->revolution;

	if (wait < 0)
		wait += m->revolution;
	return now + wait;
}

int64_t mechanics_reach(const struct mechanics *m, int64_t now, uint64_t from,
			uint64_t to, bool write)
{
	return wait_for(m, now + seek_time(m, track_of(m, from),
					   track_of(m, to), write), to);
}

int64_t mechanics_sweep(const struct mechanics *m, int64_t now, uint64_t from,
			uint64_t to, bool write)
{
	uint64_t from_track = track_of(m, from);
	uint64_t to_track = track_of(m, to);

	/* "from" is an end, so it may be the start of the next track. */
	if (to_track == from_track || to_track == from_track + 1)
		return wait_for(m, now, to);
	return mechanics_reach(m, now, from, to, write);
}
