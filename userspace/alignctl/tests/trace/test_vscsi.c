// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "tests/tap.h"
#include "tests/trace_file.h"

#define RECORD	32

static void commands(void)
{
	static const struct trace_request want[] = {
		{ .time_ns = 0, .op = TRACE_READ, .offset = 4096, .bytes = 4096 },
		{ .time_ns = 250000, .op = TRACE_WRITE, .offset = 4608,
		  .bytes = 512 },
		{ .time_ns = 350000, .op = TRACE_WRITE, .offset = 8192,
		  .bytes = 8192 },
		{ .time_ns = 400000, .op = TRACE_FLUSH },
	};
	CLEANUP_FREE char *said = NULL;
	struct trace_request r[4] = { 0 };
	int i, nr;

	trace_keep_messages();
	nr = trace_drain(trace_fixture("vscsi-1"), r, 4);
	said = trace_kept_messages();
	CHECK(nr == 4, "%d", nr);
	for (i = 0; i < 4; i++)
		CHECK(r[i].time_ns == want[i].time_ns && r[i].op == want[i].op &&
		      r[i].offset == want[i].offset &&
		      r[i].bytes == want[i].bytes, "%d: %" PRIu64, i,
		      r[i].offset);
	CHECK(strstr(said, "/vscsi-1: entries left out: 2 (command that is neither read, write nor flush: 1, length is 0: 1)\n"),
	      "%s", said);
}

/* Return the path of the sample with @bytes of its record @nr replaced. */
static const char *changed(uint32_t nr, uint32_t at, const void *bytes,
			   size_t length)
{
	size_t size;
	CLEANUP_FREE char *all = trace_read_all(trace_fixture("vscsi-1"), &size);

	memcpy(all + RECORD * nr + at, bytes, length);
	return trace_bytes("t", all, size);
}

static void refusals(void)
{
	const struct trace_choice choice = { .from = TRACE_READABLE_VSCSI };
	const uint16_t version = htole16(0x0200);
	const uint64_t large = htole64(UINT64_C(1) << 55);
	size_t size;
	CLEANUP_FREE char *all = trace_read_all(trace_fixture("vscsi-1"), &size);

	trace_folder_open();
	trace_expect_refused(trace_bytes("t", all, size - 1),
			     "byte 160: the file is truncated in a record of 32 bytes");
	trace_expect_refused(changed(2, 14, &version, sizeof(version)),
			     "unknown format; name the format with --from, or the columns of a table with --columns");
	trace_expect_refused_as(changed(2, 14, &version, sizeof(version)),
				&choice, "byte 64: not a record of version 1");
	trace_expect_refused(changed(0, 16, &large, sizeof(large)),
			     "byte 0: the sector is beyond 64 bits of bytes");
	trace_expect_refused(changed(1, 24, &large, sizeof(large)),
			     "byte 32: the time is beyond 64 bits of nanoseconds");
	trace_folder_close();
}

const struct tap_test trace_vscsi_tests[] = {
	{ "the commands of a virtual SCSI disk are requests, or left out", commands },
	{ "what is wrong in a trace of a virtual SCSI disk is named with its byte", refusals },
	{ 0 },
};
