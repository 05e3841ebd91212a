// SPDX-License-Identifier: GPL-2.0
/*
 * The interface: the commands of a disk, each in its order.  write_cache.c has
 * the cached writes and the clock, access.c what needs the media, queue.c the
 * order of commands that wait for the head.
 */
#include "hdd.h"

#include "hdd_internal.h"

void hdd_init(struct hdd *h, const struct profile *profile, uint32_t physical,
	      uint64_t end, bool cache, struct media_counters *counters)
{
	*h = (struct hdd){
		.profile = profile,
		.physical = physical,
		.end = block_ceil(end, physical),
		.cache = cache,
		.counters = counters,
		.last_end = UINT64_MAX,
	};
	TAILQ_INIT(&h->queue);
	mechanics_init(&h->mechanics, profile, physical);
}

int64_t hdd_read(struct hdd *h, int64_t now, uint64_t start, uint64_t end)
{
	int64_t done;

	now = hdd_command(h, now);
	if (!read_from_memory(h, now, start, end, &done))
		done = read_media(h, now, start, end);
	if (h->profile->one_at_a_time)
		h->bus_free = later(h->bus_free, done);
	return done;
}

int64_t hdd_write(struct hdd *h, int64_t now, uint64_t start, uint64_t end,
		  uint64_t transfer, unsigned int touches, bool fua)
{
	bool alone = now >= h->last_done;

	now = hdd_command(h, now) + hdd_transfer_time(h, transfer);
	h->bus_free = now;
	hdd_advance(h, now);
	if (!h->cache) {
		h->counters->rmws += touches;
		return write_media(h, now, start, end, touches);
	}

	now = cache_write(h, now, start, end, touches, alone);
	h->last_done = now;
	if (fua)
		now = cache_empty(h, now);
	h->bus_free = now;
	return now;
}

uint64_t hdd_pending(const struct hdd *h)
{
	return cache_pending(h) + queue_pending(h);
}

void hdd_forget_counts(struct hdd *h)
{
	cache_forget_counts(h);
	queue_forget_counts(h);
}

void hdd_lose_power(struct hdd *h, int64_t now)
{
	/* What the head has reached by now does not depend on who asked. */
	hdd_choose(h, now);
	hdd_advance(h, now);
	h->counters->touches_lost += hdd_pending(h);
	h->waiting = 0;
	h->writing = 0;
	h->full = false;
	h->buffer = (struct read_buffer){ 0 };
	h->bus_free = now;
	h->ahead_busy = now;
	h->last_end = UINT64_MAX;
	h->last_whole = false;
	queue_drop(h, now);
	head_rests(h, now, h->pos);
}

int64_t hdd_flush(struct hdd *h, int64_t now)
{
	/* A flush is no queued command: it waits until the queue is empty. */
	now = hdd_command(h, later(now, queue_drain(h)));
	hdd_advance(h, now);
	if (h->cache)
		now = cache_empty(h, now);
	h->bus_free = now;
	return now;
}
