// SPDX-License-Identifier: GPL-2.0
/* Requests through the page cache, of any bytes: content and cost. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/pattern.h"
#include "engine/engine.h"
#include "forecast/forecast.h"
#include "tests/compare_content.h"
#include "tests/tap.h"
#include "tests/trace_file.h"
#include "workload/page_cache.h"

#define DISK_BYTES	(192U << 10)
#define SECTORS		(DISK_BYTES / PATTERN_SECTOR)
#define RUN		pattern_run(11)

/* Where a byte has no request, from 1, that wrote it. */
enum { UNTOUCHED, DISCARDED = 1 << 30, ZEROED };

static uint32_t owner[DISK_BYTES];
static char expected[DISK_BYTES];

static char disk_path[64];
static struct device disk;
static struct align_geometry geometry;
static struct placement placement;
static struct engine_done done;
static uint64_t waited;

static void disk_open(void)
{
	int fd;

	strcpy(disk_path, "/var/tmp/alignctl-buffered-XXXXXX");
	fd = mkstemp(disk_path);
	if (fd < 0 || ftruncate(fd, DISK_BYTES))
		perror(disk_path);
	close(fd);
	device_open(&disk, disk_path);
	align_geometry_init(&geometry, 4096, 512, 0, 0, SECTORS);
	placement = (struct placement) {
		.bytes = DISK_BYTES, .logical = 512, .physical = 4096,
		.buffered = true,
	};
}

static void disk_close(void)
{
	device_close(&disk);
	unlink(disk_path);
}

/* What a write leaves: labels if it has whole sectors, else by byte. */
static void expect_write(uint32_t request, uint32_t offset, uint32_t bytes)
{
	uint32_t i;

	if (offset % 512 || bytes % 512) {
		for (i = offset; i < offset + bytes; i++)
			pattern_stream(&expected[i], i, 1, request, RUN);
		return;
	}
	for (i = offset; i < offset + bytes; i += 512) {
		pattern_fill(&expected[i], 1);
		pattern_label(&expected[i], &(struct pattern_label) {
				      i / 512, request, RUN }, 1);
	}
}

static void expect(const char *op, uint32_t request, uint32_t offset,
		   uint32_t bytes)
{
	uint32_t holds = request, i;

	if (!strcmp(op, "read"))
		return;
	if (!strcmp(op, "write")) {
		expect_write(request, offset, bytes);
	} else {
		memset(expected + offset, 0, bytes);
		holds = !strcmp(op, "discard") ? DISCARDED : ZEROED;
	}
	for (i = offset; i < offset + bytes; i++)
		owner[i] = holds;
}

/*
 * Random requests that overlap a lot, most of them writes of any bytes, up to
 * @longest; what they leave is what is expected. For free().
 */
static char *make_trace(unsigned int requests, uint32_t longest)
{
	static const char *const ops[] = { "discard", "write-zeroes", "read" };
	size_t size;
	char *text;
	FILE *file = open_memstream(&text, &size);
	unsigned int i;

	memset(owner, 0, sizeof(owner));
	memset(expected, 0, sizeof(expected));
	srand48(longest);
	fputs("op,offset,bytes\n", file);
	for (i = 1; i <= requests; i++) {
		/* tiny ones are to leave many pieces, so few of whole sectors */
		unsigned int kind = lrand48() % (longest < 10 ? 512 : 16);
		const char *op = kind < 3 ? ops[kind] : "write";
		uint32_t bytes = 1 + lrand48() % longest;
		uint32_t offset = lrand48() % (DISK_BYTES - bytes);

		/* also some of whole sectors */
		if (kind < 6) {
			offset -= offset % 512;
			bytes += -bytes % 512;
		}
		fprintf(file, "%s,%u,%u\n", op, offset, bytes);
		expect(op, i, offset, bytes);
	}
	fclose(file);
	return text;
}

static int go(const char *path, enum engine_timing timing, unsigned int depth,
	      unsigned int threads)
{
	CLEANUP_CLOSE int fd = open(disk.path, O_RDWR);
	struct measures measures;
	struct source source;
	struct engine_setup setup = {
		.source = &source, .device = &disk, .fd = fd,
		.placement = &placement, .geometry = &geometry,
		.timing = timing, .speed = 1, .depth = depth,
		.threads = threads, .run = RUN,
	};
	int result = source_open(&source, path);

	if (result)
		return result;
	result = engine_run(&setup, &measures, &done);
	waited = measures.waited;
	measures_free(&measures);
	source_close(&source);
	return result;
}

