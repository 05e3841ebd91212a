// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: A write, taken apart
 *
 * Map takes the whole bio once, counts it, and takes its partial touches out.
 * Each touch is served by the block that it lies in. The rest between them, the
 * remainder, goes down unmodified, without a copy: whole blocks, and also
 * touches that cannot be served (edge blocks, no slot, no memory). The write
 * ends when its touches and its remainder have ended, with the first error that
 * one of them had. Of a discard, all is remainder.
 *
 * Write-zeroes are taken apart as well. Their touches have zeroes in place of
 * data and are served, joined and held like any other; the remainder goes down
 * as write-zeroes, without data, with the same REQ_NOUNMAP, in pieces of a
 * limit of its own and never together with the blocks around it, and so does a
 * touch that cannot be served. If a drive rejects write-zeroes only now
 * (BLK_STS_NOTSUPP), the error is passed on: the kernel then writes zeroes over
 * the whole range, also where touches have been served already.
 *
 * Large write-zeroes arrive in parts: the kernel cuts a range at the limit that
 * the mapped device advertises, counted from the start of the range. From 6.12
 * on it ends such a part at a multiple of the advertised block from sector 0,
 * without regard to alignment_offset, and a limit that was advertised in mode
 * report need not be a multiple of P. Two parts that meet inside a block
 * complete it: the kernel sends the parts of a range one after the other in one
 * plug, and where there is no plug the block waits for a moment, because the
 * block layer has marked the first part of a bio that it split (REQ_NOMERGE).
 */

/**
 * DOC: A remainder behind blocks
 *
 * A write that completes the block in front of its remainder, as each one of a
 * stream does, is sent with that block as one request, and so are the whole
 * held blocks in front of that one, up to eight of them and half a request. If
 * the request fails, blocks and remainder are resent one by one.
 */
#include "account.h"
#include "block_state.h"
#include "cgroup.h"
#include "compat.h"
#include "cut.h"
#include "fit.h"
#include "hold.h"
#include "lower.h"
#include "parts.h"

/*
 * Most pieces of a remainder that map sends itself: they are only queued until map
 * returns, and write-zeroes of gigabytes can have very many.
 */
#define MAP_PIECES	256

static void range_next_job(struct align_job *job);

static void piece_put(struct align_io *io)
{
	if (!atomic_dec_and_test(&io->write.pieces))
		return;
	blocks_end_range(io, !io->write.status);
	if (!io->write.behind) {
		align_io_put(io, BLK_STS_OK);
		return;
	}
	job_init(&io->job, range_next_job);
	job_queue(&io->at->engine.jobs, &io->job);
}

static void piece_end(struct bio *bio)
{
	struct align_io *io = bio->bi_private;

	if (bio->bi_status)
		cmpxchg(&io->write.status, BLK_STS_OK, bio->bi_status);
	if (bio == &io->write.last_piece)
		bio_uninit(bio);
	else
		bio_put(bio);
	piece_put(io);
}

/* Sectors of a range that have not been sent. */
static sector_t io_unsent(const struct align_io *io)
{
	return io->write.unsent.bi_size >> SECTOR_SHIFT;
}

/* Add the bytes of a piece to the bio that carries it behind a block. */
static void joined_add_piece(const struct align_io *io, struct bio *bio)
{
	struct bvec_iter iter;
	struct bio_vec bv;

	__bio_for_each_bvec(bv, io->bio, iter, io->write.joined_iter)
		__bio_add_page(bio, bv.bv_page, bv.bv_len, bv.bv_offset);
	bio->bi_ioprio = io->bio->bi_ioprio;
	align_set_placement(bio, align_placement(io->bio));
	bio->bi_private = (void *)io;
	bio_clone_blkg_association(bio, io->bio);
}

/* The joined request failed: resend its parts one by one to find the bad. */
static void joined_send_apart(struct align_job *job)
{
	struct align_io *io = container_of(job, struct align_io, write.apart);
	struct bio *bio = io->write.joined_bio;
	struct align_block *block, *tmp;

	list_for_each_entry_safe(block, tmp, &io->write.joined, list) {
		list_del_init(&block->list);
		block_write(block);
	}
	bio_reset(bio, io->at->dev->bdev,
		  io->bio->bi_opf & ~ALIGN_DROPPED_FLAGS);
	bio->bi_iter.bi_sector = io->write.joined_iter.bi_sector;
	joined_add_piece(io, bio);
	bio->bi_end_io = piece_end;
	submit_bio_noacct(bio);
}

