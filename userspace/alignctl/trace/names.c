// SPDX-License-Identifier: GPL-2.0
/* An array by number, and a hash table by name. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "trace/names.h"

/* Names that there is room for at first. */
#define FIRST_ROOM	16U

void trace_names_free(struct trace_names *names)
{
	uint32_t i;

	for (i = 0; i < names->nr; i++)
		free(names->names[i]);
	free(names->names);
	free(names->slots);
	*names = (struct trace_names) { 0 };
}

/* Return a hash of a name, FNV-1a of 32 bits. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return hash;
}

/*
 * Return the slot of the file named @name, or the free slot where it belongs;
 * one is free, as there are more slots than files.
 */
static uint32_t *slot_of(const struct trace_names *names, const char *name)
{
	uint32_t i = hash_of(name) & (names->nr_slots - 1);

	while (names->slots[i] &&
	       strcmp(names->names[names->slots[i] - 1], name))
		i = (i + 1) & (names->nr_slots - 1);
	return &names->slots[i];
}

/*
 * Enter a file that has its name. Of files with one name, the one with the
 * lowest number is found.
 */
static void enter_name(struct trace_names *names, uint32_t number)
{
	uint32_t *slot = slot_of(names, names->names[number]);

	if (!*slot || *slot > number)
		*slot = number + 1;
}

/* Make room for a name of the file @number. */
static void grow_names(struct trace_names *names, uint32_t number)
{
	uint32_t i;

	if (number >= names->room) {
		while (number >= names->room)
			names->room = names->room ? 2 * names->room :
						    FIRST_ROOM;
		names->names = memory_or_exit(reallocarray(names->names,
			names->room, sizeof(*names->names)));
	}
	while (names->nr <= number)
		names->names[names->nr++] = NULL;
	if (2 * (names->nr_named + 1) < names->nr_slots)
		return;
	free(names->slots);
	names->nr_slots = names->nr_slots ? 2 * names->nr_slots :
					    2 * FIRST_ROOM;
	names->slots = memory_or_exit(calloc(names->nr_slots,
					     sizeof(*names->slots)));
	for (i = 0; i < names->nr; i++)
		if (names->names[i])
			enter_name(names, i);
}

const char *trace_names_get(const struct trace_names *names, uint32_t number)
{
	return number < names->nr ? names->names[number] : NULL;
}

bool trace_names_full(const struct trace_names *names)
{
	return names->nr >= TRACE_MAX_NAMES ||
	       names->bytes >= TRACE_NAMES_BYTES;
}

const char *trace_names_set(struct trace_names *names, uint32_t number,
			    const char *name)
{
	const char *had = trace_names_get(names, number);

	if (had)
		return strcmp(had, name) ? "the file already has another name" :
					   NULL;
	if (number >= TRACE_MAX_NAMES)
		return "more than 1048576 files";
	if (names->bytes >= TRACE_NAMES_BYTES)
		return "the names of the files have more than 64 MiB";
	if (strlen(name) > TRACE_MAX_NAME)
		return "a file name has at most 4095 bytes";
	grow_names(names, number);
	names->names[number] = memory_or_exit(strdup(name));
	names->nr_named++;
	names->bytes += strlen(name);
	enter_name(names, number);
	return NULL;
}

bool trace_names_find(struct trace_names *names, const char *name,
		      uint32_t *number)
{
	const char *last = trace_names_get(names, names->last);
	uint32_t slot;

	if (last && !strcmp(last, name)) {
		*number = names->last;
		return true;
	}
	slot = names->nr_slots ? *slot_of(names, name) : 0;
	if (!slot)
		return false;
	*number = names->last = slot - 1;
	return true;
}
