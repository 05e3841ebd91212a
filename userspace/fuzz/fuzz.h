/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzz targets of all programs share. */
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
 * What is freed stays out of use for longer than an input takes, but not for so
 * long that it leaves the processor's cache.
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
 * Ends the run, and so keeps the input, unless @condition holds. It is said
 * where sanitizers report: standard error may be closed, as what the programs
 * say of each input is for nobody.
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

/* For a function that only checks: what it does with an input is not looked at. */
#define FUZZ_CHECKER	__attribute__((noinline, no_sanitize("coverage")))

/* The input as a string with nothing behind it that could be read; for free(). */
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
 * Are the first @length characters a decimal number, and is it @number? Told
 * by its digits, so nothing can wrap here.
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

/* The same for what is at most @max, whatever the number is. */
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

/* Takes bytes from the front of an input; zeroes once it is used up. */
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

/* Takes a line, without its end, as a string; for free(). */
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
