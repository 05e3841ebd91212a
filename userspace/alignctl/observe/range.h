/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs in the kernel and their loader both know of the device. */
#ifndef ALIGNCTL_OBSERVED_RANGE_H
#define ALIGNCTL_OBSERVED_RANGE_H

#include <linux/types.h>

#define OBSERVED_COMM_BYTES	16

/* Events that programs take turns at: see block.bpf.h. */
enum observed_event {
	OBSERVED_ARRIVAL,	/* a bio arrives */
	OBSERVED_ISSUE,		/* a request goes to the driver */
	OBSERVED_COMPLETION,	/* a request, or a part of one, is completed */
	OBSERVED_END,		/* a bio has ended */
	OBSERVED_NR_EVENTS,
};

/**
 * struct observed_count - how programs took turns at an event, of all devices
 * @runs: number of runs of the first program at the tracepoint
 * @taken: number of events that a program has seen
 */
struct observed_count {
	__u64 runs;
	__u64 taken;
};

/**
 * struct observed_range - the device, constant while the programs are loaded
 * @start: first sector of the device on its disk
 * @end: first sector of the disk after the device
 * @disk_major: major number of the disk
 * @disk_minor: minor number of the disk
 * @preemptible: a task can be preempted in a program at a tracepoint, so each
 *	event has several programs
 * @traced: the bit of bi_flags of a bio whose arrival is no news; 0: not known,
 *	and no kprobes are used
 */
struct observed_range {
	__u64 start;
	__u64 end;
	__u32 disk_major;
	__u32 disk_minor;
	__u32 preemptible;
	__u32 traced;
};

#endif
