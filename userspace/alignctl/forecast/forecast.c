// SPDX-License-Identifier: GPL-2.0
/* Read a source in one pass or two, and count touches, changes and coverage by it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/mix.h"
#include "base/progress.h"
#include "forecast/changes.h"
#include "forecast/coverage.h"
#include "forecast/forecast.h"
#include "forecast/place.h"
#include "workload/page_cache.h"

/* Requests between looks at the clock; they take a few ms. */
#define SHOWN_EACH		(1U << 14)

/* Powers of two, by which most rows are in their slot. */
#define SIZE_SLOTS	(4 * FORECAST_MAX_SIZES)
#define PROCESS_SLOTS	(4 * FORECAST_MAX_PROCESSES)

/* Models of the modes, without the times of the requests and with them. */
enum model { MODEL_UNTIMED, MODEL_TIMED, NR_MODELS };

/**
 * struct pass - a pass over the source
 * @forecast: the forecast being made
 * @source: source of the requests
 * @places: where they lie
 * @cache: page cache that the requests go through; NULL: direct I/O
 * @seen: takes each request of the first pass as well; NULL: nothing does. The
 *	caller has then no options for another size or for the page cache.
 * @context: for @seen
 * @number: number of the pass, from 1
 * @count: count the requests, in the first pass only
 * @what_if: other blocks and starts; NULL: not asked for
 * @asks: more of these than their touches is asked for, and the source can be read
 *	again
 * @coverage: coverage of writes and write-zeroes; NULL: not asked for, or complete
 * @model: models of the modes, the timed one if times are known
 * @nr_models: number of models, maybe 0
 * @changes: requests for the models of the pass; NULL: there are none
 * @moves: writes and write-zeroes, for the touches of other starts
 * @size_slot: hash table of the forecast's rows by length; one more than the index
 *	of a row, or 0
 * @process_slot: hash table of the forecast's rows by process, likewise
 */
struct pass {
	struct forecast *forecast;
	struct source *source;
	struct places places;
	struct page_cache *cache;
	void (*seen)(const struct trace_request *request, void *context);
	void *context;
	unsigned int number;
	bool count;
	struct what_if *what_if;
	bool asks;
	struct coverage *coverage;
	struct fixing *model[NR_MODELS];
	unsigned int nr_models;
	struct changes *changes;
	struct moves *moves;
	uint16_t size_slot[SIZE_SLOTS];
	uint16_t process_slot[PROCESS_SLOTS];
};

static void add_write(struct forecast_row *row, const struct align_split *split)
{
	row->writes++;
	row->misaligned += split->nr_touches != 0;
	row->touches += split->nr_touches;
}

/* Return the row of writes of a length; add it if it is new and there is room. */
static struct forecast_row *row_of_size(struct pass *pass, uint64_t bytes)
{
	struct forecast *f = pass->forecast;
	uint64_t at = mix64(bytes) % SIZE_SLOTS;
	uint16_t row;

	for (; (row = pass->size_slot[at]); at = (at + 1) % SIZE_SLOTS)
		if (f->size[row - 1].bytes == bytes)
			return &f->size[row - 1].row;
	if (f->nr_sizes == FORECAST_MAX_SIZES)
		return &f->other_sizes;
	row = (uint16_t)f->nr_sizes++;
	pass->size_slot[at] = row + 1;
	f->size[row].bytes = bytes;
	return &f->size[row].row;
}

/* Return a hash of a name. */
static uint64_t hash_of(const char *comm)
{
	uint64_t hash = 0;

	for (; *comm; comm++)
		hash = mix64(hash + (unsigned char)*comm);
	return hash;
}

/* As row_of_size(), of the issuing process. */
static struct forecast_row *row_of_process(struct pass *pass, const char *comm)
{
	struct forecast *f = pass->forecast;
	uint64_t at = hash_of(comm) % PROCESS_SLOTS;
	uint16_t row;

