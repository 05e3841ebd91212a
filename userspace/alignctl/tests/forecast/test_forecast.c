// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "forecast/coverage.h"
#include "forecast/forecast.h"
#include "tests/tap.h"
#include "tests/trace_file.h"
#include "workload/permutation.h"

#define BLOCK		8U		/* sectors of 4096 bytes */
#define DISK_SECTORS	1953525168ULL	/* of the measured disk */

static struct align_geometry geometry(uint32_t offset)
{
	struct align_geometry g;

	align_geometry_init(&g, BLOCK * 512, 512, offset, 0, DISK_SECTORS);
	return g;
}

/*
 * Do a request of @sectors from @first on: w a write, f one with FUA, d a discard, z
 * write-zeroes, a those with FUA, s a flush.
 */
static void request(struct fixing *f, char op, uint64_t ms, uint64_t first,
		    uint64_t sectors)
{
	const struct fixing_request request = {
		.time_ns = ms * 1000000, .first = first, .end = first + sectors,
		.op = op == 'd' ? TRACE_DISCARD : op == 's' ? TRACE_FLUSH :
		      strchr("za", op) ? TRACE_WRITE_ZEROES : TRACE_WRITE,
		.fua = strchr("fa", op),
	};

	fixing_do(f, &request, 1);
}

/*
 * What becomes of requests, and of what is held when they are over: "w1+2@500"
 * is a write of sectors 1 and 2 after 500 ms, "s0+0" a flush.
 */
static struct fixing_figures fixed(const char *steps, enum fixing_mode mode)
{
	struct align_geometry g = geometry(0);
	struct fixing *f = fixing_new(&g, true, fixing_max_blocks(&g));
	uint64_t first, sectors, ms = 0;
	struct fixing_figures figures;
	int length;
	char op;

	while (sscanf(steps, " %c%" SCNu64 "+%" SCNu64 "%n", &op, &first,
		      &sectors, &length) == 3) {
		steps += length;
		if (sscanf(steps, "@%" SCNu64 "%n", &ms, &length) == 1)
			steps += length;
		request(f, op, ms, first, sectors);
	}
	CHECK(!*steps, "what is %s?", steps);
	fixing_flush(f);
	figures = fixing_figures(f, mode);
	fixing_free(f);
	return figures;
}

