// SPDX-License-Identifier: GPL-2.0
/*
 * Keep the claims in order of precedence, take one, and say where they contradict
 * one another.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "unit/decode.h"
#include "unit/unit.h"

/* A speed is nominal to one part in so many. */
#define TOLERANCE	100

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
static void sort_claims(struct unit *unit)
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

	sort_claims(unit);
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
	while (unit->nr_rotations)
		free(unit->rotation[--unit->nr_rotations].unread);
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

const struct unit_rotation *unit_rotation(const struct unit *unit)
{
	size_t i;

	for (i = 0; i < unit->nr_rotations; i++)
		if (maybe_known(unit->rotation[i].rpm))
			return &unit->rotation[i];
	return NULL;
}

bool unit_rotation_contradicted(const struct unit *unit)
{
	const struct unit_rotation *first = unit_rotation(unit);
	size_t i;

	for (i = 0; first && i < unit->nr_rotations; i++) {
		int64_t rpm, least = maybe_or(first->least, 0);
		int64_t most = maybe_or(first->most, 0);

		if (maybe_get(unit->rotation[i].rpm, &rpm) &&
		    (rpm < least - least / TOLERANCE ||
		     rpm > most + most / TOLERANCE))
			return true;
	}
	return false;
}

char *unit_rotations_text(const struct unit *unit)
{
	char *text = NULL;
	size_t i;

	for (i = 0; i < unit->nr_rotations; i++) {
		const struct unit_rotation *rotation = &unit->rotation[i];
		CLEANUP_FREE char *speed = message_format("no rotation");
		char *longer;
		int64_t rpm;

		if (!maybe_get(rotation->rpm, &rpm))
			continue;
		if (rpm) {
			free(speed);
			speed = message_format("%" PRId64 " rpm", rpm);
		}
		longer = message_format("%s%s%s (%s) %s", text ? text : "",
					text ? ", " : "",
					unit_source_name(rotation->source),
					rotation->figure, speed);
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

static void add_rpm(struct json_object *object, const char *key,
		    struct maybe rpm)
{
	int64_t found;

	json_add(object, key, maybe_get(rpm, &found) ?
		 json_from_number((uint64_t)found) : NULL);
}

/* @rotation: NULL: no source states one */
static struct json_object *json_rotation(const struct unit_rotation *rotation)
{
	struct json_object *object = json_new();

	add_rpm(object, "rpm", rotation ? rotation->rpm : MAYBE_UNKNOWN);
	json_add_text(object, "source", rotation ?
		      unit_source_name(rotation->source) : NULL);
	json_add_text(object, "figure", rotation ? rotation->figure : NULL);
	return object;
}

/* Return what all say of the rotation; NULL: there are no claims. */
static struct json_object *json_rotations(const struct unit *unit)
{
	struct json_object *object, *claims;
	size_t i;

	if (!unit->nr_rotations)
		return NULL;
	object = json_rotation(unit_rotation(unit));
	json_add_bool(object, "contradicted", unit_rotation_contradicted(unit));
	claims = json_new_array();
	for (i = 0; i < unit->nr_rotations; i++) {
		const struct unit_rotation *rotation = &unit->rotation[i];
		struct json_object *claim = json_rotation(rotation);

		add_rpm(claim, "rpm_least", rotation->least);
		add_rpm(claim, "rpm_most", rotation->most);
		json_add_text(claim, "unread", rotation->unread);
		json_append(claims, claim);
	}
	json_add(object, "claims", claims);
	return object;
}

/* Return the rated writes; NULL: no source states them. */
static struct json_object *json_rated(const struct unit_rated *rated)
{
	struct json_object *object;

	if (!maybe_known(rated->bytes))
		return NULL;
	object = json_new();
	add_bytes(object, rated->bytes);
	json_add_text(object, "source", unit_source_name(rated->source));
	json_add_text(object, "figure", rated->figure);
	return object;
}

static const struct schema_row rotation_claim_rows[] = {
	MEMBER("rpm", JSON_NUMBER | JSON_NULL, NULL,
	       "Revolutions per minute, 0: it does not rotate; null: the claim is not usable"),
	MEMBER("source", JSON_TEXT, NULL, "The source",
	       SCHEMA_WORDS("measured", "drive", "kernel")),
	MEMBER("figure", JSON_TEXT, NULL, "Name of the figure there"),
	MEMBER("rpm_least", JSON_NUMBER | JSON_NULL, NULL,
	       "Interval of a measurement; of another source, both are rpm"),
	MEMBER("rpm_most", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("unread", JSON_TEXT | JSON_NULL, NULL,
	       "Why the claim is not usable, in words; null: it is"),
	{ 0 },
};

static const struct schema_row rotation_rows[] = {
	MEMBER("rpm", JSON_NUMBER | JSON_NULL, NULL,
	       "Revolutions per minute by the first usable claim, 0: it does not rotate; null, as source and figure, if no claim is usable"),
	MEMBER("source", JSON_TEXT | JSON_NULL, NULL, "Source of that claim",
	       SCHEMA_WORDS("measured", "drive", "kernel")),
	MEMBER("figure", JSON_TEXT | JSON_NULL, NULL,
	       "Name of the figure there"),
	MEMBER("contradicted", JSON_BOOL, NULL,
	       "Whether another claim is more than 1 % beyond the interval of the first one"),
	MEMBER("claims", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each source that claims a speed, the most trusted first",
	       .rows = rotation_claim_rows),
	{ 0 },
};

static const struct schema_row rated_rows[] = {
	MEMBER("bytes", JSON_NUMBER, "bytes",
	       "Bytes that the SSD is rated to be written in its life"),
	MEMBER("source", JSON_TEXT, NULL, "The source",
	       SCHEMA_WORDS("override", "hwdb")),
	MEMBER("figure", JSON_TEXT, NULL, "Name of the figure there"),
	{ 0 },
};

static const struct schema_row claim_rows[] = {
	MEMBER("source", JSON_TEXT, NULL, "The source",
	       SCHEMA_WORDS("given", "override", "measured", "hwdb",
			    "drive", "kernel")),
	MEMBER("figure", JSON_TEXT, NULL, "Name of the figure there"),
	MEMBER("origin", JSON_TEXT | JSON_NULL, NULL,
	       "Where the kernel likely has the figure from, in words; null: the figure is the source's own"),
	MEMBER("bytes", JSON_NUMBER | JSON_NULL, "bytes",
	       "The figure; null if it could not be read, or is none"),
	MEMBER("confidence", JSON_TEXT, NULL,
	       "How far the figure can be relied on",
	       SCHEMA_WORDS("low", "medium", "high")),
	MEMBER("states", JSON_BOOL, NULL,
	       "Whether the figure is of the unit; false: a hint, which is not taken"),
	MEMBER("unread", JSON_TEXT | JSON_NULL, NULL,
	       "Why the figure could not be read or used, in words; null: it was"),
	{ 0 },
};

const struct schema_row unit_members[] = {
	MEMBER("bytes", JSON_NUMBER | JSON_NULL, "bytes",
	       "Length of the unit; null if nothing states it"),
	MEMBER("source", JSON_TEXT | JSON_NULL, NULL, "Source of that figure; null if nothing states it",
	       SCHEMA_WORDS("given", "override", "measured", "hwdb",
			    "drive", "kernel")),
	MEMBER("confidence", JSON_TEXT | JSON_NULL, NULL,
	       "How far that figure can be relied on; null likewise",
	       SCHEMA_WORDS("low", "medium", "high")),
	MEMBER("contradicted", JSON_BOOL, NULL,
	       "Whether a claim states another unit"),
	MEMBER("firmware", JSON_TEXT | JSON_NULL, NULL,
	       "Version of the firmware; null: not known"),
	MEMBER("disk", JSON_TEXT | JSON_NULL, NULL,
	       "Identity of the disk: the WWID, or \"serial-\" and the serial number; null: neither is known"),
	MEMBER("rotation", JSON_OBJECT | JSON_NULL, NULL,
	       "Whether and how fast the disk rotates; null if nothing claims it",
	       .rows = rotation_rows),
	MEMBER("rated_writes", JSON_OBJECT | JSON_NULL, NULL,
	       "How much the SSD is rated to be written; null if no record says",
	       .rows = rated_rows),
	MEMBER("claims", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each source that claims a unit or a hint, the most trusted first",
	       .rows = claim_rows),
	{ 0 },
};

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
	json_add(object, "rotation", json_rotations(unit));
	json_add(object, "rated_writes", json_rated(&unit->rated));
	for (i = 0; i < unit->nr; i++)
		json_append(claims, json_claim(&unit->claim[i]));
	json_add(object, "claims", claims);
	return object;
}
