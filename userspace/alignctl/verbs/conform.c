// SPDX-License-Identifier: GPL-2.0
/* alignctl conform: does a block device keep its word? */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/units.h"
#include "conform/cut_report.h"
#include "conform/report.h"
#include "conform/rounds.h"
#include "conform/saved.h"
#include "sysfs/device.h"
#include "verbs/area.h"
#include "verbs/conform_cut.h"
#include "verbs/overwrite.h"
#include "verbs/reports.h"
#include "verbs/verbs.h"
#include "geometry.h"

#define DEFAULT_SECONDS	60
#define DEFAULT_CELLS	8
#define DEFAULT_SEED	1
/* Of a device that may be written to all over. */
#define AREA_MOST	(UINT64_C(1) << 30)
/* The same before a power cut: requests meet there, and all is read afterwards. */
#define AREA_MOST_CUT	(UINT64_C(1) << 26)
/*
 * Where the physical block is the logical one, no write is for a part of it: so
 * many logical blocks together are tried, as if they were a physical one.
 */
#define PER_BLOCK	8U
#define BLOCK_MOST	(1U << 20)

/**
 * struct conform_options - what the user asked for
 * @force: device that is written to although it is in use or holds data
 * @area: area that is written to; of no bytes: any
 * @write: the argument that names it; NULL: none
 * @save: file to keep its content in, and restore from; NULL: it is lost
 * @block: physical block, bytes; 0: the device's
 * @rounds: number of rounds; 0: as long as @seconds
 * @seconds: time; 0: DEFAULT_SECONDS, unless there are @rounds
 * @depth: number of places at work; 0: DEFAULT_CELLS
 * @seed: number that all choices are made from
 * @seeded: the user has named it
 * @kind: the only kind; KIND_NR: all
 * @method: the only method; METHOD_NR: both
 * @prepare: file of what is sent before a power cut; NULL: none
 * @after: file of what was sent before a power cut, after it; NULL: none
 * @html: file to write a page to; NULL: none
 * @json: print JSON
 */
struct conform_options {
	const char *force;
	struct area area;
	const char *write;
	const char *save;
	uint32_t block;
	uint64_t rounds;
	uint64_t seconds;
	uint64_t depth;
	uint64_t seed;
	bool seeded;
	size_t kind;
	size_t method;
	const char *prepare;
	const char *after;
	const char *html;
	bool json;
};

enum row { ROW_WRITE, ROW_SAVE, ROW_FORCE, ROW_BLOCK, ROW_TIME, ROW_ROUNDS,
	   ROW_DEPTH, ROW_KIND, ROW_METHOD, ROW_SEED, ROW_PREPARE,
	   ROW_AFTER, ROW_HTML, ROW_JSON };

static const struct option_row rows[] = {
	[ROW_WRITE] = OPTION("write", ARG_TEXT("START+LENGTH"),
			     "write in this area only (default: DEV)"),
	[ROW_SAVE] = OPTION("save", ARG_FILE,
			    "save the area there, and restore it at the end"),
	[ROW_FORCE] = OPTION_FORCE(),
	[ROW_BLOCK] = OPTION("block", ARG_POWER(2 * ALIGN_SECTOR_SIZE, BLOCK_MOST),
			     "physical block, bytes (default: that of DEV)"),
	[ROW_TIME] = OPTION("time",
			    ARG_NUMBER_AS("SECONDS", 1, UINT32_MAX, .unit = "seconds"),
			    "seconds to test" OPTION_DEFAULT(DEFAULT_SECONDS)),
	[ROW_ROUNDS] = OPTION("rounds", ARG_NUMBER(1, OPTION_ANY),
			      "rounds to test (default: no limit)"),
	[ROW_DEPTH] = OPTION("depth", ARG_NUMBER(1, ROUNDS_MAX_CELLS),
			     "places tested at a time" OPTION_DEFAULT(DEFAULT_CELLS)),
	[ROW_KIND] = OPTION("kind", ARG_TEXT("KIND"),
			    "only these requests, as sub-block+read/in-block"),
	[ROW_METHOD] = OPTION("method", ARG_NAME("METHOD", round_methods),
			      "io_uring or sync, by threads (default: both in turn)"),
	[ROW_SEED] = OPTION("seed", ARG_NUMBER(0, OPTION_ANY),
			    "N selects all choices" OPTION_DEFAULT(DEFAULT_SEED)),
	[ROW_PREPARE] = OPTION("prepare", ARG_PATH("STATE"),
			       "write until the power is cut, and log that in STATE",
			       .excludes = "kind method",
			       .because = "as --prepare sends all kinds of requests by io_uring"),
	[ROW_AFTER] = OPTION("after", ARG_PATH("STATE"),
			     "judge what the power cut left, by that file",
			     .only_with = "save force json",
			     .because = "as STATE has the rest"),
	[ROW_HTML] = OPTION("html", ARG_FILE,
			    "write the report as a page with pictures, too",
			    .excludes = "prepare",
			    .because = "as the page shows rounds"),
	[ROW_JSON] = OPTION_JSON,
	OPTION_JSON_SCHEMA,
	{ 0 },
};

