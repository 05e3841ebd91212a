// SPDX-License-Identifier: GPL-2.0
/*
 * A scene of the cost of a write of whole blocks to other CPUs: the lines that it
 * writes of allocated memory, beside the bio's own and that of each CPU. The shim's
 * own data do not count, a kernel's are others; locks do, which lie in the target.
 */
#include <linux/percpu.h>

#include "block_state.h"
#include "lines.h"
#include "node.h"
#include "scenes.h"
#include "stage.h"

/* Lines that a write may dirty where blocks are in memory: a lock and a tree. */
#define MOST_BUSY	1

static struct {
	struct target_type type;
	const struct target_type *real;
	const struct bio *bio;
	const struct align_io *io;
} watched;

static bool lies_in(const void *word, const void *from, size_t bytes)
{
	return word >= from && word < (const void *)((const char *)from + bytes);
}

static bool is_of_cpus(const void *word, const void *cpu)
{
	return lies_in(word, cpu, MACHINE_CPUS * SHIM_PERCPU_BYTES);
}

static bool is_of_a_share(const void *word, const struct ledger *ledger)
{
	const struct ledger_share *share;
	int cpu;

	if (is_of_cpus(word, ledger->share))
		return true;
	for_each_possible_cpu(cpu) {
		share = *per_cpu_ptr(ledger->share, cpu);
		if (share && lies_in(word, share, sizeof(*share)))
			return true;
	}
	return false;
}

static int counts(const void *word)
{
	const struct align_target *at = stage.at;

	return !lies_in(word, watched.bio, sizeof(*watched.bio)) &&
	       !lies_in(word, watched.io, sizeof(*watched.io)) &&
	       !is_of_a_share(word, at->ledger) &&
	       !is_of_cpus(word, at->engine.quiet.cpu) &&
	       !is_of_cpus(word, at->gate.users.cpu);
}

static int watch_map(struct dm_target *ti, struct bio *bio)
{
	int ret;

	watched.bio = bio;
	watched.io = dm_per_bio_data(bio, sizeof(*watched.io));
	lines_begin();
	ret = watched.real->map(ti, bio);
	lines_end(counts);
	return ret;
}

static int watch_end_io(struct dm_target *ti, struct bio *bio,
			blk_status_t *error)
{
	int ret;

	lines_begin();
	ret = watched.real->end_io(ti, bio, error);
	lines_end(counts);
	return ret;
}

static void watch(void)
{
	watched.real = stage.at->ti->type;
	watched.type = *watched.real;
	watched.type.map = watch_map;
	watched.type.end_io = watch_end_io;
	stage.at->ti->type = &watched.type;
}

/*
 * Write a whole block, and count the lines. Earlier requests have to be at rest:
 * lines that their worker or timer writes meanwhile would count, too.
 */
static unsigned int lines_of_write(unsigned int nr)
{
	stage_rest_us(AT_ONCE_US);
	lines_forget();
	watch();
	act_write(stage_at(nr), stage.block);
	stage.at->ti->type = watched.real;
	return lines_nr();
}

static bool has_ranges(void)
{
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		if (stage.at->engine.blocks.shard[i].ranges.rb_root.rb_node)
			return true;
	return false;
}

/*
 * A write of whole blocks dirties no line that CPUs share where no block is in
 * memory, in any mode, and few where one is.
 */
void scene_lines(void)
{
	unsigned int mode;
	struct act *act;

	for (mode = 0; mode < 3; mode++) {
		stage_open(mode, 400, 64);
		stage_waits(WRITES);
		act = act_send(REQ_OP_WRITE, stage_at(8), stage.block);
		stage_rest_us(AT_ONCE_US);
		MUST(has_ranges(), false);
		stage_waits(0);
		MUST(act_wait(act), BLK_STS_OK);
		if (lines_seen())
			MUST(lines_of_write(6), 0);
		act_write(stage_at(4) + 1, 1);
		if (lines_seen())
			MUST_LIE(lines_of_write(6), !!mode, mode ? MOST_BUSY : 0);
		stage_close();
	}
}