static void joined_end(struct bio *bio)
{
	struct align_io *io = bio->bi_private;
	struct align_block *block, *tmp;

	if (bio->bi_status) {
		job_init(&io->write.apart, joined_send_apart);
		job_queue(&io->at->engine.jobs, &io->write.apart);
		return;
	}
	bio_put(bio);
	list_for_each_entry_safe(block, tmp, &io->write.joined, list) {
		list_del_init(&block->list);
		block_served(block, BLK_STS_OK);
	}
	piece_put(io);
}

/*
 * Make io->write.joined_bio, for blocks that are complete and the first piece
 * of the remainder behind them. Return: sectors of that piece, or 0 if that is
 * not possible; then the blocks go without it.
 */
static sector_t joined_new(struct align_io *io)
{
	struct align_target *at = io->at;
	u32 sectors = io->write.nr_joined * align_block_sectors(&at->geometry);
	unsigned int nr = io->write.nr_joined * buffer_nr_vecs(at);
	unsigned int bytes = 0;
	struct align_block *block;
	struct bvec_iter iter;
	struct bio_vec bv;
	struct bio *bio = NULL;
	bool held = false;
	sector_t n;

	n = align_cut(&at->geometry, io->write.unsent.bi_sector,
		      piece_fit(io, io->write.unsent.bi_sector,
				io->write.unsent, io->write.nr_joined),
		      io_unsent(io));
	io->write.joined_iter = io->write.unsent;
	io->write.joined_iter.bi_size = n << SECTOR_SHIFT;
	__bio_for_each_bvec(bv, io->bio, iter, io->write.joined_iter)
		nr++;
	if (n && nr <= BIO_MAX_VECS)
		bio = bio_alloc_bioset(at->dev->bdev, nr,
				       io->bio->bi_opf & ~ALIGN_DROPPED_FLAGS,
				       GFP_NOWAIT, &at->joined);
	if (!bio) {
		runs_write(at, &io->write.joined, io->write.nr_joined);
		io->write.nr_joined = 0;
		return 0;
	}
	list_for_each_entry(block, &io->write.joined, list) {
		bio->bi_opf |= block_patch(block);
		bytes += block_sent_bytes(block);
		held |= block->held;
		buffer_add_to_bio(at, block->vecs, 0,
				  align_block_sectors(&at->geometry), bio);
	}
	joined_add_piece(io, bio);
	if (held)
		bio_charge_no_cgroup(bio);
	bio->bi_iter.bi_sector = io->write.unsent.bi_sector - sectors;
	bio->bi_end_io = joined_end;
	io->write.joined_bio = bio;
	ledger_add(at->ledger, pad_writes, io->write.nr_joined);
	ledger_add(at->ledger, sent_block_bytes, bytes);
	return n;
}

/* Allocate the next piece of a remainder, or NULL; the last one needs no memory. */
static struct bio *piece_new(struct align_io *io, bool last, gfp_t gfp)
{
	struct align_target *at = io->at;

	if (!last)
		return bio_alloc_clone(at->dev->bdev, io->bio, gfp,
				       &at->pieces);
	return bio_init_clone(at->dev->bdev, &io->write.last_piece, io->bio,
			      gfp) ? NULL : &io->write.last_piece;
}

/*
 * Whether one request of the device below may be smaller than the remainder of
 * a bio.
 */
static bool io_is_cut(const struct align_io *io)
{
	return bio_op(io->bio) == REQ_OP_WRITE || align_io_is_zeroes(io);
}

/*
 * Advance a remainder by @n sectors, about to be sent. Return: they are its
 * last.
 */
static bool remainder_advance(struct align_io *io, sector_t n)
{
	bool last = n == io_unsent(io);

	if (!last)
		ledger_inc(io->at->ledger, cuts);
	bio_advance_iter(io->bio, &io->write.unsent, n << SECTOR_SHIFT);
	atomic_inc(&io->write.pieces);
	return last;
}

/*
 * The device below splits the next block of a remainder, and only this; of
 * write-zeroes every block, so that there is nothing to gain from pieces.
 * Return: sectors to send.
 */
