// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "media.h"
#include "plan.h"

/* Chance of the plans, apart from that of the machine. */
static sim_u64 plan_state;
/* Chance of choices that were added later: a seed's older choices stay as they were. */
static sim_u64 later_state;
enum plan_focus plan_focus;

void plan_begin(sim_u64 seed)
{
	plan_state = plan_life(seed);
	later_state = ~plan_state;
}

static unsigned int chance_of(sim_u64 *state, unsigned int n)
{
	sim_u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return (unsigned int)((z >> 32) * n >> 32);
}

unsigned int plan_chance(unsigned int n)
{
	return chance_of(&plan_state, n);
}

static unsigned int later_chance(unsigned int n)
{
	return chance_of(&later_state, n);
}

/* A sector where a region begins: of the second shard, or of the first one again. */
static unsigned int plan_region(void)
{
	return (later_chance(2) ? world_shards : 1) * world_region_sectors;
}

static bool one_in(unsigned int n)
{
	return !plan_chance(n);
}

/* Have a request go to the twin; its first blocks are used most. */
static void plan_twin_op(const struct world_plan *plan, struct world_op *op,
			 unsigned int block)
{
	op->twin = true;
	op->first = (unsigned short)plan_chance(plan->twin < 3 * block ?
					  plan->twin : 3 * block);
	if (op->nr > plan->twin - op->first)
		op->nr = (unsigned short)(plan->twin - op->first);
}

static void plan_op(const struct world_plan *plan, struct world_op *op,
		    unsigned int hot, unsigned int block)
{
	/* Writes are most of it; a few blocks are used by all. */
	static const unsigned char kinds[] = {
		OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE,
		OP_READ, OP_READ, OP_READ, OP_FUA, OP_FLUSH, OP_FLUSH_FUA,
		OP_DISCARD, OP_ZEROES,
	};
	unsigned int lead = (plan->start + block -
			     (plan->offset >> 9)) % block;
	const struct world_op *last = NULL, *other;

	memset(op, 0, sizeof(*op));
	op->thread = (unsigned char)plan_chance(plan->threads);
	for (other = op; other-- > plan->op && !last;)
		if (other->thread == op->thread && other->kind != OP_FLUSH)
			last = other;
	op->kind = kinds[plan_chance(sizeof(kinds))];
	if (op->kind == OP_ZEROES && !plan->zeroes)
		op->kind = OP_WRITE;
	op->pieces = (unsigned char)(one_in(3) ? 1 + plan_chance(4) : 1);
	op->plug = one_in(4);
	op->wait = one_in(4);
	op->nowait = one_in(20);
	if (op->kind == OP_FLUSH)
		return;
	op->first = (unsigned short)(hot + plan_chance(3 * block));
	switch (plan_chance(8)) {
	case 0:		/* whole blocks */
		op->first = (unsigned short)(op->first -
					     (op->first + lead) % block);
		op->nr = (unsigned short)(block * (1 + plan_chance(3)));
		break;
	case 1:
		op->nr = (unsigned short)(1 + plan_chance(4 * block));
		break;
	default:
		op->nr = (unsigned short)(1 + plan_chance(block));
		break;
	}
	/* A stream goes on where it has ended. */
	if (plan->streams && last && !one_in(5)) {
		op->first = (unsigned short)(last->first + last->nr);
		op->kind = last->kind;
	}
	if (op->first > plan->sectors - 1)
		op->first = (unsigned short)plan_chance(plan->sectors);
	if (op->nr > plan->sectors - op->first)
		op->nr = (unsigned short)(plan->sectors - op->first);
	if (op->kind == OP_ZEROES && op->nr > plan->zeroes)
		op->nr = (unsigned short)plan->zeroes;
	if (plan->has_twin && one_in(3))
		plan_twin_op(plan, op, block);
}

/* The first sector of a device, behind its first, that begins a block. */
static unsigned int first_boundary(const struct world_plan *plan,
				   unsigned int block)
{
	return block - (plan->start + block - (plan->offset >> 9)) % block;
}

