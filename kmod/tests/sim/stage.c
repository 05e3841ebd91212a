// SPDX-License-Identifier: GPL-2.0
#include <linux/sched.h>

#include "media.h"
#include "node.h"
#include "stage.h"
#include "world.h"

#define MOST_ACTS	256U
#define WORDS		(SECTOR_SIZE / sizeof(u64))

struct stage stage;
struct act_place act_place;
void (*stage_when_stopped)(void);
static struct act *acts[MOST_ACTS];
static unsigned int nr_acts, nr_writes;
static wait_queue_head_t ends;
/* The first log line that a scene has not looked at, and which behind it it has. */
static unsigned int logged, taken;

static const char * const mode_names[] = { "report", "pad", "coalesce" };

void stage_must(const char *what, u64 is, u64 from, u64 to,
		unsigned int line)
{
	if (is < from || is > to)
		machine_fail("scene %s, line %u: %s is %llu, and must be %llu to %llu",
			     stage.scene, line, what, is, from, to);
}

unsigned int stage_at(unsigned int nr)
{
	return stage.lead + nr * stage.block;
}

u64 stage_medium(unsigned int sector)
{
	return media_read(stage.start - stage.plan->base + sector);
}

void stage_leave_open(unsigned int first, unsigned int nr)
{
	while (nr--)
		stage.content[first + nr] = STAGE_OPEN;
}

void stage_rest_us(unsigned int us)
{
	u64 until = machine_now() + 1000ULL * us;

	while (machine_now() < until)
		machine_sleep("a scene", until);
}

static void order(void)
{
	drive_order(&stage.orders);
}

static void order_waits(unsigned int ops, sector_t from, sector_t to)
{
	stage.orders.waits = ops;
	stage.orders.waits_from = from;
	stage.orders.waits_to = to;
	order();
}

void stage_waits(unsigned int ops)
{
	order_waits(ops, 0, ~0ULL);
}

void stage_waits_from(unsigned int ops, unsigned int block)
{
	order_waits(ops, stage.start + stage_at(block), ~0ULL);
}

void stage_waits_at(unsigned int ops, unsigned int block)
{
	order_waits(ops, stage.start + stage_at(block), stage.start + stage_at(block + 1));
}

void stage_fails(unsigned int ops, unsigned int block, unsigned int nr)
{
	stage.orders.fails = ops;
	stage.orders.first = stage.start + stage_at(block);
	stage.orders.nr = nr * stage.block;
	order();
}

void stage_refuse(unsigned int nr)
{
	shim_nr_allocations = 0;
	shim_faults.nth = nr;
}

bool stage_has_refused(void)
{
	bool has = shim_nr_allocations >= shim_faults.nth;

	shim_faults.nth = 0;
	return has;
}

void stage_begin(const struct world_plan *plan, struct gendisk *drive)
{
	unsigned int i;

	machine_calm();
	stage.plan = plan;
	stage.drive = drive;
	stage.block = plan->physical >> SECTOR_SHIFT;
	stage.start = plan->start;
	stage.sectors = plan->sectors;
	stage.lead = (stage.block - plan->start % stage.block) % stage.block;
	stage.border = (world_border(plan) - plan->start - stage.lead) /
		       stage.block;
	stage.content = kmalloc(plan->sectors * sizeof(u64), GFP_NOIO);
	for (i = 0; i < plan->sectors; i++)
		stage.content[i] = stage_medium(i);
	stage.orders.seen = kmalloc(DRIVE_SEEN * sizeof(struct drive_seen),
				    GFP_NOIO);
}

void stage_narrow(void)
{
	stage.start += stage.lead;
	stage.content += stage.lead;
	stage.sectors -= stage.lead;
	stage.sectors -= stage.sectors % stage.block;
	stage.lead = 0;
	stage.smaller = true;
	stage.drive->queue->limits.logical_block_size = stage.plan->physical;
}

void stage_widen(void)
{
	stage.lead = stage.start - stage.plan->start;
	stage.start -= stage.lead;
	stage.content -= stage.lead;
	stage.sectors = stage.plan->sectors;
	stage.smaller = false;
	stage.drive->queue->limits.logical_block_size = SECTOR_SIZE;
}

void stage_end(void)
{
	drive_order(&(struct drive_orders) { 0 });
	kfree(stage.orders.seen);
	kfree(stage.content);
}

int stage_message(char *name, char *value)
{
	char *argv[] = { name, value };

	return shim_md_message(stage.md, 0, value ? 2 : 1, argv);
}

