/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An SSD in virtual time: dies that read and program pages at the same time, a
 * write buffer, and an indirection unit.
 *
 * The drive maps units, so it can write no less than a unit: a write that
 * covers one in part reads the pages of the rest first.  Neighbouring units lie
 * on pages of their own. The reads of a request begin at the same time, and
 * those on one die wait for each other.
 *
 * A write completes when it is in the buffer, which has room as soon as pages
 * are programmed; without a cache, and with FUA, when it is programmed. Data is
 * programmed to the dies in turn, wherever it was before. Reads interrupt
 * programming; garbage collection is absent.
 *
 * Positions are media bytes (touch.h), all times nanoseconds.
 */
#ifndef DRIVE512E_SSD_H
#define DRIVE512E_SSD_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"
#include "profile.h"

struct ssd {
	const struct profile *profile;
	uint32_t unit;			/* bytes */
	uint32_t piece;			/* bytes of a unit on one page */
	bool cache;
	struct media_counters *counters;

	int64_t bus_free;		/* when the interface takes a command */
	int64_t *reads_until;		/* of each die */
	int64_t *programs_until;	/* of each die */
	unsigned int next_die;		/* programs the next page */

	int64_t *slots;			/* of the buffer: when each is free */
	unsigned int nr_slots;
	unsigned int next_slot;
	uint64_t open_bytes;		/* in the page that is not full yet */
};

/* Initialise an SSD with units of @unit bytes; false if there is no memory. */
bool ssd_init(struct ssd *s, const struct profile *profile, uint32_t unit,
	      bool cache, struct media_counters *counters);

/* Free what ssd_init() allocated; an SSD of zeroes has nothing. */
void ssd_destroy(struct ssd *s);

/*
 * Submit a request, in the order of arrival, and return when it completes.
 * ssd_write() takes the bytes that cross the interface separately, because
 * zeroes cross none, and the number of the write's touches.
 */
int64_t ssd_read(struct ssd *s, int64_t now, uint64_t start, uint64_t end);
int64_t ssd_write(struct ssd *s, int64_t now, uint64_t start, uint64_t end,
		  uint64_t bytes, unsigned int touches, bool fua);
int64_t ssd_flush(struct ssd *s, int64_t now);
int64_t ssd_command(struct ssd *s, int64_t now);

/* Drop the content of the buffer. */
void ssd_lose_power(struct ssd *s, int64_t now);

#endif
