// SPDX-License-Identifier: GPL-2.0
/* Keys and values of udev's hwdb; the database itself is test_unit_hwdb.py's. */
#include <string.h>

#include "base/cleanup.h"
#include "tests/tap.h"
#include "unit/hwdb.h"

static void keys(void)
{
	CLEANUP_FREE char *key = hwdb_key("A: b\n\xc3\xa9", NULL, "naa.5");

	CHECK(!strcmp(key, "alignctl-unit:model:A_ b___:firmware::disk:naa.5:"),
	      "%s", key);
}

static void values(void)
{
	static const char *const wrong[] = {
		"", "0", "4k", "-4096", "256", "5000", "2097152", " 4096",
		"99999999999999999999",
	};
	struct maybe bytes = maybe_of(7);
	size_t i;

	CHECK(!hwdb_value(HWDB_UNIT, "65536", &bytes) &&
	      maybe_is(bytes, 65536), "65536");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CLEANUP_FREE char *why = hwdb_value(HWDB_UNIT, wrong[i],
						    &bytes);

		CHECK(why && strstr(why, "is no power of two"), "%s: %s",
		      wrong[i], why);
		CHECK(maybe_is(bytes, 65536), "%s is taken", wrong[i]);
	}
}

static void rated(void)
{
	static const char *const wrong[] = {
		"", "0", "360TB", "-360", "0.3", "1000001",
		"99999999999999999999",
	};
	struct maybe bytes = MAYBE_UNKNOWN;
	size_t i;

	CHECK(!hwdb_rated_value(HWDB_RATED, "1000000", &bytes) &&
	      maybe_is(bytes, INT64_C(1000000000000000000)), "1000000");
	CHECK(!hwdb_rated_value(HWDB_RATED, "360", &bytes) &&
	      maybe_is(bytes, INT64_C(360000000000000)), "360");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CLEANUP_FREE char *why = hwdb_rated_value(HWDB_RATED, wrong[i],
							  &bytes);

		CHECK(why && strstr(why, "is no number of terabytes"), "%s: %s",
		      wrong[i], why);
		CHECK(maybe_is(bytes, INT64_C(360000000000000)),
		      "%s is taken", wrong[i]);
	}
}

const struct tap_test hwdb_tests[] = {
	{ "a key has no colon of a drive's", keys },
	{ "a value is a block, or said to be none", values },
	{ "rated writes are terabytes, or said to be none", rated },
	{ 0 },
};
