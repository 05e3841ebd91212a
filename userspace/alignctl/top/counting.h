/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Count the writes to a block device in the kernel, by the programs of
 * top.bpf.c, and read what they have counted, interval by interval.
 */
#ifndef ALIGNCTL_TOP_COUNTING_H
#define ALIGNCTL_TOP_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "sysfs/device.h"
#include "top/shared.h"

/* Rows of an interval that the kernel has room for, unless --rows asks otherwise. */
#define TOP_DEFAULT_ROWS	16384
#define TOP_MAX_ROWS		(1U << 20)
/* Requests at one time for each row; the largest queues of a disk have 65535. */
#define TOP_REQUESTS_PER_ROW	4

/**
 * struct top_options - what to count
 * @device: the block device
 * @drive: count the requests of the disk as well
 * @rows: number of rows of an interval that the kernel has room for, of tasks in
 *	a direct write at one time, and by TOP_REQUESTS_PER_ROW of requests
 * @by_cgroup: write-back goes by its cgroup: see names_open()
 */
struct top_options {
	const struct device *device;
	bool drive;
	uint32_t rows;
	bool by_cgroup;
};

/**
 * struct top_row - what one process has written to one file, for one cgroup
 * @key: the process, cgroup and file
 * @count: the writes
 */
struct top_row {
	struct top_key key;
	struct top_count count;
};

/**
 * struct top_skips - counts of events, at any device, that no program saw: they
 *	were running already on that processor
 * @arrivals: number of arrivals of bios; the writes among them are in no row
 * @ends: number of ends of bios, at most; those among them that were sent back are
 *	counted twice
 * @requests: number of issues and completions of requests; the writes among them
 *	are in no class
 */
struct top_skips {
	uint64_t arrivals;
	uint64_t ends;
	uint64_t requests;
};

/**
 * struct top_interval - counts from one reading to the next
 * @time: wall-clock time of the end, seconds
 * @seconds: length
 * @row: the rows, most touches first
 * @nr: number of rows
 * @total: sum of the rows
 * @events: counts of events that are in no row
 * @skips: counts of events that no program saw
 * @class: the disk's requests by top_class_index(); NULL if they are not counted
 * @nr_classes: number of classes
 */
struct top_interval {
	time_t time;
	double seconds;
	struct top_row *row;
	size_t nr;
	struct top_count total;
	struct top_events events;
	struct top_skips skips;
	struct top_class *class;
	uint32_t nr_classes;
};

struct top;

/*
 * Load the programs and begin to count. Return: enum alignctl_exit; errors have
 * been reported, and leave nothing to close. What is missing, of rights or in
 * the kernel, is named.
 */
int top_open(struct top **top, const struct top_options *options);
void top_close(struct top *top);

/* Return the physical blocks that touches are counted by. */
const struct align_geometry *top_geometry(const struct top *top);

/* Return whether the files of direct writes are known on this kernel. */
bool top_knows_direct(const struct top *top);

/*
 * End an interval: let the programs begin new maps, and read the old ones, which
 * none of them uses any more. Return: enum alignctl_exit, reported. Free
 * @interval with top_interval_free().
 */
int top_read(struct top *top, struct top_interval *interval);
void top_interval_free(struct top_interval *interval);

/* Sort the rows, most touches first, and sum them up. */
void top_interval_finish(struct top_interval *interval);

/*
 * Return how many writes are missing from the rows, or requests from the classes:
 * for lack of room, and as the programs did not see them.
 */
uint64_t top_lost_writes(const struct top_interval *interval);
uint64_t top_lost_requests(const struct top_interval *interval);

#endif