/* Worked out by hand from the rules on top of kmod/turn.c and drain.c. */
static const struct {
	const char *what;
	const char *steps;
	/* in pad, then in coalesce: avoided, read, written */
	struct { uint64_t avoided, host, written; } want[2];
} rows[] = {
	{ "one sector",
	  "w1+1", { { 0, 1, 1 }, { 0, 1, 1 } } },
	{ "the rest follows",
	  "w0+3 w3+5",
	  { { 1, 1, 2 }, { 2, 0, 1 } } },
	{ "the rest follows a flush",
	  "w0+3 s0+0 w3+5",
	  { { 1, 1, 2 }, { 1, 1, 2 } } },
	{ "the same sector twice",
	  "w1+1 w1+1",
	  { { 1, 1, 2 }, { 1, 1, 1 } } },
	{ "FUA is not held, and takes along what is",
	  "w1+1 f2+1 w3+1",
	  { { 2, 1, 3 }, { 2, 1, 2 } } },
	{ "FUA that completes it",
	  "w0+3 f3+5",
	  { { 1, 1, 2 }, { 2, 0, 1 } } },
	{ "overwritten as a whole",
	  "w1+1 w0+8",
	  { { 0, 1, 1 }, { 1, 0, 0 } } },
	{ "a whole write ends what is known",
	  "w1+1 w0+8 w1+1",
	  { { 0, 2, 2 }, { 1, 1, 1 } } },
	{ "zeroes over what is held, and over a part of it",
	  "w1+4 z1+2 w9+1 z8+8",
	  { { 1, 2, 3 }, { 2, 1, 1 } } },
	{ "what is known is so after zeroes of a part of it",
	  "w1+1 s0+0 z7+1 w2+1",
	  { { 2, 1, 3 }, { 2, 1, 2 } } },
	{ "what is known is so after zeroes of all of it no more",
	  "w1+1 s0+0 z0+8 w2+1",
	  { { 0, 2, 2 }, { 0, 2, 2 } } },
	{ "zeroes alone",
	  "z1+1", { { 0, 1, 1 }, { 0, 1, 1 } } },
	{ "zeroes that complete what a write began",
	  "w0+3 z3+5",
	  { { 1, 1, 2 }, { 2, 0, 1 } } },
	{ "a write that completes what zeroes began",
	  "z0+3 w3+5",
	  { { 1, 1, 2 }, { 2, 0, 1 } } },
	{ "zeroes that are held, overwritten as a whole",
	  "z1+1 w0+8",
	  { { 0, 1, 1 }, { 1, 0, 0 } } },
	{ "zeroes with FUA are not held",
	  "z1+1 a2+1 z3+1",
	  { { 2, 1, 3 }, { 2, 1, 2 } } },
	{ "zeroes in two blocks, a run between them",
	  "z7+10 z17+7 z0+7",
	  { { 2, 2, 4 }, { 4, 0, 2 } } },
	{ "a discard has what is held written first",
	  "w1+1 d0+8 w1+1",
	  { { 0, 2, 2 }, { 0, 2, 2 } } },
	{ "two blocks, a run between them",
	  "w7+10 w17+7 w0+7",
	  { { 2, 2, 4 }, { 4, 0, 2 } } },
	{ "in time",
	  "w0+3@0 w3+5@499",
	  { { 1, 1, 2 }, { 2, 0, 1 } } },
	/* held until 500, known until 1000 */
	{ "too late to be held",
	  "w0+3@0 w3+5@999",
	  { { 0, 2, 2 }, { 1, 1, 2 } } },
	{ "a stream's block waits for the next one, and is overwritten",
	  "w0+3 w3+7 w0+8",
	  { { 1, 2, 3 }, { 2, 1, 1 } } },
	{ "a block goes before its neighbour is old enough to go along",
	  "w0+3@0 w8+3@300 w11+5@600",
	  { { 1, 2, 3 }, { 2, 1, 2 } } },
	{ "its neighbour goes along, and its rest comes too late",
	  "w0+3@0 w8+3@200 w11+5@600",
	  { { 1, 2, 3 }, { 1, 2, 3 } } },
	{ "a discard takes a whole neighbour along",
	  "w0+3 w3+7 d8+8 w0+8",
	  { { 1, 2, 3 }, { 2, 1, 2 } } },
	{ "a run of whole blocks takes the one in front along",
	  "w0+3 w3+7 w10+14 w0+8",
	  { { 2, 2, 4 }, { 4, 0, 2 } } },
	{ "too late for all",
	  "w0+3@0 w3+5@1000",
	  { { 0, 2, 2 }, { 0, 2, 2 } } },
};

static void fixing_by_hand(void)
{
	enum fixing_mode mode;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (mode = 0; mode < FIXING_NR_MODES; mode++) {
			struct fixing_figures f = fixed(rows[i].steps, mode);

			CHECK(f.avoided == rows[i].want[mode].avoided &&
			      f.host == rows[i].want[mode].host &&
			      f.written == rows[i].want[mode].written &&
			      f.expected == f.avoided + f.host && !f.drive,
			      "%s, %s: avoided %" PRIu64 ", read %" PRIu64
			      ", written %" PRIu64, rows[i].what,
			      mode == FIXING_COALESCE ? "coalesce" : "pad",
			      f.avoided, f.host,
			      f.written);
		}
	}
}

/* Counted with the others, and apart. */
static void touches_of_zeroes_are_told_apart(void)
{
	enum fixing_mode mode;

	for (mode = 0; mode < FIXING_NR_MODES; mode++) {
		struct fixing_figures f =
			fixed("w1+1 z1+8 z16+8 z24+9 d41+3 w42+1", mode);

		CHECK(f.expected == 5 && f.expected_zeroes == 3,
		      "%" PRIu64 ", of zeroes %" PRIu64, f.expected,
		      f.expected_zeroes);
	}
}

/* Block 0 starts before the device, the last one ends after it. */
static void edges_are_the_drives(void)
{
	struct align_geometry g;
	enum fixing_mode mode;
	struct fixing *f;

	align_geometry_init(&g, 4096, 512, 512, 0, 100);
	f = fixing_new(&g, false, fixing_max_blocks(&g));
	request(f, 'w', 0, 0, 4);
	request(f, 'w', 0, 95, 5);
	request(f, 'z', 0, 0, 1);
	request(f, 'z', 0, 98, 1);
	fixing_flush(f);
	for (mode = 0; mode < FIXING_NR_MODES; mode++) {
		struct fixing_figures figures = fixing_figures(f, mode);

		CHECK(figures.expected == 6 && figures.drive == 4 &&
		      figures.host == 2, "drive %" PRIu64, figures.drive);
	}
	fixing_free(f);
}

