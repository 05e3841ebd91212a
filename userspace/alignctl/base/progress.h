/* SPDX-License-Identifier: GPL-2.0 */
/* A progress line with the time left, on a terminal only; and Ctrl-C. */
#ifndef ALIGNCTL_PROGRESS_H
#define ALIGNCTL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct progress - a line being drawn
 * @label: what is going on
 * @total: steps in all
 * @start_ns: when it began, on the monotonic clock
 * @drawn_ns: when it was last drawn; 0: never
 * @terminal: is standard error one? else nothing is drawn
 */
struct progress {
	const char *label;
	uint64_t total;
	uint64_t start_ns;
	uint64_t drawn_ns;
	bool terminal;
};

/* Nanoseconds of the monotonic clock. */
uint64_t clock_ns(void);

void progress_start(struct progress *progress, const char *label,
		    uint64_t total);
/* Draws at most five times a second. */
void progress_step(struct progress *progress, uint64_t done);
/* The same with a line of the caller's, for what has no known end. */
void progress_text(struct progress *progress, const char *text);
/* Wipes the line. */
void progress_end(struct progress *progress);

/* From here on SIGINT, SIGTERM and SIGHUP only set a mark. */
void interrupt_catch(void);
bool interrupt_seen(void);
/* Ends the program by the signal that was seen, for the shell to know. */
void interrupt_obey(void);

#endif
