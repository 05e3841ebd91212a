// SPDX-License-Identifier: GPL-2.0
/* A thread that sends a trace to a device on the drive, and a flush behind it. */
#include <linux/module.h>
#include <linux/sched.h>

#include "align.h"
#include "block_state.h"
#include "drive.h"
#include "shard.h"
#include "op_flags.h"
#include "shim.h"
#include "traced.h"

static struct {
	struct traced *traced;
	struct mapped_device *md;
	unsigned int in_flight;
	wait_queue_head_t wait;
} trace;

const unsigned int world_region_sectors =
	1U << (ALIGN_REGION_SHIFT - SECTOR_SHIFT);
const unsigned int world_shards = ALIGN_SHARDS;

void world_lost(dev_t dev, u64 block)
{
	machine_fail("touches of block %llu are lost", block);
}

bool world_is_suspended(void)
{
	return false;
}

void world_target_ended(struct bio *bio)
{
}

static void request_end(struct bio *bio)
{
	if (bio->bi_status)
		machine_fail("a request at %llu fails", bio->bi_iter.bi_sector);
	kfree(bio->bi_private);
	kfree(bio);
	world_count.ops++;
	trace.in_flight--;
	wake_up(&trace.wait);
}

static void request_send(const struct world_op *op)
{
	struct bio *bio = kmalloc(sizeof(*bio) + sizeof(struct bio_vec),
				  GFP_NOIO);
	void *data = NULL;

	bio_init(bio, dm_disk(trace.md)->part0, (struct bio_vec *)(bio + 1), 1,
		 op_kind_flags(op->kind));
	bio->bi_iter.bi_sector = op->first;
	if (op->kind == OP_DISCARD || op->kind == OP_ZEROES) {
		bio->bi_iter.bi_size = op->nr << SECTOR_SHIFT;
	} else if (op->kind != OP_FLUSH) {
		/* The content of writes does not matter: zeroes. */
		data = machine_alloc(op->nr * SECTOR_SIZE, PAGE_SIZE);
		memset(data, 0, op->nr * SECTOR_SIZE);
		__bio_add_page(bio, virt_to_page(data), op->nr * SECTOR_SIZE, 0);
	}
	bio->bi_private = data;
	bio->bi_end_io = request_end;
	trace.in_flight++;
	submit_bio(bio);
}

/* Whether all blocks of a shard rest: they are cached or held. */
static bool shard_rests(const struct align_shard *shard)
{
	const struct rb_node *node;

	for (node = rb_first(&shard->tree); node; node = rb_next(node)) {
		enum block_state state =
			rb_entry(node, struct align_block, rb)->state;

		if (state != BLOCK_IS_CACHED && state != BLOCK_IS_REST)
			return false;
	}
	return true;
}

/* Whether all blocks rest: completed ones are written behind the touch's end. */
static bool is_settled(void)
{
	const struct align_target *at = shim_md_target(trace.md)->private;
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		if (!shard_rests(&at->engine.blocks.shard[i]))
			return false;
	return true;
}

/* Wait until the next request may be sent. */
static void keep_pace(enum traced_pace pace)
{
	if (pace != PACE_NONE)
		wait_event(trace.wait, !trace.in_flight);
	while (pace == PACE_SETTLED && !is_settled())
		machine_sleep("blocks in flight", machine_now() + 1000);
}

static void send_all(void)
{
	static const struct world_op flush = { .kind = OP_FLUSH };
	const struct traced *traced = trace.traced;
	u64 start = machine_now();
	unsigned int i;

	for (i = 0; i < traced->plan.nr_ops; i++) {
		u64 ns = start + traced->ns[i];

		if (machine_now() < ns)
			machine_sleep("the time of the next request", ns);
		request_send(&traced->plan.op[i]);
		keep_pace(traced->pace);
	}
	wait_event(trace.wait, !trace.in_flight);
	request_send(&flush);
	wait_event(trace.wait, !trace.in_flight);
}

static void load(const struct world_plan *plan)
{
	static const char * const modes[] = { "report", "pad", "coalesce" };
	char start[16], max[16], *error = NULL;
	char *argv[] = { "drive", start, "6", "mode", (char *)modes[plan->mode],
			 "max_blocks", max, "write_cache", "on" };

	scnprintf(start, sizeof(start), "%u", plan->start);
	scnprintf(max, sizeof(max), "%u", plan->max_blocks);
	if (shim_md_load(trace.md, plan->sectors, ARRAY_SIZE(argv), argv,
			 &error) || shim_md_resume(trace.md))
		machine_fail("a table is refused: %s", error);
}

void traced_main(void *argument)
{
	const struct align_target *at;
	unsigned int i;

	trace.traced = argument;
	shim_work_start(trace.traced->plan.workers);
	drive_new(&trace.traced->plan);
	if (shim_module_init())
		machine_fail("the module is not loaded");
	trace.md = shim_md_new("traced", 2);
	load(&trace.traced->plan);
	send_all();
	at = shim_md_target(trace.md)->private;
	BUILD_BUG_ON(LEDGER_NR > ARRAY_SIZE(trace.traced->ledger));
	for (i = 0; i < LEDGER_NR; i++)
		trace.traced->ledger[i] = ledger_read(at->ledger, i);
	machine_stop("done");
}