static int take_option(size_t row, const char *argument, void *context)
{
	struct conform_options *options = context;

	switch ((enum row)row) {
	case ROW_WRITE:
		options->write = argument;
		return area_take(&options->area, argument);
	case ROW_SAVE:
		options->save = argument;
		return 0;
	case ROW_FORCE:
		options->force = argument;
		return 0;
	case ROW_BLOCK:
		options->block = options_number(argument);
		return 0;
	case ROW_TIME:
		options->seconds = options_number(argument);
		return 0;
	case ROW_ROUNDS:
		options->rounds = options_number(argument);
		return 0;
	case ROW_DEPTH:
		options->depth = options_number(argument);
		return 0;
	case ROW_KIND:
		if (kind_find(argument, &options->kind))
			return 0;
		return options_refuse("kind", argument,
				      "must be two or three requests joined by '+', and /in-block or /across; --help lists the requests");
	case ROW_METHOD:
		options->method = options_index(&rows[row], argument);
		return 0;
	case ROW_SEED:
		options->seeded = true;
		options->seed = options_number(argument);
		return 0;
	case ROW_PREPARE:
		options->prepare = argument;
		return 0;
	case ROW_AFTER:
		options->after = argument;
		return 0;
	case ROW_HTML:
		options->html = argument;
		return 0;
	case ROW_JSON:
		options->json = true;
		return 0;
	}
	return -1;
}

static void list_parts(void)
{
	enum kind_part part;

	printf("\nRequests of a KIND, in this order:\n ");
	for (part = 0; part < PART_NR; part++)
		printf(" %s", kind_part_name(part));
	puts("\nPlaces: /in-block /across");
}

/* Return the alignment that direct I/O on the device asks of memory. */
static uint32_t memory_alignment(int fd, uint32_t logical)
{
	struct statx found;

	if (!statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &found) &&
	    found.stx_mask & STATX_DIOALIGN && found.stx_dio_mem_align)
		return found.stx_dio_mem_align < PAGE_BYTES ?
		       found.stx_dio_mem_align : PAGE_BYTES;
	return logical < PAGE_BYTES ? logical : PAGE_BYTES;
}

/*
 * Find the blocks and the area. Return: enum alignctl_exit, reported.
 */
