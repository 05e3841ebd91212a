// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
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

static void bytes_and_switches(void)
{
	uint32_t bytes = 1;
	bool on = false;

	CHECK(parse_bytes("0", &bytes) && bytes == 0, "0 is %u", bytes);
	CHECK(parse_bytes("64K", &bytes) && bytes == 65536, "64K is %u", bytes);
	CHECK(!parse_bytes("4G", &bytes), "4G is %u", bytes);
	CHECK(!parse_bytes("00", &bytes), "00 is %u", bytes);
	CHECK(parse_switch("on", &on) && on, "on");
	CHECK(parse_switch("off", &on) && !on, "off");
	CHECK(!parse_switch("yes", &on), "yes");
}

static const struct option_row rows[] = {
	{ "size", "N", "a size" }, { "loud", NULL, "a flag" }, { 0 },
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
	return parse_number(argument, &taken->size) ? 0 : -1;
}

/* Parses without the messages, which belong to the program's own tests. */
static int parse(char **argv, struct taken *taken, int *first)
{
	int argc = 0, result, saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);

	while (argv[argc])
		argc++;
	dup2(null, STDERR_FILENO);
	result = options_parse(&verb, argc, argv, take, taken, first);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	return result;
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

static int take_colour(size_t row, const char *argument, void *context)
{
	size_t chosen;

	(void)context;
	CHECK(row == 1, "row %zu", row);
	return options_choose("colour", argument, colours, 2, &chosen);
}

static int run_colour(const struct verb *of, int argc, char **argv)
{
	int first, result = options_parse(of, argc, argv, take_colour, NULL,
					  &first);

	CHECK(result != OPTIONS_CONTINUE, "it would go on");
	return result;
}

static void note_name(const char *name, void *context)
{
	strcat(strcat(context, name), ".");
}

static void values(void)
{
	static const struct option_row chosen[] = {
		{ "size", "N", "a size" }, { "colour", "COLOUR", "a colour" },
		{ 0 },
	};
	const struct verb paint = {
		.name = "paint", .operands = "DEV", .min_operands = 1,
		.max_operands = 1, .options = chosen, .run = run_colour,
	};
	char *bad[] = { "paint", "a", "--size=x", NULL };
	char names[32] = "";
	struct taken taken = { 0 };
	int first;

	options_values(&paint, 1, note_name, names);
	CHECK(!strcmp(names, "red.green."), "%s", names);
	CHECK(parse(bad, &taken, &first) == ALIGNCTL_USAGE, "parsed as before");
}

const struct tap_test options_tests[] = {
	{ "numbers are whole, positive, and may end in a unit, K to P", numbers },
	{ "sizes may be 0 and fit 32 bits; switches are on or off",
	  bytes_and_switches },
	{ "options and operands may come in any order", parsing },
	{ "what a verb does not take is a usage error", refusing },
	{ "the names that an option can be are told, and nothing is done",
	  values },
	{ 0 },
};