static struct content_check compare(const char *path, uint32_t max_blocks)
{
	return compare_content(path, (struct content) {
		.placement = &placement, .run = RUN, .done = &done,
		.device = &disk, .max_blocks = max_blocks,
	});
}

static unsigned int wrong_bytes(void)
{
	size_t size;
	CLEANUP_FREE char *bytes = trace_read_all(disk.path, &size);
	unsigned int wrong = 0, i;

	for (i = 0; i < DISK_BYTES; i++)
		wrong += bytes[i] != expected[i];
	return wrong;
}

/* Many at once leave what one after the other would, down to each byte. */
static void same_bytes(void)
{
	static const struct {
		enum engine_timing timing;
		unsigned int depth, threads;
	} runs[] = {
		{ ENGINE_CLOSED, 1, 1 }, { ENGINE_CLOSED, 16, 1 },
		{ ENGINE_FAST, 64, 1 }, { ENGINE_FAST, 1, 8 },
		{ ENGINE_FAST, 16, 4 },
	};
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		CLEANUP_FREE char *text = make_trace(1000, 9000);
		CLEANUP_FREE char *path = strdup(trace_text("t.csv", text));

		disk_open();
		CHECK(!go(path, runs[i].timing, runs[i].depth,
			  runs[i].threads), "fails");
		CHECK(!wrong_bytes(), "%s, %u threads of depth %u: %u bytes are wrong",
		      engine_timing_names[runs[i].timing], runs[i].threads,
		      runs[i].depth, wrong_bytes());
		disk_close();
	}
	trace_folder_close();
}

/* Only what a page is zeroed with waits for what else is in it. */
static void zeroes_have_their_pages(void)
{
	static const struct { const char *text; uint64_t waited; } rows[] = {
		{ "write-zeroes,4096,512\nwrite,5120,4\n", 1 },
		{ "write,4100,4\nwrite-zeroes,5120,512\n", 1 },
		{ "write-zeroes,4096,512\nwrite,8192,4\n", 0 },
		{ "write,4100,4\nwrite,4104,4\n", 0 },
		{ "write,4100,5\nwrite,4104,4\n", 1 },
	};
	size_t i;

	trace_folder_open();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *text = message_format("op,offset,bytes\n%s",
							 rows[i].text);

		disk_open();
		CHECK(!go(trace_text("t.csv", text), ENGINE_FAST, 8, 1),
		      "fails");
		CHECK(waited == rows[i].waited, "%s waits %" PRIu64 " times",
		      rows[i].text, waited);
		disk_close();
	}
	trace_folder_close();
}

/* Sectors of which the model knows a byte. */
static uint64_t known_sectors(void)
{
	uint64_t known = 0;
	uint32_t i;

	for (i = 0; i < DISK_BYTES; i++) {
		if (owner[i] == UNTOUCHED || owner[i] == DISCARDED)
			continue;
		known++;
		i |= 511;
	}
	return known;
}

static void put(const char *bytes, uint32_t offset, uint32_t nr)
{
	CLEANUP_CLOSE int fd = open(disk.path, O_WRONLY);

	if (pwrite(fd, bytes, nr, offset) < 0)
		perror(disk.path);
}

/* One byte in a few sectors, also where nothing is known: how many count? */
static uint64_t damage(uint64_t *first)
{
	uint64_t hit = 0;
	uint32_t sector;

	*first = SECTORS;
	for (sector = 3; sector < SECTORS; sector += 7) {
		uint32_t at = sector * 512 + lrand48() % 512;
		char other = expected[at] ^ 1;

		put(&other, at, 1);
		if (owner[at] == UNTOUCHED || owner[at] == DISCARDED)
			continue;
		if (!hit++)
			*first = sector;
	}
	return hit;
}

