// SPDX-License-Identifier: GPL-2.0
/* Read alignctl's own recordings; recording.h describes the format. */
#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "trace/crc32c.h"
#include "trace/format.h"
#include "trace/recording.h"

static_assert(sizeof(struct recording_header) == 256, "no gaps");
static_assert(sizeof(struct recording_chunk) == 12, "no gaps");

/**
 * struct recording - a recording that is being read
 * @header: the header, in the host's byte order
 * @contexts: the contexts as defined so far
 * @context: number of the previous request's context
 * @time_ns: time of the previous request
 * @position: byte at which the previous request ended
 * @length: length of the previous request, bytes
 * @nr: number of requests so far
 * @end: byte after the last byte that requests so far reach
 * @used: files that requests so far went to
 * @left: number of the chunk's requests that have not been read
 * @body_byte: position of the chunk's body in the file
 * @bytes: size of the chunk's body
 * @next: index in @body of the next byte to read
 * @body: the chunk's body
 */
struct recording {
	struct recording_header header;
	struct recording_context contexts[RECORDING_CONTEXTS];
	uint32_t context;
	uint64_t time_ns;
	uint64_t position;
	uint64_t length;
	uint64_t nr;
	uint64_t end;
	bool used[TRACE_MAX_FILES];
	uint32_t left;
	uint64_t body_byte;
	uint32_t bytes;
	uint32_t next;
	uint8_t body[RECORDING_BODY];
};

static bool recording_recognize(const char *head, size_t length)
{
	size_t magic = strlen(RECORDING_MAGIC);

	/* accept a part, so that a truncated recording is called one */
	return !memcmp(head, RECORDING_MAGIC, length < magic ? length : magic);
}

static const char *take_header(struct recording_header *h)
{
	uint32_t crc = crc32c(0, h, offsetof(struct recording_header, crc));

	h->version = le32toh(h->version);
	h->bytes = le32toh(h->bytes);
	h->start_ns = le64toh(h->start_ns);
	h->nr = le64toh(h->nr);
	h->end = le64toh(h->end);
	h->logical = le32toh(h->logical);
	h->physical = le32toh(h->physical);
	h->last_ns = le64toh(h->last_ns);
	h->lost = le64toh(h->lost);
	h->offset = le32toh(h->offset);
	h->offset_known = le32toh(h->offset_known);
	h->complete = le32toh(h->complete);
	if (h->version != RECORDING_VERSION)
		return "the version is not 1; a newer alignctl may read it";
	if (h->bytes != sizeof(*h) || le32toh(h->crc) != crc)
		return "the header is damaged: wrong checksum";
	if (!h->complete && !h->nr)
		return "unfinished and without requests: the recorder was killed";
	if (h->complete > 1 || h->end > TRACE_MAX_END || h->device[RECORDING_DEVICE - 1])
		return "the header is invalid";
	return NULL;
}

static int recording_open(struct trace *trace)
{
	struct recording *r = memory_or_exit(calloc(1, sizeof(*r)));
	struct recording_header *h = &r->header;
	const char *fault;
	ssize_t got;

	trace->state = r;
	got = trace_input_peek(&trace->input, sizeof(*h));
	if (got < 0)
		return trace_next_status(trace_input_failure(&trace->input));
	if ((size_t)got < sizeof(*h)) {
		trace->at.number = (uint64_t)got;
		trace_refuse(trace, "the file is truncated in its 256-byte header");
		return ALIGNCTL_USAGE;
	}
	memcpy(h, trace->input.buffer + trace->input.start, sizeof(*h));
	trace_input_take(&trace->input, sizeof(*h));
	fault = take_header(h);
	if (fault) {
		trace_refuse(trace, "%s", fault);
		return ALIGNCTL_USAGE;
	}
	if (!h->complete && !trace->told) {
		message_warning("%s: unfinished; it has %" PRIu64 " requests, up to %.3f s",
				trace->input.path, h->nr, ns_to_s(h->last_ns));
		trace->told = true;
	}
	trace->facts = (struct trace_facts) {
		.format = "recording",
		.timed = true,
		.end_known = true,
		.end = h->end,
		.nr_known = true,
		.nr = h->nr,
		.origin = {
			.device = *h->device ? h->device : NULL,
			.logical = h->logical,
			.physical = h->physical,
			.offset_known = h->offset_known,
			.offset = h->offset,
			.start_ns = h->start_ns,
			.lost = h->lost,
		},
	};
	return ALIGNCTL_FINE;
}

