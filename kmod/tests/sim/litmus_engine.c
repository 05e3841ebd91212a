// SPDX-License-Identifier: GPL-2.0
/*
 * Litmus tests of parts of the engine: its functions as they are, of which the
 * Makefile makes the static ones global.
 */
#include "align.h"
#include "block_state.h"
#include "hold.h"
#include "gate.h"
#include "litmus.h"
#include "node.h"
#include "parts.h"
#include "shim.h"

#define WORDS	16

/* Functions of bounce.c, held.c, overlay.c, run.c and write.c that no header has. */
void read_put(struct align_io *io, blk_status_t status);
void hold_end(struct align_block *block);
void block_unpin(struct align_block *block);
bool block_needs_spare(const struct align_block *block);
void piece_end(struct bio *bio);

static unsigned int mode;
static struct align_gate gate;
static struct align_io io, write_io, read_io;
static struct bio bio, write_bio, read_bio;
static struct align_node node;

/* A target of two held blocks: @block, and one that is always in flight. */
static struct holder {
	struct align_target at;
	struct align_block block;
} ends, fails;

static struct align_block pinned;
/* Areas of the device: nothing is counted in the one, a write in the other. */
#define AREA_EMPTY	1
#define AREA_USED	2
static struct align_quiet quiet;
static u64 buffer[WORDS], copy[WORDS];
static struct bio *piece[2];

static void holder_begin(struct holder *holder, bool failed)
{
	struct align_target *at = &holder->at;
	struct align_held *held = &at->engine.held;
	struct align_block *block = &holder->block;
	struct rb_root_cached *resting;
	struct align_shard *shard;

	memset(holder, 0, sizeof(*holder));
	at->ledger = &node.ledger;
	spin_lock_init(&held->lock);
	init_waitqueue_head(&held->at_rest);
	waiters_init(&held->waiters);
	block->single.at = at;
	block->failed = failed;
	block->held = 1;
	shard = block_shard(block);
	spin_lock_init(&shard->lock);
	INIT_LIST_HEAD(&block->list);
	INIT_LIST_HEAD(&block->by_age);
	resting = failed ? &shard->failed : &shard->resting;
	rb_link_node(&block->rest, NULL, &resting->rb_root.rb_node);
	rb_insert_color_cached(&block->rest, resting, true);
	held->nr = 2;
	/* Another block has failed, so the target stays degraded. */
	held->nr_failed = 2;
	atomic_set(failed ? &held->nr_idle : &held->nr_resting, 1);
}

/* The end of the write or read: whether it is told no error. */
static void bio_ends(struct bio *ended)
{
	R(0, 0) = !ended->bi_status;
}

void litmus_engine_begin(void)
{
	unsigned int i;
	int cpu;

	mode = 0;
	memset(&gate, 0, sizeof(gate));
	gate_init(&gate);
	memset(&io, 0, sizeof(io));
	io.bio = &bio;
	bio.bi_opf = REQ_OP_WRITE | REQ_NOWAIT;
	memset(&node, 0, sizeof(node));
	node.md = shim_md_new("litmus", 1);
	node.disk = dm_disk(node.md);
	node.unflushed = true;
	ledger_init(&node.ledger);
	/* To make one is fully ordered, which would hide a barrier that lacks. */
	for_each_possible_cpu(cpu)
		*per_cpu_ptr(node.ledger.share, cpu) =
			kzalloc(sizeof(struct ledger_share), GFP_NOIO);
	holder_begin(&ends, true);
	holder_begin(&fails, false);
	memset(&quiet, 0, sizeof(quiet));
	quiet_init(&quiet);
	per_cpu_ptr(quiet.cpu, 0)->writes[AREA_USED] = 1;
	memset(&pinned, 0, sizeof(pinned));
	pinned.pins = 1;
	memset(buffer, 0, sizeof(buffer));
	memset(copy, 0, sizeof(copy));
	/* More parts than are ended: the write itself does not end here. */
	atomic_set(&io.write.parts, 3);
	atomic_set(&io.write.pieces, 2);
	for (i = 0; i < ARRAY_SIZE(piece); i++) {
		piece[i] = bio_alloc(NULL, 1, REQ_OP_WRITE, GFP_KERNEL);
		piece[i]->bi_private = &io;
	}
	piece[0]->bi_status = BLK_STS_IOERR;
	memset(&write_io, 0, sizeof(write_io));
	memset(&write_bio, 0, sizeof(write_bio));
	write_io.bio = &write_bio;
	write_io.at = &ends.at;
	write_io.write.nr_touches = 1;
	/* The write's held touches have been dropped since. */
	write_io.write.drops = -1;
	atomic_set(&write_io.write.parts, 2);
	write_bio.bi_end_io = bio_ends;
	memset(&read_io, 0, sizeof(read_io));
	memset(&read_bio, 0, sizeof(read_bio));
	read_io.bio = &read_bio;
	atomic_set(&read_io.read.parts, 2);
	read_bio.bi_end_io = bio_ends;
	smp_mb();
}

/*
 * The gate: a writer that is inside when the gate has drained once came in after the
 * mode was set, and must see that.
 */
static void enter_gate(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		unsigned int found;

		if (gate_enter(&gate, &io))
			continue;
		found = READ_ONCE(mode);
		if (R(1, 0) && !found)
			R(0, 0) = 1;
		gate_leave(&gate);
	}
}

static void set_mode(void)
{
	struct bio_list deferred = BIO_EMPTY_LIST;

	gate_close(&gate);
	R(1, 0) = 1;
	WRITE_ONCE(mode, 1);
	gate_open(&gate, &deferred);
}

