// SPDX-License-Identifier: GPL-2.0
/*
 * Lives with hundreds of blocks, or requests of one block, which the engine may visit
 * under one holding of a lock: as many as a medium of this size has.
 */
#include <string.h>

#include "media.h"
#include "plan.h"

/* Requests that a thread has in flight. */
#define DEPTH		64U
/* hold_ms of blocks that are to stay held: longer than a world lasts. */
#define LONG_MS		100000U

static bool one_in(unsigned int n)
{
	return !plan_chance(n);
}

/* Small blocks, of which there are many; or large ones, with many sectors. */
void plan_bounds_life(struct world_plan *plan)
{
	static const unsigned int granules[] = { 0, 0, 8, 64, 256 };
	unsigned int block;

	plan->physical = one_in(3) ? 16384 : 1024;
	block = plan->physical / 512;
	plan->offset = one_in(3) ? 512 : 0;
	plan->granule = block *
		granules[plan_chance(sizeof(granules) / sizeof(*granules))];
	plan->start = plan->base;
	plan->sectors = MEDIA_SECTORS;
	plan->twin = 0;
}

static void set_op(const struct world_plan *plan, struct world_op *op,
		   enum world_op_kind kind, unsigned int first, unsigned int nr)
{
	unsigned char thread = op->thread;

	memset(op, 0, sizeof(*op));
	op->thread = thread;
	op->pieces = 1;
	op->kind = kind;
	if (kind == OP_FLUSH)
		return;
	op->first = (unsigned short)(first % plan->sectors);
	op->nr = (unsigned short)(nr > plan->sectors - op->first ?
				  plan->sectors - op->first : nr);
}

/* A request of all blocks, of very many, or a write of a part of one. */
static void plan_wide(const struct world_plan *plan, struct world_op *op,
		      unsigned int block)
{
	static const unsigned char kinds[] = {
		OP_READ, OP_READ, OP_DISCARD, OP_ZEROES, OP_WRITE, OP_FUA,
		OP_FLUSH, OP_FLUSH_FUA,
	};
	unsigned int blocks = plan->sectors / block;

	if (one_in(4)) {
		set_op(plan, op, OP_WRITE, plan_chance(plan->sectors), 1);
		return;
	}
	set_op(plan, op, kinds[plan_chance(sizeof(kinds))],
	       one_in(2) ? 0 : block * plan_chance(blocks),
	       one_in(2) ? plan->sectors : block * (1 + plan_chance(blocks)));
	op->wait = one_in(2);
	op->nowait = one_in(8);
}

/* Parts of block after block are held, then requests concern all of them. */
static void plan_many_blocks(struct world_plan *plan, unsigned int block)
{
	unsigned int fill = plan->nr_ops - 20, i;
	bool whole = one_in(3);

	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		if (i < fill)
			set_op(plan, op, OP_WRITE, 2 * block * i + (whole ? 0 : 1),
			       2 * block - (whole ? 0 : 2));
		else
			plan_wide(plan, op, block);
	}
}

/*
 * Each write of a stream completes a block and begins the next one, and whole blocks
 * wait for those that follow.
 */
static void plan_streams(struct world_plan *plan, unsigned int block)
{
	unsigned int apart, i;

	plan->threads = 1 + plan_chance(3);
	apart = plan->sectors / plan->threads / block * block;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];
		unsigned int nth = i / plan->threads;

		op->thread = (unsigned char)(i % plan->threads);
		set_op(plan, op, OP_WRITE, op->thread * apart + nth * block + 1,
		       block);
		op->wait = one_in(8);
	}
}

/* Pairs of writes: the second goes on with the first, and its last block is delayed. */
static void plan_pairs(struct world_plan *plan, unsigned int block)
{
	unsigned int i;

	plan->mode = 1;
	plan->threads = WORLD_THREADS;
	plan->slow_one_in = 2;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];
		unsigned int pair = i / 2;

		op->thread = (unsigned char)(pair % plan->threads);
		set_op(plan, op, OP_WRITE,
		       block * (4 * pair + (i % 2 ? 1 : 0)) + 1, block);
	}
}

