// SPDX-License-Identifier: GPL-2.0
#include <locale.h>
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

static void visible(void)
{
	/*
	 * a letter, a combining accent, a control character, one that reverses what
	 * follows (U+202E), a line separator, a broken end
	 */
	static const char text[] = "\xc3\xa9 e\xcc\x81 \xc2\x9b \x1b\x7f \xe2\x80\xae \xe2\x80\xa8 \xc3";
	static const struct { const char *locale, *shown; } rows[] = {
		{ "C.UTF-8", "\xc3\xa9 e\xcc\x81 \\xc2\\x9b \\x1b\\x7f \\xe2\\x80\\xae \\xe2\\x80\\xa8 \\xc3" },
		{ "C", "\\xc3\\xa9 e\\xcc\\x81 \\xc2\\x9b \\x1b\\x7f \\xe2\\x80\\xae \\xe2\\x80\\xa8 \\xc3" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(setlocale(LC_CTYPE, rows[i].locale), "no locale %s",
		      rows[i].locale);
		CLEANUP_FREE char *shown = message_visible(text);

		CHECK(!strcmp(shown, rows[i].shown), "in %s: %s",
		      rows[i].locale, shown);
	}
}

const struct tap_test message_tests[] = {
	{ "a word is quoted where a shell would take it for something else",
	  shell_words },
	{ "what a terminal of that locale cannot show is shown by its bytes",
	  visible },
	{ 0 },
};
