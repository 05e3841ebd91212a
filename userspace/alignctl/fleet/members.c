// SPDX-License-Identifier: GPL-2.0
/* A scanner over JSON text that copies only the members with wanted names. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/utf8.h"
#include "fleet/members.h"

/* Python's json has limits of 1000 objects in one another, and 4300 digits. */
#define DEPTH_MAX	100
#define NUMBER_MAX	300
#define BUCKETS		64

/* Kinds of bytes. A NUL is of no kind, and so ends each scan. */
#define SPACE	1	/* between values */
#define PLAIN	2	/* of ASCII, and stands for itself in a string */
#define DIGIT	4

static const unsigned char kinds[256] = {
	['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE, [' '] = SPACE | PLAIN,
	['!'] = PLAIN, ['#' ... '/'] = PLAIN, ['0' ... '9'] = DIGIT | PLAIN,
	[':' ... '['] = PLAIN, [']' ... 0x7f] = PLAIN,
};

struct name {
	const struct name *next;	/* of the same bucket */
	const char *text;
	size_t length;
};

struct members {
	const struct name *buckets[BUCKETS];
	struct name names[];
};

/**
 * struct scan - where a copy is
 * @names:   the names of the members to copy
 * @at:      the next byte of the text
 * @to:      the next byte of the copy
 * @escaped: the last string has an escape
 */
struct scan {
	const struct members *names;
	const char *at;
	char *to;
	bool escaped;
};

static bool has_kind(char letter, int kind)
{
	return kinds[(unsigned char)letter] & kind;
}

static size_t bucket_of(const char *name, size_t length)
{
	return ((unsigned char)name[0] + 7 * length) % BUCKETS;
}

struct members *members_new(char *const *names, size_t nr)
{
	struct members *members = memory_or_exit(
		calloc(1, sizeof(*members) + nr * sizeof(members->names[0])));
	size_t i;

	for (i = 0; i < nr; i++) {
		struct name *name = &members->names[i];
		const struct name **bucket;

		name->text = names[i];
		name->length = strlen(names[i]);
		bucket = &members->buckets[bucket_of(names[i], name->length)];
		name->next = *bucket;
		*bucket = name;
	}
	return members;
}

static bool is_kept(const struct members *members, const char *text,
		    size_t length)
{
	const struct name *name = members->buckets[bucket_of(text, length)];

	for (; name; name = name->next)
		if (name->length == length && !memcmp(name->text, text, length))
			return true;
	return false;
}

static void skip_space(struct scan *scan)
{
	while (has_kind(*scan->at, SPACE))
		scan->at++;
}

/* Return what follows an escape in a string; NULL: it is none. */
static const char *skip_escape(const char *at)
{
	int i;

	if (at[1] && strchr("\"\\/bfnrt", at[1]))
		return at + 2;
	if (at[1] != 'u')
		return NULL;
	for (i = 2; i < 6; i++)
		if (!isxdigit((unsigned char)at[i]))
			return NULL;
	return at + 6;
}

static bool skip_string(struct scan *scan)
{
	const char *at = scan->at;

	scan->escaped = false;
	if (*at++ != '"')
		return false;
	for (;;) {
		while (has_kind(*at, PLAIN))
			at++;
		if (*at == '"')
			break;
		if (*at == '\\') {
			scan->escaped = true;
			at = skip_escape(at);
			if (!at)
				return false;
		} else {
			size_t length = utf8_letter(at);

			/* a control character is a letter, too */
			if (length < 2)
				return false;
			at += length;
		}
	}
	scan->at = at + 1;
	return true;
}

/* Skip one or more digits; return what follows, NULL: there is none. */
static const char *skip_digits(const char *at)
{
	if (!has_kind(*at, DIGIT))
		return NULL;
	while (has_kind(*at, DIGIT))
		at++;
	return at;
}

static bool skip_number(struct scan *scan)
{
	const char *at = scan->at + (*scan->at == '-');

	at = *at == '0' ? at + 1 : skip_digits(at);
	if (at && *at == '.')
		at = skip_digits(at + 1);
	if (at && (*at == 'e' || *at == 'E')) {
		at++;
		at = skip_digits(at + (*at == '+' || *at == '-'));
	}
	if (!at || at - scan->at > NUMBER_MAX)
		return false;
	scan->at = at;
	return true;
}

static bool skip_word(struct scan *scan, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(scan->at, word, length))
		return false;
	scan->at += length;
	return true;
}

static bool skip_scalar(struct scan *scan)
{
	switch (*scan->at) {
	case '"':
		return skip_string(scan);
	case 't':
		return skip_word(scan, "true");
	case 'f':
		return skip_word(scan, "false");
	case 'n':
		return skip_word(scan, "null");
	}
	return skip_number(scan);
}

/* Skip a comma and the space behind it; return whether there is one. */
static bool skip_comma(struct scan *scan)
{
	skip_space(scan);
	if (*scan->at != ',')
		return false;
	scan->at++;
	skip_space(scan);
	return true;
}

static void put_text(struct scan *scan, const char *from, const char *end)
{
	memcpy(scan->to, from, (size_t)(end - from));
	scan->to += end - from;
}

static bool copy_value(struct scan *scan, bool wanted, unsigned int depth);

static bool copy_elements(struct scan *scan, bool wanted, unsigned int depth)
{
	bool first = true;

	do {
		if (!first && wanted)
			*scan->to++ = ',';
		first = false;
		if (!copy_value(scan, wanted, depth))
			return false;
	} while (skip_comma(scan));
	return true;
}

static bool copy_members(struct scan *scan, bool wanted, unsigned int depth)
{
	bool first = true;

	do {
		const char *name = scan->at;
		bool kept;

		if (!skip_string(scan))
			return false;
		kept = wanted && (scan->escaped ||
				  is_kept(scan->names, name + 1,
					  (size_t)(scan->at - name) - 2));
		if (kept) {
			if (!first)
				*scan->to++ = ',';
			first = false;
			put_text(scan, name, scan->at);
		}
		skip_space(scan);
		if (*scan->at++ != ':')
			return false;
		if (kept)
			*scan->to++ = ':';
		skip_space(scan);
		if (!copy_value(scan, kept, depth))
			return false;
	} while (skip_comma(scan));
	return true;
}

/* Skip a value, and copy of it what is to be kept if it is wanted. */
static bool copy_value(struct scan *scan, bool wanted, unsigned int depth)
{
	const char *start = scan->at;
	bool object = *start == '{';
	char end = object ? '}' : ']';

	if (!object && *start != '[') {
		if (!skip_scalar(scan))
			return false;
		if (wanted)
			put_text(scan, start, scan->at);
		return true;
	}
	if (++depth > DEPTH_MAX)
		return false;
	scan->at++;
	if (wanted)
		*scan->to++ = *start;
	skip_space(scan);
	if (*scan->at != end &&
	    !(object ? copy_members(scan, wanted, depth) :
		       copy_elements(scan, wanted, depth)))
		return false;
	if (*scan->at++ != end)
		return false;
	if (wanted)
		*scan->to++ = end;
	return true;
}

size_t members_copy(const struct members *names, const char *text,
		    size_t length, char *to)
{
	struct scan scan = { .names = names, .at = text, .to = to };

	skip_space(&scan);
	if (!copy_value(&scan, true, 0))
		return 0;
	skip_space(&scan);
	return scan.at == text + length ? (size_t)(scan.to - to) : 0;
}