static sector_t remainder_uncut(const struct align_io *io)
{
	struct align_target *at = io->at;
	const struct align_geometry *g = &at->geometry;
	sector_t n;

	if (align_io_is_zeroes(io)) {
		ledger_add(at->ledger, uncut,
			   align_block_bytes(g, io->write.unsent.bi_sector,
					     io_unsent(io)) >>
			   (g->block_shift + SECTOR_SHIFT));
		return io_unsent(io);
	}
	ledger_inc(at->ledger, uncut);
	n = align_block_sectors(g) -
	    align_sector_in_block(g, io->write.unsent.bi_sector);
	return min(n, io_unsent(io));
}

/* Whether a copy lies in the reserve, and not in memory of its own. */
static bool copy_is_reserve(const struct align_io *io, const struct bio *bio)
{
	const struct bio_vec *vecs = io->at->engine.spare.vecs;

	return bio->bi_io_vec[0].bv_page == vecs[0].bv_page &&
	       bio->bi_io_vec[0].bv_offset == vecs[0].bv_offset;
}

static void copy_end(struct bio *bio)
{
	struct align_io *io = bio->bi_private;

	if (copy_is_reserve(io, bio)) {
		spare_put_reserve(&io->at->engine.spare);
	} else {
		buffer_free(io->at, bio->bi_io_vec);
		block_charge(io->at, -(s64)io->at->geometry.physical);
	}
	piece_end(bio);
}

/*
 * Allocate a bio for the copy of a block, with memory of its own or the reserve. Return:
 * NULL if there is neither, and io->job is queued when it is its turn to try again.
 */
static struct bio *copy_new(struct align_io *io, gfp_t gfp)
{
	struct align_target *at = io->at;
	unsigned int nr = buffer_nr_vecs(at);
	struct bio_vec *vecs;
	struct bio *bio;

	bio = bio_alloc_bioset(at->dev->bdev, nr,
			       io->bio->bi_opf & ~ALIGN_DROPPED_FLAGS, gfp,
			       &at->pieces);
	if (!bio) {
		job_queue(&at->engine.jobs, &io->job);
		return NULL;
	}
	bio->bi_vcnt = nr;
	bio->bi_iter.bi_size = at->geometry.physical;
	if (buffer_alloc(at, bio->bi_io_vec, BUFFER_GFP)) {
		block_charge(at, at->geometry.physical);
		bio_clone_blkg_association(bio, io->bio);
		return bio;
	}
	vecs = spare_get_reserve(&at->engine.spare, &io->job);
	if (!vecs) {
		bio_put(bio);
		return NULL;
	}
	memcpy(bio->bi_io_vec, vecs, nr * sizeof(*vecs));
	/* Requests of other cgroups wait for the reserve. */
	bio_charge_no_cgroup(bio);
	return bio;
}

/*
 * Send the next block of a remainder from memory of the target: the device below does not
 * take its bvecs, or could split the block only inside one of its logical blocks. Return:
 * false if there is no memory for that, and the work goes on when there is.
 */
static bool remainder_send_copy(struct align_io *io, gfp_t gfp, bool *last)
{
	struct align_target *at = io->at;
	struct bvec_iter from = io->write.unsent;
	struct bio *bio = copy_new(io, gfp);

	if (!bio)
		return false;
	from.bi_size = bio->bi_iter.bi_size;
	buffer_copy(at, bio->bi_io_vec, 0, io->bio, from);
	bio->bi_iter.bi_sector = io->write.unsent.bi_sector;
	bio->bi_ioprio = io->bio->bi_ioprio;
	align_set_placement(bio, align_placement(io->bio));
	bio->bi_private = io;
	bio->bi_end_io = copy_end;
	*last = remainder_advance(io, bio_sectors(bio));
	if (copy_is_reserve(io, bio))
		submit_bio_noacct(bio);
	else
		dm_submit_bio_remap(io->bio, bio);
	return true;
}

/*
 * Send the rest of a remainder. Where memory cannot be had without waiting,
 * the work goes on: outside map, the pieces that it waits for are on their
 * way and need nothing from us to end.
 */