void plan_alone(struct world_plan *plan)
{
	unsigned int i;

	plan->stacked = false;
	plan->has_twin = false;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		op->twin = false;
		if (op->kind == OP_FLUSH)
			continue;
		op->first = (unsigned short)(op->first % plan->sectors);
		if (op->nr > plan->sectors - op->first)
			op->nr = (unsigned short)(plan->sectors - op->first);
	}
}

/*
 * Writes over a boundary with a bad block in front of it, and an administrator who
 * gives up failed blocks, again and again: the held part of a write fails while its
 * other part is in flight.
 */
static void plan_drops(struct world_plan *plan, unsigned int block)
{
	unsigned int edge = first_boundary(plan, block) + block, i;

	if (plan->sectors < 4 * block)
		return;
	plan->mode = 2;
	plan->hold_ms = 1;
	plan->max_blocks = 64;
	plan->nowait_one_in = 0;
	plan_alone(plan);
	plan->bad_first = plan->start + edge - block;
	plan->bad_nr = block;
	plan->slow_one_in = 2;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		if (op->kind != OP_WRITE && op->kind != OP_READ)
			continue;
		op->first = (unsigned short)(edge - 1 - plan_chance(block - 1));
		op->nr = (unsigned short)(edge - op->first + 1 +
					  plan_chance(block - 1));
		op->nowait = false;
	}
	plan->nr_events = sizeof(plan->event);
	memset(plan->event, EVENT_DROP_FAILED, sizeof(plan->event));
}

/*
 * Have reads begin in front of the border of two regions and end behind it, where
 * blocks are held, and written as a whole, so that the first part of a read meets
 * none of them.
 */
static void plan_border(struct world_plan *plan, unsigned int block)
{
	unsigned int border = world_border(plan) - plan->start, i;

	if (!plan->base || world_border(plan) < plan->start + block ||
	    border + 10 * block > plan->sectors)
		return;
	plan->slow_one_in = 4;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		if (op->kind == OP_READ) {
			op->first = (unsigned short)(border - 1 -
						     plan_chance(block));
			op->nr = (unsigned short)(border - op->first +
						  block * (4 + plan_chance(6)));
		} else if (op->kind == OP_WRITE) {
			op->first = (unsigned short)(border + block *
						     plan_chance(8));
			op->nr = (unsigned short)(one_in(3) ? block :
						  1 + plan_chance(block - 1));
		}
	}
}

/*
 * Reads across many held blocks, and hardly any memory: a read is taken in part.
 * Nothing else goes wrong, so that the ledger must be exact at the end.
 */
static void plan_memory(struct world_plan *plan, unsigned int block)
{
	unsigned int i;

	plan->mode = 2;
	plan->hold_ms = 500;
	plan->max_blocks = 64;
	plan->nowait_one_in = 3;
	plan_alone(plan);
	plan->error_one_in = 0;
	plan->bad_nr = 0;
	plan->cut_after = 0;
	plan->reboot = false;
	plan->nr_events = 0;
	for (i = 0; i < plan->nr_ops; i++)
		plan->op[i].nowait = false;
	plan_border(plan, block);
}

/*
 * Reads and writes of two blocks, and many flushes: reads are in flight below while
 * the blocks that they have pinned are written, and written again.
 */
static void plan_reads(struct world_plan *plan, unsigned int block)
{
	static const unsigned char kinds[] = {
		OP_READ, OP_READ, OP_READ, OP_WRITE, OP_WRITE, OP_FUA, OP_FLUSH,
	};
	unsigned int edge = first_boundary(plan, block) + block, i;

	if (plan->sectors < 4 * block)
		return;
	plan->mode = 2;
	plan->max_blocks = 64;
	plan->nowait_one_in = 0;
	plan_alone(plan);
	plan->error_one_in = 0;
	plan->bad_nr = 0;
	plan->slow_one_in = 2;
	plan->nr_events = 0;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];
		bool whole = one_in(8);

		op->kind = kinds[plan_chance(sizeof(kinds))];
		op->nowait = false;
		op->plug = false;
		op->first = (unsigned short)(edge - (whole ? block :
						     plan_chance(block)));
		op->nr = (unsigned short)(whole ? block : 1 + plan_chance(block));
		if (op->kind == OP_FLUSH) {
			op->first = 0;
			op->nr = 0;
		}
	}
}

