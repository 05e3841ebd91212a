// SPDX-License-Identifier: GPL-2.0
/*
 * The engine of a target as a whole: its parts are set up from the lower ones to
 * the higher ones, and given what they cannot name themselves.
 */
#include "block_state.h"
#include "bounce.h"
#include "hold.h"

/**
 * engine_init - initialise the engine of a target
 * @at: the target, zeroed, of which the geometry is known
 * @max: most blocks
 *
 * Return: 0 or -ENOMEM.
 */
int engine_init(struct align_target *at, unsigned int max)
{
	struct align_jobs *jobs = &at->engine.jobs;
	struct align_spare *spare = &at->engine.spare;
	struct align_delay *delay = &at->engine.delay;

	if (jobs_init(jobs))
		return -ENOMEM;
	if (spare_init(spare, at, jobs, hold_work(at)))
		goto bad_jobs;
	if (quiet_init(&at->engine.quiet))
		goto bad_spare;
	if (blocks_init(at, max))
		goto bad_quiet;
	if (align_offers_smaller(at)) {
		at->engine.bounces = bounces_new(at);
		if (!at->engine.bounces)
			goto bad_blocks;
	}
	INIT_WORK(&at->engine.blocks.go_on, blocks_resume);
	INIT_WORK(&at->engine.blocks.pass, ranges_advance);
	INIT_WORK(&at->engine.blocks.feed, starved_serve);
	held_init(at);
	delay_init(delay, jobs, start_job);
	drain_init(at);
	notify_add(at);
	reclaim_add(at);
	return 0;

bad_blocks:
	blocks_exit(at);
bad_quiet:
	quiet_exit(&at->engine.quiet);
bad_spare:
	spare_exit(spare, at);
bad_jobs:
	jobs_exit(jobs);
	return -ENOMEM;
}

/* Drop failed blocks and free all others; every write has ended. */
void engine_exit(struct align_target *at)
{
	struct align_jobs *jobs = &at->engine.jobs;
	struct align_spare *spare = &at->engine.spare;
	struct align_delay *delay = &at->engine.delay;

	reclaim_remove(at);
	notify_remove(at);
	hold_exit(at);
	blocks_evict(at);
	jobs_exit(jobs);
	delay_exit(delay);
	spare_exit(spare, at);
	blocks_exit(at);
	bounces_free(at->engine.bounces);
	quiet_exit(&at->engine.quiet);
}
