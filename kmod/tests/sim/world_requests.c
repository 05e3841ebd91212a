// SPDX-License-Identifier: GPL-2.0
/*
 * The users of a world: threads that send requests, and judge the results by the
 * requests of all users.
 */
#include <linux/moduleparam.h>

#include "drive.h"
#include "op_flags.h"
#include "oracle.h"
#include "shim.h"
#include "story.h"
#include "tags.h"
#include "world_own.h"

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
/* Pieces of memory of a request. */
#define MOST_PIECES	8U

/**
 * struct request - a request of a user
 * @write: the oracle's part of it
 * @began: when it began, of a read or a flush
 * @began_ns: when it was sent
 * @requests: requests of the drive then
 * @times: how often held data may have been given up until then
 * @number: number in the world
 * @tag: number of the write, of one
 * @ended: the same when the target had ended the first part; ~0: it has not. Of two
 *	targets the one below may have ended a part, and lose it, long before the one
 *	above, so there it is as at the begin.
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
	/* A request sent back is counted nowhere, unless a target below sent it back. */
	if (status != BLK_STS_AGAIN)
		note_sent(op);
	else if (world.lower)
		world.exact = false;
	/* The data of a write whose flush failed were not sent. */
	if (status && op->kind == OP_FLUSH_FUA)
		world.exact = false;
}

/*
 * Whether held data could be given up while a request was in flight. The request may
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
void world_note_outcome(u64 of, u64 value)
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
 * Errors reach the requests that they concern: where nothing is broken but some
 * sectors, a write elsewhere ends well, unless held data were given up meanwhile, or
 * a flush that went before it failed.
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

/* Return a number that tells a request from others, in any order of arrival. */
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
			world_note_outcome(id_of(request) + 1 + i, words[0]);
		}
		oracle_read_end(request->began);
		break;
	case OP_FLUSH_FUA:
	case OP_FUA:
	case OP_WRITE:
	case OP_DISCARD:
	case OP_ZEROES:
		/*
		 * Data given up while the write ends, or after the target has ended
		 * it, may be a part of it: the one comes before the other or after.
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
 * Check the memory in blocks of all devices. A table that is loaded makes the parts
 * of the other tables smaller, and blocks above them stay.
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
	world_note_outcome(id_of(request), bio->bi_status);
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

/* Whether a target begins or ends at a sector of the device that a request is for. */
static bool is_edge(const struct world_op *op, unsigned int sector)
{
	const struct world_plan *plan = world.plan;

	if (op->twin)
		return !sector || sector == plan->twin;
	return !sector || sector == plan->border || sector == plan->sectors;
}

/* Tell the oracle which blocks a discard has whole, or as far as a target has them. */
static void note_whole(const struct request *request)
{
	const struct world_op *op = &request->op;
	const struct world_plan *plan = world.plan;
	unsigned int block = plan->physical >> SECTOR_SHIFT;
	unsigned int at = plan->start + block - (plan->offset >> SECTOR_SHIFT) %
			  block;
	unsigned int first = oracle_sector(op);
	unsigned int end = first + op->nr;
	unsigned int over = is_edge(op, op->first + op->nr) ? 0 : (end + at) % block;

	if (!is_edge(op, op->first))
		first += (block - (first + at) % block) % block;
	if (over < end)
		oracle_whole(&request->write, first, end - over);
}

/* A request's place in the plan, the same in each order; all others share a number. */
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

void user_send(struct user *user, const struct world_op *op)
{
	struct request *request = kzalloc(sizeof(*request), GFP_NOIO);
	enum oracle_effect effect = op->kind == OP_ZEROES ? ORACLE_ZEROES :
				    op->kind == OP_DISCARD ? ORACLE_DISCARD :
				    ORACLE_WRITE;

	request->user = user;
	request->op = *op;
	request->began_ns = machine_now();
	/* The time that a request waits makes no two states of a search. */
	request->requests = machine_is_search() ? 0 : drive_count()->requests;
	user->requests = request->requests;
	request->times = world.times;
	request->ended = world.lower ? world.times : ~0U;
	request->number = number_of(op);
	request->bio = kmalloc(sizeof(struct bio) +
			       MOST_PIECES * sizeof(struct bio_vec), GFP_NOIO);
	bio_init(request->bio, dm_disk(op->twin ? world.twin : world.md)->part0,
		 (struct bio_vec *)(request->bio + 1), MOST_PIECES,
		 op_flags(op));
	request->bio->bi_iter.bi_sector = op->kind == OP_FLUSH ? 0 : op->first;
	request->bio->cgroup = world.plan->limited && user->number % 2;
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

void user_flush(struct user *user, bool twin)
{
	const struct world_op flush = { .kind = OP_FLUSH, .twin = twin };

	user_send(user, &flush);
}

/*
 * Wait until the oracle can follow one more write. Return: it cannot, as flushes
 * fail, and the write is left out.
 */
bool user_has_no_room(struct user *user, const struct world_op *op)
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

void user_main(void *argument)
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
		if (user_has_no_room(user, op))
			continue;
		user_send(user, op);
		if (op->wait) {
			blk_finish_plug(&plug);
			wait_event(user->wait, !user->in_flight);
		}
	}
	blk_finish_plug(&plug);
	wait_event(user->wait, !user->in_flight);
	world.calm |= !user->number;
	world.users--;
	world_part_ends();
	/* In a search, a wake-up for nothing would be one more step. */
	if (!machine_is_search() || !world.users)
		wake_up(&world.wait);
}