/*
 * Writers without end on blocks that are soon too many to be held, whole blocks
 * among them, against one thread that writes a part of a block and flushes it.
 */
static void plan_flood(struct world_plan *plan, unsigned int block)
{
	static const unsigned char kinds[] = {
		OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_WRITE, OP_FLUSH,
	};
	unsigned int edge = first_boundary(plan, block), i;

	if (plan->sectors < 16 * block)
		return;
	plan->mode = 2;
	plan->max_blocks = 8 + plan_chance(24);
	plan->nowait_one_in = 0;
	plan_alone(plan);
	plan->error_one_in = 0;
	plan->bad_first = plan->start + edge + 6 * block;
	plan->bad_nr = one_in(2) ? 6 * block : 0;
	plan->slow_one_in = 0;
	plan->tags = 256;
	plan->cut_after = 0;
	plan->reboot = false;
	plan->nr_events = 0;
	plan->threads = WORLD_THREADS;
	plan->depth = 16;
	plan->flood = true;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		memset(op, 0, sizeof(*op));
		op->pieces = 1;
		/* Each thread has some operations to repeat. */
		op->thread = (unsigned char)(i % plan->threads);
		op->kind = kinds[plan_chance(sizeof(kinds))];
		op->first = (unsigned short)(edge + block * (1 + plan_chance(12)));
		op->nr = (unsigned short)block;
		if (one_in(2)) {
			op->first = (unsigned short)(op->first +
						     plan_chance(block - 1));
			op->nr = 1;
		}
		if (!op->thread) {
			op->kind = i / plan->threads % 2 ? OP_FLUSH : OP_WRITE;
			op->first = (unsigned short)edge;
			op->nr = 1;
			op->wait = true;
		}
		if (op->kind == OP_FLUSH) {
			op->first = 0;
			op->nr = 0;
		}
	}
}

/*
 * The same, but each writer writes a part of a block and discards it: a block for
 * which a discard waits is to be written at any time.
 */
static void plan_discards(struct world_plan *plan, unsigned int block)
{
	unsigned int edge = first_boundary(plan, block), i;
	unsigned int blocks = (plan->sectors - edge) / block - 1;

	plan->max_blocks = 256;
	plan->bad_nr = 0;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];
		unsigned int nth = i / plan->threads;

		if (!op->thread)
			continue;
		op->kind = nth % 2 ? OP_DISCARD : OP_WRITE;
		op->first = (unsigned short)(edge + block + block *
					     ((nth / 2 * plan->threads + op->thread) % blocks));
		op->nr = nth % 2 ? (unsigned short)block : 1;
	}
}

/*
 * Lives that differ only in which allocation fails, of all that may not sleep; in one
 * of so many lives none does.
 */
#define ALLOCATIONS	256U

static void plan_allocation(struct world_plan *plan, sim_u64 seed)
{
	plan->nowait_one_in = 0;
	plan->nowait_nth = (unsigned int)(seed % ALLOCATIONS);
	plan->nr_ops = plan->nr_ops < 60 ? plan->nr_ops : 60;
}

/* Small writes and reads to a few blocks, and one event after the other. */
static void plan_few_blocks(struct world_plan *plan, unsigned int block,
			    enum world_event event)
{
	unsigned int blocks = plan->sectors / block < 5 ?
			      plan->sectors / block - 1 : 4, i;

