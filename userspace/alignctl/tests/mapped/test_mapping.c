// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "mapped/mapping.h"
#include "tests/tap.h"

static void cleanup_mapping(struct mapping *mapping)
{
	mapping_free(mapping);
}

#define CLEANUP_MAPPING	__attribute__((cleanup(cleanup_mapping)))

/* Compare line @i of a table with text as 'dmsetup table' prints it. */
static bool line_is(const struct mapping *mapping, size_t i, const char *text)
{
	CLEANUP_FREE char *found = NULL;

	if (i >= mapping->nr)
		return false;
	found = message_format("%" PRIu64 " %" PRIu64 " %s %s",
			       mapping->line[i].start, mapping->line[i].length,
			       mapping->line[i].type, mapping->line[i].params);
	return !strcmp(found, text);
}

static void places(void)
{
	static const struct { const char *type, *params; bool good; } rows[] = {
		{ "linear", "8:16 2048", true },
		{ "align", "8:16 2048", true },
		{ "align", "8:16 2048 2 mode pad", true },
		/* a linear of another kernel, of which we know nothing */
		{ "linear", "8:16 2048 1 something", false },
		{ "linear", "8:16 2048 ", false },
		{ "crypt", "8:16 2048", false },
		{ "", "8:16 2048", false },
		{ "linear", "", false },
		{ "linear", "8:16", false },
		{ "linear", "8:16 ", false },
		{ "linear", " 8:16 1", false },
		{ "linear", "8:16  1", false },
		{ "linear", "/dev/sda 0", false },
		{ "linear", "8:16 -1", false },
		{ "linear", "8:16 1\n", false },
		{ "align", "8:16 1x 2 mode pad", false },
		{ "align", "8:4294967296 1", false },
		/* ends beyond what a number of sectors can say */
		{ "linear", "8:16 18446744073709551615", false },
		{ "align", "8:16 18446744073709551615 2 mode pad", false },
		{ "linear", "8:16 18446744073709551616", false },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_MAPPING struct mapping mapping = { 0 };
		struct align_table place = { 0 };
		bool good;

		mapping_add(&mapping, 0, 8, rows[i].type, rows[i].params);
		good = mapping_place(&mapping.line[0], &place);
		CHECK(good == rows[i].good, "%s '%s'", rows[i].type,
		      rows[i].params);
		CHECK(good ? place.device == makedev(8, 16) &&
			     place.start == 2048 :
			     !place.device && !place.start, "%s '%s'",
		      rows[i].type, rows[i].params);
	}
}

static void to_align(void)
{
	CLEANUP_MAPPING struct mapping now = { 0 }, next = { 0 };

	mapping_add(&now, 0, 4096, "linear", "8:16 2048");
	mapping_add(&now, 4096, 100, "linear", "8:32 7");
	CHECK(mapping_add_align(&next, &now.line[0], " 2 mode pad") &&
	      mapping_add_align(&next, &now.line[1], ""), "linear");
	CHECK(next.nr == 2 && line_is(&next, 0, "0 4096 align 8:16 2048 2 mode pad") &&
	      line_is(&next, 1, "4096 100 align 8:32 7"), "%zu lines", next.nr);
	CHECK(!mapping_add_align(&next, &next.line[0], ""), "align");
	mapping_add(&now, 4196, 1, "linear", "8:32 7 evil");
	mapping_add(&now, 4197, 1, "crypt", "aes 00 0 8:32 7");
	CHECK(!mapping_add_align(&next, &now.line[2], "") &&
	      !mapping_add_align(&next, &now.line[3], "") && next.nr == 2,
	      "%zu lines", next.nr);
}