static void remainder_send(struct align_io *io, gfp_t gfp)
{
	struct align_target *at = io->at;
	unsigned int pieces = 0;
	bool last = false;

	if (io->write.nr_joined && !io->write.joined_bio) {
		sector_t n = joined_new(io);

		if (n) {
			last = remainder_advance(io, n);
			submit_bio_noacct(io->write.joined_bio);
		}
	}
	while (!last) {
		sector_t left = io_unsent(io);
		struct bio *bio = NULL;
		sector_t n = left;

		if (io_is_cut(io))
			n = piece_cut(io, io->write.unsent.bi_sector,
				      io->write.unsent);
		if (!n && align_offers_smaller(at) &&
		    bio_op(io->bio) == REQ_OP_WRITE) {
			if (gfp == GFP_NOWAIT && pieces++ >= MAP_PIECES) {
				job_queue(&at->engine.jobs, &io->job);
				return;
			}
			if (!remainder_send_copy(io, gfp, &last))
				return;
			continue;
		}
		if (!n)
			n = remainder_uncut(io);
		if (gfp != GFP_NOWAIT || n == left ||
		    pieces++ < MAP_PIECES)
			bio = piece_new(io, n == left, gfp);
		if (!bio) {
			job_queue(&at->engine.jobs, &io->job);
			return;
		}
		bio->bi_opf &= ~ALIGN_DROPPED_FLAGS;
		bio->bi_iter = io->write.unsent;
		bio->bi_iter.bi_size = n << SECTOR_SHIFT;
		bio->bi_private = io;
		bio->bi_end_io = piece_end;

		last = remainder_advance(io, n);
		dm_submit_bio_remap(io->bio, bio);
	}

	piece_put(io);
}

/* Send a range that may go down now, or a remainder that map could not send. */
static void range_job(struct align_job *job)
{
	struct align_io *io = container_of(job, struct align_io, job);

	struct align_spare *spare = &io->at->engine.spare;

	if (io->write.split_up) {
		remainder_send(io, GFP_NOIO);
		/* If it waited for that, it may not have taken it. */
		spare_wake(spare);
	} else {
		dm_submit_bio_remap(io->bio, NULL);
	}
}

/* Fill in the blocks of the sectors of a range. */
static void range_set_blocks(struct align_io *io)
{
	const struct align_geometry *g = &io->at->geometry;

	io->write.range[0].first = align_block_of(g, io->write.start);
	io->write.range[0].last = align_block_of(g, io->write.end - 1);
}

/* Go on with the rest of a remainder, of which the first part has ended. */
static void range_next_job(struct align_job *job)
{
	struct align_io *io = container_of(job, struct align_io, job);
	struct align_target *at = io->at;
	struct align_write *w = &io->write;
	struct shard_span span;
	unsigned long flags;
	bool go, count;

	w->start = w->end;
	w->end += w->behind;
	w->unsent.bi_size = w->behind << SECTOR_SHIFT;
	w->behind = 0;
	range_set_blocks(io);
	atomic_set(&w->pieces, 1);
	job_init(&io->job, range_job);
	span = shard_span(at, w->range[0].first, w->range[0].last);
	span_lock(at, &span, &flags);
	go = blocks_add_range(io);
	count = !go && !w->waited;
	w->waited |= !go;
	span_unlock(at, &span, flags);
	/* If it has to wait, it may be sent and end at any time from here. */
	if (count)
		ledger_inc(at->ledger, waits);
	ledger_inc(at->ledger, cuts);
	if (go)
		remainder_send(io, GFP_NOIO);
}

/* Return the part of @io's bytes that starts at @sector. */
static struct bvec_iter io_iter_at(const struct align_io *io, sector_t sector,
				   sector_t sectors)
{
	struct bvec_iter iter = io->bio->bi_iter;

	bio_advance_iter(io->bio, &iter,
			 (sector - iter.bi_sector) << SECTOR_SHIFT);
	iter.bi_size = sectors << SECTOR_SHIFT;
	return iter;
}

/*
 * Return why a touch of @block must go down unmodified, or RMW_HOW_NR. Limits
 * can have fallen since the mode was accepted.
 */
static enum rmw_how refuse_touch(const struct align_target *at, u64 block)
{
	const struct align_geometry *g = &at->geometry;
	struct align_limits lim;

	/* The part inside is written, and split at the device's own blocks only. */
	if (align_offers_smaller(at))
		return RMW_HOW_NR;
	if (align_is_edge(g, block))
		return RMW_DRIVE_EDGE;
	align_get_limits(at, &lim);
	return align_block_fits(g, &lim, block, PAGE_SIZE) ?
		RMW_HOW_NR : RMW_DRIVE_LIMITS;
}

/*
 * Whether a write goes on where another one has ended a short time ago. Only a
 * hint, so that other writers need not be kept out.
 */
