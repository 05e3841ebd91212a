// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a world: an administrator makes the devices, threads send requests
 * and judge what comes back, the administrator changes things meanwhile, and at the
 * end everything is looked at: content, ledger, memory.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/suspend.h>

#include "align.h"
#include "answers.h"
#include "block_state.h"
#include "drive.h"
#include "figures.h"
#include "media.h"
#include "op_flags.h"
#include "oracle.h"
#include "scenes.h"
#include "shard.h"
#include "stage.h"
#include "shim.h"
#include "story.h"
#include "tags.h"
#include "world.h"

/* Requests of the drive for which a request may wait at most. */
#define MOST_WAIT	20000
/*
 * In a flood the first thread waits for fewer: its flush waits for the blocks that are
 * held, and the runs in flight, each of which costs a read, a write, and a request that
 * waited for the block; and the drain takes a block of each of three kinds in turn.
 */
#define DRAIN_KINDS	3U
#define BLOCK_REQUESTS	3U
#define RUNS		16U
/* The target's notifier takes so long at most to have everything written. */
#define REBOOT_NS	29000000000ULL
/* And stays quiet for a second behind that, which ends at the tick of a jiffy. */
#define REBOOT_QUIET_NS	996000000ULL
/* Pieces of memory of a request. */
#define MOST_PIECES	8U
/* Arguments of a target. */
#define WORLD_MOST_ARGS	11U

/**
 * struct user - a thread that sends requests
 * @number: its number in the plan
 * @in_flight: its requests that have not ended
 * @requests: requests of the drive when it sent its last one
 * @wait: woken when one ends
 */
struct user {
	unsigned int number;
	unsigned int in_flight;
	u64 requests;
	wait_queue_head_t wait;
};

/**
 * struct request - a request of a user
 * @write: what the oracle knows of it
 * @began: when it began, of a read or a flush
 * @began_ns: when it was sent
 * @requests: requests of the drive then
 * @times: how often what is held may have been given up until then
 * @number: number in the world
 * @tag: number of the write, of one
 * @ended: the same when the target had ended the first part; ~0: it has not
 */
struct request {
	struct user *user;
	struct world_op op;
	struct oracle_write write;
	u64 began;
	u64 began_ns;
	u64 requests;
	unsigned int times;
	unsigned int ended;
	unsigned int number;
	u64 tag;
	struct bio *bio;
	void *memory;
};

/* Requests of a world that is searched. */
#define NOTED	16U

/* What the users have sent, as the ledger should have it. */
struct sent {
	u64 writes, write_bytes, reads, read_bytes, fua, discards, zeroes;
	u64 touches;
};

static struct {
	const struct world_plan *plan;
	struct mapped_device *md, *lower, *twin;
	struct user user[WORLD_THREADS];
	unsigned int users;
	unsigned int parts;	/* users, and the administrator */
	wait_queue_head_t wait;
	struct gendisk *disk[3];	/* with files */
	unsigned int nr_disks, readers, reclaims;
	bool removed, unloaded;
	bool drops;		/* what is held may be given up now */
	unsigned int times;	/* how often that has begun */
	bool suspended;
	bool calm;		/* the first thread is done: no flood any more */
	/* Begin and end of each request, as a search sees them. */
	u64 times_of[2][NOTED];
	unsigned int held;	/* blocks, as the story has last said */
	bool exact;		/* the ledger has seen all, and no table changed */
	struct sent sent;
	struct figures figures;	/* of the device that the users have */
} world;

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

/* Partial touches of a range of the device, counted sector by sector. */
static unsigned int count_touches(unsigned int first, unsigned int nr)
{
	const struct world_plan *plan = world.plan;
	unsigned int block = plan->physical >> SECTOR_SHIFT;
	unsigned int at = first + plan->start + block -
			  (plan->offset >> SECTOR_SHIFT);
	unsigned int i, touches = 0, covered = 0;

	for (i = 0; i < nr; i++) {
		covered++;
		if ((at + i + 1) % block && i + 1 < nr)
			continue;
		touches += covered < block;
		covered = 0;
	}
	return touches;
}

static void note_sent(const struct world_op *op)
{
	struct sent *sent = &world.sent;
	u64 bytes = (u64)op->nr << SECTOR_SHIFT;

	switch ((enum world_op_kind)op->kind) {
	case OP_READ:
		sent->reads++;
		sent->read_bytes += bytes;
		break;
	case OP_FUA:
	case OP_FLUSH_FUA:
		sent->fua++;
		fallthrough;
	case OP_WRITE:
		sent->writes++;
		sent->write_bytes += bytes;
		sent->touches += count_touches(op->first, op->nr);
		break;
	case OP_ZEROES:
		sent->zeroes++;
		sent->touches += count_touches(op->first, op->nr);
		break;
	case OP_DISCARD:
		sent->discards++;
		break;
	case OP_FLUSH:
	case OP_KINDS:
		break;
	}
}

