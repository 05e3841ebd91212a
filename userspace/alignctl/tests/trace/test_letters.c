// SPDX-License-Identifier: GPL-2.0
/*
 * Letters against a second reading of who writes them: blk_fill_rwbs() of the
 * kernel, in its two versions from 6.1 to 7.2, and fill_rwbs() of blkparse.
 */
#include <string.h>

#include "tests/tap.h"
#include "trace/letters.h"

enum { PREFLUSH = 1, FUA = 2, AHEAD = 4, SYNC = 8, META = 16, ATOMIC = 32,
       ALL = 64 };

enum kernel_op { K_READ, K_WRITE, K_FLUSH, K_DISCARD, K_SECURE_ERASE,
		 K_WRITE_ZEROES, K_ZONE_APPEND, K_ZONE_RESET, K_ZONE_RESET_ALL,
		 K_ZONE_FINISH, K_ZONE_OPEN, K_ZONE_CLOSE, K_DRIVER, K_NR };

/* The letters of each operation since 6.18; older kernels have N from WZ on. */
static const char *const kernel_letters[K_NR] = {
	"R", "W", "F", "D", "DE", "WZ", "ZA", "ZR", "ZRA", "ZF", "ZO", "ZC",
	"N",
};

static void put_hints(char *letters, int flags)
{
	static const struct { int flag; const char *letter; } hints[] = {
		{ FUA, "F" }, { AHEAD, "A" }, { SYNC, "S" }, { META, "M" },
		{ ATOMIC, "U" },
	};
	size_t i;

	for (i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (flags & hints[i].flag)
			strcat(letters, hints[i].letter);
}

static enum trace_op op_of(enum kernel_op op, bool old)
{
	switch (op) {
	case K_READ:
		return TRACE_READ;
	case K_WRITE:
		return TRACE_WRITE;
	case K_FLUSH:
		return TRACE_FLUSH;
	case K_DISCARD:
	case K_SECURE_ERASE:
		return TRACE_DISCARD;
	case K_WRITE_ZEROES:
		return old ? TRACE_NR_OPS : TRACE_WRITE_ZEROES;
	default:
		return TRACE_NR_OPS;
	}
}

static void of_the_kernel(void)
{
	int op, flags, old;

	for (old = 0; old < 2; old++)
	for (op = 0; op < K_NR; op++)
	for (flags = 0; flags < ALL; flags++) {
		struct trace_request request = { 0 };
		enum trace_op want = op_of(op, old);
		bool flush = want == TRACE_FLUSH;
		char letters[16] = "";
		const char *at = letters;

		if (flags & PREFLUSH)
			strcat(letters, "F");
		strcat(letters, old && op >= K_WRITE_ZEROES ? "N" :
		       kernel_letters[op]);
		put_hints(letters, old ? flags & ~ATOMIC : flags);
		CHECK(trace_letters_take(&at, &request) != LETTERS_INVALID &&
		      !*at, "%s", letters);
		CHECK(request.op == want, "%s: %d", letters, request.op);
		/* ZRA and ZR with a readahead are the same letters */
		CHECK(request.preflush == (!flush && (flags & PREFLUSH)), "%s",
		      letters);
		CHECK(request.fua == (!flush && (flags & FUA)), "%s", letters);
	}
}

static void of_blkparse(void)
{
	enum { DISCARD = 1, WRITE = 2, BYTES = 4, ALL_OPS = 8 };
	int op, flags;

	for (op = 0; op < ALL_OPS; op++)
	for (flags = 0; flags < ATOMIC; flags++) {
		struct trace_request request = { 0 };
		enum trace_op want;
		char letters[16] = "";
		const char *at = letters;

		if (flags & PREFLUSH)
			strcat(letters, "F");
		if (op & DISCARD) {
			strcat(letters, "D");
			want = TRACE_DISCARD;
		} else if (op & WRITE) {
			strcat(letters, "W");
			want = TRACE_WRITE;
		} else if (op & BYTES) {
			strcat(letters, "R");
			want = TRACE_READ;
		} else {
			strcat(letters, "N");
			want = TRACE_NR_OPS;
		}
		put_hints(letters, flags);
		CHECK(trace_letters_take(&at, &request) != LETTERS_INVALID &&
		      !*at && request.op == want &&
		      request.preflush == !!(flags & PREFLUSH) &&
		      request.fua == !!(flags & FUA), "%s", letters);
	}
}

static void others(void)
{
	static const struct {
		const char *letters;
		enum trace_letters kind;
		size_t taken;
	} rows[] = {
		{ "WB", LETTERS_REQUEST, 2 }, { "fwfs", LETTERS_REQUEST, 4 },
		{ "DE", LETTERS_SECURE_ERASE, 2 }, { "ZR", LETTERS_ZONE, 2 },
		{ "N", LETTERS_OTHER, 1 }, { "Wx", LETTERS_REQUEST, 1 },
		{ "RR", LETTERS_REQUEST, 1 }, { "", LETTERS_INVALID, 0 },
		{ "X", LETTERS_INVALID, 0 }, { "Z", LETTERS_INVALID, 0 },
		{ "1", LETTERS_INVALID, 0 }, { "SW", LETTERS_INVALID, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_request request = { 0 };
		const char *at = rows[i].letters;

		CHECK(trace_letters_take(&at, &request) == rows[i].kind, "%s",
		      rows[i].letters);
		CHECK(at == rows[i].letters + rows[i].taken, "%s: %s",
		      rows[i].letters, at);
	}
}

const struct tap_test trace_letters_tests[] = {
	{ "each operation with each flag of the kernel is read", of_the_kernel },
	{ "each operation with each flag of blkparse is read", of_blkparse },
	{ "letters of barriers and in lower case are read, others refused", others },
	{ 0 },
};
