// SPDX-License-Identifier: GPL-2.0
#include "turns.h"

#include "block_state.h"

/* Find a block, unless another context may be changing it. */
static struct align_block *find_block(struct align_target *at, u64 number)
{
	const struct align_shard *shard = shard_of(at, number);
	struct rb_node *node = shard->tree.rb_node;

	while (node && !shard->lock.owner) {
		struct align_block *block =
			rb_entry(node, struct align_block, rb);

		if (block->number == number)
			return block;
		node = number < block->number ? node->rb_left : node->rb_right;
	}
	return NULL;
}

/* Note the ranges of a tree that wait for a block. Return: their number. */
static unsigned int note_ranges(struct rb_root_cached *ranges,
				const struct align_block *block,
				struct turns_block *found)
{
	struct align_range *range;
	unsigned int nr = 0;

	for (range = range_first(ranges, found->number); range;
	     range = range_next(range, found->number)) {
		const struct align_io *io = range->io;

		if (io->write.stamp < block->turn)
			continue;
		nr++;
		if (found->nr_ranges < TURNS_ENTRIES)
			found->range[found->nr_ranges++] = (struct turns_entry) {
				io, io->write.start_ns,
			};
	}
	return nr;
}

/* Whether the lock guards the touches of a block: no write of them has begun. */
static bool is_guarded(const struct align_block *block)
{
	return block->state == BLOCK_IS_WAIT ||
	       block->state == BLOCK_IS_COLLECT || block->state == BLOCK_IS_READ;
}

static void look_at(struct align_target *at, u64 number, struct turns *turns)
{
	struct align_block *block = find_block(at, number);
	struct turns_block *found = &turns->block[turns->nr];
	const struct align_touch *touch;
	unsigned int waiting;

	if (!block || !is_guarded(block))
		return;
	turns->nr++;
	found->number = number;
	found->nr_touches = 0;
	found->nr_ranges = 0;
	list_for_each_entry(touch, &block->touches, list)
		if (found->nr_touches < TURNS_ENTRIES)
			found->touch[found->nr_touches++] = (struct turns_entry) {
				touch, touch->io->write.start_ns,
			};
	waiting = note_ranges(&shard_of(at, number)->ranges, block, found) +
		  note_ranges(&at->engine.blocks.long_ranges, block, found);
	if (waiting != block->waiting)
		machine_fail("%u ranges wait for block %llu, and it counts %u",
			     waiting, number, block->waiting);
}

void turns_look(const struct dm_target *ti, const struct bio *bio,
		struct turns *turns)
{
	struct align_target *at = ti->private;
	const struct align_geometry *g = &at->geometry;
	u64 start, first, last;

	turns->nr = 0;
	/*
	 * Where stores become visible late, lists may be half of them old; and a look
	 * keeps steps of a search from commuting.
	 */
	if (machine_is_weak() || machine_is_search() ||
	    strcmp(ti->type->name, "align") || !bio_sectors(bio) ||
	    bio_op(bio) == REQ_OP_READ || at->mode == ALIGN_REPORT)
		return;
	start = at->start + dm_target_offset(ti, bio->bi_iter.bi_sector);
	first = align_block_of(g, start);
	last = align_block_of(g, start + bio_sectors(bio) - 1);
	look_at(at, first, turns);
	if (last != first)
		look_at(at, last, turns);
}

/* Whether a touch was in its turn when the bio came. */
static bool was_found(const struct turns_block *found,
		      const struct align_touch *touch)
{
	unsigned int i;

	for (i = 0; i < found->nr_touches; i++)
		if (found->touch[i].at == touch &&
		    found->touch[i].ns == touch->io->write.start_ns)
			return true;
	return false;
}

/* Whether a range has waited for a block since the bio came. */
static bool still_waits(const struct turns_block *found,
			const struct align_block *block,
			const struct align_io *io)
{
	unsigned int i;

	for (i = 0; i < found->nr_ranges; i++)
		if (found->range[i].at == io &&
		    found->range[i].ns == io->write.start_ns &&
		    io->write.stamp >= block->turn)
			return true;
	return false;
}

/* Look at the ranges of a tree behind the map of a bio: how its parts stand to them. */
static void check_ranges(struct rb_root_cached *ranges, const struct bio *bio,
			 const struct turns_block *found,
			 const struct align_block *block, bool joins, bool older)
{
	struct align_range *range;

	for (range = range_first(ranges, found->number); range;
	     range = range_next(range, found->number)) {
		const struct align_io *io = range->io;

		if (joins && still_waits(found, block, io))
			machine_fail("a touch overtakes a range that has come to block %llu before",
				     found->number);
		if (older && io->bio == bio && io->write.stamp < block->turn)
			machine_fail("a range overtakes a touch that has come to block %llu before",
				     found->number);
	}
}

void turns_check(const struct dm_target *ti, const struct bio *bio,
		 const struct turns *turns)
{
	struct align_target *at = ti->private;
	unsigned int i;

	for (i = 0; i < turns->nr; i++) {
		const struct turns_block *found = &turns->block[i];
		struct align_block *block = find_block(at, found->number);
		bool joins = false, older = false;
		const struct align_touch *touch;

		if (!block || !is_guarded(block))
			continue;
		list_for_each_entry(touch, &block->touches, list) {
			joins |= touch->io->bio == bio;
			older |= was_found(found, touch);
		}
		if (!joins && !older)
			continue;
		check_ranges(&shard_of(at, found->number)->ranges, bio, found,
			     block, joins, older);
		check_ranges(&at->engine.blocks.long_ranges, bio, found, block,
			     joins, older);
	}
}