static void note_end(const struct world_op *op, blk_status_t status)
{
	/* What is sent back is counted nowhere, unless others below sent it back. */
	if (status != BLK_STS_AGAIN)
		note_sent(op);
	else if (world.lower)
		world.exact = false;
	/* Of one whose flush failed, the data were not sent. */
	if (status && op->kind == OP_FLUSH_FUA)
		world.exact = false;
}

/*
 * Whether what is held could be given up while a request was in flight. It may
 * have gone to the next table then, which knows nothing of that: the log tells.
 */
static bool met_drops(const struct request *request)
{
	return world.drops || request->times != world.times;
}

/* The oracle's number of a request's first sector. */
static unsigned int oracle_sector(const struct world_op *op)
{
	return op->first + (op->twin ? world.plan->sectors : 0);
}

/* Add to the outcome, in any order: @value of thing @of. */
static void note_outcome(u64 of, u64 value)
{
	u64 z = of * 0x9e3779b97f4a7c15ULL + value;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	world_count.outcome += z ^ z >> 31;
}

/*
 * For a search, the order of begins and ends: it matters where one of the one kind
 * and one of the other change places, as the oracle judges by that.
 */
static void note_time(unsigned int request, bool ends)
{
	unsigned int i;

	if (!machine_is_search())
		return;
	machine_note(&world.times_of[ends][request % NOTED], true);
	for (i = 0; i < NOTED; i++)
		machine_note(&world.times_of[!ends][i], false);
}

static void flush_end(const struct request *request)
{
	if (!met_drops(request))
		oracle_flushed(oracle_sector(&request->op), request->began);
}

/* Whether a request of the device meets a physical block with a bad sector. */
static bool meets_bad(const struct world_op *op)
{
	const struct world_plan *plan = world.plan;
	unsigned int block = plan->physical >> SECTOR_SHIFT;
	unsigned int lead = (block - (plan->offset >> SECTOR_SHIFT)) % block;
	unsigned int first = oracle_sector(op) + plan->start + lead;

	return first / block <=
	       (plan->bad_first + plan->bad_nr - 1 + lead) / block &&
	       (first + op->nr - 1) / block >= (plan->bad_first + lead) / block;
}

/*
 * Errors reach the requests that they concern: where nothing is broken but some sectors, a
 * write elsewhere ends well, unless what is held was given up meanwhile, or a
 * flush that went before it failed.
 */
static void check_error(const struct request *request)
{
	const struct world_op *op = &request->op;
	blk_status_t status = request->bio->bi_status;

	if (!status || status == BLK_STS_AGAIN || world.plan->error_one_in ||
	    world.lower || op->kind == OP_FLUSH || op->kind == OP_FLUSH_FUA ||
	    met_drops(request))
		return;
	if (!world.plan->bad_nr || !meets_bad(op))
		machine_fail("kind %u at %u + %u fails with %u, and no sector there is bad",
			     op->kind, op->first, op->nr, status);
}

/* Return what tells a request from others, in any order of arrival. */
static u64 id_of(const struct request *request)
{
	const struct world_op *op = &request->op;

	return ((u64)request->user->number << 40) + ((u64)op->kind << 32) +
	       ((u64)op->first << 16) + ((u64)op->nr << 8);
}

static void request_check(struct request *request)
{
	const struct world_op *op = &request->op;
	bool ok = !request->bio->bi_status;
	unsigned int i;

	switch ((enum world_op_kind)op->kind) {
	case OP_READ:
		for (i = 0; ok && i < op->nr; i++) {
			u64 *words = (u64 *)((char *)request->memory +
					     i * SECTOR_SIZE);
			const u64 *other = tags_other(words, words[0]);

			if (other)
				machine_fail("a read found a torn sector: %u has %#llx and %#llx",
					     op->first + i, words[0], *other);
			if (!met_drops(request))
				oracle_found(oracle_sector(op) + i,
					     request->began, words[0]);
			note_outcome(id_of(request) + 1 + i, words[0]);
		}
		oracle_read_end(request->began);
		break;
	case OP_FLUSH_FUA:
	case OP_FUA:
	case OP_WRITE:
	case OP_DISCARD:
	case OP_ZEROES:
		/*
		 * What is given up while the write ends, or after the target has
		 * ended it, may be a part of it: the one comes before the other
		 * or after.
		 */
		oracle_end(&request->write, ok && !world.drops &&
			   request->ended == world.times,
			   op->kind == OP_FUA || op->kind == OP_FLUSH_FUA);
		if (ok && op->kind == OP_FLUSH_FUA)
			flush_end(request);
		break;
	case OP_FLUSH:
		if (ok)
			flush_end(request);
		break;
	case OP_KINDS:
		break;
	}
}

