// SPDX-License-Identifier: GPL-2.0
/*
 * One backend for each compression over zlib, bzip2, lzma and zstd, behind one
 * stream of bytes.
 */
#include <bzlib.h>
#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/message.h"
#include "base/progress.h"
#include "trace/unpack.h"

#define PACKED_BYTES	(64U << 10)

/* Added to the bits of the window, zlib expects a gzip header. */
#define GZIP_HEADER	16

/* Memory that unpacking of xz may take: as much as the largest window of zstd. */
#define XZ_MEMORY	((uint64_t)1 << TRACE_UNPACK_WINDOW_LOG)

struct method;

/**
 * struct trace_unpacker - a compressed file that is being read
 * @method: how it is compressed
 * @gzip: state of gzip
 * @bzip2: state of bzip2
 * @xz: state of xz
 * @zstd: state of zstd
 * @whole: the data so far ends with a member (gzip), a stream (bzip2, xz) or a
 *	frame (zstd)
 * @ended: the end of the file has been read into @packed
 * @taken: number of compressed bytes unpacked so far
 * @made: number of bytes that they became
 * @start: index in @packed of the next byte to unpack
 * @end: index in @packed after the last byte read
 * @packed: compressed bytes
 */
struct trace_unpacker {
	const struct method *method;
	union {
		z_stream gzip;
		bz_stream bzip2;
		lzma_stream xz;
		ZSTD_DStream *zstd;
	};
	bool whole;
	bool ended;
	uint64_t taken;
	uint64_t made;
	size_t start;
	size_t end;
	char packed[PACKED_BYTES];
};

/**
 * struct method - a way of compression
 * @name: its name in messages
 * @magic: the first bytes of a file, without those that differ
 * @recognize: check the first bytes instead of @magic; may be NULL
 * @begin: set up the state, which is all zeroes
 * @some: unpack what there is. Return: NULL, or why it cannot be unpacked
 * @end: free the state
 */
struct method {
	const char *name;
	const char *magic;
	bool (*recognize)(const uint8_t *head);
	void (*begin)(struct trace_unpacker *unpacker);
	const char *(*some)(struct trace_unpacker *unpacker, char *bytes,
			    size_t room, size_t *got);
	void (*end)(struct trace_unpacker *unpacker);
};

static void gzip_begin(struct trace_unpacker *unpacker)
{
	memory_or_exit(inflateInit2(&unpacker->gzip, MAX_WBITS + GZIP_HEADER) ==
		       Z_OK ? unpacker : NULL);
}