static void to_linear(void)
{
	CLEANUP_MAPPING struct mapping now = { 0 }, next = { 0 };

	mapping_add(&now, 0, 4096, "align", "8:16 2048 4 mode pad hold_ms 1");
	mapping_add(&now, 4096, 8, "linear", "8:32 7");
	mapping_add(&now, 4104, 8, "crypt", "aes-xts-plain64  :32:logon:x 0 8:1 9 ");
	mapping_add(&now, 4112, 8, "align", "8:48 0");
	CHECK(mapping_to_linear(&now, &next) && next.nr == 4, "%zu lines",
	      next.nr);
	CHECK(line_is(&next, 0, "0 4096 linear 8:16 2048") &&
	      line_is(&next, 1, "4096 8 linear 8:32 7") &&
	      line_is(&next, 2, "4104 8 crypt aes-xts-plain64  :32:logon:x 0 8:1 9 ") &&
	      line_is(&next, 3, "4112 8 linear 8:48 0"), "the lines");
}

static void not_to_linear(void)
{
	static const char *const params[] = {
		"", "8:16", "8:16 ", "8:16 x", "8:16 1;2", "vda 0 2 mode pad",
		"8:16 18446744073709551615", "-8:16 0", "8:16 0\t2 mode pad",
	};
	CLEANUP_MAPPING struct mapping linear = { 0 };
	struct mapping next;
	size_t i;

	for (i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		CLEANUP_MAPPING struct mapping now = { 0 };

		mapping_add(&now, 0, 8, "align", "8:16 8");
		mapping_add(&now, 8, 8, "align", params[i]);
		CHECK(!mapping_to_linear(&now, &next) && !next.nr, "'%s'",
		      params[i]);
	}
	CHECK(!mapping_to_linear(&linear, &next) && !next.nr, "no line");
	mapping_add(&linear, 0, 8, "linear", "8:16 8");
	CHECK(!mapping_to_linear(&linear, &next) && !next.nr, "no align");
}

static void comparisons(void)
{
	static const struct {
		uint64_t length;
		const char *type, *params;
		bool alike;
	} rows[] = {
		{ 8, "align", "8:16 8 4 max_blocks 8 hold_ms 9", true },
		{ 7, "align", "8:16 8 4 hold_ms 9 max_blocks 8", false },
		{ 8, "linear", "8:16 8", false },
		{ 8, "align", "8:32 8 4 hold_ms 9 max_blocks 8", false },
		{ 8, "align", "8:16 9 4 hold_ms 9 max_blocks 8", false },
		{ 8, "align", "8:16 8 4 hold_ms 8 max_blocks 9", false },
		{ 8, "align", "8:16 8 4 hold_ms 9 max_blocks 7", false },
		{ 8, "align", "8:16 8 4 hold_ms 9 hold_ms 9", false },
		{ 8, "align", "8:16 8 2 hold_ms 9", false },
		{ 8, "align", "8:16 8 6 hold_ms 9 max_blocks 8 mode pad", false },
		{ 8, "align", "8:16 8", false },
		{ 8, "align", "8:16 8 ", false },
		{ 8, "align", "8:16 8 4 hold_ms 9 max_blocks ", false },
	};
	CLEANUP_MAPPING struct mapping all = { 0 };
	const struct mapping_line *line;
	size_t i;

	mapping_add(&all, 0, 8, "align", "8:16 8 4 hold_ms 9 max_blocks 8");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		mapping_add(&all, 0, rows[i].length, rows[i].type,
			    rows[i].params);
	line = all.line;
	CHECK(mapping_line_same(line, line) && mapping_line_alike(line, line),
	      "itself");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(!mapping_line_same(line, line + 1 + i), "row %zu", i);
		CHECK(mapping_line_alike(line, line + 1 + i) == rows[i].alike &&
		      mapping_line_alike(line + 1 + i, line) == rows[i].alike,
		      "row %zu", i);
		CHECK(mapping_line_alike(line + 1 + i, line + 1 + i),
		      "row %zu and itself", i);
	}
}

/* Sizes of made-up devices: 8:n has n thousand sectors, 8:0 is gone. */
static uint64_t thousands(dev_t device)
{
	return minor(device) * 1000ULL;
}

