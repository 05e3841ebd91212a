// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "base/decimal.h"
#include "tests/tap.h"

static void reads(void)
{
	static const struct {
		const char *text;
		uint64_t max, number;
		size_t length;	/* of the digits; 0: refused */
	} all[] = {
		{ "0", UINT64_MAX, 0, 1 },
		{ "7,8", UINT64_MAX, 7, 1 },
		{ "42 ", UINT64_MAX, 42, 2 },
		{ "9999999999999999999", UINT64_MAX, 9999999999999999999u, 19 },
		{ "10000000000000000000", UINT64_MAX, 10000000000000000000u, 20 },
		{ "18446744073709551615", UINT64_MAX, UINT64_MAX, 20 },
		{ "18446744073709551616", UINT64_MAX, 0, 0 },
		{ "99999999999999999999", UINT64_MAX, 0, 0 },
		{ "184467440737095516160", UINT64_MAX, 0, 0 },
		{ "0000000000000000000000000007", UINT64_MAX, 7, 28 },
		{ "100", 100, 100, 3 },
		{ "101", 100, 0, 0 },
		{ "", UINT64_MAX, 0, 0 },
		{ "-1", UINT64_MAX, 0, 0 },
		{ "+1", UINT64_MAX, 0, 0 },
		{ " 1", UINT64_MAX, 0, 0 },
		{ "/", UINT64_MAX, 0, 0 },
		{ ":", UINT64_MAX, 0, 0 },
		{ "\xb1", UINT64_MAX, 0, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *at = all[i].text;
		uint64_t number = 12345;
		bool good = decimal_read(&at, all[i].max, &number);

		CHECK(good == !!all[i].length, "\"%s\"", all[i].text);
		CHECK(at == all[i].text + all[i].length, "\"%s\": %zu digits",
		      all[i].text, (size_t)(at - all[i].text));
		CHECK(number == (good ? all[i].number : 12345),
		      "\"%s\": %" PRIu64, all[i].text, number);
	}
}

const struct tap_test decimal_tests[] = {
	{ "numbers are read to the last that 64 bits hold, and no further",
	  reads },
	{ 0 },
};
