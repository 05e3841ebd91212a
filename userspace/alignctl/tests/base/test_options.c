// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/options.h"
#include "tests/tap.h"

static void numbers(void)
{
	static const struct { const char *text; bool good; uint64_t value; }
	rows[] = {
		{ "1", true, 1 }, { "20000", true, 20000 },
		{ "4K", true, 4096 }, { "4k", true, 4096 },
		{ "2M", true, 2 << 20 }, { "1G", true, 1 << 30 },
		{ "1T", true, 1ULL << 40 }, { "1TiB", true, 1ULL << 40 },
		{ "3p", true, 3ULL << 50 }, { "4kib", true, 4096 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "0", false, 0 }, { "", false, 0 }, { "-1", false, 0 },
		{ " 1", false, 0 }, { "1x", false, 0 }, { "1KB", false, 0 },
		{ "0x10", false, 0 }, { "18446744073709551616", false, 0 },
		{ "18014398509481984K", false, 0 }, { "K", false, 0 },
		{ "1E", false, 0 }, { "1Ki", false, 0 }, { "1iB", false, 0 },
		{ "16384P", false, 0 }, { "4KiBx", false, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;
		bool good = parse_number(rows[i].text, &value);

		CHECK(good == rows[i].good && value == rows[i].value,
		      "'%s' is %s, %" PRIu64, rows[i].text,
		      good ? "good" : "bad", value);
	}
}

static void kinds(void)
{
	static const struct option_row number = OPTION("n", ARG_NUMBER(1, 256), ""),
		any = OPTION("n", ARG_NUMBER(0, OPTION_ANY), ""),
		bytes = OPTION("n", ARG_BYTES(0, UINT32_MAX, .also = "auto"), ""),
		power = OPTION("n", ARG_POWER(512, 4096), ""),
		sectors = OPTION("n", ARG_NUMBER(0, UINT32_MAX, .multiple = 512), ""),
		same = OPTION("n", ARG_NUMBER_AS("512", 512, 512), ""),
		seconds = OPTION("n", ARG_SECONDS(), ""),
		above = OPTION("n", ARG_REAL("X", OPTION_ANY, .above = true), ""),
		on_off = OPTION("n", ARG_SWITCH, ""),
		text = OPTION("n", ARG_TEXT("NAME"), "");
	static const struct {
		const struct option_row *row;
		const char *good[3], *bad[5], *must;
	} cases[] = {
		{ &number, { "1", "256" }, { "0", "257", "x", "1.5", "-1" },
		  "must be a whole number from 1 to 256" },
		{ &any, { "0", "16383P" }, { "00", "", "+1" },
		  "must be a whole number, at least 0" },
		{ &bytes, { "0", "4194303K", "auto" }, { "4G", "aut" },
		  "must be a whole number of bytes from 0 to 4294967295, e.g. 4096 or 4K, or auto" },
		{ &power, { "512", "4K" }, { "256", "8K", "1536" },
		  "must be a power of two from 512 to 4096" },
		{ &sectors, { "0", "1536" }, { "1", "513", "4G" },
		  "must be a multiple of 512 from 0 to 4294967295" },
		{ &same, { "512" }, { "511", "1K", "0" }, "must be 512, or left out" },
		{ &seconds, { "0", "0.5", "86400" }, { "-1", "86401", "1s", "nan", "inf" },
		  "must be a number of seconds, at least 0, at most 86400, e.g. 2.5" },
		{ &above, { "0.1", "1e9" }, { "0", "-2", "inf", "" },
		  "must be a number above 0, e.g. 2.5" },
		{ &on_off, { "on", "off" }, { "yes", "", "On" }, "must be on or off" },
		{ &text, { "", "4G" }, { NULL }, "" },
	};
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (k = 0; k < 3 && cases[i].good[k]; k++)
			CHECK(!options_wrong(cases[i].row, cases[i].good[k]),
			      "case %zu: '%s'", i, cases[i].good[k]);
		for (k = 0; k < 5 && cases[i].bad[k]; k++) {
			const char *wrong = options_wrong(cases[i].row,
							  cases[i].bad[k]);

			CHECK(wrong && !strcmp(wrong, cases[i].must),
			      "case %zu: '%s' %s", i, cases[i].bad[k],
			      wrong ? wrong : "is right");
		}
	}
	CHECK(options_number("4K") == 4096 && !options_number("0"), "numbers");
	CHECK(options_real("0.5") == 0.5, "a number with a point");
}

static const struct option_row rows[] = {
	OPTION("size", ARG_BYTES(1, OPTION_ANY), "a size"),
	OPTION("loud", ARG_NONE, "a flag"), { 0 },
};

static const struct verb verb = {
	.name = "test", .operands = "DEV", .min_operands = 1,
	.max_operands = 1, .summary = "Test", .options = rows,
};

struct taken { uint64_t size; bool loud; };

static int take(size_t row, const char *argument, void *context)
{
	struct taken *taken = context;

	if (row == 1) {
		taken->loud = true;
		return 0;
	}
	taken->size = options_number(argument);
	return 0;
}

/* Parse without the messages, which belong to the program's own tests. */
static int quietly(const struct verb *of, int argc, char **argv,
		   int (*take_one)(size_t row, const char *argument,
				   void *context),
		   void *context, int *first)
{
	int result, saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);

	dup2(null, STDERR_FILENO);
	result = options_parse(of, argc, argv, take_one, context, first);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	return result;
}