/* A writer that leaves a part of more blocks than may be held. */
static void crowds(void)
{
	struct align_geometry g = geometry(0);
	struct fixing *f = fixing_new(&g, false, fixing_max_blocks(&g));
	uint64_t i, max = ALIGN_DEFAULT_MEMORY / 4096;
	struct fixing_figures figures;

	for (i = 0; i < max - max / 4; i++)
		request(f, 'w', 0, i * BLOCK, 1);
	figures = fixing_figures(f, FIXING_COALESCE);
	CHECK(!figures.crowded && !figures.host, "crowded already");
	for (; i < 3 * max; i++)
		request(f, 'w', 0, i * BLOCK, 1);
	CHECK(fixing_figures(f, FIXING_COALESCE).crowded, "not crowded");
	fixing_flush(f);
	figures = fixing_figures(f, FIXING_COALESCE);
	CHECK(figures.host == 3 * max, "%" PRIu64, figures.host);
	CHECK(!fixing_figures(f, FIXING_PAD).crowded, "pad holds nothing");
	fixing_free(f);
}

#define SPAN		(40 * 4096U)	/* sectors, of 40 leaves of a coverage */
#define COUNTS		7U		/* geometries that are counted at once */

/*
 * Call @add for many writes: at random, in rows across several leaves, and of each
 * second sector before a whole block.
 */
static void for_writes(void (*add)(void *context, uint64_t first, uint64_t end),
		       void *context)
{
	const uint64_t second = 20 * 4096;
	uint64_t i, n;

	for (i = 0; i < 2000; i++) {
		n = permutation_number(SPAN, 1, i);
		if (i % 50 && n % 16384 < 12000 &&
		    (n + 4096 < second || n > second + 4096))
			add(context, n, n + i % 50);
	}
	for (n = second; n < second + 512; n += 2)
		add(context, n, n + 1);
	add(context, second + 511, second + 511 + 64);
	for (n = 5003; n < 3 * 16384; n += 101)
		add(context, n, n + 101);
	add(context, 7 * 16384 - 3, 9 * 16384 + 1);
}

static void add_to_map(void *context, uint64_t first, uint64_t end)
{
	memset((bool *)context + first, true, end - first);
}

static void add_to_coverage(void *context, uint64_t first, uint64_t end)
{
	coverage_add(context, first, end);
}

/* Compare a count with what a map of written sectors says. */
static void check_count(const struct coverage_count *count, const bool *written)
{
	const struct align_geometry *g = &count->g;
	uint64_t distinct = 0, rmin = 0, block;

	for (block = 0; block <= align_block_of(g, SPAN + 64); block++) {
		uint32_t sectors = align_block_sectors(g), covered = 0, k;

		for (k = 0; k < sectors; k++) {
			uint64_t at = align_block_start(g, block) + k;

			covered += at < SPAN + 64 && written[at];
		}
		distinct += covered != 0;
		rmin += covered && covered < sectors &&
			!align_is_edge(g, block);
	}
	CHECK(count->distinct == distinct && count->rmin == rmin,
	      "blocks of %" PRIu32 ", offset %" PRIu32 ": distinct %" PRIu64
	      " for %" PRIu64 ", rmin %" PRIu64 " for %" PRIu64, g->physical,
	      g->offset, count->distinct, distinct, count->rmin, rmin);
}

/* Blocks of several sizes and starts: in any number of passes. */
static void coverage_in_passes(void)
{
	static const uint32_t leaves[] = { 2, 4, 16, COVERAGE_MAX_LEAVES };
	static const struct { uint32_t physical, offset; } all[COUNTS] = {
		{ 4096, 3584 }, { 4096, 0 }, { 512, 0 }, { 65536, 512 },
		{ 262144, 130560 }, { 1048576, 3584 }, { 32768, 32256 },
	};
	CLEANUP_FREE bool *written = calloc(SPAN + 64, sizeof(*written));
	struct coverage_count count[COUNTS], *counts[COUNTS];
	size_t l, i;

	for_writes(add_to_map, written);
	for (l = 0; l < sizeof(leaves) / sizeof(leaves[0]); l++) {
		struct coverage *c = coverage_new(leaves[l]);
		uint64_t passes = 0;

		for (i = 0; i < COUNTS; i++) {
			struct align_geometry g;

			align_geometry_init(&g, all[i].physical, 512,
					    all[i].offset, 0, SPAN + 13);
			count[i] = coverage_count_of(&g);
			counts[i] = &count[i];
		}
		do {
			for_writes(add_to_coverage, c);
			passes++;
		} while (coverage_end_pass(c, counts, COUNTS));
		for (i = 0; i < COUNTS; i++)
			check_count(&count[i], written);
		CHECK((passes > 1) == (leaves[l] < 40), "%u leaves: %" PRIu64
		      " passes", leaves[l], passes);
		coverage_free(c);
	}
}

