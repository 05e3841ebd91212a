// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/cleanup.h"
#include "boot/unit_name.h"
#include "tests/tap.h"

static void names(void)
{
	/* the right ones are of systemd-escape */
	static const struct { const char *name, *escaped; } rows[] = {
		{ "data", "data" }, { "align-sdb1", "align\\x2dsdb1" },
		{ ".a.b", "\\x2ea.b" }, { "a b", "a\\x20b" },
		{ "a\\b", "a\\x5cb" }, { "x:y_z", "x:y_z" },
		{ "\303\244%", "\\xc3\\xa4\\x25" },
	};
	char longest[256];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *escaped = unit_escape(rows[i].name);

		CHECK(!strcmp(escaped, rows[i].escaped), "%s: %s", rows[i].name,
		      escaped);
	}
	memset(longest, 0, sizeof(longest));
	memset(longest, 'a', 241);
	CLEANUP_FREE char *fits = unit_of(longest);

	longest[241] = 'a';
	CLEANUP_FREE char *too_long = unit_of(longest);

	CHECK(fits && strlen(fits) == 255, "255 bytes");
	CHECK(!too_long, "256 bytes: %s", too_long);
}

const struct tap_test unit_name_tests[] = {
	{ "a unit's name is escaped as systemd does, and fits", names },
	{ 0 },
};
