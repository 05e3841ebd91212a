// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings. The input is a header without magic number and checksum, and the
 * bodies of chunks, each after two bytes with its length; magic numbers and
 * checksums are made valid.
 */
#include <endian.h>

#include "fuzz_trace.h"
#include "trace/crc32c.h"
#include "trace/recording.h"

static size_t put_header(uint8_t *to, struct fuzz_bytes *from)
{
	struct recording_header h = {
		.version = htole32(RECORDING_VERSION),
		.bytes = htole32(sizeof(h)),
		.start_ns = fuzz_take(from, 1),
		.nr = htole64(fuzz_take(from, 2)),
		.end = htole64(fuzz_take(from, 8)),
		.logical = (uint32_t)fuzz_take(from, 1),
		.physical = (uint32_t)fuzz_take(from, 1),
		.complete = htole32(1),
	};

	h.device[0] = (char)fuzz_take(from, 1);
	memcpy(h.magic, RECORDING_MAGIC, sizeof(h.magic));
	h.crc = htole32(crc32c(0, &h, offsetof(struct recording_header, crc)));
	memcpy(to, &h, sizeof(h));
	return sizeof(h);
}

static size_t put_chunk(uint8_t *to, struct fuzz_bytes *from)
{
	uint32_t nr = (uint32_t)fuzz_take(from, 1);
	uint32_t bytes = (uint32_t)fuzz_take(from, 2);
	struct recording_chunk chunk = { .nr = htole32(nr) };
	uint32_t crc;

	if (bytes > from->left)
		bytes = (uint32_t)from->left;
	chunk.bytes = htole32(bytes);
	crc = crc32c(0, &chunk, offsetof(struct recording_chunk, crc));
	chunk.crc = htole32(crc32c(crc, from->at, bytes));
	memcpy(to, &chunk, sizeof(chunk));
	memcpy(to + sizeof(chunk), from->at, bytes);
	from->at += bytes;
	from->left -= bytes;
	return sizeof(chunk) + bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes from = { data, size };
	uint8_t *file;
	size_t bytes;

	/* a chunk takes at least three bytes of the input */
	file = malloc(sizeof(struct recording_header) +
		      (size / 3 + 1) * sizeof(struct recording_chunk) + size);
	FUZZ_CHECK(file);
	bytes = put_header(file, &from);
	while (from.left)
		bytes += put_chunk(file + bytes, &from);
	fuzz_trace(file, bytes);
	free(file);
	return 0;
}