/* Writes far apart: at the start, in the last whole block and behind it. */
static void coverage_at_the_end(void)
{
	struct align_geometry g;
	uint32_t physical;

	for (physical = 4096; physical <= 131072; physical *= 2) {
		const uint64_t end = 3999 * 256ULL + 1;
		struct coverage_count count, *counts[] = { &count };
		struct coverage *c = coverage_new(COVERAGE_MAX_LEAVES);

		align_geometry_init(&g, physical, 512, 0, 0, end);
		count = coverage_count_of(&g);
		coverage_add(c, 1, 2);
		coverage_add(c, end - 2, end - 1);
		coverage_add(c, end - 1, end);
		coverage_end_pass(c, counts, 1);
		CHECK(count.distinct == 3 && count.rmin == 2,
		      "blocks of %u bytes: distinct %" PRIu64 ", rmin %" PRIu64,
		      physical, count.distinct, count.rmin);
		coverage_free(c);
	}
}

static struct forecast *forecast_of(const char *name, uint64_t count,
				    uint64_t shift)
{
	struct align_geometry g = geometry(0);
	struct forecast *f = memory_or_exit(malloc(sizeof(*f)));
	struct source source;

	CHECK(!source_open(&source, name), "%s", name);
	if (count)
		source.plan.count = count;
	if (!source.plan.places)
		source.plan.places = 100000;
	CHECK(!forecast_make(f, &source, &g, shift,
			     source.plan.buffered ? 4096 : 0), "%s", name);
	source_close(&source);
	return f;
}

/* Reads that pad and coalesce need, by hand, as published. */
static void streams(void)
{
	static const struct { const char *name; uint64_t pad, coalesce; } want[] = {
		{ "w512", 20000, 20000 }, { "w4096", 0, 0 },
		{ "w4096_512", 40000, 40000 },
		/* a tail is read, and the next head finds it known */
		{ "w136k", 5001, 2 }, { "w4k_132k", 10001, 2 },
		{ "seq8k-shifted", 131073, 2 },
		{ "diskbenchi", 16001, 2 },
		/* three tails; and 512 bytes over what no buffer of the target held */
		{ "diskbenchi-fresh", 16000, 3999 },
		{ "areasync", 0, 0 }, { "areasync-512", 4, 4 },
		{ "areasync-4k-shifted", 8, 8 },
		{ "append-512-dsync", 256, 256 },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CLEANUP_FREE struct forecast *f =
			forecast_of(want[i].name, 0, 0);

		CHECK(f->pad.host == want[i].pad &&
		      f->coalesce.host == want[i].coalesce &&
		      f->pad.expected == f->figures.touches &&
		      f->coalesce.avoided + f->coalesce.host ==
		      f->figures.touches, "%s: pad %" PRIu64 ", coalesce %"
		      PRIu64, want[i].name, f->pad.host, f->coalesce.host);
		CHECK(f->figures.rmin <= f->coalesce.host &&
		      f->coalesce.host <= f->pad.host &&
		      f->pad.host <= forecast_most_reads(f), "%s",
		      want[i].name);
	}
}

