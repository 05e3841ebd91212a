/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device in memory for the readers of on-disk headers: zeroes, but for the
 * input, which lies where the format has its headers.
 */
#ifndef FUZZ_HEADER_H
#define FUZZ_HEADER_H

#include "audit/header.h"
#include "fuzz.h"

#define FUZZ_DEVICE_BYTES	(UINT64_C(5) << 20)
/* Reading more than the largest header, twice, is a loop. */
#define FUZZ_READ_MAX		(UINT64_C(10) << 20)

/**
 * struct fuzz_device - the device
 * @data: the input
 * @size: length of the input
 * @at: where the input lies
 * @split: length of the input's first part
 * @second: where the rest of the input lies; 0: behind the first part
 * @read: bytes read so far
 */
struct fuzz_device {
	const uint8_t *data;
	size_t size;
	uint64_t at;
	size_t split;
	uint64_t second;
	uint64_t read;
};

/* Copy what a part of the input and a read have in common. */
static inline void fuzz_overlay(uint8_t *buffer, uint64_t offset, size_t length,
				const uint8_t *part, size_t size, uint64_t at)
{
	uint64_t from = offset > at ? offset : at;
	uint64_t to = offset + length < at + size ? offset + length : at + size;

	if (from < to)
		memcpy(buffer + (from - offset), part + (from - at), to - from);
}

static inline bool fuzz_device_read(void *context, uint64_t offset,
				    void *buffer, size_t length)
{
	struct fuzz_device *device = context;
	size_t first = device->second && device->split < device->size ?
		device->split : device->size;

	FUZZ_CHECK(offset <= FUZZ_DEVICE_BYTES &&
		   length <= FUZZ_DEVICE_BYTES - offset);
	device->read += length;
	FUZZ_CHECK(device->read <= FUZZ_READ_MAX);
	memset(buffer, 0, length);
	fuzz_overlay(buffer, offset, length, device->data, first, device->at);
	fuzz_overlay(buffer, offset, length, device->data + first,
		     device->size - first, device->second);
	return true;
}

/* Check a figure: not known, or from @least to @most. */
static inline void fuzz_figure(struct maybe figure, int64_t least, int64_t most)
{
	FUZZ_CHECK(maybe_or(figure, least) >= least &&
		   maybe_or(figure, most) <= most);
}

/* Read a header, and check that what it gives is possible. */
static inline void
fuzz_header(bool (*read)(const struct header_source *source,
			 struct stack_content *content),
	    struct fuzz_device *device)
{
	const struct header_source source = {
		fuzz_device_read, device, FUZZ_DEVICE_BYTES,
	};
	struct stack_content content, before;

	memset(&content, 0, sizeof(content));
	before = content;
	if (!read(&source, &content)) {
		FUZZ_CHECK(!memcmp(&content, &before, sizeof(content)));
		return;
	}
	fuzz_figure(content.start, 0, (int64_t)FUZZ_DEVICE_BYTES - 1);
	fuzz_figure(content.sector, 512, 65536);
	fuzz_figure(content.block, 512, INT64_C(32) << 20);
	fuzz_figure(content.extent, 512, INT64_MAX);
	fuzz_figure(content.chunk, 0, INT64_MAX);
	fuzz_figure(content.logical, 1, UINT32_MAX);
	fuzz_figure(content.table_sector, 512, 65536);
	fuzz_figure(content.bytes, 0, INT64_MAX);
	FUZZ_CHECK(!content.type && !content.table && !content.unread);
}

#endif
