// SPDX-License-Identifier: GPL-2.0
/*
 * The part of alignctl record --requests that runs in the kernel, as BPF
 * programs: follows each write to a disk from its arrival through splits and
 * merges to the requests that are issued to the driver.
 *
 * A write is a bio and gets a number. The map bios knows the number of each bio
 * in flight; a part that is split off is a bio of its own and gets that of the
 * bio which it is chained to. A request has a list of bios, which name their
 * writes. Sectors decide nothing: several writes to the same ones may be in
 * flight.
 *
 * The address of a bio is used again after its end. It is removed from the map
 * there, and replaced or removed at its next arrival at any disk, so that one
 * whose end was missed is not taken for another. The end of a bio in a request is
 * that of the request; only one that never got into a request has an event of its
 * own.
 */
#include "observe/block.bpf.h"
#include "record/follow_events.h"

#define SECTOR_SHIFT	9

/**
 * struct followed - a bio in flight
 * @number: number of the write
 * @sector: first sector on the disk
 * @end: first sector after it
 * @whole: of a part that was split off, the bio that it was split from; else 0
 * @left: of a whole write, bytes of it and its parts that have not ended
 */
struct followed {
	__u64 number;
	__u64 sector;
	__u64 end;
	__u64 whole;
	__u64 left;
};

/* How much room these two have, userspace says. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct followed);
} bios SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct follow_lost);
} lost SEC(".maps");

/* Numbers that were given last; 0 stands for none. */
__u64 last_write, last_request;

#define count_lost(member)						\
	do {								\
		__u32 first_ = 0;					\
		struct follow_lost *l_ = bpf_map_lookup_elem(&lost,	\
							     &first_);	\
		if (l_)							\
			add(l_->member, 1);				\
	} while (0)

/* Send an event; false, and it is counted, if there is no room for it. */
static __always_inline bool send(struct follow_event *event,
				 enum follow_kind kind)
{
	event->kind = kind;
	event->time_ns = bpf_ktime_get_ns();
	/* userspace looks for events by itself, from time to time */
	if (!bpf_ringbuf_output(&events, event, sizeof(*event),
				BPF_RB_NO_WAKEUP))
		return true;
	count_lost(kind[kind]);
	return false;
}

static __always_inline __u64 end_of(const struct bio *bio)
{
	return bio->bi_iter.bi_sector + (bio->bi_iter.bi_size >> SECTOR_SHIFT);
}

/* Check whether a bio is a write to the device, at least in part. */
static __always_inline bool is_followed(struct bio *bio)
{
	__u64 sector = bio->bi_iter.bi_sector;
	__u64 sectors = bio->bi_iter.bi_size >> SECTOR_SHIFT;

	return is_write(bio->bi_opf) && is_disk(bio->bi_bdev->bd_disk) &&
	       cut_to_device(&sector, &sectors);
}

/* Keep a bio that is followed; false, and none is kept there, without room. */
static __always_inline bool keep(__u64 address, const struct followed *followed)
{
	if (!bpf_map_update_elem(&bios, &address, followed, BPF_ANY))
		return true;
	bpf_map_delete_elem(&bios, &address);
	return false;
}

static __always_inline void follow(struct bio *bio)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct follow_event event = {
		.number = __sync_fetch_and_add(&last_write, 1) + 1,
		.sector = bio->bi_iter.bi_sector,
		.bytes = bio->bi_iter.bi_size,
		.zeroes = (bio->bi_opf & OP_MASK) == OP_WRITE_ZEROES,
		.pid = (__u32)bpf_get_current_pid_tgid(),
	};
	struct followed followed = {
		.number = event.number, .sector = event.sector,
		.end = end_of(bio), .left = event.bytes,
	};
	__u64 address = (__u64)bio;

	if (!keep(address, &followed)) {
		count_lost(map_full);
		return;
	}
	bpf_core_read_str(event.comm, sizeof(event.comm), &task->comm);
	if (!send(&event, FOLLOW_WRITE))
		bpf_map_delete_elem(&bios, &address);
}

