// SPDX-License-Identifier: GPL-2.0
/*
 * The drive. A request is done in one step or several, at any time between its
 * arrival and its end, and ends in a hard interrupt. Other requests are done
 * meanwhile, in any order: the block layer promises none.
 */
#include <linux/sched.h>

#include "drive.h"
#include "media.h"
#include "shim.h"
#include "story.h"
#include "tags.h"

#define MOST_REQUESTS	512
/* Content of memory that the drive has not read into yet: no write's. */
#define SCRIBBLED	0xbad1bad1bad1bad1ULL

/**
 * struct request - a request in the drive
 * @done: sectors that are done, from the first on
 * @status: how it will end
 */
struct request {
	struct bio *bio;
	unsigned int done;
	blk_status_t status;
};

static struct {
	struct gendisk disk;
	struct block_device part;
	struct request_queue queue;
	const struct world_plan *plan;
	bool mended;
	bool through;		/* no volatile cache */
	struct request request[MOST_REQUESTS];
	unsigned int nr;
	struct bio_list done;	/* in a flood, and their ends are still to come */
	struct thread *thread, *power;
	wait_queue_head_t tags;
	bool trims;
	bool failed;		/* a request, in a search */
	struct drive_count count;
	struct drive_orders orders;
	unsigned int nr_seen;
} drive;

/* Sectors, as a search sees them. */
#define NOTED	64U
static u64 noted[NOTED];

const struct drive_count *drive_count(void)
{
	return &drive.count;
}

void drive_order(const struct drive_orders *orders)
{
	drive.orders = *orders;
	machine_wake(drive.thread);
}

const struct drive_seen *drive_seen(unsigned int nr)
{
	return nr < drive.nr_seen ? &drive.orders.seen[nr] : NULL;
}

void drive_forget_seen(void)
{
	drive.nr_seen = 0;
}

unsigned int drive_in_flight(void)
{
	return drive.nr;
}

void drive_mend(void)
{
	drive.mended = true;
}

/* Limits that a write to the drive's files in sysfs may set: a block always fits. */
void drive_change_limits(void)
{
	struct queue_limits *limits = &drive.queue.limits;
	unsigned int block = drive.plan->physical >> SECTOR_SHIFT;

	limits->max_sectors = machine_choose(3) ?
			      block * (1 + machine_choose(8)) : 2048;
	machine_point();
	limits->max_segments = machine_choose(3) ? 1 + machine_choose(8) : 128;
	machine_point();
	limits->max_segment_size = machine_choose(2) ?
				   PAGE_SIZE * (1 + machine_choose(4)) : 65536;
	machine_point();
	limits->chunk_sectors = machine_choose(3) ? 0 :
				block * (1 + machine_choose(8));
	machine_say("drive: max_sectors %llu, max_segments %llu, max_segment_size %llu, chunk_sectors %llu",
		    limits->max_sectors, limits->max_segments,
		    limits->max_segment_size, limits->chunk_sectors);
}

/* Switch the volatile cache; without it, completed writes are on the medium. */
void drive_change_cache(void)
{
	bool cache = !drive.disk.write_cache;

	if (!cache) {
		drive.through = true;
		media_flush();
	}
	machine_point();
	drive.disk.write_cache = cache;
	machine_point();
	drive.through = !cache;
	machine_say("drive: write cache %llu", cache, 0, 0, 0);
}

static u64 *sector_memory(struct bio *bio, struct bvec_iter *iter,
			  unsigned int n)
{
	struct bvec_iter at = *iter;
	struct bio_vec bv;

	bio_advance_iter(bio, &at, n << SECTOR_SHIFT);
	bv = bio_iter_iovec(bio, at);
	if (bv.bv_len < SECTOR_SIZE)
		machine_fail("a sector of a request lies in two pieces of memory");
	return (u64 *)((char *)page_address(bv.bv_page) + bv.bv_offset);
}

/* The number of sectors of which the drive does all or none. */
static unsigned int unit(void)
{
	return max(drive.plan->logical, 1U);
}

/* Whether a discard does sector @n; in a search it does all or none. */
static bool trims(unsigned int n)
{
	if (!machine_is_search() && unit() == 1)
		return machine_choose(2);
	if (machine_is_search() ? !n : !(n % unit()))
		drive.trims = machine_decide(2);
	return drive.trims;
}

/*
 * Stop inside a sector: its memory is the drive's, and another write there meanwhile
 * tears the sector.
 */
static void stop_inside(void)
{
	if (machine_current == drive.thread && !machine_is_search() &&
	    machine_chance(64))
		machine_switch();
}

