/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine as the rest of the target sees it: the blocks that writes cover in
 * part, their waits, and the held data.
 */
#ifndef DM_ALIGN_BLOCK_H
#define DM_ALIGN_BLOCK_H

#include "align.h"

/* How a block received a partial touch. */
enum touch_fate {
	TOUCH_REFUSED,
	TOUCH_TAKEN,
	TOUCH_HELD,
};

/* engine.c */
int engine_init(struct align_target *at, unsigned int max);
void engine_exit(struct align_target *at);

/* block.c */
struct align_block *blocks_get_fresh(struct align_target *at, u64 number);
void blocks_put_fresh(struct align_target *at, u64 number,
		      struct align_block *block);
void blocks_evict(struct align_target *at);
void blocks_set_max(struct align_target *at, unsigned int max);

void blocks_evict_range(struct align_target *at, u64 first, u64 last);
unsigned int blocks_free_some(struct align_target *at, unsigned int most);
unsigned long blocks_nr_cached(const struct align_target *at);

/* turn.c */
bool blocks_would_wait(struct align_target *at, struct bio *bio, u64 first,
		       u64 last);
enum touch_fate blocks_add_touch(struct align_touch *touch,
				 const struct shard_span *span,
				 struct list_head *started);
bool blocks_add_range(struct align_io *io);
void blocks_end_range(struct align_io *io, bool ok);
void blocks_end_quiet(struct align_target *at, unsigned int index);
void block_served(struct align_block *block, blk_status_t status);

/* starved.c */
void starved_add(struct align_touch *touch);
void starved_serve(struct work_struct *work);

/* start.c */
void start_late(struct align_target *at, struct list_head *started);
unsigned int start_take_whole(struct align_block *block,
			      struct list_head *started,
			      struct list_head *taken);

/* run.c */
void runs_write(struct align_target *at, struct list_head *list,
		unsigned int nr);
void block_write(struct align_block *block);
blk_opf_t block_patch(struct align_block *block);
unsigned int block_sent_bytes(const struct align_block *block);

/* reclaim.c */
int reclaim_init(void);
void reclaim_exit(void);
void reclaim_add(struct align_target *at);
void reclaim_remove(struct align_target *at);

/* notify.c */
int notify_init(void);
void notify_exit(void);
void notify_add(struct align_target *at);
void notify_remove(struct align_target *at);

#endif
