// SPDX-License-Identifier: GPL-2.0
/*
 * Find the drive and the unit that a new layout has to follow, and print the rows
 * of remedy/layout.h for it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit/layout_report.h"
#include "audit/position.h"
#include "audit/subject.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/table.h"
#include "remedy/layout.h"

enum layout_column {
	LAYOUT_NAME, LAYOUT_WRITES, LAYOUT_GIVE, LAYOUT_COMMAND, LAYOUT_NEEDS,
	LAYOUT_LEFT,
};

static const struct table_column layout_columns[] = {
	[LAYOUT_NAME] = { .key = "layout", .heading = "LAYOUT" },
	[LAYOUT_WRITES] = { .key = "writes_bytes", .heading = "WRITES",
			    .flags = TABLE_RIGHT },
	[LAYOUT_GIVE] = { .key = "give", .heading = "GIVE" },
	[LAYOUT_COMMAND] = { .key = "command" },
	[LAYOUT_NEEDS] = { .key = "needs" },
	[LAYOUT_LEFT] = { .key = "left" },
};

static struct table_value layout_value(const void *row, size_t column)
{
	const struct layout_advice *advice = row;
	CLEANUP_FREE char *exact = message_format("%" PRId64, advice->writes);

	switch ((enum layout_column)column) {
	case LAYOUT_NAME:
		return table_text(advice->name);
	case LAYOUT_WRITES:
		return table_shown(table_number((uint64_t)advice->writes),
				   exact);
	case LAYOUT_GIVE:
		return table_text(advice->give);
	case LAYOUT_COMMAND:
		return table_bool(advice->command);
	case LAYOUT_NEEDS:
		return table_text(advice->needs);
	case LAYOUT_LEFT:
		return table_text(advice->left);
	}
	return table_absent();
}

static const struct table_type layout_table =
	TABLE_TYPE(layout_columns, layout_value);

/**
 * struct layout_subject - a device that a layout is made on
 * @layer: the device
 * @drive: the drive below it, of several the one with the largest unit
 * @place: the place; valid unless @silent
 * @silent: nothing states the unit
 */
struct layout_subject {
	const struct stack_layer *layer;
	const struct stack_layer *drive;
	struct layout_place place;
	bool silent;
};

/* Find the lowest device below one whose unit is the largest. */
static const struct stack_layer *find_drive(const struct stack *stack,
					    size_t index)
{
	const struct stack_layer *layer = &stack->layer[index], *found = NULL;
	size_t i;

	if (!layer->nr_below)
		return layer;
	for (i = 0; i < layer->nr_below; i++) {
		const struct stack_layer *below =
			find_drive(stack, layer->below[i]);

		if (!found || maybe_above(unit_bytes(&below->unit),
					  maybe_or(unit_bytes(&found->unit),
						   0)))
			found = below;
	}
	return found;
}

/* Check for the drive, or for the multipath device that has it in its place. */
static bool is_drive(const struct layout_subject *subject,
		     const struct stack_layer *layer)
{
	return layer == subject->drive || layer->kind == STACK_MULTIPATH;
}

/* Return the shift of a device on units of a size. */
static struct maybe find_shift(const struct layout_subject *subject,
			       const struct stack *stack,
			       const struct position *at, int64_t unit)
{
	const struct stack_layer *own = subject->layer;

	if (is_drive(subject, own))
		return position_by_offset(subject->drive, unit);
	if (own->kind == STACK_PARTITION &&
	    is_drive(subject, &stack->layer[own->below[0]]))
		return position_add(position_by_offset(subject->drive,
						       unit),
				    own->start, unit);
	return maybe_is(at->block, unit) ? at->shift : MAYBE_UNKNOWN;
}

static void find_subject(struct layout_subject *subject, const struct stack *stack,
			 const struct judgement *judgement, size_t index)
{
	const struct stack_layer *own = &stack->layer[index];
	struct layout_place *place = &subject->place;
	struct maybe shift;
	int64_t at;

	*subject = (struct layout_subject) {
		.layer = own,
		.drive = find_drive(stack, index),
	};
	subject->silent = !maybe_get(unit_bytes(&subject->drive->unit),
				     &place->unit);
	if (subject->silent)
		return;
	place->logical = maybe_or(stack_sysfs(own, STACK_LOGICAL), 0);
	/* nothing writes less than a logical block */
	if (!position_is_block(maybe_of(place->logical)))
		place->logical = place->unit;
	if (place->unit < place->logical)
		place->unit = place->logical;
	shift = find_shift(subject, stack, &judgement->position[index],
			   place->unit);
	if (maybe_get(shift, &at))
		place->offset = maybe_of(position_offset(at, place->unit));
	place->bytes = own->bytes;
	place->partition = own->kind == STACK_PARTITION;
}

