// SPDX-License-Identifier: GPL-2.0
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

/* The block to which another one is moved. */
static uint64_t move_block(const struct placement *p, uint64_t block)
{
	uint64_t extent, usable;

	if (p->how == PLACEMENT_WRAP)
		return block % (placement_period(p) / p->physical);
	/* the longest one still ends inside if it starts at the last block */
	extent = p->end / p->physical + 1;
	usable = p->longest + p->physical < p->bytes ?
		 (p->bytes - p->longest) / p->physical : 1;
	return (unsigned __int128)block * usable / extent;
}

static bool fits(const struct placement *p, const struct trace_request *request)
{
	return request->offset <= p->bytes &&
	       request->bytes <= p->bytes - request->offset;
}

static void move(const struct placement *p, struct trace_request *request)
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
			": goes to file %" PRIu32
			" of the trace, and there is one device for all of it; make a trace of one file",
			trace_op_names[request->op], request->bytes,
			request->offset, request->file + 1);
	if (p->labelled && place % PATTERN_SECTOR)
		return message_format("%s of %" PRIu64 " bytes at byte %" PRIu64
			": not in whole sectors of %u bytes, whose labels --state needs to tell what a crash left; leave that out",
			trace_op_names[request->op], request->bytes,
			request->offset, PATTERN_SECTOR);
	if (!(transfer && p->buffered) && place % p->logical)
		return message_format("%s of %" PRIu64 " bytes at byte %" PRIu64
			": not a multiple of the logical block, %" PRIu32
			" bytes; %stake a device with a smaller one",
			trace_op_names[request->op], request->bytes,
			request->offset, p->logical,
			transfer ? "--buffered, or " : "");
	if (transfer && request->bytes > PLACEMENT_MAX_BYTES)
		return message_format("%s of %" PRIu64
			" bytes: longer than %u, the most that is done at once; cut it into smaller requests, or let 'alignctl plan' say what it costs",
			trace_op_names[request->op], request->bytes,
			PLACEMENT_MAX_BYTES);
	if (p->bytes >= p->physical &&
	    (p->how == PLACEMENT_SCALE ||
	     (p->how == PLACEMENT_WRAP && !fits(p, request))))
		move(p, request);
	if (fits(p, request))
		return NULL;
	return message_format("%s of %" PRIu64 " bytes at byte %" PRIu64
			      ": beyond the device, which has %" PRIu64
			      " bytes; --wrap or --scale%s",
			      trace_op_names[request->op], request->bytes,
			      request->offset, p->bytes,
			      p->how == PLACEMENT_EXACT ? "" :
			      " is no help, it is longer");
}
