// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "unit/decode.h"
#include "unit/unit.h"

struct unit_claim *unit_claim(struct unit *unit, enum unit_source source,
			      const char *figure, struct maybe bytes,
			      enum unit_confidence confidence, char *unread)
{
	struct unit_claim *claim;

	assert(unit->nr < UNIT_CLAIMS);
	claim = &unit->claim[unit->nr++];
	*claim = (struct unit_claim) {
		.source = source, .figure = figure, .bytes = bytes,
		.confidence = confidence, .unread = unread,
		/* a hint is of something else; no other size can be a block */
		.states = confidence > UNIT_LOW && decode_is_block(bytes),
	};
	return claim;
}

/* Insert each claim behind those of its source and of earlier ones. */
static void sort(struct unit *unit)
{
	size_t i, k;

	for (i = 1; i < unit->nr; i++) {
		struct unit_claim claim = unit->claim[i];

		for (k = i; k && unit->claim[k - 1].source > claim.source; k--)
			unit->claim[k] = unit->claim[k - 1];
		unit->claim[k] = claim;
	}
}

void unit_judge(struct unit *unit)
{
	size_t i = 0;

	sort(unit);
	while (i < unit->nr && !unit->claim[i].states)
		i++;
	unit->taken = i;
}

void unit_give(struct unit *unit, struct maybe bytes)
{
	unit_claim(unit, UNIT_GIVEN, "--physical", bytes, UNIT_HIGH, NULL);
	unit_judge(unit);
}

void unit_free(struct unit *unit)
{
	while (unit->nr)
		free(unit->claim[--unit->nr].unread);
	free(unit->model);
	free(unit->firmware);
	free(unit->disk);
	free(unit->serial);
	memset(unit, 0, sizeof(*unit));
}

const struct unit_claim *unit_taken(const struct unit *unit)
{
	return unit->taken < unit->nr ? &unit->claim[unit->taken] : NULL;
}

struct maybe unit_bytes(const struct unit *unit)
{
	const struct unit_claim *taken = unit_taken(unit);

	return taken ? taken->bytes : MAYBE_UNKNOWN;
}

struct maybe unit_claimed(const struct unit *unit, enum unit_source source)
{
	size_t i;

	for (i = 0; i < unit->nr; i++)
		if (unit->claim[i].states && unit->claim[i].source == source)
			return unit->claim[i].bytes;
	return MAYBE_UNKNOWN;
}

struct maybe unit_known_better(const struct unit *unit)
{
	const struct unit_claim *taken = unit_taken(unit);

	return taken && taken->source != UNIT_GIVEN &&
	       taken->source < UNIT_DRIVE ? taken->bytes : MAYBE_UNKNOWN;
}

bool unit_contradicted(const struct unit *unit)
{
	size_t i;

	for (i = 0; i < unit->nr; i++)
		if (unit->claim[i].states &&
		    maybe_differ(unit->claim[i].bytes, unit_bytes(unit)))
			return true;
	return false;
}

bool unit_has_stranger(const struct unit *unit)
{
	size_t i;

	for (i = 0; i < unit->nr; i++) {
		const struct unit_claim *claim = &unit->claim[i];

		if (claim->states &&
		    (claim->source == UNIT_OVERRIDE ||
		     claim->source == UNIT_HWDB ||
		     (claim->source == UNIT_DRIVE &&
		      strcmp(claim->figure, UNIT_IDENTIFY))))
			return true;
	}
	return false;
}

char *unit_claims_text(const struct unit *unit)
{
	char *text = NULL;
	size_t i;

	for (i = 0; i < unit->nr; i++) {
		const struct unit_claim *claim = &unit->claim[i];
		char *longer;

		if (!claim->states)
			continue;
		longer = message_format("%s%s%s (%s) %" PRId64,
					text ? text : "", text ? ", " : "",
					unit_source_name(claim->source),
					claim->figure,
					maybe_or(claim->bytes, 0));
		free(text);
		text = longer;
	}
	return text;
}

const char *unit_source_name(enum unit_source source)
{
	static const char *const names[] = {
		[UNIT_GIVEN] = "given",
		[UNIT_OVERRIDE] = "override",
		[UNIT_MEASURED] = "measured",
		[UNIT_HWDB] = "hwdb",
		[UNIT_DRIVE] = "drive",
		[UNIT_KERNEL] = "kernel",
	};

	return names[source];
}

const char *unit_confidence_name(enum unit_confidence confidence)
{
	static const char *const names[] = {
		[UNIT_LOW] = "low",
		[UNIT_MEDIUM] = "medium",
		[UNIT_HIGH] = "high",
	};

	return names[confidence];
}

static void add_bytes(struct json_object *object, struct maybe bytes)
{
	int64_t size;

	json_add(object, "bytes", maybe_get(bytes, &size) ?
		 json_from_number((uint64_t)size) : NULL);
}

static struct json_object *json_claim(const struct unit_claim *claim)
{
	struct json_object *object = json_new();

	json_add_text(object, "source", unit_source_name(claim->source));
	json_add_text(object, "figure", claim->figure);
	json_add_text(object, "origin", claim->origin);
	add_bytes(object, claim->bytes);
	json_add_text(object, "confidence",
		      unit_confidence_name(claim->confidence));
	json_add_bool(object, "states", claim->states);
	json_add_text(object, "unread", claim->unread);
	return object;
}

static struct json_object *json_rotation(const struct unit_rotation *rotation)
{
	struct json_object *object;
	int64_t rpm;

	if (!maybe_get(rotation->rpm, &rpm))
		return NULL;
	object = json_new();
	json_add_number(object, "rpm", (uint64_t)rpm);
	json_add_text(object, "source", unit_source_name(rotation->source));
	json_add_text(object, "figure", rotation->figure);
	return object;
}

struct json_object *unit_json(const struct unit *unit)
{
	const struct unit_claim *taken = unit_taken(unit);
	struct json_object *object = json_new();
	struct json_object *claims = json_new_array();
	size_t i;

	add_bytes(object, unit_bytes(unit));
	json_add_text(object, "source",
		      taken ? unit_source_name(taken->source) : NULL);
	json_add_text(object, "confidence",
		      taken ? unit_confidence_name(taken->confidence) : NULL);
	json_add_bool(object, "contradicted", unit_contradicted(unit));
	json_add_text(object, "firmware", unit->firmware);
	json_add_text(object, "disk", unit->disk);
	json_add(object, "rotation", json_rotation(&unit->rotation));
	for (i = 0; i < unit->nr; i++)
		json_append(claims, json_claim(&unit->claim[i]));
	json_add(object, "claims", claims);
	return object;
}
