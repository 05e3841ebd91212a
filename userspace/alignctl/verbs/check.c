// SPDX-License-Identifier: GPL-2.0
/*
 * alignctl check: audit stacks of devices from the disk up. Devices are opened
 * for reading only, where that is allowed, and no module is needed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/collect.h"
#include "audit/judge.h"
#include "audit/judge_cause.h"
#include "audit/layout_report.h"
#include "audit/metrics.h"
#include "audit/remedy_report.h"
#include "audit/report.h"
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/metrics.h"
#include "boot/aligntab.h"
#include "boot/find.h"
#include "forecast/forecast.h"
#include "sysfs/sysfs.h"
#include "trace/trace.h"
#include "verbs/choice_options.h"
#include "verbs/plan_options.h"
#include "verbs/report_schemas.h"
#include "verbs/verbs.h"
#include "workload/source.h"
#include "geometry.h"

#define LAYOUT_FORMAT	1	/* of the document of --layout */

struct check_options {
	struct collect_options collect;
	const char *recording;
	struct trace_choice choice;
	bool remedies;
	bool layout;
	bool json;
	bool metrics;
	bool serial;
	const char *output;
};

enum row { ROW_PHYSICAL = CHOICE_NR_ROWS, ROW_OFFSET, ROW_LOGICAL, ROW_RECORDING,
	   ROW_REMEDIES, ROW_LAYOUT, ROW_JSON, ROW_FORMAT, ROW_OUTPUT, ROW_SERIAL };

static const struct option_row rows[] = {
	CHOICE_OPTION_ROWS_OF(.needs = "recording"),
	[ROW_PHYSICAL] = OPTION("physical", ARG_POWER(ALIGN_SECTOR_SIZE, AUDIT_BLOCK_MAX),
				"assume physical blocks of N bytes"),
	[ROW_OFFSET] = OPTION("offset", ARG_NUMBER(0, UINT32_MAX, .multiple = ALIGN_SECTOR_SIZE),
			      "assume that the first physical block is at byte N"),
	[ROW_LOGICAL] = OPTION("logical", ARG_LOGICAL,
			       "logical block of images (default: 512)"),
	[ROW_RECORDING] = OPTION("recording", ARG_FILE,
				 "find the cause of touches in a trace of DEV",
				 .operands = "DEV"),
	[ROW_REMEDIES] = OPTION("remedies", ARG_NONE,
				"list the remedies, and what each destroys",
				.excludes = "recording", .operands = ""),
	[ROW_LAYOUT] = OPTION("layout", ARG_NONE,
			      "print commands for new layouts, by the drive's unit",
			      .excludes = "format remedies recording",
			      .because = "as --layout makes no audit"),
	[ROW_JSON] = OPTION_JSON,
	[ROW_FORMAT] = OPTION("format", METRICS_FORMAT,
			      "print metrics in the format of prometheus",
			      .excludes = "json remedies"),
	[ROW_OUTPUT] = METRICS_ROW_OUTPUT,
	[ROW_SERIAL] = OPTION("serial", ARG_NONE,
			      "add serial numbers of disks to the metrics",
			      .needs = "format"),
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct check_options *options = context;
	struct collect_options *collect = &options->collect;

	if (row < CHOICE_NR_ROWS) {
		choice_options_take(&options->choice, row, argument);
		return 0;
	}
	switch ((enum row)row) {
	case ROW_PHYSICAL:
		collect->physical = options_number(argument);
		return 0;
	case ROW_OFFSET:
		collect->offset = maybe_of((int64_t)options_number(argument));
		return 0;
	case ROW_LOGICAL:
		collect->logical = options_number(argument);
		return 0;
	case ROW_RECORDING:
		options->recording = argument;
		return 0;
	case ROW_REMEDIES:
		options->remedies = true;
		return 0;
	case ROW_LAYOUT:
		options->layout = true;
		return 0;
	case ROW_JSON:
		options->json = true;
		return 0;
	case ROW_FORMAT:
		options->metrics = true;
		return 0;
	case ROW_OUTPUT:
		options->output = argument;
		return 0;
	case ROW_SERIAL:
		options->serial = true;
	}
	return 0;
}

/* Find what an operand is: a block device, whose number is set, or an image. */
static int find_operand(const char *path, dev_t *devno, bool *image)
{
	struct stat found;

	*image = false;
	if (sysfs_named(path, devno))
		return ALIGNCTL_FINE;
	if (stat(path, &found)) {
		message_error("%s: %s", path, strerror(errno));
		return errno == EACCES ? ALIGNCTL_IO : ALIGNCTL_USAGE;
	}
	*devno = found.st_rdev;
	*image = S_ISREG(found.st_mode);
	if (*image || S_ISBLK(found.st_mode))
		return ALIGNCTL_FINE;
	message_error("%s: neither a block device nor a disk image", path);
	return ALIGNCTL_USAGE;
}