static int parse(char **argv, struct taken *taken, int *first)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return quietly(&verb, argc, argv, take, taken, first);
}

static void parsing(void)
{
	struct taken taken = { 0 };
	char *good[] = { "test", "--size=4K", "sda", "--loud", NULL };
	char *split[] = { "test", "--size", "9", "--", "--dev", NULL };
	int first = 0;

	CHECK(parse(good, &taken, &first) == OPTIONS_CONTINUE, "good");
	CHECK(taken.size == 4096 && taken.loud, "size %" PRIu64, taken.size);
	CHECK(!strcmp(good[first], "sda"), "operand '%s'", good[first]);
	CHECK(!strcmp(good[0], "test"), "argv[0] is '%s'", good[0]);
	CHECK(parse(split, &taken, &first) == OPTIONS_CONTINUE &&
	      taken.size == 9 && !strcmp(split[first], "--dev"), "split");
}

static void refusing(void)
{
	char *lines[][4] = {
		{ "test", NULL },
		{ "test", "a", "b", NULL },
		{ "test", "a", "--nothing", NULL },
		{ "test", "a", "--size", NULL },
		{ "test", "a", "--size=x", NULL },
		{ "test", "a", "--loud=1", NULL },
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct taken taken = { 0 };
		int first, result = parse(lines[i], &taken, &first);

		CHECK(result == ALIGNCTL_USAGE, "line %zu: %d", i, result);
	}
}

static const char *const colours[] = { "red", "green" };

static const struct option_row paint_rows[] = {
	OPTION("colour", ARG_NAME("COLOUR", colours), "a colour"),
	OPTION("mixed", ARG_LIST_OF(colours), "colours"),
	OPTION("dry", ARG_NONE, "paint nothing", .only_with = "wet colour"),
	OPTION("wet", ARG_NONE, "paint", .excludes = "size mixed",
	       .because = "as it is wet"),
	OPTION("twice", ARG_NONE, "paint again", .needs = "colour mixed"),
	OPTION("from", ARG_TEXT("POT"), "a pot", .brings = "thin"),
	OPTION("into", ARG_TEXT("POT"), "another pot", .operands = "",
	       .brings = "thin"),
	OPTION("thin", ARG_NONE, "thin the paint"),
	OPTION("both", ARG_NONE, "two walls", .operands = "WALL WALL"),
	OPTION("size", ARG_NUMBER(1, OPTION_ANY), "a size"),
	{ 0 },
};

static int take_index(size_t row, const char *argument, void *context)
{
	size_t *index = context;

	if (!row)
		*index = options_index(&paint_rows[row], argument);
	return 0;
}

/* Parse a line of words for the verb paint. */
static int paint(const char *line, size_t *index)
{
	static const struct verb verb_paint = {
		.name = "paint", .operands = "[WALL]", .max_operands = 1,
		.options = paint_rows,
	};
	char copy[64], *words[9] = { "paint" }, *rest = copy;
	int argc = 1, first;

	snprintf(copy, sizeof(copy), "%s", line);
	while ((words[argc] = strsep(&rest, " ")))
		argc++;
	return quietly(&verb_paint, argc, words, take_index, index, &first);
}

static void values(void)
{
	size_t index = 9;

	CHECK(paint("--colour green", &index) == OPTIONS_CONTINUE && index == 1,
	      "green is %zu", index);
	CHECK(paint("--colour blue", &index) == ALIGNCTL_USAGE, "blue");
	CHECK(paint("--colour", &index) == ALIGNCTL_USAGE, "no colour");
	CHECK(paint("--mixed red,green", &index) == OPTIONS_CONTINUE, "a list");
	CHECK(paint("--mixed red,blue", &index) == ALIGNCTL_USAGE, "blue in it");
	CHECK(paint("--mixed red,red", &index) == ALIGNCTL_USAGE, "red twice");
	CHECK(paint("--mixed red,", &index) == ALIGNCTL_USAGE, "a list's end");
}

static void together(void)
{
	static const struct { const char *line; bool good; } lines[] = {
		{ "--dry", true }, { "--dry --colour red", true },
		{ "--dry --size 4", false }, { "--size 4 --dry", false },
		{ "--dry --wet", true }, { "--wet --colour red", true },
		{ "--wet --size 4", false }, { "--mixed red --wet", false },
		{ "--twice", false }, { "--twice --colour red", true },
		{ "--mixed red --twice", true }, { "--twice --size 4", false },
		{ "--colour red --colour green", true },
		{ "--size 4 --size 5 --colour red", true },
		{ "--thin", false }, { "--thin --from pot", true },
		{ "--into pot --thin", true }, { "wall", true },
		{ "wall wall", false }, { "--into pot wall", false },
		{ "--both wall", false }, { "--both wall wall", true },
		{ "wall --both wall wall", false }, { "--both", false },
	};
	size_t index, i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int result = paint(lines[i].line, &index);

		CHECK(result == (lines[i].good ? OPTIONS_CONTINUE :
						 ALIGNCTL_USAGE),
		      "%s: %d", lines[i].line, result);
	}
}

const struct tap_test options_tests[] = {
	{ "numbers are whole, positive, and may end in a unit, K to P", numbers },
	{ "an argument is checked, and refused, by the kind and range of its row",
	  kinds },
	{ "options and operands may come in any order", parsing },
	{ "what a verb does not take is a usage error", refusing },
	{ "an argument is one of its option's values, or a list of them", values },
	{ "options go together as their rows say, in any order", together },
	{ 0 },
};
