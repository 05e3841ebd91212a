/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's event block_bio_queue: a bio is about to be queued for a disk,
 * whole, before it is split. Its device is the disk, also for what was sent to
 * a partition, whose start has been added by then. And block_bio_complete, which
 * tells of those that a disk sent back, as they would have had to wait for it:
 * who sent them does so again.
 */
#ifndef ALIGNCTL_BIO_EVENT_H
#define ALIGNCTL_BIO_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/ring_page.h"
#include "trace/trace.h"

/**
 * struct bio_format - where an event has what
 * @id: number of this kind of event
 * @bytes: an event that has all of them has so many at least
 * The other members are named as the fields of the event are.
 */
struct bio_format {
	uint64_t id;
	size_t bytes;
	struct ring_field common_type;
	struct ring_field common_pid;
	struct ring_field dev;
	struct ring_field sector;
	struct ring_field nr_sector;
	struct ring_field rwbs;
	struct ring_field comm;
};

/*
 * Reads events/block/EVENT/format. block_bio_complete has no @comm. False: not
 * understood.
 */
bool bio_format_parse(struct bio_format *format, const char *description,
		      bool has_comm);

/* The number that an event, and a filter of events, has for a device. */
uint64_t bio_event_devno(dev_t devno);

/**
 * struct bio_range - the part of a disk to be recorded
 * @dev: the disk, as bio_event_devno() has it
 * @start: first sector
 * @sectors: length; 0: not known, to the end
 * @zoned: does the disk have zones?
 */
struct bio_range {
	uint64_t dev;
	uint64_t start;
	uint64_t sectors;
	bool zoned;
};

enum bio_kind {
	BIO_REQUEST,
	BIO_SECURE_ERASE,	/* a request; becomes a discard */
	BIO_ELSEWHERE,		/* another event, disk or part of the disk */
	BIO_UNKNOWN,		/* no telling what it does */
	BIO_BROKEN,		/* not an event that the kernel wrote */
};

/*
 * Makes a request of an event. Its place is counted from the start of the
 * range; what goes beyond the range, sent to the disk as a whole, is cut off.
 * Its time is that of the event. It is valid for a request only.
 */
enum bio_kind bio_event_read(const struct bio_format *format,
			     const struct ring_event *event,
			     const struct bio_range *range,
			     struct trace_request *request);

#endif