static void fits(void)
{
	static const struct {
		const char *first, *last;
		enum mapping_fit fit;
		size_t line;
		uint64_t length;
	} rows[] = {
		{ "align 8:2 0", "align 8:1 500 2 mode pad", MAPPING_FITS, 1, 0 },
		{ "align 8:2 0", "align 8:3 500 2 mode pad", MAPPING_GROWS, 1, 2500 },
		{ "linear 8:2 0", "align 8:1 499 2 mode pad", MAPPING_GROWS, 1, 501 },
		{ "align 8:2 0", "align 8:1 501 2 mode pad", MAPPING_CUT, 1, 0 },
		{ "align 8:2 0", "align 8:1 2000", MAPPING_CUT, 1, 0 },
		/* a short device is named, also if it is not the last one's */
		{ "align 8:2 1501", "align 8:3 500", MAPPING_CUT, 0, 0 },
		{ "align 8:2 0", "align 8:0 0", MAPPING_UNKNOWN, 1, 0 },
		{ "align 8:0 0", "align 8:2 0", MAPPING_UNKNOWN, 0, 0 },
		/* the other line lies where the last one would grow to */
		{ "align 8:3 500", "align 8:3 0", MAPPING_TAKEN, 0, 0 },
		{ "linear 8:3 2500", "align 8:3 1500", MAPPING_TAKEN, 0, 0 },
		{ "align 8:3 1", "align 8:3 0", MAPPING_TAKEN, 0, 0 },
		{ "align 8:3 0", "align 8:3 500", MAPPING_GROWS, 1, 2500 },
		{ "align 8:3 500", "align 8:3 2500", MAPPING_FITS, 1, 0 },
		/* the place of another target is unknown */
		{ "crypt aes 00 0 8:0 0", "align 8:2 0", MAPPING_TAKEN, 0, 0 },
		{ "crypt aes 00 0 8:0 0", "align 8:2 1500", MAPPING_FITS, 1, 0 },
		{ "align 8:2 0", "crypt aes 00 0 8:2 0", MAPPING_UNKNOWN, 1, 0 },
		{ "align 8:2 0", "align 8:2 0x", MAPPING_UNKNOWN, 1, 0 },
		{ "align 8:2 0", "align 8:2 18446744073709551615", MAPPING_UNKNOWN, 1, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_MAPPING struct mapping now = { 0 }, next = { 0 };
		const char *const lines[] = { rows[i].first, rows[i].last };
		enum mapping_fit fit;
		size_t line, j;

		for (j = 0; j < 2; j++) {
			CLEANUP_FREE char *type = strndup(lines[j],
							  strcspn(lines[j], " "));

			mapping_add(&now, 500 * j, 500, type,
				    strchr(lines[j], ' ') + 1);
		}
		fit = mapping_resize(&now, &next, thousands, &line);
		CHECK(fit == rows[i].fit && line == rows[i].line,
		      "row %zu: %d, line %zu", i, fit, line);
		if (fit != MAPPING_GROWS) {
			CHECK(!next.nr, "row %zu", i);
			continue;
		}
		CHECK(next.nr == 2 && next.line[1].length == rows[i].length &&
		      mapping_sectors(&next) == 500 + rows[i].length,
		      "row %zu: %" PRIu64, i, next.line[1].length);
		/* but for the last length, all is as it was */
		next.line[1].length = 500;
		for (j = 0; j < 2; j++)
			CHECK(mapping_line_same(&now.line[j], &next.line[j]),
			      "row %zu", i);
	}
}

const struct tap_test mapping_tests[] = {
	{ "only lines that are fully understood have a place", places },
	{ "a line of linear becomes one of align, with its features", to_align },
	{ "lines of align become linear, and others stay byte for byte", to_linear },
	{ "a table with a malformed line of align is not touched", not_to_linear },
	{ "lines are compared by what they map, and their features", comparisons },
	{ "only the last line grows, to the end of its device", fits },
	{ 0 },
};
