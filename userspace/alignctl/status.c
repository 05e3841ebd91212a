// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "status.h"

/* The value of "name:value" in the line, or NULL. */
static const char *find(const char *line, const char *name)
{
	size_t length = strlen(name);
	const char *at;

	for (at = strchr(line, ' '); at; at = strchr(at, ' ')) {
		at++;
		if (!strncmp(at, name, length) && at[length] == ':')
			return at + length + 1;
	}
	return NULL;
}

static bool number(const char *line, const char *name, uint64_t *value)
{
	const char *text = find(line, name);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &end, 10);
	return !*end || *end == ' ';
}

bool status_parse(const char *line, struct align_status *status)
{
	const char *text = find(line, "alignment_offset");
	size_t length = strcspn(line, " ");
	uint64_t physical, offset;

	memset(status, 0, sizeof(*status));
	if (!length || length >= STATUS_MODE_MAX || !text)
		return false;
	memcpy(status->mode, line, length);
	if (!strncmp(text, "unknown", strlen("unknown")))
		status->offset = -1;
	else if (number(line, "alignment_offset", &offset))
		status->offset = offset;
	else
		return false;
	if (!number(line, "physical_block_size", &physical) ||
	    !number(line, "max_blocks", &status->max_blocks) ||
	    !number(line, "blocks", &status->blocks) ||
	    !number(line, "memory_bytes", &status->memory_bytes) ||
	    !number(line, "epoch", &status->epoch))
		return false;
	number(line, "held_blocks", &status->held_blocks);
	number(line, "degraded", &status->degraded);
	status->physical = physical;
	return true;
}

bool status_parse_table(const char *line, struct align_table *table)
{
	unsigned int major, minor;

	if (sscanf(line, "%u:%u %" SCNu64, &major, &minor, &table->start) != 3)
		return false;
	table->device = makedev(major, minor);
	return true;
}
