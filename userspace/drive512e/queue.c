// SPDX-License-Identifier: GPL-2.0
/*
 * The command queue: which of the requests that need the head it serves next.
 *
 * The choice is made when the head is free, among the oldest requests, as many
 * as the queue has room for; the drive does not see the others yet.  The head
 * serves the request that it reaches first; one that has waited for a while
 * goes before all others.
 */
#include "hdd_internal.h"

/* A request that has waited for longer is not passed over again. */
#define PATIENCE_NS INT64_C(500000000)

/* Return when the head would be at the request's first block. */
static int64_t would_reach(const struct hdd *h, int64_t now,
			   const struct queued *q)
{
	uint64_t first = block_floor(q->start, h->physical);

	if (!q->write && h->state == HEAD_LOOK_AHEAD && first >= h->pos &&
	    first <= h->ahead_end)
		return h->since +
		       mechanics_travel(&h->mechanics, h->pos, first);
	return mechanics_reach(&h->mechanics, now, h->pos, first, q->write);
}

/* Choose one of the requests that are ready at @now; NULL if none is. */
static struct queued *choose(const struct hdd *h, int64_t now)
{
	struct queued *best = NULL, *q;
	unsigned int seen = 0;
	int64_t earliest = 0;

	TAILQ_FOREACH(q, &h->queue, link) {
		int64_t at;

		if (seen++ == h->profile->queue || q->ready > now)
			break;
		if (now - q->ready > PATIENCE_NS)
			return q;
		at = would_reach(h, now, q);
		if (!best || at < earliest) {
			best = q;
			earliest = at;
		}
	}
	return best;
}

static int64_t serve_one(struct hdd *h, int64_t now)
{
	struct queued *q;

	hdd_advance(h, now);
	q = choose(h, now);
	TAILQ_REMOVE(&h->queue, q, link);
	/* A request that was served meanwhile may have read its blocks. */
	if (q->write) {
		q->when = write_media(h, now, q->start, q->end, q->touches);
		if (q->counted)
			h->counters->rmws += q->touches;
	} else if (!read_from_memory(h, now, q->start, q->end, &q->when)) {
		q->when = read_media(h, now, q->start, q->end);
	}
	q->decided = true;
	h->chosen_until = q->when;
	return q->when;
}

/* Return when the head is free for the next choice; NEVER if none waits. */
static int64_t next_choice(const struct hdd *h)
{
	const struct queued *first = TAILQ_FIRST(&h->queue);

	return first ? later(h->chosen_until, first->ready) : NEVER;
}

int64_t hdd_choose(struct hdd *h, int64_t now)
{
	while (next_choice(h) <= now)
		serve_one(h, next_choice(h));
	return next_choice(h);
}

int64_t queue_drain(struct hdd *h)
{
	while (!TAILQ_EMPTY(&h->queue))
		serve_one(h, next_choice(h));
	return h->chosen_until;
}

uint64_t queue_pending(const struct hdd *h)
{
	const struct queued *q;
	uint64_t touches = 0;

	TAILQ_FOREACH(q, &h->queue, link) {
		if (q->counted)
			touches += q->touches;
	}
	return touches;
}

void queue_forget_counts(struct hdd *h)
{
	struct queued *q;

	TAILQ_FOREACH(q, &h->queue, link)
		q->counted = false;
}

void queue_drop(struct hdd *h, int64_t now)
{
	struct queued *q;

	while ((q = TAILQ_FIRST(&h->queue))) {
		TAILQ_REMOVE(&h->queue, q, link);
		q->decided = true;
		q->when = now;
	}
	h->chosen_until = now;
}

void hdd_queue_read(struct hdd *h, struct queued *q, int64_t now,
		    uint64_t start, uint64_t end)
{
	hdd_choose(h, now);
	*q = (struct queued){
		.ready = hdd_command(h, now), .start = start, .end = end,
	};
	q->decided = read_from_memory(h, q->ready, start, end, &q->when);
	if (!q->decided)
		TAILQ_INSERT_TAIL(&h->queue, q, link);
}

void hdd_queue_write(struct hdd *h, struct queued *q, int64_t now,
		     uint64_t start, uint64_t end, uint64_t transfer,
		     unsigned int touches)
{
	hdd_choose(h, now);
	*q = (struct queued){
		.write = true, .start = start, .end = end, .touches = touches,
		.counted = true,
		.ready = hdd_command(h, now) + hdd_transfer_time(h, transfer),
	};
	h->bus_free = q->ready;
	TAILQ_INSERT_TAIL(&h->queue, q, link);
}
