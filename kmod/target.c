// SPDX-License-Identifier: GPL-2.0
/*
 * dm-align: a linear target that knows the physical blocks of the device below.
 *
 * Mode report counts the writes that cost a drive a read-modify-write; mode
 * pad turns them into writes of whole physical blocks; mode coalesce also
 * acknowledges their partial blocks early. This file is what device-mapper sees:
 * map, status, messages; table.c has its table lines, fixing.c what pad and coalesce
 * need besides.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "account.h"
#include "compat.h"
#include "fixing.h"
#include "hold.h"
#include "node.h"
#include "table.h"

static void align_dtr(struct dm_target *ti)
{
	struct align_target *at = ti->private;

	fixing_exit(at);
	node_leave(at);
	if (at->dev)
		dm_put_device(ti, at->dev);
	kfree(at);
}

static int align_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct align_args args = { .mode = ALIGN_REPORT };
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

	ti->error = "no memory for the target";
	ret = node_join(at);
	if (ret)
		goto bad;
	ret = fixing_init(at, &args);
	if (ret)
		goto bad;

	ti->error = NULL;
	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_secure_erase_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->accounts_remapped_io = true;
	ti->per_io_data_size = sizeof(struct align_io);
	return 0;

bad:
	align_dtr(ti);
	return ret;
}

static int align_map(struct dm_target *ti, struct bio *bio)
{
	struct align_target *at = ti->private;
	struct align_io *io = dm_per_bio_data(bio, sizeof(*io));

	bio_set_dev(bio, at->dev->bdev);
	bio->bi_iter.bi_sector = at->start +
				 dm_target_offset(ti, bio->bi_iter.bi_sector);
	io->at = at;
	io->bio = bio;
	io->change = false;
	hold_begin_io(io);

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return fixing_map_read(io);
	case REQ_OP_WRITE:
		if (bio_sectors(bio))
			break;
		/*
		 * Each target of a table gets its own; count one of them. If
		 * nothing is acknowledged that the drive has not, just pass.
		 */
		if (!at->index)
			ledger_inc(at->ledger, flushes);
		if (hold_is_some(at))
			return hold_map_flush(io);
		return DM_MAPIO_REMAPPED;
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
	case REQ_OP_WRITE_ZEROES:
		break;
	default:
		/* Zone operations; a zoned device is in mode report. */
		return DM_MAPIO_REMAPPED;
	}

	io->write.start_ns = ktime_get_ns();
	io->change = true;
	io->write.counted = false;
	io->write.nr_touches = 0;
	return fixing_map(io);
}

static int align_end_io(struct dm_target *ti, struct bio *bio,
			blk_status_t *error)
{
	struct align_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (!io->change) {
		hold_end_io(io, !*error);
		return DM_ENDIO_DONE;
	}
	fixing_end(io, !*error);
	if (io->write.counted)
		align_io_resolve(io);
	fixing_leave(io);
	return DM_ENDIO_DONE;
}

/*
 * Messages:
 *   mode <report|pad|coalesce>
 *                       change the mode; returns when the change is complete
 *   reset_stats         store the ledger as the baseline
 */
