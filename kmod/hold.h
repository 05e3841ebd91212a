/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mode coalesce as all other files see it: touches that are acknowledged as soon as
 * they are copied, the waits for them, and reads of them.
 */
#ifndef DM_ALIGN_HOLD_H
#define DM_ALIGN_HOLD_H

#include "node.h"
#include "table.h"

struct align_block;

/* flush.c, overlay.c: only where something is held */
int hold_map_flush(struct align_io *io);
int overlay_map_read(struct align_io *io, bool last);

#ifdef CONFIG_DM_ALIGN_COALESCE

/* coalesce.c */
void hold_take_args(struct align_target *at, const struct align_args *args);
void hold_preresume(struct align_target *at);
void hold_say_unwritten(const struct align_target *at, const char *message,
			int ret);
const char *hold_message(struct align_target *at, unsigned int argc,
			 char **argv);

/* held.c */
void held_init(struct align_target *at);
bool hold_allowed(const struct align_target *at, const struct bio *bio);
void hold_start(struct align_target *at, unsigned int why);
bool hold_stop(struct align_target *at, unsigned int why);
bool hold_was_dropped(const struct align_io *io);
u64 hold_oldest_ns(struct align_target *at);
int hold_ask(struct align_target *at, struct align_waiter *waiter);
bool hold_withdraw(struct align_target *at, struct align_waiter *waiter);
unsigned int hold_fail(struct align_target *at);
void hold_stop_all(void);
bool hold_is_too_late(void);
bool hold_is_frozen(const struct align_held *held);
bool hold_touch(struct align_block *block, struct align_touch *touch);
bool hold_is_awaited(const struct align_block *block);
bool hold_is_over(const struct align_block *block);
void hold_rest(struct align_block *block);
void hold_leave(struct align_block *block);
void hold_resolve(struct align_block *block, enum rmw_how how,
		  enum rmw_how later);
void hold_failed(struct align_block *block);
void hold_overwritten(struct align_block *block, const struct align_io *io);
void hold_schedule_drain(struct align_target *at);
void hold_make_room(struct align_target *at);
void hold_limit(struct align_target *at);
void hold_make_urgent(struct align_block *block);
void hold_wait(struct align_target *at, struct align_waiter *waiter);
void hold_fail_waiters(struct align_held *held);
bool hold_is_at_rest(struct align_held *held);

/* gather.c */
bool hold_take_back(struct align_block *block, struct list_head *ready);
struct align_block *hold_before(struct align_block *block);
void hold_for_stream(struct align_block *block, struct list_head *started);
void hold_gather(struct align_target *at, struct align_shard *shard, u64 number,
		 struct list_head *started);
void hold_retry(struct align_target *at, struct align_block *block,
		struct list_head *started);

/* drain.c */
void drain_init(struct align_target *at);
void hold_set_ms(struct align_target *at, unsigned int ms);

/* settle.c */
int hold_drain(struct align_target *at, unsigned long timeout,
	       unsigned int state);
void hold_presuspend(struct align_target *at);
void hold_postsuspend(struct align_target *at);
int hold_settle_for_ioctl(struct align_target *at);
void hold_thaw(struct align_target *at);
void hold_drop_failed(struct align_target *at);
void hold_exit(struct align_target *at);

/* flush.c */
void hold_end_flush(struct align_target *at);

/* overlay.c */
void overlay_end_read(struct align_io *io, bool ok);

/* Whether blocks are held. */
static inline bool hold_is_some(const struct align_target *at)
{
	return READ_ONCE(at->engine.held.nr);
}

/* The number by which a write sees, at its end, whether blocks were dropped. */
static inline int hold_drops(const struct align_target *at)
{
	return atomic_read(&at->engine.held.drops);
}

/* The work that writes held blocks. */
static inline struct work_struct *hold_work(struct align_target *at)
{
	return &at->engine.held.work;
}

