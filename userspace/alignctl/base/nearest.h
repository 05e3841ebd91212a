/* SPDX-License-Identifier: GPL-2.0 */
/* The known name that a word was probably meant to be. */
#ifndef ALIGNCTL_NEAREST_H
#define ALIGNCTL_NEAREST_H

/**
 * struct nearest - a search; all but @word begins as 0
 * @word: the word that the user wrote
 * @name: the nearest name so far; NULL: none is near enough
 * @distance: letters to insert, leave out, replace or swap to get from one to
 *	the other, upper and lower case being the same
 */
struct nearest {
	const char *word;
	const char *name;
	unsigned int distance;
};

/* Look at one of the known names; the first of the nearest ones is kept. */
void nearest_try(struct nearest *nearest, const char *name);

/* "; did you mean 'NAME'?", or @otherwise if nothing is near; for free(). */
char *nearest_hint(const struct nearest *nearest, const char *otherwise);

#endif
