// SPDX-License-Identifier: GPL-2.0
/* Against pages that two kernels wrote: see record/capture. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "record/bio_event.h"
#include "record/record.h"
#include "record/ring_page.h"
#include "record/tracefs.h"
#include "sysfs/sysfs.h"
#include "tests/tap.h"
#include "tests/tree.h"

#define MAX_REQUESTS	512
#define SDA1_START	32
#define SDA1_SECTORS	64480
#define LIN_START	(SDA1_START + 8)

static const char *const kernels[] = { "6.1", "6.12" };

#define NR_KERNELS	(sizeof(kernels) / sizeof(kernels[0]))

/* What was captured on one kernel. */
struct capture {
	char *dir;
	struct ring_format page;
	struct bio_format event;
};

/* A file of the capture, with a 0 behind it; for free(). */
static char *captured(const struct capture *capture, const char *name,
		      size_t *bytes)
{
	CLEANUP_FREE char *path = message_format("%s/%s", capture->dir, name);
	CLEANUP_FCLOSE FILE *stream = fopen(path, "r");
	char *text = calloc(1, 1 << 16);

	CHECK(stream, "%s", path);
	*bytes = stream ? fread(text, 1, (1 << 16) - 1, stream) : 0;
	return text;
}

static void capture_open(struct capture *capture, const char *kernel)
{
	CLEANUP_FREE char *here = strdup(__FILE__);
	char *page, *event;
	size_t bytes;

	strrchr(here, '/')[0] = '\0';
	capture->dir = message_format("%s/%s", here, kernel);
	page = captured(capture, "header_page", &bytes);
	event = captured(capture, "format", &bytes);
	CHECK(ring_format_parse(&capture->page, page), "%s", page);
	CHECK(bio_format_parse(&capture->event, event, true), "%s", event);
	free(page);
	free(event);
}

static void capture_close(struct capture *capture)
{
	free(capture->dir);
}

struct requests {
	size_t nr;
	struct trace_request row[MAX_REQUESTS];
};

/* Adds what the pages of a file say of a range, and counts all events. */
static size_t read_pages(const struct capture *capture, const char *name,
			 const struct bio_range *range,
			 struct requests *requests)
{
	size_t bytes, at, events = 0;
	char *pages = captured(capture, name, &bytes);
	struct ring_event event;
	struct ring_page page;
	enum ring_next next;

