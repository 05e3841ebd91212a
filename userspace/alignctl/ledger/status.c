// SPDX-License-Identifier: GPL-2.0
/* Parse the status line and the table line of a target of type align. */
#include <string.h>

#include "base/decimal.h"
#include "ledger/status.h"

/* Find the value of "name:value" in the line, or NULL. */
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

/* Check whether a word of the line ends here. */
static bool at_end(const char *at)
{
	return !*at || *at == ' ';
}

static bool number(const char *line, const char *name, uint64_t max,
		   uint64_t *value)
{
	const char *text = find(line, name);
	uint64_t found;

	if (!text || !decimal_read(&text, max, &found) || !at_end(text))
		return false;
	*value = found;
	return true;
}

/*
 * Read a number that older versions lack, or modules without the modes that it is
 * about, which leaves @value unchanged.
 */
static bool later_number(const char *line, const char *name, uint64_t *value)
{
	return !find(line, name) || number(line, name, UINT64_MAX, value);
}

static bool offset_unknown(const char *line)
{
	const char *text = find(line, "alignment_offset");
	size_t length = strlen("unknown");

	return text && !strncmp(text, "unknown", length) &&
	       at_end(text + length);
}

bool status_parse(const char *line, struct align_status *status,
		  struct align_state *state)
{
	struct align_status found = { .offset = MAYBE_UNKNOWN };
	struct align_state whole = { .held_bytes = MAYBE_UNKNOWN };
	size_t length = strcspn(line, " ");
	uint64_t physical, offset, held;

	if (!length || length >= STATUS_MODE_MAX)
		return false;
	memcpy(found.mode, line, length);
	if (!offset_unknown(line)) {
		if (!number(line, "alignment_offset", INT64_MAX, &offset))
			return false;
		found.offset = maybe_of((int64_t)offset);
	}
	if (find(line, "held_bytes")) {
		if (!number(line, "held_bytes", INT64_MAX, &held))
			return false;
		whole.held_bytes = maybe_of((int64_t)held);
	}
	if (!number(line, "physical_block_size", UINT32_MAX, &physical) ||
	    !later_number(line, "max_blocks", &found.max_blocks) ||
	    !later_number(line, "blocks", &found.blocks) ||
	    !later_number(line, "memory_bytes", &found.memory_bytes) ||
	    !number(line, "epoch", UINT64_MAX, &whole.epoch) ||
	    !later_number(line, "held_blocks", &whole.held_blocks) ||
	    !later_number(line, "degraded", &whole.degraded))
		return false;
	found.physical = (uint32_t)physical;
	*status = found;
	*state = whole;
	return true;
}

bool status_parse_table(const char *line, struct align_table *table)
{
	struct align_table found;

	if (!decimal_read_devno(&line, &found.device) || *line++ != ' ' ||
	    !decimal_read(&line, UINT64_MAX, &found.start) || !at_end(line))
		return false;
	*table = found;
	return true;
}