	plan->hold_ms = 1;
	plan->max_blocks = 64;
	plan->nowait_one_in = 0;
	plan->error_one_in = 0;
	plan->bad_nr = 0;
	plan_alone(plan);
	plan->cut_after = 0;
	plan->reboot = false;
	for (i = 0; i < plan->nr_ops; i++) {
		struct world_op *op = &plan->op[i];

		op->kind = one_in(4) ? OP_READ : OP_WRITE;
		op->nowait = false;
		op->first = (unsigned short)plan_chance(blocks * block);
		op->nr = (unsigned short)(1 + plan_chance(block));
	}
	plan->nr_events = sizeof(plan->event);
	memset(plan->event, event, sizeof(plan->event));
}

/* The mode changes again and again: writes meet the gate while it closes and opens. */
static void plan_gate(struct world_plan *plan, unsigned int block)
{
	plan_few_blocks(plan, block, EVENT_MODE);
	plan->threads = WORLD_THREADS;
	plan->depth = 1 + plan_chance(3);
}

/* Suspends, while some held blocks fail and are retried, and others are in flight. */
static void plan_quiet(struct world_plan *plan, unsigned int block)
{
	plan_few_blocks(plan, block, EVENT_SUSPEND);
	plan->mode = 2;
	plan->slow_one_in = 2;
	plan->bad_first = plan->start + first_boundary(plan, block);
	plan->bad_nr = block * (1 + plan_chance(2));
	if (!one_in(4))
		return;
	/* For longer than a suspend writes, without the flush that it waits for. */
	plan->nowait_one_in = 2;
	plan->hang_at = 1 + plan_chance(40);
	plan->hang_ms = 40000 + plan_chance(20000);
	plan->inline_end = false;
	plan->bad_nr = 0;
}

/* Logical blocks of the drive that are larger than those that the device offers. */
static void plan_logical_life(struct world_plan *plan)
{
	static const unsigned int logical[] = { 8, 8, 8, 4, 2, 16 };
	unsigned int block, i;

	plan->logical = logical[plan_chance(sizeof(logical) / sizeof(*logical))];
	while (plan->physical < 512 * plan->logical)
		plan->physical *= 2;
	if (one_in(2) && plan->physical < 16384)
		plan->physical *= 4;
	block = plan->physical / 512;
	plan->offset = 512 * plan->logical *
		       (one_in(3) ? plan_chance(block / plan->logical) : 0);
	plan->twin = 0;
	i = plan->base / block * block + block + plan->offset / 512;
	plan->start = i;
	plan->sectors = block * (8 + plan_chance((MEDIA_SECTORS - 64) / block - 10));
	if (!one_in(3))
		return;
	/* Both ends inside a physical block, maybe one that begins before the drive. */
	i = plan->logical * plan_chance((i - plan->base) / plan->logical + 1);
	plan->start -= i;
	plan->sectors += i;
	plan->sectors -= plan->logical * plan_chance(block / plan->logical);
}

static void plan_logical(struct world_plan *plan)
{
	plan->mode = plan->mode ? plan->mode : 2;
	plan->stacked = false;
	plan->has_twin = false;
	plan->zeroes -= plan->zeroes % plan->logical;
}

/* A drive that fails or delays requests only on a scene's order. */
static void plan_scenes(struct world_plan *plan)
{
	plan->scenes = true;
	plan->offset = 0;
	/* The border of two regions lies behind the blocks of most scenes. */
	plan->base = plan_region() - 3712;
	plan->start = plan->base + plan_chance(64);
	plan->twin = 0;
	plan->sectors = MEDIA_SECTORS - 64;
	plan->stacked = false;
	plan->has_twin = false;
	plan->max_sectors = 2048;
	plan->zeroes = 2048;
	plan->nowait_one_in = 0;
	plan->nth = 0;
	plan->error_one_in = 0;
	plan->bad_nr = 0;
	plan->inline_end = false;
	plan->slow_one_in = 0;
	plan->hang_at = 0;
	plan->tags = 512;
	plan->cut_after = 0;
	plan->nr_ops = 0;
}

/* Acknowledged writes must be on the drive, for a layer that sends no flushes. */
static void plan_layer(struct world_plan *plan)
{
	plan->mode = 2;
	plan->hold_ms = 500;
	plan_alone(plan);
	plan->cut_after = 1 + plan_chance(plan->nr_ops);
	plan->reboot = false;
}

