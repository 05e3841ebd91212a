/* SPDX-License-Identifier: GPL-2.0 */
/* A world at rest, kept and brought back: all of its memory is copied. */
#ifndef SIM_SNAPSHOT_H
#define SIM_SNAPSHOT_H

#include "world.h"

/**
 * struct snapshot - a world at rest
 * @bytes: its parts, one after the other; NULL: there is none yet
 * @used: of @bytes
 * @room: of @bytes
 */
struct snapshot {
	char *bytes;
	size_t used, room;
};

void snapshot_take(struct snapshot *snapshot, const struct world_plan *plan);
void snapshot_bring_back(const struct snapshot *snapshot);

#endif
