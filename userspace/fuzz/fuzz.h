/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for the fuzz targets of all programs. */
#ifndef FUZZ_H
#define FUZZ_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/common_interface_defs.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Quarantine freed memory for longer than an input takes, but not for so long
 * that it leaves the processor's cache.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:"
	       "malloc_context_size=8";
}

#define FUZZ_TEXT(number)	FUZZ_TEXT_OF(number)
#define FUZZ_TEXT_OF(number)	#number

/*
 * End the run, and so keep the input, unless @condition holds. Report it as
 * sanitizers do: standard error may be closed, to drop the programs' messages.
 */
#define FUZZ_CHECK(condition)						\
	do {								\
		if (!(condition)) {					\
			__sanitizer_report_error_summary(__FILE__ ":"	\
				FUZZ_TEXT(__LINE__) ": does not hold: "	\
				#condition);				\
			abort();					\
		}							\
	} while (0)

/* Marks a function that only checks: its coverage does not count. */
#define FUZZ_CHECKER	__attribute__((noinline, no_sanitize("coverage")))

/* Return the input as a string, for free(), with no readable byte behind it. */
static inline char *fuzz_text(const void *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/*
 * Check whether the first @length characters are the decimal number @number.
 * The digits are compared, so nothing can wrap.
 */
static inline bool fuzz_is_number(const char *text, size_t length,
				  uint64_t number)
{
	char digits[24];

	if (!length || strspn(text, "0123456789") < length)
		return false;
	while (length > 1 && *text == '0') {
		text++;
		length--;
	}
	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	return strlen(digits) == length && !memcmp(text, digits, length);
}

/* Check whether the first @length characters are a number of at most @max. */
static inline bool fuzz_is_at_most(const char *text, size_t length,
				   uint64_t max)
{
	char digits[24];
	size_t most;

	if (!length || strspn(text, "0123456789") < length)
		return false;
	while (length > 1 && *text == '0') {
		text++;
		length--;
	}
	snprintf(digits, sizeof(digits), "%" PRIu64, max);
	most = strlen(digits);
	return length < most ||
	       (length == most && memcmp(text, digits, length) <= 0);
}

/* The rest of an input, from which bytes are taken; zeroes after its end. */
struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t fuzz_take(struct fuzz_bytes *bytes, size_t count)
{
	uint64_t value = 0;

	while (count-- && bytes->left) {
		value = value << 8 | *bytes->at++;
		bytes->left--;
	}
	return value;
}

/* Take a line, without its end, as a string; for free(). */
static inline char *fuzz_take_line(struct fuzz_bytes *bytes)
{
	const uint8_t *end = bytes->left ? memchr(bytes->at, '\n', bytes->left) :
					   NULL;
	size_t length = end ? (size_t)(end - bytes->at) : bytes->left;
	char *line = fuzz_text(bytes->at, length);

	bytes->at += length + !!end;
	bytes->left -= length + !!end;
	return line;
}

#endif
