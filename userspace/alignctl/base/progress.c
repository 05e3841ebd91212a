// SPDX-License-Identifier: GPL-2.0
/*
 * Draw the progress line a few times a second, and note SIGINT and SIGTERM for a
 * loop to see.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/units.h"

#define REDRAW_NS	(NS_PER_S / 5)

/* Of a terminal that does not tell. */
#define COLUMNS		80U

uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

void progress_start(struct progress *progress, const char *label,
		    uint64_t total)
{
	progress->label = label;
	progress->total = total;
	progress->start_ns = clock_ns();
	progress->drawn_ns = 0;
	progress->terminal = isatty(STDERR_FILENO);
}

/* Check whether to draw the line now, and note the time if so. */
static bool draw_is_due(struct progress *progress)
{
	uint64_t now;

	if (!progress->terminal)
		return false;
	now = clock_ns();
	if (now - progress->drawn_ns < REDRAW_NS)
		return false;
	progress->drawn_ns = now;
	return true;
}

static size_t terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS;
	return size.ws_col;
}

/*
 * Draw a line over the one before: on one that the terminal has wrapped, that would
 * leave a line behind each time. Of a long label, a path, the end tells most.
 */
static void draw_line(const char *label, const char *rest)
{
	static const char dots[] = "...";
	CLEANUP_FREE char *visible = message_visible(label);
	size_t columns = terminal_columns(), length = strlen(visible);
	size_t taken = strlen(rest) + 1;
	size_t room = columns > taken ? columns - taken : 0;
	const char *from = visible;

	if (length > room) {
		room = room > strlen(dots) ? room - strlen(dots) : 0;
		from += length - room;
		/* not inside a character */
		while ((*from & 0xc0) == 0x80)
			from++;
	}
	fprintf(stderr, "\r%s%s%s\x1b[K", from == visible ? "" : dots, from,
		rest);
	fflush(stderr);
	message_behind_line(true);
}

void progress_step(struct progress *progress, uint64_t done)
{
	CLEANUP_FREE char *rest = NULL;
	uint64_t left;

	if (!done || !draw_is_due(progress))
		return;
	left = (double)(progress->drawn_ns - progress->start_ns) / done *
	       (progress->total - done) / NS_PER_S + 0.5;
	rest = message_format(": %3" PRIu64 " %%, %" PRIu64 ":%02" PRIu64
			      " left ", done * 100 / progress->total,
			      left / 60, left % 60);
	draw_line(progress->label, rest);
}

void progress_text(struct progress *progress, const char *text)
{
	if (!draw_is_due(progress))
		return;
	draw_line(text, " ");
}

void progress_end(struct progress *progress)
{
	if (!progress->drawn_ns)
		return;
	fputs(MESSAGE_ERASE, stderr);
	message_behind_line(false);
}

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

void interrupt_catch(void)
{
	/* without SA_RESTART, so that a signal ends a sleep */
	struct sigaction action = { .sa_handler = on_signal }, before;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup ignores SIGHUP, and must keep doing so */
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

bool interrupt_seen(void)
{
	return interrupted;
}

void interrupt_obey(void)
{
	if (!interrupted)
		return;
	output_end(ALIGNCTL_FINE);
	signal(interrupted, SIG_DFL);
	raise(interrupted);
}
