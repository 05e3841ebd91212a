// SPDX-License-Identifier: GPL-2.0
/* The interface's time for a command, and the head: its rest and look-ahead. */
#include "hdd_internal.h"

int64_t hdd_command(struct hdd *h, int64_t now)
{
	h->bus_free = later(now, h->bus_free) + h->profile->command_ns;
	return h->bus_free;
}

int64_t hdd_transfer_time(const struct hdd *h, uint64_t bytes)
{
	return (int64_t)((double)bytes / h->profile->bus_rate * 1e9);
}

void head_rests(struct hdd *h, int64_t time, uint64_t pos)
{
	h->state = HEAD_IDLE;
	h->since = time;
	h->pos = pos;
}

void head_worked(struct hdd *h, int64_t from, int64_t to)
{
	h->counters->busy_ns += (uint64_t)(to - from);
}

void look_ahead_from(struct hdd *h, int64_t now, uint64_t pos,
		     uint64_t read_end)
{
	h->state = HEAD_LOOK_AHEAD;
	h->since = now;
	h->pos = pos;
	h->ahead_end = read_end + h->profile->look_ahead;
	if (h->ahead_end > h->end)
		h->ahead_end = h->end;
}

uint64_t looked_ahead_to(const struct hdd *h, int64_t now)
{
	uint64_t to = h->pos;

	if (now > h->since)
		to += mechanics_passed(&h->mechanics, h->pos, now - h->since);
	return to < h->ahead_end ? block_floor(to, h->physical) : h->ahead_end;
}

int64_t look_ahead_done(const struct hdd *h)
{
	return h->since + mechanics_travel(&h->mechanics, h->pos, h->ahead_end);
}

int64_t end_look_ahead(struct hdd *h, int64_t now)
{
	uint64_t to;

	now = later(now, h->ahead_busy);
	to = looked_ahead_to(h, now);
	if (to > h->pos)
		read_buffer_add(&h->buffer, h->pos, to);
	head_rests(h, now, to);
	return now;
}
