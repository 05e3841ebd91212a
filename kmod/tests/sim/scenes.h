/* SPDX-License-Identifier: GPL-2.0 */
/* Scenes: one thing after the other on a quiet drive, and what must come of each. */
#ifndef SIM_SCENES_H
#define SIM_SCENES_H

#include <linux/blkdev.h>

struct world_plan;

/* Scenes of scenes_files.c. */
void scene_files(void);
void scene_lost_files(void);

/* Scenes of scenes_memory.c. */
void scene_ceiling(void);
void scene_given_back(void);
void scene_fresh(void);
void scene_read_once(void);
void scene_crowded(void);
void scene_in_order(void);
void scene_waits_once(void);
void scene_edge(void);
void scene_front_edge(void);
void scene_lowered(void);
void scene_relieved(void);

/* A scene of scenes_lines.c. */
void scene_lines(void);

/* Scenes of scenes_quiet.c. */
void scene_counted_writes(void);
void scene_many_wait(void);
void scene_polled(void);
void scene_quiet_areas(void);

/* Scenes of scenes_waits.c. */
void scene_deferred(void);
void scene_dropped(void);
void scene_few_pieces(void);
void scene_frozen(void);
void scene_late_flush(void);
void scene_late_plug(void);
void scene_quiet_reboot(void);
void scene_many_modes(void);
void scene_no_stream(void);
void scene_own_flush(void);
void scene_passed_over(void);
void scene_settled(void);
void scene_starved(void);
void scene_withdrawn(void);
void scene_two_regions(void);

/* scenes_batches.c */
void scene_batches(void);
void scene_cut(void);
void scene_long_run(void);
void scene_many_parts(void);
void scene_patched(void);
void scene_zeroes(void);

/* scenes_bounce.c */
void scene_bad_block(void);
void scene_indivisible(void);
void scene_shared_reads(void);
void scene_whole_reads(void);

void scenes_play(const struct world_plan *plan, struct gendisk *drive);

#endif
