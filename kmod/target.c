// SPDX-License-Identifier: GPL-2.0
/*
 * dm-align: a linear target that knows the physical blocks of the device below.
 *
 * Mode report counts the writes that cost a drive a read-modify-write; mode
 * pad turns them into writes of whole physical blocks; mode coalesce also
 * acknowledges their partial blocks early. This file is what device-mapper sees:
 * map, status, messages, suspend; table.c has its table lines.
 */
#include <linux/hdreg.h>
#include <linux/module.h>
#include <linux/nvme_ioctl.h>
#include <linux/slab.h>
#include <scsi/scsi.h>
#include <scsi/scsi_ioctl.h>
#include <scsi/sg.h>

#include "account.h"
#include "block.h"
#include "compat.h"
#include "gate.h"
#include "lower.h"
#include "node.h"
#include "table.h"

static void align_dtr(struct dm_target *ti)
{
	struct align_target *at = ti->private;

	/* Removal does not wait for what postsuspend would have to wait for. */
	if (at->engine.jobs.wq) {
		gate_close(&at->gate);
		engine_exit(at);
		gate_exit(&at->gate);
		bioset_exit(&at->joined);
		bioset_exit(&at->pieces);
	}
	node_leave(at);
	if (at->dev)
		dm_put_device(ti, at->dev);
	mutex_destroy(&at->change_lock);
	kfree(at);
}

static int align_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct align_args args = { .mode = ALIGN_REPORT,
				   .hold_ms = ALIGN_DEFAULT_HOLD_MS };
	struct dm_arg_set as = { .argc = argc, .argv = argv };
	struct align_target *at;
	unsigned long long start;
	const char *path;
	int ret;

	if (argc < 2) {
		ti->error = "expected <device> <offset> [<#feature args> <arg>...]";
		return -EINVAL;
	}
	at = kzalloc(sizeof(*at), GFP_KERNEL);
	if (!at) {
		ti->error = "no memory for the target";
		return -ENOMEM;
	}
	at->ti = ti;
	mutex_init(&at->change_lock);
	ti->private = at;

	ret = -EINVAL;
	path = dm_shift_arg(&as);
	if (kstrtoull(dm_shift_arg(&as), 10, &start) ||
	    start > (U64_MAX >> SECTOR_SHIFT) - ti->len) {
		ti->error = "offset must be a number of sectors";
		goto bad;
	}
	at->start = start;
	ti->error = (char *)table_parse(at, &args, &as);
	if (ti->error)
		goto bad;

	ret = dm_get_device(ti, path, dm_table_get_mode(ti->table), &at->dev);
	if (ret) {
		ti->error = "cannot open the underlying device";
		goto bad;
	}
	ret = -EINVAL;
	ti->error = (char *)table_find_geometry(at, &args);
	if (ti->error)
		goto bad;
	ti->error = (char *)table_refuse_mode(at, args.mode);
	if (ti->error)
		goto bad;
	at->mode = args.mode;
	at->suggested = table_suggest_physical(at->dev->bdev);
	if (!at->given.max_blocks)
		args.max_blocks = ALIGN_DEFAULT_MEMORY / at->geometry.physical;

	ti->error = "no memory for the target";
	ret = node_join(at);
	if (ret)
		goto bad;
	ret = bioset_init(&at->pieces, BIO_POOL_SIZE, 0, BIOSET_NEED_BVECS);
	if (ret)
		goto bad;
	ret = bioset_init(&at->joined, BIO_POOL_SIZE, 0, BIOSET_NEED_BVECS);
	if (ret)
		goto bad_pieces;
	ret = engine_init(at, args.max_blocks);
	if (ret)
		goto bad_joined;
	at->engine.held.hold_ms = args.hold_ms;
	ret = gate_init(&at->gate);
	if (ret)
		goto bad_blocks;

	ti->error = NULL;
	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_secure_erase_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->flush_supported = at->given.write_cache_on ||
			      at->mode == ALIGN_COALESCE;
	ti->accounts_remapped_io = true;
	ti->per_io_data_size = sizeof(struct align_io);
	return 0;

bad_blocks:
	engine_exit(at);
bad_joined:
	bioset_exit(&at->joined);
bad_pieces:
	bioset_exit(&at->pieces);
bad:
	align_dtr(ti);
	return ret;
}