static bool continues_stream(struct align_streams *streams, sector_t start,
			     sector_t end)
{
	unsigned int i;

	for (i = 0; i < ALIGN_STREAMS; i++) {
		if (READ_ONCE(streams->ends[i]) == start) {
			WRITE_ONCE(streams->ends[i], end);
			return true;
		}
	}
	i = READ_ONCE(streams->next);
	WRITE_ONCE(streams->ends[i % ALIGN_STREAMS], end);
	WRITE_ONCE(streams->next, i + 1);
	return false;
}

/**
 * align_engine_is_quiet - count a write where no block is in memory
 * @io: a write of whole blocks, in a fixing mode
 * @first: the first block of the write
 * @last: the last block of the write
 *
 * Discards and write-zeroes do not come here: they can take long, and each block
 * that is made meanwhile would wait for them. So would each for a write that waits for
 * a limit of its cgroup.
 *
 * Return: whether the write is counted; it goes down at once then, and no range is
 * registered for it.
 */
bool align_engine_is_quiet(struct align_io *io, u64 first, u64 last)
{
	struct align_target *at = io->at;
	unsigned int area = area_index(at, first);
	bool left;

	if (!area_is_same(at, first, last) ||
	    align_may_be_throttled(at, io->bio))
		return false;
	io->write.area = area;
	io->write.quiet = quiet_enter(&at->engine.quiet, area, &left);
	if (left)
		blocks_end_quiet(at, area);
	return io->write.quiet;
}

/*
 * Leave out the ends of a discard that are parts of logical blocks of the device below.
 */
static void round_discard(const struct align_target *at, sector_t *start,
			  sector_t *end)
{
	sector_t mask = at->lower_mask;

	*start = (*start + mask) & ~mask;
	*end = max(*end & ~mask, *start);
}

/**
 * align_engine_map - map a write, discard or write-zeroes in a fixing mode
 * @io: the bio; the gate is entered
 *
 * Return: DM_MAPIO_REMAPPED if io->bio may go down as it is now,
 * DM_MAPIO_SUBMITTED if it will be ended here.
 */
