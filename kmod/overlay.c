// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Reads of held sectors
 *
 * A read and the write of a held block may pass each other below, so looking
 * for held bytes only at the end of the read would return old content. A read
 * therefore pins, when it is mapped, each held block that it covers and notes
 * which sectors are held. When it ends it takes those from the buffer, though
 * the block may be gone from the tree: they may be newer by then, but never
 * older. Two blocks can be pinned without memory; a read of more, when there is
 * none, is cut in front of the third. A read of a target that holds something
 * is also cut at the border of a region, where it has passed 64 blocks in
 * memory, and where its pins would have more than 2048 bytes: behind 28 held
 * blocks of 256 KiB.
 *
 * A pin is taken and given back under the lock of its block's shard, and the
 * bytes are copied under it, so that no logical block is torn by a touch or a
 * pad read that comes to the buffer at the same time.
 *
 * Data that a read has found must not be undone for the next one, though they be of
 * a write in flight. There are two ways in which they could be:
 *
 * - A pinned buffer may have got the bytes of touches that are in flight, while
 *   the device below still has older ones. A read that takes bytes from such a
 *   buffer sets block->shown, and from then on to the end of the turn reads pin
 *   all sectors that the turn writes, whether they are held or not.
 * - A range may be in flight over held touches (rule 7). Reads that came before
 *   the touches were held find the range's bytes below, later reads find the held
 *   ones. So a read that ends while that goes on, which blocks->nr_over tells,
 *   takes the sectors that are held at this moment, pinned or not.
 *
 * Data that a read has found of a write that fails afterwards may be undone.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "block_state.h"
#include "hold.h"
#include "report.h"

/* The sectors of a block that reads take from its buffer. Lock of its shard held. */
static const unsigned long *block_for_reads(const struct align_block *block)
{
	lockdep_assert_held(&block_shard(block)->lock);
	return block->shown ? block_covered(block) : block_held_map(block);
}

/**
 * struct overlay_look - a look at the blocks of a read in a shard
 * @at: the target
 * @start: first sector of the read
 * @end: the sector after its last one
 * @block: the block that comes next, under the lock of the shard
 * @left: how many blocks may be looked at under that lock
 */
struct overlay_look {
	const struct align_target *at;
	u64 start;
	u64 end;
	struct align_block *block;
	unsigned int left;
};

/* Look at blocks of a shard from a number on. shard->lock held. */
static struct overlay_look overlay_look(const struct align_target *at,
					const struct align_shard *shard,
					u64 number, u64 start, u64 end)
{
	lockdep_assert_held(&shard->lock);
	return (struct overlay_look) {
		.at = at, .start = start, .end = end,
		.block = block_at_or_above(shard, number),
		.left = BLOCKS_BATCH };
}

/*
 * Find the next block that has sectors which reads take from its buffer. Return:
 * NULL if there is none; if @look->block is one of the read then, the limit ended the
 * look. Lock of the shard held.
 */
static struct align_block *find_next_held(struct overlay_look *look)
{
	const struct align_geometry *g = &look->at->geometry;
	u64 last = align_block_of(g, look->end - 1);

	while (look->block && look->block->number <= last && look->left) {
		struct align_block *block = look->block;
		u32 from, to;

		look->left--;
		look->block = block_following(block);
		if (!block->held && !block->shown)
			continue;
		align_overlap(g, block->number, look->start, look->end, &from,
			      &to);
		if (find_next_bit(block_for_reads(block), to, from) < to)
			return block;
	}
	return NULL;
}

/* The first sector of a read that a look has not come to. Lock of the shard held. */
static u64 look_stop(const struct overlay_look *look)
{
	const struct align_geometry *g = &look->at->geometry;

	if (!look->block)
		return look->end;
	return min(look->end, align_block_start(g, look->block->number));
}

/*
 * Bytes of the pins of a read, at most: larger memory is hard to have without
 * waiting. Pins of blocks of 64 KiB stay below, as many as one look finds.
 */
#define PINS_BYTES	2048

/* Bytes of a pin. */
static size_t pin_bytes(const struct align_target *at)
{
	return struct_size((struct align_pin *)NULL, held_map,
			   block_map_longs(at));
}

/* Find a pin of a read. */
static struct align_pin *read_pin(const struct align_io *io, unsigned int i)
{
	return io->read.pins + i * pin_bytes(io->at);
}