/* Map a write, discard or write-zeroes that goes down as it came: count it. */
static noinline int map_report(struct align_io *io)
{
	struct align_target *at = io->at;
	const struct align_geometry *g = &at->geometry;
	struct bio *bio = io->bio;
	bool write = bio_op(bio) == REQ_OP_WRITE;
	struct align_split split;
	unsigned int i;

	if (!write && !align_io_is_zeroes(io)) {
		align_io_count(io, NULL, false);
		return DM_MAPIO_REMAPPED;
	}
	align_split_write(g, bio->bi_iter.bi_sector, bio_sectors(bio), &split);
	align_io_count(io, &split, write && align_over_limits(io));
	if (write)
		ledger_add(at->ledger, sent_block_bytes,
			   align_blocks_bytes(g, split.first_block,
					      split.last_block));
	io->write.nr_touches = split.nr_touches;
	for (i = 0; i < split.nr_touches; i++) {
		io->write.touch[i].part = split.touch[i];
		io->write.touch[i].how = RMW_DRIVE_REPORT;
		io->write.touch[i].held = false;
	}
	return DM_MAPIO_REMAPPED;
}

/*
 * Whether a write goes down as it came in all modes: whole blocks, which the device
 * below takes as one request, and no block in memory that might be concerned. Most
 * writes are like that.
 */
static bool map_whole(struct align_io *io, bool fixing)
{
	struct align_target *at = io->at;
	const struct align_geometry *g = &at->geometry;
	struct bio *bio = io->bio;
	sector_t sector = bio->bi_iter.bi_sector;

	if (bio_op(bio) != REQ_OP_WRITE ||
	    !align_is_whole(g, sector, bio_sectors(bio)) ||
	    (!align_surely_fits(at, bio) && align_over_limits(io)))
		return false;
	if (!fixing)
		return true;
	/* A block may wait for this, and only its sender would poll it. */
	bio_clear_polled(bio);
	return align_engine_is_quiet(io, align_block_of(g, sector),
				     align_block_of(g, bio_end_sector(bio) - 1));
}

/* A write, discard or write-zeroes; also called again after the gate. */
static int map_change(struct align_io *io)
{
	struct align_target *at = io->at;
	bool fixing;

	switch (gate_enter(&at->gate, io)) {
	case -EAGAIN:
		return align_again(io);
	case -EINPROGRESS:
		return DM_MAPIO_SUBMITTED;
	}
	fixing = READ_ONCE(at->mode) != ALIGN_REPORT &&
		 at->geometry.physical > at->geometry.logical;
	if (map_whole(io, fixing)) {
		align_io_count_whole(io);
		return DM_MAPIO_REMAPPED;
	}
	return fixing ? align_engine_map(io) : map_report(io);
}

static int align_map(struct dm_target *ti, struct bio *bio)
{
	struct align_target *at = ti->private;
	struct align_io *io = dm_per_bio_data(bio, sizeof(*io));

	bio_set_dev(bio, at->dev->bdev);
	bio->bi_iter.bi_sector = at->start +
				 dm_target_offset(ti, bio->bi_iter.bi_sector);
	io->change = false;
	if (READ_ONCE(at->mode) != ALIGN_REPORT)
		node_sees_cache(at->node);

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		io->at = at;
		io->bio = bio;
		io->read.nr_pins = 0;
		io->read.iter = bio->bi_iter;
		if (READ_ONCE(at->engine.held.nr) ||
		    atomic_read(&at->engine.blocks.nr_shown))
			return overlay_map_read(io);
		ledger_inc(at->ledger, reads);
		ledger_add(at->ledger, read_bytes, bio->bi_iter.bi_size);
		return DM_MAPIO_REMAPPED;
	case REQ_OP_WRITE:
		if (bio_sectors(bio))
			break;
		/*
		 * Each target of a table gets its own; count one of them. If
		 * nothing is acknowledged that the drive has not, just pass.
		 */
		if (!at->index)
			ledger_inc(at->ledger, flushes);
		io->at = at;
		io->bio = bio;
		io->held_flush = false;
		if (READ_ONCE(at->engine.held.nr))
			return hold_map_flush(io);
		return DM_MAPIO_REMAPPED;
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
	case REQ_OP_WRITE_ZEROES:
		break;
	default:
		/* Zone operations; a zoned device is in mode report. */
		io->held_flush = false;
		return DM_MAPIO_REMAPPED;
	}

	io->at = at;
	io->bio = bio;
	io->write.start_ns = ktime_get_ns();
	io->change = true;
	io->write.entered = false;
	io->write.counted = false;
	io->write.awaited = false;
	io->write.quiet = false;
	io->write.in_range = false;
	io->write.nr_touches = 0;
	return map_change(io);
}