	for (; (row = pass->process_slot[at]); at = (at + 1) % PROCESS_SLOTS)
		if (!strcmp(f->process[row - 1].comm, comm))
			return &f->process[row - 1].row;
	if (f->nr_processes == FORECAST_MAX_PROCESSES)
		return &f->other_processes;
	row = (uint16_t)f->nr_processes++;
	pass->process_slot[at] = row + 1;
	strcpy(f->process[row].comm, comm);
	return &f->process[row].row;
}

/* Count the touches of a write or write-zeroes, and note it for the shifts. */
static void count_touches(struct pass *pass, uint64_t first, uint64_t end,
			  struct align_split *split)
{
	struct forecast *f = pass->forecast;

	align_split_write(&f->geometry, first, end - first, split);
	moves_note(pass->moves, first, end);
	f->figures.touches += split->nr_touches;
}

static void count_write(struct pass *pass, const struct trace_request *request,
			uint64_t first, uint64_t end)
{
	struct forecast *f = pass->forecast;
	struct align_split split;

	count_touches(pass, first, end, &split);
	f->figures.requests++;
	f->figures.bytes += request->bytes;
	f->fua += request->fua;
	f->class[split.class]++;
	add_write(&f->phase[align_sector_in_block(&f->geometry, first)], &split);
	add_write(row_of_size(pass, request->bytes), &split);
	add_write(row_of_process(pass, request->comm), &split);
}

static void count_zeroes(struct pass *pass, uint64_t first, uint64_t end)
{
	struct forecast *f = pass->forecast;
	struct align_split split;

	count_touches(pass, first, end, &split);
	f->zero_touches += split.nr_touches;
	f->zeroes_misaligned += split.nr_touches != 0;
}

/* Count a request of an operation. Return: enum alignctl_exit; reported. */
static int count_request(const struct pass *pass,
			 const struct trace_request *request, uint64_t *requests,
			 uint64_t *bytes)
{
	requests[request->op]++;
	if (!__builtin_add_overflow(bytes[request->op], request->bytes,
				    &bytes[request->op]))
		return ALIGNCTL_FINE;
	CLEANUP_FREE char *position = source_position(pass->source);

	message_error("%s: the bytes of all requests of this operation are above 64 bits; take fewer at a time",
		      position);
	return ALIGNCTL_USAGE;
}

/* Take a request that reaches the device, for all that the pass is for. */
static int take_request(void *context, const struct trace_request *request)
{
	struct pass *pass = context;
	struct forecast *f = pass->forecast;
	uint64_t first = 0, end = 0;
	int result = ALIGNCTL_FINE;

	if (request->op != TRACE_FLUSH)
		result = place_request(&pass->places, request, &first, &end);
	if (!result && pass->count)
		result = count_request(pass, request, f->requests, f->bytes);
	if (result)
		return result;
	if (pass->coverage && (request->op == TRACE_WRITE ||
			       request->op == TRACE_WRITE_ZEROES))
		coverage_add(pass->coverage, first, end);
	if (pass->changes)
		changes_add(pass->changes, request, first, end);
	if (!pass->count)
		return ALIGNCTL_FINE;
	if (request->op == TRACE_WRITE)
		count_write(pass, request, first, end);
	else if (request->op == TRACE_WRITE_ZEROES)
		count_zeroes(pass, first, end);
	return ALIGNCTL_FINE;
}

/* Take a request that goes through the page cache. */
static int take_cached(struct pass *pass, const struct trace_request *request)
{
	struct forecast *f = pass->forecast;
	uint64_t first, end;
	/* reads from now on are caused by the write */
	uint64_t reads = f->requests[TRACE_READ];
	int result = ALIGNCTL_FINE;

	if (request->op != TRACE_FLUSH)
		result = place_request(&pass->places, request, &first, &end);
	if (!result && pass->count)
		result = count_request(pass, request, f->issued,
				       f->issued_bytes);
	if (result)
		return result;
	result = page_cache_do(pass->cache, request, take_request, pass);
	if (request->op == TRACE_WRITE)
		f->figures.reads += f->requests[TRACE_READ] - reads;
	return result;
}

