// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "tests/tap.h"

static void shell_words(void)
{
	static const struct { const char *word, *quoted; } rows[] = {
		{ "/dev/mapper/align-sda", "/dev/mapper/align-sda" },
		{ "/dev/mapper/a b", "'/dev/mapper/a b'" },
		{ "a\\x20b", "'a\\x20b'" },
		{ "it's", "'it'\\''s'" }, { "", "''" }, { "$(x)", "'$(x)'" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *quoted = message_shell_word(rows[i].word);

		CHECK(!strcmp(quoted, rows[i].quoted), "%s is %s",
		      rows[i].word, quoted);
	}
}

const struct tap_test message_tests[] = {
	{ "a word is quoted where a shell would take it for something else",
	  shell_words },
	{ 0 },
};