/* Report that the file ends before its last request. */
static enum trace_next refuse_cut(struct trace *trace)
{
	const struct recording *r = trace->state;

	trace->at.number = trace->input.byte +
			   (trace->input.end - trace->input.start);
	return trace_refuse(trace, "the file is truncated: %" PRIu64 " of %" PRIu64 " requests can be read",
			    r->nr, r->header.nr);
}

/* Read the next chunk and check its checksum. */
static enum trace_next take_chunk(struct trace *trace)
{
	struct recording *r = trace->state;
	struct trace_input *input = &trace->input;
	struct recording_chunk chunk;
	uint32_t crc;
	ssize_t got;

	trace->at.number = input->byte;
	/* the header does not count chunks written after it */
	if (!r->header.complete && r->nr == r->header.nr)
		return TRACE_END;
	got = trace_input_peek(input, sizeof(chunk));
	if (got < 0)
		return trace_input_failure(input);
	if (!got && r->nr == r->header.nr)
		return r->end == r->header.end ? TRACE_END :
		       trace_refuse(trace, "the requests end at byte %" PRIu64 ", the header says %" PRIu64,
				    r->end, r->header.end);
	if ((size_t)got < sizeof(chunk))
		return refuse_cut(trace);
	memcpy(&chunk, input->buffer + input->start, sizeof(chunk));
	trace_input_take(input, sizeof(chunk));
	crc = crc32c(0, &chunk, offsetof(struct recording_chunk, crc));
	r->bytes = le32toh(chunk.bytes);
	r->left = le32toh(chunk.nr);
	r->next = 0;
	r->body_byte = input->byte;
	if (!r->bytes || r->bytes > RECORDING_BODY)
		return trace_refuse(trace, "a chunk of %" PRIu32 " bytes; must be 1 to 65536",
				    r->bytes);
	got = trace_input_peek(input, r->bytes);
	if (got < 0)
		return trace_input_failure(input);
	if ((size_t)got < r->bytes)
		return refuse_cut(trace);
	memcpy(r->body, input->buffer + input->start, r->bytes);
	trace_input_take(input, r->bytes);
	if (crc32c(crc, r->body, r->bytes) != le32toh(chunk.crc))
		return trace_refuse(trace, "the chunk of %" PRIu32 " bytes that begins here is damaged: wrong checksum",
				    r->bytes);
	return TRACE_GOT;
}