/* Return the command that measures a drive, for free(); NULL: it is an image. */
static char *suggest_probe(const struct stack_layer *drive)
{
	return drive->kind == STACK_FILE ? NULL :
		remedy_of_words(REMEDY_PROBE, &(struct remedy_words) {
			.type = "block-size", .device = drive->path,
		});
}

/* Return why nothing can be told, for free(). */
static char *why_silent(const struct layout_subject *subject)
{
	CLEANUP_FREE char *command = suggest_probe(subject->drive);

	if (!command)
		return message_format("cannot tell: give the unit of the disk that the image is for with --physical");
	return message_format("cannot tell: run '%s'", command);
}

/* Print the unit, and who states it. */
static void print_unit(const struct layout_subject *subject)
{
	const struct unit *unit = &subject->drive->unit;
	const struct unit_claim *taken = unit_taken(unit);
	const struct layout_place *place = &subject->place;
	CLEANUP_FREE char *command = suggest_probe(subject->drive);
	CLEANUP_FREE char *claims = unit_claims_text(unit);
	int64_t offset;

	printf("unit %" PRId64 ": %s (%s), confidence %s\n",
	       maybe_or(taken->bytes, 0), unit_source_name(taken->source),
	       taken->figure, unit_confidence_name(taken->confidence));
	if (unit_contradicted(unit))
		printf("  sources disagree: %s\n", claims);
	if (taken->source == UNIT_KERNEL && command)
		printf("  only the kernel says so: '%s' measures it\n",
		       command);
	printf("  logical block %" PRId64 ", ", place->logical);
	if (maybe_get(place->offset, &offset))
		printf("the first unit begins at byte %" PRId64 "\n\n", offset);
	else
		printf("where units begin is not known\n\n");
}

/* Print what is to be known of a row besides its cells. */
static void print_rest(const char *name, const char *what, const char *text)
{
	if (text)
		printf("  %s %s: %s\n", name, what, text);
}

void layout_report_text(const struct stack *stack,
			const struct judgement *judgement, size_t index)
{
	const struct stack_layer *layer = &stack->layer[index];
	CLEANUP_FREE char *name = message_visible(layer->name);
	struct remedy_words words = words_of_layer(layer);
	struct layout_advice advice;
	struct layout_subject subject;
	struct table *table;
	size_t i;

	find_subject(&subject, stack, judgement, index);
	printf("%s: ", name);
	if (subject.silent) {
		CLEANUP_FREE char *why = why_silent(&subject);
		CLEANUP_FREE char *visible = message_visible(why);

		puts(visible);
		return;
	}
	print_unit(&subject);
	table = table_new(&layout_table);
	for (i = 0; i < layout_nr(); i++)
		if (layout_advise(i, &subject.place, &words, &advice)) {
			table_add(table, &advice);
			free(advice.give);
			free(advice.left);
		}
	table_print(table, 2);
	putchar('\n');
	for (i = 0; i < layout_nr(); i++)
		if (layout_advise(i, &subject.place, &words, &advice)) {
			print_rest(advice.name, "needs", advice.needs);
			print_rest(advice.name,
				   advice.give ? "leaves" : "has none",
				   advice.left);
			free(advice.give);
			free(advice.left);
		}
	printf("\n  Each command makes its layout anew: what %s carries is lost.\n",
	       name);
}

struct json_object *layout_report_json(const struct stack *stack,
				       const struct judgement *judgement,
				       size_t index)
{
	struct json_object *object = json_new(), *rows = json_new_array();
	struct remedy_words words;
	struct layout_advice advice;
	struct layout_subject subject;
	CLEANUP_FREE char *command = NULL;
	CLEANUP_FREE char *why = NULL;
	int64_t offset;
	size_t i;

	find_subject(&subject, stack, judgement, index);
	words = words_of_layer(subject.layer);
	command = suggest_probe(subject.drive);
	if (subject.silent)
		why = why_silent(&subject);
	json_add_text(object, "device", subject.layer->name);
	json_add_text(object, "path", subject.layer->path);
	json_add_text(object, "drive", subject.drive->name);
	json_add(object, "unit", unit_json(&subject.drive->unit));
	if (subject.silent)
		json_add_null(object, "logical_block_size");
	else
		json_add_number(object, "logical_block_size",
				(uint64_t)subject.place.logical);
	if (maybe_get(subject.place.offset, &offset))
		json_add_number(object, "first_unit_byte", (uint64_t)offset);
	else
		json_add_null(object, "first_unit_byte");
	json_add_text(object, "cannot_tell", why);
	json_add_text(object, "probe", command);
	for (i = 0; i < layout_nr() && !subject.silent; i++)
		if (layout_advise(i, &subject.place, &words, &advice)) {
			json_append(rows, table_json(&layout_table, &advice));
			free(advice.give);
			free(advice.left);
		}
	json_add(object, "layouts", rows);
	return object;
}
