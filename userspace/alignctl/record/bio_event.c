// SPDX-License-Identifier: GPL-2.0
/* Parse the tracefs format of the event, and read its fields from a record. */
#include <stddef.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/decimal.h"
#include "base/units.h"
#include "geometry.h"
#include "record/bio_event.h"
#include "trace/letters.h"

/* The kernel's RWBS_LEN, with the 0 at the end: FDEFASMU. */
#define RWBS_LETTERS	8

uint64_t bio_event_devno(dev_t devno)
{
	return (uint64_t)major(devno) << KERNEL_MINOR_BITS | minor(devno);
}

bool bio_format_parse(struct bio_format *format, const char *description,
		      bool has_comm)
{
	static const struct {
		const char *name;
		size_t field;
		uint32_t min_bytes, max_bytes;
	} rows[] = {
#define NUMBER(name, bytes) \
	{ #name, offsetof(struct bio_format, name), bytes, bytes }
#define TEXT(name) \
	{ #name, offsetof(struct bio_format, name), 1, TRACE_COMM_BYTES }
		NUMBER(common_type, sizeof(uint16_t)),
		NUMBER(common_pid, sizeof(uint32_t)),
		NUMBER(dev, sizeof(uint32_t)),
		NUMBER(sector, sizeof(uint64_t)),
		NUMBER(nr_sector, sizeof(uint32_t)),
		TEXT(rwbs),
		TEXT(comm),	/* the last one */
#undef NUMBER
#undef TEXT
	};
	static const char key[] = "\nID: ";
	const size_t nr = sizeof(rows) / sizeof(rows[0]) - !has_comm;
	const char *id = strstr(description, key);
	size_t i;

	if (!id)
		return false;
	id += strlen(key);
	if (!decimal_read(&id, UINT16_MAX, &format->id) || *id != '\n')
		return false;
	format->bytes = 0;
	format->comm = (struct ring_field) { 0 };
	for (i = 0; i < nr; i++) {
		struct ring_field *field = (void *)((char *)format +
						    rows[i].field);

		if (!ring_field_find(field, description, rows[i].name) ||
		    field->bytes < rows[i].min_bytes ||
		    field->bytes > rows[i].max_bytes)
			return false;
		if (field->offset + field->bytes > format->bytes)
			format->bytes = field->offset + field->bytes;
	}
	return true;
}

/* Copy a field into @text, with a 0 at the end. */
static void take_text(char *text, size_t room, const struct ring_field *field,
		      const void *data)
{
	size_t length = field->bytes < room ? field->bytes : room - 1;

	memcpy(text, (const char *)data + field->offset, length);
	text[length] = '\0';
}

/*
 * Read the operation. N is write-zeroes in kernels before 7, and in all an
 * operation on zones, so it is unknown on a disk with zones; no other bio that
 * reaches the event has this letter.
 */
static enum bio_kind take_rwbs(struct trace_request *request, const char *rwbs,
			       bool zoned)
{
	switch (trace_letters_take(&rwbs, request)) {
	case LETTERS_REQUEST:
		return BIO_REQUEST;
	case LETTERS_SECURE_ERASE:
		return BIO_SECURE_ERASE;
	case LETTERS_OTHER:
		if (zoned)
			return BIO_UNKNOWN;
		request->op = TRACE_WRITE_ZEROES;
		return BIO_REQUEST;
	case LETTERS_ZONE:
	case LETTERS_INVALID:
		break;
	}
	return BIO_UNKNOWN;
}

/* Clip a request to the range; false if none of it lies in the range. */
static bool take_place(struct trace_request *request, uint64_t sector,
		       uint64_t sectors, const struct bio_range *range)
{
	uint64_t end, range_end = UINT64_MAX >> ALIGN_SECTOR_SHIFT;

	if (range->sectors)
		range_end = range->start + range->sectors;
	if (sector >= range_end)
		return false;
	end = sectors < range_end - sector ? sector + sectors : range_end;
	if (sector < range->start)
		sector = range->start;
	if (end <= sector)
		return false;
	request->offset = (sector - range->start) << ALIGN_SECTOR_SHIFT;
	request->bytes = (end - sector) << ALIGN_SECTOR_SHIFT;
	return true;
}

enum bio_kind bio_event_read(const struct bio_format *format,
			     const struct ring_event *event,
			     const struct bio_range *range,
			     struct trace_request *request)
{
	char rwbs[RWBS_LETTERS + 1];
	uint64_t sectors;
	enum bio_kind kind;

	if (event->bytes < format->common_type.offset +
	    format->common_type.bytes)
		return BIO_BROKEN;
	if (ring_field_number(&format->common_type, event->data) != format->id)
		return BIO_ELSEWHERE;
	if (event->bytes < format->bytes)
		return BIO_BROKEN;
	if (ring_field_number(&format->dev, event->data) != range->dev)
		return BIO_ELSEWHERE;

	*request = (struct trace_request) { .time_ns = event->time_ns };
	take_text(rwbs, sizeof(rwbs), &format->rwbs, event->data);
	kind = take_rwbs(request, rwbs, range->zoned);
	sectors = ring_field_number(&format->nr_sector, event->data);
	/* a flush has no sectors, so the letters or the sectors are wrong */
	if (sectors && request->op == TRACE_FLUSH) {
		request->op = TRACE_READ;
		kind = BIO_UNKNOWN;
	}
	if (!sectors) {
		/* a flush has no sector, so it counts for all partitions */
		if (kind != BIO_REQUEST ||
		    (!request->preflush && request->op != TRACE_FLUSH))
			kind = BIO_UNKNOWN;
		request->op = TRACE_FLUSH;
		request->preflush = false;
		request->fua = false;
	} else if (!take_place(request,
			       ring_field_number(&format->sector, event->data),
			       sectors, range)) {
		return BIO_ELSEWHERE;
	}
	request->pid = (uint32_t)ring_field_number(&format->common_pid,
						   event->data);
	take_text(request->comm, sizeof(request->comm), &format->comm,
		  event->data);
	return kind;
}
