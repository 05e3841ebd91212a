// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/nearest.h"
#include "tests/tap.h"

static void nearness(void)
{
	static const char *const names[] = {
		"list", "stats", "set", "replay", "w4k_132k", "w4096",
		"w4096_512", "coalesce", "pad", "w512",
	};
	static const struct { const char *word, *name; } rows[] = {
		{ "lst", "list" }, { "lsit", "list" }, { "list", "list" },
		{ "stat", "stats" }, { "repaly", "replay" },
		{ "w4k-132k", "w4k_132k" }, { "Coalesce", "coalesce" },
		{ "coalece", "coalesce" }, { "w4095", "w4096" },
		{ "w4096-512", "w4096_512" }, { "pda", "pad" },
		{ "fly", NULL }, { "w5", NULL }, { "x", NULL }, { "", NULL },
		{ "/dev/sdb", NULL },
		{ "0123456789012345678901234567890123456789012345678901234567890123",
		  NULL },
	};
	size_t i, k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nearest nearest = { .word = rows[i].word };
		CLEANUP_FREE char *hint = NULL;

		for (k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			nearest_try(&nearest, names[k]);
		hint = nearest_hint(&nearest, "");
		CHECK(!nearest.name == !rows[i].name &&
		      (!rows[i].name || !strcmp(nearest.name, rows[i].name)),
		      "'%s' is taken for '%s'", rows[i].word,
		      nearest.name ? nearest.name : "nothing");
		CHECK(!*hint == !rows[i].name &&
		      (!rows[i].name || strstr(hint, rows[i].name)), "%s",
		      hint);
	}
}

const struct tap_test nearest_tests[] = {
	{ "a word with a slip in it is told from one that is none of the names",
	  nearness },
	{ 0 },
};
