// SPDX-License-Identifier: GPL-2.0
/*
 * Collect samples from stack and judgement, family by family, and print them
 * sorted by label.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "audit/metrics.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/metrics.h"

#define PREFIX		"alignctl_check_"
/* The label device of what lies on more than one disk. */
#define SEVERAL		"several"
#define LABELS_MAX	10
/* The series of a disk, of which figures that were not read have what is left. */
#define DISK_SERIES_MAX	6

enum metric_id {
	METRIC_BUILD, METRIC_TIME, METRIC_DISK, METRIC_PHYSICAL,
	METRIC_REVOLUTION, METRIC_RATED, METRIC_SHIFT, METRIC_FINDINGS, METRIC_UNREAD,
	METRIC_NR,
};

/**
 * struct metric - a gauge
 * @name: name without PREFIX and unit
 * @unit: unit, the end of the name; NULL: none
 * @help: what its value is
 * @sum: samples with the same labels are added; else they are one
 */
struct metric {
	const char *name;
	const char *unit;
	const char *help;
	bool sum;
};

/* alignctl-check(8) has the same texts. */
static const struct metric metrics[METRIC_NR] = {
	[METRIC_BUILD] = { "build_info", NULL,
		"1, with the version of alignctl", false },
	[METRIC_TIME] = { "timestamp", "seconds",
		"time of this check, in seconds since 1970", false },
	[METRIC_DISK] = { "disk_info", NULL,
		"1, with the identity of a disk and the source of its block", false },
	[METRIC_PHYSICAL] = { "physical_block", "bytes",
		"physical block by which a disk and all on it is judged", false },
	[METRIC_REVOLUTION] = { "revolution", "seconds",
		"time in which a disk rotates once; 0: it does not rotate", false },
	[METRIC_RATED] = { "rated_writes", "bytes",
		"bytes that an SSD is rated to be written in its life", false },
	[METRIC_SHIFT] = { "shift", "bytes",
		"bytes from a boundary to the start of the worst layer", false },
	[METRIC_FINDINGS] = { "findings", NULL,
		"findings of a kind about a layer", true },
	[METRIC_UNREAD] = { "unread", NULL,
		"1 for what could not be read, with the reason", false },
};

/* Return the name behind PREFIX, for free(). */
static char *name_of(const struct metric *metric)
{
	return message_format("%s%s%s", metric->name, metric->unit ? "_" : "",
			      metric->unit ? metric->unit : "");
}

/* A label of a sample; NULL is an empty value. */
struct label {
	const char *name;
	const char *value;
};

/* A sample; @labels is their text. */
struct sample {
	char *labels;
	double value;
};

/* All samples of a metric. */
struct family {
	struct sample *sample;
	size_t nr;
};

/**
 * struct audit - what the metrics are made from
 * @stack: the devices
 * @judgement: its judgement
 * @family: the samples so far, by metric
 */
struct audit {
	const struct stack *stack;
	const struct judgement *judgement;
	struct family family[METRIC_NR];
};

/* Add a sample; a label without a name ends the array. */
static void add_sample(struct audit *audit, enum metric_id id, double value,
		       const struct label labels[LABELS_MAX])
{
	struct family *family = &audit->family[id];
	char *text = NULL;
	size_t length, i;
	FILE *out = memory_or_exit(open_memstream(&text, &length));

	for (i = 0; i < LABELS_MAX && labels[i].name; i++)
		metrics_label(out, !i, labels[i].name,
			      labels[i].value ? labels[i].value : "");
	memory_or_exit(fclose(out) ? NULL : text);
	*ARRAY_APPEND(family->sample, family->nr) =
		(struct sample) { text, value };
}

static int by_labels(const void *one, const void *other)
{
	return strcmp(((const struct sample *)one)->labels,
		      ((const struct sample *)other)->labels);
}

/* Write a family in the order of its labels, and free its samples. */
static void write_family(FILE *out, const struct metric *metric,
			 struct family *family)
{
	CLEANUP_FREE char *name = name_of(metric);
	size_t i, k;