/* Return the part of a seed that decides all of a life but the failing allocation. */
sim_u64 plan_life(sim_u64 seed)
{
	return plan_focus == FOCUS_ALLOCATIONS ? seed / ALLOCATIONS : seed;
}

/* The drive changes at times, between the other events or in their place. */
static void plan_changes(struct world_plan *plan)
{
	unsigned int most = sizeof(plan->event), nr = 1 + later_chance(4);

	while (nr--) {
		unsigned int at = later_chance(plan->nr_events + 1);

		if (at == most)
			continue;
		plan->event[at] = (unsigned char)(EVENT_LIMITS + later_chance(2));
		if (at == plan->nr_events)
			plan->nr_events++;
	}
}

/* The device has two targets, and their border lies where requests go. */
static void plan_targets(struct world_plan *plan)
{
	const struct world_op *op = &plan->op[later_chance(plan->nr_ops)];
	unsigned int border = op->first + later_chance(plan->physical / 256);

	if (plan->stacked || plan->has_twin || plan->tables || plan->flood ||
	    !border || border >= plan->sectors)
		return;
	plan->border = border;
	plan->linear = !later_chance(3);
}

/*
 * Choices that were added later: the power goes after any event, not only as a
 * request is done, the drive changes, a table has two targets, devices have files,
 * memory is short, and a cgroup has a limit.
 */
static void plan_later(struct world_plan *plan)
{
	plan->cut_late = later_chance(2) ? 1 + later_chance(1U << later_chance(10)) : 0;
	plan->files = plan_focus == FOCUS_FILES ||
		      (plan_focus == FOCUS_NONE && !later_chance(12));
	plan->border = 0;
	if (plan_focus == FOCUS_TARGETS || (plan_focus == FOCUS_NONE && !later_chance(8)))
		plan_targets(plan);
	plan->gapless = plan->logical && later_chance(2);
	plan->large_memory = plan->logical && !later_chance(3);
	if (plan_focus == FOCUS_CHANGES || (plan_focus == FOCUS_NONE && !later_chance(6)))
		plan_changes(plan);
	plan->reclaims = plan_focus == FOCUS_RECLAIM || !later_chance(6);
	plan->ceiling = plan_focus == FOCUS_RECLAIM || !later_chance(8) ?
			later_chance(24) : 0;
	plan->limited = !later_chance(6);
}

/*
 * Choose P. The largest blocks are rare, as the drive has few of them, and come from
 * the end of 16384's share: the choices of other lives stay as they are.
 */
static unsigned int plan_physical(void)
{
	static const unsigned int physical[] = { 4096, 4096, 4096, 1024, 2048,
						 8192, 16384 };
	static const unsigned int largest[] = { 131072, 262144 };
	const unsigned int parts = 8, nr = sizeof(physical) / sizeof(*physical);
	unsigned int part = plan_chance(parts * nr);

	if (plan_focus == FOCUS_NONE && part >= parts * nr - 2)
		return largest[part - (parts * nr - 2)];
	return physical[part / parts];
}