	CHECK(bytes && !(bytes % PAGE_BYTES), "%zu", bytes);
	CHECK(ring_format_bytes(&capture->page) == PAGE_BYTES, "page");
	for (at = 0; at + PAGE_BYTES <= bytes; at += PAGE_BYTES) {
		CHECK(ring_page_open(&page, &capture->page, pages + at,
				     PAGE_BYTES), "page at %zu", at);
		while ((next = ring_page_next(&page, &event)) == RING_EVENT) {
			struct trace_request request;
			enum bio_kind kind;

			events++;
			kind = bio_event_read(&capture->event, &event, range,
					      &request);
			CHECK(kind == BIO_REQUEST || kind == BIO_ELSEWHERE,
			      "%d", kind);
			if (kind == BIO_REQUEST &&
			    requests->nr < MAX_REQUESTS)
				requests->row[requests->nr++] = request;
		}
		CHECK(next == RING_END, "%d", next);
	}
	free(pages);
	return events;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_request *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void read_all(const struct capture *capture,
		     const struct bio_range *range, struct requests *requests)
{
	requests->nr = 0;
	read_pages(capture, "cpu0", range, requests);
	read_pages(capture, "cpu1", range, requests);
	qsort(requests->row, requests->nr, sizeof(requests->row[0]), by_time);
}

static void expect(struct requests *requests, enum trace_op op,
		   uint64_t offset, uint64_t bytes, bool fua, const char *comm)
{
	struct trace_request *row = &requests->row[requests->nr++];

	*row = (struct trace_request) {
		.op = op, .offset = offset, .bytes = bytes, .fua = fua,
	};
	strncpy(row->comm, comm, sizeof(row->comm) - 1);
}

/* What capture makes of each device; @start: where it is on that looked at. */
static void expect_each(struct requests *requests, uint64_t start,
			const char *comm)
{
	start *= 512;
	expect(requests, TRACE_WRITE, start + 512, 4096, false, comm);
	expect(requests, TRACE_READ, start, 512, false, comm);
	expect(requests, TRACE_FLUSH, 0, 0, false, comm);
	/* O_DSYNC is both: FUA, and a flush behind it */
	expect(requests, TRACE_WRITE, start + 8192, 1536, true, comm);
	expect(requests, TRACE_FLUSH, 0, 0, false, comm);
	expect(requests, TRACE_DISCARD, start + 65536, 65536, false, comm);
	expect(requests, TRACE_WRITE_ZEROES, start + 131072, 8192, false, comm);
	/* whole, although the disk takes less at once */
	expect(requests, TRACE_WRITE, start + 3584, 1 << 20, false, comm);
}

static void compare(const char *what, const struct requests *got,
		    const struct requests *want)
{
	size_t i;

	CHECK(got->nr == want->nr, "%s: %zu of %zu", what, got->nr, want->nr);
	for (i = 0; i < got->nr && i < want->nr; i++) {
		const struct trace_request *g = &got->row[i];
		const struct trace_request *w = &want->row[i];

		CHECK(g->op == w->op && g->offset == w->offset &&
		      g->bytes == w->bytes && g->fua == w->fua &&
		      !g->preflush && !strcmp(g->comm, w->comm),
		      "%s: request %zu: %d %llu %llu %d '%s'", what, i, g->op,
		      (unsigned long long)g->offset,
		      (unsigned long long)g->bytes, g->fua, g->comm);
		CHECK(g->pid && g->pid == got->row[0].pid, "%u", g->pid);
		CHECK(g->time_ns && (!i || g->time_ns >= g[-1].time_ns),
		      "time of %zu", i);
	}
}

static const char plain[] = "plain", odd[] = "a b]c [%\\x",
		  longest[] = "sixteen-bytes-x";

static void disk(void)
{
	const struct bio_range range = {
		.dev = bio_event_devno(makedev(8, 0)) };
	struct requests got, want;
	struct capture capture;
	size_t i, k;

	for (i = 0; i < NR_KERNELS; i++) {
		capture_open(&capture, kernels[i]);
		read_all(&capture, &range, &got);
		want.nr = 0;
		expect_each(&want, 0, plain);
		expect_each(&want, SDA1_START, odd);
		expect_each(&want, LIN_START, longest);
		expect(&want, TRACE_WRITE, 1024, 512, false, "tabs\tnewline\n");
		for (k = 0; k < 200; k++)
			expect(&want, k % 3 ? TRACE_WRITE : TRACE_READ,
			       4096 * k + 512 * (k % 8), 512 * (1 + k % 9),
			       false, "late");
		compare(kernels[i], &got, &want);
		capture_close(&capture);
	}
}

static void volume(void)
{
	const struct bio_range range = {
		.dev = bio_event_devno(makedev(253, 0)) };
	struct requests got, want;
	struct capture capture;
	size_t i;

	for (i = 0; i < NR_KERNELS; i++) {
		capture_open(&capture, kernels[i]);
		read_all(&capture, &range, &got);
		want.nr = 0;
		expect_each(&want, 0, longest);
		compare(kernels[i], &got, &want);
		capture_close(&capture);
	}
}

static void partition(void)
{
	const struct bio_range range = {
		.dev = bio_event_devno(makedev(8, 0)),
		.start = SDA1_START, .sectors = SDA1_SECTORS };
	struct requests got, want;
	struct capture capture;
	size_t i, k, last;

	for (i = 0; i < NR_KERNELS; i++) {
		capture_open(&capture, kernels[i]);
		read_all(&capture, &range, &got);
		want.nr = 0;
		/* of the disk's own, what reaches into the partition */
		expect(&want, TRACE_FLUSH, 0, 0, false, plain);
		expect(&want, TRACE_FLUSH, 0, 0, false, plain);
		expect(&want, TRACE_DISCARD, 65536 - 512 * SDA1_START, 65536,
		       false, plain);
		expect(&want, TRACE_WRITE_ZEROES, 131072 - 512 * SDA1_START,
		       8192, false, plain);
		expect(&want, TRACE_WRITE, 0, (1 << 20) - 512 *
		       (SDA1_START - 7), false, plain);
		expect_each(&want, 0, odd);
		expect_each(&want, LIN_START - SDA1_START, longest);
		for (k = 0; k < 200; k++) {
			size_t first = 8 * k + k % 8, end = first + 1 + k % 9;

			if (end <= SDA1_START)
				continue;
			last = first < SDA1_START ? SDA1_START : first;
			expect(&want, k % 3 ? TRACE_WRITE : TRACE_READ,
			       512 * (last - SDA1_START), 512 * (end - last),
			       false, "late");
		}
		compare(kernels[i], &got, &want);
		capture_close(&capture);
	}
}

/*
 * The mark of a loss is not part of a page's length. Requests went to 4096 * k,
 * for k up to 499, and the kernel's buffer took some of them.
 */
static void overrun(void)
{
	const struct bio_range range = {
		.dev = bio_event_devno(makedev(8, 0)) };
	struct requests got = { 0 };
	struct capture capture;
	size_t i, nr, bytes;
	char *pages, *at;

	for (i = 0; i < NR_KERNELS; i++) {
		uint64_t commit, k = 0, lost = 0;

		capture_open(&capture, kernels[i]);
		got.nr = 0;
		CHECK(read_pages(&capture, "overrun", &range, &got) == got.nr,
		      "events of other kinds");
		pages = captured(&capture, "overrun", &bytes);
		nr = 0;
		for (at = pages; at < pages + bytes; at += PAGE_BYTES) {
			struct ring_event event;
			struct ring_page page;

			memcpy(&commit, at + 8, sizeof(commit));
			if (commit >> 31 && nr < got.nr) {
				lost += got.row[nr].offset / 4096 - k;
				k = got.row[nr].offset / 4096;
			}
			ring_page_open(&page, &capture.page, at, PAGE_BYTES);
			for (; ring_page_next(&page, &event) == RING_EVENT; k++)
				CHECK(nr < got.nr &&
				      got.row[nr++].offset == 4096 * k,
				      "request %zu", nr);
		}
		CHECK(lost && k == 500 && nr == got.nr, "%zu and %llu lost", nr,
		      (unsigned long long)lost);
		free(pages);
		capture_close(&capture);
	}
}

/* A page made here: its header, and what is put behind it. */
struct made {
	struct ring_format format;
	uint64_t time;
	uint64_t commit;
	uint32_t word[64];
};

static void made_init(struct made *made, uint64_t time)
{
	*made = (struct made) {
		.format = {
			.time = { 0, 8 },
			.commit = { 8, 8 },
			.data = { 16, sizeof(made->word) },
		},
		.time = time,
	};
}

static void put(struct made *made, uint32_t word)
{
	made->word[made->commit / 4] = word;
	made->commit += 4;
}

/* Type and delta as bit fields on a little-endian machine. */
static void put_header(struct made *made, uint32_t type, uint32_t delta)
{
	put(made, delta << 5 | type);
}

static bool made_open(struct ring_page *page, const struct made *made)
{
	return ring_page_open(page, &made->format, &made->time,
			      16 + sizeof(made->word));
}

static void times(void)
{
	struct ring_event event;
	struct ring_page page;
	struct made made;

	made_init(&made, (1ULL << 59) + 1000);
	put_header(&made, 1, 5);		/* 4 bytes */
	put(&made, 0xa);
	put_header(&made, 30, 7);		/* later by 3 * 2^27 + 7 */
	put(&made, 3);
	put_header(&made, 29, 2);		/* taken back, 8 bytes in all */
	put(&made, 4);
	put_header(&made, 0, 1);		/* its length follows */
	put(&made, 4 + 6);
	put(&made, 0xb);
	put(&made, 0xc);
	put_header(&made, 31, 9);		/* at 2^27 + 9 */
	put(&made, 1);
	put_header(&made, 2, 0);
	put(&made, 0xd);
	put(&made, 0xe);
	put_header(&made, 29, 0);		/* nothing more */
	put(&made, 0xf);
	made.commit |= 3ULL << 30;		/* after a loss of so many */

	CHECK(made_open(&page, &made), "page");
	CHECK(ring_page_next(&page, &event) == RING_EVENT, "1");
	CHECK(event.time_ns == (1ULL << 59) + 1005 && event.bytes == 4 &&
	      *event.data == 0xa, "1");
	CHECK(ring_page_next(&page, &event) == RING_EVENT, "2");
	CHECK(event.time_ns == (1ULL << 59) + 1005 + (3ULL << 27) + 7 + 2 + 1 &&
	      event.bytes == 6 && *event.data == 0xb, "2");
	CHECK(ring_page_next(&page, &event) == RING_EVENT, "3");
	CHECK(event.time_ns == (1ULL << 59) + (1ULL << 27) + 9 &&
	      event.bytes == 8 && *event.data == 0xd, "3");
	CHECK(ring_page_next(&page, &event) == RING_END, "4");
}

static void broken_pages(void)
{
	struct ring_event event;
	struct ring_page page;
	struct made made;

	made_init(&made, 1);
	made.commit = sizeof(made.word) + 1;
	CHECK(!made_open(&page, &made), "longer than the page");
	CHECK(!ring_page_open(&page, &made.format, &made.time, 15), "short");

	made_init(&made, 1);
	put_header(&made, 3, 1);
	put(&made, 0);
	CHECK(made_open(&page, &made), "page");
	CHECK(ring_page_next(&page, &event) == RING_BROKEN, "event cut off");

	made_init(&made, 1);
	put_header(&made, 0, 1);
	put(&made, 3);
	CHECK(made_open(&page, &made), "page");
	CHECK(ring_page_next(&page, &event) == RING_BROKEN, "length below 4");

	made_init(&made, 1);
	put_header(&made, 30, 1);
	CHECK(made_open(&page, &made), "page");
	CHECK(ring_page_next(&page, &event) == RING_BROKEN, "time cut off");

	made_init(&made, 1);
	put_header(&made, 1, 1);
	put(&made, 0);
	made.commit += 2;
	CHECK(made_open(&page, &made), "page");
	CHECK(ring_page_next(&page, &event) == RING_EVENT, "one");
	CHECK(ring_page_next(&page, &event) == RING_BROKEN, "half a word");
}

static void descriptions(void)
{
	static const char page[] =
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:%s;\tsigned:1;\n"
		"\tfield: int overcommit;\toffset:99;\tsize:8;\tsigned:1;\n"
		"\tfield: char data;\toffset:%s;\tsize:4080;\tsigned:1;\n";
	static const char completed[] = "name: block_bio_complete\nID: 1054\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:unsigned nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:1;\n";
	static const struct { const char *size, *offset; bool fine; } rows[] = {
		{ "8", "16", true }, { "4", "12", true }, { "2", "16", false },
		{ "8", "12", false }, { "8", "x", false }, { "8", "", false },
		{ "8", "99999999", false },
	};
	struct ring_format format;
	struct ring_field field;
	struct bio_format event;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *text = message_format(
			page, rows[i].size, rows[i].offset);

		CHECK(ring_format_parse(&format, text) == rows[i].fine,
		      "row %zu", i);
	}
	CHECK(!ring_field_find(&field, "\tfield: u64 timestamp;\n\toffset:0;",
			       "timestamp"), "on the next line");
	CHECK(!bio_format_parse(&event, "name: x\nID: 7\nformat:\n", true),
	      "empty");
	CHECK(bio_format_parse(&event, completed, false) && event.id == 1054 &&
	      event.rwbs.offset == 32 && !event.comm.bytes, "completed");
	CHECK(!bio_format_parse(&event, completed, true), "no comm");
}

