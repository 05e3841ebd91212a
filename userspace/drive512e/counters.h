/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of the interface and of the media.  Each list is the one place that
 * names a counter: the structure, the JSON of the control socket and the tests
 * follow from it.
 */
#ifndef DRIVE512E_COUNTERS_H
#define DRIVE512E_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "touch.h"

enum op { OP_READ, OP_WRITE, OP_FLUSH, OP_TRIM, OP_ZERO };

struct request {
	enum op op;
	uint64_t offset;	/* bytes; 0 for a flush */
	uint64_t count;		/* bytes; 0 for a flush, else not 0 */
	bool fua;
};

/*
 * X(name): counted as a request arrives.  A partial touch is one write, or
 * write-zeroes, and one block that it covers in part; trims make none.
 */
#define HOST_COUNTERS(X)						\
	X(touches)		/* partial touches, all of them */	\
	X(write_touches)	/* partial touches of writes */		\
	X(zero_touches)		/* partial touches of zeroes */		\
	X(reads)							\
	X(read_bytes)							\
	X(writes)							\
	X(write_bytes)							\
	X(writes_misaligned)	/* writes with at least one touch */	\
	X(flushes)							\
	X(fua)			/* requests with FUA */			\
	X(trims)							\
	X(trim_bytes)							\
	X(zeroes)							\
	X(zero_bytes)							\
	X(zeroes_misaligned)	/* zeroes with at least one touch */	\
	X(partial_trims)	/* blocks that trims covered in part */

/*
 * X(name): counted as the drive works on the media.  Once cache and queue are empty,
 * touches == rmws + rmws_saved_by_cache + touches_lost.
 */
#define MEDIA_COUNTERS(X)						\
	X(rmws)			/* block reads done to complete a block */ \
	X(rmws_saved_by_cache)	/* touches that needed no block read */	\
	X(touches_lost)		/* touches that a power cut forgot */	\
	X(blocks_written)	/* physical blocks written to the media */ \
	X(busy_ns)		/* time in which the drive was working */

struct host_counters {
#define X(name) uint64_t name;
	HOST_COUNTERS(X)
#undef X
};

struct media_counters {
#define X(name) uint64_t name;
	MEDIA_COUNTERS(X)
#undef X
	uint64_t lost_ns;		/* rotation spent because of RMWs */
	uint64_t touches_pending;	/* in cache or queue, not yet resolved */
};

/* Count @req, whose blocks are @touch (unused for a flush). */
void count_request(struct host_counters *c, const struct request *req,
		   const struct touch *touch);

#endif