void plan_make(struct world_plan *plan, sim_u64 seed, bool first)
{
	unsigned int block, i, hot;

	if (first) {
		memset(plan, 0, sizeof(*plan));
		plan->physical = plan_physical();
		plan->offset = one_in(4) ? 512 * plan_chance(plan->physical / 512) : 0;
		plan->base = 0;
		if (one_in(4)) {
			plan->base = plan_region();
			plan->base -= 64 * (1 + plan_chance(48));
		}
		plan->start = one_in(2) ? plan_chance(64) : 0;
		plan->sectors = 64 + plan_chance(MEDIA_SECTORS - 64 - plan->start);
		if (plan->physical > 16384)
			plan->sectors = MEDIA_SECTORS - plan->start;
		plan->start += plan->base;
		if (one_in(6) && plan->sectors > 128) {
			plan->twin = 16 + plan_chance(plan->sectors / 2);
			plan->sectors -= plan->twin;
		}
		if (plan_focus == FOCUS_BOUNDS)
			plan_bounds_life(plan);
		if (plan_focus == FOCUS_LOGICAL)
			plan_logical_life(plan);
	}
	block = plan->physical / 512;
	plan->mode = one_in(8) ? 0 : one_in(3) ? 1 : 2;
	plan->max_blocks = one_in(3) ? 1 + plan_chance(8) : 64;
	plan->hold_ms = one_in(2) ? 1 + plan_chance(20) : 500;
	plan->max_sectors = one_in(4) ? block * (2 + plan_chance(4)) : 2048;
	plan->zeroes = one_in(3) ? 0 : one_in(3) ? block + plan_chance(block) : 1024;
	plan->workers = 1 + plan_chance(6);
	plan->stacked = one_in(8);
	plan->has_twin = plan->twin && !plan->stacked;
	plan->flood = false;
	plan->nowait_one_in = one_in(3) ? 2 + plan_chance(30) : 0;
	plan->nth = one_in(16) ? 1 + plan_chance(12) : 0;
	plan->error_one_in = one_in(4) ? 5 + plan_chance(100) : 0;
	plan->bad_nr = one_in(6) ? 1 + plan_chance(3 * block) : 0;
	plan->bad_first = plan->base + plan_chance(MEDIA_SECTORS);
	plan->inline_end = one_in(4);
	plan->slow_one_in = one_in(2) ? 0 : 1 + plan_chance(100);
	plan->hang_at = one_in(16) ? 1 + plan_chance(100) : 0;
	plan->hang_ms = 1000 * (1 + plan_chance(60));
	plan->tags = one_in(4) ? 1 + plan_chance(4) : 256;
	plan->threads = 1 + plan_chance(WORLD_THREADS);
	plan->depth = 1 + plan_chance(16);
	plan->streams = one_in(3);
	plan->nr_ops = 20 + plan_chance(WORLD_OPS - 20);
	plan->cut_after = one_in(2) ? 1 + plan_chance(plan->nr_ops) : 0;
	plan->reboot = !plan->cut_after && one_in(8);
	plan->nr_events = plan->bad_nr ? 4 + plan_chance(12) : one_in(2) ? plan_chance(12) : 0;
	for (i = 0; i < plan->nr_events; i++)
		plan->event[i] = plan->bad_nr && one_in(2) ?
				 EVENT_DROP_FAILED :
				 (unsigned char)plan_chance(EVENT_LIMITS);
	hot = plan_chance(plan->sectors);
	for (i = 0; i < plan->nr_ops; i++) {
		if (one_in(50))
			hot = plan_chance(plan->sectors);
		plan_op(plan, &plan->op[i], hot, block);
	}
	if (plan->bad_nr)
		plan->bad_first = plan->start + hot;
	if (plan->logical)
		plan_logical(plan);
	plan->tables = plan_focus == FOCUS_TABLES;
	plan->layer = plan_focus == FOCUS_LAYER;
	if (plan_focus == FOCUS_SCENES) {
		plan_scenes(plan);
		return;
	}
	if (plan_focus == FOCUS_BOUNDS)
		plan_bounds(plan, block);
	else if (plan->layer)
		plan_layer(plan);
	else if (plan_focus == FOCUS_GATE)
		plan_gate(plan, block);
	else if (plan_focus == FOCUS_QUIET)
		plan_quiet(plan, block);
	else if (plan_focus == FOCUS_DROPS || one_in(16))
		plan_drops(plan, block);
	else if (plan_focus == FOCUS_MEMORY || one_in(16))
		plan_memory(plan, block);
	else if (plan_focus == FOCUS_READS || one_in(16))
		plan_reads(plan, block);
	else if (plan_focus == FOCUS_FLOOD || one_in(64))
		plan_flood(plan, block);
	if (plan_focus == FOCUS_FLOOD && plan->flood && one_in(2))
		plan_discards(plan, block);
	if (plan_focus == FOCUS_ALLOCATIONS)
		plan_allocation(plan, seed);
	plan_later(plan);
}