static void block_unpin(struct align_block *block)
{
	/* Pairs with block_needs_spare(): the buffer is not read any more. */
	smp_store_release(&block->pins, block->pins - 1);
	if (!block->pins && block->gone)
		block_release(block);
}

/* Copy those of @sectors of a block that a read covers. Lock of its shard held. */
static void block_copy_to_read(const struct align_io *io,
			       struct align_block *block,
			       const unsigned long *sectors)
{
	struct align_target *at = io->at;
	u64 first = align_block_start(&at->geometry, block->number);
	u64 start = io->read.iter.bi_sector;
	unsigned int sector;
	u32 from, to;

	lockdep_assert_held(&block_shard(block)->lock);
	align_overlap(&at->geometry, block->number, start,
		      start + (io->read.iter.bi_size >> SECTOR_SHIFT), &from,
		      &to);
	for (sector = find_next_bit(sectors, to, from); sector < to;
	     sector = find_next_bit(sectors, to, sector + 1)) {
		unsigned int byte = sector << SECTOR_SHIFT;
		struct bvec_iter iter = io->read.iter;
		struct bio_vec bv;

		bio_advance_iter(io->bio, &iter,
				 (first + sector - start) << SECTOR_SHIFT);
		iter.bi_size = SECTOR_SIZE;
		__bio_for_each_segment(bv, io->bio, iter, iter) {
			memcpy_to_bvec(&bv, buffer_at(at, block->vecs, byte));
			byte += bv.bv_len;
		}
	}
}

/*
 * Copy the sectors of a pin, which may be of a write in flight. Lock of its block's
 * shard held.
 */
static void pin_copy(const struct align_io *io, const struct align_pin *pin)
{
	struct align_block *block = pin->block;

	lockdep_assert_held(&block_shard(block)->lock);
	block_copy_to_read(io, block, pin->held_map);
	if (block->gone || !block->patched || block->shown ||
	    bitmap_subset(block_covered(block), block_held_map(block),
			  block_sectors(block)))
		return;
	block->shown = true;
	atomic_inc(&io->at->engine.blocks.nr_shown);
}

/* Overlay a read with its held sectors, if @ok, and block_unpin the blocks. */
static void pins_end(struct align_io *io, bool ok)
{
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < io->read.nr_pins; i++) {
		struct align_pin *pin = read_pin(io, i);
		struct align_shard *shard = block_shard(pin->block);

		spin_lock_irqsave(&shard->lock, flags);
		if (ok)
			pin_copy(io, pin);
		block_unpin(pin->block);
		spin_unlock_irqrestore(&shard->lock, flags);
	}
	if (io->read.pins != io->read.few_pins)
		kfree(io->read.pins);
	io->read.nr_pins = 0;
}

/*
 * Overlay a read with the held data of the next block of a shard, if one of the blocks
 * that are looked at has some. Return: whether there may be more; *@number is the block
 * to go on with.
 */
static bool shard_overlay(const struct align_io *io, struct align_shard *shard,
			  u64 *number, u64 start, u64 end)
{
	const struct align_target *at = io->at;
	struct overlay_look look;
	struct align_block *block;
	unsigned long flags;
	u64 stop;

	spin_lock_irqsave(&shard->lock, flags);
	look = overlay_look(at, shard, *number, start, end);
	block = find_next_held(&look);
	if (block)
		block_copy_to_read(io, block, block_for_reads(block));
	stop = look_stop(&look);
	spin_unlock_irqrestore(&shard->lock, flags);
	*number = align_block_of(&at->geometry, stop);
	return stop < end;
}

/* Overlay a read with all that is held at this moment. */
static void overlay_held(const struct align_io *io)
{
	struct align_target *at = io->at;
	u64 start = io->read.iter.bi_sector;
	u64 end = start + (io->read.iter.bi_size >> SECTOR_SHIFT);
	u64 first = align_block_of(&at->geometry, start);
	struct shard_span span =
		shard_span(at, first, align_block_of(&at->geometry, end - 1));
	unsigned int i;

	for (i = shard_first(&span); i < ALIGN_SHARDS;
	     i = shard_next(&span, i)) {
		u64 number = first;

		/* Each block for itself: a read may cover many. */
		while (shard_overlay(io, &at->engine.blocks.shard[i], &number,
				     start, end))
			;
	}
}

