// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "fleet/members.h"
#include "tests/tap.h"

/* Return the copy of a text with the members "a" and "name", for free(). */
static char *copy_of(const char *text)
{
	static char *names[] = { "name", "a" };
	CLEANUP_FREE struct members *members = members_new(names, 2);
	/* a copy that is too long, or a read behind the NUL, is seen by ASan */
	CLEANUP_FREE char *from = memory_or_exit(strdup(text));
	CLEANUP_FREE char *to = memory_or_exit(malloc(strlen(text) + !*text));
	size_t length = members_copy(members, from, strlen(text), to);

	CHECK(length <= strlen(text), "%zu of \"%s\"", length, text);
	return message_format("%.*s", (int)length, to);
}

static void copies(void)
{
	static const struct { const char *text, *copy; } rows[] = {
		{ "{\"b\": 1}", "{}" },
		{ " {\"a\" : 1 , \"b\":2,\"name\"\t:\r\n3 } \n",
		  "{\"a\":1,\"name\":3}" },
		{ "{\"b\": 1, \"a\": 2, \"c\": 3}", "{\"a\":2}" },
		/* inside others: only of what is copied itself */
		{ "{\"a\": {\"b\": {\"a\": 1}, \"a\": [{\"b\":1, \"a\":{}}]}}",
		  "{\"a\":{\"a\":[{\"a\":{}}]}}" },
		{ "{\"b\": [{\"a\": 1}, \"]}\"], \"a\": [1, [ ], { }]}",
		  "{\"a\":[1,[],{}]}" },
		{ "[{\"b\": 0}, {\"a\": 0}, 7]", "[{},{\"a\":0},7]" },
		/* as often as it is there, so that the last one counts */
		{ "{\"a\": 1, \"a\": 2}", "{\"a\":1,\"a\":2}" },
		/* names are compared whole, and letter by letter */
		{ "{\"A\": 1, \"aa\": 1, \"\": 1, \"nam\": 1, \"names\": 1}",
		  "{}" },
		/* \u0061 is a, and so a name with an escape may be any */
		{ "{\"\\u0061\": 1, \"x\\n\": {\"b\": 2}, \"b\": 3}",
		  "{\"\\u0061\":1,\"x\\n\":{}}" },
		{ "7", "7" }, { "\"a  b\"", "\"a  b\"" }, { "null", "null" },
		{ "[true, false, null]", "[true,false,null]" },
		{ "[0, -0, 10, -1.50, 1e5, 1E-5, 0.1e+05]",
		  "[0,-0,10,-1.50,1e5,1E-5,0.1e+05]" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD800\"",
		  "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD800\"" },
		{ "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"",
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *copy = copy_of(rows[i].text);

		CHECK(!strcmp(copy, rows[i].copy), "\"%s\" became \"%s\"",
		      rows[i].text, copy);
	}
}

static void refuses(void)
{
	static const char *const texts[] = {
		"", " ", "{", "[", "\"", "\"a", "{\"a\"", "{\"a\":", "{\"a\":1",
		"{\"a\":1,", "{\"a\":1,}", "{,}", "[1", "[1,", "[1,]", "[,]",
		"[1 2]", "{\"a\" 1}", "{a: 1}", "{1: 1}", "{\"a\":1]", "[1}",
		"}", "]", ",", "{}}", "{} {}", "1 2", "{}x", "\xef\xbb\xbf{}",
		"\"\t\"", "\"\n\"", "\"\x1f\"", "\"\\x\"", "\"\\u12\"",
		"\"\\u12g4\"", "\"\\", "\"\\u", "'a'", "tru", "nul", "True",
		"NaN", "Infinity", "-Infinity", "-", "+1", "01", "-01", "1.",
		".5", "1.e5", "1e", "1e+", "0x1", "1_000", "/* */ 1",
		/* in what is left out, too */
		"{\"b\": tru}", "{\"b\": [1,]}", "{\"b\": \"\x01\"}",
		"{\"b\": 01}",
		/* UTF-8 that is cut off, overlong, a surrogate or too high */
		"\"\xc3\"", "\"\xe2\x82\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"", "\"\xff\"", "\"\x80\"",
		"\"\xf0\x9f\x98",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CLEANUP_FREE char *copy = copy_of(texts[i]);

		CHECK(!*copy, "\"%s\" became \"%s\"", texts[i], copy);
	}
}

/* Return a text of @count times a word before and after another one. */
static char *around(size_t count, const char *before, const char *middle,
		    const char *after)
{
	char *text = memory_or_exit(
		malloc(count * (strlen(before) + strlen(after)) +
		       strlen(middle) + 1));
	char *to = text;
	size_t i;

	for (i = 0; i < count; i++)
		to = stpcpy(to, before);
	to = stpcpy(to, middle);
	for (i = 0; i < count; i++)
		to = stpcpy(to, after);
	return text;
}

static void has_bounds(void)
{
	static const struct {
		const char *before, *middle, *after;
		size_t most;
	} rows[] = {
		{ "[", "", "]", 100 }, { "{\"a\":", "1", "}", 100 },
		{ "{\"b\":", "1", "}", 100 }, { "7", "", "", 300 },
		{ "", "1.", "5", 298 }, { "", "1e", "5", 298 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *fits = around(rows[i].most, rows[i].before,
						 rows[i].middle, rows[i].after);
		CLEANUP_FREE char *more = around(rows[i].most + 1,
						 rows[i].before, rows[i].middle,
						 rows[i].after);
		CLEANUP_FREE char *copy = copy_of(fits);
		CLEANUP_FREE char *none = copy_of(more);

		CHECK(*copy, "row %zu", i);
		CHECK(!*none, "row %zu: \"%s\"", i, none);
	}
}

/* A NUL ends the scan, and is not the end of the text. */
static void takes_no_nul(void)
{
	static const struct { const char *text; size_t length; } rows[] = {
		{ "{}\0", 3 }, { "{}\0{}", 5 }, { "\"a\0b\"", 5 },
		{ "{\"b\": 1\0}", 9 },
	};
	static char *names[] = { "a" };
	CLEANUP_FREE struct members *members = members_new(names, 1);
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char copy[16];

		CHECK(!members_copy(members, rows[i].text, rows[i].length,
				    copy), "row %zu", i);
	}
}

/* Also where they are sorted alike: by the first letter and the length. */
static void tells_names_apart(void)
{
	CLEANUP_FREE char *longer = around(65, "a", "\": 1}", "");
	CLEANUP_FREE char *text = message_format("{\"%s", longer);
	CLEANUP_FREE char *copy = copy_of(text);

	CHECK(!strcmp(copy, "{}"), "\"%s\" became \"%s\"", text, copy);
}

static void takes_many_names(void)
{
	char *names[200], text[4096] = "{", expected[4096] = "{";
	char *to = text + 1, *also = expected + 1;
	CLEANUP_FREE struct members *members = NULL;
	char copy[sizeof(text)];
	size_t i, length;

	/* every second one of the text is wanted */
	for (i = 0; i < 200; i++) {
		names[i] = message_format("%s%zu", i % 3 ? "x" : "", 2 * i);
		to += sprintf(to, "%s\"%s\":1,\"%zux\":0", i ? "," : "",
			      names[i], i);
		also += sprintf(also, "%s\"%s\":1", i ? "," : "", names[i]);
	}
	strcpy(to, "}");
	strcpy(also, "}");
	members = members_new(names, 200);
	length = members_copy(members, text, strlen(text), copy);
	CHECK(length == strlen(expected) && !memcmp(copy, expected, length),
	      "%.*s", (int)length, copy);
	for (i = 0; i < 200; i++)
		free(names[i]);
}

const struct tap_test members_tests[] = {
	{ "members of the names are copied, and nothing else", copies },
	{ "what is no JSON by the strict rules is refused", refuses },
	{ "depth and digits are bounded", has_bounds },
	{ "a NUL is no end of a text", takes_no_nul },
	{ "a name is not taken for a longer one", tells_names_apart },
	{ "any number of names may be wanted", takes_many_names },
	{ 0 },
};