/*
 * Requests of the drive that a request of a thread waits for at most. Without memory for
 * touches that may not go down, the reserve serves one after the other, and while it has
 * a request in flight, each request that waits for none may end, and the next one come.
 */
static u64 most_wait(const struct user *user)
{
	const struct world_plan *plan = world.plan;
	u64 in_flight = plan->threads * plan->depth;

	if (!plan->flood || user->number)
		return MOST_WAIT;
	return DRAIN_KINDS * BLOCK_REQUESTS * (plan->max_blocks + RUNS) +
	       2 * in_flight +
	       (plan->logical ? 2 * in_flight * BLOCK_REQUESTS * in_flight : 0);
}

/*
 * What blocks of all devices have in memory. A table that is loaded makes the parts of the
 * others smaller, and what is above them stays.
 */
static void check_ceiling(void)
{
	struct mapped_device *md[] = { world.md, world.lower, world.twin };
	u64 most = *shim_param_max_memory_bytes, sum = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(md); i++) {
		const struct align_target *at;
		const struct align_quota *quota;

		if (!md[i])
			continue;
		at = shim_md_target(md[i])->private;
		quota = &at->engine.blocks.quota;
		sum += (quota->nr_own.counter + quota->nr_common.counter) *
		       quota->cost;
	}
	if (most && sum > most + most / 4)
		machine_fail("blocks have %llu bytes of memory below a ceiling of %llu",
			     sum, most);
}

static void request_end(struct bio *bio)
{
	struct request *request = bio->bi_private;
	struct user *user = request->user;

	machine_say(STORY_ENDED, user->number, request->op.kind,
		    request->op.first, bio->bi_status);
	if (drive_count()->requests - request->requests > most_wait(user))
		machine_fail("a request of thread %u waited for %llu requests of the drive",
			     user->number,
			     drive_count()->requests - request->requests);
	note_time(request->number, true);
	note_outcome(id_of(request), bio->bi_status);
	if (!request->op.twin) {
		note_end(&request->op, bio->bi_status);
		figures_note(&world.figures, &request->op,
			     bio->bi_status == BLK_STS_AGAIN,
			     request->began_ns);
	}
	/* Where stores become visible late, a glance sees some of them only. */
	if (world.exact && !machine_is_weak())
		figures_glance(&world.figures,
			       shim_md_target(world.md)->private);
	if (!machine_is_weak())
		check_ceiling();
	check_error(request);
	request_check(request);
	world_count.ops++;
	kfree(bio);
	kfree(request->memory);
	kfree(request);
	user->in_flight--;
	wake_up(&user->wait);
}

static void say_held(void)
{
	const struct align_target *at = shim_md_target(world.md)->private;

	if (at->engine.held.nr == world.held)
		return;
	world.held = at->engine.held.nr;
	machine_say(STORY_HELD, world.held, 0, 0, 0);
}

void world_target_ended(struct bio *bio)
{
	struct request *request = bio->bi_private;

	if (bio->bi_end_io != request_end)
		return;
	say_held();
	if (request->ended == ~0U)
		request->ended = world.times;
}

static blk_opf_t op_flags(const struct world_op *op)
{
	blk_opf_t opf = op_kind_flags(op->kind) | (op->nowait ? REQ_NOWAIT : 0);

	/* The block layer takes them off for a device without a cache. */
	return world.plan->layer ? opf & ~(REQ_PREFLUSH | REQ_FUA) : opf;
}

static bool has_data(const struct world_op *op)
{
	return op->kind != OP_FLUSH && op->kind != OP_DISCARD &&
	       op->kind != OP_ZEROES;
}

/* Give a request its memory, in pieces that hold whole sectors. */
static void give_memory(struct request *request)
{
	const struct world_op *op = &request->op;
	unsigned int left = op->nr, pieces = op->pieces, i;
	char *at;

	request->memory = machine_alloc(op->nr * SECTOR_SIZE, PAGE_SIZE);
	at = request->memory;
	for (i = 0; i < op->nr; i++)
		tags_fill((u64 *)(at + i * SECTOR_SIZE),
			  op->kind == OP_READ ? 0xbad0000000000000ULL :
			  oracle_tag(request->tag, oracle_sector(op) + i));
	while (left) {
		unsigned int n = pieces > 1 ? 1 + machine_choose(left) : left;

		if (pieces > 1)
			pieces--;
		__bio_add_page(request->bio, virt_to_page(at),
			       n * SECTOR_SIZE, offset_in_page(at));
		at += n * SECTOR_SIZE;
		left -= n;
	}
}

