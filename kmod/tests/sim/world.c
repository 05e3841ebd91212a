// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a world: the administrator makes the devices, and changes things while
 * users send requests and judge their results; at the end everything is looked at.
 * Beside them files are read and memory is reclaimed, and at last the module goes.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/shrinker.h>

#include "answers.h"
#include "block_state.h"
#include "drive.h"
#include "oracle.h"
#include "scenes.h"
#include "shard.h"
#include "shim.h"
#include "world_own.h"

struct world_state world;

const unsigned int world_region_sectors =
	1U << (ALIGN_REGION_SHIFT - SECTOR_SHIFT);
const unsigned int world_shards = ALIGN_SHARDS;

void world_lost(dev_t dev, u64 block)
{
	const struct world_plan *plan = world.plan;
	unsigned int sectors = plan->physical >> SECTOR_SHIFT;
	unsigned int start = plan->start, lead;
	unsigned int offset = plan->offset >> SECTOR_SHIFT;
	s64 first;

	if (!world.drops)
		return;
	/* A device above another one counts from the start of that. */
	if (world.lower && dev == dm_disk(world.md)->dev) {
		offset = (offset - start) & (sectors - 1);
		start = 0;
	}
	lead = (sectors - offset) % sectors;
	first = (s64)(block * sectors) - lead - start;
	oracle_lost(first < 0 ? 0 : first,
		    first < 0 ? sectors + first : sectors);
}

bool world_is_suspended(void)
{
	return world.suspended && !world.lower && !world.twin;
}

/* From here on held data may be given up, and a flush does not promise them. */
void world_begin_drops(void)
{
	world.drops = true;
	world.times++;
}

void world_end_drops(void)
{
	world.drops = false;
	world.times++;
}

/*
 * In a search, a user or the administrator has ended. Behind the last one there are
 * no more orders to search, unless the power can still go.
 */
void world_part_ends(void)
{
	if (!--world.parts && !world.plan->power)
		machine_explore(false);
}

/* Read files of all devices, also while they are removed. */
static void reader_main(void *unused)
{
	static char text[PAGE_SIZE];

	while (!world.removed) {
		shim_file_read(world.disk[machine_choose(world.nr_disks)],
			       text);
		/* Up to a second: a device at rest is waited for for minutes. */
		if (!machine_choose(8))
			machine_sleep("a while", machine_now() +
				      (1000ULL << machine_choose(21)));
	}
	world.readers--;
	wake_up(&world.wait);
}

static void start_reader(void)
{
	struct mapped_device *md[] = { world.md, world.lower, world.twin };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(md); i++)
		if (md[i])
			world.disk[world.nr_disks++] = dm_disk(md[i]);
	world.readers++;
	machine_start(CONTEXT_TASK, "reader", reader_main, NULL);
}

/* Have the shrinker called, also while devices and the module are removed. */
static void reclaim_main(void *unused)
{
	unsigned long counted;

	while (!world.unloaded) {
		shim_shrink(1 + machine_choose(machine_choose(4) ? 4 : 200),
			    &counted);
		if (machine_choose(4))
			machine_sleep("a while", machine_now() +
				      (1000ULL << machine_choose(21)));
	}
	world.reclaims--;
	wake_up(&world.wait);
}

static void start_reclaim(void)
{
	world.reclaims++;
	machine_start(CONTEXT_TASK, "reclaim", reclaim_main, NULL);
}

static void end_module(void)
{
	shim_module_exit();
	if (shim_is_registered())
		machine_fail("the module is gone, and something of it is registered");
}

static void remove_all(void)
{
	unsigned int i;

	world_begin_drops();
	dm_disk(world.md)->openers--;
	shim_md_remove(world.md);
	if (world.lower)
		shim_md_remove(world.lower);
	if (world.twin) {
		dm_disk(world.twin)->openers--;
		shim_md_remove(world.twin);
	}
	world.removed = true;
	if (world.readers)
		wait_event(world.wait, !world.readers);
	end_module();
	world.unloaded = true;
	if (world.reclaims)
		wait_event(world.wait, !world.reclaims);
	shim_work_stop();
	/* The end of a flush that no request waits for is not the target's. */
	for (i = 0; i < 300 && machine_leaked(); i++)
		machine_sleep("the last ends", machine_now() + 1000000000ULL);
	if (machine_leaked())
		machine_fail("%zu bytes of memory leak", machine_leaked());
}