static bool saw_old_mode(void)
{
	return R(0, 0);
}

/* The node is asked while no opener is there, and an opener comes. */
static void look_at_openers(void)
{
	node_is_flushed(&node);
}

static void open_device(void)
{
	WRITE_ONCE(dm_disk(node.md)->openers, 1);
	smp_mb();
	node_sees_cache(&node);
}

static bool opener_forgotten(void)
{
	return !node.unflushed;
}

/* A failed block is given up, while the other one is in flight. */
static void end_block(void)
{
	struct align_shard *shard = block_shard(&ends.block);

	spin_lock_irq(&shard->lock);
	hold_leave(&ends.block);
	hold_end(&ends.block);
	spin_unlock_irq(&shard->lock);
}

static void look_beside_end(void)
{
	R(1, 0) = hold_is_at_rest(&ends.at.engine.held);
}

/* A block that rested was written, which failed, while the other one is in flight. */
static void fail_block(void)
{
	struct align_block *block = &fails.block;
	struct align_shard *shard = block_shard(block);

	spin_lock_irq(&shard->lock);
	hold_leave(block);
	block->failed = true;
	hold_rest(block);
	spin_unlock_irq(&shard->lock);
}

static void look_beside_failure(void)
{
	R(1, 0) = hold_is_at_rest(&fails.at.engine.held);
}

static bool quiet_in_flight(void)
{
	return R(1, 0);
}

/* A write comes to an area, in which a block is made. */
static void count_write(void)
{
	bool left;

	R(0, 0) = quiet_enter(&quiet, AREA_EMPTY, &left);
}

static void make_busy(void)
{
	R(1, 0) = quiet_end(&quiet, AREA_EMPTY);
}

static bool write_unseen(void)
{
	return R(0, 0) && !R(1, 0);
}

/* The last write that was counted ends, while a block is made. */
static void end_write(void)
{
	R(0, 0) = quiet_leave(&quiet, AREA_USED);
}

static void make_used_busy(void)
{
	R(1, 0) = quiet_end(&quiet, AREA_USED);
}

/* The counted write was of a device that is memory, which a pad read looks at. */
static void write_and_end(void)
{
	buffer[0] = 1;
	quiet_leave(&quiet, AREA_USED);
}

static void make_used_busy_and_read(void)
{
	R(1, 0) = quiet_end(&quiet, AREA_USED);
	R(1, 1) = READ_ONCE(buffer[0]);
}

static bool read_old(void)
{
	return !R(1, 0) && !R(1, 1);
}

static bool end_unseen(void)
{
	return !R(0, 0) && R(1, 0);
}

/* A read takes bytes from a block's buffer, and a run reads into that. */
static void copy_and_unpin(void)
{
	memcpy(copy, buffer, sizeof(copy));
	block_unpin(&pinned);
}

static void reuse_buffer(void)
{
	unsigned int i;

	if (block_needs_spare(&pinned))
		return;
	for (i = 0; i < WORDS; i++)
		buffer[i] = 1;
}

static bool copied_what_came_later(void)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		if (copy[i])
			return true;
	return false;
}

/* Two pieces of a write end, the one with an error. */
static void end_bad_piece(void)
{
	piece_end(piece[0]);
}

static void end_good_piece(void)
{
	piece_end(piece[1]);
}

/* In place of turn.c's: the context that ends the last piece tells the range's result. */
void __wrap_blocks_end_range(struct align_io *ended, bool ok);
void __wrap_blocks_end_range(struct align_io *ended, bool ok)
{
	R(0, 0) = ok;
}

/* Two parts of a write, of which the one is held, so that the write must not end well. */
static void end_held_touch(void)
{
	write_io.write.touch[0].held = true;
	align_io_put(&write_io, BLK_STS_OK);
}

static void end_part(void)
{
	align_io_put(&write_io, BLK_STS_OK);
}

/* Two parts of a read, of which the one fails. */
static void end_bad_part(void)
{
	read_put(&read_io, BLK_STS_IOERR);
}

static void end_good_part(void)
{
	read_put(&read_io, BLK_STS_OK);
}

static bool error_lost(void)
{
	return R(0, 0);
}

/* The drain of a block that has failed is not part of this. */
bool __wrap_queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool __wrap_queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	smp_mb();
	return true;
}

const struct litmus litmus_engine_tests[] = {
	NEVER("engine: gate and mode", saw_old_mode, enter_gate, set_mode),
	NEVER("engine: node and opener", opener_forgotten, look_at_openers,
	      open_device),
	NEVER("engine: a failed block ends", quiet_in_flight, end_block,
	      look_beside_end),
	NEVER("engine: a block fails", quiet_in_flight, fail_block,
	      look_beside_failure),
	NEVER("engine: the buffer of a pinned block", copied_what_came_later,
	      copy_and_unpin, reuse_buffer),
	NEVER("engine: a write is counted", write_unseen, count_write, make_busy),
	NEVER("engine: a counted write ends", end_unseen, end_write,
	      make_used_busy),
	NEVER("engine: what a counted write wrote", read_old, write_and_end,
	      make_used_busy_and_read),
	NEVER("engine: the pieces of a write", error_lost, end_bad_piece,
	      end_good_piece),
	NEVER("engine: the parts of a write", error_lost, end_held_touch,
	      end_part),
	NEVER("engine: the parts of a read", error_lost, end_bad_part,
	      end_good_part),
};

const unsigned int litmus_engine_nr = ARRAY_SIZE(litmus_engine_tests);
