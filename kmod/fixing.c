// SPDX-License-Identifier: GPL-2.0
/*
 * The fixing modes, pad and coalesce, as the callbacks of device-mapper need them: the
 * way of a write through the gate to the engine, changes of the mode, messages,
 * suspends, ioctls, limits.
 */
#include <linux/hdreg.h>
#include <linux/nvme_ioctl.h>
#include <scsi/scsi.h>
#include <scsi/scsi_ioctl.h>
#include <scsi/sg.h>

#include "account.h"
#include "bounce.h"
#include "compat.h"
#include "cut.h"
#include "fixing.h"
#include "hold.h"
#include "parts.h"

/* Set up the resources that the targets of the module share. Return: 0 or an error. */
int fixing_load(void)
{
	int ret = reclaim_init();

	if (ret)
		return ret;
	ret = notify_init();
	if (ret)
		reclaim_exit();
	return ret;
}

/* Undo fixing_load(); there is no target any more. */
void fixing_unload(void)
{
	notify_exit();
	reclaim_exit();
}

/**
 * fixing_init - initialise what serves writes in pad and coalesce
 * @at: the target, zeroed but for what its table line says
 * @args: the arguments of that
 *
 * Return: 0 or -ENOMEM.
 */
int fixing_init(struct align_target *at, const struct align_args *args)
{
	unsigned int max = args->max_blocks;
	int ret;

	mutex_init(&at->change_lock);
	if (!at->given.max_blocks)
		max = ALIGN_DEFAULT_MEMORY / at->geometry.physical;
	/* Nothing waits for a second bio of one set: a reserve of one is enough. */
	ret = bioset_init(&at->pieces, 1, 0, BIOSET_NEED_BVECS);
	if (ret)
		return ret;
	ret = bioset_init(&at->joined, 1, 0, BIOSET_NEED_BVECS);
	if (ret)
		goto bad_pieces;
	ret = engine_init(at, max);
	if (ret)
		goto bad_joined;
	hold_take_args(at, args);
	ret = gate_init(&at->gate);
	if (!ret)
		return 0;
	engine_exit(at);
bad_joined:
	bioset_exit(&at->joined);
bad_pieces:
	bioset_exit(&at->pieces);
	return ret;
}

/* Undo fixing_init(), if that was done; no bio comes any more. */
void fixing_exit(struct align_target *at)
{
	/* Removal does not wait for what postsuspend would have to wait for. */
	if (!at->engine.jobs.wq)
		return;
	gate_close(&at->gate);
	engine_exit(at);
	gate_exit(&at->gate);
	bioset_exit(&at->joined);
	bioset_exit(&at->pieces);
	mutex_destroy(&at->change_lock);
}

/*
 * Whether a write of whole blocks goes down as it came, because no block is in memory
 * that might be concerned.
 */
static bool map_whole(struct align_io *io)
{
	const struct align_geometry *g = &io->at->geometry;
	struct bio *bio = io->bio;

	if (!report_is_whole(io))
		return false;
	/* A block may wait for this, and only its sender would poll it. */
	bio_clear_polled(bio);
	return align_engine_is_quiet(io,
				     align_block_of(g, bio->bi_iter.bi_sector),
				     align_block_of(g, bio_end_sector(bio) - 1));
}

/* A write, discard or write-zeroes; also called again after the gate. */
static int map_change(struct align_io *io)
{
	struct align_target *at = io->at;

	switch (gate_enter(&at->gate, io)) {
	case -EAGAIN:
		return align_refuse_nowait(io);
	case -EINPROGRESS:
		return DM_MAPIO_SUBMITTED;
	}
	if (READ_ONCE(at->mode) == ALIGN_REPORT ||
	    at->geometry.physical == at->geometry.logical)
		return report_map(io);
	if (!map_whole(io))
		return align_engine_map(io);
	align_io_count_whole(io);
	return DM_MAPIO_REMAPPED;
}

/*
 * Whether a bio must go down unmodified, and the device below does not take it so: part of
 * an atomic write cannot be padded, and a part of a secure erase not be left out.
 */
