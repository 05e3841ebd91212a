// SPDX-License-Identifier: GPL-2.0
/*
 * Apply the rules: the contents that a block may have in a read, at rest, and
 * after a power cut.
 */
#include "conform/lawful.h"

bool lawful_covers(const struct lawful_request *request, uint64_t block)
{
	return request->effect != LAWFUL_NOTHING && block >= request->first &&
	       block - request->first < request->nr;
}

/*
 * Check that another request's content has replaced the one that was there at
 * @since_ns, for a read that began at @began_ns: it came after, and before that.
 */
static bool is_replaced(const struct lawful_request *requests, size_t nr,
			uint64_t block, uint64_t since_ns, uint64_t began_ns)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (lawful_covers(&requests[i], block) &&
		    requests[i].began_ns > since_ns &&
		    requests[i].ended_ns < began_ns)
			return true;
	return false;
}

uint32_t lawful_contents(const struct lawful_request *requests, size_t nr,
			 uint64_t block, uint64_t began_ns, uint64_t ended_ns)
{
	uint32_t set = 0;
	size_t i;

	if (!is_replaced(requests, nr, block, 0, began_ns))
		set |= LAWFUL_BEFORE;
	for (i = 0; i < nr; i++) {
		if (!lawful_covers(&requests[i], block) ||
		    requests[i].began_ns > ended_ns)
			continue;
		if (is_replaced(requests, nr, block, requests[i].ended_ns,
				began_ns))
			continue;
		set |= requests[i].effect == LAWFUL_DISCARDS ?
		       LAWFUL_ANYTHING : UINT32_C(1) << i;
	}
	return set;
}

uint64_t lawful_flushed(const struct lawful_request *requests, size_t nr)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		if (requests[i].flush && requests[i].ended_ns != UINT64_MAX &&
		    requests[i].began_ns > last)
			last = requests[i].began_ns;
	return last;
}

bool lawful_durable(const struct lawful_request *request, uint64_t flushed_ns)
{
	return request->ended_ns < flushed_ns ||
	       (request->fua && request->ended_ns != UINT64_MAX);
}

uint64_t lawful_settled(const struct lawful_request *requests, size_t nr,
			uint64_t block, uint64_t flushed_ns)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		if (lawful_covers(&requests[i], block) &&
		    lawful_durable(&requests[i], flushed_ns) &&
		    requests[i].began_ns > last)
			last = requests[i].began_ns;
	return last;
}

bool lawful_survives(const struct lawful_request *request, uint64_t settled_ns)
{
	return request->ended_ns >= settled_ns;
}