int align_engine_map(struct align_io *io)
{
	struct align_target *at = io->at;
	const struct align_geometry *g = &at->geometry;
	struct align_write *w = &io->write;
	struct bio *bio = io->bio;
	sector_t start = bio->bi_iter.bi_sector;
	sector_t end = bio_end_sector(bio);
	bool write = bio_op(bio) == REQ_OP_WRITE;
	bool zeroes = align_io_is_zeroes(io);
	struct align_split split;
	bool nowait = bio->bi_opf & REQ_NOWAIT;
	bool over, stream, split_up, go = true;
	u64 run_first = 0, run_last = 0;
	unsigned int handled = 0;
	struct shard_span span;
	unsigned long flags;
	LIST_HEAD(started);
	unsigned int i;

	align_split_write(g, start, end - start, &split);
	/* A drive need not do a part of a block that is discarded. */
	if (!write && !zeroes) {
		split.nr_touches = 0;
		round_discard(at, &start, &end);
	}
	if (zeroes)
		over = piece_cut(io, start, bio->bi_iter) < end - start;
	else
		over = write && align_over_limits(io);

	/* The engine may wait for a request; a write that needs it must not be NOWAIT. */
	if (nowait && (split.nr_touches || over ||
		       end - start < bio_sectors(bio)))
		return align_refuse_nowait(io);
	/* A block may wait for this, and only its sender would poll it. */
	bio_clear_polled(bio);
	if (!nowait)
		align_io_count(io, &split, over);
	/* Not the blocks of its touches, which need their cached content. */
	if (split.remainder_sectors)
		blocks_evict_range(at, align_block_of(g, split.remainder_start),
				   align_block_of(g, split.remainder_start +
						  split.remainder_sectors - 1));

	w->nr_touches = split.nr_touches;
	w->may_hold = split.nr_touches &&
		       READ_ONCE(at->mode) == ALIGN_COALESCE &&
		       hold_allowed(at, bio);
	w->awaited = split.nr_touches;
	if (w->awaited)
		atomic_inc(&at->engine.delay.writes);
	INIT_LIST_HEAD(&w->joined);
	w->nr_joined = 0;
	w->joined_bio = NULL;
	w->status = BLK_STS_OK;
	atomic_set(&w->parts, 1);
	atomic_set(&w->pieces, 1);
	job_init(&io->job, range_job);
	for (i = 0; i < split.nr_touches; i++) {
		struct align_touch *touch = &w->touch[i];
		sector_t sector = start;
		struct bvec_iter iter;

		touch->io = io;
		touch->part = split.touch[i];
		touch->late = false;
		touch->cut = false;
		touch->held = false;
		touch->starved = false;
		touch->block = NULL;
		touch->how = refuse_touch(at, touch->part.block);
		/* The write goes down whole then, as a range like any other. */
		if (bio->bi_opf & REQ_ATOMIC)
			touch->how = RMW_DRIVE_ATOMIC;
		if (touch->part.block != split.first_block)
			sector = end - touch->part.count;
		iter = io_iter_at(io, sector, touch->part.count);
		touch->idx = iter.bi_idx;
		touch->done = iter.bi_bvec_done;
		touch->fresh = NULL;
		if (touch->how == RMW_HOW_NR)
			touch->fresh = blocks_get_fresh(at, touch->part.block);
	}

	/* Used after the write may have ended. */
	span = shard_span(at, split.first_block, split.last_block);
	w->span = span;
	span_lock(at, &span, &flags);
	w->drops = hold_drops(at);
	if (nowait) {
		if (blocks_would_wait(at, bio, split.first_block,
				      split.last_block)) {
			span_unlock(at, &span, flags);
			return align_refuse_nowait(io);
		}
		align_io_count(io, &split, over);
	}
	stream = split.nr_touches && continues_stream(&at->engine.streams, start, end);
	for (i = 0; i < split.nr_touches; i++) {
		struct align_touch *touch = &w->touch[i];

		/* The touch ends inside the block: the next write may complete it. */
		if (touch->part.first + touch->part.count <
		    align_block_sectors(g)) {
			touch->late = stream;
			/* So the block layer marks the first part of a bio. */
			touch->cut = zeroes && (bio->bi_opf & REQ_NOMERGE);
		}
		if (touch->how != RMW_HOW_NR)
			continue;
		switch (blocks_add_touch(touch, &span, &started)) {
		case TOUCH_REFUSED:
			if (!align_offers_smaller(at))
				continue;
			starved_add(touch);
			atomic_inc(&w->parts);
			break;
		case TOUCH_TAKEN:
			atomic_inc(&w->parts);
			break;
		case TOUCH_HELD:
			break;
		}
		if (touch->part.block == split.first_block)
			start += touch->part.count;
		else
			end -= touch->part.count;
		handled++;
	}
	w->behind = 0;
	if (start < end) {
		w->unsent = io_iter_at(io, start, end - start);
		run_first = align_block_of(g, start);
		run_last = align_block_of(g, end - 1);
		w->start = start;
		w->end = end;
		range_set_blocks(io);
		atomic_inc(&w->parts);
		go = blocks_add_range(io);
		/*
		 * The block in front of the remainder, if that is complete by now.
		 * Write-zeroes can carry nothing.
		 */
		if (go && handled && !zeroes &&
		    start > bio->bi_iter.bi_sector && w->touch[0].block)
			w->nr_joined = start_take_whole(w->touch[0].block,
							&started, &w->joined);
	} else if (handled == 2 && w->touch[1].held && w->touch[0].block) {
		hold_for_stream(w->touch[0].block, &started);
	}
	split_up = handled || over || w->behind || end - start < bio_sectors(bio);
	w->split_up = split_up;
	w->waited = !go;
	/*
	 * A remainder that waits may go down and end at any time behind the unlock, and
	 * the target be removed.
	 */
	for (i = 0; i < split.nr_touches; i++) {
		blocks_put_fresh(at, split.touch[i].block, w->touch[i].fresh);
		w->touch[i].fresh = NULL;
	}
	span_unlock(at, &span, flags);

	if (!go)
		ledger_inc(at->ledger, waits);
	if (write && start < end)
		ledger_add(at->ledger, sent_block_bytes,
			   align_blocks_bytes(g, run_first, run_last));
	if (!split_up)
		return go ? DM_MAPIO_REMAPPED : DM_MAPIO_SUBMITTED;

	start_late(at, &started);
	if (start < end && go)
		remainder_send(io, GFP_NOWAIT);
	align_io_put(io, BLK_STS_OK);
	return DM_MAPIO_SUBMITTED;
}
