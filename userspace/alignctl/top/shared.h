/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What top.bpf.c, which runs in the kernel, and counting.c share: the keys and
 * values of the maps. Both sides have the same layout: members of their natural
 * alignment, and no padding, since keys are compared byte by byte.
 */
#ifndef ALIGNCTL_TOP_SHARED_H
#define ALIGNCTL_TOP_SHARED_H

#include <linux/types.h>

#include "geometry.h"
#include "observe/range.h"

/*
 * Bins of TOP_LINEAR_NS each, the last one without an end: up to 64 ms, which
 * is several revolutions of a slow disk.
 */
#define TOP_LINEAR_BINS	128
#define TOP_LINEAR_NS	500000U

/**
 * struct top_config - what to count, constant while the programs are loaded
 * @geometry: physical blocks of the device, from its first sector on
 * @by_cgroup: write-back has the cgroup whose pages it writes
 * @phases: number of bins of positions in a physical block at which a request starts
 */
struct top_config {
	struct align_geometry geometry;
	__u32 by_cgroup;
	__u32 phases;
};

/**
 * struct top_key - the writer, and the file
 * @cgroup: id of the cgroup; 0: not known
 * @inode: inode number of the file
 * @device: device number of the file's file system, as the kernel has it; 0: no
 *	file
 * @tgid: number of the process
 * @comm: name of the process's first thread
 */
struct top_key {
	__u64 cgroup;
	__u64 inode;
	__u32 device;
	__u32 tgid;
	char comm[OBSERVED_COMM_BYTES];
};

/**
 * struct top_count - what one of them has written
 * @writes: number of writes
 * @misaligned: number of writes with a partial touch
 * @zeroes: number of write-zeroes
 * @zeroes_misaligned: number of write-zeroes with a partial touch
 * @write_touches: number of partial touches of writes
 * @zero_touches: number of partial touches of write-zeroes
 * @bytes: total length of writes and write-zeroes
 */
struct top_count {
	__u64 writes;
	__u64 misaligned;
	__u64 zeroes;
	__u64 zeroes_misaligned;
	__u64 write_touches;
	__u64 zero_touches;
	__u64 bytes;
};

/**
 * struct top_issued - a request between its issue and its completion
 * @time_ns: time of the issue
 * @bytes: length of the request
 * @class: index of the request's struct top_class
 * @touches: number of the request's partial touches
 */
struct top_issued {
	__u64 time_ns;
	__u64 bytes;
	__u32 class;
	__u32 touches;
};

/**
 * struct top_class - completed requests of one size and start
 * @requests: number of requests
 * @touches: number of their partial touches
 * @bytes: their total length
 * @sum_ns: sum of their times from issue to completion
 * @latency: number of requests in each bin of align_latency_bin()
 * @linear: number of requests in each bin of TOP_LINEAR_NS
 */
struct top_class {
	__u64 requests;
	__u64 touches;
	__u64 bytes;
	__u64 sum_ns;
	__u64 latency[ALIGN_LATENCY_BINS];
	__u64 linear[TOP_LINEAR_BINS];
};

/**
 * struct top_events - events that are in no row, since the programs were loaded
 * @lost: number of bios for which there was no room in the map of rows
 * @sent_back: number of bios that the device sent back, because they would have
 *	had to wait (REQ_NOWAIT); they were taken out again, and are sent again
 * @counted_twice: number of these that could not be taken out of their row
 * @calls_lost: number of direct writes whose file is not known, for lack of room;
 *	userspace adds what the program did not see
 * @requests_lost: number of requests for which there was no room
 * @requeued: number of requests that the driver gave back, to be issued again
 */
struct top_events {
	__u64 lost;
	__u64 sent_back;
	__u64 counted_twice;
	__u64 calls_lost;
	__u64 requests_lost;
	__u64 requeued;
};

/*
 * Return the index of a request's struct top_class: by its size, its start in
 * its physical block, and whether it has a partial touch.
 */
static inline __u32 top_class_index(__u32 size_bin, __u32 phase, __u32 phases,
				    bool misaligned)
{
	return (size_bin * phases + phase) * 2 + misaligned;
}

#endif