/*
 * Scribble on the memory of a read that comes: from here to its end that is the
 * drive's, which has any bytes there.
 */
static void scribble(struct bio *bio)
{
	struct bvec_iter iter;
	struct bio_vec bv;
	unsigned int at;

	if (machine_is_search())
		return;
	__bio_for_each_segment(bv, bio, iter, bio->bi_iter)
		for (at = 0; at < bv.bv_len; at += SECTOR_SIZE)
			*(u64 *)((char *)page_address(bv.bv_page) +
				 bv.bv_offset + at) = SCRIBBLED;
}

/* Read a sector into memory, in two halves. */
static void fill(u64 *words, u64 tag, unsigned int sector)
{
	if (words[0] != SCRIBBLED && !machine_is_search())
		machine_fail("the memory of a read in flight is written: sector %u has %#llx",
			     sector, words[0]);
	tags_fill_half(words, tag);
	stop_inside();
	tags_fill_half(words + SECTOR_WORDS / 2, tag);
}

/* Return the content of a sector in memory, read in two halves. */
static u64 take(const u64 *words, unsigned int sector)
{
	u64 tag = words[0];
	const u64 *other = tags_other_half(words, tag);

	if (!other) {
		stop_inside();
		other = tags_other_half(words + SECTOR_WORDS / 2, tag);
	}
	if (other)
		machine_fail("a torn sector is written: %u has %#llx and %#llx",
			     sector, tag, *other);
	return tag;
}

/* Do a sector of a request. */
static void do_sector(struct bio *bio, unsigned int n)
{
	unsigned int sector = bio->bi_iter.bi_sector + n;
	unsigned int at = sector - drive.plan->base;

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		fill(sector_memory(bio, &bio->bi_iter, n), media_read(at),
		     sector);
		break;
	case REQ_OP_WRITE:
		media_write(at, take(sector_memory(bio, &bio->bi_iter, n),
				     sector));
		break;
	case REQ_OP_DISCARD:
		if (trims(n))
			media_write(at, 0);
		break;
	case REQ_OP_WRITE_ZEROES:
	case REQ_OP_SECURE_ERASE:
		media_write(at, 0);
		break;
	default:
		machine_fail("the drive gets a request %u", bio_op(bio));
	}
}

/* End a request that is done. Interrupt, or the submitter. */
static void end(void *argument)
{
	bio_endio(argument);
}

/*
 * End the request that was done first. In a flood, the number of requests that one
 * waits for must not be due to chance: there is always another end to choose.
 */
static void end_first(void *unused)
{
	bio_endio(bio_list_pop(&drive.done));
}

static enum req_op op_of(const struct bio *bio)
{
	return bio->bi_opf & REQ_PREFLUSH ? REQ_OP_FLUSH : bio_op(bio);
}

/* Whether the orders are that a request fails. */
static bool is_to_fail(const struct bio *bio)
{
	const struct drive_orders *orders = &drive.orders;

	return orders->fails & DRIVE_OP(op_of(bio)) &&
	       bio->bi_iter.bi_sector < orders->first + orders->nr &&
	       bio_end_sector(bio) > orders->first;
}

static bool is_to_wait(const struct request *request)
{
	const struct drive_orders *orders = &drive.orders;
	sector_t sector = request->bio->bi_iter.bi_sector;

	return orders->waits & DRIVE_OP(op_of(request->bio)) &&
	       sector >= orders->waits_from && sector < orders->waits_to;
}

static void keep_seen(const struct bio *bio)
{
	if (!drive.orders.seen)
		return;
	if (drive.nr_seen == DRIVE_SEEN)
		machine_fail("a scene has more than %u requests", DRIVE_SEEN);
	drive.orders.seen[drive.nr_seen++] = (struct drive_seen) {
		.ns = machine_now(), .op = op_of(bio),
		.sector = bio->bi_iter.bi_sector, .nr = bio_sectors(bio),
		.opf = bio->bi_opf, .ioprio = bio->bi_ioprio,
		.hint = bio->bi_write_hint, .stream = bio->bi_write_stream,
		.cgroup = bio->cgroup, .nobodys = bio->nobodys, .by = current,
	};
}

static bool is_bad(const struct bio *bio)
{
	const struct world_plan *plan = drive.plan;

	return bio_op(bio) == REQ_OP_WRITE && plan->bad_nr &&
	       bio->bi_iter.bi_sector < plan->bad_first + plan->bad_nr &&
	       bio_end_sector(bio) > plan->bad_first;
}

