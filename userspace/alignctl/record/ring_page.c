// SPDX-License-Identifier: GPL-2.0
/*
 * Why not libtraceevent: with tracefs_cpu_read() and kbuffer recording costs 70
 * instructions a write more (libtraceevent 1.8.4, Debian 13) or 195 more (1.7.1,
 * Debian 12; make bench BENCH=record on Linux 6.12.117).
 * kbuffer reads past the end of a damaged page, which ring_page_next() refuses.
 * tep_parse_format() reads "offset:x" as 0, and crashes on a description that
 * ends behind an open bracket. Documentation/develop/benchmarks.rst has all figures,
 * and how they were measured.
 */
#include <ctype.h>
#include <string.h>

#include "base/decimal.h"
#include "record/ring_page.h"

/*
 * An event's header: a type or length, and the time since the previous event.
 */
#define TYPE_BITS	5
#define DELTA_BITS	27
#define TYPE_MASK	((1U << TYPE_BITS) - 1)
#define DELTA_MASK	((1U << DELTA_BITS) - 1)

/* Types of events; 1 to TYPE_LENGTH_MAX are lengths in words of four bytes. */
enum ring_type {
	TYPE_LENGTH_FOLLOWS = 0,
	TYPE_LENGTH_MAX = 28,
	TYPE_PADDING,
	TYPE_TIME_EXTEND,
	TYPE_TIME_STAMP,
};

/* Absolute times have only these lower bits. */
#define STAMP_BITS	59

/* The upper bits of the commit word flag events lost before the page. */
#define COMMIT_MASK	((1U << 20) - 1)

/* Check whether the declaration from @text to @end declares @name. */
static bool declares_field(const char *text, const char *end, const char *name)
{
	size_t length = strlen(name);
	const char *bracket = memchr(text, '[', end - text);

	if (bracket)
		end = bracket;
	return (size_t)(end - text) > length &&
	       !memcmp(end - length, name, length) &&
	       isspace((unsigned char)end[-1 - (ptrdiff_t)length]);
}

/* Read the number after the next @key in the line; false if there is none. */
static bool line_number(const char *line, const char *key, uint32_t *number)
{
	const char *end = line + strcspn(line, "\n");
	const char *at = strstr(line, key);
	uint64_t value;

	if (!at || at > end)
		return false;
	at += strlen(key);
	if (!decimal_read(&at, UINT16_MAX, &value) || *at != ';')
		return false;
	*number = (uint32_t)value;
	return true;
}

bool ring_field_find(struct ring_field *field, const char *description,
		     const char *name)
{
	static const char key[] = "field:";
	const char *at = description;

	while ((at = strstr(at, key))) {
		const char *end;

		at += strlen(key);
		end = at + strcspn(at, ";\n");
		if (declares_field(at, end, name))
			return line_number(end, "offset:", &field->offset) &&
			       line_number(end, "size:", &field->bytes);
	}
	return false;
}

uint64_t ring_field_number(const struct ring_field *field, const void *data)
{
	const uint8_t *at = (const uint8_t *)data + field->offset;
	uint64_t eight;
	uint32_t four;
	uint16_t two;

	switch (field->bytes) {
	case sizeof(eight):
		memcpy(&eight, at, sizeof(eight));
		return eight;
	case sizeof(four):
		memcpy(&four, at, sizeof(four));
		return four;
	case sizeof(two):
		memcpy(&two, at, sizeof(two));
		return two;
	default:
		return *at;
	}
}

static bool is_number(const struct ring_field *field)
{
	return field->bytes == sizeof(uint32_t) ||
	       field->bytes == sizeof(uint64_t);
}

bool ring_format_parse(struct ring_format *format, const char *description)
{
	return ring_field_find(&format->time, description, "timestamp") &&
	       ring_field_find(&format->commit, description, "commit") &&
	       ring_field_find(&format->data, description, "data") &&
	       format->time.bytes == sizeof(uint64_t) &&
	       is_number(&format->commit) && format->data.bytes &&
	       format->time.offset + format->time.bytes <= format->data.offset &&
	       format->commit.offset + format->commit.bytes <=
	       format->data.offset;
}

uint32_t ring_format_bytes(const struct ring_format *format)
{
	return format->data.offset + format->data.bytes;
}

bool ring_page_open(struct ring_page *page, const struct ring_format *format,
		    const void *bytes, size_t nr_bytes)
{
	uint64_t used;

	if (nr_bytes < format->data.offset)
		return false;
	used = ring_field_number(&format->commit, bytes) & COMMIT_MASK;
	if (used > nr_bytes - format->data.offset)
		return false;
	page->time_ns = ring_field_number(&format->time, bytes);
	page->at = (const uint8_t *)bytes + format->data.offset;
	page->end = page->at + used;
	return true;
}

/* Take the next word of the page; false at the end. */
static bool take_word(struct ring_page *page, uint32_t *word)
{
	if ((size_t)(page->end - page->at) < sizeof(*word))
		return false;
	memcpy(word, page->at, sizeof(*word));
	page->at += sizeof(*word);
	return true;
}

/* Unpack a header's bit fields, whose order depends on the byte order. */
static void unpack_header(uint32_t header, uint32_t *type, uint32_t *delta)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	*type = header & TYPE_MASK;
	*delta = header >> TYPE_BITS;
#else
	*type = header >> DELTA_BITS;
	*delta = header & DELTA_MASK;
#endif
}

enum ring_next ring_page_next(struct ring_page *page, struct ring_event *event)
{
	uint32_t header, type, delta, word, length;
	uint64_t stamp;

	while (take_word(page, &header)) {
		unpack_header(header, &type, &delta);
		if (type == TYPE_PADDING && !delta)	/* to the end */
			return RING_END;
		if (type > TYPE_LENGTH_FOLLOWS && type <= TYPE_LENGTH_MAX) {
			length = type * sizeof(word);
		} else {
			if (!take_word(page, &word))
				return RING_BROKEN;
			length = word;
		}
		switch (type) {
		case TYPE_TIME_EXTEND:
			page->time_ns += ((uint64_t)word << DELTA_BITS) + delta;
			continue;
		case TYPE_TIME_STAMP:
			stamp = ((uint64_t)word << DELTA_BITS) + delta;
			page->time_ns = page->time_ns >> STAMP_BITS <<
					STAMP_BITS | stamp;
			continue;
		case TYPE_LENGTH_FOLLOWS:
		case TYPE_PADDING:
			/* the length includes its own word */
			if (length < sizeof(word))
				return RING_BROKEN;
			length -= sizeof(word);
		}
		page->time_ns += delta;
		if (length > (size_t)(page->end - page->at))
			return RING_BROKEN;
		event->time_ns = page->time_ns;
		event->data = page->at;
		event->bytes = length;
		/* the next event starts at a multiple of a word */
		length = (length + sizeof(word) - 1) & ~(sizeof(word) - 1);
		if (length > (size_t)(page->end - page->at))
			length = page->end - page->at;
		page->at += length;
		if (type != TYPE_PADDING)	/* padding: a discarded event */
			return RING_EVENT;
	}
	return page->at == page->end ? RING_END : RING_BROKEN;
}
