// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of the requests of threads, by arithmetic of their own: sector by sector,
 * with no help of geometry.h.
 */
#include <linux/percpu.h>

#include "align.h"
#include "block_state.h"
#include "drive.h"
#include "figures.h"
#include "node.h"
#include "shim.h"

#define HISTOGRAM_BYTES	4096U
#define STATUS_BYTES	4096U
/* Sectors of a request for all that a thread writes, and more. */
#define MUCH		2048U
/* Of so many glances one looks at the held blocks. */
#define GLANCES		4U

static struct {
	u64 sub_block, head, tail, both, block_bytes, over, size[ALIGN_SIZE_BINS];
	u64 phase[ALIGN_PHASE_BINS];
	u64 write_bytes, writes, touch_bytes, edge;
	u64 flushes, flushes_maybe, again;
	u64 discard_bytes, zeroes, zeroes_bytes, zeroes_misaligned, zeroes_touches;
	u64 longest_ns;
	s64 most_memory;
	unsigned int glances;
} sent;

/**
 * struct lie - how a request lies on the blocks
 * @blocks: blocks that it touches
 * @touches: blocks that it covers in part
 * @touch_bytes: its bytes in those
 * @edge: touches of blocks that lie in the target only in part
 * @head: the request starts inside a block
 * @tail: the request ends inside a block
 * @phase: sectors from the start of a block to the start of the request
 */
struct lie {
	unsigned int blocks, touches, touch_bytes, edge;
	bool head, tail;
	unsigned int phase;
};

static struct lie lie_of(const struct world_plan *plan,
			 const struct world_op *op)
{
	unsigned int block = plan->physical >> SECTOR_SHIFT;
	/* Sectors from a boundary in front of the drive to that of the target. */
	unsigned int base = plan->start + block - (plan->offset >> SECTOR_SHIFT);
	unsigned int first = base + op->first, end = first + op->nr;
	struct lie lie = {
		.head = first % block, .tail = end % block, .phase = first % block,
	};
	unsigned int at;

	for (at = first / block * block; at < end; at += block) {
		unsigned int from = max(at, first), to = min(at + block, end);

		lie.blocks++;
		if (to - from == block)
			continue;
		lie.touches++;
		lie.touch_bytes += (to - from) << SECTOR_SHIFT;
		lie.edge += at < base || at + block > base + plan->sectors;
	}
	return lie;
}

/*
 * Whether the drive's request layer would split a write: it cuts at a multiple of the
 * physical block size, where one lies in the first sectors that fit.
 */
static bool is_over(const struct world_plan *plan, const struct world_op *op)
{
	unsigned int block = plan->physical >> SECTOR_SHIFT;
	unsigned int first = (plan->start + op->first) % block;
	unsigned int end = (first + plan->max_sectors) / block * block;

	return op->nr > (end > first ? end - first : plan->max_sectors);
}

/* Sectors of a bin of phases: one, or more if there are more sectors than bins. */
static unsigned int phase_sectors(const struct world_plan *plan)
{
	unsigned int block = plan->physical >> SECTOR_SHIFT;

	return block > ALIGN_PHASE_BINS ? block / ALIGN_PHASE_BINS : 1;
}

static unsigned int size_bin(unsigned int sectors)
{
	unsigned int bin = 0;

	while (sectors >>= 1)
		bin++;
	return min(bin, ALIGN_SIZE_BINS - 1U);
}

static void note_write(const struct world_plan *plan, const struct world_op *op)
{
	struct lie lie = lie_of(plan, op);

	sent.writes++;
	sent.write_bytes += op->nr << SECTOR_SHIFT;
	sent.block_bytes += lie.blocks * plan->physical;
	sent.size[size_bin(op->nr)]++;
	sent.over += is_over(plan, op);
	sent.touch_bytes += lie.touch_bytes;
	sent.edge += lie.edge;
	if (!lie.touches)
		return;
	sent.phase[lie.phase / phase_sectors(plan)]++;
	if (lie.blocks == 1)
		sent.sub_block++;
	else if (lie.head && lie.tail)
		sent.both++;
	else if (lie.head)
		sent.head++;
	else
		sent.tail++;
}

