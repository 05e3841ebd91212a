// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "life.h"
#include "snapshot.h"

#define LINE	64U

/*
 * A part of memory. Its lines that are not all 0 follow, each behind its place: most
 * memory is empty.
 */
struct part {
	char *at;
	size_t bytes, lines;
};

static struct snapshot *taken;

static void make_room(size_t more)
{
	if (taken->room - taken->used >= more)
		return;
	taken->room = 2 * (taken->room + more);
	taken->bytes = realloc(taken->bytes, taken->room);
	if (!taken->bytes)
		abort();
}

static bool is_empty(const char *line)
{
	uint64_t words[LINE / sizeof(uint64_t)], any = 0;
	unsigned int i;

	memcpy(words, line, sizeof(words));
	for (i = 0; i < LINE / sizeof(*words); i++)
		any |= words[i];
	return !any;
}

static void add(void *at, size_t bytes)
{
	struct part part = { at, bytes, 0 };
	size_t begin = taken->used, place, end = bytes - bytes % LINE;

	make_room(sizeof(part) + (bytes / LINE + 1) * (sizeof(place) + LINE));
	taken->used += sizeof(part);
	for (place = 0; place < end; place += LINE) {
		if (is_empty(part.at + place))
			continue;
		memcpy(taken->bytes + taken->used, &place, sizeof(place));
		memcpy(taken->bytes + taken->used + sizeof(place),
		       part.at + place, LINE);
		taken->used += sizeof(place) + LINE;
		part.lines++;
	}
	memcpy(taken->bytes + taken->used, part.at + end, bytes - end);
	taken->used += bytes - end;
	memcpy(taken->bytes + begin, &part, sizeof(part));
}

void snapshot_take(struct snapshot *snapshot, const struct world_plan *plan)
{
	taken = snapshot;
	snapshot->used = 0;
	life_parts(plan, add);
}

void snapshot_bring_back(const struct snapshot *snapshot)
{
	const char *from = snapshot->bytes;
	struct part part;
	size_t place;

	while (from < snapshot->bytes + snapshot->used) {
		memcpy(&part, from, sizeof(part));
		from += sizeof(part);
		memset(part.at, 0, part.bytes);
		for (; part.lines--; from += sizeof(place) + LINE) {
			memcpy(&place, from, sizeof(place));
			memcpy(part.at + place, from + sizeof(place), LINE);
		}
		place = part.bytes - part.bytes % LINE;
		memcpy(part.at + place, from, part.bytes - place);
		from += part.bytes - place;
	}
}
