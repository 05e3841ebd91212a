// SPDX-License-Identifier: GPL-2.0
/* The story of a run: its lines, and the hash of all of them. */
#include <stdio.h>
#include <stdlib.h>

#include "machine_own.h"

#define STORY_LINES	(1 << 20)

static struct machine_line *story;
static size_t nr_story;
static sim_u64 hash_of_all;
static bool kept_story;

void machine_say(const char *format, sim_u64 a, sim_u64 b, sim_u64 c,
		 sim_u64 d)
{
	sim_u64 hash = hash_of_all;

	hash = (hash ^ now_ns) * 0x100000001b3ULL;
	hash = (hash ^ a ^ b << 16) * 0x100000001b3ULL;
	hash_of_all = (hash ^ c ^ d << 16) * 0x100000001b3ULL;
	if (!kept_story)
		return;
	if (!story)
		story = calloc(STORY_LINES, sizeof(*story));
	story[nr_story++ % STORY_LINES] = (struct machine_line) {
		now_ns, format, { a, b, c, d },
		machine_current->id, machine_current->name,
		machine_current->cpu,
	};
}

/* Lines that are no longer kept. */
static size_t lost_lines(void)
{
	return nr_story > STORY_LINES ? nr_story - STORY_LINES : 0;
}

const struct machine_line *machine_line(size_t nr)
{
	nr += lost_lines();
	return nr < nr_story ? &story[nr % STORY_LINES] : NULL;
}

void machine_tell(void *file, size_t last)
{
	const struct machine_line *line;
	size_t kept = nr_story - lost_lines();
	size_t i = last && kept > last ? kept - last : 0;

	for (; (line = machine_line(i)); i++) {
		fprintf(file, "%14.6f ms  cpu %2d  %3u %-10s ",
			(double)line->ns / 1e6, line->cpu, line->thread,
			line->name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		fprintf(file, line->format, line->figure[0], line->figure[1],
			line->figure[2], line->figure[3]);
#pragma GCC diagnostic pop
		fputc('\n', file);
	}
}

void story_begin(bool keep)
{
	nr_story = 0;
	hash_of_all = 0;
	kept_story = keep;
}

sim_u64 story_hash(void)
{
	return hash_of_all;
}