static __always_inline void arrive(struct bio *bio)
{
	__u64 address = (__u64)bio;

	if (is_followed(bio))
		follow(bio);
	else
		bpf_map_delete_elem(&bios, &address);
}

/* A bio arrives at a disk, before it is split. */
#define ARRIVAL_PROGRAM(name, turn)				\
SEC("tp_btf/block_bio_queue")					\
int BPF_PROG(name, struct bio *bio)				\
{								\
	if (take_turn(bio, turn, OBSERVED_ARRIVAL))		\
		arrive(bio);					\
	return 0;						\
}
EACH_TURN(ARRIVAL_PROGRAM, bio_queue)

static __always_inline void follow_part(struct bio *part)
{
	__u64 address = (__u64)part, whole = 0;
	struct followed *parent, followed = { 0 };
	struct follow_event event = {
		.sector = part->bi_iter.bi_sector,
		.bytes = part->bi_iter.bi_size,
	};

	/* bio_chain() was before: the end of the part is told to the whole */
	bpf_core_read(&whole, sizeof(whole), &part->bi_private);
	parent = bpf_map_lookup_elem(&bios, &whole);
	if (!parent) {
		bpf_map_delete_elem(&bios, &address);
		return;
	}
	event.number = followed.number = parent->number;
	followed.whole = parent->whole ? parent->whole : whole;
	followed.sector = event.sector;
	followed.end = end_of(part);
	if (!keep(address, &followed))
		count_lost(splits_full);
	send(&event, FOLLOW_SPLIT);
}

static __always_inline void split(struct bio *part)
{
	if (is_write(part->bi_opf) && is_disk(part->bi_bdev->bd_disk))
		follow_part(part);
}

/* The first part of a bio was split off, and the rest is sent on. */
#define SPLIT_PROGRAM(name, turn)				\
SEC("tp_btf/block_split")					\
int BPF_PROG(name, struct bio *part, unsigned int new_sector)	\
{								\
	if (take_turn(part, turn, OBSERVED_SPLIT))		\
		split(part);					\
	return 0;						\
}
EACH_TURN(SPLIT_PROGRAM, bio_split)

/* Find a bio that is followed; one that is not within it is another one. */
static __always_inline struct followed *find(__u64 address, __u64 sector,
					     __u64 sectors)
{
	struct followed *followed = bpf_map_lookup_elem(&bios, &address);

	return followed && sector >= followed->sector &&
	       sector + sectors <= followed->end ? followed : NULL;
}

/* Where the walk along the bios of a request is. */
struct walk {
	__u64 bio;
	struct follow_event event;
};

static long send_bio(__u32 index, struct walk *walk)
{
	__u64 address = walk->bio, sector = 0, sectors;
	struct bio *bio = (void *)address;
	struct followed *followed;
	__u32 bytes = 0;

	if (!address)
		return 1;
	bpf_core_read(&sector, sizeof(sector), &bio->bi_iter.bi_sector);
	bpf_core_read(&bytes, sizeof(bytes), &bio->bi_iter.bi_size);
	bpf_core_read(&walk->bio, sizeof(walk->bio), &bio->bi_next);
	walk->event.number = 0;
	walk->event.sector = sector;
	walk->event.bytes = bytes;
	sectors = bytes >> SECTOR_SHIFT;
	followed = find(address, sector, sectors);
	if (followed)
		walk->event.number = followed->number;
	if (!cut_to_device(&sector, &sectors))
		return 0;
	if (send(&walk->event, FOLLOW_REQUEST))
		walk->event.first = 0;
	return 0;
}

static __always_inline void follow_request(struct request *rq)
{
	__u64 sector = rq->__sector, sectors = rq->__data_len >> SECTOR_SHIFT;
	struct walk walk = { 0 };

	if (!is_write(rq->cmd_flags) || !is_disk(rq->q->disk) ||
	    !cut_to_device(&sector, &sectors))
		return;
	bpf_core_read(&walk.bio, sizeof(walk.bio), &rq->bio);
	walk.event.first = 1;
	walk.event.request = __sync_fetch_and_add(&last_request, 1) + 1;
	walk.event.request_sector = rq->__sector;
	walk.event.request_bytes = rq->__data_len;
	walk.event.zeroes = (rq->cmd_flags & OP_MASK) == OP_WRITE_ZEROES;
	bpf_loop(FOLLOW_MAX_BIOS, send_bio, &walk, 0);
	if (walk.bio)
		count_lost(long_requests);
}

