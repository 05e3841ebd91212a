/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What disks.bpf.c, which runs in the kernel, and disks.c share: the keys and
 * values of the maps, of the same layout on both sides and without padding.
 */
#ifndef ALIGNCTL_DISKS_SHARED_H
#define ALIGNCTL_DISKS_SHARED_H

#include <linux/types.h>

#include "geometry.h"

/**
 * struct disks_config - what to count, constant while the programs are loaded
 * @by_cgroup: count by cgroup, too
 */
struct disks_config {
	__u32 by_cgroup;
};

/**
 * struct disks_rule - how writes to a disk, or by a path to it, are counted
 * @diskseq: diskseq of the disk, a number that no other one has since the machine began
 * @geometry: its physical blocks, from its first sector on
 * @judged: the physical block is known; else there are no touches to count
 */
struct disks_rule {
	__u64 diskseq;
	struct align_geometry geometry;
	__u64 judged;
};

/**
 * struct disks_count - the completed writes of a disk
 * @writes: number of writes, write-zeroes among them
 * @misaligned: number of writes with a partial touch
 * @inside: number of writes that begin inside a physical block
 * @touches: number of partial touches
 * @bytes: total length
 * @block_bytes: length of the whole blocks that the writes touch
 */
struct disks_count {
	__u64 writes;
	__u64 misaligned;
	__u64 inside;
	__u64 touches;
	__u64 bytes;
	__u64 block_bytes;
};

/* A cgroup that writes to a disk; 0: the bio is for none. */
struct disks_cgroup {
	__u64 diskseq;
	__u64 cgroup;
};

/**
 * struct disks_events - events that are in no count, since the programs were loaded
 * @no_room: number of writes of cgroups for which there was no room
 */
struct disks_events {
	__u64 no_room;
};

#endif
