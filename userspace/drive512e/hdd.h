/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk in virtual time: one head assembly, an interface, a buffer for reads
 * and, if enabled, a volatile write cache.
 *
 * Without the cache a write completes when it is on the media: position the
 * head, read the blocks that the write covers in part, wait a revolution,
 * write.
 *
 * The cache keeps cache runs, of dirty bytes. A write joins an adjoining run or
 * starts a new one, and completes as soon as it is cached. When the head has
 * reached the first waiting run, it takes all of them as a batch: one sweep
 * reads the blocks that are cached only in part, a second one writes. Runs can
 * be joined until then. A block of the batch that is completed by a read is
 * locked, and a write to it waits.
 *
 * Large sequential writes are a stream, which the head writes while it grows;
 * the last block of a stream is held back for a while, as the next write is
 * likely to complete it. A write that would do so goes on with the stream only
 * if it came when the one before it was answered; those sent together are runs.
 *
 * A read takes the head away from a stream, but not from a batch, and not from
 * a stream that is written because the cache was full: the head would spend its
 * time moving between the two.
 *
 * With a command queue, a request that needs the head waits until the head is
 * free, and the one that is reached first goes first.
 *
 * All positions are media bytes (touch.h), all times nanoseconds.
 */
#ifndef DRIVE512E_HDD_H
#define DRIVE512E_HDD_H

#include <sys/queue.h>

#include "counters.h"
#include "mechanics.h"
#include "read_buffer.h"

#define CACHE_ENTRIES_MAX 64

/* A cache run: dirty bytes without a gap.  Its end blocks may be partial. */
struct cache_run {
	uint64_t start, end;
	unsigned int joins;
	unsigned int touches;	/* not yet counted as read for or saved */
	bool counted;		/* false: cached before a reset */
	bool stream;		/* at most one run is a stream */
	int64_t changed;	/* when its last write was cached */
};

/*
 * A command that may wait in the queue, in the memory of the caller until it is
 * decided.  Only @decided and @when are for the caller.
 */
struct queued {
	bool decided;
	int64_t when;		/* when it completes, once that is decided */

	TAILQ_ENTRY(queued) link;
	bool write;
	int64_t ready;		/* when the drive has the command */
	uint64_t start, end;
	unsigned int touches;
	bool counted;		/* false: queued before a reset */
};

enum head_state {
	HEAD_IDLE,		/* at "pos" since "since" */
	HEAD_SEEKING,		/* from "pos" to "target", arriving at "until" */
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

	int64_t bus_free;		/* when the interface takes a command */

	enum head_state state;
	int64_t since;
	int64_t until;
	uint64_t pos;
	uint64_t target;
	uint64_t ahead_end;		/* where look-ahead stops */
	int64_t ahead_busy;		/* until then it serves a read */

	struct cache_run pool[CACHE_ENTRIES_MAX];	/* runs that wait */
	unsigned int waiting;
	struct cache_run batch[CACHE_ENTRIES_MAX];	/* being written, in order */
	unsigned int writing;

	TAILQ_HEAD(, queued) queue;	/* in order of arrival */
	int64_t chosen_until;		/* end of the access chosen last */

	bool full;			/* the stream is written to make room */
	uint64_t last_end;		/* end of the last write */
	int64_t last_done;		/* when it was answered */
	bool last_whole;		/* that write covered a whole block */
};

/* Initialise a disk of @end media bytes, which counts into @counters. */
void hdd_init(struct hdd *h, const struct profile *profile, uint32_t physical,
	      uint64_t end, bool cache, struct media_counters *counters);

/*
 * Submit a request, in the order of arrival, and return when it completes.
 * hdd_write() takes the bytes that cross the interface separately, because
 * zeroes cross none, and the number of the write's touches.
 */
int64_t hdd_read(struct hdd *h, int64_t now, uint64_t start, uint64_t end);
int64_t hdd_write(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		  uint64_t transfer, unsigned int touches, bool fua);
int64_t hdd_flush(struct hdd *h, int64_t now);
int64_t hdd_command(struct hdd *h, int64_t now);

/*
 * Queue a request on a disk with a command queue: its completion may depend on
 * requests that come later. hdd_queue_write() is for a disk without a cache.
 */
void hdd_queue_read(struct hdd *h, struct queued *q, int64_t now,
		    uint64_t start, uint64_t end);
void hdd_queue_write(struct hdd *h, struct queued *q, int64_t now,
		     uint64_t start, uint64_t end, uint64_t transfer,
		     unsigned int touches);

/*
 * Choose which queued requests are served up to @now.  Return when the next
 * choice is made; INT64_MAX if none waits.
 */
int64_t hdd_choose(struct hdd *h, int64_t now);

/* Return how long @bytes take to cross the interface. */
int64_t hdd_transfer_time(const struct hdd *h, uint64_t bytes);

/* Do all that happens up to @now. */
void hdd_advance(struct hdd *h, int64_t now);

/* Return the number of cached or queued touches that are not yet resolved. */
uint64_t hdd_pending(const struct hdd *h);

/* Exclude the present content of cache and queue from the counters. */
void hdd_forget_counts(struct hdd *h);

/* Drop the content of cache, queue and read buffer at @now. */
void hdd_lose_power(struct hdd *h, int64_t now);

#endif
