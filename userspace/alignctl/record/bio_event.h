/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's event block_bio_queue: a bio is about to be queued for a disk,
 * before it is split. The event's device is the disk; of a bio for a partition,
 * the partition's start has been added. And block_bio_complete, by which a disk
 * sends back bios with REQ_NOWAIT that would have had to wait; their sender
 * sends them again.
 */
#ifndef ALIGNCTL_BIO_EVENT_H
#define ALIGNCTL_BIO_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/ring_page.h"
#include "trace/trace.h"

/**
 * struct bio_format - positions of an event's fields
 * @id: number of this kind of event
 * @bytes: least length of an event with all fields
 * @common_type: number of the event's kind
 * @common_pid: number of the sending thread
 * @dev: device number of the disk, as bio_event_devno() returns it
 * @sector: first sector on the disk
 * @nr_sector: number of sectors
 * @rwbs: operation and flags, as letters
 * @comm: name of the sending thread
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
 * Parse the text of events/block/EVENT/format; @has_comm is false for
 * block_bio_complete. Return: false if the text is unknown.
 */
bool bio_format_parse(struct bio_format *format, const char *description,
		      bool has_comm);

/* Return a device number as events and their filters have it. */
uint64_t bio_event_devno(dev_t devno);

/**
 * struct bio_range - the part of a disk to record
 * @dev: device number of the disk, from bio_event_devno()
 * @start: first sector
 * @sectors: number of sectors; 0: up to the end
 * @zoned: the disk has zones
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
	BIO_UNKNOWN,		/* of an unknown operation */
	BIO_BROKEN,		/* malformed */
};

/*
 * Convert an event to a request, at the event's time. The offset counts from
 * the start of the range, and parts beyond the range, of requests to the whole
 * disk, are cut off. @request is valid for BIO_REQUEST and BIO_SECURE_ERASE.
 */
enum bio_kind bio_event_read(const struct bio_format *format,
			     const struct ring_event *event,
			     const struct bio_range *range,
			     struct trace_request *request);

#endif
