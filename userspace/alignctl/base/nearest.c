// SPDX-License-Identifier: GPL-2.0
/* Edit distance with a limit that grows with the word, to suggest one known name. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/message.h"
#include "base/nearest.h"

/* Longer words have no near name: no known name is longer. */
#define MAX_LETTERS	63U
/* Letters of the shorter word for each slip that is allowed beyond one. */
#define LETTERS_A_SLIP	4U

static bool is_same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Return struct nearest's distance of two words of at most MAX_LETTERS. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[3][MAX_LETTERS + 1];
	unsigned int *before = row[0], *last = row[1], *now = row[2], *spare;
	size_t length = strlen(b), i, k;

	for (k = 0; k <= length; k++)
		last[k] = k;
	for (i = 1; i <= strlen(a); i++) {
		now[0] = i;
		for (k = 1; k <= length; k++) {
			now[k] = last[k - 1] + !is_same_letter(a[i - 1], b[k - 1]);
			now[k] = least(now[k], last[k] + 1);
			now[k] = least(now[k], now[k - 1] + 1);
			if (i > 1 && k > 1 && is_same_letter(a[i - 1], b[k - 2]) &&
			    is_same_letter(a[i - 2], b[k - 1]))
				now[k] = least(now[k], before[k - 2] + 1);
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[length];
}

void nearest_try(struct nearest *nearest, const char *name)
{
	size_t letters = strlen(nearest->word), length = strlen(name);
	unsigned int slips = 1 + least(letters, length) / LETTERS_A_SLIP;
	unsigned int found;

	if (letters > MAX_LETTERS || length > MAX_LETTERS)
		return;
	found = distance(nearest->word, name);
	/* a name that shares at most one letter was not meant */
	if (found > slips || found + 1 >= length)
		return;
	if (nearest->name && found >= nearest->distance)
		return;
	nearest->name = name;
	nearest->distance = found;
}

char *nearest_hint(const struct nearest *nearest, const char *otherwise)
{
	return nearest->name ?
		message_format("; did you mean '%s'?", nearest->name) :
		message_format("%s", otherwise);
}