static void check_damage(unsigned int requests, uint32_t longest)
{
	static const uint32_t parts[] = { 0, 2, 7, 64 };
	CLEANUP_FREE char *text = make_trace(requests, longest);
	CLEANUP_FREE char *path = strdup(trace_text("t.csv", text));
	uint64_t hit, first;
	size_t i;

	disk_open();
	CHECK(!go(path, ENGINE_FAST, 32, 1), "fails");
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct content_check check = compare(path, parts[i]);

		CHECK(check.done && !check.mismatches &&
		      check.sectors == known_sectors(), "up to %u bytes, %u blocks: %"
		      PRIu64 " of %" PRIu64 " differ, %" PRIu64 " are known",
		      longest, parts[i], check.mismatches, check.sectors,
		      known_sectors());
	}
	hit = damage(&first);
	trace_keep_messages();
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct content_check check = compare(path, parts[i]);

		CHECK(hit > 5 && check.mismatches == hit &&
		      check.first_mismatch == first, "up to %u bytes, %u blocks: %"
		      PRIu64 " of %" PRIu64 " seen, the first at %" PRIu64
		      " for %" PRIu64, longest, parts[i], check.mismatches, hit,
		      check.first_mismatch, first);
	}
	free(trace_kept_messages());
	disk_close();
}

static void sees_every_byte(void)
{
	trace_folder_open();
	check_damage(300, 9000);
	check_damage(2000, 700);
	trace_folder_close();
}

/*
 * Also where so many pieces come to be that there is not room for all: those of
 * blocks that are left to a later pass make room again.
 */
static void many_pieces(void)
{
	CLEANUP_FREE char *text = make_trace(12000, 6);
	struct content_check check;

	trace_folder_open();
	check_damage(12000, 6);
	disk_open();
	CHECK(!go(trace_text("t.csv", text), ENGINE_FAST, 32, 1), "fails");
	/* 24000 ends of requests, and room for 8198 */
	check = compare(trace_text("t.csv", text), 64);
	CHECK(check.passes > 2 && check.passes < 8, "%" PRIu64 " passes",
	      check.passes);
	disk_close();
	trace_folder_close();
}

/* A write that is lost shows, by what an earlier one left in its four bytes. */
static void stale_bytes(void)
{
	CLEANUP_FREE char *path = NULL;
	CLEANUP_FREE char *said = NULL;
	struct content_check check;
	char stale[4];

	trace_folder_open();
	path = strdup(trace_text("t.csv", "op,offset,bytes\nwrite,4096,4\n"
				 "write,65536,4\nwrite,4096,4\n"));
	disk_open();
	CHECK(!go(path, ENGINE_CLOSED, 1, 1), "fails");
	pattern_stream(stale, 4096, 4, 1, RUN);
	put(stale, 4096, 4);
	trace_keep_messages();
	check = compare(path, 0);
	said = trace_kept_messages();
	CHECK(check.sectors == 2 && check.mismatches == 1 &&
	      check.first_mismatch == 8, "%" PRIu64 " of %" PRIu64,
	      check.mismatches, check.sectors);
	CHECK(strstr(said, "sector 8, bytes 0 to 3: expected request 3"), "%s",
	      said);
	disk_close();
	trace_folder_close();
}

/* A failed write leaves nothing to rely on, but what is beside it. */
static void failed_bytes(void)
{
	CLEANUP_FREE char *path = NULL;
	struct content_check check;
	char junk[512];

	memset(junk, 'x', sizeof(junk));
	trace_folder_open();
	path = strdup(trace_text("t.csv", "op,offset,bytes\nwrite,0,1024\n"
				 "write,100,200\n"));
	disk_open();
	CHECK(!go(path, ENGINE_CLOSED, 1, 1), "fails");
	done.failed[done.nr_failed++] = 1;
	put(junk, 100, 200);
	CHECK(!compare(path, 0).mismatches, "its own bytes");
	put(junk, 99, 1);
	put(junk, 300, 1);
	put(junk, 600, 1);
	trace_keep_messages();
	check = compare(path, 0);
	free(trace_kept_messages());
	CHECK(check.mismatches == 2 && check.sectors == 2, "%" PRIu64,
	      check.mismatches);
	disk_close();
	trace_folder_close();
}

/* Any part of the stream is what the whole has there, and no two are alike. */
static void stream_of_bytes(void)
{
	char whole[64], part[64];
	unsigned int from, to, alike = 0, i;
	uint64_t request;

	pattern_stream(whole, 1000, sizeof(whole), 5, RUN);
	for (from = 0; from < sizeof(whole); from++) {
		for (to = from + 1; to <= sizeof(whole); to++) {
			pattern_stream(part, 1000 + from, to - from, 5, RUN);
			CHECK(!memcmp(part, whole + from, to - from),
			      "from %u to %u", from, to);
		}
	}
	for (i = 0; i < sizeof(whole); i++)
		CHECK((whole[i] & 0xc0) == 0x80, "byte %u", i);
	/* of 24 bits each, two of 1000 are alike once in 34 times */
	for (request = 1; request <= 1000; request++) {
		pattern_stream(part, 4096, 4, request, RUN);
		pattern_stream(part + 4, 4096, 4, request + 1, RUN);
		pattern_stream(part + 8, 4096 + 65536, 4, request, RUN);
		pattern_stream(part + 12, 4096, 4, request, pattern_run(12));
		for (i = 4; i < 16; i += 4)
			alike += !memcmp(part, part + i, 4);
	}
	CHECK(!alike, "%u of 3000 are alike", alike);
}

