/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of the model on a virtual clock: it sends requests to a drive, one
 * at a time or several in flight, and knows how long each took.
 */
#ifndef DRIVE512E_PLAYER_H
#define DRIVE512E_PLAYER_H

#include "../model.h"

struct player {
	struct model *model;
	struct model_config config;
	int64_t now;
	uint64_t random;
};

/*
 * Start a drive of a profile with its own blocks, as large as it can be, or of
 * 1 TiB. A failure ends the program.
 */
void player_start(struct player *p, const char *profile, bool cache);
void player_stop(struct player *p);

/* Send a request and wait for it.  Return the time that it took, ns. */
int64_t player_send(struct player *p, enum op op, uint64_t offset,
		    uint64_t bytes);

/* Let the client do nothing for a while. */
void player_pause(struct player *p, int64_t ns);

/* Return a pseudo-random number below @below. */
uint64_t player_random(struct player *p, uint64_t below);

/* Return a random multiple of @step at which @bytes fit below @limit. */
uint64_t player_place(struct player *p, uint64_t limit, uint64_t bytes,
		      uint64_t step);

/* Make the @i-th request of the client's job @job. */
typedef struct request player_next(struct player *p, unsigned int job,
				   unsigned int i);

/* Make a read of 4096 bytes anywhere. */
player_next player_read_random;

/*
 * Keep a request of each of @jobs jobs in flight until @count are sent in all;
 * each job waits for its own. Return the time until the last one is answered.
 */
int64_t player_together(struct player *p, unsigned int jobs, unsigned int count,
			player_next *next);

#endif
