/* SPDX-License-Identifier: GPL-2.0 */
/* A new drive and its client on the virtual clock, for tests of the model. */
#ifndef DRIVE512E_PLAYER_H
#define DRIVE512E_PLAYER_H

#include "../host/virtual.h"

struct player {
	struct clock clock;
	struct model_config config;
};

/*
 * Start a drive of a profile with its own blocks, as large as it can be, or of
 * 1 TiB, that has been idle for a second.
 */
void player_start(struct player *p, const char *profile, bool cache);
void player_stop(struct player *p);

/* Send a request and wait for it.  Return the time that it took, ns. */
int64_t player_send(struct player *p, enum op op, uint64_t offset,
		    uint64_t bytes);

/* Let the client do nothing for a while. */
void player_pause(struct player *p, int64_t ns);

/* Make a request of 4096 bytes anywhere. */
struct request player_anywhere(const struct player *p, enum op op);

/*
 * Send 2000 requests of 4096 bytes anywhere with @depth in flight. Return the
 * time until the last one is answered.
 */
int64_t player_together(struct player *p, enum op op, unsigned int depth);

#endif
