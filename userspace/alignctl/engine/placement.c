// SPDX-License-Identifier: GPL-2.0
/* Scale the blocks of a trace to a smaller device, and refuse what does not fit. */
#include <inttypes.h>

#include "base/message.h"
#include "base/pattern.h"
#include "engine/placement.h"

const char *const placement_names[PLACEMENT_SCALE + 1] = {
	[PLACEMENT_EXACT] = "exact", [PLACEMENT_WRAP] = "wrap",
	[PLACEMENT_SCALE] = "scale",
};

uint64_t placement_period(const struct placement *p)
{
	return p->bytes - p->bytes % p->physical;
}

/* Return the block to which @block is moved. */
static uint64_t move_block(const struct placement *p, uint64_t block)
{
	uint64_t extent, usable;

	if (p->how == PLACEMENT_WRAP)
		return block % (placement_period(p) / p->physical);
	/*
	 * even the longest request ends inside if it starts in the last block
	 */
	extent = p->end / p->physical + 1;
	usable = p->longest + p->physical < p->bytes ?
		 (p->bytes - p->longest) / p->physical : 1;
	return (unsigned __int128)block * usable / extent;
}

static bool fits_device(const struct placement *p, const struct trace_request *request)
{
	return request->offset <= p->bytes &&
	       request->bytes <= p->bytes - request->offset;
}

static void move_request(const struct placement *p, struct trace_request *request)
{
	uint64_t into = request->offset % p->physical;
	uint64_t room;

	request->offset = into + p->physical *
			  move_block(p, request->offset / p->physical);
	room = request->offset < p->bytes ? p->bytes - request->offset : 0;
	if (request->bytes <= room)
		return;
	if (request->op == TRACE_DISCARD && room)
		request->bytes = room;
	else
		request->offset = into;
}

char *placement_apply(const struct placement *p, struct trace_request *request)
{
	bool transfer = request->op == TRACE_READ || request->op == TRACE_WRITE;
	uint64_t place = request->offset | request->bytes;

	if (request->op == TRACE_FLUSH)
		return NULL;
	if (request->file)
		return message_format("%s of %" PRIu64 " bytes at byte %" PRIu64
			": is for file %" PRIu32
			" of the trace, but a replay has one device; choose a file with --disk",
			trace_op_names[request->op], request->bytes,
			request->offset, request->file + 1);
	if (p->labelled && place % PATTERN_SECTOR)
		return message_format("%s of %" PRIu64 " bytes at byte %" PRIu64
			": not in whole sectors of %u bytes, whose labels --state needs; leave out --state",
			trace_op_names[request->op], request->bytes,
			request->offset, PATTERN_SECTOR);
	if (!(transfer && p->buffered) && place % p->logical)
		return message_format("%s of %" PRIu64 " bytes at byte %" PRIu64
			": not a multiple of the logical block, %" PRIu32
			" bytes; use %sa device with smaller logical blocks",
			trace_op_names[request->op], request->bytes,
			request->offset, p->logical,
			transfer ? "--buffered or " : "");
	if (transfer && request->bytes > PLACEMENT_MAX_BYTES)
		return message_format("%s of %" PRIu64
			" bytes: longer than %u, the limit; split the request, or let 'alignctl plan' forecast it",
			trace_op_names[request->op], request->bytes,
			PLACEMENT_MAX_BYTES);
	if (p->bytes >= p->physical &&
	    (p->how == PLACEMENT_SCALE ||
	     (p->how == PLACEMENT_WRAP && !fits_device(p, request))))
		move_request(p, request);
	if (fits_device(p, request))
		return NULL;
	return message_format("%s of %" PRIu64 " bytes at byte %" PRIu64
			      ": beyond the device, which has %" PRIu64
			      " bytes%s",
			      trace_op_names[request->op], request->bytes,
			      request->offset, p->bytes,
			      p->how == PLACEMENT_EXACT ?
			      "; use --wrap or --scale" :
			      ", too few even for --wrap or --scale");
}
