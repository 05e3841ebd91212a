/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk in virtual time: one head assembly, an interface, a buffer for reads
 * and, where it is on, a volatile write cache.
 *
 * Without the cache each write is on the media when it completes: position,
 * read the blocks that it covers in part, come round again, write.
 *
 * The cache keeps runs of dirty bytes.  A write joins a run that it adjoins,
 * or starts a new one; it completes as soon as it is in.  The head takes all
 * runs that wait, when it has come to the first of them, and writes them in
 * one sweep, after a sweep that reads the blocks that are there only in part.
 * Until that moment they may be joined.  From then on a block that is being
 * read to be completed is locked, and a write to it waits.
 *
 * Large writes that follow each other are a stream, which the head writes
 * while it is growing; the last block of a stream is held back for a while, as
 * the next write is likely to complete it.
 *
 * Reads take the head away from a stream, but not from a batch, and not from
 * a stream that is written because the cache was full: the head would spend
 * its time between the two.
 *
 * All positions are media bytes (touch.h), all times nanoseconds.
 */
#ifndef DRIVE512E_HDD_H
#define DRIVE512E_HDD_H

#include "counters.h"
#include "mechanics.h"
#include "read_buffer.h"

#define CACHE_ENTRIES_MAX 64

/* Dirty bytes without a gap; the blocks at its ends may be there in part. */
struct run {
	uint64_t start, end;
	unsigned int joins;
	unsigned int touches;	/* not yet counted as read for or saved */
	bool counted;		/* false: came before a reset */
	bool stream;		/* at most one */
	int64_t changed;	/* when its last write was in the cache */
};

enum head_state {
	HEAD_IDLE,		/* at "pos", since "since" */
	HEAD_SEEKING,		/* from "pos" to "target", there at "until" */
	HEAD_BATCH,		/* working on "batch", done at "until" */
	HEAD_STREAM,		/* writes the stream, at "pos" at "since" */
	HEAD_LOOK_AHEAD,	/* reads ahead, at "pos" at "since" */
};

struct hdd {
	const struct profile *profile;
	struct mechanics mechanics;
	uint32_t physical;
	uint64_t end;			/* of the media */
	bool cache;
	struct media_counters *counters;
	struct read_buffer buffer;

	int64_t bus_free;		/* when the next command is taken */

	enum head_state state;
	int64_t since;
	int64_t until;
	uint64_t pos;
	uint64_t target;
	uint64_t ahead_end;		/* where look-ahead stops */
	int64_t ahead_busy;		/* until then it serves a read */

	struct run pool[CACHE_ENTRIES_MAX];	/* waiting */
	unsigned int waiting;
	struct run batch[CACHE_ENTRIES_MAX];	/* being written, in order */
	unsigned int writing;

	bool full;			/* the stream is written to make room */
	uint64_t last_end;		/* of the last write */
	bool last_whole;		/* it covered a whole block */
};

/* For media of @end bytes, counting into @counters. */
void hdd_init(struct hdd *h, const struct profile *profile, uint32_t physical,
	      uint64_t end, bool cache, struct media_counters *counters);

/*
 * Requests, in the order of their arrival; each returns its completion.
 * hdd_write() gets the bytes that cross the interface apart, as zeroes do not
 * cross it, and the touches that the write makes.
 */
int64_t hdd_read(struct hdd *h, int64_t now, uint64_t start, uint64_t end);
int64_t hdd_write(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		  uint64_t transfer, unsigned int touches, bool fua);
int64_t hdd_flush(struct hdd *h, int64_t now);
int64_t hdd_command(struct hdd *h, int64_t now);

/* How long @bytes take to cross the interface. */
int64_t hdd_transfer_time(const struct hdd *h, uint64_t bytes);

/* Lets everything happen that happens up to @now. */
void hdd_advance(struct hdd *h, int64_t now);

/* Touches in the cache of which it is still open what becomes of them. */
uint64_t hdd_pending(const struct hdd *h);

/* From now on what is in the cache is not counted. */
void hdd_forget_counts(struct hdd *h);

/* Loses what is in the cache and in the buffer. */
void hdd_lose_power(struct hdd *h, int64_t now);

#endif