/* Do some of a request, or all. Return: it is done. */
static bool step(struct request *request)
{
	struct bio *bio = request->bio;
	unsigned int left = bio_sectors(bio) - request->done, n;

	if (request->status) {
		bio->bi_status = request->status;
		return true;
	}
	if (bio->bi_opf & REQ_PREFLUSH) {
		media_flush();
		return true;
	}
	n = left > 1 && machine_chance(4) ? 1 + machine_choose(left) : left;
	n += (left - n) % unit();
	while (n--)
		do_sector(bio, request->done++);
	if (request->done < bio_sectors(bio))
		return false;
	if (bio->bi_opf & REQ_FUA || bio->kept || drive.through)
		for (n = 0; n < bio_sectors(bio); n++)
			media_settle(bio->bi_iter.bi_sector -
				     drive.plan->base + n);
	return true;
}

static void say_done(const struct bio *bio)
{
	machine_say(STORY_DONE, bio_op(bio), bio->bi_iter.bi_sector,
		    bio_sectors(bio), 0);
}

/* Return the @nr-th request that the drive could do next, or NULL. */
static const void *offer(unsigned int nr)
{
	return nr < drive.nr ? drive.request[nr].bio : NULL;
}

/* Choose a request: a search has chosen already. Return: NULL if all wait. */
static struct request *choose_request(void)
{
	unsigned int first, i;

	for (i = 0; i < drive.nr; i++)
		if (drive.request[i].bio == drive.thread->offered)
			return &drive.request[i];
	first = machine_choose(drive.nr);
	for (i = 0; i < drive.nr; i++) {
		struct request *request = &drive.request[(first + i) % drive.nr];

		if (!is_to_wait(request))
			return request;
	}
	return NULL;
}

/* A search needs to know which sectors a request reads or writes. */
static void note_request(const struct bio *bio)
{
	unsigned int from = bio->bi_iter.bi_sector, nr = bio_sectors(bio), i;
	bool all = bio->bi_opf & REQ_PREFLUSH;

	for (i = all ? 0 : from; i < (all ? NOTED : from + nr); i++)
		machine_note(&noted[i % NOTED], all || bio_op(bio) != REQ_OP_READ);
}

/* Let other threads go on for a while, and cut the power. */
static void go_late(void *unused)
{
	unsigned int i;

	for (i = 0; i < drive.plan->cut_late; i++)
		machine_switch();
	machine_stop("cut");
}

/* Whether the power goes now; it may have begun to go. */
static bool is_cut(void)
{
	const struct world_plan *plan = drive.plan;

	if (!plan->cut_after || drive.count.requests < plan->cut_after)
		return false;
	if (plan->cut_late && !drive.power)
		drive.power = machine_start(CONTEXT_DEVICE, "power", go_late,
					    NULL);
	return !plan->cut_late;
}

/* Do nothing for a time, though requests come and wake the drive. */
static void hang(void)
{
	u64 until = machine_now() + 1000000ULL * drive.plan->hang_ms;

	while (machine_now() < until)
		machine_sleep("the drive hangs", until);
}

/* Sort the requests of a search by sector: when they came makes no two states. */
static bool comes_before(const struct bio *bio, const struct bio *other)
{
	if (bio->bi_iter.bi_sector != other->bi_iter.bi_sector)
		return bio->bi_iter.bi_sector < other->bi_iter.bi_sector;
	if (bio->bi_iter.bi_size != other->bi_iter.bi_size)
		return bio->bi_iter.bi_size < other->bi_iter.bi_size;
	return bio->bi_opf < other->bi_opf;
}

static void put_in(struct request request)
{
	unsigned int i = drive.nr++;

	for (; i && machine_is_search() &&
	     comes_before(request.bio, drive.request[i - 1].bio); i--)
		drive.request[i] = drive.request[i - 1];
	drive.request[i] = request;
}

static void take_out(struct request *request)
{
	drive.nr--;
	if (machine_is_search())
		for (; request < &drive.request[drive.nr]; request++)
			*request = request[1];
	else
		*request = drive.request[drive.nr];
	drive.request[drive.nr] = (struct request) { 0 };
}

/*
 * Do some of a request, which leaves nothing on the stack that a search would see.
 * Return: false if none may be done now.
 */
static noinline bool do_some(void)
{
	struct request *request = choose_request();
	struct bio *bio;

	if (!request)
		return false;
	bio = request->bio;
	note_request(bio);
	if (!step(request))
		return true;
	take_out(request);
	drive.count.requests++;
	world_count.drive++;
	say_done(bio);
	if (is_cut())
		machine_stop("cut");
	if (drive.plan->flood) {
		bio_list_add(&drive.done, bio);
		machine_interrupt(CONTEXT_HARDIRQ, "drive", end_first, NULL);
	} else {
		machine_interrupt(CONTEXT_HARDIRQ, "drive", end, bio);
	}
	if (drive.tags.nr)
		machine_interrupt(CONTEXT_HARDIRQ, "tags",
				  (void (*)(void *))wake_up, &drive.tags);
	return true;
}

