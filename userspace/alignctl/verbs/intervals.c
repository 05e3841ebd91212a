// SPDX-License-Identifier: GPL-2.0
/* Parse the interval and count, and wait for the next beat. */
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "base/progress.h"
#include "base/units.h"
#include "verbs/intervals.h"

int intervals_take_count(char **operands, size_t *nr, uint64_t *count)
{
	size_t i = 0;

	while (i < *nr && operands[i][strspn(operands[i], "0123456789")])
		i++;
	if (i == *nr)
		return 0;
	if (!parse_number(operands[i], count)) {
		message_error("--interval: COUNT is %s; it must be at least 1",
			      operands[i]);
		return -1;
	}
	--*nr;
	memmove(&operands[i], &operands[i + 1], (*nr - i) * sizeof(*operands));
	return 0;
}

bool intervals_wait(uint64_t *next_ns, uint64_t seconds)
{
	uint64_t now_ns = clock_ns();
	struct timespec next;

	*next_ns += seconds * NS_PER_S;
	if (*next_ns < now_ns)
		*next_ns = now_ns;
	next = (struct timespec){ *next_ns / NS_PER_S, *next_ns % NS_PER_S };
	return !clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
}

size_t intervals_screen_rows(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 4)
		return 0;
	return size.ws_row - 2;
}