/* Tell the oracle which blocks a discard has as a whole. */
static void note_whole(const struct request *request)
{
	const struct world_plan *plan = world.plan;
	unsigned int block = plan->physical >> SECTOR_SHIFT;
	unsigned int at = plan->start + block - (plan->offset >> SECTOR_SHIFT) %
			  block;
	unsigned int first = oracle_sector(&request->op);
	unsigned int end = first + request->op.nr;
	unsigned int over = (end + at) % block;

	first += (block - (first + at) % block) % block;
	if (over < end)
		oracle_whole(&request->write, first, end - over);
}

/* The same in each order: the place in the plan; all others share a number. */
static unsigned int number_of(const struct world_op *op)
{
	const struct world_plan *plan = world.plan;

	return op >= plan->op && op < plan->op + plan->nr_ops ?
		op - plan->op : NOTED - 1;
}

/* In a search a write of the plan has the same tag in each order. */
static u64 tag_of(const struct request *request)
{
	u64 next = world_count.writes;

	if (machine_is_search() && request->number < NOTED - 1)
		return request->number;
	world_count.writes++;
	return machine_is_search() ? NOTED + next : next;
}

static void request_send(struct user *user, const struct world_op *op)
{
	struct request *request = kzalloc(sizeof(*request), GFP_NOIO);
	enum oracle_effect effect = op->kind == OP_ZEROES ? ORACLE_ZEROES :
				    op->kind == OP_DISCARD ? ORACLE_DISCARD :
				    ORACLE_WRITE;

	request->user = user;
	request->op = *op;
	request->began_ns = machine_now();
	/* How long it waits makes no two states of a search. */
	request->requests = machine_is_search() ? 0 : drive_count()->requests;
	user->requests = request->requests;
	request->times = world.times;
	request->ended = ~0U;
	request->number = number_of(op);
	request->bio = kmalloc(sizeof(struct bio) +
			       MOST_PIECES * sizeof(struct bio_vec), GFP_NOIO);
	bio_init(request->bio, dm_disk(op->twin ? world.twin : world.md)->part0,
		 (struct bio_vec *)(request->bio + 1), MOST_PIECES,
		 op_flags(op));
	request->bio->bi_iter.bi_sector = op->kind == OP_FLUSH ? 0 : op->first;
	request->bio->bi_private = request;
	request->bio->bi_end_io = request_end;
	if (op->kind != OP_READ && op->kind != OP_FLUSH)
		request->tag = tag_of(request);
	if (has_data(op))
		give_memory(request);
	else
		request->bio->bi_iter.bi_size = op->nr << SECTOR_SHIFT;
	user->in_flight++;
	note_time(request->number, false);
	machine_say(STORY_SENT, user->number, op->kind, op->first, op->nr);
	request->began = op->kind == OP_READ ? oracle_read_begin() :
			 oracle_now();
	if (op->kind != OP_READ && op->kind != OP_FLUSH)
		oracle_begin(&request->write, oracle_sector(op), op->nr, effect,
			     request->tag);
	if (op->kind == OP_DISCARD)
		note_whole(request);
	if (op->kind == OP_FLUSH && world.plan->layer)
		bio_endio(request->bio);
	else
		submit_bio(request->bio);
}

static void user_flush(struct user *user, bool twin)
{
	const struct world_op flush = { .kind = OP_FLUSH, .twin = twin };

	request_send(user, &flush);
}

/*
 * Wait until the oracle can follow one more write. Return: it cannot, as flushes
 * fail, and the write is left out.
 */
static bool has_no_room(struct user *user, const struct world_op *op)
{
	unsigned int tries;

	if (op->kind == OP_READ || op->kind == OP_FLUSH)
		return false;
	for (tries = 0; tries < 10; tries++) {
		if (oracle_has_room(oracle_sector(op), op->nr))
			return false;
		shim_flush_plug(false);
		wait_event(user->wait, !user->in_flight);
		user_flush(user, op->twin);
		wait_event(user->wait, !user->in_flight);
		machine_sleep("others", machine_now() + 1000000);
	}
	return true;
}

/*
 * Whether a thread goes on until the first one is done. As no thread rests meanwhile,
 * here is where it shows that the first one waits without end.
 */