/* A request, behind merges and splits, goes to the driver. */
#define ISSUE_PROGRAM(name, turn)				\
SEC("tp_btf/block_rq_issue")					\
int BPF_PROG(name, struct request *rq)				\
{								\
	if (take_turn(rq, turn, OBSERVED_ISSUE))		\
		follow_request(rq);				\
	return 0;						\
}
EACH_TURN(ISSUE_PROGRAM, rq_issue)

/* Tell the end of a write, that of all of its parts, and forget it. */
static __always_inline void end(__u64 address, __u64 number, bool sent_back)
{
	struct follow_event event = { .number = number,
				      .sent_back = sent_back };

	send(&event, FOLLOW_END);
	bpf_map_delete_elem(&bios, &address);
}

/* Where the walk along the bios of a request that have ended is. */
struct walk_ended {
	__u64 bio;
	__u64 left;
};

static long end_bio(__u32 index, struct walk_ended *walk)
{
	__u64 address = walk->bio, sector = 0, whole, number;
	struct bio *bio = (void *)address;
	struct followed *followed;
	__u32 size = 0, bytes;

	if (!address || !walk->left)
		return 1;
	bpf_core_read(&sector, sizeof(sector), &bio->bi_iter.bi_sector);
	bpf_core_read(&size, sizeof(size), &bio->bi_iter.bi_size);
	bpf_core_read(&walk->bio, sizeof(walk->bio), &bio->bi_next);
	bytes = size < walk->left ? size : walk->left;
	walk->left -= bytes;
	followed = find(address, sector, size >> SECTOR_SHIFT);
	if (!followed)
		return 0;
	number = followed->number;
	whole = followed->whole;
	if (whole) {
		if (bytes == size)
			bpf_map_delete_elem(&bios, &address);
		address = whole;
		followed = bpf_map_lookup_elem(&bios, &address);
		if (!followed || followed->number != number)
			return 0;
	}
	if (__sync_fetch_and_add(&followed->left, -(__u64)bytes) == bytes)
		end(address, number, false);
	return 0;
}

static __always_inline void end_request(struct request *rq, __u32 bytes)
{
	struct walk_ended walk = { .left = bytes };

	if (!is_write(rq->cmd_flags) || !is_disk(rq->q->disk))
		return;
	bpf_core_read(&walk.bio, sizeof(walk.bio), &rq->bio);
	bpf_loop(FOLLOW_MAX_BIOS, end_bio, &walk, 0);
}

/* A request, or a part of one, has been completed. */
#define END_PROGRAM(name, turn)						\
SEC("tp_btf/block_rq_complete")						\
int BPF_PROG(name, struct request *rq, int error, unsigned int bytes)	\
{									\
	if (take_turn(rq, turn, OBSERVED_COMPLETION))			\
		end_request(rq, bytes);					\
	return 0;							\
}
EACH_TURN(END_PROGRAM, rq_complete)

static __always_inline void end_alone(struct bio *bio)
{
	__u64 address = (__u64)bio;
	struct followed *followed;

	if (!is_write(bio->bi_opf))
		return;
	followed = bpf_map_lookup_elem(&bios, &address);
	if (!followed)
		return;
	if (followed->whole)
		bpf_map_delete_elem(&bios, &address);
	else
		end(address, followed->number, bio->bi_status == STATUS_AGAIN);
}

/* What the other program has seen is not in the map any more. */
SEC("tp_btf/block_bio_complete")
int BPF_PROG(bio_complete_again, struct request_queue *queue, struct bio *bio)
{
	end_alone(bio);
	return 0;
}

/*
 * A bio has ended that was in no request: it failed, or was sent back; or it is
 * the whole of one whose last part was. Those in requests are not told here.
 */
SEC("tp_btf/block_bio_complete")
int BPF_PROG(bio_complete, struct request_queue *queue, struct bio *bio)
{
	end_alone(bio);
	return 0;
}
