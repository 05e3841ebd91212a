// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "trace/names.h"

void trace_names_free(struct trace_names *names)
{
	uint32_t i;

	for (i = 0; i < names->nr; i++)
		free(names->names[i]);
	names->nr = 0;
	memset(names->slots, 0, sizeof(names->slots));
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
static uint16_t *slot_of(struct trace_names *names, const char *name)
{
	uint32_t i = hash_of(name) % TRACE_NAME_SLOTS;

	while (names->slots[i] &&
	       strcmp(names->names[names->slots[i] - 1], name))
		i = (i + 1) % TRACE_NAME_SLOTS;
	return &names->slots[i];
}

const char *trace_names_get(const struct trace_names *names, uint32_t number)
{
	return number < names->nr ? names->names[number] : NULL;
}

const char *trace_names_set(struct trace_names *names, uint32_t number,
			    const char *name)
{
	const char *had = trace_names_get(names, number);
	uint16_t *slot;

	if (had)
		return strcmp(had, name) ? "the file already has another name" :
					   NULL;
	if (number >= TRACE_MAX_FILES)
		return "more than 1024 files";
	if (strlen(name) > TRACE_MAX_NAME)
		return "a file name has at most 4095 bytes";
	while (names->nr <= number)
		names->names[names->nr++] = NULL;
	slot = slot_of(names, name);
	names->names[number] = memory_or_exit(strdup(name));
	/* of files with one name, the one with the lowest number is found */
	if (!*slot || *slot > number)
		*slot = (uint16_t)(number + 1);
	return NULL;
}

bool trace_names_find(struct trace_names *names, const char *name,
		      uint32_t *number)
{
	const char *last = trace_names_get(names, names->last);
	uint16_t slot;

	if (last && !strcmp(last, name)) {
		*number = names->last;
		return true;
	}
	slot = *slot_of(names, name);
	if (!slot)
		return false;
	*number = names->last = slot - 1U;
	return true;
}