static void kinds(void)
{
	static const struct {
		const char *rwbs;
		uint32_t sectors;
		bool zoned;
		enum bio_kind kind;
		enum trace_op op;
		bool preflush, fua;
	} rows[] = {
		{ "R", 8, false, BIO_REQUEST, TRACE_READ, false, false },
		{ "RA", 8, false, BIO_REQUEST, TRACE_READ, false, false },
		{ "WFS", 8, false, BIO_REQUEST, TRACE_WRITE, false, true },
		{ "FWFSM", 8, false, BIO_REQUEST, TRACE_WRITE, true, true },
		{ "FWS", 8, false, BIO_REQUEST, TRACE_WRITE, true, false },
		{ "FWS", 0, false, BIO_REQUEST, TRACE_FLUSH, false, false },
		{ "FWFS", 0, false, BIO_REQUEST, TRACE_FLUSH, false, false },
		{ "D", 8, true, BIO_REQUEST, TRACE_DISCARD, false, false },
		{ "DES", 8, false, BIO_SECURE_ERASE, TRACE_DISCARD, false,
		  false },
		{ "NS", 8, false, BIO_REQUEST, TRACE_WRITE_ZEROES, false,
		  false },
		{ "NF", 8, false, BIO_REQUEST, TRACE_WRITE_ZEROES, false,
		  true },
		{ "WZS", 8, true, BIO_REQUEST, TRACE_WRITE_ZEROES, false,
		  false },
		{ "N", 8, true, BIO_UNKNOWN, 0, false, false },
		{ "N", 0, true, BIO_UNKNOWN, 0, false, false },
		{ "W", 0, false, BIO_UNKNOWN, 0, false, false },
		{ "ZA", 8, false, BIO_UNKNOWN, 0, false, false },
		{ "", 8, false, BIO_UNKNOWN, 0, false, false },
		{ "R", 9, false, BIO_ELSEWHERE, 0, false, false },
	};
	/* as 6.1 has it */
	struct {
		uint16_t common_type;
		uint16_t flags;
		uint32_t common_pid;
		uint32_t dev;
		uint64_t sector;
		uint32_t nr_sector;
		char rwbs[8];
		char comm[16];
	} fields = { .common_type = 1055, .common_pid = 77, .dev = 8 << 20 };
	struct bio_range range = { .dev = 8 << 20, .start = 100,
				   .sectors = 50 };
	struct ring_event event = { 1, (void *)&fields, sizeof(fields) };
	struct capture capture;
	size_t i;

	capture_open(&capture, "6.1");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_request request;
		enum bio_kind kind;

		memset(fields.rwbs, 0, sizeof(fields.rwbs));
		strcpy(fields.rwbs, rows[i].rwbs);
		memset(fields.comm, 'x', sizeof(fields.comm));
		fields.nr_sector = rows[i].sectors;
		fields.sector = rows[i].kind == BIO_ELSEWHERE ? 150 : 147;
		range.zoned = rows[i].zoned;
		kind = bio_event_read(&capture.event, &event, &range, &request);
		CHECK(kind == rows[i].kind, "row %zu: %d", i, kind);
		if (rows[i].kind > BIO_SECURE_ERASE)
			continue;
		CHECK(request.op == rows[i].op &&
		      request.preflush == rows[i].preflush &&
		      request.fua == rows[i].fua, "row %zu", i);
		/* cut at the end of the range */
		CHECK(request.offset == (rows[i].sectors ? 47 * 512 : 0) &&
		      request.bytes == (rows[i].sectors ? 3 * 512 : 0),
		      "row %zu", i);
		CHECK(request.pid == 77 && strlen(request.comm) == 15,
		      "row %zu", i);
	}
	event.bytes = 40;
	CHECK(bio_event_read(&capture.event, &event, &range,
			     &(struct trace_request) { 0 }) == BIO_BROKEN,
	      "short event");
	fields.common_type++;
	CHECK(bio_event_read(&capture.event, &event, &range,
			     &(struct trace_request) { 0 }) == BIO_ELSEWHERE,
	      "another event");
	capture_close(&capture);
}