/* What --buffered allows, and --state does not. */
static void places_of_any_bytes(void)
{
	struct trace_request request = {
		.op = TRACE_WRITE, .offset = 4000, .bytes = 4000,
	};
	struct placement p = {
		.bytes = 1 << 20, .logical = 512, .physical = 4096,
	};
	CLEANUP_FREE char *direct = placement_apply(&p, &request);
	CLEANUP_FREE char *state = NULL;
	CLEANUP_FREE char *discard = NULL;

	CHECK(direct && strstr(direct, "write of 4000 bytes at byte 4000") &&
	      strstr(direct, "512 bytes; use --buffered"), "%s", direct);
	p.buffered = true;
	CHECK(!placement_apply(&p, &request), "buffered");
	p.labelled = true;
	state = placement_apply(&p, &request);
	CHECK(state && strstr(state, "whole sectors") &&
	      strstr(state, "--state"), "%s", state);
	p.labelled = false;
	request.op = TRACE_DISCARD;
	discard = placement_apply(&p, &request);
	CHECK(discard && !strstr(discard, "--buffered"), "%s", discard);
}

/* As many places come twice as chance has it. */
static void draws(void)
{
	enum { PLACES = 10000, COUNT = 1000000 };
	CLEANUP_FREE unsigned int *seen = calloc(PLACES, sizeof(*seen));
	struct plan plan, other;
	unsigned int distinct = 0, same = 0, i;
	uint32_t bytes;
	double chi = 0;

	plan_init(&plan, workload_find("records-4000"));
	CHECK(plan.places == 10000000 && plan.count == COUNT &&
	      plan_requests(&plan) == COUNT, "%" PRIu64 " places", plan.places);
	plan.places = PLACES;
	other = plan;
	other.seed = 2;
	for (i = 0; i < COUNT; i++) {
		uint64_t offset = plan_request(&plan, i, &bytes) - plan.start;

		same += plan_request(&other, i, &bytes) - plan.start == offset;
		CHECK(bytes == 4000 && offset % 4000 == 0 &&
		      offset / 4000 < PLACES, "%" PRIu64, offset);
		if (!seen[offset / 4000]++ && i < PLACES)
			distinct++;
	}
	/* of as many as there are places, 1 - 1/e; a standard deviation: 31 */
	CHECK(distinct > 6321 - 155 && distinct < 6321 + 155, "%u", distinct);
	/* one in PLACES by chance */
	CHECK(same > 40 && same < 160, "%u are where another seed has them",
	      same);
	for (i = 0; i < PLACES; i++)
		chi += (seen[i] - 100.) * (seen[i] - 100.) / 100;
	/* five standard deviations */
	CHECK(chi > PLACES - 707 && chi < PLACES + 707, "chi squared %f", chi);
	CHECK(plan_end(&plan) == plan.start + PLACES * 4000ULL, "end");
}

/* The requests that reach the device, a word each: "r3 w0 f" are by block. */
struct log {
	FILE *file;
	uint32_t block;
};

static int note(void *context, const struct trace_request *request)
{
	const struct log *log = context;

	CHECK(request->op == TRACE_FLUSH ||
	      (request->bytes == log->block &&
	       request->offset % log->block == 0), "%" PRIu64 " bytes",
	      request->bytes);
	fprintf(log->file, "%c", "rwfdz"[request->op]);
	if (request->op != TRACE_FLUSH)
		fprintf(log->file, "%" PRIu64, request->offset / log->block);
	fputc(' ', log->file);
	return 0;
}

/*
 * What the cache makes of requests like "r0+512 w4096+8 f": reads, writes,
 * flushes and discards; W is durable at its end, and P flushes first.
 */
