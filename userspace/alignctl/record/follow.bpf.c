// SPDX-License-Identifier: GPL-2.0
/*
 * The part of alignctl record --requests that runs in the kernel, as BPF
 * programs: follows each write to a disk from its arrival through splits and
 * merges to the requests that are issued to the driver.
 *
 * A write is a bio and gets a number, which the map writes keeps while it is in
 * flight. A request has a list of bios. One that is not a write itself is a part
 * that was split off, and is chained to its write: its bi_private is that bio.
 * Sectors decide nothing: several writes to the same ones may be in flight.
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
 * struct followed - a write in flight
 * @number: number of the write
 * @sector: first sector on the disk
 * @end: first sector after it
 * @left: bytes of it and its parts that have not ended
 */
struct followed {
	__u64 number;
	__u64 sector;
	__u64 end;
	__u64 left;
};

/* How much room these two have, userspace says. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct followed);
} writes SEC(".maps");

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
	if (!bpf_map_update_elem(&writes, &address, followed, BPF_ANY))
		return true;
	bpf_map_delete_elem(&writes, &address);
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
		bpf_map_delete_elem(&writes, &address);
}

static __always_inline void arrive(struct bio *bio)
{
	__u64 address = (__u64)bio;

	if (is_followed(bio))
		follow(bio);
	else
		bpf_map_delete_elem(&writes, &address);
}

ARRIVAL_PROGRAMS

/* Find a write that is followed; a request outside of it is of another one. */
static __always_inline struct followed *find(__u64 address, __u64 sector,
					     __u64 sectors)
{
	struct followed *followed = bpf_map_lookup_elem(&writes, &address);

	return followed && sector >= followed->sector &&
	       sector + sectors <= followed->end ? followed : NULL;
}

/*
 * struct piece - a bio of a request, and its write
 * @next: the next bio; 0: none
 * @sector: first sector on the disk
 * @bytes: length
 * @write: the bio that is the write
 * @followed: the write; NULL: not followed
 */
struct piece {
	__u64 next;
	__u64 sector;
	__u32 bytes;
	__u64 write;
	struct followed *followed;
};

static __always_inline void find_piece(__u64 address, struct piece *piece)
{
	struct bio *bio = (void *)address;
	__u64 sectors;

	bpf_core_read(&piece->next, sizeof(piece->next), &bio->bi_next);
	bpf_core_read(&piece->sector, sizeof(piece->sector),
		      &bio->bi_iter.bi_sector);
	bpf_core_read(&piece->bytes, sizeof(piece->bytes),
		      &bio->bi_iter.bi_size);
	bpf_core_read(&piece->write, sizeof(piece->write), &bio->bi_private);
	sectors = piece->bytes >> SECTOR_SHIFT;
	piece->followed = find(piece->write, piece->sector, sectors);
	if (piece->followed)
		return;
	piece->write = address;
	piece->followed = find(address, piece->sector, sectors);
}

/* Where the walk along the bios of a request is. */
struct walk {
	__u64 bio;
	struct follow_event event;
};

static long send_bio(__u32 index, struct walk *walk)
{
	struct piece piece = { 0 };
	__u64 address = walk->bio, sector, sectors;

	if (!address)
		return 1;
	find_piece(address, &piece);
	walk->bio = piece.next;
	walk->event.number = piece.followed ? piece.followed->number : 0;
	walk->event.split = piece.write != address;
	walk->event.sector = sector = piece.sector;
	walk->event.bytes = piece.bytes;
	sectors = piece.bytes >> SECTOR_SHIFT;
	if (!cut_to_device(&sector, &sectors))
		return 0;
	if (send(&walk->event, FOLLOW_REQUEST))
		walk->event.first = 0;
	return 0;
}

static __always_inline void issue(struct request *rq)
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

ISSUE_PROGRAMS

/* Tell the end of a write, that of all of its parts, and forget it. */
static __always_inline void end(__u64 address, __u64 number, bool sent_back)
{
	struct follow_event event = { .number = number,
				      .sent_back = sent_back };

	send(&event, FOLLOW_END);
	bpf_map_delete_elem(&writes, &address);
}

/* Where the walk along the bios of a request that have ended is. */
struct walk_ended {
	__u64 bio;
	__u64 left;
};

static long end_bio(__u32 index, struct walk_ended *walk)
{
	struct piece piece = { 0 };
	__u64 bytes;

	if (!walk->bio || !walk->left)
		return 1;
	find_piece(walk->bio, &piece);
	walk->bio = piece.next;
	bytes = piece.bytes < walk->left ? piece.bytes : walk->left;
	walk->left -= bytes;
	if (piece.followed &&
	    __sync_fetch_and_add(&piece.followed->left, -bytes) == bytes)
		end(piece.write, piece.followed->number, false);
	return 0;
}

static __always_inline void complete(struct request *rq, __u32 bytes)
{
	struct walk_ended walk = { .left = bytes };

	if (!is_write(rq->cmd_flags) || !is_disk(rq->q->disk))
		return;
	bpf_core_read(&walk.bio, sizeof(walk.bio), &rq->bio);
	bpf_loop(FOLLOW_MAX_BIOS, end_bio, &walk, 0);
}

COMPLETION_PROGRAMS

static __always_inline void end_alone(struct bio *bio)
{
	__u64 address = (__u64)bio;
	struct followed *followed;

	if (!is_write(bio->bi_opf))
		return;
	followed = bpf_map_lookup_elem(&writes, &address);
	if (followed)
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