static int align_end_io(struct dm_target *ti, struct bio *bio,
			blk_status_t *error)
{
	struct align_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (!io->change) {
		if (bio_op(bio) == REQ_OP_READ)
			overlay_end_read(io, !*error);
		else if (io->held_flush)
			hold_end_flush(io->at);
		return DM_ENDIO_DONE;
	}
	/* A range that went down in pieces has ended before. */
	if (io->write.in_range)
		blocks_end_range(io, !*error);
	if (io->write.quiet &&
	    quiet_leave(&io->at->engine.quiet, io->write.area))
		blocks_end_quiet(io->at, io->write.area);
	if (io->write.awaited) {
		atomic_dec(&io->at->engine.delay.writes);
		delay_hurry(&io->at->engine.delay);
	}
	if (io->write.counted)
		align_io_resolve(io);
	if (io->write.entered)
		gate_leave(&io->at->gate);
	return DM_ENDIO_DONE;
}

/* Maps a bio that waited in front of the gate. */
static void deferred_job(struct align_job *job)
{
	struct align_io *io = container_of(job, struct align_io, job);

	if (map_change(io) == DM_MAPIO_REMAPPED)
		dm_submit_bio_remap(io->bio, NULL);
}

/*
 * Returns when no write of the old mode is in flight and nothing is held: 0, or
 * the mode stays: -ERESTARTSYS if the caller was killed before, -EIO if what is
 * held cannot be written.
 */