/* Show how far the pass is or, if that is not known, the requests so far. */
static void show_requests(struct progress *progress, uint64_t requests)
{
	CLEANUP_FREE char *text = NULL;

	if (requests % SHOWN_EACH)
		return;
	if (progress->total) {
		progress_step(progress, requests);
		return;
	}
	text = message_format("%s: %" PRIu64 " requests", progress->label,
			      requests);
	progress_text(progress, text);
}

/* Read all requests, and write back the page cache at the end. */
static int read_all(struct pass *pass)
{
	CLEANUP_FREE char *label = message_format("%s, pass %u",
						  pass->source->name,
						  pass->number);
	const struct trace_facts facts = source_facts(pass->source);
	struct trace_request request;
	struct progress progress;
	enum trace_next next;
	int result = ALIGNCTL_FINE;
	uint64_t requests = 0;

	progress_start(&progress, label, facts.nr_known ? facts.nr : 0);
	while (!result &&
	       (next = source_next(pass->source, &request)) == TRACE_GOT &&
	       !request.file) {
		if (request.time_ns > pass->forecast->last_ns)
			pass->forecast->last_ns = request.time_ns;
		if (pass->seen && pass->number == 1)
			pass->seen(&request, pass->context);
		result = pass->cache ? take_cached(pass, &request) :
				       take_request(pass, &request);
		show_requests(&progress, ++requests);
	}
	progress_end(&progress);
	if (result)
		return result;
	if (next == TRACE_GOT)
		return source_refuse_disks(pass->source);
	if (next != TRACE_END)
		return trace_next_status(next);
	return pass->cache ? page_cache_end(pass->cache, take_request, pass) :
			     ALIGNCTL_FINE;
}

/* Do a pass, starting with an empty page cache. */
static int read_once(struct pass *pass)
{
	int result;

	if (pass->forecast->cache_block)
		pass->cache = page_cache_new(pass->forecast->cache_block);
	result = read_all(pass);
	page_cache_free(pass->cache);
	return result;
}

static void take_models(struct pass *pass)
{
	struct forecast *f = pass->forecast;
	struct fixing_figures *const figures[NR_MODELS][FIXING_NR_MODES] = {
		[MODEL_UNTIMED] = { &f->pad, &f->coalesce },
		[MODEL_TIMED] = { &f->pad_timed, &f->coalesce_timed },
	};
	enum fixing_mode mode;
	unsigned int i;

	for (i = 0; i < pass->nr_models; i++)
		for (mode = 0; mode < FIXING_NR_MODES; mode++)
			*figures[i][mode] = fixing_figures(pass->model[i],
							   mode);
}

/* Set the requests that the models of the next pass do; NULL: there are no models. */
static void set_changes(struct pass *pass, struct changes *changes)
{
	changes_free(pass->changes);
	pass->changes = changes;
}

/*
 * Do the requests of the first pass in the models of other blocks and starts, or, if
 * these are not kept, leave that to the next pass.
 */
static void do_what_if(struct pass *pass, bool kept)
{
	unsigned int nr, i;
	struct fixing *const *models = what_if_models(pass->what_if, &nr);

	for (i = 0; kept && i < nr; i++)
		changes_repeat(pass->changes, models[i]);
	set_changes(pass, kept || !nr ? NULL : changes_new(models, nr, false));
}

/* End the first pass, and begin with what needs more. */
static void end_first_pass(struct pass *pass)
{
	bool kept = pass->changes && changes_end(pass->changes);
	struct forecast *f = pass->forecast;

	pass->count = false;
	moves_count(pass->moves, align_block_sectors(&f->geometry), f->shifted,
		    NULL);
	take_models(pass);
	if (pass->what_if)
		what_if_choose(pass->what_if, pass->moves, &f->what_if);
	if (!pass->asks) {
		set_changes(pass, NULL);
		return;
	}
	if (pass->nr_models)
		what_if_know(pass->what_if, f->timed ? &f->pad_timed : &f->pad,
			     f->timed ? &f->coalesce_timed : &f->coalesce);
	what_if_open(pass->what_if, &f->what_if);
	do_what_if(pass, kept);
}