static bool floods(const struct user *user)
{
	u64 waits = drive_count()->requests - world.user[0].requests;

	if (!world.plan->flood || !user->number || world.calm)
		return false;
	if (waits > most_wait(&world.user[0]))
		machine_fail("the first thread has waited for %llu requests of the drive",
			     waits);
	return true;
}

/*
 * In a search, a user or the administrator has ended. Behind the last one there are
 * no more orders to search, unless the power can still go.
 */
static void part_ends(void)
{
	if (!--world.parts && !world.plan->power)
		machine_explore(false);
}

static void user_main(void *argument)
{
	struct user *user = argument;
	const struct world_plan *plan = world.plan;
	struct blk_plug plug;
	unsigned int i;

	for (i = 0; i < plan->nr_ops || floods(user); i++) {
		const struct world_op *op = &plan->op[i % plan->nr_ops];

		if (op->thread != user->number)
			continue;
		if (op->plug)
			blk_start_plug(&plug);
		else
			blk_finish_plug(&plug);
		wait_event(user->wait, user->in_flight < plan->depth);
		if (has_no_room(user, op))
			continue;
		request_send(user, op);
		if (op->wait) {
			blk_finish_plug(&plug);
			wait_event(user->wait, !user->in_flight);
		}
	}
	blk_finish_plug(&plug);
	wait_event(user->wait, !user->in_flight);
	world.calm |= !user->number;
	world.users--;
	part_ends();
	/* In a search, a wake-up for nothing would be one more step. */
	if (!machine_is_search() || !world.users)
		wake_up(&world.wait);
}

static const char * const mode_names[] = { "report", "pad", "coalesce" };

static int put_number(char *text, unsigned int number)
{
	return scnprintf(text, 16, "%u", number);
}

/* Load a table of two targets, the first with these arguments. Return as load(). */
static const char *load_two(char **argv, unsigned int argc)
{
	const struct world_plan *plan = world.plan;
	char at[16], *more[WORLD_MOST_ARGS], *error = NULL;
	const struct shim_target target[] = {
		{ .sectors = plan->border, .argc = argc, .argv = argv },
		{
			.linear = plan->linear,
			.sectors = plan->sectors - plan->border,
			.argc = plan->linear ? 2 : argc, .argv = more,
		},
	};

	memcpy(more, argv, argc * sizeof(*argv));
	put_number(at, plan->start + plan->border);
	more[1] = at;
	return shim_md_load_targets(world.md, target, ARRAY_SIZE(target),
				    &error) ? error : NULL;
}

/* Load a table of a device: @mode, on @below. Return: NULL, or why not. */
static const char *load(struct mapped_device *md, const char *below,
			unsigned int start, unsigned int sectors,
			unsigned int mode)
{
	const struct world_plan *plan = world.plan;
	char at[16], max[16], ms[16], *error = NULL;
	char *argv[] = { (char *)below, at, plan->logical ? "10" : "8", "mode",
			 (char *)mode_names[mode], "max_blocks", max,
			 "hold_ms", ms, "write_cache", "on",
			 "logical_block_size", "512" };
	unsigned int argc = ARRAY_SIZE(argv) - (plan->logical ? 0 : 2);

	put_number(at, start);
	put_number(max, plan->max_blocks);
	put_number(ms, plan->hold_ms);
	if (md == world.md && plan->border)
		return load_two(argv, argc);
	return shim_md_load(md, sectors, argc, argv, &error) ?
		error : NULL;
}

static void start_device(struct mapped_device *md, const char *below,
			 unsigned int start, unsigned int sectors)
{
	const struct world_plan *plan = world.plan;
	const char *error;

	shim_faults.nth = plan->nth;
	error = load(md, below, start, sectors, plan->mode);
	shim_faults.nth = 0;
	if (error && plan->nth)
		error = load(md, below, start, sectors, plan->mode);
	if (error)
		machine_fail("a table is refused: %s", error);
	if (shim_md_resume(md))
		machine_fail("a device is not resumed");
}

/* The second target of a device's table, if that is the module's. */
static const struct align_target *second_of(struct mapped_device *md)
{
	const struct world_plan *plan = world.plan;

	return md == world.md && plan->border && !plan->linear ?
		shim_md_target_of(md, plan->border)->private : NULL;
}

static int send_message(struct mapped_device *md, char *name, char *value)
{
	char *argv[] = { name, value };
	unsigned int argc = value ? 2 : 1;
	int ret = shim_md_message(md, 0, argc, argv);

	if (!ret && second_of(md))
		ret = shim_md_message(md, world.plan->border, argc, argv);
	return ret;
}

