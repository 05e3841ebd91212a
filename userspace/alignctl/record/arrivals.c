// SPDX-License-Identifier: GPL-2.0
/* Merge the sorted runs of several processors into one order of time. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "record/arrivals.h"

#define LEAST_ROOM	1024

struct arrival *arrivals_next(struct arrivals *arrivals)
{
	if (arrivals->nr == arrivals->room) {
		arrivals->room = arrivals->room * 2 + LEAST_ROOM;
		arrivals->at = memory_or_exit(
			reallocarray(arrivals->at, arrivals->room,
				     sizeof(*arrivals->at)));
		arrivals->spare = memory_or_exit(
			reallocarray(arrivals->spare, arrivals->room,
				     sizeof(*arrivals->spare)));
	}
	return &arrivals->at[arrivals->nr];
}

static bool is_earlier(const struct arrival *a, const struct arrival *b)
{
	return a->request.time_ns < b->request.time_ns;
}

/* Return the end of the sorted run from @start: the next event is earlier. */
static size_t run_end(const struct arrivals *arrivals, size_t start)
{
	const struct arrival *at = arrivals->at;

	if (start == arrivals->nr)
		return start;
	while (++start < arrivals->nr && !is_earlier(&at[start], &at[start - 1]))
		;
	return start;
}

/*
 * Merge the runs from @first to @second and from @second to @end into @spare.
 */
static void merge_parts(struct arrivals *arrivals, size_t first, size_t second,
			size_t end)
{
	const struct arrival *at = arrivals->at;
	struct arrival *to = arrivals->spare + first;
	size_t middle = second;

	while (first < middle && second < end)
		*to++ = is_earlier(&at[second], &at[first]) ? at[second++] :
							   at[first++];
	memcpy(to, at + first, (middle - first) * sizeof(*at));
	memcpy(to + middle - first, at + second, (end - second) * sizeof(*at));
}

/*
 * Merge sorted runs. Each processor's buffer is sorted, so there are few: one
 * for each time that a buffer was read. Merging them costs a fraction of
 * qsort().
 */
void arrivals_sort(struct arrivals *arrivals)
{
	struct arrival *sorted;
	size_t at, middle, end;

	while (run_end(arrivals, 0) < arrivals->nr) {
		for (at = 0; at < arrivals->nr; at = end) {
			middle = run_end(arrivals, at);
			end = run_end(arrivals, middle);
			merge_parts(arrivals, at, middle, end);
		}
		sorted = arrivals->spare;
		arrivals->spare = arrivals->at;
		arrivals->at = sorted;
	}
}

void arrivals_drop(struct arrivals *arrivals, size_t nr)
{
	arrivals->nr -= nr;
	memmove(arrivals->at, arrivals->at + nr,
		arrivals->nr * sizeof(*arrivals->at));
}

void arrivals_free(struct arrivals *arrivals)
{
	free(arrivals->at);
	free(arrivals->spare);
}