static bool is_indivisible(const struct align_io *io)
{
	const struct bio *bio = io->bio;

	return ((bio->bi_opf & REQ_ATOMIC) ||
		bio_op(bio) == REQ_OP_SECURE_ERASE) &&
	       ((bio->bi_iter.bi_sector | bio_sectors(bio)) & io->at->lower_mask);
}

/**
 * fixing_map - map a write, discard or write-zeroes
 * @io: the bio
 *
 * Return: what map returns.
 */
int fixing_map(struct align_io *io)
{
	io->write.entered = false;
	io->write.awaited = false;
	io->write.quiet = false;
	io->write.in_range = false;
	if (align_offers_smaller(io->at) && is_indivisible(io)) {
		io->bio->bi_status = BLK_STS_NOTSUPP;
		bio_endio(io->bio);
		return DM_MAPIO_SUBMITTED;
	}
	return map_change(io);
}

/**
 * fixing_map_read - map a read
 * @io: the bio
 *
 * Return: what map returns.
 */
int fixing_map_read(struct align_io *io)
{
	bool overlaid = overlay_wants(io), last = true;
	int ret = DM_MAPIO_REMAPPED;

	if (bounce_wants(io)) {
		if ((io->bio->bi_opf & REQ_NOWAIT) && bounce_needs(io))
			return align_refuse_nowait(io);
		last = bounce_accept(io);
	}
	if (overlaid)
		ret = overlay_map_read(io, last);
	else
		report_count_read(io, last);
	if (ret == DM_MAPIO_REMAPPED && bounce_wants(io))
		ret = bounce_map_read(io);
	return ret;
}

/* Maps a bio that waited in front of the gate. */
static void deferred_job(struct align_job *job)
{
	struct align_io *io = container_of(job, struct align_io, job);

	if (map_change(io) == DM_MAPIO_REMAPPED)
		dm_submit_bio_remap(io->bio, NULL);
}

/*
 * Change the mode. Return: 0 when no write of the old mode is in flight and nothing is
 * held, or the mode stays: -ERESTARTSYS if the caller was killed before, -EIO if what
 * is held cannot be written.
 */
static int change_mode(struct align_target *at, enum align_mode mode)
{
	struct bio_list deferred = BIO_EMPTY_LIST;
	struct bio *bio;
	int ret;

	ret = mutex_lock_killable(&at->change_lock);
	if (ret)
		return ret;
	if (at->mode != mode) {
		/* Before the gate is closed, so that writers need not wait. */
		hold_stop(at, HOLD_STOPPED_MODE);
		ret = hold_drain(at, MAX_SCHEDULE_TIMEOUT, TASK_KILLABLE);
		if (ret) {
			hold_start(at, HOLD_STOPPED_MODE);
			mutex_unlock(&at->change_lock);
			return ret;
		}
		ret = gate_close_killable(&at->gate);
		if (!ret) {
			/* Writes in report evict no cached block. */
			blocks_evict(at);
			WRITE_ONCE(at->mode, mode);
		}
		hold_start(at, HOLD_STOPPED_MODE);
		gate_open(&at->gate, &deferred);
		/* Sending them may wait for the device; that is not for us. */
		while ((bio = bio_list_pop(&deferred))) {
			struct align_io *io = dm_per_bio_data(bio, sizeof(*io));

			job_init(&io->job, deferred_job);
			job_queue(&at->engine.jobs, &io->job);
		}
	}
	mutex_unlock(&at->change_lock);
	return ret;
}

/**
 * fixing_set_mode - change the mode, because a message says so
 * @at: the target
 * @mode: the mode, which the device allows
 *
 * Return: 0 or an error.
 */
int fixing_set_mode(struct align_target *at, enum align_mode mode)
{
	int ret = change_mode(at, mode);

	hold_say_unwritten(at, "mode", ret);
	return ret;
}

/**
 * fixing_message - take a message about the engine
 * @at: the target
 * @argc: the number of words
 * @argv: the words:
 *	max_blocks <n>: change the ceiling;
 *	flush: write held blocks, evict cached ones
 * @error: receives the text of an error, if there is one
 *
 * Return: 0, or an error of the message's own.
 */
