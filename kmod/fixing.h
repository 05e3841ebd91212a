/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixing modes, pad and coalesce, as the callbacks of device-mapper need them.
 */
#ifndef DM_ALIGN_FIXING_H
#define DM_ALIGN_FIXING_H

#include "report.h"
#include "table.h"

#ifdef CONFIG_DM_ALIGN_PAD

#include "block.h"
#include "gate.h"

int fixing_load(void);
void fixing_unload(void);
int fixing_init(struct align_target *at, const struct align_args *args);
void fixing_exit(struct align_target *at);
int fixing_map(struct align_io *io);
int fixing_map_read(struct align_io *io);
int fixing_set_mode(struct align_target *at, enum align_mode mode);
int fixing_message(struct align_target *at, unsigned int argc, char **argv,
		   const char **error);
int fixing_take_ioctl(struct align_target *at, unsigned int cmd);
void fixing_io_hints(struct align_target *at, struct queue_limits *limits);
void fixing_presuspend(struct dm_target *ti);
void fixing_presuspend_undo(struct dm_target *ti);
void fixing_postsuspend(struct dm_target *ti);
void fixing_resume(struct dm_target *ti);

/* Note the end of a change of data, in front of the ledger. */
static inline void fixing_end(struct align_io *io, bool ok)
{
	struct align_engine *engine = &io->at->engine;

	/* A range that went down in pieces has ended before. */
	if (io->write.in_range)
		blocks_end_range(io, ok);
	if (io->write.quiet && quiet_leave(&engine->quiet, io->write.area))
		blocks_end_quiet(io->at, io->write.area);
	if (io->write.awaited) {
		atomic_dec(&engine->delay.writes);
		delay_end_early(&engine->delay);
	}
}

/* Let the mode change again, behind the ledger. */
static inline void fixing_leave(struct align_io *io)
{
	if (io->write.entered)
		gate_leave(&io->at->gate);
}

#else

static inline int fixing_init(struct align_target *at,
			      const struct align_args *args)
{
	return 0;
}

static inline void fixing_exit(struct align_target *at)
{
}

static inline int fixing_map(struct align_io *io)
{
	return report_map(io);
}

static inline int fixing_map_read(struct align_io *io)
{
	report_count_read(io, true);
	return DM_MAPIO_REMAPPED;
}

static inline void fixing_end(struct align_io *io, bool ok)
{
}

static inline void fixing_leave(struct align_io *io)
{
}

static inline int fixing_set_mode(struct align_target *at, enum align_mode mode)
{
	return 0;
}

static inline int fixing_message(struct align_target *at, unsigned int argc,
				 char **argv, const char **error)
{
	/* Nothing is held or cached that a flush would write or evict. */
	if (argc != 1 || strcasecmp(argv[0], "flush"))
		*error = "must be mode <value> or reset_stats|flush";
	return 0;
}

static inline int fixing_take_ioctl(struct align_target *at, unsigned int cmd)
{
	return 0;
}

static inline void fixing_io_hints(struct align_target *at,
				   struct queue_limits *limits)
{
}

static inline int fixing_load(void)
{
	return 0;
}

static inline void fixing_unload(void)
{
}

#endif

#endif