static void lost(void)
{
	static const char stats[] =
		"entries: 147\noverrun: 203\ncommit overrun: 4\nbytes: 8940\n"
		"oldest event ts:    62.251198\nnow ts:    64.397912\n"
		"dropped events: 1000\nread events: 5";
	uint64_t n;

	CHECK(tracefs_parse_lost(stats, &n) && n == 1207, "%llu",
	      (unsigned long long)n);
	CHECK(!tracefs_parse_lost("entries: 1\noverrun: 2\n", &n), "half");
	CHECK(!tracefs_parse_lost("", &n), "nothing");
}

static bool exists(const char *name)
{
	CLEANUP_FREE char *path = sysfs_path("/sys/kernel/tracing/instances/%s",
					     name);

	return !access(path, F_OK);
}

static void instance(const char *name)
{
	CLEANUP_FREE char *file = message_format(
		"/sys/kernel/tracing/instances/%s/x", name);
	CLEANUP_FREE char *path = sysfs_path("%s", file);

	tree_file(file, "");
	unlink(path);
}

static void instances(void)
{
	struct tracefs tracefs;
	pid_t child = fork();
	CLEANUP_FREE char *stale = message_format("alignctl-%d", child);
	CLEANUP_FREE char *own = message_format("alignctl-%d", getpid());

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	tree_open();
	instance(stale);
	instance("alignctl-1");		/* of a process that lives */
	instance("alignctl-x");
	instance("trace-cmd");
	instance(own);			/* of a process before us */
	CHECK(tracefs_open(&tracefs) == ALIGNCTL_FINE, "open");
	CHECK(!exists(stale) && exists(own), "stale, own");
	CHECK(exists("alignctl-1") && exists("alignctl-x") &&
	      exists("trace-cmd"), "of others");
	tracefs_close(&tracefs);
	CHECK(!exists(own) && exists("alignctl-1"), "closed");
	tree_close();
}