	/* a family without samples is no harm, but a reader expects some */
	if (family->nr) {
		metrics_family(out, PREFIX, name, "gauge", metric->help, "");
		qsort(family->sample, family->nr, sizeof(*family->sample),
		      by_labels);
	}
	for (i = 0; i < family->nr; i = k) {
		struct sample *sample = &family->sample[i];
		bool labelled = *sample->labels;

		for (k = i + 1; k < family->nr &&
		     !by_labels(sample, &family->sample[k]); k++)
			if (metric->sum)
				sample->value += family->sample[k].value;
		/* whole numbers below 10^15 as such */
		fprintf(out, PREFIX "%s%s%s%s %.15g\n", name,
			labelled ? "{" : "", sample->labels,
			labelled ? "}" : "", sample->value);
	}
	for (i = 0; i < family->nr; i++)
		free(family->sample[i].labels);
	free(family->sample);
}

/* Disks */

/*
 * Return the name of a disk that is the same in each slot and has no serial
 * number in it, as those of other kinds may have, or NULL.
 */
static const char *wwn_of(const struct unit *unit)
{
	static const char *const kinds[] = { "naa.", "eui.", "uuid." };
	size_t i;

	for (i = 0; unit->disk && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(unit->disk, kinds[i], strlen(kinds[i])))
			return unit->disk;
	return NULL;
}

/* Return the first claim, by precedence, of the block that is judged by. */
static const struct unit_claim *claim_of(const struct unit *unit,
					 struct maybe block)
{
	size_t i;

	for (i = 0; i < unit->nr; i++)
		if (unit->claim[i].states &&
		    maybe_same(unit->claim[i].bytes, block))
			return &unit->claim[i];
	return NULL;
}

/* Return a figure as the value of a label, for free(); NULL: unknown. */
static char *figure_text(struct maybe figure)
{
	int64_t value;

	return maybe_get(figure, &value) ? message_format("%" PRId64, value) :
					   NULL;
}

/* Add the time of a revolution, if a source states it. */
static void add_revolution(struct audit *audit, const struct stack_layer *disk)
{
	const struct unit_rotation *rotation = unit_rotation(&disk->unit);
	const struct label labels[LABELS_MAX] = {
		{ "device", disk->name },
		{ "source", rotation ? unit_source_name(rotation->source) :
				       NULL },
	};
	int64_t rpm = rotation ? maybe_or(rotation->rpm, 0) : 0;

	if (rotation)
		add_sample(audit, METRIC_REVOLUTION, rpm ? 60.0 / (double)rpm : 0,
			   labels);
}

/* Add the writes that an SSD is rated for. Return: whether a source states them. */
static bool add_rated(struct audit *audit, const struct stack_layer *disk)
{
	const struct unit_rated *rated = &disk->unit.rated;
	const struct label labels[LABELS_MAX] = {
		{ "device", disk->name },
		{ "source", unit_source_name(rated->source) },
	};
	int64_t bytes;

	if (!maybe_get(rated->bytes, &bytes))
		return false;
	add_sample(audit, METRIC_RATED, (double)bytes, labels);
	return true;
}

/* Add a figure of a disk that was not read, if @room is left, which shrinks. */
static void add_unread(struct audit *audit, const struct stack_layer *disk,
		       const char *figure, const char *why, size_t *room)
{
	const struct label labels[LABELS_MAX] = {
		{ "device", disk->name },
		{ "layer", disk->name },
		{ "name", disk->label },
		{ "what", figure },
		{ "reason", why },
	};

	if (!why || !*room)
		return;
	add_sample(audit, METRIC_UNREAD, 1, labels);
	--*room;
}

