// SPDX-License-Identifier: GPL-2.0
/* Whether a drive's count confirms the ledger's. */
#include "audit/drive_interval.h"
#include "tests/tap.h"

static void judgement(void)
{
	static const struct {
		uint64_t unaligned, inside;
		double seconds;
		int64_t confirms;	/* -1: cannot tell */
	} rows[] = {
		{ 1000, 1000, 1, 1 },
		{ 1010, 1000, 1, 1 },
		{ 990, 1000, 1, 1 },
		{ 99, 99, 1, 1 },
		{ 1011, 1000, 599, -1 },
		{ 989, 1000, 599, -1 },
		{ 1011, 1000, 600, 0 },
		{ 989, 1000, 600, 0 },
		{ 98, 99, 600, 0 },
		{ 0, 1, 600, 0 },
		{ 1, 0, 600, 0 },
		{ UINT64_MAX, 1, 600, 0 },
		{ 1, UINT64_MAX, 600, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct maybe told = drive_confirms(rows[i].unaligned,
						   rows[i].inside,
						   rows[i].seconds);

		CHECK(maybe_or(told, -1) == rows[i].confirms, "row %zu", i);
	}
}

const struct tap_test drive_interval_tests[] = {
	{ "a drive confirms a count that is its own but for one per cent",
	  judgement },
	{ 0 },
};