static void send_number(struct mapped_device *md, char *name,
			unsigned int number)
{
	char text[16];

	put_number(text, number);
	if (number > world.figures.most_blocks && strcmp(name, "hold_ms"))
		world.figures.most_blocks = number;
	if (send_message(md, name, text))
		machine_fail("message %s %s is refused", name, text);
	if (md != world.md)
		return;
	if (!strcmp(name, "hold_ms"))
		world.figures.hold_ms = number;
	else
		world.figures.max_blocks = number;
}

static void pause(unsigned int most_us)
{
	if (machine_is_search()) {
		machine_yield();
		return;
	}
	machine_sleep("a while", machine_now() +
		      1000ULL * (1 + machine_choose(most_us)));
}

/* From here on what is held may be given up, and a flush does not promise it. */
static void drops_begin(void)
{
	world.drops = true;
	world.times++;
}

static void drops_end(void)
{
	world.drops = false;
	world.times++;
}

static unsigned int count_held(struct mapped_device *md)
{
	const struct align_target *at = shim_md_target(md)->private;
	const struct align_target *second = second_of(md);

	return at->engine.held.nr + (second ? second->engine.held.nr : 0);
}

/* Blocks in memory that hold nothing. */
static unsigned int count_cached(struct mapped_device *md)
{
	const struct align_target *at = shim_md_target(md)->private;

	/* No point: others do not go on meanwhile. */
	return at->engine.blocks.nr.counter - at->engine.held.nr;
}

/* What a suspended device holds rests: none of it is taken to be written. */
static void check_rest(void)
{
	const struct align_target *at = shim_md_target(world.md)->private;
	int rest = at->engine.held.nr_resting.counter + at->engine.held.nr_idle.counter;

	if (rest != at->engine.held.nr)
		machine_fail("a suspended device holds %u blocks, and %d of them rest",
			     at->engine.held.nr, rest);
}

/* A suspend has ended: nothing of the device goes on. */
static void suspended(void)
{
	world.suspended = true;
	world.figures.suspends++;
	if (!world_is_suspended())
		return;
	if (drive_in_flight())
		machine_fail("a suspend ends, and %u requests are in flight",
			     drive_in_flight());
	if (!machine_is_weak())
		shim_unlocks = check_rest;
}

static void do_event(enum world_event event)
{
	struct mapped_device *other = world.lower ? world.lower : world.twin;
	struct mapped_device *md = other && machine_choose(2) ? other : world.md;
	unsigned int mode = event == EVENT_MODE || event == EVENT_RELOAD ?
			    machine_decide(3) : machine_choose(3);

	machine_say(STORY_EVENT, event, mode, 0, 0);
	world_count.events++;
	switch (event) {
	case EVENT_SUSPEND:
		/* A device below one that is suspended may not be the first. */
		if (shim_md_suspend(world.md))
			machine_fail("a suspend fails");
		if (count_cached(world.md))
			machine_fail("%u blocks are cached of a suspended device",
				     count_cached(world.md));
		suspended();
		/* In seconds the target would try what failed once more. */
		pause(machine_choose(4) ? 1000 : 20000000);
		/* This has the drain look for something to write. */
		send_number(world.md, "hold_ms", 1 + machine_choose(100));
		pause(1000);
		world.suspended = false;
		shim_unlocks = NULL;
		if (shim_md_resume(world.md))
			machine_fail("a resume fails");
		break;
	case EVENT_RELOAD:
		world.exact = false;
		drops_begin();
		if (load(world.md, world.lower ? "lower" : "drive",
			 world.lower ? 0 : world.plan->start,
			 world.plan->sectors, mode)) {
			drops_end();
			break;
		}
		pause(1000);
		if (shim_md_resume(world.md))
			machine_fail("a resume with a new table fails");
		drops_end();
		break;
	case EVENT_MODE:
		if (md == world.md)
			world.figures.modes = true;
		if (send_message(md, "mode", (char *)mode_names[mode]))
			break;
		if (md == world.md)
			world.figures.mode = mode;
		if (mode != 2 && count_held(md))
			machine_fail("in mode %s %u blocks are held",
				     mode_names[mode], count_held(md));
		break;
	case EVENT_FLUSH:
		send_message(md, "flush", NULL);
		break;
	case EVENT_MAX_BLOCKS:
		send_number(md, "max_blocks", 1 + machine_choose(16));
		break;
	case EVENT_HOLD_MS:
		send_number(md, "hold_ms", 1 + machine_choose(1000));
		break;
	case EVENT_DROP_FAILED:
		drops_begin();
		send_message(md, "drop_failed", NULL);
		drops_end();
		break;
	case EVENT_SLEEP:
		shim_sleep_event(PM_SUSPEND_PREPARE);
		pause(1000);
		shim_sleep_event(PM_POST_SUSPEND);
		break;
	case EVENT_LIMITS:
		world.figures.limits = true;
		drive_change_limits();
		break;
	case EVENT_CACHE:
		drive_change_cache();
		break;
	case EVENT_KINDS:
		break;
	}
}

