// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of device-mapper as lines of text, and turning linear into align and
 * back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "mapped/mapping.h"

void mapping_add(struct mapping *mapping, uint64_t start, uint64_t length,
		 const char *type, const char *params)
{
	*ARRAY_APPEND(mapping->line, mapping->nr) = (struct mapping_line) {
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
		char *params = mapping->line[mapping->nr].params;

		/* that of dm-crypt has the key, which no core or swap may keep */
		explicit_bzero(params, strlen(params));
		free(params);
		free(mapping->line[mapping->nr].type);
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

static bool same_segment(const struct mapping_line *a,
			 const struct mapping_line *b)
{
	return a->start == b->start && a->length == b->length &&
	       !strcmp(a->type, b->type);
}

bool mapping_line_same(const struct mapping_line *a,
		       const struct mapping_line *b)
{
	return same_segment(a, b) && !strcmp(a->params, b->params);
}

/* Return the number of bytes of @nr words, each after a blank. */
static size_t words_length(const char *text, unsigned int nr)
{
	const char *at = text;

	while (nr-- && *at)
		at += 1 + strcspn(at + 1, " ");
	return at - text;
}

/* Check whether a feature and its value are among @features. */
static bool has_feature(const char *features, const char *feature,
			size_t length)
{
	size_t found;

	for (; *features; features += found) {
		found = words_length(features, 2);
		if (found == length && !strncmp(features, feature, length))
			return true;
	}
	return false;
}

/* Compare the features of two lines, " <n> <name> <value>...", or "". */
static bool same_features(const char *a, const char *b)
{
	size_t length = words_length(a, 1);

	if (strlen(a) != strlen(b) || strncmp(a, b, length))
		return false;
	a += length;
	for (b += length; *a; a += length) {
		length = words_length(a, 2);
		if (!has_feature(b, a, length))
			return false;
	}
	return true;
}

bool mapping_line_alike(const struct mapping_line *a,
			const struct mapping_line *b)
{
	struct align_table in_a, in_b;
	bool placed = mapping_place(a, &in_a);

	if (!same_segment(a, b) || placed != mapping_place(b, &in_b))
		return false;
	return !placed || (in_a.device == in_b.device &&
			   in_a.start == in_b.start &&
			   same_features(a->params + place_length(a->params),
					 b->params + place_length(b->params)));
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