/* Each length and each process twice, of more than there are rows for. */
static void rows_by_size_and_process(void)
{
	const uint32_t most = FORECAST_MAX_PROCESSES + 20;
	CLEANUP_FREE struct forecast *f = malloc(sizeof(*f));
	CLEANUP_FREE char *text = NULL;
	struct align_geometry g = geometry(0);
	struct source source;
	uint32_t i, n;
	size_t size;
	FILE *out;

	trace_folder_open();
	out = open_memstream(&text, &size);
	fputs("op,offset,bytes,comm\n", out);
	for (n = 0; n < 2; n++)
		for (i = 0; i < most; i++)
			fprintf(out, "write,%u,%u,p%u\n", i * 512,
				512 * (1 + i), i * 7 % most);
	fclose(out);
	CHECK(!source_open(&source, trace_text("t", text)), "opened");
	CHECK(!forecast_touches(f, &source, &g, 0, 0), "planned");
	source_close(&source);
	trace_folder_close();
	CHECK(f->nr_sizes == FORECAST_MAX_SIZES &&
	      f->other_sizes.writes == 2 * (most - FORECAST_MAX_SIZES),
	      "%" PRIu64 " of other sizes", f->other_sizes.writes);
	CHECK(f->nr_processes == FORECAST_MAX_PROCESSES &&
	      f->other_processes.writes == 2 * (most - FORECAST_MAX_PROCESSES),
	      "%" PRIu64 " of other processes", f->other_processes.writes);
	for (i = 0; i < f->nr_sizes; i++)
		CHECK(f->size[i].bytes == 512 * (1 + i) &&
		      f->size[i].row.writes == 2, "%u: %" PRIu64 " of %" PRIu64,
		      i, f->size[i].row.writes, f->size[i].bytes);
	for (i = 0; i < f->nr_processes; i++) {
		char comm[TRACE_COMM_BYTES];

		snprintf(comm, sizeof(comm), "p%u", i * 7 % most);
		CHECK(!strcmp(f->process[i].comm, comm) &&
		      f->process[i].row.writes == 2, "%u: %" PRIu64 " of %s", i,
		      f->process[i].row.writes, f->process[i].comm);
	}
}

/* The table of shifts says what each shift really makes of it. */
static void shifts_are_what_they_say(void)
{
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++) {
		CLEANUP_FREE struct forecast *f = forecast_of(w->name, 20, 0);
		uint64_t best = forecast_best_shift(f), shift;

		for (shift = 0; shift < BLOCK; shift++) {
			CLEANUP_FREE struct forecast *moved =
				forecast_of(w->name, 20, shift);

			CHECK(moved->figures.touches == f->shifted[shift],
			      "%s moved by %" PRIu64 ": %" PRIu64 " for %"
			      PRIu64, w->name, shift, f->shifted[shift],
			      moved->figures.touches);
			CHECK(f->shifted[best] < f->shifted[shift] ||
			      (f->shifted[best] == f->shifted[shift] &&
			       best <= shift), "%s: %" PRIu64 " is better",
			      w->name, shift);
		}
	}
}

static void the_partition_is_three_sectors_off(void)
{
	CLEANUP_FREE struct forecast *f = forecast_of("shifted-partition", 0, 0);

	CHECK(f->figures.touches == 40000 && forecast_best_shift(f) == 3 &&
	      f->shifted[3] == 0, "%" PRIu64 " touches, best %u",
	      f->figures.touches, forecast_best_shift(f));
	CHECK(f->phase[5].writes == 20000 && f->phase[5].touches == 40000,
	      "%" PRIu64 " at phase 5", f->phase[5].writes);
}

static int forecast_text(const char *text, struct forecast *f)
{
	struct align_geometry g = geometry(0);
	struct source source;
	int result;

	trace_folder_open();
	result = source_open(&source, trace_text("t", text));
	CHECK(!result, "%d", result);
	if (!result)
		result = forecast_make(f, &source, &g, 0, 0);
	source_close(&source);
	trace_folder_close();
	return result;
}

static void traces(void)
{
	CLEANUP_FREE struct forecast *f = malloc(sizeof(*f));

	CHECK(!forecast_text("time_s,op,offset,bytes,flags,comm\n"
			     "0,write,0,512,,db\n"
			     "0.1,write,512,3584,,db\n"
			     "0.2,read,512,512,,top\n"
			     "2,write,4096,512,fua,cp\n"
			     "2.6,write,4608,512,preflush,cp\n"
			     "2.6,discard,4096,8192,,cp\n"
			     "2.6,write-zeroes,0,4096,,cp\n"
			     "2.6,write-zeroes,8704,4096,,cp\n"
			     "2.6,flush,,,,\n", f), "refused");
	CHECK(f->requests[TRACE_READ] == 1 && f->requests[TRACE_WRITE] == 4 &&
	      f->requests[TRACE_FLUSH] == 1 &&
	      f->requests[TRACE_DISCARD] == 1 &&
	      f->bytes[TRACE_WRITE_ZEROES] == 8192 && f->fua == 1,
	      "requests are not counted");
	CHECK(f->figures.touches == 6 && f->zero_touches == 2 &&
	      f->zeroes_misaligned == 1 && f->figures.rmin == 3 &&
	      f->figures.distinct == 4, "touches %" PRIu64 ", rmin %" PRIu64,
	      f->figures.touches, f->figures.rmin);
	CHECK(f->nr_processes == 2 && !strcmp(f->process[0].comm, "db") &&
	      f->process[0].row.touches == 2 &&
	      f->process[1].row.misaligned == 2, "processes");
	CHECK(f->nr_sizes == 2 && f->size[0].bytes == 512 &&
	      f->size[0].row.writes == 3, "sizes");
	/* 600 ms between the last two: they are known no more */
	CHECK(f->timed && f->coalesce.host == 3 && f->coalesce_timed.host == 4 &&
	      f->pad.host == 4 && f->pad_timed.host == 5,
	      "reads %" PRIu64 ", %" PRIu64 ", pad %" PRIu64 ", %" PRIu64,
	      f->coalesce.host, f->coalesce_timed.host, f->pad.host,
	      f->pad_timed.host);
}

