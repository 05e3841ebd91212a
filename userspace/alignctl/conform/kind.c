// SPDX-License-Identifier: GPL-2.0
/* The table of kinds: operations, shapes, and the places of a round's requests. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/mix.h"
#include "conform/kind.h"

static const struct {
	const char *name;
	enum lawful_effect effect;
	enum io_op op;
} parts[PART_NR] = {
	[PART_SUB_BLOCK] = { "sub-block", LAWFUL_WRITES, IO_WRITE },
	[PART_WHOLE] = { "whole", LAWFUL_WRITES, IO_WRITE },
	[PART_TWO_BLOCKS] = { "two-blocks", LAWFUL_WRITES, IO_WRITE },
	[PART_READ] = { "read", LAWFUL_NOTHING, IO_READ },
	[PART_FLUSH] = { "flush", LAWFUL_NOTHING, IO_FLUSH },
	[PART_FUA] = { "fua", LAWFUL_WRITES, IO_WRITE },
	[PART_DISCARD] = { "discard", LAWFUL_DISCARDS, IO_DISCARD },
	[PART_ZEROES] = { "zeroes", LAWFUL_ZEROES, IO_WRITE_ZEROES },
};

const char *kind_part_name(enum kind_part part)
{
	return parts[part].name;
}

enum lawful_effect kind_effect(enum kind_part part)
{
	return parts[part].effect;
}

enum io_op kind_op(enum kind_part part)
{
	return parts[part].op;
}

bool kind_has(const struct kind *kind, enum kind_part part)
{
	size_t i;

	for (i = 0; i < kind->nr; i++)
		if (kind->part[i] == part)
			return true;
	return false;
}

/* Take the next combination of @kind->nr parts; false after the last one. */
static bool next_parts(struct kind *kind)
{
	size_t at = kind->nr, i;

	while (at && kind->part[at - 1] == PART_NR - 1)
		at--;
	if (!at)
		return false;
	kind->part[at - 1]++;
	for (i = at; i < kind->nr; i++)
		kind->part[i] = kind->part[at - 1];
	return true;
}

struct kind kind_at(size_t number)
{
	struct kind kind = { .nr = 2, .across = number % 2 };
	size_t i;

	for (i = 0; i < number / 2; i++)
		if (!next_parts(&kind))
			kind = (struct kind) { .nr = 3, .across = number % 2 };
	return kind;
}

char *kind_name(const struct kind *kind)
{
	const char *place = kind->across ? "across" : "in-block";

	return kind->nr == 2 ?
		message_format("%s+%s/%s", parts[kind->part[0]].name,
			       parts[kind->part[1]].name, place) :
		message_format("%s+%s+%s/%s", parts[kind->part[0]].name,
			       parts[kind->part[1]].name,
			       parts[kind->part[2]].name, place);
}

bool kind_find(const char *name, size_t *number)
{
	for (*number = 0; *number < KIND_NR; ++*number) {
		const struct kind kind = kind_at(*number);
		CLEANUP_FREE char *own = kind_name(&kind);

		if (!strcmp(own, name))
			return true;
	}
	return false;
}

/* Random numbers of a round, one after the other. */
static uint32_t draw_number(uint64_t *state, uint32_t below)
{
	*state = mix64(*state + 1);
	return (uint32_t)((*state >> 32) * below >> 32);
}

/*
 * Choose a part of a block that is not all of it, at an end of it more often
 * than within, or one that lies on both sides of the boundary.
 */
static void shape_part(const struct kind *kind, uint32_t n, uint64_t *state,
		       struct kind_shape *shape)
{
	uint32_t nr = 1 + draw_number(state, n - 1), before;

	if (kind->across) {
		nr += nr < 2;
		before = 1 + draw_number(state, nr - 1);
		shape->first = 2 * n - before;
	} else {
		before = n - nr;
		shape->first = n + (draw_number(state, 2) ? draw_number(state, before + 1) :
				    draw_number(state, 2) * before);
	}
	shape->nr = nr;
}

/* Choose the blocks of a request. */
static void shape_place(const struct kind *kind, uint32_t n, uint64_t *state,
			struct kind_shape *shape)
{
	switch (shape->part) {
	case PART_FLUSH:
		break;
	case PART_WHOLE:
		shape->first = n * (1 + (kind->across ? draw_number(state, 2) : 0));
		shape->nr = n;
		break;
	case PART_TWO_BLOCKS:
		shape->first = n;
		shape->nr = 2 * n;
		break;
	case PART_READ:
		shape->first = draw_number(state, 3 * n);
		shape->nr = 1 + draw_number(state, CELL_BLOCKS * n - shape->first);
		break;
	case PART_DISCARD:
	case PART_ZEROES:
		if (draw_number(state, 2)) {
			shape->first = n;
			shape->nr = n * (1 + (kind->across ?
					      1 : draw_number(state, 2)));
			break;
		}
		shape_part(kind, n, state, shape);
		break;
	default:
		shape_part(kind, n, state, shape);
	}
}

void kind_shapes(const struct kind *kind, uint32_t per_block, uint64_t random,
		 struct kind_shape shapes[KIND_PARTS])
{
	uint64_t state = random;
	/* all at once, at any time, or one behind the other */
	uint32_t spread = draw_number(&state, 3), turn = draw_number(&state, KIND_PARTS);
	size_t i;

	for (i = 0; i < kind->nr; i++) {
		struct kind_shape *shape = &shapes[i];

		*shape = (struct kind_shape) { .part = kind->part[i] };
		shape_place(kind, per_block, &state, shape);
		if (spread == 1)
			shape->wait = draw_number(&state, 384);
		else if (spread == 2)
			shape->wait = 96 * (uint32_t)((i + turn) % kind->nr) +
				      draw_number(&state, 64);
	}
	/* of those that are sent at the same time, any may be the first */
	for (i = 0; !spread && i < kind->nr; i++) {
		size_t other = i + draw_number(&state, (uint32_t)(kind->nr - i));
		struct kind_shape shape = shapes[i];

		shapes[i] = shapes[other];
		shapes[other] = shape;
	}
}