static void note_zeroes(const struct world_plan *plan, const struct world_op *op)
{
	struct lie lie = lie_of(plan, op);

	sent.zeroes++;
	sent.zeroes_bytes += op->nr << SECTOR_SHIFT;
	sent.zeroes_misaligned += !!lie.touches;
	sent.zeroes_touches += lie.touches;
	sent.edge += lie.edge;
}

void figures_note(const struct figures *figures, const struct world_op *op,
		  bool again, sim_u64 began_ns)
{
	sent.longest_ns = max(sent.longest_ns, machine_now() - began_ns);
	sent.again += again;
	switch ((enum world_op_kind)op->kind) {
	case OP_FLUSH:
		sent.flushes += !again;
		break;
	case OP_FLUSH_FUA:
		/* The data come back; the flush before them may have been sent. */
		sent.flushes += !again;
		sent.flushes_maybe += again;
		fallthrough;
	case OP_FUA:
	case OP_WRITE:
		if (!again)
			note_write(figures->plan, op);
		break;
	case OP_ZEROES:
		if (!again)
			note_zeroes(figures->plan, op);
		break;
	case OP_DISCARD:
		if (!again)
			sent.discard_bytes += (u64)op->nr << SECTOR_SHIFT;
		break;
	case OP_READ:
	case OP_KINDS:
		break;
	}
}

/* Return the value of a cell of the ledger. No thread goes on meanwhile. */
static u64 cell(const struct ledger *ledger, unsigned int number)
{
	u64 sum = ledger->cell[number].counter;
	int cpu;

	if (number >= LEDGER_SHARE_CELLS)
		return sum;
	for_each_possible_cpu(cpu) {
		const struct ledger_share *share =
			*per_cpu_ptr(ledger->share, cpu);

		if (share)
			sum += share->cell[number].a.counter;
	}
	return sum;
}

static unsigned int length(const struct list_head *list)
{
	const struct list_head *entry;
	unsigned int n = 0;

	list_for_each(entry, list)
		n++;
	return n;
}

static unsigned int size(const struct rb_root_cached *tree)
{
	unsigned int nr = 0;
	struct rb_node *node;

	for (node = rb_first_cached(tree); node; node = rb_next(node))
		nr++;
	return nr;
}

static bool is_locked(const struct align_engine *engine)
{
	unsigned int i;

	for (i = 0; i < ALIGN_SHARDS; i++)
		if (engine->blocks.shard[i].lock.owner)
			return true;
	return engine->held.lock.owner;
}

static void must_agree(const char *what, u64 is, u64 must)
{
	if (is != must)
		machine_fail("the target counts %llu %s, and there are %llu", is,
			     what, must);
}

