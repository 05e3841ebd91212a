/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The content of the drive, now and after a power cut.
 *
 * With a volatile cache a change is visible as soon as its request has ended,
 * and is lost with the power unless a later flush has ended or the request had
 * FUA.  Without a cache a request that has ended is durable.
 *
 * A cut leaves each block that was being written old, new or torn: the blocks
 * of all requests that the drive has received and not yet answered, and, during
 * a flush, all blocks that the flush is for.
 *
 * Requests can also be made to fail: see media_fail().
 */
#ifndef DRIVE512E_MEDIA_H
#define DRIVE512E_MEDIA_H

#include <sys/queue.h>

#include "counters.h"

struct media;

/* The fate of a block that is being written when the power goes. */
enum tear {
	TEAR_NONE,	/* old or new, as a whole */
	TEAR_SECTOR,	/* old, new, or some sectors of each */
	TEAR_BLOCK,	/* old, new, or unreadable until written as a whole */
};

/*
 * A power cut: at once if @at and @after are 0, else when the @at-th request
 * from now arrives or the @after-th has ended, whichever is first. Equal seeds
 * give equal fates to blocks.
 */
struct power_cut {
	uint64_t at;
	uint64_t after;
	enum tear tear;
	uint64_t seed;
};

/* A request between media_begin() and media_end(); private to media.c. */
struct in_flight {
	TAILQ_ENTRY(in_flight) link;
	struct request req;
	const unsigned char *data;	/* data of a write */
	uint64_t generation;		/* newest one that a flush is for */
	uint64_t cuts;			/* power cuts before the request came */
};

/* Limit of the requests in flight that are noted at a cut. */
#define UNDER_WAY_MAX 64

struct media_state {
	bool powered;
	uint64_t power_cuts;
	/* requests in flight at the last cut, in order of arrival */
	struct request under_way[UNDER_WAY_MAX];
	size_t nr_under_way;
	uint64_t volatile_blocks;	/* would be lost by a cut now */
	uint64_t unreadable_blocks;
};

/*
 * Create media with or without a volatile cache; @path: backing file, NULL:
 * memory (see store_new()).  Return NULL with errno set on failure.
 */
struct media *media_new(uint64_t size, const struct block_map *map, bool cache,
			const char *path);
void media_free(struct media *media);

enum begun {
	BEGUN,		/* must be ended by media_end() or media_abandon() */
	NO_POWER,	/* the drive is off and ignores the request */
	POWER_WENT,	/* the request triggered the cut of media_cut() */
};

/* Receive @req, with @data if it is a write. */
enum begun media_begin(struct media *media, struct in_flight *f,
		       const struct request *req, const void *data);

/*
 * Read the present content. Return 0, or -1 with errno set: EIO, or the backing
 * file's.
 */
int media_read(struct media *media, void *buf, uint64_t offset, uint64_t count);

/*
 * Let the request take effect. Return 0, or -1 with errno set: EIO if the power
 * has gone meanwhile, if the request is to fail, or if it writes a part of an
 * unreadable block; ENOMEM; or the backing file's error, the only one after
 * which something may have changed. Set *@went if the request's end triggered
 * the cut of media_cut().
 */
int media_end(struct media *media, struct in_flight *f, bool *went);

/* Drop the request without effect. */
void media_abandon(struct media *media, struct in_flight *f);

/* Cut the power as @how says.  Return false if the power is off. */
bool media_cut(struct media *media, const struct power_cut *how);

/* Switch the power on, and cancel a cut that is still to come. */
void media_power_on(struct media *media);

/*
 * Make each read, or each write and write-zeroes, fail that overlaps @count
 * sectors from @first.  Return 0, or -1 with errno set.
 */
int media_fail(struct media *media, enum op op, uint64_t first, uint64_t count);

/* End all failures of media_fail(). */
void media_heal(struct media *media);

struct media_state media_state(struct media *media);

/* Return the number of power cuts so far. */
uint64_t media_cuts(struct media *media);

#endif
