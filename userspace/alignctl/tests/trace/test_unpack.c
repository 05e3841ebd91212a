// SPDX-License-Identifier: GPL-2.0
/* Compressed traces. */
#include <bzlib.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "tests/tap.h"
#include "tests/trace_file.h"
#include "trace/unpack.h"

#define HEADER	"time_us,op,offset,bytes\n"

enum form { GZIP, BZIP2, XZ, ZSTD, NR_FORMS };

static const char *const form_names[NR_FORMS] = { "gzip", "bzip2", "xz",
						    "zstd" };

/* Compress @size bytes; for free(). */
static char *packed(enum form form, const void *bytes, size_t size,
		    size_t *length)
{
	size_t room = ZSTD_compressBound(size) + size / 50 + 1000;
	char *to = memory_or_exit(malloc(room));
	z_stream z = { .next_in = (Bytef *)bytes, .avail_in = (uInt)size,
		       .next_out = (Bytef *)to, .avail_out = (uInt)room };

	if (form == ZSTD) {
		*length = ZSTD_compress(to, room, bytes, size, 1);
		return to;
	}
	if (form == BZIP2) {
		unsigned int bytes_room = (unsigned int)room;

		CHECK(BZ2_bzBuffToBuffCompress(to, &bytes_room, (char *)bytes,
					       (unsigned int)size, 1, 0, 0) ==
		      BZ_OK, "bzip2");
		*length = bytes_room;
		return to;
	}
	if (form == XZ) {
		*length = 0;
		CHECK(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, bytes,
					      size, (uint8_t *)to, length,
					      room) == LZMA_OK, "xz");
		return to;
	}
	CHECK(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
			   Z_DEFAULT_STRATEGY) == Z_OK &&
	      deflate(&z, Z_FINISH) == Z_STREAM_END, "deflate");
	*length = z.total_out;
	deflateEnd(&z);
	return to;
}

/* Return @nr requests, behind the header if they are the first. */
static char *rows(int first, int nr)
{
	char *text = memory_or_exit(malloc(40 * nr + 100)), *to = text;
	int i;

	if (!first)
		to += sprintf(to, HEADER);
	for (i = first; i < first + nr; i++)
		to += sprintf(to, "%d,write,%lu,512\n", i,
			      512UL * (i * 7919UL % 100003));
	return text;
}

/* Longer than a buffer, in two parts, and read again from the middle and the end. */
static void read_as_plain(void)
{
	enum { NR = 20000 };
	CLEANUP_FREE char *one = rows(0, NR);
	CLEANUP_FREE char *two = rows(NR, NR);
	struct trace_request request;
	struct trace *trace;
	enum form form;
	int i, round;

	trace_folder_open();
	for (form = 0; form < NR_FORMS; form++) {
		size_t length, more;
		CLEANUP_FREE char *a = packed(form, one, strlen(one), &length);
		CLEANUP_FREE char *b = packed(form, two, strlen(two), &more);
		CLEANUP_FREE char *both = memory_or_exit(malloc(length + more));

		memcpy(both, a, length);
		memcpy(both + length, b, more);
		CHECK(!trace_open(&trace, trace_bytes("t", both,
						      length + more)),
		      "%s", form_names[form]);
		for (round = 0; round < 3; round++) {
			for (i = 0; i < (round ? 2 * NR : NR / 2); i++)
				if (trace_next(trace, &request) != TRACE_GOT ||
				    request.time_ns != 1000ULL * i)
					break;
			CHECK(i == (round ? 2 * NR : NR / 2), "%s: %d",
			      form_names[form], i);
			CHECK(!trace_rewind(trace), "%s", form_names[form]);
		}
		trace_close(trace);
	}
	trace_folder_close();
}

/* A frame without data, as pzstd writes one before the data. */
static void frame_to_skip(void)
{
	static const char skip[] = "\x50\x2a\x4d\x18\x04\0\0\0abcd";
	CLEANUP_FREE char *text = rows(0, 10);
	size_t length;
	CLEANUP_FREE char *data = packed(ZSTD, text, strlen(text), &length);
	CLEANUP_FREE char *both = memory_or_exit(malloc(length + 12));

	memcpy(both, skip, 12);
	memcpy(both + 12, data, length);
	trace_folder_open();
	CHECK(trace_drain(trace_bytes("t", both, length + 12), NULL, 0) == 10,
	      "skipped");
	trace_folder_close();
}

