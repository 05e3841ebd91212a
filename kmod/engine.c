// SPDX-License-Identifier: GPL-2.0
/*
 * The engine of a target as a whole: its parts are set up from the lower ones to
 * the higher ones, and given what they cannot name themselves.
 */
#include "block_state.h"

/**
 * engine_init - initialise the engine of a target
 * @at: the target, zeroed, of which the geometry is known
 * @max: most blocks
 *
 * Return: 0 or -ENOMEM.
 */
int engine_init(struct align_target *at, unsigned int max)
{
	struct align_blocks *blocks = &at->blocks;

	if (jobs_init(&blocks->jobs))
		return -ENOMEM;
	if (spare_init(&blocks->spare, at, &blocks->jobs, &blocks->empty)) {
		jobs_exit(&blocks->jobs);
		return -ENOMEM;
	}
	blocks_init(at, max);
	held_init(at);
	delay_init(&blocks->delay, &blocks->jobs, start_job);
	drain_init(at);
	notify_add(at);
	return 0;
}

/* Drop failed blocks and free all others; every write has ended. */
void engine_exit(struct align_target *at)
{
	struct align_blocks *blocks = &at->blocks;

	notify_remove(at);
	hold_exit(at);
	blocks_forget(at);
	jobs_exit(&blocks->jobs);
	delay_exit(&blocks->delay);
	spare_exit(&blocks->spare, at);
	blocks_exit(at);
}