void stage_load(unsigned int mode, unsigned int hold_ms,
		unsigned int max_blocks)
{
	char start[16], max[16], ms[16], *error = NULL;
	char *argv[] = { "drive", start, stage.smaller ? "10" : "8",
			 "mode", (char *)mode_names[mode],
			 "max_blocks", max, "hold_ms", ms, "write_cache", "on",
			 "logical_block_size", "512" };
	unsigned int argc = ARRAY_SIZE(argv) - (stage.smaller ? 0 : 2);

	scnprintf(start, sizeof(start), "%u", stage.start);
	scnprintf(max, sizeof(max), "%u", max_blocks);
	scnprintf(ms, sizeof(ms), "%u", hold_ms);
	if (shim_md_load(stage.md, stage.sectors, argc, argv, &error))
		machine_fail("scene %s: a table is refused: %s", stage.scene,
			     error);
}

void stage_open(unsigned int mode, unsigned int hold_ms,
		unsigned int max_blocks)
{
	stage.md = shim_md_new("stage", 3);
	stage_load(mode, hold_ms, max_blocks);
	if (shim_md_resume(stage.md))
		machine_fail("scene %s: a device is not resumed", stage.scene);
	dm_disk(stage.md)->openers++;
	stage.at = shim_md_target(stage.md)->private;
	stage_waits(0);
	stage_fails(0, 0, 0);
	drive_forget_seen();
	logged = shim_nr_logged;
	taken = 0;
	act_place = (struct act_place) { 0 };
}

static void forget_acts(void)
{
	while (nr_acts) {
		struct act *act = acts[--nr_acts];

		if (!act->ended)
			machine_fail("scene %s: a request at %u has not ended",
				     stage.scene, act->first);
		kfree(act->memory);
		kfree(act);
	}
}

static void wait_acts(void)
{
	unsigned int i;

	for (i = 0; i < nr_acts; i++)
		act_wait(acts[i]);
}

void stage_remove(void)
{
	u64 began;

	wait_acts();
	forget_acts();
	dm_disk(stage.md)->openers--;
	began = machine_now();
	shim_md_remove(stage.md);
	MUST_LIE(machine_now() - began, 0, 100 * STAGE_MS);
}

void stage_close(void)
{
	unsigned int at;

	wait_acts();
	must_log_nothing();
	for (at = 0; at < stage.sectors; at += 64)
		act_read(at, min(64U, stage.sectors - at));
	stage_flush();
	MUST(stage.at->engine.held.nr, 0);
	for (at = 0; at < stage.sectors; at++)
		if (stage.content[at] != STAGE_OPEN &&
		    stage.content[at] != stage_medium(at))
			machine_fail("scene %s: sector %u of the drive has %#llx, and must have %#llx",
				     stage.scene, stage.start + at,
				     stage_medium(at),
				     stage.content[at]);
	stage_remove();
	must_log_nothing();
}

static void act_end(struct bio *bio)
{
	struct act *act = bio->bi_private;

	act->status = bio->bi_status;
	act->ended = true;
	wake_up(&ends);
}

static bool has_data(blk_opf_t opf)
{
	enum req_op op = opf & REQ_OP_MASK;

	return op == REQ_OP_READ || op == REQ_OP_WRITE;
}

/* The memory of a request's @nr-th sector. */
static u64 *memory_of(const struct act *act, unsigned int nr)
{
	if (act->alone && nr >= act->alone)
		nr += (PAGE_SIZE >> SECTOR_SHIFT) - act->alone;
	return act->memory + nr * WORDS;
}

/* Give a request its memory: in one piece, or some sectors in a page of their own. */
static void add_memory(struct act *act)
{
	unsigned int alone = act->alone, i = 0;
	struct page *page;

	act->memory = machine_alloc((act->nr << SECTOR_SHIFT) +
				    (alone ? PAGE_SIZE : 0), PAGE_SIZE);
	page = virt_to_page(act->memory);
	if (alone)
		bvec_set_page(&act->vec[i++], page, alone << SECTOR_SHIFT, 0);
	bvec_set_page(&act->vec[i++], virt_to_page(memory_of(act, alone)),
		      (act->nr - alone) << SECTOR_SHIFT, 0);
	act->bio.bi_vcnt = i;
}

/* Fill the memory of a request, and note the content of its sectors from now on. */
static void fill(struct act *act, blk_opf_t opf)
{
	enum req_op op = opf & REQ_OP_MASK;
	unsigned int i, j;

	nr_writes += op != REQ_OP_READ;
	for (i = 0; i < act->nr; i++) {
		u64 tag = ((u64)nr_writes << 16) + act->first + i;

		if (!has_data(opf))
			tag = op == REQ_OP_DISCARD ? STAGE_OPEN : 0;
		for (j = 0; act->memory && j < WORDS; j++)
			memory_of(act, i)[j] = tag;
		if (op != REQ_OP_READ)
			stage.content[act->first + i] = tag;
	}
}

