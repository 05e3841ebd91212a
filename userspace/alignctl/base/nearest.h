/* SPDX-License-Identifier: GPL-2.0 */
/* Find the known name that a misspelt word was probably meant to be. */
#ifndef ALIGNCTL_NEAREST_H
#define ALIGNCTL_NEAREST_H

/**
 * struct nearest - a search; all members but @word begin as 0
 * @word: the word that the user wrote
 * @name: the nearest name so far; NULL: no name is near enough
 * @distance: letters to insert, delete, replace or swap to turn @word into
 *	@name, ignoring case
 */
struct nearest {
	const char *word;
	const char *name;
	unsigned int distance;
};

/* Compare one known name; of several nearest names the first is kept. */
void nearest_try(struct nearest *nearest, const char *name);

/*
 * Return "; did you mean 'NAME'?", or a copy of @otherwise if no name is near;
 * for free().
 */
char *nearest_hint(const struct nearest *nearest, const char *otherwise);

#endif
