/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs share that run in the kernel, as BPF: structures of the
 * kernel, and which writes are to the observed device.
 *
 * The structures have the members that are used. Where these are is found when
 * a program is loaded, from the BTF of the running kernel.
 */
#ifndef ALIGNCTL_BLOCK_BPF_H
#define ALIGNCTL_BLOCK_BPF_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "observe/range.h"

/* Values of the kernel that have no uapi header, and are the same in all. */
#define OP_MASK			0xffU
#define OP_WRITE		1U
#define OP_WRITE_ZEROES		9U
#define STATUS_AGAIN		12	/* BLK_STS_AGAIN */
/* Many more than there are tasks between one program and the next. */
#define SEEN_MAX		4096

#define KERNEL_TYPE	__attribute__((preserve_access_index))

struct bio_vec;
struct blkcg_gq;

struct gendisk {
	int major;
	int first_minor;
	__u64 diskseq;
} KERNEL_TYPE;

struct block_device {
	struct gendisk *bd_disk;
} KERNEL_TYPE;

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
} KERNEL_TYPE;

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	unsigned short bi_flags;
	__u8 bi_status;
	struct bvec_iter bi_iter;
	void *bi_private;
	struct blkcg_gq *bi_blkg;
	struct bio_vec *bi_io_vec;
} KERNEL_TYPE;

struct request_queue {
	struct gendisk *disk;
} KERNEL_TYPE;

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
	struct bio *bio;
} KERNEL_TYPE;

struct task_struct {
	unsigned int flags;
	struct task_struct *group_leader;
	char comm[OBSERVED_COMM_BYTES];
} KERNEL_TYPE;

/* Return the pointer as one to a type of BTF; the kernel has this since 6.2. */
void *bpf_rdonly_cast(const void *pointer, __u32 type) __ksym __weak;

char LICENSE[] SEC("license") = "GPL";

/* Filled in before the programs are loaded, so the verifier knows all values. */
const volatile struct observed_range range SEC(".rodata.range");

/*
 * The kernel does not run a program on a processor that is in it already. Since
 * Linux 7.0 the task that is in a program at a tracepoint can be preempted, and then
 * the program sees no event of another task for a time slice. To disable preemption
 * in the program is of no use: the task would be preempted where it is enabled
 * again, in the program still. So an event has several programs there, which take
 * turns: each does what those before it have missed.
 *
 * Arrivals, issues and completions are traced at the beginning of a function. A
 * kprobe there runs before, with preemption disabled. The kernel passes it over where
 * it interrupts another one, or while a task that reads or writes a map is preempted;
 * and some drivers complete requests without that function. What it misses two
 * programs at the tracepoint do. The end of a bio is traced within a function: there
 * four programs at the tracepoint take turns. Four tasks that are preempted, each in
 * another one, hide an event from a fifth.
 *
 * The map seen has the events that one of the programs has seen, by the address of
 * the bio or request, until the last program removes it. Where the last one has
 * missed an event, its entry stays, and a later event of the same address can be
 * missed for it only if the first program misses that, too. All programs of an event
 * of an object have run before its next event begins.
 *
 * What all miss is known, from the map counts: how often the first program at the
 * tracepoint has run, and, from the kernel, how often it was passed over, are
 * together all events; taken are those that were seen. An event is counted as taken
 * before it is counted as a run.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SEEN_MAX);
	__type(key, __u64);
	__type(value, __u8);
} seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OBSERVED_NR_EVENTS);
	__type(key, __u32);
	__type(value, struct observed_count);
} counts SEC(".maps");

/*
 * Place of a program among those of its event, by the order in which they run.
 * TURN_FIRST and TURN_SECOND are the first one at the tracepoint.
 */
enum turn { TURN_PROBE, TURN_FIRST, TURN_SECOND, TURN_BETWEEN, TURN_LAST };

/*
 * Make the programs of an event: PROGRAM(name, turn) makes one at the tracepoint,
 * PROBE(name) the one at the function. The last one in the file is attached first.
 * Where no task is preempted in a program, only the one with the plain name is
 * loaded: the names of the others end in PROGRAMS_FURTHER or PROGRAMS_PROBE.
 */