/* End a pass of the coverage, which is freed after the last one. */
static void end_coverage(struct pass *pass,
			 struct coverage_count *const counts[], unsigned int nr)
{
	if (!pass->coverage || coverage_end_pass(pass->coverage, counts, nr))
		return;
	coverage_free(pass->coverage);
	pass->coverage = NULL;
}

/* Read all requests, again for as often as something is not known. */
static int read_passes(struct pass *pass)
{
	struct forecast *f = pass->forecast;
	struct coverage_count all = coverage_count_of(&f->geometry);
	struct coverage_count *counts[1 + WHAT_IF_MAX_CASES] = { &all };
	unsigned int nr = 1;
	int result = read_once(pass);

	if (result)
		return result;
	end_first_pass(pass);
	if (pass->asks)
		nr += what_if_counts(pass->what_if, counts + 1);
	end_coverage(pass, counts, nr);
	while (pass->changes || pass->coverage) {
		pass->number++;
		result = source_rewind(pass->source);
		if (!result)
			result = read_once(pass);
		if (result)
			return result;
		if (pass->changes)
			changes_end(pass->changes);
		set_changes(pass, NULL);
		end_coverage(pass, counts, nr);
	}
	f->figures.distinct = all.distinct;
	f->figures.rmin = all.rmin;
	if (pass->asks)
		what_if_end(pass->what_if, &f->what_if);
	return ALIGNCTL_FINE;
}

/*
 * How much of a forecast is made: each of these includes those before, but the
 * modes alone need no coverage, for which the source may be read again; and the
 * touches alone have none of it, but other blocks and starts.
 */
enum extent { EXTENT_FIGURES, EXTENT_MODES, EXTENT_WHAT_IF, EXTENT_TOUCHES };

/* Create a count of writes for the blocks of @g and those of other sizes. */
static struct moves *new_moves(const struct align_geometry *g)
{
	uint32_t sectors = align_block_sectors(g);

	return moves_new(g, sectors < WHAT_IF_LEAST ? sectors : WHAT_IF_LEAST,
			 sectors > WHAT_IF_LARGEST ? sectors :
						     WHAT_IF_LARGEST);
}

/* Make a forecast, or parts of one, in @pass. As forecast_make(). */
static int make_forecast(struct pass *pass, enum extent extent,
			 const struct align_geometry *g, uint64_t shift,
			 uint32_t cache_block)
{
	struct forecast *f = pass->forecast;
	unsigned int i;
	int result;

	memset(f, 0, sizeof(*f));
	f->geometry = *g;
	f->shift = shift;
	f->cache_block = cache_block;
	f->touches_only = extent == EXTENT_TOUCHES;
	f->timed = source_facts(pass->source).timed;
	pass->number = 1;
	pass->count = true;
	pass->places = (struct places) {
		.source = pass->source, .end_sector = g->end_sector,
		.shift = shift,
		.cached = cache_block, .no_buffered = pass->seen,
		.no_size = pass->seen,
	};
	if (extent >= EXTENT_MODES && forecast_fixes(f))
		pass->nr_models = f->timed ? NR_MODELS : MODEL_TIMED;
	for (i = 0; i < pass->nr_models; i++)
		pass->model[i] = fixing_new(g, i == MODEL_TIMED,
					    fixing_max_blocks(g));
	if (extent >= EXTENT_WHAT_IF)
		pass->what_if = what_if_new(g, f->timed);
	pass->asks = extent == EXTENT_WHAT_IF &&
		     source_has_way_back(pass->source);
	if (pass->nr_models || pass->asks)
		pass->changes = changes_new(pass->model, pass->nr_models,
					    pass->asks);
	if (extent == EXTENT_FIGURES || extent == EXTENT_WHAT_IF)
		pass->coverage = coverage_new(COVERAGE_MAX_LEAVES);
	pass->moves = new_moves(g);
	result = read_passes(pass);
	for (i = 0; i < pass->nr_models; i++)
		fixing_free(pass->model[i]);
	changes_free(pass->changes);
	what_if_free(pass->what_if);
	coverage_free(pass->coverage);
	moves_free(pass->moves);
	return result;
}

