// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "ledger/status.h"
#include "tests/tap.h"

static void full_line(void)
{
	struct align_status s;
	struct align_state d;
	bool good = status_parse("pad physical_block_size:16384 "
		"alignment_offset:3584 max_blocks:64 blocks:22 "
		"memory_bytes:96976 epoch:3 rmw_expected:80 rmw_avoided:39 "
		"held_blocks:5 degraded:2 something_later:1 held_bytes:7168",
		&s, &d);

	CHECK(good && !strcmp(s.mode, "pad"), "mode '%s'", s.mode);
	CHECK(s.physical == 16384 && maybe_is(s.offset, 3584),
	      "P %u, offset %" PRId64, s.physical, maybe_or(s.offset, -1));
	CHECK(s.max_blocks == 64 && s.blocks == 22 &&
	      s.memory_bytes == 96976 && d.epoch == 3, "blocks %" PRIu64
	      " of %" PRIu64, s.blocks, s.max_blocks);
	CHECK(d.held_blocks == 5 && d.degraded == 2, "held %" PRIu64
	      ", degraded %" PRIu64, d.held_blocks, d.degraded);
	CHECK(maybe_is(d.held_bytes, 7168), "held %" PRId64 " bytes",
	      maybe_or(d.held_bytes, -1));
}

static void unknown_offset(void)
{
	struct align_status s;
	struct align_state d;

	CHECK(status_parse("report physical_block_size:4096 "
			   "alignment_offset:unknown max_blocks:1 blocks:0 "
			   "memory_bytes:0 epoch:1", &s, &d) && !maybe_known(s.offset),
	      "offset %" PRId64, maybe_or(s.offset, -1));
	CHECK(!d.held_blocks && !d.degraded, "a module that does not hold");
	CHECK(status_parse("report physical_block_size:4096 alignment_offset:0 epoch:1", &s, &d) &&
	      !s.max_blocks && !s.blocks && !s.memory_bytes,
	      "a module without pad has blocks");
	CHECK(!maybe_known(d.held_bytes), "%" PRId64
	      " bytes, and the line has none", maybe_or(d.held_bytes, -1));
}

static void bad_lines(void)
{
	static const char *const lines[] = {
		"", "report", " physical_block_size:4096",
		/* one of the pairs is missing, no number, or misspelled */
		"report alignment_offset:0 max_blocks:1 blocks:0 memory_bytes:0 epoch:1",
		"report physical_block_size:4096 alignment_offset:x max_blocks:1 blocks:0 memory_bytes:0 epoch:1",
		"report physical_block_size:4096 alignment_offset:0 max_blocks:x blocks:0 memory_bytes:0 epoch:1",
		"report physical_block_size:4096 alignment_offset:0 max_blocks:1 blocks: memory_bytes:0 epoch:1",
		"report physical_block_size:4096 alignment_offset:0 max_blocks:1 blocks:0 memory_bytes:0 epochs:1",
		"report physical_block_size:4k alignment_offset:0 max_blocks:1 blocks:0 memory_bytes:0 epoch:1",
		"report physical_block_size:4096 alignment_offset:0 max_blocks:1 blocks:0 memory_bytes:0 epoch:1 held_bytes:x",
		"averyveryverylongmode physical_block_size:4096 alignment_offset:0 max_blocks:1 blocks:0 memory_bytes:0 epoch:1",
	};
	struct align_status s;
	struct align_state d;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CHECK(!status_parse(lines[i], &s, &d), "'%s'", lines[i]);
}

static void tables(void)
{
	struct align_table t;

	CHECK(status_parse_table("254:16 101 4 mode pad max_blocks 64", &t) &&
	      t.device == makedev(254, 16) && t.start == 101,
	      "start %" PRIu64, t.start);
	CHECK(status_parse_table("8:0 0", &t), "without features");
	CHECK(!status_parse_table("/dev/sda 0", &t), "a path");
	CHECK(!status_parse_table("8:0", &t), "without start");
}

const struct tap_test status_tests[] = {
	{ "a status line is read, later counters and all", full_line },
	{ "an unknown alignment offset is told from 0", unknown_offset },
	{ "status lines that lack something are refused", bad_lines },
	{ "a table line says where the target lies", tables },
	{ 0 },
};