static void drive_main(void *unused)
{
	bool hung = false;

	for (;;) {
		if (!drive.nr)
			machine_sleep("requests", ~0ULL);
		if (!drive.nr)
			continue;
		if (machine_chance(drive.plan->slow_one_in))
			machine_sleep("the medium", machine_now() + 1000ULL *
				      machine_choose(20000));
		if (drive.plan->hang_at &&
		    drive.count.requests + 1 == drive.plan->hang_at && !hung) {
			hung = true;
			hang();
		}
		if (!do_some()) {
			machine_sleep("orders", ~0ULL);
			continue;
		}
		machine_switch();
	}
}

/*
 * Count the physical blocks that a write covers in part. Where the device offers
 * smaller logical blocks, leave out edge blocks whose part in the device it covers.
 */
static void count_partial(const struct bio *bio, unsigned int block,
			  unsigned int lead)
{
	const struct world_plan *plan = drive.plan;
	unsigned int first = bio->bi_iter.bi_sector + lead;
	unsigned int end = bio_end_sector(bio) + lead;
	bool head = first % block, tail = end % block;

	if (head && plan->logical && first == plan->start + lead) {
		head = false;
		drive.count.outside += first % block * SECTOR_SIZE;
	}
	if (tail && plan->logical && end == plan->start + plan->sectors + lead) {
		tail = false;
		drive.count.outside += (block - end % block) * SECTOR_SIZE;
	}
	drive.count.partial += first / block == end / block ? head || tail :
							      head + tail;
}

static void count(const struct bio *bio)
{
	const struct world_plan *plan = drive.plan;
	unsigned int block = plan->physical >> SECTOR_SHIFT;
	unsigned int lead = (block - (plan->offset >> SECTOR_SHIFT)) % block;
	unsigned int first = bio->bi_iter.bi_sector + lead;
	unsigned int end = bio_end_sector(bio) + lead;

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		if (!shim_is_clone(bio)) {
			drive.count.reads++;
			drive.count.read_bytes += bio->bi_iter.bi_size;
		}
		break;
	case REQ_OP_WRITE:
		drive.count.written += bio->bi_iter.bi_size;
		if (first < end)
			drive.count.block_bytes += ((end - 1) / block -
						    first / block + 1) *
						   plan->physical;
		fallthrough;
	case REQ_OP_WRITE_ZEROES:
		if (first < end)
			count_partial(bio, block, lead);
		break;
	default:
		break;
	}
}

/*
 * A request must be of whole logical blocks, none of them with memory that the drive does
 * not take; and inside the device, where that may end inside a physical block.
 */
static void check_whole(const struct bio *bio)
{
	const struct world_plan *plan = drive.plan;
	unsigned int nr = unit(), bytes = 0;
	struct bvec_iter iter;
	struct bio_vec bv;
	u64 last = 0;

	if (bio_sectors(bio) &&
	    (bio->bi_iter.bi_sector | bio_sectors(bio)) % nr)
		machine_fail("a request of %u at %llu + %u is not whole in logical blocks of the drive",
			     bio_op(bio), bio->bi_iter.bi_sector,
			     bio_sectors(bio));
	if (plan->logical && bio_sectors(bio) &&
	    (bio->bi_iter.bi_sector < plan->start ||
	     bio_end_sector(bio) > plan->start + plan->sectors))
		machine_fail("a request of %u at %llu + %u lies beside the device",
			     bio_op(bio), bio->bi_iter.bi_sector,
			     bio_sectors(bio));
	if ((!plan->gapless && !plan->large_memory) ||
	    (bio_op(bio) != REQ_OP_READ && bio_op(bio) != REQ_OP_WRITE))
		return;
	__bio_for_each_bvec(bv, bio, iter, bio->bi_iter) {
		if (drive.plan->large_memory &&
		    (bv.bv_offset | bv.bv_len) % min(nr * SECTOR_SIZE, (unsigned int)PAGE_SIZE))
			machine_fail("a request at %llu + %u has a segment of a part of a logical block",
				     bio->bi_iter.bi_sector, bio_sectors(bio));
		if (drive.plan->gapless && bytes % (nr * SECTOR_SIZE) &&
		    ((last | bv.bv_offset) & (PAGE_SIZE - 1)))
			machine_fail("a request at %llu + %u has a gap inside a logical block",
				     bio->bi_iter.bi_sector, bio_sectors(bio));
		bytes += bv.bv_len;
		last = bv.bv_offset + bv.bv_len;
	}
}

