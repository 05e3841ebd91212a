/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a host finds on the drive, now and after a power cut.
 *
 * With a volatile cache a change is there for every reader as soon as its
 * request has ended, and is lost with the power unless a flush that came later
 * has ended, or the request carried FUA.  Without a cache a request that has
 * ended is kept.
 *
 * A cut leaves each block that was being written as it was, or as it would have
 * been, or torn.  Those are the blocks of all requests that the drive has
 * received and not yet answered, and, while it is working on a flush, all that
 * the flush is for.
 *
 * Requests can also be made to fail: see media_fail().
 */
#ifndef DRIVE512E_MEDIA_H
#define DRIVE512E_MEDIA_H

#include <sys/queue.h>

#include "counters.h"

struct media;

/* What becomes of a block that is being written when the power goes. */
enum tear {
	TEAR_NONE,	/* old or new, as a whole */
	TEAR_SECTOR,	/* old, new, or some sectors of each */
	TEAR_BLOCK,	/* old, new, or unreadable until all of it is written */
};

/*
 * With @at and @after 0 the power goes at once; otherwise when the @at-th request
 * from now comes, or when the @after-th that ends from now has ended, whichever
 * is first.  The same seed gives the same blocks the same fate.
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
	const unsigned char *data;	/* of a write */
	uint64_t generation;		/* flush: it is for this and older */
	uint64_t cuts;			/* power cuts before it came */
};

/* More than a client has in flight at a time; what is beyond that is left out. */
#define UNDER_WAY_MAX 64

struct media_state {
	bool powered;
	uint64_t power_cuts;
	struct request under_way[UNDER_WAY_MAX];	/* at the last cut, as they came */
	size_t nr_under_way;
	uint64_t volatile_blocks;	/* lost if the power went now */
	uint64_t unreadable_blocks;
};

/*
 * @path: backing file, NULL: memory (see store_new()); @cache: is there a
 * volatile one.  NULL with errno set on failure.
 */
struct media *media_new(uint64_t size, const struct block_map *map, bool cache,
			const char *path);
void media_free(struct media *media);

enum begun {
	BEGUN,		/* end it with media_end() or media_abandon() */
	NO_POWER,	/* the drive is off and has not noticed it */
	POWER_WENT,	/* as the request came, as it was to: see media_cut() */
};

/* The drive receives @req, with @data if it is a write. */
enum begun media_begin(struct media *media, struct in_flight *f,
		       const struct request *req, const void *data);

/* What is there now.  0, or -1 with errno set: EIO, or the backing file's. */
int media_read(struct media *media, void *buf, uint64_t offset, uint64_t count);

/*
 * The request takes effect.  0, or -1 with errno set: EIO if the power has
 * gone meanwhile, if it is to fail, or if a part of an unreadable block is
 * written; and ENOMEM, or the backing file's.  Nothing has changed then, but
 * for the last of them.  @went: the power went then, as it was to.
 */
int media_end(struct media *media, struct in_flight *f, bool *went);

/* The drive drops the request: it has no effect. */
void media_abandon(struct media *media, struct in_flight *f);

/* Cuts the power, now or as @how says.  False if there is none to be cut. */
bool media_cut(struct media *media, const struct power_cut *how);

/* Power returns; a cut that is still to come will not come. */
void media_power_on(struct media *media);

/*
 * From now on each read, or each write and write-zeroes, fails that touches one
 * of @count sectors from @first.  0, or -1 with errno set.
 */
int media_fail(struct media *media, enum op op, uint64_t first, uint64_t count);

/* Ends all that media_fail() began. */
void media_heal(struct media *media);

struct media_state media_state(struct media *media);

#endif
