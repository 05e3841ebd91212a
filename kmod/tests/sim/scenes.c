// SPDX-License-Identifier: GPL-2.0
/*
 * The scenes, each of a device of its own: their table, and a life that plays them all.
 * Blocks are numbered from the first whole one on.
 */
#include "scenes.h"
#include "stage.h"
#include "world.h"

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{ "times", scene_times }, { "full requests", scene_full_requests },
	{ "gaps", scene_gaps }, { "shorter time", scene_shorter_time },
	{ "pressure", scene_pressure }, { "stream", scene_stream },
	{ "joined", scene_joined }, { "properties", scene_properties },
	{ "properties of held", scene_properties_of_held },
	{ "memory", scene_memory }, { "delay", scene_delay },
	{ "plugs", scene_plugs }, { "over held", scene_over_held },
	{ "reads", scene_reads }, { "degraded", scene_degraded },
	{ "retries", scene_retries }, { "younger fails", scene_younger_fails },
	{ "unreadable", scene_unreadable }, { "suspends", scene_suspends },
	{ "slow suspend", scene_slow_suspend },
	{ "forgotten", scene_forgotten }, { "gate", scene_gate },
	{ "nowait", scene_nowait }, { "sleeps", scene_sleeps },
	{ "woken", scene_woken }, { "removal", scene_removal },
	{ "refusals", scene_refusals }, { "cache", scene_cache },
	{ "cache stays", scene_cache_stays }, { "no memory", scene_no_memory },
	{ "dropped", scene_dropped }, { "starved", scene_starved },
	{ "few pieces", scene_few_pieces },
	{ "passed over", scene_passed_over }, { "zeroes", scene_zeroes },
	{ "no stream", scene_no_stream }, { "late flush", scene_late_flush },
	{ "frozen", scene_frozen }, { "own flush", scene_own_flush },
	{ "many modes", scene_many_modes }, { "border", scene_border },
	{ "long write", scene_long_write }, { "batches", scene_batches },
	{ "crowd", scene_crowd }, { "settled", scene_settled },
	{ "quiet areas", scene_quiet_areas },
	{ "counted writes", scene_counted_writes }, { "lines", scene_lines },
	{ "many wait", scene_many_wait }, { "polled", scene_polled },
	{ "withdrawn", scene_withdrawn }, { "patched", scene_patched },
	{ "two regions", scene_two_regions }, { "cut", scene_cut },
	{ "long run", scene_long_run }, { "files", scene_files },
	{ "lost files", scene_lost_files }, { "next files", scene_next_files }, { "fresh", scene_fresh },
	{ "given back", scene_given_back }, { "read once", scene_read_once },
	{ "lowered", scene_lowered }, { "relieved", scene_relieved },
	{ "ceiling", scene_ceiling }, { "crowded", scene_crowded },
	{ "in order", scene_in_order }, { "waits once", scene_waits_once },
	{ "edge", scene_edge }, { "front edge", scene_front_edge },
	{ "shared reads", scene_shared_reads },
	{ "whole reads", scene_whole_reads },
	{ "indivisible", scene_indivisible }, { "bad block", scene_bad_block },
	{ "many parts", scene_many_parts }, { "deferred", scene_deferred },
	{ "two resets", scene_two_resets },
	{ "limited", scene_limited },
	{ "limited behind", scene_limited_behind },
	{ "limited elsewhere", scene_limited_elsewhere },
	{ "scarce", scene_scarce }, { "own memory", scene_own_memory }, { "hurry", scene_hurry },
	{ "copies", scene_copies },
}, last_scenes[] = {
	/* A reboot is not undone. */
	{ "reboot in time", scene_reboot_in_time },
	{ "late reboot", scene_late_reboot }, { "late plug", scene_late_plug },
	{ "quiet reboot", scene_quiet_reboot },
};

void scenes_play(const struct world_plan *plan, struct gendisk *drive)
{
	unsigned int first = machine_choose(ARRAY_SIZE(scenes)), i;

	stage_begin(plan, drive);
	for (i = 0; i < ARRAY_SIZE(scenes); i++) {
		unsigned int nr = (first + i) % ARRAY_SIZE(scenes);

		stage.scene = scenes[nr].name;
		scenes[nr].play();
	}
	i = machine_choose(ARRAY_SIZE(last_scenes));
	stage.scene = last_scenes[i].name;
	last_scenes[i].play();
	stage_end();
}