static void add_disk(struct audit *audit, const struct stack_layer *disk,
		     struct maybe block, bool serial)
{
	const struct unit *unit = &disk->unit;
	const struct unit_claim *claim = claim_of(unit, block);
	CLEANUP_FREE char *logical = figure_text(stack_sysfs(disk,
							     STACK_LOGICAL));
	CLEANUP_FREE char *physical = figure_text(block);
	/* what no claim states, an ioctl or libblkid passes on */
	const char *source = claim ? unit_source_name(claim->source) :
		physical && unit->nr ? unit_source_name(UNIT_KERNEL) : NULL;
	const struct label labels[LABELS_MAX] = {
		{ "device", disk->name },
		{ "kind", stack_kind_name(disk->kind) },
		{ "model", unit->model },
		{ "firmware", unit->firmware },
		{ "wwn", wwn_of(unit) },
		{ "logical_block_size", logical },
		{ "physical_block_size", physical },
		{ "source", source },
		{ "figure", claim ? claim->figure : NULL },
		{ serial ? "serial" : NULL, unit->serial },
	};
	const struct label name[LABELS_MAX] = { { "device", disk->name } };
	/* the information, the block, the revolution and the shift */
	size_t room = DISK_SERIES_MAX - 4, i;

	add_sample(audit, METRIC_DISK, 1, labels);
	if (physical)
		add_sample(audit, METRIC_PHYSICAL, (double)maybe_or(block, 0), name);
	add_revolution(audit, disk);
	room -= add_rated(audit, disk);
	for (i = 0; i < unit->nr; i++)
		add_unread(audit, disk, unit->claim[i].figure,
			   unit->claim[i].unread, &room);
	for (i = 0; i < unit->nr_rotations; i++)
		add_unread(audit, disk, unit->rotation[i].figure,
			   unit->rotation[i].unread, &room);
}

/* Shifts */

/**
 * struct worst - the layer of a disk that lies worst on its blocks
 * @layer: index of the layer
 * @shift: bytes from a boundary to its start
 * @unknown: the shift of a layer is not known
 */
struct worst {
	size_t layer;
	int64_t shift;
	bool unknown;
};

/* Let all disks below a layer, or the disk that it is, know of its shift. */
static void spread_shift(struct worst *worst, const struct stack *stack,
			 size_t from, size_t layer, struct maybe shift)
{
	const struct stack_layer *here = &stack->layer[from];
	size_t i;

	for (i = 0; i < here->nr_below; i++)
		spread_shift(worst, stack, here->below[i], layer, shift);
	if (here->nr_below)
		return;
	worst[from].unknown |= !maybe_known(shift);
	if (maybe_above(shift, worst[from].shift)) {
		worst[from].layer = layer;
		worst[from].shift = maybe_or(shift, 0);
	}
}

/*
 * Add the worst shift of each disk: of what is found to cost something, as a
 * partition that nothing writes to may begin anywhere. A disk has none if the
 * shift of a layer is not known and no other one is found shifted.
 */
static void add_shifts(struct audit *audit)
{
	const struct stack *stack = audit->stack;
	const struct judgement *judgement = audit->judgement;
	CLEANUP_FREE struct worst *worst = memory_or_exit(
		calloc(stack->nr + 1, sizeof(*worst)));
	size_t i;

	for (i = 0; i < stack->nr; i++) {
		worst[i].layer = i;
		if (!stack->layer[i].aside &&
		    !maybe_known(judgement->position[i].shift))
			spread_shift(worst, stack, i, i, MAYBE_UNKNOWN);
	}
	for (i = 0; i < judgement->nr; i++) {
		const struct finding *finding = &judgement->finding[i];

		spread_shift(worst, stack, finding->layer, finding->layer,
			     finding->note || !finding->rule->start ? maybe_of(0) :
			     judgement_shift(judgement, finding));
	}
	for (i = 0; i < stack->nr; i++) {
		const struct stack_layer *disk = &stack->layer[i];
		const struct stack_layer *layer = &stack->layer[worst[i].layer];
		const struct label labels[LABELS_MAX] = {
			{ "device", disk->name },
			{ "layer", layer->name },
			{ "name", layer->label },
		};

		if (!disk->nr_below && !disk->aside &&
		    (worst[i].shift || !worst[i].unknown))
			add_sample(audit, METRIC_SHIFT, (double)worst[i].shift,
				   labels);
	}
}