static int set_mode(struct align_target *at, enum align_mode mode)
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
		ret = hold_empty(at, MAX_SCHEDULE_TIMEOUT, TASK_KILLABLE);
		if (ret) {
			hold_start(at, HOLD_STOPPED_MODE);
			mutex_unlock(&at->change_lock);
			return ret;
		}
		ret = gate_close_killable(&at->gate);
		if (!ret) {
			/* Writes in report do not end what is known. */
			blocks_forget(at);
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

/*
 * Messages:
 *   mode <report|pad|coalesce>
 *                       change the mode; returns when the change is complete
 *   hold_ms <ms>        change how long coalesce holds a block
 *   max_blocks <n>      change the ceiling
 *   reset_stats         store the ledger as the baseline
 *   flush               write what is held, forget what is known
 *   drop_failed         give up held blocks that could not be written
 */
static int align_message(struct dm_target *ti, unsigned int argc, char **argv,
			 char *result, unsigned int maxlen)
{
	struct align_target *at = ti->private;
	const char *error = NULL;
	enum align_mode mode;
	unsigned int number;
	int ret = 0;

	if (argc == 2 && !strcasecmp(argv[0], "mode")) {
		error = table_parse_mode(argv[1], &mode);
		if (!error)
			error = table_refuse_mode(at, mode);
		if (!error) {
			WRITE_ONCE(at->given.mode, true);
			ret = set_mode(at, mode);
		}
	} else if (argc == 2 && !strcasecmp(argv[0], "max_blocks")) {
		error = table_parse_max_blocks(argv[1], &number);
		if (!error) {
			WRITE_ONCE(at->given.max_blocks, true);
			blocks_set_max(at, number);
		}
	} else if (argc == 2 && !strcasecmp(argv[0], "hold_ms")) {
		error = table_parse_hold_ms(argv[1], &number);
		if (!error) {
			WRITE_ONCE(at->given.hold_ms, true);
			hold_set_ms(at, number);
		}
	} else if (argc == 1 && !strcasecmp(argv[0], "reset_stats")) {
		ledger_reset(at->ledger);
	} else if (argc == 1 && !strcasecmp(argv[0], "flush")) {
		ret = hold_empty(at, MAX_SCHEDULE_TIMEOUT, TASK_KILLABLE);
		blocks_forget(at);
	} else if (argc == 1 && !strcasecmp(argv[0], "drop_failed")) {
		hold_drop_failed(at);
	} else {
		error = "must be mode|hold_ms|max_blocks <value> or reset_stats|flush|drop_failed";
	}
	if (ret == -EIO)
		DMERR("%s: message \"%s\": cannot write held blocks; drop_failed discards them",
		      dm_device_name(at->node->md), argv[0]);
	if (!error)
		return ret;
	DMERR("%s: message \"%.64s%s%.64s\": %s",
	      dm_device_name(at->node->md), argv[0], argc > 1 ? " " : "",
	      argc > 1 ? argv[1] : "", error);
	return -EINVAL;
}

static void print_status(struct align_target *at, char *result,
			 unsigned int maxlen)
{
	unsigned int sz = 0;
	unsigned int i;
	u64 epoch;

	spin_lock(&at->node->lock);
	epoch = at->node->epoch;
	spin_unlock(&at->node->lock);

	DMEMIT("%s physical_block_size:%u",
	       align_mode_name(READ_ONCE(at->mode)), at->geometry.physical);
	if (at->offset_unknown)
		DMEMIT(" alignment_offset:unknown");
	else
		DMEMIT(" alignment_offset:%u", at->geometry.offset);
	DMEMIT(" max_blocks:%u blocks:%u memory_bytes:%llu epoch:%llu",
	       READ_ONCE(at->engine.blocks.max), atomic_read(&at->engine.blocks.nr),
	       (u64)atomic64_read(&at->engine.blocks.bytes), epoch);
	for (i = 0; i < LEDGER_NR; i++)
		DMEMIT(" %s:%llu", ledger_name(i), ledger_read(at->ledger, i));
}

static void align_status(struct dm_target *ti, status_type_t type,
			 unsigned int status_flags, char *result,
			 unsigned int maxlen)
{
	struct align_target *at = ti->private;
	unsigned int sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		print_status(at, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		table_print(at, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		DMEMIT(",device_name=%s,start=%llu,mode=%s,physical_block_size=%u",
		       at->dev->name, (unsigned long long)at->start,
		       align_mode_name(READ_ONCE(at->mode)),
		       at->geometry.physical);
		if (at->offset_unknown)
			DMEMIT(",alignment_offset=unknown");
		else
			DMEMIT(",alignment_offset=%u", at->geometry.offset);
		DMEMIT(",max_blocks=%u,hold_ms=%u,write_cache=%s;",
		       READ_ONCE(at->engine.blocks.max),
		       READ_ONCE(at->engine.held.hold_ms),
		       at->given.write_cache_on ? "on" : "off");
		break;
	}
}

/*
 * A device can be opened, and stacked upon, before its first table is resumed.
 * An opener that did that, or has a device open that gains a write cache by this
 * table, has looked already and sends no flushes.
 */
static int align_preresume(struct dm_target *ti)
{
	struct align_target *at = ti->private;

	node_go_live(at);
	if (!node_is_flushed(at->node) &&
	    READ_ONCE(at->mode) == ALIGN_COALESCE)
		DMWARN("%s: coalesce holds nothing: device was open while it had no write cache",
		       dm_device_name(at->node->md));
	return 0;
}

static void align_resume(struct dm_target *ti)
{
	hold_thaw(ti->private);
}

/* The file system is frozen after this, and its last writes are still to come. */
static void align_presuspend(struct dm_target *ti)
{
	hold_presuspend(ti->private);
}

static void align_presuspend_undo(struct dm_target *ti)
{
	hold_thaw(ti->private);
}

/*
 * dm has waited for every bio, and no bio ends before the engine's I/O for it.
 * What is held may still be on its way, or fail, and then it stays.
 */
static void align_postsuspend(struct dm_target *ti)
{
	struct align_target *at = ti->private;

	hold_postsuspend(at);
	blocks_forget(at);
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

static int align_prepare_ioctl(COMPAT_IOCTL_ARGS(struct dm_target *ti,
						 struct block_device **bdev))
{
	struct align_target *at = ti->private;
	int ret;

	*bdev = at->dev->bdev;
	/*
	 * Only the whole device passes ioctls of all kinds on, and in modes that
	 * hold or read blocks only the harmless ones: a command that writes would
	 * go behind the engine's back.
	 */
	if (READ_ONCE(at->mode) == ALIGN_REPORT ||
	    ioctl_spares_medium(COMPAT_IOCTL_CMD))
		return at->start || ti->len != bdev_nr_sectors(*bdev);
	/* What device-mapper will refuse must cost nothing. */
	if (!capable(CAP_SYS_RAWIO))
		return 1;
	ret = hold_settle_for_ioctl(at);
	blocks_forget(at);
	return ret ? ret : 1;
}

static int align_iterate_devices(struct dm_target *ti,
				 iterate_devices_callout_fn fn, void *data)
{
	struct align_target *at = ti->private;

	return fn(ti, at->dev, at->start, ti->len, data);
}

/*
 * The block layer cuts large write-zeroes at this limit, which must not be inside a
 * block.
 * A mode that is entered by a message comes too late for it: then the two parts
 * of a block complete each other.
 */
static void limit_write_zeroes(const struct align_target *at,
			       struct queue_limits *limits)
{
	const struct align_geometry *g = &at->geometry;
	unsigned int sectors = limits->max_write_zeroes_sectors;

	if (READ_ONCE(at->mode) != ALIGN_REPORT && g->physical > g->logical)
		compat_limit_write_zeroes(limits, align_zeroes_limit(g, sectors));
}

/*
 * Pass overrides upward; all else stacks as for linear.
 *
 * Layers above take physical_block_size for what the drive writes atomically:
 * mkfs.xfs makes its sectors of it if its blocks are as large, databases their
 * pages. Up to 4096 an override tells them what a drive with honest firmware
 * would. A larger one is about cost, not about atomicity: io_min is for that.
 */
static void align_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct align_target *at = ti->private;
	const struct align_geometry *g = &at->geometry;

	limit_write_zeroes(at, limits);
	/*
	 * The engine takes writes apart at logical blocks, so each of those had
	 * better lie in one piece of memory. Report passes on what linear would.
	 */
	if (at->mode != ALIGN_REPORT && g->physical > g->logical)
		limits->dma_alignment = max(limits->dma_alignment,
					    limits->logical_block_size - 1);

	if (at->offset_unknown || (!at->given.physical && !at->given.offset))
		return;
	limits->io_min = round_up(limits->io_min, g->physical);
	limits->io_opt = round_down(limits->io_opt, g->physical);
	if (g->physical > ALIGN_MAX_CLAIMED &&
	    g->physical != limits->physical_block_size)
		return;
	/* What does not fit the block size would make the device misaligned. */
	limits->physical_block_size = g->physical;
	if (limits->chunk_sectors & (align_block_sectors(g) - 1))
		limits->chunk_sectors = 0;
	limits->alignment_offset = align_shifted_offset(g->offset, at->start,
							g->physical);
	compat_clear_misaligned(limits);
}

#ifdef CONFIG_BLK_DEV_ZONED
static int align_report_zones(struct dm_target *ti,
			      struct dm_report_zones_args *args,
			      unsigned int nr_zones)
{
	struct align_target *at = ti->private;

	return dm_report_zones(at->dev->bdev, at->start,
			       at->start + dm_target_offset(ti, args->next_sector),
			       args, nr_zones);
}
#else
#define align_report_zones NULL
#endif

static struct target_type align_type = {
	.name = "align",
	.version = {1, 0, 0},
	.features = DM_TARGET_NOWAIT | DM_TARGET_ZONED_HM |
		    DM_TARGET_ATOMIC_WRITES,
	.module = THIS_MODULE,
	.ctr = align_ctr,
	.dtr = align_dtr,
	.map = align_map,
	.end_io = align_end_io,
	.presuspend = align_presuspend,
	.presuspend_undo = align_presuspend_undo,
	.postsuspend = align_postsuspend,
	.preresume = align_preresume,
	.resume = align_resume,
	.status = align_status,
	.message = align_message,
	.prepare_ioctl = align_prepare_ioctl,
	.report_zones = align_report_zones,
	.iterate_devices = align_iterate_devices,
	.io_hints = align_io_hints,
};

static int __init align_init(void)
{
	int ret = notify_init();

	if (ret)
		return ret;
	ret = dm_register_target(&align_type);
	if (ret)
		notify_exit();
	return ret;
}

static void __exit align_exit(void)
{
	dm_unregister_target(&align_type);
	notify_exit();
}

module_init(align_init);
module_exit(align_exit);

MODULE_DESCRIPTION(DM_NAME " alignment target");
MODULE_AUTHOR("The dm-align maintainers");
MODULE_LICENSE("GPL");