/* Return the index of the device or image that an operand is; @stack->nr: it was not found. */
static size_t find_layer(const struct stack *stack, const char *operand)
{
	dev_t devno = 0;
	bool image;
	size_t i;

	find_operand(operand, &devno, &image);
	for (i = 0; i < stack->nr; i++) {
		const struct stack_layer *layer = &stack->layer[i];

		if (image ? layer->kind == STACK_FILE &&
			    !strcmp(layer->path, operand) :
			    layer->devno == devno)
			break;
	}
	return i;
}

/*
 * Check that each device asked about was found: one without a medium has nothing
 * to judge, which must not look like "no findings". Return: enum alignctl_exit;
 * errors have been reported.
 */
static int check_found(const struct stack *stack, char **operands, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (find_layer(stack, operands[i]) < stack->nr)
			continue;
		message_error("%s: has no size; is it connected, and a medium in the drive?",
			      operands[i]);
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

/* Collect what the operands are about, or without any the whole machine. */
static int collect_operands(struct stack *stack, char **operands, size_t nr,
			    const struct collect_options *options)
{
	CLEANUP_FREE dev_t *wanted = memory_or_exit(calloc(nr + 1,
							   sizeof(*wanted)));
	CLEANUP_FREE const char **images = memory_or_exit(
		calloc(nr + 1, sizeof(*images)));
	size_t i, nr_wanted = 0, nr_images = 0;
	int result = ALIGNCTL_FINE;
	bool image;

	for (i = 0; i < nr && !result; i++) {
		result = find_operand(operands[i], &wanted[nr_wanted], &image);
		if (image)
			images[nr_images++] = operands[i];
		else
			nr_wanted++;
	}
	if (!result && (nr_wanted || !nr))
		result = collect_devices(stack, wanted, nr_wanted, options);
	for (i = 0; i < nr_images && !result; i++)
		result = collect_image(stack, images[i], options);
	return result ? result : check_found(stack, operands, nr);
}

/* Note what the devices of aligntab said when their lines were written. */
static void note_claims(struct stack *stack)
{
	struct find_result found;
	struct aligntab tab;
	size_t i, k;

	/* wrong lines are named at boot; a file that cannot be read, here */
	aligntab_read(&tab, true);
	for (i = 0; i < tab.nr; i++) {
		const struct aligntab_line *line = &tab.line[i];

		if (!maybe_known(line->claim.physical))
			continue;
		find_now(line, &found);
		for (k = 0; k < stack->nr; k++) {
			struct stack_layer *layer = &stack->layer[k];

			if (!find_has(&found, layer->devno))
				continue;
			layer->tab_line = line->number;
			layer->claimed_physical = line->claim.physical;
			layer->claimed_offset = line->claim.offset;
		}
		find_free(&found);
	}
	aligntab_free(&tab);
}

/*
 * Write the metrics. A finding has one, and is none here: an alert is
 * Prometheus's to send. Return: enum alignctl_exit, reported.
 */
static int write_metrics(const struct stack *stack,
			 const struct judgement *judgement,
			 const struct check_options *options)
{
	CLEANUP_FREE char *text = NULL;
	size_t length;
	FILE *out = memory_or_exit(open_memstream(&text, &length));

	audit_metrics_write(out, stack, judgement, options->serial);
	memory_or_exit(fclose(out) ? NULL : text);
	return metrics_put(options->output, text, length);
}

/* Print the judgement. Return: enum alignctl_exit. */
static int report_findings(const struct stack *stack, const struct judgement *judgement,
			   const struct check_options *options)
{
	if (options->metrics)
		return write_metrics(stack, judgement, options);
	if (options->json)
		audit_report_json(stack, judgement);
	else
		audit_report_text(stack, judgement);
	return judgement_faults(judgement) ? ALIGNCTL_FINDINGS : ALIGNCTL_FINE;
}

/* Report what to give for a new layout on a device. */
static void report_layout(const struct stack *stack,
			  const struct judgement *judgement, size_t index,
			  struct json_object *array, size_t *nr)
{
	if (array) {
		json_append(array, layout_report_json(stack, judgement, index));
		return;
	}
	if ((*nr)++)
		putchar('\n');
	layout_report_text(stack, judgement, index);
}

/*
 * Check for a disk that a layout can be made on: a path of a multipath device is
 * not, as that device is in its place.
 */
static bool is_whole_disk(const struct stack *stack,
			  const struct stack_layer *layer)
{
	if (layer->aside || layer->kind == STACK_MULTIPATH)
		return !layer->aside;
	return layer->kind == STACK_DISK && !layer->nr_below &&
	       !stack_multipath(stack, layer);
}

/*
 * Report what to give for new layouts on the operands, or without any on all
 * disks. Return: enum alignctl_exit.
 */
static int report_layouts(const struct stack *stack,
			  const struct judgement *judgement, char **operands,
			  size_t nr, bool json)
{
	struct json_object *array = json ? json_new_array() : NULL;
	struct json_object *document;
	size_t i, printed = 0;

	for (i = 0; i < nr; i++) {
		size_t index = find_layer(stack, operands[i]);

		if (index < stack->nr)
			report_layout(stack, judgement, index, array, &printed);
	}
	for (i = 0; !nr && i < stack->nr; i++)
		if (is_whole_disk(stack, &stack->layer[i]))
			report_layout(stack, judgement, i, array, &printed);
	if (json) {
		document = json_new_document(LAYOUT_FORMAT);
		json_add(document, "devices", array);
		json_print(document, false);
	}
	return ALIGNCTL_FINE;
}

/* Take a request of a recording into account in the search for the cause. */
static void note_request(const struct trace_request *request, void *context)
{
	cause_add(context, request);
}

/*
 * Search for the cause of touches, and forecast what helps against them, in one
 * pass. Return: enum alignctl_exit, reported; without a forecast the advice says
 * why there is none.
 */
static int search_recording(struct cause_search *search,
			    struct finding_advice *advice,
			    struct source *source,
			    const struct stack_layer *layer,
			    const struct cause_place *place)
{
	CLEANUP_FREE struct forecast *forecast =
		memory_or_exit(malloc(sizeof(*forecast)));
	uint64_t sectors = (uint64_t)maybe_or(layer->bytes, 0) >>
			   ALIGN_SECTOR_SHIFT;
	uint32_t logical = (uint32_t)maybe_or(
		layer->view[STACK_SYSFS].figure[STACK_LOGICAL], DISK_LOGICAL);
	struct trace_request request;
	struct align_geometry g;
	enum trace_next next;
	uint32_t offset = (place->block - place->shift) % place->block;
	const char *wrong;
	int result;

	source_set_blocks(source, place->block, offset);
	wrong = align_geometry_init(&g, place->block, logical, offset, 0,
				    sectors);
	if (!wrong)
		wrong = forecast_refuse_blocks(&g);
	if (wrong) {
		while ((next = source_next(source, &request)) == TRACE_GOT) {
			if (request.file)
				return source_refuse_disks(source);
			cause_add(search, &request);
		}
		advice->text = message_format("not known: %s", wrong);
		return trace_next_status(next);
	}
	result = forecast_modes(forecast, source, &g, note_request, search);
	if (result)
		return result;
	*advice = (struct finding_advice) {
		.text = forecast_advice_text(forecast),
		.remedy = forecast_remedy_name(forecast_advise(forecast).remedy),
		.left = forecast_advise(forecast).left,
	};
	advice->gain_percent = forecast_gain_percent(forecast, advice->left);
	return ALIGNCTL_FINE;
}

/* Name the cause by a recording of the only operand, and what helps. */
static int judge_recording(const struct stack *stack,
			   struct judgement *judgement, const char *operand,
			   const struct check_options *options)
{
	size_t layer = find_layer(stack, operand);
	struct finding_advice advice = { 0 };
	struct source source;
	struct cause_place place;
	struct cause_search *search;
	struct cause cause;
	int result;

	if (layer == stack->nr ||
	    !judgement_place(stack, judgement, layer, &place)) {
		message_error("%s: the first boundary of its blocks is not known; give --physical and --offset",
			      operand);
		return ALIGNCTL_USAGE;
	}
	result = source_open_trace(&source, options->recording,
				   &options->choice);
	if (result)
		return result;
	search = cause_new(&place);
	result = search_recording(search, &advice, &source,
				  &stack->layer[layer], &place);
	cause_end(search, &cause);
	source_close(&source);
	if (!result)
		judge_cause(stack, judgement, layer, &cause, &advice);
	return result;
}

static void list_remedies(const struct check_options *options)
{
	if (options->json)
		remedy_report_json();
	else
		remedy_report_text();
}

static void list_metrics(void)
{
	puts("\nMetrics of --format prometheus:");
	audit_metrics_list();
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct check_options options = { .choice = TRACE_ANY };
	struct judgement judgement;
	struct stack stack = { 0 };
	int first, result;

	result = options_parse(verb, argc, argv, take_option, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	if (options.remedies) {
		list_remedies(&options);
		return ALIGNCTL_FINE;
	}
	result = collect_operands(&stack, argv + first, (size_t)(argc - first),
				  &options.collect);
	if (!result) {
		note_claims(&stack);
		judge_stack(&stack, &judgement);
		if (options.recording)
			result = judge_recording(&stack, &judgement,
						 argv[first], &options);
		if (options.layout)
			result = report_layouts(&stack, &judgement,
						argv + first,
						(size_t)(argc - first),
						options.json);
		else if (!result)
			result = report_findings(&stack, &judgement, &options);
		judgement_free(&judgement);
	}
	stack_free(&stack);
	return result;
}

static const char *const forms[] = {
	"[DEV...] [options]",
	"[DEV...] --layout [--json]",
	"[DEV...] --format prometheus [--output FILE] [--serial]",
	"--remedies [--json]",
	NULL,
};

const struct verb verb_check = {
	"check", "[DEV...]", 0, 64,
	"Audit devices from the disk up: what is misaligned, and how to fix it",
	rows, list_metrics, run, forms,
	SCHEMA_DOCUMENTS(&audit_report_schema, &remedy_report_schema,
			 &layout_report_schema),
};