struct act *act_send(blk_opf_t opf, unsigned int first, unsigned int nr)
{
	struct act *act = kzalloc(sizeof(*act), GFP_NOIO);
	struct bio *bio = &act->bio;

	if (nr_acts == MOST_ACTS)
		machine_fail("scene %s: more than %u requests", stage.scene,
			     MOST_ACTS);
	if (first + nr > stage.sectors)
		machine_fail("scene %s: %u + %u is not on the device",
			     stage.scene, first, nr);
	acts[nr_acts++] = act;
	act->first = first;
	act->nr = nr;
	act->alone = act_place.alone;
	bio_init(bio, dm_disk(stage.md)->part0, act->vec, ARRAY_SIZE(act->vec),
		 opf);
	bio->bi_iter.bi_sector = first;
	bio->bi_iter.bi_size = nr << SECTOR_SHIFT;
	if (nr && has_data(opf))
		add_memory(act);
	if (nr)
		fill(act, opf);
	bio->bi_ioprio = act_place.ioprio;
	bio->bi_write_hint = act_place.hint;
	bio->bi_write_stream = act_place.stream;
	bio->cgroup = act_place.cgroup;
	bio->bi_private = act;
	bio->bi_end_io = act_end;
	submit_bio(bio);
	return act;
}

blk_status_t act_wait(struct act *act)
{
	wait_event(ends, act->ended);
	return act->status;
}

void act_write(unsigned int first, unsigned int nr)
{
	MUST(act_wait(act_send(REQ_OP_WRITE, first, nr)), BLK_STS_OK);
}

void act_read(unsigned int first, unsigned int nr)
{
	struct act *act = act_send(REQ_OP_READ, first, nr);
	unsigned int i, j;

	MUST(act_wait(act), BLK_STS_OK);
	for (i = 0; i < nr; i++)
		for (j = 0; j < WORDS; j++)
			if (stage.content[first + i] != STAGE_OPEN &&
			    stage.content[first + i] != memory_of(act, i)[j])
				machine_fail("scene %s: a read of sector %u finds %#llx, and must find %#llx",
					     stage.scene, first + i,
					     memory_of(act, i)[j],
					     stage.content[first + i]);
	/* Reads are many. */
	kfree(act->memory);
	kfree(act);
	nr_acts--;
}

void stage_flush(void)
{
	MUST(act_wait(act_send(REQ_OP_WRITE | REQ_PREFLUSH, 0, 0)), BLK_STS_OK);
}

const struct drive_seen *must_see(unsigned int nr, enum req_op op,
				  unsigned int first, unsigned int sectors)
{
	const struct drive_seen *seen = drive_seen(nr);

	if (!seen || seen->op != op || seen->sector != stage.start + first ||
	    seen->nr != sectors)
		machine_fail("scene %s: request %u of the drive is %d at %lld + %u, and must be %u at %u + %u",
			     stage.scene, nr, seen ? (int)seen->op : -1,
			     seen ? (s64)seen->sector - stage.start : -1LL,
			     seen ? seen->nr : 0, op, first, sectors);
	return seen;
}

void must_have_seen(enum req_op op, unsigned int first, unsigned int sectors)
{
	const struct drive_seen *seen;
	unsigned int i;

	for (i = 0; (seen = drive_seen(i)); i++)
		if (seen->op == op && seen->sector == stage.start + first &&
		    seen->nr == sectors)
			return;
	machine_fail("scene %s: the drive gets no request %u at %u + %u",
		     stage.scene, op, first, sectors);
}

void must_see_no(unsigned int nr)
{
	const struct drive_seen *seen = drive_seen(nr);

	if (seen)
		machine_fail("scene %s: the drive gets request %u, %u at %lld + %u",
			     stage.scene, nr, seen->op,
			     (s64)seen->sector - stage.start, seen->nr);
}

void must_log(const char *words)
{
	unsigned int i;

	for (i = logged; i < shim_nr_logged; i++)
		if (!(taken & 1U << (i - logged)) &&
		    strstr(shim_logged(i), words))
			break;
	if (i == shim_nr_logged)
		machine_fail("scene %s: the log has \"%s\", and must have \"%s\"",
			     stage.scene, shim_logged(logged), words);
	taken |= 1U << (i - logged);
	for (; taken & 1; taken >>= 1)
		logged++;
}

void must_log_nothing(void)
{
	if (logged != shim_nr_logged)
		machine_fail("scene %s: the log has \"%s\"", stage.scene,
			     shim_logged(logged));
}
