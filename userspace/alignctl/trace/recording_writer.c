// SPDX-License-Identifier: GPL-2.0
/* Write alignctl's own recordings; recording.h describes the format. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/mix.h"
#include "geometry.h"
#include "trace/crc32c.h"
#include "trace/recording.h"
#include "trace/writer_format.h"

#define NUMBER_BYTES	10U

/* Limit of a request together with its context, and of a file's name. */
#define ITEM_BYTES	(8 * NUMBER_BYTES + TRACE_MAX_NAME)

/**
 * struct recorder - a recording that is being written
 * @contexts: the contexts as defined so far
 * @context: number of the previous request's context
 * @position: byte at which the previous request ended
 * @length: length of the previous request, bytes
 * @nr: number of requests in @body
 * @bytes: bytes of @body so far
 * @body: body of the next chunk
 */
struct recorder {
	struct recording_context contexts[RECORDING_CONTEXTS];
	uint32_t context;
	uint64_t position;
	uint64_t length;
	uint32_t nr;
	uint32_t bytes;
	uint8_t body[RECORDING_BODY];
};

static void put_header(struct trace_writer *writer, bool complete)
{
	const struct trace_origin *origin = &writer->origin;
	struct recording_header h = {
		.version = htole32(RECORDING_VERSION),
		.bytes = htole32(sizeof(h)),
		.start_ns = htole64(origin->start_ns),
		.nr = htole64(writer->nr),
		.end = htole64(writer->end),
		.last_ns = htole64(complete ? 0 : writer->last_ns),
		.logical = htole32(origin->logical),
		.physical = htole32(origin->physical),
		.lost = htole64(origin->lost),
		.offset = htole32(origin->offset),
		.offset_known = htole32(origin->offset_known),
		.complete = htole32(complete),
	};

	memcpy(h.magic, RECORDING_MAGIC, sizeof(h.magic));
	if (origin->device)
		memcpy(h.device, origin->device,
		       strnlen(origin->device, sizeof(h.device) - 1));
	h.crc = htole32(crc32c(0, &h, offsetof(struct recording_header, crc)));
	/* rewind() would clear the error of an earlier write */
	fseek(writer->stream, 0, SEEK_SET);
	fwrite(&h, sizeof(h), 1, writer->stream);
}

static void put_chunk(struct trace_writer *writer)
{
	struct recorder *r = writer->state;
	struct recording_chunk chunk = {
		.bytes = htole32(r->bytes),
		.nr = htole32(r->nr),
	};
	uint32_t crc = crc32c(0, &chunk, offsetof(struct recording_chunk, crc));

	if (!r->bytes)
		return;
	chunk.crc = htole32(crc32c(crc, r->body, r->bytes));
	fwrite(&chunk, sizeof(chunk), 1, writer->stream);
	fwrite(r->body, r->bytes, 1, writer->stream);
	r->bytes = r->nr = 0;
}

/* Begin a new chunk if the next item might cross the end of this one. */
static void make_room(struct trace_writer *writer)
{
	struct recorder *r = writer->state;

	if (r->bytes > RECORDING_BODY - ITEM_BYTES)
		put_chunk(writer);
}

static void put_number(struct recorder *r, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		r->body[r->bytes++] = (uint8_t)(number & 0x7f) | 0x80;
	r->body[r->bytes++] = (uint8_t)number;
}

static void put_text(struct recorder *r, const char *text)
{
	size_t length = strlen(text);

	put_number(r, length);
	memcpy(r->body + r->bytes, text, length);
	r->bytes += (uint32_t)length;
}

/* Find or define the request's context. Return: RECORDING_TAG_CONTEXT or 0. */
static uint8_t switch_context(struct recorder *r,
			      const struct trace_request *request)
{
	uint32_t number = mix64((uint64_t)request->file << 32 | request->pid) %
			  RECORDING_CONTEXTS;
	struct recording_context *context = &r->contexts[number];

	if (context->pid != request->pid || context->file != request->file ||
	    strcmp(context->comm, request->comm)) {
		context->pid = request->pid;
		context->file = request->file;
		memcpy(context->comm, request->comm, sizeof(context->comm));
		r->body[r->bytes++] = RECORDING_DEFINE;
		put_number(r, number);
		put_number(r, context->pid);
		put_number(r, context->file);
		put_text(r, context->comm);
		r->context = number;
	}
	if (r->context == number)
		return 0;
	r->context = number;
	return RECORDING_TAG_CONTEXT;
}

static void recording_begin(struct trace_writer *writer)
{
	writer->state = memory_or_exit(calloc(1, sizeof(struct recorder)));
	put_header(writer, false);
}

static void recording_file(struct trace_writer *writer, uint32_t file)
{
	struct recorder *r = writer->state;

	make_room(writer);
	r->body[r->bytes++] = RECORDING_FILE;
	put_number(r, file);
	put_text(r, trace_names_get(&writer->files, file));
}

static bool recording_add(struct trace_writer *writer,
			  const struct trace_request *request)
{
	struct recorder *r = writer->state;
	bool back = request->offset < r->position;
	uint64_t distance = back ? r->position - request->offset :
				   request->offset - r->position;
	uint32_t shift = 0;
	uint8_t tag = (uint8_t)request->op;

	make_room(writer);
	if (request->preflush)
		tag |= RECORDING_TAG_PREFLUSH;
	if (request->fua)
		tag |= RECORDING_TAG_FUA;
	tag |= switch_context(r, request);
	if (request->op != TRACE_FLUSH) {
		if (request->bytes == r->length)
			tag |= RECORDING_TAG_LENGTH;
		if (!((distance | request->bytes) & (ALIGN_SECTOR_SIZE - 1))) {
			tag |= RECORDING_TAG_SECTORS;
			shift = 9;
		}
	}
	r->body[r->bytes++] = tag;
	put_number(r, request->time_ns - writer->last_ns);
	if (tag & RECORDING_TAG_CONTEXT)
		put_number(r, r->context);
	if (request->op != TRACE_FLUSH) {
		put_number(r, distance >> shift << 1 | back);
		if (!(tag & RECORDING_TAG_LENGTH))
			put_number(r, request->bytes >> shift);
		r->position = request->offset + request->bytes;
		r->length = request->bytes;
	}
	r->nr++;
	return true;
}

static void recording_checkpoint(struct trace_writer *writer)
{
	put_chunk(writer);
	/* the chunks must be in the file before the header counts them */
	if (fflush(writer->stream) || ferror(writer->stream))
		return;
	put_header(writer, false);
	fflush(writer->stream);
	fseeko(writer->stream, 0, SEEK_END);
}

static void recording_end(struct trace_writer *writer)
{
	put_chunk(writer);
	if (!fflush(writer->stream) && !ferror(writer->stream))
		put_header(writer, true);
}

const struct trace_written_format trace_written_recording = {
	.begin = recording_begin,
	.file = recording_file,
	.add = recording_add,
	.checkpoint = recording_checkpoint,
	.end = recording_end,
};
