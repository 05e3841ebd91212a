// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's descriptions of pages and events, up to a 0 (empty: those of
 * Linux 6.1), followed by a page.
 */
#include "fuzz.h"
#include "record/bio_event.h"

static const char usual[] =
	"name: block_bio_queue\nID: 1055\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:char rwbs[8];\toffset:28;\tsize:8;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:36;\tsize:16;\tsigned:1;\n"
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

/* Check that a request lies in the range and is valid. */
static void check_request(const struct trace_request *request,
			  const struct bio_range *range)
{
	FUZZ_CHECK(request->op < TRACE_NR_OPS);
	FUZZ_CHECK(memchr(request->comm, 0, sizeof(request->comm)));
	FUZZ_CHECK(!(request->offset % 512) && !(request->bytes % 512));
	FUZZ_CHECK(request->op == TRACE_FLUSH ? !request->bytes &&
		   !request->offset && !request->fua && !request->preflush :
		   request->bytes > 0);
	if (range->sectors)
		FUZZ_CHECK(request->offset <= range->sectors * 512 &&
			   request->bytes <= range->sectors * 512 -
			   request->offset);
	FUZZ_CHECK(request->offset <= UINT64_MAX - request->bytes);
}

static void check_event(const struct bio_format *format,
			const struct ring_event *event, const uint8_t *page,
			size_t size)
{
	static const struct bio_range ranges[] = {
		{ .dev = 8 << 20 },
		{ .dev = 8 << 20, .zoned = true },
		{ .dev = 8 << 20, .start = 32, .sectors = 64 },
	};
	size_t i;

	FUZZ_CHECK(event->data >= page && event->bytes <= size &&
		   event->data + event->bytes <= page + size);
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct trace_request request;
		enum bio_kind kind;

		kind = bio_event_read(format, event, &ranges[i], &request);
		if (kind == BIO_REQUEST || kind == BIO_SECURE_ERASE)
			check_request(&request, &ranges[i]);
		FUZZ_CHECK(kind != BIO_SECURE_ERASE ||
			   request.op == TRACE_DISCARD);
		/* a malformed event is malformed for all ranges */
		FUZZ_CHECK(!i || (kind == BIO_BROKEN) ==
			   (bio_event_read(format, event, &ranges[0],
					   &request) == BIO_BROKEN));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	size_t length = end ? (size_t)(end - data) : size;
	char *text = fuzz_text(data, length);
	const char *description = length ? text : usual;
	struct ring_format page_format;
	struct bio_format event_format;
	struct ring_event event;
	struct ring_page page;
	enum ring_next next;
	uint8_t *bytes;
	size_t nr = 0;

	if (!ring_format_parse(&page_format, description) ||
	    !bio_format_parse(&event_format, description, !size || *data % 2)) {
		FUZZ_CHECK(length);
		free(text);
		return 0;
	}
	size -= length + !!end;
	bytes = malloc(size + 1);
	FUZZ_CHECK(bytes);
	if (size)
		memcpy(bytes, end + 1, size);
	/* the sanitizer sees reads beyond the page */
	bytes = realloc(bytes, size ? size : 1);
	FUZZ_CHECK(bytes);
	if (ring_page_open(&page, &page_format, bytes, size)) {
		while ((next = ring_page_next(&page, &event)) == RING_EVENT) {
			FUZZ_CHECK(++nr <= size / 4);
			check_event(&event_format, &event, bytes, size);
		}
		FUZZ_CHECK(next == RING_END || next == RING_BROKEN);
	}
	free(bytes);
	free(text);
	return 0;
}
