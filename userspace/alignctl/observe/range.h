/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs in the kernel and their loader both know of the device. */
#ifndef ALIGNCTL_OBSERVED_RANGE_H
#define ALIGNCTL_OBSERVED_RANGE_H

#include <linux/types.h>

#define OBSERVED_COMM_BYTES	16

/* Events that programs take turns at: see seen_again in block.bpf.h. */
enum observed_event {
	OBSERVED_ARRIVAL,	/* a bio arrives */
	OBSERVED_SPLIT,		/* a part is split off a bio */
	OBSERVED_ISSUE,		/* a request goes to the driver */
	OBSERVED_COMPLETION,	/* a request, or a part of one, is completed */
	OBSERVED_END,		/* a bio has ended */
	OBSERVED_NR_EVENTS,
};

/**
 * struct observed_range - the device, constant while the programs are loaded
 * @start: first sector of the device on its disk
 * @end: first sector of the disk after the device
 * @disk_major: major number of the disk
 * @disk_minor: minor number of the disk
 * @preemptible: a task can be preempted in a program at a tracepoint, so each
 *	event has several programs
 */
struct observed_range {
	__u64 start;
	__u64 end;
	__u32 disk_major;
	__u32 disk_minor;
	__u32 preemptible;
};

#endif