/* Look at a bio that comes: whether its sender knows the write cache. */
static inline void hold_begin_io(struct align_io *io)
{
	io->held_flush = false;
	if (READ_ONCE(io->at->mode) != ALIGN_REPORT)
		node_sees_cache(io->at->node);
}

/* Note the end of a bio that changes no data. */
static inline void hold_end_io(struct align_io *io, bool ok)
{
	if (bio_op(io->bio) == REQ_OP_READ)
		overlay_end_read(io, ok);
	else if (io->held_flush)
		hold_end_flush(io->at);
}

/* Whether a read may concern held data. */
static inline bool overlay_wants(struct align_io *io)
{
	struct align_engine *engine = &io->at->engine;

	io->read.nr_pins = 0;
	io->read.iter = io->bio->bi_iter;
	return READ_ONCE(engine->held.nr) ||
	       atomic_read(&engine->blocks.nr_shown);
}

#else	/* nothing is ever held */

static inline void hold_begin_io(struct align_io *io)
{
}

static inline void hold_end_io(struct align_io *io, bool ok)
{
}

static inline bool overlay_wants(struct align_io *io)
{
	return false;
}

static inline bool hold_is_some(const struct align_target *at)
{
	return false;
}

static inline void hold_preresume(struct align_target *at)
{
}

#ifdef CONFIG_DM_ALIGN_PAD

/* Reasons to hold nothing. */
#define HOLD_STOPPED_MODE	2

static inline void hold_take_args(struct align_target *at,
				  const struct align_args *args)
{
}

static inline void hold_say_unwritten(const struct align_target *at,
				      const char *message, int ret)
{
}

static inline int hold_drain(struct align_target *at, unsigned long timeout,
			     unsigned int state)
{
	return 0;
}

static inline const char *hold_message(struct align_target *at,
				       unsigned int argc, char **argv)
{
	return "must be mode|max_blocks <value> or reset_stats|flush";
}

static inline void held_init(struct align_target *at)
{
}

static inline void drain_init(struct align_target *at)
{
}

static inline void hold_exit(struct align_target *at)
{
}

static inline struct work_struct *hold_work(struct align_target *at)
{
	return NULL;
}

static inline bool hold_allowed(const struct align_target *at,
				const struct bio *bio)
{
	return false;
}

static inline int hold_drops(const struct align_target *at)
{
	return 0;
}

static inline bool hold_was_dropped(const struct align_io *io)
{
	return false;
}

static inline void hold_start(struct align_target *at, unsigned int why)
{
}

static inline bool hold_stop(struct align_target *at, unsigned int why)
{
	return false;
}

static inline void hold_presuspend(struct align_target *at)
{
}

static inline void hold_postsuspend(struct align_target *at)
{
}

static inline void hold_thaw(struct align_target *at)
{
}

static inline int hold_settle_for_ioctl(struct align_target *at)
{
	return 0;
}

static inline bool hold_touch(struct align_block *block,
			      struct align_touch *touch)
{
	return false;
}

static inline bool hold_is_awaited(const struct align_block *block)
{
	return false;
}

static inline bool hold_is_over(const struct align_block *block)
{
	return false;
}

static inline void hold_rest(struct align_block *block)
{
}

static inline void hold_leave(struct align_block *block)
{
}

static inline void hold_resolve(struct align_block *block, enum rmw_how how,
				enum rmw_how later)
{
}

static inline void hold_failed(struct align_block *block)
{
}

static inline void hold_overwritten(struct align_block *block,
				    const struct align_io *io)
{
}

static inline void hold_schedule_drain(struct align_target *at)
{
}

static inline void hold_make_room(struct align_target *at)
{
}

static inline void hold_limit(struct align_target *at)
{
}

static inline void hold_make_urgent(struct align_block *block)
{
}

static inline bool hold_take_back(struct align_block *block,
				  struct list_head *ready)
{
	return false;
}

static inline struct align_block *hold_before(struct align_block *block)
{
	return NULL;
}

static inline void hold_for_stream(struct align_block *block,
				   struct list_head *started)
{
}

#endif

#endif

#endif
