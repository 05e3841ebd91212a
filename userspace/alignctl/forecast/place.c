// SPDX-License-Identifier: GPL-2.0
/*
 * Check each request of a source against the device: its range, its sectors, its
 * length.
 */
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "forecast/place.h"
#include "geometry.h"

/*
 * Longest write or write-zeroes, whose bytes the kernel counts in 32 bits. It
 * splits longer ones, at places that depend on the device.
 */
#define MAX_WRITE_BYTES		UINT32_MAX

static int refuse_source(const struct source *source, const char *reason)
{
	CLEANUP_FREE char *position = source_position(source);

	message_error("%s: %s", position, reason);
	return ALIGNCTL_USAGE;
}

int place_request(const struct places *places,
		  const struct trace_request *request, uint64_t *first,
		  uint64_t *end)
{
	uint64_t bytes = request->offset % ALIGN_SECTOR_SIZE + request->bytes;
	uint64_t sectors = bytes / ALIGN_SECTOR_SIZE +
			   (bytes % ALIGN_SECTOR_SIZE != 0);
	uint64_t have = places->end_sector;
	bool transfer = request->op == TRACE_READ || request->op == TRACE_WRITE;

	if (!(places->cached && transfer) &&
	    (request->offset | request->bytes) % ALIGN_SECTOR_SIZE)
		return refuse_source(places->source, transfer && !places->no_buffered ?
				     "not in whole sectors of 512 bytes, as direct I/O must be; use --buffered" :
				     "not in whole sectors of 512 bytes");
	if (!request->bytes)
		return refuse_source(places->source, "length is 0");
	if (places->cached && request->op == TRACE_READ &&
	    request->bytes > MAX_WRITE_BYTES)
		return refuse_source(places->source,
				     "a read of more than 4294967295 bytes, the kernel's limit");
	if (request->op == TRACE_WRITE && request->bytes > MAX_WRITE_BYTES)
		return refuse_source(places->source,
				     "a write of more than 4294967295 bytes, the kernel's limit");
	if (request->op == TRACE_WRITE_ZEROES &&
	    request->bytes > MAX_WRITE_BYTES)
		return refuse_source(places->source,
				     "write-zeroes of more than 4294967295 bytes, which the kernel splits; record them on the device");
	*first = (request->offset >> ALIGN_SECTOR_SHIFT) + places->shift;
	if (sectors > have || *first > have - sectors) {
		CLEANUP_FREE char *position = source_position(places->source);

		message_error("%s: %" PRIu64 " bytes from byte %" PRIu64
			      " on end after byte %" PRIu64
			      ", the end of the device; give %sthe recorded device",
			      position, request->bytes,
			      *first << ALIGN_SECTOR_SHIFT,
			      have << ALIGN_SECTOR_SHIFT,
			      places->no_size ? "" : "a larger --size, or ");
		return ALIGNCTL_USAGE;
	}
	*end = *first + sectors;
	return ALIGNCTL_FINE;
}