#define COUNTER(ledger, name) \
	cell(ledger, LEDGER_##name)

static const char * const mode_names[] = { "report", "pad", "coalesce" };

/* Compare the held blocks with the target's counts. No lock is held. */
static void check_held(const struct align_target *at)
{
	const struct align_blocks *blocks = &at->engine.blocks;
	const struct align_held *held = &at->engine.held;
	unsigned int nr = 0, resting = 0, idle = 0, failed = 0, i;
	const struct align_block *block;
	u64 bytes = 0;

	for (i = 0; i < ALIGN_SHARDS; i++) {
		const struct align_shard *shard = &blocks->shard[i];

		list_for_each_entry(block, &shard->by_age, by_age) {
			nr++;
			failed += block->failed;
			if (!block->held ||
			    bitmap_empty(block_held_map(block), block_sectors(block)))
				machine_fail("block %llu has %u held touches, and %u sectors of them",
					     block->number, block->held,
					     bitmap_weight(block_held_map(block),
							   block_sectors(block)));
			bytes += bitmap_weight(block_held_map(block),
					       block_sectors(block)) *
				 SECTOR_SIZE;
		}
		must_agree("cached blocks", shard->nr_cached, length(&shard->cached));
		resting += size(&shard->resting) + length(&shard->urgent);
		idle += size(&shard->failed);
		/* A block that is out of the tree may be in memory for a read's end. */
		if (at->mode == ALIGN_REPORT && shard->tree.rb_node)
			machine_fail("in mode report there is block %llu",
				     rb_entry(shard->tree.rb_node,
					      struct align_block, rb)->number);
	}
	must_agree("blocks below the ceiling",
		   blocks->quota.nr_own.counter + blocks->quota.nr_common.counter,
		   blocks->nr.counter);
	must_agree("held blocks", held->nr, nr);
	must_agree("held blocks that failed", held->nr_failed, failed);
	must_agree("held blocks that rest", held->nr_resting.counter, resting);
	must_agree("failed blocks that rest", held->nr_idle.counter, idle);
	must_agree("held blocks, in the ledger", COUNTER(at->ledger, held_blocks),
		   nr);
	must_agree("held bytes, in the ledger", COUNTER(at->ledger, held_bytes),
		   bytes);
	must_agree("failed blocks, in the ledger", COUNTER(at->ledger, degraded),
		   failed);
	if (at->mode != ALIGN_COALESCE && nr)
		machine_fail("in mode %s %u blocks are held",
			     mode_names[at->mode], nr);
	if (blocks->bytes.counter < (s64)nr * (s64)(sizeof(*block) +
						      at->geometry.physical))
		machine_fail("%u blocks are held, and take %lld bytes of memory",
			     nr, blocks->bytes.counter);
}

/*
 * The areas, against the blocks in the tree: one with blocks is busy, and a block
 * waits in it for counted writes only while it has touches and serves none. No lock
 * is held.
 */
static void check_areas(const struct align_target *at)
{
	const struct align_engine *engine = &at->engine;
	unsigned int nr[ALIGN_AREAS] = {}, i;
	const struct align_block *block;
	const struct rb_node *node;

	for (i = 0; i < ALIGN_SHARDS; i++)
		for (node = rb_first(&engine->blocks.shard[i].tree); node;
		     node = rb_next(node)) {
			block = rb_entry(node, struct align_block, rb);
			nr[area_index(at, block->number)]++;
		}
	for (i = 0; i < ALIGN_AREAS; i++) {
		const struct align_area *area = &engine->blocks.area[i];

		must_agree("blocks of an area", area->nr, nr[i]);
		if (nr[i] && !engine->quiet.busy[i])
			machine_fail("area %u has %u blocks, and is quiet", i,
				     nr[i]);
		list_for_each_entry(block, &area->blocks, list)
			if (block->state != BLOCK_IS_WAIT || block->held ||
			    !block->blockers || list_is_head(block->touches.next, &block->touches))
				machine_fail("block %llu waits for counted writes in state %u with %u blockers",
					     block->number, block->state,
					     block->blockers);
	}
}

/* All requests have ended: none is counted in an area. */
static void check_quiet(const struct align_target *at)
{
	const struct align_quiet *quiet = &at->engine.quiet;
	unsigned int i;
	int cpu;

	for (i = 0; i < ALIGN_AREAS; i++) {
		unsigned int sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu_ptr(quiet->cpu, cpu)->writes[i];
		must_agree("writes in an area", sum, 0);
	}
}

void figures_glance(const struct figures *figures, const struct align_target *at)
{
	const struct align_blocks *blocks = &at->engine.blocks;

	sent.most_memory = max_t(s64, sent.most_memory, blocks->bytes.counter);
	if (blocks->nr.counter > (int)figures->most_blocks)
		machine_fail("%d blocks are in memory, and %u may be",
			     blocks->nr.counter, figures->most_blocks);
	if (++sent.glances % GLANCES == 0 && !is_locked(&at->engine)) {
		check_held(at);
		check_areas(at);
	}
}

static void must_be(const char *name, u64 is, u64 from, u64 to)
{
	if (is < from || is > to)
		machine_fail("the ledger has %s %llu, and it must be %llu to %llu",
			     name, is, from, to);
}

#define READ(name)	ledger_read(ledger, LEDGER_##name)
#define BETWEEN(name, from, to) must_be(#name, READ(name), from, to)
#define CHECK(name, expected) \
	do { u64 _must = (expected); BETWEEN(name, _must, _must); } while (0)
#define ANY	(~0ULL)

static void check_writes(const struct ledger *ledger)
{
	CHECK(writes_sub_block, sent.sub_block);
	CHECK(writes_head_only, sent.head);
	CHECK(writes_tail_only, sent.tail);
	CHECK(writes_both_ends, sent.both);
	CHECK(writes_misaligned,
	      sent.sub_block + sent.head + sent.tail + sent.both);
	CHECK(write_block_bytes, sent.block_bytes);
	CHECK(discard_bytes, sent.discard_bytes);
	CHECK(write_zeroes_bytes, sent.zeroes_bytes);
	CHECK(write_zeroes_misaligned, sent.zeroes_misaligned);
	CHECK(rmw_expected_zeroes, sent.zeroes_touches);
}

/* Whether requests fail in a world. */
static bool has_errors(const struct world_plan *plan)
{
	return plan->error_one_in || plan->bad_nr;
}

static void check_reasons(const struct figures *figures,
			  const struct ledger *ledger)
{
	const struct world_plan *plan = figures->plan;
	unsigned int block = plan->physical >> SECTOR_SHIFT;
	bool fixing = figures->mode;

	CHECK(rmw_avoided, READ(rmw_avoided_merged) +
	      READ(rmw_avoided_complete) + READ(rmw_avoided_known) +
	      READ(rmw_avoided_superseded));
	CHECK(rmw_drive, READ(rmw_drive_report) + READ(rmw_drive_edge) +
	      READ(rmw_drive_no_memory) + READ(rmw_drive_max_blocks) +
	      READ(rmw_drive_read_error) + READ(rmw_drive_limits) +
	      READ(rmw_drive_atomic));
	CHECK(rmw_drive_atomic, 0);
	if (plan->logical)
		CHECK(rmw_drive, 0);
	else
		CHECK(touches_starved, 0);
	if (!figures->modes && !fixing)
		CHECK(rmw_drive_report, READ(rmw_expected));
	if (!figures->modes && fixing) {
		CHECK(rmw_drive_report, 0);
		CHECK(rmw_drive_edge, plan->logical ? 0 : sent.edge);
	}
	if (!plan->nowait_one_in && !plan->nowait_nth)
		CHECK(rmw_drive_no_memory, 0);
	if (plan->max_sectors >= 2 * block && !figures->limits)
		CHECK(rmw_drive_limits, 0);
	if (has_errors(plan))
		return;
	CHECK(rmw_drive_read_error, 0);
	CHECK(rmw_lost, 0);
	CHECK(flushes_failed, 0);
	CHECK(times_degraded, 0);
}

/*
 * Bytes of the blocks that were read for touches that do not lie in the device, and
 * which the target does not read.
 */
static u64 outside_read(const struct world_plan *plan,
			const struct align_target *at)
{
	const struct shim_traced *traced = &shim_traced[at->devt % SHIM_DEVICES];
	u64 block = plan->physical >> SECTOR_SHIFT;
	u64 lead = (block - (plan->offset >> SECTOR_SHIFT)) % block;
	u64 first = plan->start + lead, end = first + plan->sectors, sectors = 0;

	if (!plan->logical)
		return 0;
	if (traced->lowest.block == first / block)
		sectors += traced->lowest.touches * (first % block);
	if (traced->highest.block == end / block)
		sectors += traced->highest.touches * (block - end % block);
	return sectors << SECTOR_SHIFT;
}

static void check_traffic(const struct figures *figures,
			  const struct align_target *at,
			  const struct ledger *ledger)
{
	const struct world_plan *plan = figures->plan;
	const struct drive_count *drive = drive_count();

	if (figures->limits || plan->gapless || plan->large_memory)
		BETWEEN(writes_over_limits, 0, sent.writes);
	else
		CHECK(writes_over_limits, sent.over);
	BETWEEN(flushes, sent.flushes, sent.flushes + sent.flushes_maybe +
		figures->suspends);
	BETWEEN(nowait_again, figures->suspends ? 0 : sent.again, sent.again);
	/* Each part of a read that is taken in parts counts. */
	BETWEEN(reads_overlaid, 0, READ(reads) + shim_nr_partial);
	BETWEEN(touches_held, 0, READ(rmw_expected));
	if (!figures->modes && figures->mode != 2)
		CHECK(touches_held, 0);
	/*
	 * Where requests are large, and few blocks are in memory, no write nor the blocks
	 * before it need cuts: a write has four blocks, one more goes before it, and the
	 * request layer may cut as much as a block early.
	 */
	if (plan->max_sectors >= max(MUCH, 6 * plan->physical >> SECTOR_SHIFT) &&
	    !sent.zeroes && !figures->limits && !plan->gapless && !plan->large_memory &&
	    plan->max_blocks <= RANGE_BLOCKS)
		CHECK(cuts, 0);
	if (has_errors(plan) || READ(uncut))
		return;
	/* Of the touches of a block that was read, one did that. */
	CHECK(rmw_host, (READ(pad_read_bytes) + outside_read(plan, at)) /
			plan->physical);
	if (!READ(rmw_drive))
		CHECK(pad_writes, (drive->written + drive->outside +
				   sent.touch_bytes - sent.write_bytes) /
				  plan->physical);
	if (!sent.zeroes)
		CHECK(sent_block_bytes, drive->block_bytes);
}

/*
 * Compare the text of a histogram with its cells, of which @first is the first.
 * Return: their sum.
 */
static u64 check_histogram(struct ledger *ledger, enum ledger_histogram which,
			   unsigned int first, unsigned int nr)
{
	char *text = machine_alloc(HISTOGRAM_BYTES, 8);
	char *must = machine_alloc(HISTOGRAM_BYTES, 8);
	unsigned int i, at = 0;
	u64 sum = 0;
	ssize_t bytes;

	for (i = 0; i < nr; i++) {
		u64 n = cell(ledger, first + i);

		at += scnprintf(must + at, HISTOGRAM_BYTES - at,
				i + 1 < nr ? "%llu " : "%llu\n", n);
		sum += n;
	}
	bytes = ledger_print_histogram(ledger, which, false, text,
				       HISTOGRAM_BYTES);
	if (strcmp(text, must) || bytes != at)
		machine_fail("histogram %u of the ledger is printed as %s, and it is %s",
			     which, text, must);
	ledger_print_histogram(ledger, which, true, text, HISTOGRAM_BYTES);
	for (i = 0; i < at && text[i] != '\n'; i++)
		if (text[i] != '0' && text[i] != ' ')
			machine_fail("histogram %u of the ledger has a baseline %s",
				     which, text);
	machine_free(text);
	machine_free(must);
	return sum;
}

static void check_latencies(struct ledger *ledger)
{
	u64 misaligned = READ(writes_misaligned);
	unsigned int i, top = 0;

	must_be("latencies of aligned writes",
		check_histogram(ledger, LEDGER_LATENCY_ALIGNED,
				LEDGER_CELL_LATENCY_ALIGNED, ALIGN_LATENCY_BINS),
		sent.writes - misaligned, sent.writes - misaligned);
	must_be("latencies of misaligned writes",
		check_histogram(ledger, LEDGER_LATENCY_MISALIGNED,
				LEDGER_CELL_LATENCY_MISALIGNED,
				ALIGN_LATENCY_BINS),
		misaligned, misaligned);
	for (i = 0; i < ALIGN_LATENCY_BINS; i++)
		if (cell(ledger, LEDGER_CELL_LATENCY_ALIGNED + i) ||
		    cell(ledger, LEDGER_CELL_LATENCY_MISALIGNED + i))
			top = i;
	/* The first latency of the highest bin is not longer than any was. */
	if (top)
		must_be("a latency, ns", align_latency_bin_end(top - 1), 0,
			sent.longest_ns);
	must_be("times of holding",
		check_histogram(ledger, LEDGER_HOLD_TIME, LEDGER_CELL_HOLD_TIME,
				ALIGN_LATENCY_BINS),
		!!READ(touches_held), READ(touches_held));
}

static void check_bins(struct ledger *ledger)
{
	unsigned int i;

	for (i = 0; i < ALIGN_SIZE_BINS; i++)
		must_be("writes of a size", cell(ledger, LEDGER_CELL_SIZE + i),
			sent.size[i], sent.size[i]);
	for (i = 0; i < ALIGN_PHASE_BINS; i++)
		must_be("writes of a phase", cell(ledger, LEDGER_CELL_PHASE + i),
			sent.phase[i], sent.phase[i]);
	check_histogram(ledger, LEDGER_SIZE, LEDGER_CELL_SIZE, ALIGN_SIZE_BINS);
	check_histogram(ledger, LEDGER_PHASE, LEDGER_CELL_PHASE,
			ALIGN_PHASE_BINS);
}

/* Memory of a target with nothing in memory: its reserve, where it has one. */
static s64 kept_bytes(const struct align_target *at)
{
	const struct align_block *reserve = at->engine.blocks.reserve;

	return reserve ? ksize(reserve) + at->geometry.physical : 0;
}

static void check_memory(const struct align_target *at)
{
	s64 now = atomic64_read(&at->engine.blocks.bytes);
	s64 high = atomic64_read(&at->engine.blocks.bytes_high);

	if (now != kept_bytes(at) || atomic_read(&at->engine.blocks.nr))
		machine_fail("a target with nothing in memory counts %d blocks, %lld bytes",
			     atomic_read(&at->engine.blocks.nr), now);
	if (high < sent.most_memory)
		machine_fail("a target's most memory counts as %lld, and was %lld",
			     high, sent.most_memory);
}

/* Check that the trace events agree with the ledger. */
static void check_traced(const struct align_target *at)
{
	static const unsigned char of_how[RMW_HOW_NR] = {
		[RMW_HOST] = LEDGER_rmw_host,
		[RMW_MERGED] = LEDGER_rmw_avoided_merged,
		[RMW_COMPLETE] = LEDGER_rmw_avoided_complete,
		[RMW_KNOWN] = LEDGER_rmw_avoided_known,
		[RMW_SUPERSEDED] = LEDGER_rmw_avoided_superseded,
		[RMW_LOST] = LEDGER_rmw_lost,
		[RMW_DRIVE_REPORT] = LEDGER_rmw_drive_report,
		[RMW_DRIVE_EDGE] = LEDGER_rmw_drive_edge,
		[RMW_DRIVE_NO_MEMORY] = LEDGER_rmw_drive_no_memory,
		[RMW_DRIVE_MAX_BLOCKS] = LEDGER_rmw_drive_max_blocks,
		[RMW_DRIVE_READ_ERROR] = LEDGER_rmw_drive_read_error,
		[RMW_DRIVE_LIMITS] = LEDGER_rmw_drive_limits,
		[RMW_DRIVE_ATOMIC] = LEDGER_rmw_drive_atomic,
	};
	const struct shim_traced *traced = &shim_traced[at->devt % SHIM_DEVICES];
	const struct ledger *ledger = at->ledger;
	unsigned int how;

	must_agree("writes, and trace events tell otherwise",
		   COUNTER(ledger, writes), traced->writes);
	must_agree("write-zeroes, and trace events tell otherwise",
		   COUNTER(ledger, write_zeroes), traced->zeroes);
	must_agree("partial touches, and trace events tell otherwise",
		   COUNTER(ledger, rmw_expected), traced->touches);
	must_agree("bytes of writes and write-zeroes, and trace events tell otherwise",
		   COUNTER(ledger, write_bytes) + COUNTER(ledger, write_zeroes_bytes),
		   traced->sectors << SECTOR_SHIFT);
	for (how = 0; how < RMW_HOW_NR; how++)
		must_agree("resolved touches of a kind, and trace events tell otherwise",
			   cell(ledger, of_how[how]),
			   traced->how[how]);
}

static void must_read(const char *what, const char *is, const char *must)
{
	if (strcmp(is, must))
		machine_fail("%s is \"%s\", and must be \"%s\"", what, is, must);
}

static const char * const counters[] = {
#define LEDGER_COUNTER(name, ...) #name,
#include "ledger_table.h"
#undef LEDGER_COUNTER
};

static void status_of(struct align_target *at, status_type_t type, char *text)
{
	at->ti->type->status(at->ti, type, 0, text, STATUS_BYTES);
}

/* The offset of boundaries on the device that is below a target. */
static unsigned int offset_below(const struct world_plan *plan, bool lower)
{
	unsigned int shift = lower ? plan->start << SECTOR_SHIFT : 0;

	return (plan->offset - shift) & (plan->physical - 1);
}

static void check_status(const struct figures *figures, struct align_target *at,
			 bool lower)
{
	const struct world_plan *plan = figures->plan;
	unsigned int offset = offset_below(plan, lower);
	char *text = machine_alloc(STATUS_BYTES, 8);
	char *must = machine_alloc(STATUS_BYTES, 8);
	unsigned int i, n;

	n = scnprintf(must, STATUS_BYTES, "%s physical_block_size:%u alignment_offset:%u max_blocks:%u blocks:0 memory_bytes:%lld epoch:1",
		      mode_names[figures->mode], plan->physical, offset,
		      figures->max_blocks, kept_bytes(at));
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		n += scnprintf(must + n, STATUS_BYTES - n, " %s:%llu",
			       counters[i], ledger_read(at->ledger, i));
	status_of(at, STATUSTYPE_INFO, text);
	must_read("the status", text, must);

	scnprintf(must, STATUS_BYTES, "%s %u %u mode %s%s max_blocks %u hold_ms %u write_cache on",
		  lower ? "lower" : "drive", lower ? 0 : plan->start,
		  plan->logical ? 10 : 8, mode_names[figures->mode],
		  plan->logical ? " logical_block_size 512" : "",
		  figures->max_blocks,
		  figures->hold_ms);
	status_of(at, STATUSTYPE_TABLE, text);
	must_read("the table line", text, must);

	scnprintf(must, STATUS_BYTES, "align,device_name=%s,start=%u,mode=%s,logical_block_size=512,physical_block_size=%u,alignment_offset=%u,max_blocks=%u,hold_ms=%u,write_cache=on;",
		  lower ? "lower" : "drive", lower ? 0 : plan->start,
		  mode_names[figures->mode], plan->physical, offset,
		  figures->max_blocks, figures->hold_ms);
	status_of(at, STATUSTYPE_IMA, text);
	must_read("the status for IMA", text, must);
	machine_free(text);
	machine_free(must);
}

/* Messages that must be refused, and change nothing. */
static void check_refusals(struct align_target *at)
{
	static char *messages[][2] = {
		{ "mode", "none" }, { "hold_ms", "0" }, { "hold_ms", "600001" },
		{ "hold_ms", "x" }, { "max_blocks", "0" },
		{ "max_blocks", "262145" }, { "max_blocks", "" },
		{ "flush", "now" }, { "drop_failed", "1" }, { "reset_stats", "1" },
		{ "nonsense", NULL }, { "mode", NULL }, { "hold_ms", NULL },
		{ "max_blocks", NULL },
	};
	unsigned int i;
	char none[8];

	for (i = 0; i < ARRAY_SIZE(messages); i++)
		if (at->ti->type->message(at->ti, messages[i][1] ? 2 : 1,
					  messages[i], none, sizeof(none)) !=
		    -EINVAL)
			machine_fail("message %s %s is not refused",
				     messages[i][0],
				     messages[i][1] ? messages[i][1] : "");
}

/* The kind of each row of the ledger: gauges have no baseline. */
static const char * const kinds[LEDGER_NR] = {
#define LEDGER_COUNTER(name, kind, ...) #kind,
#include "ledger_table.h"
#undef LEDGER_COUNTER
};

/* Check the baseline: zeroes, and behind the message reset_stats the counters. */
static void check_baseline(struct align_target *at)
{
	static char *reset[] = { "reset_stats" };
	struct ledger *ledger = at->ledger;
	unsigned int i;
	char none[8];

	for (i = 0; i < LEDGER_NR; i++)
		must_be("a baseline", ledger_read_baseline(ledger, i), 0, 0);
	if (at->ti->type->message(at->ti, 1, reset, none, sizeof(none)))
		machine_fail("message reset_stats is refused");
	for (i = 0; i < LEDGER_NR; i++) {
		u64 must = strcmp(kinds[i], "GAUGE") ?
			   ledger_read(ledger, i) : 0;

		must_be("a baseline", ledger_read_baseline(ledger, i), must,
			must);
	}
	for (i = 0; i < ALIGN_SIZE_BINS; i++)
		must_be("a baseline of writes of a size",
			ledger->baseline[LEDGER_CELL_SIZE + i],
			sent.size[i], sent.size[i]);
}

void figures_check(const struct figures *figures, struct align_target *at,
		   bool lower, bool shared)
{
	check_writes(at->ledger);
	check_reasons(figures, at->ledger);
	if (!lower && !shared)
		check_traffic(figures, at, at->ledger);
	check_bins(at->ledger);
	check_latencies(at->ledger);
	check_memory(at);
	check_traced(at);
	check_quiet(at);
	check_refusals(at);
	check_status(figures, at, lower);
	check_baseline(at);
}