int forecast_make(struct forecast *f, struct source *source,
		  const struct align_geometry *g, uint64_t shift,
		  uint32_t cache_block)
{
	struct pass pass = { .forecast = f, .source = source };

	return make_forecast(&pass, EXTENT_WHAT_IF, g, shift, cache_block);
}

int forecast_touches(struct forecast *f, struct source *source,
		     const struct align_geometry *g, uint64_t shift,
		     uint32_t cache_block)
{
	struct pass pass = { .forecast = f, .source = source };

	return make_forecast(&pass, EXTENT_TOUCHES, g, shift, cache_block);
}

int forecast_modes(struct forecast *f, struct source *source,
		   const struct align_geometry *g,
		   void (*seen)(const struct trace_request *request,
				void *context), void *context)
{
	struct pass pass = {
		.forecast = f, .source = source, .seen = seen,
		.context = context,
	};

	return make_forecast(&pass, EXTENT_MODES, g, 0, 0);
}

const char *forecast_refuse_blocks(const struct align_geometry *g)
{
	if (g->physical > ALIGN_MAX_FIXED || align_can_fix(g))
		return NULL;
	return "the logical block must be 512 or 4096 for writes to be fixed";
}

bool forecast_fixes(const struct forecast *f)
{
	return !f->touches_only && align_can_fix(&f->geometry);
}

uint64_t forecast_most_reads(const struct forecast *f)
{
	return f->pad.expected - f->pad.drive;
}

uint32_t forecast_best_shift(const struct forecast *f)
{
	uint32_t sectors = align_block_sectors(&f->geometry), shift, best = 0;
	uint32_t step = f->geometry.logical >> ALIGN_SECTOR_SHIFT;

	/* a device starts at a logical block */
	for (shift = step; shift < sectors; shift += step)
		if (f->shifted[shift] < f->shifted[best])
			best = shift;
	return best;
}

uint32_t forecast_worthwhile_shift(const struct forecast *f)
{
	uint32_t best = forecast_best_shift(f);
	uint64_t saved = f->shifted[0] - f->shifted[best];

	return (unsigned __int128)saved * 100 <
	       (unsigned __int128)f->shifted[0] * FORECAST_WORTH_PERCENT ?
	       0 : best;
}

struct forecast_advice forecast_choose(const uint64_t *left,
				       enum forecast_remedy most)
{
	const uint64_t touches = left[FORECAST_NOTHING];
	struct forecast_advice advice = { FORECAST_NOTHING, touches };
	enum forecast_remedy i;

	for (i = FORECAST_MOVE; i <= most; i++) {
		uint32_t percent = i == FORECAST_MOVE ? FORECAST_WORTH_PERCENT :
							FORECAST_GAIN_PERCENT;

		if (left[i] < advice.left &&
		    (unsigned __int128)(advice.left - left[i]) * 100 >=
		    (unsigned __int128)touches * percent)
			advice = (struct forecast_advice) { i, left[i] };
	}
	return advice;
}

uint64_t forecast_left_by(const struct fixing_figures *figures)
{
	return figures->host + figures->drive;
}

struct forecast_advice forecast_advise(const struct forecast *f)
{
	const uint64_t left[] = {
		[FORECAST_NOTHING] = f->figures.touches,
		[FORECAST_MOVE] = f->shifted[forecast_best_shift(f)],
		[FORECAST_PAD] =
			forecast_left_by(f->timed ? &f->pad_timed : &f->pad),
		[FORECAST_COALESCE] =
			forecast_left_by(f->timed ? &f->coalesce_timed :
						    &f->coalesce),
	};

	return forecast_choose(left, forecast_fixes(f) ? FORECAST_COALESCE :
							 FORECAST_MOVE);
}

int plan_figures(const struct plan *plan, const struct align_geometry *g,
		 uint32_t cache_block, struct plan_figures *figures)
{
	struct source source = { .name = plan->workload->name, .plan = *plan };
	CLEANUP_FREE struct forecast *f = memory_or_exit(malloc(sizeof(*f)));
	struct pass pass = { .forecast = f, .source = &source };
	int result = make_forecast(&pass, EXTENT_FIGURES, g, 0, cache_block);

	*figures = f->figures;
	return result;
}
