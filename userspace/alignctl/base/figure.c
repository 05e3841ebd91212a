// SPDX-License-Identifier: GPL-2.0
/*
 * Scale a number to a unit and round it to three digits, for bytes, times, rates
 * and plain counts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/units.h"
#include "geometry.h"

/* A figure of this or more would be shown with seven digits. */
#define SEVEN_DIGITS	999999.5

/**
 * struct scale - a unit in a row of them, each larger than the one before
 * @name: the unit, with the blank before it; NULL: the row has ended
 * @step: how many of the unit before make one of this
 */
struct scale {
	const char *name;
	double step;
};

const char *figure_unit_name(enum figure_unit unit)
{
	static const char *const names[] = {
		[FIGURE_BYTES] = "bytes", [FIGURE_LENGTH] = "bytes",
		[FIGURE_SECTORS] = "sectors of 512 bytes", [FIGURE_NS] = "ns",
		[FIGURE_US] = "us", [FIGURE_MS] = "ms", [FIGURE_S] = "s",
		[FIGURE_PER_CENT] = "per cent",
	};

	return names[unit];
}

static const struct scale counts[] = {
	{ "", 1 }, { " M", 1e6 }, { " G", 1e3 }, { " T", 1e3 }, { " P", 1e3 },
	{ " E", 1e3 }, { 0 },
};

static const struct scale bytes[] = {
	{ " B", 1 }, { " KiB", KIB }, { " MiB", KIB }, { " GiB", KIB },
	{ " TiB", KIB }, { " PiB", KIB }, { " EiB", KIB }, { 0 },
};

static const struct scale times[] = {
	{ " ns", 1 }, { " us", 1e3 }, { " ms", 1e3 }, { " s", 1e3 },
	{ " d", 86400 }, { 0 },
};

static const struct scale per_cent[] = { { " %", 1 }, { 0 } };

/* Digits, without the zeroes at the end of a fraction, and the unit. */
static struct figure with_unit(double value, int decimals, const char *unit)
{
	struct figure figure;
	size_t length;

	snprintf(figure.text, sizeof(figure.text), "%.*f", decimals, value);
	length = strlen(figure.text);
	if (strchr(figure.text, '.')) {
		while (figure.text[length - 1] == '0')
			length--;
		if (figure.text[length - 1] == '.')
			length--;
	}
	snprintf(figure.text + length, sizeof(figure.text) - length, "%s",
		 unit);
	return figure;
}

/* In the largest unit of which there is one, when rounded. */
static struct figure rounded(const struct scale *scale, double value)
{
	int decimals;

	for (; scale[1].name && value >= scale[1].step - 0.5; scale++)
		value /= scale[1].step;
	decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	return with_unit(value, decimals, scale->name);
}

/* In the largest unit of which it is a number of halves. */
static struct figure exact_bytes(double value)
{
	const struct scale *scale = bytes;
	double size = 1;

	while (scale[1].name && value >= size * KIB &&
	       fmod(value, size * KIB / 2) == 0) {
		size *= KIB;
		scale++;
	}
	if (value / size >= SEVEN_DIGITS)
		return rounded(bytes, value);
	return with_unit(value / size, 1, scale->name);
}

/* From nanoseconds. */
static struct figure time_of(double ns)
{
	return ns > 0 ? rounded(times, ns) : with_unit(0, 0, " s");
}

struct figure figure(enum figure_unit unit, double value)
{
	switch (unit) {
	case FIGURE_BYTES:
		return rounded(bytes, value);
	case FIGURE_LENGTH:
		return exact_bytes(value);
	case FIGURE_SECTORS:
		return rounded(bytes, value * ALIGN_SECTOR_SIZE);
	case FIGURE_NS:
		return time_of(value);
	case FIGURE_US:
		return time_of(value * NS_PER_US);
	case FIGURE_MS:
		return time_of(value * NS_PER_MS);
	case FIGURE_S:
		return time_of(value * NS_PER_S);
	case FIGURE_PER_CENT:
		return rounded(per_cent, value);
	case FIGURE_COUNT:
		break;
	}
	return rounded(counts, value);
}
