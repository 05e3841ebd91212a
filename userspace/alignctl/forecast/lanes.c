// SPDX-License-Identifier: GPL-2.0
/*
 * Each lane has two batches: the reader fills one while the lane's thread works on
 * the other. Who owns a batch is said by lane.full, under lane.lock: the thread has
 * the batch that is full until it says that it is empty, and the reader the other
 * one. So items are copied, and work is done, without the lock.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/message.h"
#include "forecast/lanes.h"

/* Items of a batch: some milliseconds of work. */
#define BATCH	1024U

/**
 * struct lane - a thread and its batches
 * @thread: the thread
 * @lanes: all lanes
 * @lock: guards @full and @ended
 * @changed: @full or @ended has changed
 * @full: the thread owns @batch[!@filling], which has @nr_full items
 * @ended: no further batch comes
 * @batch: the batches, each of BATCH items
 * @filling: the batch that the reader fills
 * @nr: number of items in it
 * @nr_full: number of items in the other one, while it is full
 */
struct lane {
	pthread_t thread;
	struct lanes *lanes;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool full;
	bool ended;
	struct lane_item *batch[2];
	unsigned int filling;
	unsigned int nr;
	unsigned int nr_full;
};

/**
 * struct lanes - all lanes
 * @work: does the work on an item
 * @nr: number of lanes; 0: the reader does all work
 * @lane: the lanes
 */
struct lanes {
	void (*work)(const struct lane_item *item);
	unsigned int nr;
	struct lane lane[LANES_MOST];
};

unsigned int lanes_processors(void)
{
	cpu_set_t set;

	/* of more processors than the set has places there are enough */
	if (sched_getaffinity(0, sizeof(set), &set))
		return LANES_MOST;
	return (unsigned int)CPU_COUNT(&set);
}

static void *run_lane(void *context)
{
	struct lane *lane = context;
	unsigned int i, working;

	pthread_mutex_lock(&lane->lock);
	for (;;) {
		while (!lane->full && !lane->ended)
			pthread_cond_wait(&lane->changed, &lane->lock);
		if (!lane->full)
			break;
		working = !lane->filling;
		pthread_mutex_unlock(&lane->lock);
		for (i = 0; i < lane->nr_full; i++)
			lane->lanes->work(&lane->batch[working][i]);
		pthread_mutex_lock(&lane->lock);
		lane->full = false;
		pthread_cond_signal(&lane->changed);
	}
	pthread_mutex_unlock(&lane->lock);
	return NULL;
}

/* Start a lane. Return: false if the system has no thread for it. */
static bool start_lane(struct lanes *lanes, struct lane *lane)
{
	unsigned int i;

	lane->lanes = lanes;
	pthread_mutex_init(&lane->lock, NULL);
	pthread_cond_init(&lane->changed, NULL);
	for (i = 0; i < 2; i++)
		lane->batch[i] = memory_or_exit(calloc(BATCH,
						       sizeof(**lane->batch)));
	return !pthread_create(&lane->thread, NULL, run_lane, lane);
}

static void clear_lane(struct lane *lane)
{
	pthread_mutex_destroy(&lane->lock);
	pthread_cond_destroy(&lane->changed);
	free(lane->batch[0]);
	free(lane->batch[1]);
}

struct lanes *lanes_new(unsigned int nr,
			void (*work)(const struct lane_item *item))
{
	struct lanes *lanes = memory_or_exit(calloc(1, sizeof(*lanes)));
	sigset_t all, before;

	lanes->work = work;
	if (nr > LANES_MOST)
		nr = LANES_MOST;
	/* signals are the reader's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; nr > 1 && lanes->nr < nr; lanes->nr++) {
		if (start_lane(lanes, &lanes->lane[lanes->nr]))
			continue;
		clear_lane(&lanes->lane[lanes->nr]);
		break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return lanes;
}

/* Hand the batch that is filled over, once the thread is done with the other. */
static void hand_over(struct lane *lane)
{
	pthread_mutex_lock(&lane->lock);
	while (lane->full)
		pthread_cond_wait(&lane->changed, &lane->lock);
	lane->full = true;
	lane->nr_full = lane->nr;
	lane->filling = !lane->filling;
	pthread_cond_signal(&lane->changed);
	pthread_mutex_unlock(&lane->lock);
	lane->nr = 0;
}

void lanes_give(struct lanes *lanes, uint32_t number,
		const struct lane_item *item)
{
	struct lane *lane;

	if (!lanes->nr) {
		lanes->work(item);
		return;
	}
	lane = &lanes->lane[number % lanes->nr];
	lane->batch[lane->filling][lane->nr++] = *item;
	if (lane->nr == BATCH)
		hand_over(lane);
}

void lanes_end(struct lanes *lanes)
{
	unsigned int i;

	for (i = 0; i < lanes->nr; i++) {
		struct lane *lane = &lanes->lane[i];

		hand_over(lane);
		pthread_mutex_lock(&lane->lock);
		lane->ended = true;
		pthread_cond_signal(&lane->changed);
		pthread_mutex_unlock(&lane->lock);
		pthread_join(lane->thread, NULL);
		clear_lane(lane);
	}
	free(lanes);
}
