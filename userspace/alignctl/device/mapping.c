// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "device/mapping.h"

void mapping_add(struct mapping *mapping, uint64_t start, uint64_t length,
		 const char *type, const char *params)
{
	mapping->line = memory_or_exit(reallocarray(mapping->line,
						    mapping->nr + 1,
						    sizeof(*mapping->line)));
	mapping->line[mapping->nr++] = (struct mapping_line) {
		.start = start,
		.length = length,
		.type = memory_or_exit(strdup(type)),
		.params = memory_or_exit(strdup(params)),
	};
}

void mapping_free(struct mapping *mapping)
{
	while (mapping->nr) {
		mapping->nr--;
		free(mapping->line[mapping->nr].type);
		free(mapping->line[mapping->nr].params);
	}
	free(mapping->line);
	mapping->line = NULL;
}

bool mapping_line_is(const struct mapping_line *line, const char *type)
{
	return !strcmp(line->type, type);
}

/* Return the number of bytes of the first two words of @params. */
static size_t place_length(const char *params)
{
	size_t device = strcspn(params, " ");

	return device + 1 + strcspn(params + device + 1, " ");
}

bool mapping_place(const struct mapping_line *line, struct align_table *place)
{
	struct align_table found;
	bool linear = mapping_line_is(line, "linear");

	if ((!linear && !mapping_line_is(line, "align")) ||
	    !status_parse_table(line->params, &found) ||
	    found.start > UINT64_MAX - line->length)
		return false;
	if (linear && line->params[place_length(line->params)])
		return false;
	*place = found;
	return true;
}

static bool same_line(const struct mapping_line *a,
		      const struct mapping_line *b)
{
	return a->start == b->start && a->length == b->length &&
	       !strcmp(a->type, b->type);
}

bool mapping_same(const struct mapping *a, const struct mapping *b)
{
	size_t i;

	if (a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++)
		if (!same_line(&a->line[i], &b->line[i]) ||
		    strcmp(a->line[i].params, b->line[i].params))
			return false;
	return true;
}

bool mapping_alike(const struct mapping *a, const struct mapping *b)
{
	struct align_table in_a, in_b;
	size_t i;

	if (a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++) {
		bool placed = mapping_place(&a->line[i], &in_a);

		if (!same_line(&a->line[i], &b->line[i]) ||
		    placed != mapping_place(&b->line[i], &in_b))
			return false;
		if (placed && (in_a.device != in_b.device ||
			       in_a.start != in_b.start))
			return false;
	}
	return true;
}

bool mapping_add_align(struct mapping *next, const struct mapping_line *line,
		       const char *features)
{
	struct align_table place;
	CLEANUP_FREE char *params = NULL;

	if (!mapping_line_is(line, "linear") || !mapping_place(line, &place))
		return false;
	params = message_format("%s%s", line->params, features);
	mapping_add(next, line->start, line->length, "align", params);
	return true;
}

bool mapping_to_linear(const struct mapping *now, struct mapping *next)
{
	struct align_table place;
	bool found = false;
	size_t i;

	memset(next, 0, sizeof(*next));
	for (i = 0; i < now->nr; i++) {
		const struct mapping_line *line = &now->line[i];
		CLEANUP_FREE char *params = NULL;

		if (!mapping_line_is(line, "align")) {
			mapping_add(next, line->start, line->length,
				    line->type, line->params);
			continue;
		}
		if (!mapping_place(line, &place)) {
			mapping_free(next);
			return false;
		}
		params = memory_or_exit(strndup(line->params,
						place_length(line->params)));
		mapping_add(next, line->start, line->length, "linear", params);
		found = true;
	}
	if (!found)
		mapping_free(next);
	return found;
}

/*
 * Find a line that lies after the last one on the same device, or of which that
 * is unknown. @last: place of the last line. @line: set to the line found.
 */
static bool find_other(const struct mapping *mapping,
		       const struct align_table *last, size_t *line)
{
	uint64_t end = last->start + mapping->line[mapping->nr - 1].length;
	struct align_table place;
	size_t i;

	for (i = 0; i + 1 < mapping->nr; i++) {
		if (mapping_place(&mapping->line[i], &place) &&
		    (place.device != last->device ||
		     place.start + mapping->line[i].length <= end))
			continue;
		*line = i;
		return true;
	}
	return false;
}

enum mapping_fit mapping_resize(const struct mapping *now, struct mapping *next,
				uint64_t (*sectors)(dev_t device), size_t *line)
{
	struct align_table place;
	uint64_t length = 0;
	size_t i;

	memset(next, 0, sizeof(*next));
	*line = 0;
	for (i = 0; i < now->nr; i++) {
		uint64_t size;

		*line = i;
		/* what another target maps is not ours to judge */
		if (!mapping_place(&now->line[i], &place)) {
			if (i + 1 < now->nr)
				continue;
			return MAPPING_UNKNOWN;
		}
		size = sectors(place.device);
		if (!size)
			return MAPPING_UNKNOWN;
		if (place.start + now->line[i].length > size)
			return MAPPING_CUT;
		length = size - place.start;
	}
	if (!now->nr)
		return MAPPING_UNKNOWN;
	if (length == now->line[*line].length)
		return MAPPING_FITS;
	if (find_other(now, &place, line))
		return MAPPING_TAKEN;
	for (i = 0; i < now->nr; i++)
		mapping_add(next, now->line[i].start,
			    i == *line ? length : now->line[i].length,
			    now->line[i].type, now->line[i].params);
	return MAPPING_GROWS;
}

uint64_t mapping_sectors(const struct mapping *mapping)
{
	const struct mapping_line *last;

	if (!mapping->nr)
		return 0;
	last = &mapping->line[mapping->nr - 1];
	return last->start + last->length;
}