static char *sent(uint32_t block, const char *requests)
{
	struct page_cache *cache = page_cache_new(block);
	struct log log = { .block = block };
	char *text;
	size_t size;
	char kind;
	int used;

	log.file = open_memstream(&text, &size);
	for (; sscanf(requests, " %c%n", &kind, &used) == 1; requests += used) {
		struct trace_request request = {
			.op = kind == 'r' ? TRACE_READ :
			      kind == 'f' ? TRACE_FLUSH :
			      kind == 'd' ? TRACE_DISCARD : TRACE_WRITE,
			.fua = kind == 'W', .preflush = kind == 'P',
		};

		if (kind != 'f')
			sscanf(requests, " %c%" SCNu64 "+%" SCNu64 "%n", &kind,
			       &request.offset, &request.bytes, &used);
		CHECK(!page_cache_do(cache, &request, note, &log), "fails");
	}
	CHECK(!page_cache_end(cache, note, &log), "fails");
	fclose(log.file);
	page_cache_free(cache);
	return text;
}

/* By hand. */
static void sent_by_the_cache(void)
{
	static const struct {
		const char *what;
		uint32_t block;
		const char *requests, *want;
	} rows[] = {
		{ "two records in a page, one read and one write", 4096,
		  "w0+100 w200+100", "r0 w0 " },
		{ "4000 bytes over two pages", 4096,
		  "w4000+4000", "r0 r1 w0 w1 " },
		{ "whole pages need no read", 4096, "w4096+8192", "w1 w2 " },
		{ "nor one that was whole before", 4096,
		  "w0+4096 w10+4", "w0 " },
		{ "one that was read is not read again", 4096,
		  "r0+1 w10+4 r5+9", "r0 w0 " },
		{ "in rising order at each flush", 4096,
		  "w36864+4096 f w20480+4096 w4096+4096", "w9 f w1 w5 " },
		{ "each commit writes its page again", 4096,
		  "W65536+4 w131072+4 f w65536+4 f W131072+4",
		  "r16 w16 f r32 w32 f w16 f w32 f " },
		{ "a durable write sends its own page only", 4096,
		  "w4096+4096 W8192+4096", "w2 f w1 " },
		{ "and all of a page that has small blocks", 512,
		  "w0+512 w4096+512 W5120+512", "w8 w10 f w0 " },
		{ "what must be durable before comes before", 4096,
		  "w4096+4096 P10+4", "w1 f r0 w0 " },
		{ "blocks of 512 bytes: the edges are read", 512,
		  "w32+4000", "r0 r7 w0 w1 w2 w3 w4 w5 w6 w7 " },
		{ "what is discarded is not written", 4096,
		  "w0+12288 d4096+4096", "d1 w0 w2 " },
		{ "and has to be read again", 4096,
		  "w0+4096 f d0+4096 w0+4", "w0 f d0 r0 w0 " },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *got = sent(rows[i].block, rows[i].requests);

		CHECK(!strcmp(got, rows[i].want), "%s: %s for %s", rows[i].what,
		      got, rows[i].want);
	}
}

/* All over a terabyte, so that stretches move. */
static void sent_of_many(void)
{
	enum { PAGES = 5000, APART = 50021 };
	struct page_cache *cache = page_cache_new(4096);
	CLEANUP_FREE unsigned int *times = calloc(PAGES, sizeof(*times));
	struct log log = { .block = 4096 };
	uint64_t want_reads = 0, reads = 0, writes = 0, last = 0, n;
	unsigned int distinct = 0, i;
	CLEANUP_FREE char *text = NULL;
	char *word, *rest;
	size_t size;

	log.file = open_memstream(&text, &size);
	srand48(3);
	for (i = 0; i < PAGES; i++) {
		unsigned int page = lrand48() % PAGES;
		const struct trace_request request = {
			.op = TRACE_WRITE, .bytes = i % 2 ? 4096 : 8,
			.offset = page * APART * 4096ULL,
		};

		distinct += !times[page];
		want_reads += !times[page]++ && i % 2 == 0;
		page_cache_do(cache, &request, note, &log);
	}
	page_cache_end(cache, note, &log);
	fclose(log.file);
	for (rest = text; (word = strsep(&rest, " ")) && *word; ) {
		n = strtoull(word + 1, NULL, 10);
		reads += *word == 'r';
		if (*word == 'r')
			continue;
		CHECK(n > last || !writes, "%s after %" PRIu64, word, last);
		CHECK(n % APART == 0 && times[n / APART], "%s", word);
		last = n;
		writes++;
	}
	CHECK(reads == want_reads && writes == distinct, "%" PRIu64
	      " reads for %" PRIu64 ", %" PRIu64 " writes for %u", reads,
	      want_reads, writes, distinct);
	page_cache_free(cache);
}