/* A device that needs large pieces of memory says so, or, as a loop device, nothing. */
static unsigned int dma_alignment(const struct world_plan *plan)
{
	if (!plan->logical || (plan->large_memory && plan->gapless))
		return SECTOR_SIZE - 1;
	return plan->large_memory ? min(plan->logical * SECTOR_SIZE,
					(unsigned int)PAGE_SIZE) - 1 : 3;
}

static void drive_submit(struct bio *bio)
{
	const struct world_plan *plan = drive.plan;
	struct request request = { .bio = bio };

	if (bio_end_sector(bio) > drive.disk.sectors ||
	    (bio_sectors(bio) && bio->bi_iter.bi_sector < plan->base))
		machine_fail("a request is not for what can be used of the drive: %llu + %u",
			     bio->bi_iter.bi_sector, bio_sectors(bio));
	while (drive.nr >= plan->tags && !current->unplugs) {
		if (bio->bi_opf & REQ_NOWAIT) {
			drive.count.again++;
			bio_wouldblock_error(bio);
			return;
		}
		/* A driver's queue: requests that are submitted meanwhile wait, too. */
		wait_event(drive.tags, drive.nr < plan->tags);
	}
	check_whole(bio);
	if (drive.nr == MOST_REQUESTS)
		machine_fail("more than %d requests are in the drive",
			     MOST_REQUESTS);
	if (world_is_suspended())
		machine_fail("a request comes from a suspended device");
	count(bio);
	keep_seen(bio);
	if (bio_op(bio) == REQ_OP_READ)
		scribble(bio);
	machine_say(STORY_BELOW, bio_op(bio), bio->bi_iter.bi_sector,
		    bio_sectors(bio), bio->bi_opf >> 8);
	bio->bi_status = BLK_STS_OK;
	if (!drive.mended &&
	    (is_bad(bio) || is_to_fail(bio) ||
	     machine_once(plan->error_one_in, &drive.failed))) {
		request.status = BLK_STS_IOERR;
		/* The request may have been done in part. */
		if (machine_choose(2) && !(bio->bi_opf & REQ_PREFLUSH) &&
		    bio_op(bio) != REQ_OP_READ && !is_bad(bio) &&
		    !drive.orders.fails) {
			unsigned int n = machine_choose(bio_sectors(bio) + 1);

			n -= n % unit();
			while (n--)
				do_sector(bio, n);
		}
	}
	if (plan->inline_end && machine_choose(2) && !request.status) {
		while (!step(&request))
			;
		drive.count.requests++;
		world_count.drive++;
		say_done(bio);
		bio_endio(bio);
		return;
	}
	put_in(request);
	machine_wake(drive.thread);
	machine_point();
}

struct gendisk *drive_new(const struct world_plan *plan)
{
	drive.plan = plan;
	drive.queue.mq = true;
	drive.queue.td = plan->limited ? (struct throtl_data *)&drive : NULL;
	drive.through = plan->layer;
	drive.queue.limits = (struct queue_limits) {
		.max_sectors = plan->max_sectors,
		.max_write_zeroes_sectors = plan->zeroes,
		.physical_block_size = plan->physical,
		.logical_block_size = max(plan->logical, 1U) * SECTOR_SIZE,
		.virt_boundary_mask = plan->gapless ? PAGE_SIZE - 1 : 0,
		.io_min = plan->physical,
		.alignment_offset = plan->offset,
		.discard_granularity = plan->granule * SECTOR_SIZE,
		.dma_alignment = dma_alignment(plan),
		.max_segment_size = 65536,
		.max_segments = 128,
		.seg_boundary_mask = ~0UL,
	};
	drive.part = (struct block_device) {
		.bd_disk = &drive.disk, .bd_nr_sectors = plan->base + MEDIA_SECTORS,
	};
	drive.disk = (struct gendisk) {
		.part0 = &drive.part, .queue = &drive.queue,
		.device = { .parent = &drive.disk.device, .registered = true },
		.write_cache = !plan->layer, .sectors = plan->base + MEDIA_SECTORS,
		.submit = drive_submit, .dev = 1,
	};
	shim_disk_add("drive", &drive.disk);
	drive.thread = machine_start(CONTEXT_DEVICE, "drive", drive_main, NULL);
	drive.thread->offers = offer;
	/* The order of requests in the array means nothing. */
	machine_ignore(&drive, sizeof(drive));
	return &drive.disk;
}
