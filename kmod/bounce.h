/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of parts of the logical blocks of the device below, where the target offers
 * smaller ones.
 */
#ifndef DM_ALIGN_BOUNCE_H
#define DM_ALIGN_BOUNCE_H

#include "align.h"

struct align_bounces *bounces_new(struct align_target *at);
void bounces_free(struct align_bounces *bounces);
bool bounce_needs(const struct align_io *io);
bool bounce_accept(struct align_io *io);
int bounce_map_read(struct align_io *io);

/* Whether a read may have to be taken apart. */
static inline bool bounce_wants(const struct align_io *io)
{
	return align_offers_smaller(io->at);
}

#endif