/* Read a number; false if the chunk ends in it or it exceeds 64 bits. */
static bool take_number(struct recording *r, uint64_t *number)
{
	uint32_t shift;
	uint8_t byte;

	*number = 0;
	for (shift = 0; shift < 64 && r->next < r->bytes; shift += 7) {
		byte = r->body[r->next++];
		if (shift == 63 && byte > 1)
			return false;
		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool take_number_below(struct recording *r, uint64_t limit,
			      uint32_t *number)
{
	uint64_t value;

	if (!take_number(r, &value) || value >= limit)
		return false;
	*number = (uint32_t)value;
	return true;
}

/* Read a string of at most @max bytes; false if there is none. */
static bool take_text(struct recording *r, size_t max, char *text)
{
	uint32_t length;

	if (!take_number_below(r, max + 1, &length) ||
	    length > r->bytes - r->next ||
	    memchr(r->body + r->next, 0, length))
		return false;
	memcpy(text, r->body + r->next, length);
	text[length] = '\0';
	r->next += length;
	return true;
}

static const char *take_context(struct recording *r)
{
	struct recording_context *context;

	if (!take_number_below(r, RECORDING_CONTEXTS, &r->context))
		return "a context's number must be 0 to 255";
	context = &r->contexts[r->context];
	if (!take_number_below(r, 1ULL << 32, &context->pid) ||
	    !take_number_below(r, TRACE_MAX_FILES, &context->file) ||
	    !take_text(r, sizeof(context->comm) - 1, context->comm))
		return "a context is invalid";
	return NULL;
}

static const char *take_file(struct trace *trace)
{
	struct recording *r = trace->state;
	char name[TRACE_MAX_NAME + 1];
	uint32_t file;

	if (!take_number_below(r, TRACE_MAX_FILES, &file) ||
	    !take_text(r, TRACE_MAX_NAME, name))
		return "a file name is invalid";
	if (r->used[file])
		return "a file's first request precedes its name";
	return trace_names_set(&trace->files, file, name);
}

/* Read offset and length of a request. Return: NULL, or the error. */
static const char *take_extent(struct recording *r, uint8_t tag,
			       struct trace_request *request)
{
	uint32_t shift = tag & RECORDING_TAG_SECTORS ? 9 : 0;
	uint64_t distance, magnitude;
	bool sum_wraps;

	if (!take_number(r, &distance))
		return "a request's offset is invalid";
	request->bytes = r->length;
	if (!(tag & RECORDING_TAG_LENGTH)) {
		if (!take_number(r, &request->bytes) ||
		    request->bytes > TRACE_MAX_END >> shift)
			return "a request's length is invalid";
		request->bytes <<= shift;
	}
	magnitude = distance >> 1;
	if (magnitude > TRACE_MAX_END >> shift)
		return "a request's offset is invalid";
	magnitude <<= shift;
	if (distance & 1)
		sum_wraps = __builtin_sub_overflow(r->position, magnitude,
						   &request->offset);
	else
		sum_wraps = __builtin_add_overflow(r->position, magnitude,
						   &request->offset);
	if (sum_wraps || request->bytes > TRACE_MAX_END ||
	    request->offset > TRACE_MAX_END - request->bytes)
		return "a request's offset is invalid";
	r->position = request->offset + request->bytes;
	r->length = request->bytes;
	return r->position > r->header.end ?
	       "a request ends beyond the end in the header" : NULL;
}

static const char *take_request(struct recording *r, uint8_t tag,
				struct trace_request *request)
{
	const struct recording_context *context;
	const char *fault;
	uint64_t passed;

	request->op = tag & RECORDING_TAG_OP;
	request->preflush = tag & RECORDING_TAG_PREFLUSH;
	request->fua = tag & RECORDING_TAG_FUA;
	if (request->op >= TRACE_NR_OPS)
		return "unknown item: no request, context or file";
	if (!take_number(r, &passed) ||
	    __builtin_add_overflow(r->time_ns, passed, &r->time_ns))
		return "a request's time is invalid";
	request->time_ns = r->time_ns;
	if (tag & RECORDING_TAG_CONTEXT &&
	    !take_number_below(r, RECORDING_CONTEXTS, &r->context))
		return "a context's number must be 0 to 255";
	context = &r->contexts[r->context];
	request->pid = context->pid;
	request->file = context->file;
	memcpy(request->comm, context->comm, sizeof(request->comm));
	if (request->op != TRACE_FLUSH) {
		fault = take_extent(r, tag, request);
		if (fault)
			return fault;
	}
	if (!r->left || r->nr == r->header.nr)
		return "more requests than the header says";
	r->left--;
	r->nr++;
	r->used[request->file] = true;
	if (r->end < request->offset + request->bytes)
		r->end = request->offset + request->bytes;
	return NULL;
}

static enum trace_next recording_next(struct trace *trace,
				      struct trace_request *request)
{
	struct recording *r = trace->state;
	enum trace_next next;
	const char *fault;
	uint8_t tag;

	for (;;) {
		while (r->next == r->bytes) {
			if (r->left)
				return trace_refuse(trace, "the chunk has %" PRIu32 " requests fewer than it says",
						    r->left);
			next = take_chunk(trace);
			if (next != TRACE_GOT)
				return next;
		}
		trace->at.number = r->body_byte + r->next;
		tag = r->body[r->next++];
		if (tag == RECORDING_DEFINE)
			fault = take_context(r);
		else if (tag == RECORDING_FILE)
			fault = take_file(trace);
		else
			fault = take_request(r, tag, request);
		if (fault)
			return trace_refuse(trace, "%s", fault);
		if (tag != RECORDING_DEFINE && tag != RECORDING_FILE)
			return TRACE_GOT;
	}
}

const struct trace_format trace_recording = {
	.recognize = recording_recognize,
	.open = recording_open,
	.next = recording_next,
};
