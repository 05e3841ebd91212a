/* SPDX-License-Identifier: GPL-2.0 */
/* Scenes: one thing after the other on a quiet drive, and what must come of each. */
#ifndef SIM_SCENES_H
#define SIM_SCENES_H

#include <linux/blkdev.h>

struct world_plan;

/* Scenes of scenes_files.c. */
void scene_files(void);
void scene_lost_files(void);

void scenes_play(const struct world_plan *plan, struct gendisk *drive);

#endif