/* Requests of the sectors of one block, beside flushes of it. */
static void plan_one_block(struct world_plan *plan, unsigned int block)
{
	static const unsigned char kinds[] = {
		OP_WRITE, OP_WRITE, OP_WRITE, OP_DISCARD, OP_READ, OP_FLUSH,
	};
	unsigned int few = 1 + plan_chance(sizeof(kinds)), i;
	unsigned int begin = plan_chance(sizeof(kinds));

	plan->slow_one_in = 2;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];
		unsigned int kind = begin + plan_chance(few);

		set_op(plan, op, kinds[kind % sizeof(kinds)],
		       plan_chance(block), 1);
		if (one_in(16) && op->kind != OP_FLUSH)
			set_op(plan, op, OP_FUA, 0, block);
	}
}

/* Very many flushes wait for some held blocks, and something ends that for all. */
static void plan_waiters(struct world_plan *plan, unsigned int block)
{
	bool hangs = one_in(2);
	unsigned int i;

	plan->threads = WORLD_THREADS;
	plan->slow_one_in = 2;
	plan->inline_end = false;
	/* A reboot that waits no longer, or a message that gives up failed blocks. */
	plan->reboot = hangs;
	plan->hang_at = hangs ? 1 + plan_chance(40) : 0;
	plan->hang_ms = 60000;
	plan->bad_nr = hangs ? 0 : plan->sectors / 4;
	plan->bad_first = plan->start;
	plan->nr_events = sizeof(plan->event);
	memset(plan->event, hangs ? EVENT_HOLD_MS : EVENT_DROP_FAILED,
	       sizeof(plan->event));
	for (i = 0; i < plan->nr_ops; i++)
		plan->op[i].thread = (unsigned char)(i % plan->threads);
	for (i = 0; i < plan->nr_ops; i++)
		set_op(plan, &plan->op[i], i < plan->nr_ops / 8 ? OP_WRITE :
		       OP_FLUSH, 2 * block * i + 1, 1);
}

/* Nothing else happens, or any event, or the limit of blocks changes and all is written. */
static void plan_changes(struct world_plan *plan)
{
	unsigned int i;

	if (one_in(2))
		plan->nr_events = 0;
	else if (one_in(2))
		return;
	for (i = 0; i < plan->nr_events; i++)
		plan->event[i] = i % 2 ? EVENT_FLUSH : EVENT_MAX_BLOCKS;
}

void plan_bounds(struct world_plan *plan, unsigned int block)
{
	unsigned int i;

	plan->mode = one_in(6) ? 1 : 2;
	plan->max_blocks = 4 * MEDIA_SECTORS;
	plan->hold_ms = one_in(4) ? 1 + plan_chance(20) : LONG_MS;
	plan->max_sectors = one_in(4) ? 8 * block : 4 * MEDIA_SECTORS;
	plan->zeroes = MEDIA_SECTORS;
	plan_alone(plan);
	plan->nowait_one_in = 0;
	plan->error_one_in = 0;
	plan->bad_nr = one_in(4) ? block * (1 + plan_chance(200)) : 0;
	plan->bad_first = plan->start + block * plan_chance(200);
	plan->slow_one_in = 0;
	plan->hang_at = 0;
	plan->tags = 256;
	plan->cut_after = 0;
	plan->reboot = one_in(6);
	plan->streams = false;
	plan->threads = one_in(2) ? 1 : 1 + plan_chance(WORLD_THREADS);
	plan->depth = DEPTH;
	plan->nr_ops = WORLD_OPS;
	plan_changes(plan);
	for (i = 0; i < plan->nr_ops; i++)
		plan->op[i].thread = (unsigned char)(i % plan->threads);
	if (plan->physical > 1024)
		(one_in(3) ? plan_waiters : plan_one_block)(plan, block);
	else
		(one_in(4) ? plan_streams : one_in(6) ? plan_pairs :
		 plan_many_blocks)(plan, block);
}
