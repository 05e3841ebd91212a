// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "script.h"
#include "story.h"
#include "timeline.h"

#define WIDTH	22
/* Columns behind those of the threads of the plan. */
enum { ADMINISTRATOR, KERNEL, DRIVE, HELD, OTHERS };

static const char *const other_names[OTHERS] = {
	"administrator", "worker, interrupt", "drive", "held blocks",
};

/* By the kernel's number of the operation. */
static const char *operation(sim_u64 op)
{
	switch (op) {
	case 0:
		return "read";
	case 1:
		return "write";
	case 3:
		return "discard";
	case 9:
		return "zeroes";
	default:
		return "other";
	}
}

/* As enum rmw_how, in the engine's mode.h. */
static const char *const hows[] = {
	"read for it", "merged", "complete", "known", "superseded", "lost",
};

static const char *how(sim_u64 how)
{
	return how < sizeof(hows) / sizeof(hows[0]) ? hows[how] : "unmodified";
}

void timeline_op(FILE *file, const struct world_op *op)
{
	fprintf(file, "%s", script_kinds[op->kind]);
	if (op->nr)
		fprintf(file, " %u+%u", op->first, op->nr);
	if (op->pieces > 1)
		fprintf(file, ", %u pieces", op->pieces);
	fprintf(file, "%s%s%s%s", op->plug ? ", plugged" : "",
		op->twin ? ", to the twin" : "",
		op->nowait ? ", nowait" : "",
		op->wait ? ", then wait for all" : "");
}

/* The column of the running thread: users are started in the order of their numbers. */
static unsigned int column_of(const struct machine_line *line, unsigned int first,
			      unsigned int threads)
{
	if (!strcmp(line->name, "user") && line->thread >= first &&
	    line->thread < first + threads)
		return line->thread - first;
	return threads + (strcmp(line->name, "first") ? KERNEL : ADMINISTRATOR);
}

static void cell(FILE *file, const struct machine_line *line, unsigned int column,
		 const char *text)
{
	fprintf(file, "%12.3f  %*s%s\n", (double)line->ns / 1e3,
		(int)(column * WIDTH), "", text);
}

/* "write 8+8" of a request that has sectors, and else "flush". */
static void put_range(char *text, size_t room, const char *before,
		      const char *what, sim_u64 first, sim_u64 nr)
{
	if (nr)
		snprintf(text, room, "%s%s %llu+%llu", before, what, first, nr);
	else
		snprintf(text, room, "%sflush", before);
}

static void put_end(char *text, size_t room, const sim_u64 *figure)
{
	int length = snprintf(text, room, "end: %s %llu",
			      script_kinds[figure[1]], figure[2]);

	if (figure[3])
		snprintf(text + length, room - (size_t)length, ", error %llu",
			 figure[3]);
}

/* Write a line, if it is an event. @first: number of the first user's thread. */
static void write_line(FILE *file, const struct machine_line *line,
		       unsigned int first, unsigned int threads)
{
	const sim_u64 *figure = line->figure;
	unsigned int column = column_of(line, first, threads);
	char text[160];

	if (!strcmp(line->format, STORY_SENT)) {
		column = (unsigned int)figure[0];
		put_range(text, sizeof(text), "", script_kinds[figure[1]],
			  figure[2], figure[3]);
	} else if (!strcmp(line->format, STORY_ENDED)) {
		column = (unsigned int)figure[0];
		put_end(text, sizeof(text), figure);
	} else if (!strcmp(line->format, STORY_BELOW)) {
		put_range(text, sizeof(text), "> ", operation(figure[0]),
			  figure[1], figure[2]);
	} else if (!strcmp(line->format, STORY_DONE)) {
		column = threads + DRIVE;
		put_range(text, sizeof(text), "", operation(figure[0]),
			  figure[1], figure[2]);
	} else if (!strcmp(line->format, STORY_RESOLVED)) {
		snprintf(text, sizeof(text), "block %llu: %llu %s", figure[0],
			 figure[1], how(figure[2]));
	} else if (!strcmp(line->format, STORY_HELD)) {
		column = threads + HELD;
		snprintf(text, sizeof(text), "%llu", figure[0]);
	} else if (!strcmp(line->format, STORY_EVENT)) {
		column = threads + ADMINISTRATOR;
		snprintf(text, sizeof(text), "%s", script_events[figure[0]]);
	} else {
		return;
	}
	cell(file, line, column, text);
}

static void write_head(FILE *file, unsigned int threads)
{
	unsigned int i;

	fprintf(file, "%12s  ", "us");
	for (i = 0; i < threads; i++)
		fprintf(file, "thread %-*u", WIDTH - 7, i);
	for (i = 0; i < OTHERS - 1; i++)
		fprintf(file, "%-*s", WIDTH, other_names[i]);
	fprintf(file, "%s\n", other_names[i]);
}

/* Whether a line is of a world's end, where reads tell nothing about the order. */
static bool reads_all(const struct machine_line *line)
{
	return !strcmp(line->format, STORY_SENT) &&
	       !strcmp(line->name, "first") && line->figure[1] == OP_READ;
}

void timeline_write(FILE *file, const struct world_plan *plan)
{
	const struct machine_line *line;
	unsigned int first = ~0U;
	size_t nr;

	write_head(file, plan->threads);
	for (nr = 0; (line = machine_line(nr)); nr++)
		if (!strcmp(line->format, STORY_SENT) &&
		    !strcmp(line->name, "user"))
			first = line->thread - (unsigned int)line->figure[0];
	for (nr = 0; (line = machine_line(nr)) && !reads_all(line); nr++)
		write_line(file, line, first, plan->threads);
	if (line)
		cell(file, line, plan->threads + ADMINISTRATOR,
		     "all has ended, and all is read");
}