/* A world without devices of its own. */
static void ask_and_stop(struct gendisk *drive)
{
	answers_ask(drive);
	end_module();
	shim_work_stop();
	if (machine_leaked())
		machine_fail("%zu bytes of memory leak", machine_leaked());
	machine_stop("done");
}

/* A world in which scenes are played. */
static void play_and_stop(struct gendisk *drive)
{
	scenes_play(world.plan, drive);
	end_module();
	shim_work_stop();
	if (machine_leaked())
		machine_fail("%zu bytes of memory leak", machine_leaked());
	machine_stop("done");
}

static void cut_power(void *unused)
{
	machine_stop("cut");
}

/* Give each CPU its counters now, which are only added to. */
static void ignore_shares(struct ledger *ledger)
{
	struct ledger_share **share;
	int cpu;

	for_each_possible_cpu(cpu) {
		share = per_cpu_ptr(ledger->share, cpu);
		if (!*share)
			*share = kzalloc(sizeof(**share), GFP_NOIO);
		machine_ignore(*share, sizeof(**share));
	}
}

/* Ignore memory that steps of a search change in any order, with the same result. */
static void ignore_memory(void)
{
	const struct align_target *at = shim_md_target(world.md)->private;

	machine_ignore(&world.sent, sizeof(world.sent));
	machine_ignore(&world.held, sizeof(world.held));
	shim_rcu_ignore();
	if (machine_is_search())
		ignore_shares(at->ledger);
}

void world_main(void *argument)
{
	const struct world_plan *plan = argument;
	struct gendisk *drive;
	unsigned int i;

	world.plan = plan;
	/* Two targets of a table share the ledger of their device. */
	world.exact = !plan->border && !plan->layer;
	world.figures = (struct figures) {
		.plan = plan, .mode = plan->mode,
		.max_blocks = plan->max_blocks, .hold_ms = plan->hold_ms,
		.most_blocks = plan->max_blocks,
	};
	shim_faults.nowait_one_in = plan->nowait_one_in;
	shim_faults.nowait_nth = plan->nowait_nth;
	shim_files = plan->files;
	*shim_param_max_memory_bytes =
		plan->ceiling * (plan->physical + sizeof(struct align_block));
	shim_work_start(plan->workers);
	drive = drive_new(plan);
	if (shim_module_init())
		machine_fail("the module is not loaded");
	if (plan->tables)
		ask_and_stop(drive);
	if (plan->scenes)
		play_and_stop(drive);
	if (plan->stacked) {
		world.lower = shim_md_new("lower", 2);
		admin_start_device(world.lower, "drive", plan->start,
				   plan->sectors);
	}
	world.md = shim_md_new("upper", 3);
	/* A layer opens the device before it has a live table, users behind that. */
	if (plan->layer)
		dm_disk(world.md)->openers++;
	admin_start_device(world.md, plan->stacked ? "lower" : "drive",
			   plan->stacked ? 0 : plan->start, plan->sectors);
	if (!plan->layer)
		dm_disk(world.md)->openers++;
	if (plan->has_twin) {
		world.twin = shim_md_new("twin", 4);
		admin_start_device(world.twin, "drive",
				   plan->start + plan->sectors, plan->twin);
		dm_disk(world.twin)->openers++;
	}

	/* The device's own work is over when the search begins. */
	if (machine_is_search())
		machine_sleep("the first work", machine_now() + 1000000);
	world.users = plan->threads;
	world.parts = plan->threads + 1;
	for (i = 0; i < plan->threads; i++) {
		world.user[i].number = i;
		machine_start(CONTEXT_TASK, "user", user_main, &world.user[i]);
	}
	if (plan->files)
		start_reader();
	if (plan->reclaims)
		start_reclaim();
	if (plan->power)
		machine_start(CONTEXT_DEVICE, "power", cut_power, NULL);
	ignore_memory();
	machine_explore(true);
	for (i = 0; i < plan->nr_events && world.users; i++) {
		/* Failures while requests are in flight are soon over. */
		admin_pause(machine_choose(4) ? plan->bad_nr ? 40 : 200 :
					  1000 * plan->hold_ms);
		admin_do_event(plan->event[i]);
	}
	world_part_ends();
	if (plan->reboot)
		admin_reboot();
	wait_event(world.wait, !world.users);
	/* Held blocks are written until the power goes, which may be at any time. */
	if (plan->power)
		machine_sleep("the power", ~0ULL);
	world_finish();
	remove_all();
	machine_stop("done");
}