/* Touches of writes and of write-zeroes, if the device's blocks are known. */
static void touches(void)
{
	static const struct trace_request requests[] = {
		{ .op = TRACE_WRITE, .offset = 512, .bytes = 4096 },
		{ .op = TRACE_WRITE, .offset = 4096, .bytes = 4096 },
		{ .op = TRACE_WRITE_ZEROES, .offset = 8192, .bytes = 8192 },
		{ .op = TRACE_WRITE_ZEROES, .offset = 512, .bytes = 512 },
		{ .op = TRACE_WRITE_ZEROES, .offset = 512, .bytes = 8192 },
		{ .op = TRACE_DISCARD, .offset = 512, .bytes = 8192 },
		{ .op = TRACE_READ, .offset = 512, .bytes = 8192 },
		{ .op = TRACE_FLUSH },
	};
	struct record known = { .blocks_known = true }, unknown = { 0 };
	size_t i;

	align_geometry_init(&known.geometry, 4096, 512, 0, 0, 64);
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		record_count(&known, &requests[i]);
		record_count(&unknown, &requests[i]);
	}
	CHECK(known.misaligned == 1 && known.touches == 5 &&
	      known.zeroes_misaligned == 2 && known.zero_touches == 3,
	      "%" PRIu64 " touches, %" PRIu64 " of zeroes", known.touches,
	      known.zero_touches);
	CHECK(!unknown.touches && !unknown.zeroes_misaligned &&
	      unknown.count[TRACE_WRITE_ZEROES] == 3 &&
	      unknown.bytes[TRACE_WRITE_ZEROES] == 16896, "unknown blocks");
}

const struct tap_test record_tests[] = {
	{ "all requests of a disk are read from pages of each kernel", disk },
	{ "those of a volume are those sent to it", volume },
	{ "a partition's are counted from its start, and cut at its edges",
	  partition },
	{ "a page after losses has its events and no more", overrun },
	{ "times are sums, and what was taken back is skipped", times },
	{ "a broken page is told from a whole one", broken_pages },
	{ "a description that is not understood is refused", descriptions },
	{ "each kind of request is told by its letters", kinds },
	{ "events that were lost are counted, or it is said that they cannot be",
	  lost },
	{ "instances of processes that are gone are removed, and no others",
	  instances },
	{ "touches of writes and of write-zeroes are counted together and apart",
	  touches },
	{ 0 },
};
