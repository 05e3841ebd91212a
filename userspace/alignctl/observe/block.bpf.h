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

char LICENSE[] SEC("license") = "GPL";

/* Filled in before the programs are loaded, so the verifier knows all values. */
const volatile struct observed_range range SEC(".rodata.range");

/*
 * The kernel does not run a program on a processor that is in it already. Since
 * Linux 7.0 the task that is in it can be preempted, and then the program sees no
 * event of another task for a time slice. To disable preemption in the program is
 * of no use: the task would be preempted where it is enabled again, in the program
 * still. So an event has four programs there, which run one after the other, and
 * each does what those before it have missed. Four tasks that are preempted, each
 * in another one, still hide an event from a fifth: in an emulated guest with one
 * processor, two busy loops and 16 threads that wrote, 42 and 120 of 3000 events
 * were missed, and 871 and 943 with one program.
 *
 * The map seen has the bios and requests whose event one of the programs has
 * seen, by address, until the last one removes it. Where the last one has missed an
 * event, its entry stays, and a later event of the same address can be missed for
 * it only if the first program misses that, too. What all miss is known: events
 * that the first one missed, without those that another one has seen (seen_again).
 * Both are of all devices. All programs of an event of an object have run before
 * its next event begins: what is issued is completed afterwards.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SEEN_MAX);
	__type(key, __u64);
	__type(value, __u8);
} seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OBSERVED_NR_EVENTS);
	__type(key, __u32);
	__type(value, __u64);
} seen_again SEC(".maps");

/* Place of a program among those of its event, by the order in which they run. */
enum turn { TURN_FIRST, TURN_BETWEEN, TURN_LAST };

/*
 * Make the programs of an event: PROGRAM(name, turn) makes one. The last one in
 * the file is attached, and runs, first. Where no task is preempted in a program,
 * only it is loaded, as the names of the others end in PROGRAMS_FURTHER.
 */
#define EACH_TURN(PROGRAM, name)		\
	PROGRAM(name##_last_again, TURN_LAST)	\
	PROGRAM(name##_third_again, TURN_BETWEEN)	\
	PROGRAM(name##_second_again, TURN_BETWEEN)	\
	PROGRAM(name, TURN_FIRST)

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
	__u64 address = (__u64)object, *count;
	const __u8 mark = 1;
	__u32 index = event;

	if (!range.preemptible)
		return true;
	if (turn == TURN_LAST && !bpf_map_delete_elem(&seen, &address))
		return false;
	if (turn == TURN_BETWEEN && bpf_map_lookup_elem(&seen, &address))
		return false;
	if (turn != TURN_LAST)
		bpf_map_update_elem(&seen, &address, &mark, BPF_ANY);
	if (turn == TURN_FIRST)
		return true;
	count = bpf_map_lookup_elem(&seen_again, &index);
	if (count)
		add(*count, 1);
	return true;
}

#endif
