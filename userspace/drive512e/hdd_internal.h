/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interfaces of the files below hdd.c, from the lowest: head.c,
 * write_cache.c, access.c and queue.c.
 */
#ifndef DRIVE512E_HDD_INTERNAL_H
#define DRIVE512E_HDD_INTERNAL_H

#include "hdd.h"

#define NEVER INT64_MAX

static inline int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* head.c */

void head_rests(struct hdd *h, int64_t time, uint64_t pos);
void head_worked(struct hdd *h, int64_t from, int64_t to);

/* Begin to read ahead at @pos, which the head reaches at @now. */
void look_ahead_from(struct hdd *h, int64_t now, uint64_t pos,
		     uint64_t read_end);

/* Return how far look-ahead has come at @now, and when it is done. */
uint64_t looked_ahead_to(const struct hdd *h, int64_t now);
int64_t look_ahead_done(const struct hdd *h);

/*
 * End look-ahead. Return when the head is free: not before a read is served.
 */
int64_t end_look_ahead(struct hdd *h, int64_t now);

/* write_cache.c */

/* Do the next event, and return its time. */
int64_t next_step(struct hdd *h);

/* Leave the stream after the block under the head.  Return the time then. */
int64_t end_stream(struct hdd *h, int64_t now);

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

/* Return the number of cached touches that are not yet resolved. */
uint64_t cache_pending(const struct hdd *h);

/* Exclude the cache's present content from the counters. */
void cache_forget_counts(struct hdd *h);

/* access.c */

/* Serve a read at @now without the media if possible; set *@done then. */
bool read_from_memory(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		      int64_t *done);

/*
 * Position the head for a request; return when it completes.  The caller counts
 * the RMWs.
 */
int64_t read_media(struct hdd *h, int64_t now, uint64_t start, uint64_t end);
int64_t write_media(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		    unsigned int touches);

/* queue.c */

/* Return the number of touches of the writes that wait. */
uint64_t queue_pending(const struct hdd *h);

/* Exclude the writes that wait from the counters. */
void queue_forget_counts(struct hdd *h);

/* Decide all requests that wait.  Return when the last one completes. */
int64_t queue_drain(struct hdd *h);

/* End all requests that wait at @now, without serving them. */
void queue_drop(struct hdd *h, int64_t now);

#endif
