/* SPDX-License-Identifier: GPL-2.0 */
/* Keep the service time of each request of a run; the memory grows with them. */
#ifndef ALIGNCTL_EACH_H
#define ALIGNCTL_EACH_H

#include <stddef.h>

#include "base/json.h"

/**
 * struct each - the service times of a run
 * @nr: number of the last request with a time, plus one
 * @room: length of @ns
 * @ns: service time by number of the request in the source; EACH_NONE: none
 */
struct each {
	size_t nr;
	size_t room;
	uint64_t *ns;
};

/* Of a request that failed, was not made, or was in the warm-up. */
#define EACH_NONE	UINT64_MAX

/* Keep the time of request @number, from 0. Do nothing if @each is NULL. */
void each_add(struct each *each, uint64_t number, uint64_t ns);

/* Return an array of microseconds, null for EACH_NONE. */
struct json_object *each_json(const struct each *each);

void each_free(struct each *each);

#endif
