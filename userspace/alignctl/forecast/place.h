/* SPDX-License-Identifier: GPL-2.0 */
/* Where on the device the requests of a source lie, and which of them none takes. */
#ifndef ALIGNCTL_PLACE_H
#define ALIGNCTL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "workload/source.h"

/**
 * struct places - what the requests of a source are placed on
 * @source: the source
 * @end_sector: sectors of the device
 * @shift: sectors by which all requests lie further on
 * @cached: the requests go through the page cache: a read or write may begin and end
 *	within a sector
 * @no_buffered: the caller has no option --buffered
 * @no_size: the caller has no option --size
 */
struct places {
	const struct source *source;
	uint64_t end_sector;
	uint64_t shift;
	bool cached;
	bool no_buffered;
	bool no_size;
};

/*
 * Compute the sectors of a request that is no flush, from @first to before @end.
 * Return: enum alignctl_exit; what no device takes is reported.
 */
int place_request(const struct places *places,
		  const struct trace_request *request, uint64_t *first,
		  uint64_t *end);

#endif