static const char *gzip_some(struct trace_unpacker *unpacker, char *bytes,
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

static void gzip_end(struct trace_unpacker *unpacker)
{
	inflateEnd(&unpacker->gzip);
}

static void bzip2_begin(struct trace_unpacker *unpacker)
{
	unpacker->bzip2 = (bz_stream) { 0 };
	memory_or_exit(BZ2_bzDecompressInit(&unpacker->bzip2, 0, 0) == BZ_OK ?
		       unpacker : NULL);
}

static void bzip2_end(struct trace_unpacker *unpacker)
{
	BZ2_bzDecompressEnd(&unpacker->bzip2);
}

static const char *bzip2_some(struct trace_unpacker *unpacker, char *bytes,
			      size_t room, size_t *got)
{
	bz_stream *bz = &unpacker->bzip2;
	int status;

	/* another stream follows, as of pbzip2 */
	if (unpacker->whole) {
		bzip2_end(unpacker);
		bzip2_begin(unpacker);
	}
	bz->next_in = unpacker->packed + unpacker->start;
	bz->avail_in = (unsigned int)(unpacker->end - unpacker->start);
	bz->next_out = bytes;
	bz->avail_out = (unsigned int)room;
	status = BZ2_bzDecompress(bz);
	*got = room - bz->avail_out;
	unpacker->start = unpacker->end - bz->avail_in;
	unpacker->whole = status == BZ_STREAM_END;
	memory_or_exit(status == BZ_MEM_ERROR ? NULL : unpacker);
	switch (status) {
	case BZ_OK:
	case BZ_STREAM_END:
		return NULL;
	case BZ_DATA_ERROR_MAGIC:
		return "not in the format of bzip2";
	default:
		return "data is damaged";
	}
}

static void xz_begin(struct trace_unpacker *unpacker)
{
	unpacker->xz = (lzma_stream)LZMA_STREAM_INIT;
	memory_or_exit(lzma_stream_decoder(&unpacker->xz, XZ_MEMORY,
					   LZMA_CONCATENATED) == LZMA_OK ?
		       unpacker : NULL);
}

static void xz_end(struct trace_unpacker *unpacker)
{
	lzma_end(&unpacker->xz);
}

static const char *xz_some(struct trace_unpacker *unpacker, char *bytes,
			   size_t room, size_t *got)
{
	lzma_stream *xz = &unpacker->xz;
	lzma_ret status;

	xz->next_in = (uint8_t *)unpacker->packed + unpacker->start;
	xz->avail_in = unpacker->end - unpacker->start;
	xz->next_out = (uint8_t *)bytes;
	xz->avail_out = room;
	/* only the end of the file tells that no stream follows */
	status = lzma_code(xz, unpacker->ended ? LZMA_FINISH : LZMA_RUN);
	*got = room - xz->avail_out;
	unpacker->start = unpacker->end - xz->avail_in;
	unpacker->whole = status == LZMA_STREAM_END;
	memory_or_exit(status == LZMA_MEM_ERROR ? NULL : unpacker);
	switch (status) {
	case LZMA_OK:
	case LZMA_STREAM_END:
	case LZMA_BUF_ERROR:
		return NULL;
	case LZMA_MEMLIMIT_ERROR:
		return "needs more than 128 MiB to be unpacked";
	case LZMA_FORMAT_ERROR:
		return "not in the format of xz";
	case LZMA_OPTIONS_ERROR:
		return "needs a newer liblzma";
	default:
		return "data is damaged";
	}
}

/* Check for a frame of zstd, or for one to skip, as pzstd writes them. */
static bool is_zstd(const uint8_t *head)
{
	uint32_t magic = head[0] | head[1] << 8 | head[2] << 16 |
			 (uint32_t)head[3] << 24;

	return magic == ZSTD_MAGICNUMBER || ZSTD_MAGIC_SKIPPABLE_START ==
	       (magic & ZSTD_MAGIC_SKIPPABLE_MASK);
}

static void zstd_begin(struct trace_unpacker *unpacker)
{
	unpacker->zstd = memory_or_exit(ZSTD_createDStream());
	ZSTD_DCtx_setParameter(unpacker->zstd, ZSTD_d_windowLogMax,
			       TRACE_UNPACK_WINDOW_LOG);
}

static const char *zstd_some(struct trace_unpacker *unpacker,
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

static void zstd_end(struct trace_unpacker *unpacker)
{
	ZSTD_freeDStream(unpacker->zstd);
}

static const struct method methods[] = {
	{ .name = "gzip", .magic = "\x1f\x8b\x08", .begin = gzip_begin,
	  .some = gzip_some, .end = gzip_end },
	{ .name = "bzip2", .magic = "BZh", .begin = bzip2_begin,
	  .some = bzip2_some, .end = bzip2_end },
	{ .name = "xz", .magic = "\xfd\x37zX", .begin = xz_begin,
	  .some = xz_some, .end = xz_end },
	{ .name = "zstd", .recognize = is_zstd, .begin = zstd_begin,
	  .some = zstd_some, .end = zstd_end },
};

/* Return how a file with these first bytes is compressed; NULL: it is not. */
static const struct method *method_of(const char *head, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const struct method *method = &methods[i];
		size_t bytes = method->recognize ? TRACE_UNPACK_MAGIC :
			       strlen(method->magic);

		if (length < bytes)
			continue;
		if (method->recognize ?
		    method->recognize((const uint8_t *)head) :
		    !memcmp(head, method->magic, bytes))
			return method;
	}
	return NULL;
}

struct trace_unpacker *trace_unpacker_new(const char *head, size_t length)
{
	const struct method *method = method_of(head, length);
	struct trace_unpacker *unpacker;

	if (!method)
		return NULL;
	unpacker = memory_or_exit(calloc(1, sizeof(*unpacker)));
	unpacker->method = method;
	method->begin(unpacker);
	memcpy(unpacker->packed, head, length);
	unpacker->end = length;
	return unpacker;
}

void trace_unpacker_free(struct trace_unpacker *unpacker)
{
	if (!unpacker)
		return;
	unpacker->method->end(unpacker);
	free(unpacker);
}

/* Read compressed bytes once all are unpacked. */
static enum trace_unpacked fill_input(struct trace_unpacker *unpacker, int fd,
				      const char *path)
{
	ssize_t got;

	if (unpacker->start < unpacker->end || unpacker->ended)
		return TRACE_UNPACKED;
	do
		got = read(fd, unpacker->packed, sizeof(unpacker->packed));
	while (got < 0 && errno == EINTR && !interrupt_seen());
	if (got < 0 && errno != EINTR)
		message_error("%s: byte %" PRIu64 ": cannot be read: %s", path,
			      unpacker->taken, strerror(errno));
	if (got < 0)
		return TRACE_UNPACK_FAILED;
	unpacker->start = 0;
	unpacker->end = (size_t)got;
	unpacker->ended = !got;
	return TRACE_UNPACKED;
}

static enum trace_unpacked refuse_data(const struct trace_unpacker *unpacker,
				       const char *path, const char *reason)
{
	message_error("%s: byte %" PRIu64 " of the %s data: %s", path,
		      unpacker->taken, unpacker->method->name, reason);
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
		filled = fill_input(unpacker, fd, path);
		if (filled != TRACE_UNPACKED)
			return filled;
		if (unpacker->ended && unpacker->whole)
			break;
		start = unpacker->start;
		reason = unpacker->method->some(unpacker, bytes, room, got);
		if (reason)
			return refuse_data(unpacker, path, reason);
		unpacker->taken += unpacker->start - start;
		unpacker->made += *got;
		if (unpacker->made > TRACE_UNPACK_FREE &&
		    unpacker->made / TRACE_UNPACK_FACTOR > unpacker->taken)
			return refuse_data(unpacker, path, "unpacks to over 1032 times its length, which no trace does");
		if (unpacker->ended && !*got)
			break;
	}
	if (!*got && !unpacker->whole)
		return refuse_data(unpacker, path, "the file is truncated");
	return TRACE_UNPACKED;
}
