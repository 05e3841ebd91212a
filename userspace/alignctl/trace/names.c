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
}

const char *trace_names_get(const struct trace_names *names, uint32_t number)
{
	return number < names->nr ? names->names[number] : NULL;
}

const char *trace_names_set(struct trace_names *names, uint32_t number,
			    const char *name)
{
	const char *had = trace_names_get(names, number);

	if (had)
		return strcmp(had, name) ? "the file already has another name" :
					   NULL;
	if (number >= TRACE_MAX_FILES)
		return "more than 1024 files";
	if (strlen(name) > TRACE_MAX_NAME)
		return "a file name has at most 4095 bytes";
	while (names->nr <= number)
		names->names[names->nr++] = NULL;
	names->names[number] = memory_or_exit(strdup(name));
	return NULL;
}

bool trace_names_find(struct trace_names *names, const char *name,
		      uint32_t *number)
{
	const char *last = trace_names_get(names, names->last);
	uint32_t i;

	if (last && !strcmp(last, name)) {
		*number = names->last;
		return true;
	}
	for (i = 0; i < names->nr; i++) {
		if (!names->names[i] || strcmp(names->names[i], name))
			continue;
		*number = names->last = i;
		return true;
	}
	return false;
}
