/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of the kernel's trace buffer, as per_cpu/cpuN/trace_pipe_raw gives them:
 * a header, and events one after the other, each with the time since the one
 * before it. Numbers are in the byte order of the machine.
 */
#ifndef ALIGNCTL_RING_PAGE_H
#define ALIGNCTL_RING_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct ring_field - where something lies
 * @offset: byte at which it starts
 * @bytes: its length
 */
struct ring_field {
	uint32_t offset;
	uint32_t bytes;
};

/*
 * Finds a field by its name in the kernel's description of a page or an event
 * ("field:TYPE NAME; offset:N; size:N; ..." a line). False if there is none.
 */
bool ring_field_find(struct ring_field *field, const char *description,
		     const char *name);

/* A field's number; its bytes must be 1, 2, 4 or 8. */
uint64_t ring_field_number(const struct ring_field *field, const void *data);

/**
 * struct ring_format - the header of pages
 * @time: time of the page, nanoseconds
 * @commit: how many bytes of @data are in use, and marks
 * @data: the events
 */
struct ring_format {
	struct ring_field time;
	struct ring_field commit;
	struct ring_field data;
};

/* Reads events/header_page. False: not a description that is understood. */
bool ring_format_parse(struct ring_format *format, const char *description);

/* Bytes of a page. */
uint32_t ring_format_bytes(const struct ring_format *format);

/**
 * struct ring_page - a page being read
 * @at: the next event
 * @end: behind the last one
 * @time_ns: time of the event before
 */
struct ring_page {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t time_ns;
};

/**
 * struct ring_event - one event
 * @time_ns: when it happened, by the clock of the trace
 * @data: its fields
 * @bytes: their length
 */
struct ring_event {
	uint64_t time_ns;
	const uint8_t *data;
	size_t bytes;
};

enum ring_next {
	RING_EVENT,
	RING_END,
	RING_BROKEN,	/* not a page that the kernel wrote */
};

/* Starts on a page of @bytes bytes; false: not a page that the kernel wrote. */
bool ring_page_open(struct ring_page *page, const struct ring_format *format,
		    const void *bytes, size_t nr_bytes);
enum ring_next ring_page_next(struct ring_page *page, struct ring_event *event);

#endif