/* What they complete needs no read, and where the start is best they say too. */
static void zeroes_count_as_what_is_written(void)
{
	CLEANUP_FREE struct forecast *f = malloc(sizeof(*f));

	CHECK(!forecast_text("op,offset,bytes\n"
			     "write,1536,2560\n"
			     "write-zeroes,0,1536\n"
			     "write-zeroes,4608,8192\n", f), "refused");
	CHECK(f->figures.touches == 4 && f->zero_touches == 3 &&
	      f->figures.rmin == 2 && f->figures.distinct == 4,
	      "touches %" PRIu64 ", rmin %" PRIu64, f->figures.touches,
	      f->figures.rmin);
	/* 7 sectors on, the long ones lie on blocks, and the first is split */
	CHECK(f->shifted[0] == 4 && f->shifted[7] == 3 &&
	      forecast_best_shift(f) == 7, "%" PRIu64 ", %" PRIu64 ", best %u",
	      f->shifted[0], f->shifted[7], forecast_best_shift(f));
	CHECK(f->class[ALIGN_SUB_BLOCK] + f->class[ALIGN_TAIL] +
	      f->class[ALIGN_HEAD] == 1 && f->nr_sizes == 1 &&
	      f->phase[3].writes == 1 && !f->phase[1].writes,
	      "classes, sizes and phases are of writes");
}

static void what_cannot_be_said_is_refused(void)
{
	static const struct { const char *line, *word; } want[] = {
		{ "write,100,512,", "whole sectors" },
		{ "write,0,100,", "whole sectors" },
		{ "write,0,8589934592,", "4294967295" },
		{ "write-zeroes,0,8589934592,", "4294967295" },
		{ "read,1000204885504,1024,", "end of the device" },
		{ "write,0,512,/b", "another disk or file than before; choose one with --disk\n" },
		{ "flush,,,/b", "another disk or file than before; choose one with --disk\n" },
		{ "write,100,512,/b", "another disk or file than before; choose one with --disk\n" },
	};
	CLEANUP_FREE struct forecast *f = malloc(sizeof(*f));
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		CLEANUP_FREE char *text = message_format(
			"op,offset,bytes,file\nwrite,0,512,/a\n%s%s\n",
			want[i].line, want[i].line[strlen(want[i].line) - 1] ==
			',' ? "/a" : "");
		CLEANUP_FREE char *said = NULL;
		int result;

		trace_keep_messages();
		result = forecast_text(text, f);
		said = trace_kept_messages();
		CHECK(result == ALIGNCTL_USAGE && strstr(said, want[i].word) &&
		      strstr(said, "line 3"), "%s: %d, %s", want[i].line,
		      result, said);
	}
}

const struct tap_test forecast_tests[] = {
	{ "what pad and coalesce make of a few requests is what the rules say",
	  fixing_by_hand },
	{ "touches of write-zeroes are counted with those of writes, and apart",
	  touches_of_zeroes_are_told_apart },
	{ "touches of edge blocks are left to the drive", edges_are_the_drives },
	{ "more blocks than are held at ease are noticed", crowds },
	{ "blocks written are counted right in any number of passes",
	  coverage_in_passes },
	{ "a block that the end of the device cuts has no minimum of its own",
	  coverage_at_the_end },
	{ "the workloads need the reads that were worked out by hand", streams },
	{ "writes have rows by length and by process in order, and all others one",
	  rows_by_size_and_process },
	{ "the table of moves has what each move makes of the workload",
	  shifts_are_what_they_say },
	{ "the shifted partition is three sectors off",
	  the_partition_is_three_sectors_off },
	{ "a trace is planned by process, size and time", traces },
	{ "write-zeroes complete blocks, and say where the start is best",
	  zeroes_count_as_what_is_written },
	{ "what a trace does that cannot be planned is refused with its line",
	  what_cannot_be_said_is_refused },
	{ 0 },
};
