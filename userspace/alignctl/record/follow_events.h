/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What follow.bpf.c, which runs in the kernel, and its reader share: the events
 * of writes from their arrival at a disk to its requests. Both sides have the
 * same layout: members of their natural alignment, and no padding.
 */
#ifndef ALIGNCTL_FOLLOW_EVENTS_H
#define ALIGNCTL_FOLLOW_EVENTS_H

#include <linux/types.h>

#include "observe/range.h"

/* Limit of the bios of a request that are followed. */
#define FOLLOW_MAX_BIOS	4096

enum follow_kind {
	FOLLOW_WRITE,		/* a write arrives */
	FOLLOW_REQUEST,		/* a request with it goes to the driver */
	FOLLOW_END,		/* it has been completed */
	FOLLOW_NR_KINDS,
};

/**
 * struct follow_event - an event of a write
 * @time_ns: time, of the monotonic clock
 * @number: number of the write; 0: not known, of FOLLOW_REQUEST only
 * @sector: first sector on the disk of the write, or the bio in the request
 * @request: number of the request, of FOLLOW_REQUEST
 * @request_sector: first sector of the request on the disk
 * @bytes: length of the write, or the bio in the request
 * @request_bytes: length of the request
 * @kind: enum follow_kind
 * @zeroes: the write is a write-zeroes
 * @sent_back: of FOLLOW_END: the disk sent the write back, as it would have had
 *	to wait (REQ_NOWAIT)
 * @first: of FOLLOW_REQUEST: no event of the same request comes before it
 * @split: of FOLLOW_REQUEST: the bio is a part that was split off the write
 * @pid: number of the thread that sends the write, of FOLLOW_WRITE
 * @comm: name of that thread
 */
struct follow_event {
	__u64 time_ns;
	__u64 number;
	__u64 sector;
	__u64 request;
	__u64 request_sector;
	__u32 bytes;
	__u32 request_bytes;
	__u8 kind;
	__u8 zeroes;
	__u8 sent_back;
	__u8 first : 1;
	__u8 split : 1;
	__u32 pid;
	char comm[OBSERVED_COMM_BYTES];
};

/**
 * struct follow_lost - counts of events that were lost
 * @kind: number of events for which there was no room, by enum follow_kind
 * @map_full: number of writes that are not followed, since there was no room
 * @long_requests: number of requests with more bios than FOLLOW_MAX_BIOS; those
 *	beyond are not followed
 */
struct follow_lost {
	__u64 kind[FOLLOW_NR_KINDS];
	__u64 map_full;
	__u64 long_requests;
};

#endif
