/* SPDX-License-Identifier: GPL-2.0 */
/* The interface between hdd.c, write_cache.c and queue.c. */
#ifndef DRIVE512E_HDD_INTERNAL_H
#define DRIVE512E_HDD_INTERNAL_H

#include "hdd.h"

#define NEVER INT64_MAX

static inline int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* hdd.c */

void head_rests(struct hdd *h, int64_t time, uint64_t pos);
void head_worked(struct hdd *h, int64_t from, int64_t to);

/*
 * End look-ahead. Return when the head is free: not before a read is served.
 */
int64_t end_look_ahead(struct hdd *h, int64_t now);

/* Do the next event, and return its time. */
int64_t next_step(struct hdd *h);

/* Serve a read at @now without the media if possible; set *@done then. */
bool read_from_memory(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		      int64_t *done);

/* Position the head for a request; return when it completes. */
int64_t read_media(struct hdd *h, int64_t now, uint64_t start, uint64_t end);
int64_t write_media(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		    unsigned int touches);

/* queue.c */

/* Decide all requests that wait.  Return when the last one completes. */
int64_t queue_drain(struct hdd *h);

/* End all requests that wait at @now, without serving them. */
void queue_drop(struct hdd *h, int64_t now);

/* write_cache.c: the events */

/* Return when an idle head has something to write; NEVER if nothing waits. */
int64_t next_work(const struct hdd *h);
void start_seek(struct hdd *h, int64_t now);
void start_writing(struct hdd *h);
void end_batch(struct hdd *h);

/* Return when the head has written all of the stream that is not held back. */
int64_t stream_runs_dry(const struct hdd *h);

/* Leave the stream after the block under the head.  Return the time then. */
int64_t end_stream(struct hdd *h, int64_t now);

/* write_cache.c: the requests */

/*
 * Put a write into the cache; return when it is cached. @alone: it came when the
 * write before it was answered.
 */
int64_t cache_write(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		    unsigned int touches, bool alone);

/* Write back the whole cache; return when it is empty. */
int64_t cache_empty(struct hdd *h, int64_t now);

/* Return the end of the cache run around @start, or @start if there is none. */
uint64_t cache_covers(const struct hdd *h, uint64_t start);

#endif