static int find_area(const struct conform_options *options,
		     const struct device *device, struct rounds_options *rounds)
{
	uint64_t have = device->sectors << ALIGN_SECTOR_SHIFT, end, least, most;
	uint64_t start = options->area.start;
	uint32_t offset = 0, block = options->block;

	if (!block) {
		block = PER_BLOCK * device->logical;
		/* an NVMe drive may have told the kernel any multiple */
		if (device->physical >= 2 * device->logical &&
		    device->physical <= BLOCK_MOST &&
		    align_is_power_of_2(device->physical))
			block = device->physical;
	}
	if (block < 2 * device->logical) {
		message_error("--block %" PRIu32 ": must be at least two logical blocks of %s, %" PRIu32 " bytes",
			      block, device->path, 2 * device->logical);
		return ALIGNCTL_USAGE;
	}
	most = options->prepare ? AREA_MOST_CUT : AREA_MOST;
	end = options->area.bytes ? start + options->area.bytes :
	      have < most ? have : most;
	if (end > have) {
		message_error("--write %s: %s has %" PRIu64 " bytes; name an area in it",
			      options->write, device->path, have);
		return ALIGNCTL_USAGE;
	}
	/* where it is not known, blocks are counted from the start */
	device_offset_for(device, block, &offset);
	start += ((uint64_t)block + offset - start % block) % block;
	rounds->start = start;
	rounds->bytes = end > start ? (end - start) / block * block : 0;
	rounds->block = block;
	rounds->logical = device->logical;
	least = (uint64_t)rounds->cells * CELL_BLOCKS * block;
	if (rounds->bytes < least) {
		message_error("%s: the area is too small; it must have %" PRIu64 " bytes from the first block on, or a smaller --depth",
			      device->path, least);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}

/*
 * Write the page of a document; NULL: only check that it can be written. Return:
 * enum alignctl_exit, reported.
 */
static int put_page(const struct conform_options *options,
		    const struct device *device, struct json_object *document)
{
	struct json_object *members = json_new();

	json_add_bytes(members, "device", device->path);
	json_add_bytes(members, "html", options->html);
	return reports_run("conform", "conform", members, document ?
			   json_object_to_json_string(document) : NULL);
}

/* Say what was saved, and how to restore it if this program cannot. */
static void warn_saved(const struct conform_options *options,
		       const struct device *device,
		       const struct rounds_options *rounds)
{
	CLEANUP_FREE char *command = saved_way_back(device->path, rounds->start,
						    options->save);

	message_warning("%s: bytes %" PRIu64 " to %" PRIu64 " are saved in %s, and restored at the end; if this program is killed, restore them with: %s",
			device->path, rounds->start,
			rounds->start + rounds->bytes - 1, options->save,
			command);
}

static int examine_device(const struct conform_options *options,
			  const struct device *device, struct rounds_options *rounds)
{
	struct conform_report report = {
		.options = rounds, .physical = device->physical,
	};
	struct rounds_result result;
	uint64_t began_ns, i, faulty = 0;
	int status = ALIGNCTL_FINE, restored = ALIGNCTL_FINE;
	int page = ALIGNCTL_FINE;
	CLEANUP_CLOSE int saved = -1;
	struct json_object *document;

	if (options->html)
		status = put_page(options, device, NULL);
	if (status)
		return status;
	interrupt_catch();
	if (options->save)
		status = saved_make(rounds->fd, device->path, rounds->start,
				    rounds->bytes, options->save, &saved);
	if (status)
		return status;
	if (options->save) {
		warn_saved(options, device, rounds);
		/* a message to a closed pipe must not end it before it restores */
		signal(SIGPIPE, SIG_IGN);
		if (saved_in_memory(options->save))
			message_warning("--save %s: is in this machine's memory, and lost if that crashes; name a file on a disk",
					options->save);
	}
	began_ns = clock_ns();
	if (!rounds->rounds || options->seconds)
		rounds->until_ns = began_ns + NS_PER_S *
			(options->seconds ? options->seconds :
					    DEFAULT_SECONDS);
	status = rounds_run(rounds, &result);
	report.result = &result;
	report.seconds = ns_to_s((double)(clock_ns() - began_ns));
	if (options->save)
		restored = saved_restore(rounds->fd, device->path,
					 rounds->start, rounds->bytes,
					 options->save, saved);
	signal(SIGPIPE, SIG_DFL);
	report.restored = options->save && !restored;
	for (i = 0; i < KIND_NR; i++)
		faulty += result.faulty[i];
	document = conform_report_json(&report);
	if (options->html)
		page = put_page(options, device, document);
	if (options->json)
		json_print(document, false);
	else
		conform_report_text(&report);
	if (!options->json)
		json_object_put(document);
	rounds_free(&result);
	if (!status && faulty)
		status = ALIGNCTL_FINDINGS;
	if (restored > status)
		status = restored;
	return page > status ? page : status;
}

/* Write to the area: rounds, or requests before a power cut. */
static int write_area(const struct conform_options *options,
		      const struct conform_cut *cut,
		      const struct device *device)
{
	struct rounds_options rounds = {
		.path = device->path, .seed = options->seed,
		.rounds = options->rounds, .kind = options->kind,
		.method = (enum round_method)options->method,
		.cells = options->depth ? (unsigned int)options->depth :
					  DEFAULT_CELLS,
	};
	struct overwrite overwrite = {
		.device = device, .verb = "conform", .named_by = "DEV is",
		.force = options->force, .ask = true, .keeps = options->save,
	};
	int result = find_area(options, device, &rounds);

	if (!result && options->prepare)
		result = conform_cut_place(cut, device);
	overwrite.end = rounds.start + rounds.bytes;
	if (!result)
		result = overwrite_guard(&overwrite);
	if (!result)
		result = overwrite_open(device, O_RDWR | O_DIRECT,
					!overwrite.force, "", &rounds.fd);
	if (result)
		return result;
	rounds.memory = memory_alignment(rounds.fd, device->logical);
	result = options->prepare ? conform_cut_prepare(cut, device, &rounds) :
				    examine_device(options, device, &rounds);
	close(rounds.fd);
	return result;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct conform_options options = { .seed = DEFAULT_SEED, .kind = KIND_NR,
					   .method = METHOD_NR };
	struct conform_cut cut;
	struct device device;
	int first, result;

	result = options_parse(verb, argc, argv, take_option, &options, &first);
	if (result != OPTIONS_CONTINUE)
		return result;
	result = device_open(&device, argv[first]);
	if (result)
		return result;
	cut = (struct conform_cut) {
		.prepare = options.prepare, .after = options.after,
		.save = options.save, .force = options.force,
		.seconds = options.seconds, .json = options.json,
	};
	result = options.after ? conform_cut_after(&cut, &device) :
				 write_area(&options, &cut, &device);
	device_close(&device);
	/* a signal is the usual end of --prepare */
	if (!options.prepare)
		interrupt_obey();
	return result;
}

static const char *const forms[] = {
	"DEV [options]",
	"DEV --prepare STATE [options]",
	"DEV --after STATE [--save FILE] [--force DEV] [--json]",
	NULL,
};

const struct verb verb_conform = {
	"conform", "DEV", 1, 1,
	"Test whether a device returns what was written; writes to it",
	rows, list_parts, run, forms,
	SCHEMA_DOCUMENTS(&conform_report_schema, &cut_prepared_schema,
			 &cut_report_schema),
};