static int align_message(struct dm_target *ti, unsigned int argc, char **argv,
			 char *result, unsigned int maxlen)
{
	struct align_target *at = ti->private;
	const char *error = NULL;
	enum align_mode mode;
	int ret = 0;

	if (argc == 2 && !strcasecmp(argv[0], "mode")) {
		error = table_parse_mode(argv[1], &mode);
		if (!error)
			error = table_refuse_mode(at, mode);
		if (!error) {
			WRITE_ONCE(at->given.mode, true);
			ret = fixing_set_mode(at, mode);
		}
	} else if (argc == 1 && !strcasecmp(argv[0], "reset_stats")) {
		ret = ledger_prepare(at->ledger);
		if (!ret)
			ledger_reset(at->ledger);
	} else {
		ret = fixing_message(at, argc, argv, &error);
	}
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
#ifdef CONFIG_DM_ALIGN_PAD
	DMEMIT(" max_blocks:%u blocks:%u memory_bytes:%llu",
	       READ_ONCE(at->engine.blocks.max), atomic_read(&at->engine.blocks.nr),
	       (u64)atomic64_read(&at->engine.blocks.bytes));
#endif
	DMEMIT(" epoch:%llu", epoch);
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
		DMEMIT(",device_name=%s,start=%llu,mode=%s",
		       at->dev->name, (unsigned long long)at->start,
		       align_mode_name(READ_ONCE(at->mode)));
		DMEMIT(",logical_block_size=%u,physical_block_size=%u",
		       at->geometry.logical, at->geometry.physical);
		if (at->offset_unknown)
			DMEMIT(",alignment_offset=unknown");
		else
			DMEMIT(",alignment_offset=%u", at->geometry.offset);
#ifdef CONFIG_DM_ALIGN_PAD
		DMEMIT(",max_blocks=%u", READ_ONCE(at->engine.blocks.max));
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
		DMEMIT(",hold_ms=%u,write_cache=%s",
		       READ_ONCE(at->engine.held.hold_ms),
		       at->given.write_cache_on ? "on" : "off");
#endif
		DMEMIT(";");
		break;
	}
}

static int align_preresume(struct dm_target *ti)
{
	struct align_target *at = ti->private;

	node_go_live(at);
	hold_preresume(at);
	return 0;
}

static int align_prepare_ioctl(COMPAT_IOCTL_ARGS(struct dm_target *ti,
						 struct block_device **bdev))
{
	struct align_target *at = ti->private;
	int ret;

	*bdev = at->dev->bdev;
	ret = fixing_take_ioctl(at, COMPAT_IOCTL_CMD);
	if (ret)
		return ret;
	/* Only the whole device passes ioctls of all kinds on. */
	return at->start || ti->len != bdev_nr_sectors(*bdev);
}

static int align_iterate_devices(struct dm_target *ti,
				 iterate_devices_callout_fn fn, void *data)
{
	struct align_target *at = ti->private;

	return fn(ti, at->dev, at->start, ti->len, data);
}

/*
 * Pass overrides upward; all else stacks as for linear.
 *
 * Layers above take physical_block_size for what the drive writes atomically:
 * mkfs.xfs makes its sectors of it if its blocks are as large, databases their
 * pages. Up to 4096 an override tells them the same as a drive with honest firmware.
 * A larger one is about cost, not about atomicity: io_min is for that.
 */
static void align_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct align_target *at = ti->private;
	const struct align_geometry *g = &at->geometry;

	fixing_io_hints(at, limits);
	if (at->offset_unknown || (!at->given.physical && !at->given.offset))
		return;
	limits->io_min = round_up(limits->io_min, g->physical);
	limits->io_opt = round_down(limits->io_opt, g->physical);
	if (g->physical > ALIGN_MAX_CLAIMED &&
	    g->physical != limits->physical_block_size)
		return;
	/* An offset that does not fit the block size would make the device misaligned. */
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
#ifdef CONFIG_DM_ALIGN_PAD
	.presuspend = fixing_presuspend,
	.presuspend_undo = fixing_presuspend_undo,
	.postsuspend = fixing_postsuspend,
	.resume = fixing_resume,
#endif
	.preresume = align_preresume,
	.status = align_status,
	.message = align_message,
	.prepare_ioctl = align_prepare_ioctl,
	.report_zones = align_report_zones,
	.iterate_devices = align_iterate_devices,
	.io_hints = align_io_hints,
};

static int __init align_init(void)
{
	int ret = fixing_load();

	if (ret)
		return ret;
	ret = dm_register_target(&align_type);
	if (ret)
		fixing_unload();
	return ret;
}

static void __exit align_exit(void)
{
	dm_unregister_target(&align_type);
	fixing_unload();
}

module_init(align_init);
module_exit(align_exit);

MODULE_DESCRIPTION(DM_NAME " alignment target");
MODULE_AUTHOR("The dm-align maintainers");
MODULE_LICENSE("GPL");