int fixing_message(struct align_target *at, unsigned int argc, char **argv,
		   const char **error)
{
	unsigned int number;
	int ret;

	if (argc == 2 && !strcasecmp(argv[0], "max_blocks")) {
		*error = table_parse_max_blocks(argv[1], &number);
		if (*error)
			return 0;
		WRITE_ONCE(at->given.max_blocks, true);
		blocks_set_max(at, number);
		return 0;
	}
	if (argc == 1 && !strcasecmp(argv[0], "flush")) {
		ret = hold_drain(at, MAX_SCHEDULE_TIMEOUT, TASK_KILLABLE);
		blocks_evict(at);
		hold_say_unwritten(at, argv[0], ret);
		return ret;
	}
	*error = hold_message(at, argc, argv);
	return 0;
}

void fixing_resume(struct dm_target *ti)
{
	hold_thaw(ti->private);
}

/* The file system is frozen after this, and its last writes are still to come. */
void fixing_presuspend(struct dm_target *ti)
{
	hold_presuspend(ti->private);
}

void fixing_presuspend_undo(struct dm_target *ti)
{
	hold_thaw(ti->private);
}

/*
 * dm has waited for every bio, and no bio ends before the engine's I/O for it.
 * Held blocks may still be in flight, or fail, and then they stay.
 */
void fixing_postsuspend(struct dm_target *ti)
{
	struct align_target *at = ti->private;

	hold_postsuspend(at);
	blocks_evict(at);
}

/*
 * Commands that ask or set something of a driver and touch no sector. All others
 * may: new ones, and SG_IO, whose own command its caller can change after a look.
 */
static bool ioctl_spares_medium(unsigned int cmd)
{
	switch (cmd) {
	case HDIO_GET_IDENTITY:
	case NVME_IOCTL_ID:
	case SCSI_IOCTL_GET_BUS_NUMBER:
	case SCSI_IOCTL_GET_IDLUN:
	case SCSI_IOCTL_PROBE_HOST:
	case SG_EMULATED_HOST:
	case SG_GET_RESERVED_SIZE:
	case SG_GET_TIMEOUT:
	case SG_GET_VERSION_NUM:
	case SG_SET_RESERVED_SIZE:
	case SG_SET_TIMEOUT:
		return true;
	default:
		return false;
	}
}

/**
 * fixing_take_ioctl - keep a command from going behind the engine's back
 * @at: the target
 * @cmd: the command
 *
 * Only the harmless ones pass in modes that hold or read blocks: others could write.
 *
 * Return: 0 if it may pass, or what prepare_ioctl returns.
 */
int fixing_take_ioctl(struct align_target *at, unsigned int cmd)
{
	int ret;

	if (READ_ONCE(at->mode) == ALIGN_REPORT || ioctl_spares_medium(cmd))
		return 0;
	/* Nothing must have been changed for a table that device-mapper will refuse. */
	if (!capable(CAP_SYS_RAWIO))
		return 1;
	ret = hold_settle_for_ioctl(at);
	blocks_evict(at);
	return ret ? ret : 1;
}

/*
 * The block layer cuts large write-zeroes at this limit, which must not be inside a
 * block.
 * A mode that is entered by a message comes too late for the limit: then the two
 * parts of a block complete each other.
 */
static void limit_write_zeroes(const struct align_target *at,
			       struct queue_limits *limits)
{
	const struct align_geometry *g = &at->geometry;
	unsigned int sectors = limits->max_write_zeroes_sectors;

	if (READ_ONCE(at->mode) != ALIGN_REPORT && g->physical > g->logical)
		compat_limit_write_zeroes(limits, align_zeroes_limit(g, sectors));
}

/* Advertise the limits that the engine needs. */
void fixing_io_hints(struct align_target *at, struct queue_limits *limits)
{
	const struct align_geometry *g = &at->geometry;

	/* Memory that the device below does not take is copied. */
	if (align_offers_smaller(at)) {
		limits->logical_block_size = g->logical;
		limits->dma_alignment = 0;
	}
	limit_write_zeroes(at, limits);
	/*
	 * The engine takes writes apart at logical blocks, so each of those had
	 * better lie in one piece of memory. Report passes on what linear would.
	 */
	if (at->mode != ALIGN_REPORT && g->physical > g->logical)
		limits->dma_alignment = max(limits->dma_alignment,
					    limits->logical_block_size - 1);
}
