/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read pages of the kernel's trace buffer, from per_cpu/cpuN/trace_pipe_raw: a
 * header, and events, each with the time since the previous one. Numbers are in
 * the byte order of the machine.
 */
#ifndef ALIGNCTL_RING_PAGE_H
#define ALIGNCTL_RING_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct ring_field - position of a field in a page or an event
 * @offset: first byte of the field
 * @bytes: length of the field, bytes
 */
struct ring_field {
	uint32_t offset;
	uint32_t bytes;
};

/*
 * Find a field by its name in the kernel's description of a page or an event,
 * of lines "field:TYPE NAME; offset:N; size:N; ...". False if there is none.
 */
bool ring_field_find(struct ring_field *field, const char *description,
		     const char *name);

/* Return a field's number; its length must be 1, 2, 4 or 8 bytes. */
uint64_t ring_field_number(const struct ring_field *field, const void *data);

/**
 * struct ring_format - positions of a page's fields
 * @time: time of the page, ns
 * @commit: number of bytes of @data in use, and flags
 * @data: the events
 */
struct ring_format {
	struct ring_field time;
	struct ring_field commit;
	struct ring_field data;
};

/* Parse the text of events/header_page; false if the text is unknown. */
bool ring_format_parse(struct ring_format *format, const char *description);

/* Return the size of a page, bytes. */
uint32_t ring_format_bytes(const struct ring_format *format);

/**
 * struct ring_page - a page being read
 * @at: start of the next event
 * @end: end of the last event
 * @time_ns: time of the previous event
 */
struct ring_page {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t time_ns;
};

/**
 * struct ring_event - one event
 * @time_ns: time of the event, by the trace's clock
 * @data: fields of the event
 * @bytes: length of @data, bytes
 */
struct ring_event {
	uint64_t time_ns;
	const uint8_t *data;
	size_t bytes;
};

enum ring_next {
	RING_EVENT,
	RING_END,
	RING_BROKEN,	/* the page is malformed */
};

/* Start to read a page; false if the page is malformed. */
bool ring_page_open(struct ring_page *page, const struct ring_format *format,
		    const void *bytes, size_t nr_bytes);

/* Read the next event, valid as long as the page's bytes. */
enum ring_next ring_page_next(struct ring_page *page, struct ring_event *event);

#endif
