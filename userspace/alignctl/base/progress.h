/* SPDX-License-Identifier: GPL-2.0 */
/* A progress line with the time left, on a terminal only; interrupts. */
#ifndef ALIGNCTL_PROGRESS_H
#define ALIGNCTL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct progress - a progress line on standard error
 * @label: name of the work, at the start of the line; cut where that has no room
 * @total: number of steps
 * @start_ns: start of the work, on the monotonic clock
 * @drawn_ns: time of the last drawing, on the monotonic clock; 0: never
 * @terminal: standard error is a terminal; the line is not drawn otherwise
 */
struct progress {
	const char *label;
	uint64_t total;
	uint64_t start_ns;
	uint64_t drawn_ns;
	bool terminal;
};

/* Return the monotonic clock's time in ns. */
uint64_t clock_ns(void);

/* Start the work's clock; nothing is drawn yet. */
void progress_start(struct progress *progress, const char *label,
		    uint64_t total);
/* Draw the line after @done steps, at most five times a second. */
void progress_step(struct progress *progress, uint64_t done);
/* Draw @text instead, for work without a known end; as often. */
void progress_text(struct progress *progress, const char *text);
/* Erase the line. */
void progress_end(struct progress *progress);

/* Make SIGINT, SIGTERM and SIGHUP only set what interrupt_seen() returns. */
void interrupt_catch(void);
bool interrupt_seen(void);
/* End the program by the signal that was seen, if any, for a shell to know. */
void interrupt_obey(void);

#endif
