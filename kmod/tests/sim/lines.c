// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "accesses.h"
#include "lines.h"
#include "machine.h"
#include "machine_own.h"

#define MOST_LINES	256U

static uintptr_t lines[MOST_LINES];
static unsigned int nr_lines;

int lines_seen(void)
{
	return accesses_seen;
}

void lines_forget(void)
{
	nr_lines = 0;
}

void lines_begin(void)
{
	accesses_begin();
}

static void add(uintptr_t line)
{
	unsigned int i;

	for (i = 0; i < nr_lines; i++)
		if (lines[i] == line)
			return;
	if (nr_lines == MOST_LINES)
		machine_fail("more than %u lines are written", MOST_LINES);
	lines[nr_lines++] = line;
}

void lines_end(int (*counts)(const void *word))
{
	struct accesses seen = { 0 };
	size_t i;

	accesses_stop();
	accesses_add(&seen);
	for (i = 0; i < seen.nr; i++)
		if (seen.entry[i] & 1 && memory_has((const char *)seen.entry[i]) &&
		    counts((const void *)(seen.entry[i] & ~(uintptr_t)7)))
			add(seen.entry[i] / LINES_BYTES * LINES_BYTES);
	free(seen.entry);
}

unsigned int lines_nr(void)
{
	return nr_lines;
}