static void note_ledger(void)
{
	const struct align_target *at = shim_md_target(world.md)->private;
	unsigned int i;

	for (i = 0; i < LEDGER_NR; i++)
		note_outcome((1ULL << 60) + i, ledger_read(at->ledger, i));
}

#define CHECK(name, expected) \
	do { \
		u64 _is = ledger_read(ledger, LEDGER_##name); \
		u64 _must = (expected); \
		if (_is != _must) \
			machine_fail("the ledger has %s %llu, and there were %llu", \
				     #name, _is, _must); \
	} while (0)
#define READ(name) ledger_read(ledger, LEDGER_##name)

/* What the drive counts, against the sum of all targets on it. */
static void check_drive_count(const char *name, unsigned int which, u64 is)
{
	struct mapped_device *md[] = { world.md, world.twin };
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(md); i++) {
		const struct align_target *at;

		if (!md[i])
			continue;
		at = shim_md_target(md[i])->private;
		sum += ledger_read(at->ledger, which);
	}
	if (sum != is)
		machine_fail("the ledgers above the drive have %s %llu, and the drive counts %llu",
			     name, sum, is);
}

/* The ledger, when nothing is in flight and nothing held. */
static void check_ledger(void)
{
	struct align_target *at = shim_md_target(world.md)->private;
	u64 bounced;
	const struct ledger *ledger = at->ledger;
	const struct sent *sent = &world.sent;
	const struct drive_count *drive = drive_count();

	CHECK(rmw_pending, 0);
	CHECK(held_blocks, 0);
	CHECK(held_bytes, 0);
	CHECK(degraded, 0);
	CHECK(rmw_expected, READ(rmw_avoided) + READ(rmw_host) +
	      READ(rmw_drive) + READ(rmw_lost));
	CHECK(writes, sent->writes);
	CHECK(write_bytes, sent->write_bytes);
	CHECK(reads, sent->reads);
	CHECK(read_bytes, sent->read_bytes);
	CHECK(fua, sent->fua);
	CHECK(discards, sent->discards);
	CHECK(write_zeroes, sent->zeroes);
	CHECK(rmw_expected, sent->touches);
	figures_check(&world.figures, at, world.lower, world.twin);
	if (world.lower)
		return;
	bounced = READ(bounce_reads);
	check_drive_count("pad_reads", LEDGER_pad_reads,
			  drive->reads - bounced);
	check_drive_count("pad_read_bytes", LEDGER_pad_read_bytes,
			  drive->read_bytes -
			  bounced * world.plan->logical * SECTOR_SIZE);
	if (!world.plan->error_one_in && !world.plan->bad_nr &&
	    !READ(uncut) && !READ(rmw_drive_read_error))
		check_drive_count("rmw_drive", LEDGER_rmw_drive,
				  drive->partial);
}

/* Read all of a device, as a user. */
static void read_all(struct user *user, unsigned int sectors, bool twin)
{
	unsigned int at = 0;

	while (at < sectors) {
		unsigned int left = sectors - at;
		struct world_op op = {
			.kind = OP_READ, .first = at, .twin = twin,
			.nr = 1 + machine_choose(min(left, 64U)), .pieces = 1,
		};

		wait_event(user->wait, user->in_flight < 8);
		at += op.nr;
		request_send(user, &op);
	}
	wait_event(user->wait, !user->in_flight);
}

/*
 * Without any flush, what is held goes by itself, what failed, too. Time may go on
 * while others could run, so a second here may be none for them: many seconds.
 */
static void wait_unasked(const struct align_target *at)
{
	unsigned int i;

	for (i = 0; i < 300 && READ_ONCE(at->engine.held.nr); i++)
		machine_sleep("hold_ms", machine_now() + 1000000000ULL);
	if (at->engine.held.nr)
		machine_fail("%u blocks are held for 300 s",
			     at->engine.held.nr);
}

/* Without any request, cached blocks are evicted by themselves. */
static void wait_unknown(const struct align_target *at)
{
	unsigned int i;

	for (i = 0; i < 300 && atomic_read(&at->engine.blocks.nr); i++)
		machine_sleep("cached blocks", machine_now() + 1000000000ULL);
	if (atomic_read(&at->engine.blocks.nr))
		machine_fail("%d blocks are in memory for 300 s, and no request is in flight",
			     atomic_read(&at->engine.blocks.nr));
}

static void check_forgotten(const struct align_target *at)
{
	if (atomic_read(&at->engine.blocks.nr))
		machine_fail("%d blocks are in memory behind the message flush",
			     atomic_read(&at->engine.blocks.nr));
}

/*
 * Behind the message flush nothing is held, and nothing cached of what was
 * written.
 */
static void forget(struct user *user)
{
	const struct align_target *at = shim_md_target(world.md)->private;
	const struct align_target *second = second_of(world.md);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct world_op op = {
			.kind = OP_WRITE, .pieces = 1, .nr = 1,
			.first = machine_choose(world.plan->sectors),
		};

		if (!has_no_room(user, &op))
			request_send(user, &op);
	}
	wait_event(user->wait, !user->in_flight);
	if (send_message(world.md, "flush", NULL))
		machine_fail("held blocks cannot be written to a good drive");
	check_forgotten(at);
	if (second)
		check_forgotten(second);
}

