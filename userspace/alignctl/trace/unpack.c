// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/message.h"
#include "trace/unpack.h"

#define PACKED_BYTES	(64U << 10)

/* Added to the bits of the window, zlib expects a gzip header. */
#define GZIP_HEADER	16

/**
 * struct trace_unpacker - a compressed file that is being read
 * @gzip: state of gzip
 * @zstd: state of zstd; NULL: the file is gzip
 * @whole: the data so far ends with a member (gzip) or a frame (zstd)
 * @ended: the end of the file has been read into @packed
 * @taken: number of compressed bytes unpacked so far
 * @made: number of bytes that they became
 * @start: index in @packed of the next byte to unpack
 * @end: index in @packed after the last byte read
 * @packed: compressed bytes
 */
struct trace_unpacker {
	z_stream gzip;
	ZSTD_DStream *zstd;
	bool whole;
	bool ended;
	uint64_t taken;
	uint64_t made;
	size_t start;
	size_t end;
	char packed[PACKED_BYTES];
};

static bool is_gzip(const char *head, size_t length)
{
	static const char magic[] = { '\x1f', '\x8b', '\x08' };

	return length >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

/* Check for a frame of zstd, or for one to skip, as pzstd writes them. */
static bool is_zstd(const char *head, size_t length)
{
	const uint8_t *byte = (const uint8_t *)head;
	uint32_t magic;

	if (length < TRACE_UNPACK_MAGIC)
		return false;
	magic = byte[0] | byte[1] << 8 | byte[2] << 16 |
		(uint32_t)byte[3] << 24;
	return magic == ZSTD_MAGICNUMBER || ZSTD_MAGIC_SKIPPABLE_START ==
	       (magic & ZSTD_MAGIC_SKIPPABLE_MASK);
}

struct trace_unpacker *trace_unpacker_new(const char *head, size_t length)
{
	bool gzip = is_gzip(head, length);
	struct trace_unpacker *unpacker;

	if (!gzip && !is_zstd(head, length))
		return NULL;
	unpacker = memory_or_exit(calloc(1, sizeof(*unpacker)));
	if (gzip) {
		memory_or_exit(inflateInit2(&unpacker->gzip, MAX_WBITS +
					    GZIP_HEADER) == Z_OK ?
			       unpacker : NULL);
	} else {
		unpacker->zstd = memory_or_exit(ZSTD_createDStream());
		ZSTD_DCtx_setParameter(unpacker->zstd, ZSTD_d_windowLogMax,
				       TRACE_UNPACK_WINDOW_LOG);
	}
	memcpy(unpacker->packed, head, length);
	unpacker->end = length;
	return unpacker;
}

void trace_unpacker_free(struct trace_unpacker *unpacker)
{
	if (!unpacker)
		return;
	if (unpacker->zstd)
		ZSTD_freeDStream(unpacker->zstd);
	else
		inflateEnd(&unpacker->gzip);
	free(unpacker);
}

/* Read compressed bytes once all are unpacked. */
static enum trace_unpacked fill(struct trace_unpacker *unpacker, int fd,
				const char *path)
{
	ssize_t got;

	if (unpacker->start < unpacker->end || unpacker->ended)
		return TRACE_UNPACKED;
	do
		got = read(fd, unpacker->packed, sizeof(unpacker->packed));
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		message_error("%s: byte %" PRIu64 ": cannot be read: %s", path,
			      unpacker->taken, strerror(errno));
		return TRACE_UNPACK_FAILED;
	}
	unpacker->start = 0;
	unpacker->end = (size_t)got;
	unpacker->ended = !got;
	return TRACE_UNPACKED;
}

/* Unpack what there is. Return: NULL, or why it cannot be unpacked. */
static const char *inflate_some(struct trace_unpacker *unpacker, char *bytes,
				size_t room, size_t *got)
{
	z_stream *z = &unpacker->gzip;
	int status;

	/* another member follows; its header is checked as the first one's */
	if (unpacker->whole && inflateReset(z) != Z_OK)
		return "zlib cannot go on";
	z->next_in = (Bytef *)unpacker->packed + unpacker->start;
	z->avail_in = (uInt)(unpacker->end - unpacker->start);
	z->next_out = (Bytef *)bytes;
	z->avail_out = (uInt)room;
	status = inflate(z, Z_NO_FLUSH);
	*got = room - z->avail_out;
	unpacker->start = unpacker->end - z->avail_in;
	unpacker->whole = status == Z_STREAM_END;
	/* at the end of the file there may be nothing left to do */
	if (status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR)
		return NULL;
	memory_or_exit(status == Z_MEM_ERROR ? NULL : unpacker);
	return z->msg ? z->msg : "not in the format of gzip";
}

static const char *decompress_some(struct trace_unpacker *unpacker,
				   char *bytes, size_t room, size_t *got)
{
	ZSTD_inBuffer in = { unpacker->packed, unpacker->end, unpacker->start };
	ZSTD_outBuffer out = { bytes, room, 0 };
	size_t status = ZSTD_decompressStream(unpacker->zstd, &out, &in);

	*got = out.pos;
	unpacker->start = in.pos;
	unpacker->whole = !status;
	return ZSTD_isError(status) ? ZSTD_getErrorName(status) : NULL;
}

static enum trace_unpacked refuse(const struct trace_unpacker *unpacker,
				  const char *path, const char *reason)
{
	message_error("%s: byte %" PRIu64 " of the %s data: %s", path,
		      unpacker->taken, unpacker->zstd ? "zstd" : "gzip",
		      reason);
	return TRACE_UNPACK_DAMAGED;
}

enum trace_unpacked trace_unpack(struct trace_unpacker *unpacker, int fd,
				 const char *path, char *bytes, size_t room,
				 size_t *got)
{
	enum trace_unpacked filled;
	const char *reason;
	size_t start;

	for (*got = 0; !*got;) {
		filled = fill(unpacker, fd, path);
		if (filled != TRACE_UNPACKED)
			return filled;
		if (unpacker->ended && unpacker->whole)
			break;
		start = unpacker->start;
		reason = unpacker->zstd ?
			 decompress_some(unpacker, bytes, room, got) :
			 inflate_some(unpacker, bytes, room, got);
		if (reason)
			return refuse(unpacker, path, reason);
		unpacker->taken += unpacker->start - start;
		unpacker->made += *got;
		if (unpacker->made > TRACE_UNPACK_FREE &&
		    unpacker->made / TRACE_UNPACK_FACTOR > unpacker->taken)
			return refuse(unpacker, path, "unpacks to over 1032 times its length, which no trace does");
		if (unpacker->ended && !*got)
			break;
	}
	if (!*got && !unpacker->whole)
		return refuse(unpacker, path, "the file is truncated");
	return TRACE_UNPACKED;
}