/*
 * Count a shard's blocks that hold sectors of [@start, *@stop), where *@stop is lowered to
 * the end of one look. shard->lock held.
 */
static unsigned int shard_count_held(const struct align_target *at,
				     const struct align_shard *shard, u64 start,
				     u64 *stop)
{
	u64 first = align_block_of(&at->geometry, start);
	struct overlay_look look = overlay_look(at, shard, first, start, *stop);
	unsigned int nr = 0;

	lockdep_assert_held(&shard->lock);
	while (find_next_held(&look))
		nr++;
	*stop = look_stop(&look);
	return nr;
}

/*
 * Pin the blocks of a shard that hold sectors of a read, at most @room. Return: how
 * many sectors they hold; *@stop is lowered to the first that there was no room for.
 * shard->lock held.
 */
static u32 shard_pin(struct align_io *io, const struct align_shard *shard,
		     unsigned int room, u64 *stop)
{
	const struct align_target *at = io->at;
	u64 start = io->bio->bi_iter.bi_sector;
	u64 first = align_block_of(&at->geometry, start);
	struct overlay_look look = overlay_look(at, shard, first, start, *stop);
	struct align_block *block;
	u32 sectors = 0;

	lockdep_assert_held(&shard->lock);
	while ((block = find_next_held(&look))) {
		struct align_pin *pin = read_pin(io, io->read.nr_pins);
		u32 from, to;

		if (io->read.nr_pins == room) {
			*stop = align_block_start(&at->geometry, block->number);
			break;
		}
		align_overlap(&at->geometry, block->number, start, *stop, &from, &to);
		pin->block = block;
		bitmap_copy(pin->held_map, block_for_reads(block),
			    block_sectors(block));
		for (; from < to; from++)
			sectors += test_bit(from, pin->held_map);
		block->pins++;
		io->read.nr_pins++;
	}
	return sectors;
}

/**
 * overlay_map_read - map a read of a target that holds something
 * @io: the read
 * @last: the piece ends where its sender's read does, and no rest comes behind it
 *
 * Pins the blocks that hold sectors of it. Only a part of the read is accepted if it
 * lies in two regions, or over more blocks in memory than one lock may be held for,
 * or if there is no memory for more than a few pins.
 *
 * Return: what map returns.
 */
int overlay_map_read(struct align_io *io, bool last)
{
	struct align_target *at = io->at;
	struct bio *bio = io->bio;
	u64 start = bio->bi_iter.bi_sector;
	u64 end = bio_end_sector(bio);
	struct align_shard *shard =
		shard_of(at, align_block_of(&at->geometry, start));
	u64 stop = min(end, shard_region_end(at, start));
	unsigned long flags;
	unsigned int nr;
	u32 sectors;

	io->read.pins = io->read.few_pins;
	spin_lock_irqsave(&shard->lock, flags);
	nr = shard_count_held(at, shard, start, &stop);
	nr = min_t(unsigned int, nr, PINS_BYTES / pin_bytes(at));
	if (nr > ALIGN_FEW_PINS) {
		void *pins = kmalloc_array(nr, pin_bytes(at), BUFFER_GFP);

		if (pins)
			io->read.pins = pins;
		else
			nr = ALIGN_FEW_PINS;
	}
	sectors = shard_pin(io, shard, nr, &stop);
	spin_unlock_irqrestore(&shard->lock, flags);

	/* The rest comes as a bio of its own. */
	if (stop < end)
		dm_accept_partial_bio(bio, stop - start);
	report_count_read(io, last && stop == end);
	/* The memory of the rest is not this bio's. */
	io->read.iter = bio->bi_iter;
	if (!io->read.nr_pins)
		return DM_MAPIO_REMAPPED;
	ledger_inc(at->ledger, reads_overlaid);
	if (sectors < stop - start)
		return DM_MAPIO_REMAPPED;
	/* All of it is held. */
	pins_end(io, true);
	bio_endio(bio);
	return DM_MAPIO_SUBMITTED;
}

/**
 * overlay_end_read - overlay a read that has ended with its held sectors
 * @io: the read
 * @ok: the read has succeeded
 */
void overlay_end_read(struct align_io *io, bool ok)
{
	if (io->read.nr_pins)
		pins_end(io, ok);
	if (ok && atomic_read(&io->at->engine.blocks.nr_over))
		overlay_held(io);
}