static void wait_idle(struct mapped_device *md)
{
	const struct align_target *at = shim_md_target(md)->private;
	const struct align_target *second = second_of(md);

	wait_unasked(at);
	wait_unknown(at);
	if (!second)
		return;
	wait_unasked(second);
	wait_unknown(second);
}

/* All requests have ended: the last words of a world. */
static void finish(void)
{
	struct user *user = &world.user[0];

	machine_explore(false);
	drive_mend();
	wait_idle(world.md);
	if (world.lower)
		wait_idle(world.lower);
	if (world.twin)
		wait_unasked(shim_md_target(world.twin)->private);
	forget(user);
	if (world.lower && send_message(world.lower, "flush", NULL))
		machine_fail("held blocks below cannot be written to a good drive");
	if (world.twin && send_message(world.twin, "flush", NULL))
		machine_fail("held blocks of the twin cannot be written to a good drive");
	note_ledger();
	/* What the drive sent back was counted, and its sender does not know. */
	if (world.exact && !drive_count()->again)
		check_ledger();
	read_all(user, world.plan->sectors, false);
	user_flush(user, false);
	if (world.twin) {
		read_all(user, world.plan->twin, true);
		user_flush(user, true);
	}
	wait_event(user->wait, !user->in_flight);
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

	drops_begin();
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

/* The reboot has found held blocks that are to be written. */
static bool reboot_writes;

bool __real_hold_stop(struct align_target *at, unsigned int why);
bool __wrap_hold_stop(struct align_target *at, unsigned int why);
bool __wrap_hold_stop(struct align_target *at, unsigned int why)
{
	bool frozen = at->engine.held.frozen;
	bool ret = __real_hold_stop(at, why);

	if (why == HOLD_STOPPED_REBOOT && stage_when_stopped)
		stage_when_stopped();
	/* A resume may come in between. */
	if (why == HOLD_STOPPED_REBOOT && at->engine.held.nr && !frozen &&
	    !at->engine.held.frozen)
		reboot_writes = true;
	return ret;
}

/*
 * Reboot while all goes on. Behind its deadline, what is held is not promised. In
 * front of it, an array below has a quiet second behind what is written.
 */
static void reboot(void)
{
	u64 began;

	pause(500);
	began = machine_now();
	shim_reboot();
	if (reboot_writes && machine_now() - began < REBOOT_QUIET_NS)
		machine_fail("a reboot that writes held blocks ends %llu ns after its begin",
			     machine_now() - began);
	machine_stop(machine_now() - began < REBOOT_NS ? "reboot" :
							 "late reboot");
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

/* What steps of a search change in any order, with the same result. */
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
		start_device(world.lower, "drive", plan->start, plan->sectors);
	}
	world.md = shim_md_new("upper", 3);
	/* Before it has a table that is live, or behind that. */
	if (plan->layer)
		dm_disk(world.md)->openers++;
	start_device(world.md, plan->stacked ? "lower" : "drive",
		     plan->stacked ? 0 : plan->start, plan->sectors);
	if (!plan->layer)
		dm_disk(world.md)->openers++;
	if (plan->has_twin) {
		world.twin = shim_md_new("twin", 4);
		start_device(world.twin, "drive", plan->start + plan->sectors,
			     plan->twin);
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
		/* What fails while requests are in flight is soon over. */
		pause(machine_choose(4) ? plan->bad_nr ? 40 : 200 :
					  1000 * plan->hold_ms);
		do_event(plan->event[i]);
	}
	part_ends();
	if (plan->reboot)
		reboot();
	wait_event(world.wait, !world.users);
	/* What is held is written until the power goes, which it does at any time. */
	if (plan->power)
		machine_sleep("the power", ~0ULL);
	finish();
	remove_all();
	machine_stop("done");
}
