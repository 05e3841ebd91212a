// SPDX-License-Identifier: GPL-2.0
/* A growing array of service times, one for each request. */
#include <stdlib.h>

#include "base/message.h"
#include "base/units.h"
#include "engine/each.h"

#define ROOM_AT_FIRST	1024U

void each_add(struct each *each, uint64_t number, uint64_t ns)
{
	if (!each)
		return;
	if (number >= each->room) {
		size_t room = each->room ? each->room : ROOM_AT_FIRST;

		while (room <= number)
			room *= 2;
		each->ns = memory_or_exit(realloc(each->ns,
						  room * sizeof(*each->ns)));
		each->room = room;
	}
	while (each->nr <= number)
		each->ns[each->nr++] = EACH_NONE;
	each->ns[number] = ns;
}

struct json_object *each_json(const struct each *each)
{
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < each->nr; i++)
		json_append(array, each->ns[i] == EACH_NONE ? NULL :
			    json_from_real(ns_to_us(each->ns[i])));
	return array;
}

void each_free(struct each *each)
{
	free(each->ns);
}