/* Cut off anywhere, also where a block ends: what is read so far is no trace. */
static void truncated(void)
{
	CLEANUP_FREE char *text = rows(0, 3000);
	enum form form;
	size_t at;

	trace_folder_open();
	for (form = 0; form < NR_FORMS; form++) {
		size_t length;
		CLEANUP_FREE char *data = packed(form, text, strlen(text),
						 &length);

		for (at = 4; at < length; at += at < 40 ? 1 : length / 20) {
			CLEANUP_FREE char *reason =
				message_format("byte %zu of the %s data: the file is truncated",
					       at, form_names[form]);

			trace_expect_refused(trace_bytes("t", data, at), reason);
		}
	}
	trace_folder_close();
}

static void damaged(void)
{
	CLEANUP_FREE char *text = rows(0, 3000);
	enum form form;

	trace_folder_open();
	for (form = 0; form < NR_FORMS; form++) {
		size_t length;
		CLEANUP_FREE char *data = packed(form, text, strlen(text),
						 &length);
		CLEANUP_FREE char *said = NULL;
		int nr;

		/* zstd has no checksum unless asked: spoil a header, not data */
		memset(data + length / 2, 0xff, form == GZIP ? 20 : length / 2);
		trace_keep_messages();
		nr = trace_drain(trace_bytes("t", data, length), NULL, 0);
		said = trace_kept_messages();
		CHECK(nr == -1 && strstr(said, form_names[form]) && strstr(said, " data: "),
		      "%s", said);
	}
	trace_folder_close();
}

static void behind_the_end(void)
{
	CLEANUP_FREE char *text = rows(0, 10);
	size_t length;
	CLEANUP_FREE char *data = packed(GZIP, text, strlen(text), &length);
	CLEANUP_FREE char *longer = memory_or_exit(calloc(1, length + 10));
	CLEANUP_FREE char *reason = NULL;

	memcpy(longer, data, length);
	memcpy(longer + length, "not packed", 10);
	reason = message_format("byte %zu of the gzip data: incorrect header check",
				length);
	trace_folder_open();
	trace_expect_refused(trace_bytes("t", longer, length + 10), reason);
	trace_folder_close();
}

/* Comments, as a bomb that no reader of a format would refuse. */
static void bombs(void)
{
	enum { LINE = 50000 };
	size_t size = TRACE_UNPACK_FREE + (1 << 20), at, length;
	const struct trace_choice choice = { .from = TRACE_NR_READABLE,
					     .columns = "op,offset,bytes" };
	CLEANUP_FREE char *text = memory_or_exit(malloc(size));
	CLEANUP_FREE char *said = NULL;
	CLEANUP_FREE char *data = NULL;
	int nr;

	memset(text, '#', size);
	for (at = LINE; at < size; at += LINE)
		text[at] = '\n';
	text[size - 1] = '\n';
	data = packed(ZSTD, text, size, &length);
	trace_folder_open();
	trace_keep_messages();
	nr = trace_drain_as(trace_bytes("t", data, length), &choice, NULL, 0);
	said = trace_kept_messages();
	CHECK(nr == -1 && strstr(said, "unpacks to over 1032 times its length, which no trace does\n"),
	      "%d: %s", nr, said);
	trace_folder_close();
}

/* A window of zstd that would need 2 GiB to read. */
static void large_windows(void)
{
	CLEANUP_FREE char *text = rows(0, 10);
	char data[1000];
	ZSTD_CStream *stream = ZSTD_createCStream();
	ZSTD_inBuffer in = { text, strlen(text), 0 };
	ZSTD_outBuffer out = { data, sizeof(data), 0 };
	CLEANUP_FREE char *said = NULL;
	int nr;

	ZSTD_CCtx_setParameter(stream, ZSTD_c_windowLog,
			       TRACE_UNPACK_WINDOW_LOG + 1);
	/* ended at once, the frame would say its size in place of the window's */
	ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush);
	CHECK(!ZSTD_compressStream2(stream, &out, &in, ZSTD_e_end), "packed");
	ZSTD_freeCStream(stream);
	trace_folder_open();
	trace_keep_messages();
	nr = trace_drain(trace_bytes("t", data, out.pos), NULL, 0);
	said = trace_kept_messages();
	CHECK(nr == -1 && strstr(said, "of the zstd data: Frame requires too much memory"),
	      "%d: %s", nr, said);
	trace_folder_close();
}

const struct tap_test trace_unpack_tests[] = {
	{ "a compressed trace is read as if it were not, in parts and again", read_as_plain },
	{ "frames of zstd without data are skipped", frame_to_skip },
	{ "a compressed trace that is cut off is refused, wherever that is", truncated },
	{ "a damaged compressed trace is refused", damaged },
	{ "other bytes behind compressed data are refused", behind_the_end },
	{ "a compressed trace that grows without bound is refused", bombs },
	{ "a window of zstd beyond the bound is refused", large_windows },
	{ 0 },
};
