/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scenes: one thing after the other on a quiet drive, each with its expected result.
 */
#ifndef SIM_SCENES_H
#define SIM_SCENES_H

#include <linux/blkdev.h>

struct world_plan;

/* scenes_files.c */
void scene_files(void);
void scene_lost_files(void);
void scene_next_files(void);

/* scenes_memory.c */
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
void scene_memory(void);
void scene_relieved(void);

/* scenes_lines.c */
void scene_lines(void);

/* scenes_quiet.c */
void scene_counted_writes(void);
void scene_many_wait(void);
void scene_polled(void);
void scene_quiet_areas(void);

/* scenes_waits.c */
void scene_deferred(void);
void scene_dropped(void);
void scene_few_pieces(void);
void scene_frozen(void);
void scene_late_flush(void);
void scene_late_plug(void);
void scene_quiet_reboot(void);
void scene_many_modes(void);
void scene_no_stream(void);
void scene_nowait(void);
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
void scene_copies(void);
void scene_indivisible(void);
void scene_shared_reads(void);
void scene_whole_reads(void);

/* scenes_admin.c */
void scene_cache(void);
void scene_cache_stays(void);
void scene_forgotten(void);
void scene_gate(void);
void scene_late_reboot(void);
void scene_no_memory(void);
void scene_reboot_in_time(void);
void scene_refusals(void);
void scene_removal(void);
void scene_sleeps(void);
void scene_slow_suspend(void);
void scene_suspends(void);
void scene_two_resets(void);
void scene_woken(void);

/* scenes_cgroups.c */
void scene_limited(void);
void scene_limited_behind(void);
void scene_limited_elsewhere(void);
void scene_scarce(void);
void scene_own_memory(void);

/* scenes_errors.c */
void scene_degraded(void);
void scene_retries(void);
void scene_unreadable(void);
void scene_younger_fails(void);

/* scenes_held.c */
void scene_crowd(void);
void scene_over_held(void);
void scene_pressure(void);
void scene_shorter_time(void);
void scene_stream(void);
void scene_times(void);

/* scenes_requests.c */
void scene_border(void);
void scene_delay(void);
void scene_full_requests(void);
void scene_gaps(void);
void scene_hurry(void);
void scene_joined(void);
void scene_long_write(void);
void scene_plugs(void);
void scene_properties(void);
void scene_properties_of_held(void);
void scene_reads(void);

void scenes_play(const struct world_plan *plan, struct gendisk *drive);

#endif