#define EACH_TURN(PROGRAM, name)			\
	PROGRAM(name##_last_again, TURN_LAST)		\
	PROGRAM(name##_third_again, TURN_BETWEEN)	\
	PROGRAM(name##_second_again, TURN_BETWEEN)	\
	PROGRAM(name, TURN_FIRST)

#define EACH_TURN_PROBED(PROGRAM, PROBE, name)		\
	PROBE(name##_probe)				\
	PROGRAM(name##_last_again, TURN_LAST)		\
	PROGRAM(name, TURN_SECOND)

#define add(counter, n)	((void)__sync_fetch_and_add(&(counter), (n)))

/* Check that a disk is the one whose writes are counted. */
static __always_inline bool is_disk(const struct gendisk *disk)
{
	return (__u32)disk->major == range.disk_major &&
	       (__u32)disk->first_minor == range.disk_minor;
}

static __always_inline bool is_write(__u32 flags)
{
	return (flags & OP_MASK) == OP_WRITE ||
	       (flags & OP_MASK) == OP_WRITE_ZEROES;
}

/*
 * Cut a range of the disk to the device; false if no part of it is on the
 * device.
 */
static __always_inline bool cut_to_device(__u64 *sector, __u64 *sectors)
{
	__u64 end = *sector + *sectors;

	if (*sector < range.start)
		*sector = range.start;
	if (end > range.end)
		end = range.end;
	if (*sector >= end)
		return false;
	*sectors = end - *sector;
	return true;
}

/* Check whether a program is the first one to see the event of an object. */
static __always_inline bool take_turn(const void *object, enum turn turn,
				      enum observed_event event)
{
	__u64 key = (__u64)object + event;	/* objects are further apart */
	struct observed_count *count;
	const __u8 mark = 1;
	__u32 index = event;
	bool taken = true;

	if (!range.preemptible)
		return true;
	if (turn == TURN_LAST)
		taken = bpf_map_delete_elem(&seen, &key);
	else if (turn == TURN_SECOND || turn == TURN_BETWEEN)
		taken = !bpf_map_lookup_elem(&seen, &key);
	if (taken && turn != TURN_LAST)
		bpf_map_update_elem(&seen, &key, &mark, BPF_ANY);
	count = bpf_map_lookup_elem(&counts, &index);
	if (count && taken)
		add(count->taken, 1);
	if (count && (turn == TURN_FIRST || turn == TURN_SECOND))
		add(count->runs, 1);
	return taken;
}

/* Return what a register has as a pointer that programs can follow. */
static __always_inline struct bio *typed_bio(const void *address)
{
	return bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct bio));
}

static __always_inline struct request *typed_request(const void *address)
{
	return bpf_rdonly_cast(address,
			       bpf_core_type_id_kernel(struct request));
}

/*
 * Make the programs of arrivals, issues and completions. The file has arrive(), for
 * a bio that arrives at a device, before it is split; issue(), for a request, behind
 * merges and splits, that goes to the driver; and complete(), for a request of which
 * so many bytes have been completed.
 */
#define ARRIVAL_PROGRAMS	EACH_TURN_PROBED(ARRIVAL_PROGRAM, ARRIVAL_PROBE, \
						 bio_queue)
#define ISSUE_PROGRAMS		EACH_TURN_PROBED(ISSUE_PROGRAM, ISSUE_PROBE, \
						 rq_issue)
#define COMPLETION_PROGRAMS	EACH_TURN_PROBED(COMPLETION_PROGRAM, \
						 COMPLETION_PROBE, rq_complete)

#define ARRIVAL_PROGRAM(name, turn)				\
SEC("tp_btf/block_bio_queue")					\
int BPF_PROG(name, struct bio *bio)				\
{								\
	if (take_turn(bio, turn, OBSERVED_ARRIVAL))		\
		arrive(bio);					\
	return 0;						\
}

#define ARRIVAL_PROBE(name)					\
SEC("kprobe/submit_bio_noacct_nocheck")				\
int BPF_KPROBE(name, const void *address)			\
{								\
	struct bio *bio = typed_bio(address);			\
								\
	if (!(bio->bi_flags & range.traced) &&			\
	    take_turn(bio, TURN_PROBE, OBSERVED_ARRIVAL))	\
		arrive(bio);					\
	return 0;						\
}

#define ISSUE_PROGRAM(name, turn)				\
SEC("tp_btf/block_rq_issue")					\
int BPF_PROG(name, struct request *rq)				\
{								\
	if (take_turn(rq, turn, OBSERVED_ISSUE))		\
		issue(rq);					\
	return 0;						\
}

#define ISSUE_PROBE(name)					\
SEC("kprobe/blk_mq_start_request")				\
int BPF_KPROBE(name, const void *address)			\
{								\
	struct request *rq = typed_request(address);		\
								\
	if (take_turn(rq, TURN_PROBE, OBSERVED_ISSUE))		\
		issue(rq);					\
	return 0;						\
}

#define COMPLETION_PROGRAM(name, turn)					\
SEC("tp_btf/block_rq_complete")						\
int BPF_PROG(name, struct request *rq, int error, unsigned int bytes)	\
{									\
	if (take_turn(rq, turn, OBSERVED_COMPLETION))			\
		complete(rq, bytes);					\
	return 0;							\
}

#define COMPLETION_PROBE(name)						\
SEC("kprobe/blk_update_request")					\
int BPF_KPROBE(name, const void *address, int error, unsigned int bytes)	\
{									\
	struct request *rq = typed_request(address);			\
									\
	if (take_turn(rq, TURN_PROBE, OBSERVED_COMPLETION))		\
		complete(rq, bytes);					\
	return 0;							\
}

#endif