/* @name on blocks of 4096 bytes, moved by @shift sectors. */
static struct forecast *forecast_of(const char *name, uint64_t count,
				    uint64_t shift, uint32_t cache_block)
{
	struct forecast *f = memory_or_exit(malloc(sizeof(*f)));
	struct align_geometry g;
	struct source source;

	align_geometry_init(&g, 4096, 512, 0, 0, 1953525168);
	CHECK(!source_open(&source, name), "%s", name);
	source.plan.count = count;
	CHECK(!forecast_make(f, &source, &g, shift, cache_block), "%s", name);
	source_close(&source);
	return f;
}

/* The rows of the study, as published, but for the count. */
static void workloads_through_the_cache(void)
{
	CLEANUP_FREE struct forecast *r4000 =
		forecast_of("records-4000", 10000, 0, 4096);
	CLEANUP_FREE struct forecast *r4096 =
		forecast_of("records-4096", 10000, 0, 4096);
	CLEANUP_FREE struct forecast *sync =
		forecast_of("areasync", 100, 0, 4096);
	CLEANUP_FREE struct forecast *shifted =
		forecast_of("areasync", 100, 5, 4096);
	CLEANUP_FREE struct forecast *small =
		forecast_of("areasync", 100, 0, 512);
	CLEANUP_FREE uint8_t *pages = calloc(40000000000 / 4096 + 17, 1);
	uint64_t distinct = 0, request;
	struct plan plan;

	plan_init(&plan, workload_find("records-4000"));
	for (request = 0; request < 10000; request++) {
		uint32_t bytes;
		uint64_t at = plan_request(&plan, request, &bytes);
		uint64_t page, last = (at + bytes - 1) / 4096;

		for (page = at / 4096; page <= last; page++)
			distinct += !pages[page]++;
	}
	CHECK(r4000->requests[TRACE_WRITE] == distinct &&
	      r4000->requests[TRACE_READ] == distinct &&
	      r4000->figures.reads == distinct && !r4000->figures.touches &&
	      r4000->issued[TRACE_WRITE] == 10000 && distinct > 19000,
	      "%" PRIu64 " pages, %" PRIu64 " read", distinct,
	      r4000->figures.reads);
	CHECK(!r4096->requests[TRACE_READ] && !r4096->figures.touches &&
	      r4096->figures.distinct == r4096->requests[TRACE_WRITE],
	      "%" PRIu64 " reads", r4096->requests[TRACE_READ]);
	CHECK(sync->requests[TRACE_WRITE] == 400 && !sync->figures.touches &&
	      sync->requests[TRACE_FLUSH] == 400 && sync->figures.reads == 4,
	      "%" PRIu64 " touches", sync->figures.touches);
	CHECK(shifted->figures.touches == 800 && shifted->figures.rmin == 8 &&
	      shifted->pad.host == 8 && sync->shifted[5] == 800,
	      "%" PRIu64 " touches, rmin %" PRIu64, shifted->figures.touches,
	      shifted->figures.rmin);
	CHECK(small->figures.touches == 400 && small->figures.rmin == 4 &&
	      small->bytes[TRACE_WRITE] == 400 * 512, "%" PRIu64 " touches",
	      small->figures.touches);
}

const struct tap_test buffered_tests[] = {
	{ "buffered requests of any bytes and threads leave what one after the other would",
	  same_bytes },
	{ "a write waits for what overlaps, and for zeroes in its page",
	  zeroes_have_their_pages },
	{ "a byte that is wrong is seen, with parts of any length in the model",
	  sees_every_byte },
	{ "so it is with more pieces than there is room for", many_pieces },
	{ "four stale bytes are told from those of the last write", stale_bytes },
	{ "bytes of a write that failed may be anything, those beside it not",
	  failed_bytes },
	{ "a part of the stream is of its place, its request and its run",
	  stream_of_bytes },
	{ "any bytes go through the page cache, but not to a state",
	  places_of_any_bytes },
	{ "draws take any place, as often as chance has it", draws },
	{ "what the page cache sends is what was worked out by hand",
	  sent_by_the_cache },
	{ "pages far apart are read once, and written in order", sent_of_many },
	{ "records and commits cost what was published",
	  workloads_through_the_cache },
	{ 0 },
};
