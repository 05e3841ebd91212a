/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Figures for people: with a unit that suits the size, three significant digits
 * where it is not exact, and never more than six in a row. Programs read the raw
 * numbers of the JSON documents.
 */
#ifndef ALIGNCTL_FIGURE_H
#define ALIGNCTL_FIGURE_H

enum figure_unit {
	FIGURE_COUNT,		/* exact below a million, then 12.3 M */
	FIGURE_BYTES,		/* an amount: 6.64 MiB */
	FIGURE_LENGTH,		/* of a block or request, exact: 671.5 KiB */
	FIGURE_SECTORS,		/* of 512 bytes, as FIGURE_BYTES */
	FIGURE_NS,		/* times, all of them as 1.5 s */
	FIGURE_US,
	FIGURE_MS,
	FIGURE_S,
	FIGURE_PER_CENT,
};

/**
 * struct figure - a figure as text, for printf() in one expression
 * @text: digits, a blank and the unit, if there is one
 */
struct figure {
	char text[32];
};

/*
 * Write a number of @unit, 0 or more, for people. FIGURE_LENGTH is rounded only
 * where the exact one would have more than six digits.
 */
struct figure figure(enum figure_unit unit, double value);

/* Return the name of a unit in words, or NULL for a number of things. */
const char *figure_unit_name(enum figure_unit unit);

/* The text of a number of things, as an argument of printf(). */
#define FIGURE_OF(n)	(figure(FIGURE_COUNT, (double)(n)).text)

/* The end of the noun after a number of things: one block, two blocks. */
#define PLURAL_OF(n)	((n) == 1 ? "" : "s")

#endif
