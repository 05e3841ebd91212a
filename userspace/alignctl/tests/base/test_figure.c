// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "tests/tap.h"

static void units(void)
{
	static const struct {
		enum figure_unit unit;
		double value;
		const char *text;
	} rows[] = {
		{ FIGURE_COUNT, 0, "0" }, { FIGURE_COUNT, 131072, "131072" },
		{ FIGURE_COUNT, 999999, "999999" },
		{ FIGURE_COUNT, 1000000, "1 M" },
		{ FIGURE_COUNT, 1234567, "1.23 M" },
		{ FIGURE_COUNT, 12345678, "12.3 M" },
		{ FIGURE_COUNT, 123456789, "123 M" },
		{ FIGURE_COUNT, 999600000, "1 G" },
		{ FIGURE_COUNT, 18446744073709551615.0, "18.4 E" },
		{ FIGURE_COUNT, 8.25, "8.25" }, { FIGURE_COUNT, 59.03, "59" },
		{ FIGURE_COUNT, 59.06, "59.1" }, { FIGURE_COUNT, 532.4, "532" },
		{ FIGURE_BYTES, 0, "0 B" }, { FIGURE_BYTES, 1023, "1023 B" },
		{ FIGURE_BYTES, 1024, "1 KiB" }, { FIGURE_BYTES, 1536, "1.5 KiB" },
		{ FIGURE_BYTES, 7293952, "6.96 MiB" },
		{ FIGURE_BYTES, 1048474, "1 MiB" },
		{ FIGURE_BYTES, 1000204886016.0, "932 GiB" },
		{ FIGURE_LENGTH, 0, "0 B" }, { FIGURE_LENGTH, 512, "512 B" },
		{ FIGURE_LENGTH, 3584, "3.5 KiB" },
		{ FIGURE_LENGTH, 4096, "4 KiB" },
		{ FIGURE_LENGTH, 65024, "63.5 KiB" },
		{ FIGURE_LENGTH, 4000, "4000 B" },
		{ FIGURE_LENGTH, 687616, "671.5 KiB" },
		{ FIGURE_LENGTH, 688128, "672 KiB" },
		{ FIGURE_LENGTH, 4194816, "4096.5 KiB" },
		{ FIGURE_LENGTH, 1000001, "977 KiB" },
		{ FIGURE_SECTORS, 1048576, "512 MiB" },
		{ FIGURE_NS, 850, "850 ns" }, { FIGURE_NS, 999.6, "1 us" },
		{ FIGURE_US, 0, "0 s" }, { FIGURE_US, 532, "532 us" },
		{ FIGURE_US, 16550.8, "16.6 ms" }, { FIGURE_MS, 500, "500 ms" },
		{ FIGURE_MS, 60000, "60 s" }, { FIGURE_S, 1.5, "1.5 s" },
		{ FIGURE_S, 21.262, "21.3 s" }, { FIGURE_S, 172800, "2 d" },
		{ FIGURE_PER_CENT, 12.5, "12.5 %" },
		{ FIGURE_PER_CENT, 100, "100 %" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct figure shown = figure(rows[i].unit, rows[i].value);

		CHECK(!strcmp(shown.text, rows[i].text), "%g is %s, not %s",
		      rows[i].value, shown.text, rows[i].text);
	}
}

/* The most digits that follow each other, those on both sides of a point. */
static unsigned int digits(const char *text)
{
	unsigned int most = 0, now = 0;

	for (; *text; text++) {
		if (isdigit((unsigned char)*text))
			now++;
		else if (*text != '.')
			now = 0;
		if (now > most)
			most = now;
	}
	return most;
}

/* What a figure says, in bytes, nanoseconds, per cent or things. */
static double read_back(const char *text)
{
	static const struct { const char *name; double of; } scales[] = {
		{ "", 1 }, { " M", 1e6 }, { " G", 1e9 }, { " T", 1e12 },
		{ " P", 1e15 }, { " E", 1e18 }, { " B", 1 },
		{ " KiB", 0x1p10 }, { " MiB", 0x1p20 }, { " GiB", 0x1p30 },
		{ " TiB", 0x1p40 }, { " PiB", 0x1p50 }, { " EiB", 0x1p60 },
		{ " ns", 1 }, { " us", 1e3 }, { " ms", 1e6 }, { " s", 1e9 },
		{ " d", 86400e9 }, { " %", 1 },
	};
	char *unit;
	double value = strtod(text, &unit);
	size_t i;

	for (i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if (!strcmp(unit, scales[i].name))
			return value * scales[i].of;
	return NAN;
}

static void magnitudes(void)
{
	static const struct { enum figure_unit unit; double base; } units[] = {
		{ FIGURE_COUNT, 1 }, { FIGURE_BYTES, 1 }, { FIGURE_LENGTH, 1 },
		{ FIGURE_SECTORS, 512 }, { FIGURE_NS, 1 }, { FIGURE_US, 1e3 },
	};
	double value;
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		for (value = 1; value < 1e15; value = floor(value * 1.07) + 1) {
			struct figure f = figure(units[i].unit, value);
			double back = read_back(f.text);
			double off = fabs(back / (value * units[i].base) - 1);

			CHECK(digits(f.text) <= 6, "%.0f is %s", value, f.text);
			/* a half of the last of three digits */
			CHECK(off <= 0.00502, "%.0f is %s", value, f.text);
		}
	}
}

static void exactness(void)
{
	double value;

	for (value = 0; value < 1000000; value += 997)
		CHECK(read_back(figure(FIGURE_COUNT, value).text) == value,
		      "%.0f", value);
	for (value = 0; value < 100e6; value += 512 * 331)
		CHECK(read_back(figure(FIGURE_LENGTH, value).text) == value,
		      "%.0f", value);
}

const struct tap_test figure_tests[] = {
	{ "a figure has three digits and the unit that suits its size", units },
	{ "no figure has seven digits, and none is far from its value",
	  magnitudes },
	{ "counts below a million and lengths in sectors are exact", exactness },
	{ 0 },
};
