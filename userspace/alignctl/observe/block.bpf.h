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
 * Bios and requests whose event the first of two programs has seen, by address,
 * until the second one sees it. The kernel does not run a program on a processor
 * that is in it already. Since Linux 7.0 the task that is in it can be preempted,
 * and then it sees no event of another task for a time slice. So each event has
 * two programs there, and the second one does what the first one has missed; what
 * both miss can be told from the number of events that the first one missed. To
 * disable preemption in a program is of no use: the task would be preempted
 * where it is enabled again, in the program still.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SEEN_MAX);
	__type(key, __u64);
	__type(value, __u8);
} seen SEC(".maps");

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

/* Tell the second program of an event that the first one has seen it. */
static __always_inline void mark_seen(const void *object)
{
	__u64 address = (__u64)object;
	const __u8 mark = 1;

	if (range.preemptible)
		bpf_map_update_elem(&seen, &address, &mark, BPF_ANY);
}

/* Check, in the second program of an event, whether the first one saw it. */
static __always_inline bool was_seen(const void *object)
{
	__u64 address = (__u64)object;

	return !bpf_map_delete_elem(&seen, &address);
}

#endif