/* Findings */

/* Return the word for why headers were not read. */
static const char *unread_word(enum stack_unread why)
{
	static const char *const words[UNREAD_NR] = {
		[UNREAD_NOT] = "",
		[UNREAD_ORDINARY] = "not-root",
		[UNREAD_FORBIDDEN] = "forbidden",
		[UNREAD_GONE] = "gone",
		[UNREAD_REPLACED] = "replaced",
		[UNREAD_SUSPENDED] = "suspended",
		[UNREAD_SEVERAL] = "several-signatures",
		[UNREAD_DAMAGED] = "damaged",
		[UNREAD_CUT] = "cut",
		[UNREAD_FAILED] = "failed",
	};

	return words[why];
}

/*
 * Find the name of the only disk that each device lies on, and SEVERAL for
 * others; @disk has as many elements as the stack.
 */
static void find_disks(const struct stack *stack, const char **disk)
{
	size_t i, k;

	for (i = 0; i < stack->nr; i++) {
		const struct stack_layer *layer = &stack->layer[i];

		disk[i] = layer->nr_below ? disk[layer->below[0]] :
					    layer->name;
		for (k = 1; k < layer->nr_below; k++)
			if (disk[layer->below[k]] != disk[i])
				disk[i] = SEVERAL;
	}
}

static void add_findings(struct audit *audit)
{
	const struct stack *stack = audit->stack;
	CLEANUP_FREE const char **disk = memory_or_exit(
		calloc(stack->nr + 1, sizeof(*disk)));
	size_t i;

	find_disks(stack, disk);
	for (i = 0; i < audit->judgement->nr; i++) {
		const struct finding *finding = &audit->judgement->finding[i];
		const struct stack_layer *layer =
			&stack->layer[finding->layer];
		const struct label labels[LABELS_MAX] = {
			{ "device", disk[finding->layer] },
			{ "layer", layer->name },
			{ "name", layer->label },
			{ "finding", finding->rule->name },
			{ "note", finding->note ? "true" : "false" },
		};
		const struct label unread[LABELS_MAX] = {
			{ "device", disk[finding->layer] },
			{ "layer", layer->name },
			{ "name", layer->label },
			{ "what", "headers" },
			{ "reason", unread_word(layer->content.why) },
		};

		add_sample(audit, METRIC_FINDINGS, 1, labels);
		if (finding->rule == &rule_unread)
			add_sample(audit, METRIC_UNREAD, 1, unread);
	}
}

void audit_metrics_write(FILE *out, const struct stack *stack,
			 const struct judgement *judgement, bool serial)
{
	const struct label version[LABELS_MAX] = {
		{ "version", ALIGNCTL_VERSION },
	};
	const struct label none[LABELS_MAX] = { { 0 } };
	struct audit audit = { stack, judgement, { { 0 } } };
	size_t i;

	add_sample(&audit, METRIC_BUILD, 1, version);
	add_sample(&audit, METRIC_TIME, (double)time(NULL), none);
	for (i = 0; i < stack->nr; i++)
		if (!stack->layer[i].nr_below && !stack->layer[i].aside)
			add_disk(&audit, &stack->layer[i],
				 judgement->position[i].block, serial);
	add_shifts(&audit);
	add_findings(&audit);
	fputs(AUDIT_METRICS_MARK, out);
	for (i = 0; i < METRIC_NR; i++)
		write_family(out, &metrics[i], &audit.family[i]);
}

void audit_metrics_list(void)
{
	size_t i;

	for (i = 0; i < METRIC_NR; i++) {
		CLEANUP_FREE char *name = name_of(&metrics[i]);

		printf(" " PREFIX "%s\n     %s\n", name, metrics[i].help);
	}
}
