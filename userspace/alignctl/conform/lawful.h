/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a logical block may contain when several requests were in flight together.
 *
 * The rules are those that every block device keeps, of any kind:
 *
 * 1. A logical block has the content of one write, whole. Two writes in flight
 *    together may come in either order, and in another one for each block.
 * 2. A request that began after another one had ended comes after it. One that
 *    failed may have done its work or not, also later.
 * 3. A read finds the last content before it, or that of a write in flight with it.
 * 4. What no request covers stays as it is.
 * 5. A discarded block has any content until it is written again.
 *
 * And of what a power cut leaves, with any cache of the device:
 *
 * 6. A request is durable once it has ended and a flush that began after that has
 *    ended, too; a write with FUA is durable once it has ended. No other one is.
 * 7. After the cut a logical block has the content that no durable request has
 *    replaced: that of a request, or the one before all of them, after whose end
 *    no durable request to the block began. So what was not durable is there or
 *    not, in each logical block, and of several such contents any may be there.
 * 8. Rules 1, 4 and 5 hold after a cut, too.
 *
 * A request's times are those of its sender: it began no earlier than that, and
 * had ended by then. So an order that is seen is real, and a violation is, too.
 */
#ifndef ALIGNCTL_CONFORM_LAWFUL_H
#define ALIGNCTL_CONFORM_LAWFUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a request does to the logical blocks that it covers. */
enum lawful_effect {
	LAWFUL_NOTHING,		/* reads and flushes */
	LAWFUL_WRITES,
	LAWFUL_ZEROES,
	LAWFUL_DISCARDS,
};

/**
 * struct lawful_request - a request, as its sender saw it
 * @effect: effect on the logical blocks
 * @first: first logical block that it covers
 * @nr: number of logical blocks
 * @began_ns: time before it was sent
 * @ended_ns: time after it had ended; UINT64_MAX: it has not, or has failed
 * @flush: flush, for the rules of a cut
 * @fua: write with FUA, likewise
 */
struct lawful_request {
	enum lawful_effect effect;
	uint64_t first;
	uint32_t nr;
	uint64_t began_ns;
	uint64_t ended_ns;
	bool flush;
	bool fua;
};

/* Most requests that are judged together. */
#define LAWFUL_MAX	16

/*
 * A set of contents: bit LAWFUL_BEFORE for that before all requests, bit i for
 * that of request i, LAWFUL_ANYTHING for every other one.
 */
#define LAWFUL_BEFORE	(UINT32_C(1) << LAWFUL_MAX)
#define LAWFUL_ANYTHING	(UINT32_C(1) << (LAWFUL_MAX + 1))

/* Check that a request covers a logical block. */
bool lawful_covers(const struct lawful_request *request, uint64_t block);

/*
 * Return the contents that a read may find in a logical block. The read began at
 * @began_ns and had ended at @ended_ns; one that comes after all requests ends at
 * UINT64_MAX.
 */
uint32_t lawful_contents(const struct lawful_request *requests, size_t nr,
			 uint64_t block, uint64_t began_ns, uint64_t ended_ns);

/*
 * Return the time at which all that had ended before it is durable by a flush:
 * the last beginning of one that has ended; 0: there is none.
 */
uint64_t lawful_flushed(const struct lawful_request *requests, size_t nr);

/* Check that a request is durable, @flushed_ns being that time. */
bool lawful_durable(const struct lawful_request *request, uint64_t flushed_ns);

/*
 * Return when the last durable request to a logical block began; 0: there is
 * none. After a cut the block may have each content after which no such one
 * began: that before all requests if it is 0, and that of a request for which
 * lawful_survives(). There may be more than LAWFUL_MAX requests.
 */
uint64_t lawful_settled(const struct lawful_request *requests, size_t nr,
			uint64_t block, uint64_t flushed_ns);
bool lawful_survives(const struct lawful_request *request, uint64_t settled_ns);

#endif
