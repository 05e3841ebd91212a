// SPDX-License-Identifier: GPL-2.0
/*
 * The table line of a target: its arguments, what they make of the device below, what
 * that device does not allow, and how the line is shown.
 */
#include <linux/blkdev.h>

#include "compat.h"
#include "cut.h"
#include "lower.h"
#include "node.h"
#include "table.h"

/**
 * table_parse_mode - read the name of a mode
 * @arg: the name, in any case
 * @mode: receives the mode
 *
 * Return: NULL, or the text of the error.
 */
const char *table_parse_mode(const char *arg, enum align_mode *mode)
{
	enum align_mode i;

	for (i = ALIGN_REPORT; i <= ALIGN_COALESCE; i++) {
		if (strcasecmp(arg, align_mode_name(i)))
			continue;
		*mode = i;
		return NULL;
	}
	return "mode must be report, pad or coalesce";
}

#ifdef CONFIG_DM_ALIGN_COALESCE
/**
 * table_parse_hold_ms - read how long coalesce holds a block
 * @arg: a number of milliseconds
 * @ms: receives the number
 *
 * Return: NULL, or the text of the error.
 */
const char *table_parse_hold_ms(const char *arg, unsigned int *ms)
{
	if (kstrtouint(arg, 10, ms) || !*ms || *ms > ALIGN_MAX_HOLD_MS)
		return "hold_ms must be a number from 1 to 600000";
	return NULL;
}
#endif

#ifdef CONFIG_DM_ALIGN_PAD
/**
 * table_parse_max_blocks - read the ceiling of blocks in memory
 * @arg: a number of blocks
 * @max: receives the number
 *
 * Return: NULL, or the text of the error.
 */
const char *table_parse_max_blocks(const char *arg, unsigned int *max)
{
	if (kstrtouint(arg, 10, max) || !*max || *max > ALIGN_MAX_MAX_BLOCKS)
		return "max_blocks must be a number from 1 to 262144";
	return NULL;
}
#endif

static const char *parse_feature(struct align_target *at,
				 struct align_args *args, const char *name,
				 const char *value)
{
	const char *error = NULL;
	bool *given;

	if (!strcasecmp(name, "mode")) {
		given = &at->given.mode;
		error = table_parse_mode(value, &args->mode);
	} else if (!strcasecmp(name, "physical_block_size")) {
		given = &at->given.physical;
		if (kstrtouint(value, 10, &args->physical))
			error = "physical_block_size must be a number of bytes";
	} else if (!strcasecmp(name, "alignment_offset")) {
		given = &at->given.offset;
		if (kstrtouint(value, 10, &args->offset))
			error = "alignment_offset must be a number of bytes";
#ifdef CONFIG_DM_ALIGN_PAD
	} else if (!strcasecmp(name, "logical_block_size")) {
		given = &at->given.logical;
		if (kstrtouint(value, 10, &args->logical) ||
		    args->logical != ALIGN_SECTOR_SIZE)
			error = "logical_block_size must be 512";
	} else if (!strcasecmp(name, "max_blocks")) {
		given = &at->given.max_blocks;
		error = table_parse_max_blocks(value, &args->max_blocks);
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
	} else if (!strcasecmp(name, "write_cache")) {
		given = &at->given.write_cache;
		if (!strcasecmp(value, "on"))
			at->given.write_cache_on = true;
		else if (strcasecmp(value, "off"))
			error = "write_cache must be on or off";
	} else if (!strcasecmp(name, "hold_ms")) {
		given = &at->given.hold_ms;
		error = table_parse_hold_ms(value, &args->hold_ms);
#endif
	} else {
		return "unknown feature argument";
	}
	if (!error && *given)
		error = "duplicate feature argument";
	*given = true;
	return error;
}

/**
 * table_parse - read the feature arguments of a table line
 * @at: the target; at->given receives which there are
 * @args: receives their values, where there are some
 * @as: the arguments behind device and offset
 *
 * <device> <offset> [<#feature args> <arg>...], the arguments in pairs:
 *   mode <report|pad|coalesce>  default report
 *   physical_block_size <bytes> default the device's
 *   alignment_offset <bytes>    default the device's
 *   logical_block_size 512      default the device's
 *   max_blocks <n>              default 16 MiB of blocks
 *   hold_ms <ms>                default 500
 *   write_cache <on|off>        on: advertise a volatile write cache
 *
 * Return: NULL, or the text of the error. The log has the argument, too, but only
 * its start: a line that is too long would lose its end, the reason.
 */
const char *table_parse(struct align_target *at, struct align_args *args,
			struct dm_arg_set *as)
{
	static const struct dm_arg feature_args[] = {
		{0, 14, "the number of feature arguments must be even and at most 14"},
	};
	const char *error;
	char *text;
	unsigned int n;

	if (!as->argc)
		return NULL;
	if (dm_read_arg_group(feature_args, as, &n, &text))
		return text;
	if (n & 1)
		return feature_args[0].error;
	for (; n; n -= 2) {
		const char *name = dm_shift_arg(as);
		const char *value = dm_shift_arg(as);

		error = parse_feature(at, args, name, value);
		if (error) {
			DMERR("feature argument \"%.64s %.64s\": %s", name,
			      value, error);
			return error;
		}
	}
	return as->argc ? "unexpected arguments after the feature arguments" : NULL;
}

/*
 * Disks have a parent in the device tree. A device without one (LV, md, loop, ram) is
 * made of other devices, and where those start is not known here.
 */
static bool is_hardware(struct block_device *bdev)
{
	return disk_to_dev(bdev->bd_disk)->parent;
}

#ifdef CONFIG_DM_ALIGN_PAD
/*
 * Offer logical blocks smaller than those of the device below, if the table line says
 * so: then only requests of whole logical blocks of the device may go down, and so the
 * border of a block must not be inside one. *@logical is lowered to the offered size.
 */
static const char *table_offer_logical(struct align_target *at,
				       const struct align_args *args,
				       unsigned int physical,
				       unsigned int *logical,
				       unsigned int offset)
{
	unsigned int lower = *logical;
	u32 mask = (lower >> SECTOR_SHIFT) - 1;

	if (!at->given.logical || lower == args->logical)
		return NULL;
	if (physical < lower)
		return "physical_block_size must not be less than the device's logical block size";
	if (offset & (lower - 1))
		return "alignment_offset must be a multiple of the device's logical block size";
	if ((at->start | at->ti->len) & mask)
		return "logical_block_size needs start and length in the device's logical blocks";
	at->lower_mask = mask;
	*logical = args->logical;
	return NULL;
}
#endif

/**
 * table_find_geometry - fill at->geometry, by the rules in "Boundaries" of dm-align.rst
 * @at: the target, with its device
 * @args: the arguments of the table line
 *
 * Return: NULL, or the text of the error.
 */
const char *table_find_geometry(struct align_target *at,
				const struct align_args *args)
{
	struct block_device *bdev = at->dev->bdev;
	unsigned int own = bdev_physical_block_size(bdev);
	unsigned int physical = at->given.physical ? args->physical : own;
	unsigned int logical = bdev_logical_block_size(bdev);
	unsigned int offset = 0;
#ifdef CONFIG_DM_ALIGN_PAD
	const char *error;
#endif
	int found;

	/* The rest of the figures is checked in one place, below. */
	if (at->given.offset) {
		offset = args->offset;
	} else if (at->given.physical && physical != own) {
		if (!is_hardware(bdev))
			return "physical_block_size needs alignment_offset on a virtual device";
		if (align_is_power_of_2(physical))
			offset = align_shifted_offset(bdev_get_queue(bdev)->limits.alignment_offset,
						      get_start_sect(bdev),
						      physical);
	} else {
		found = bdev_alignment_offset(bdev);
		at->offset_unknown = found < 0;
		/* May be relative to a larger io_min. */
		if (found > 0)
			offset = found & (physical - 1);
	}
#ifdef CONFIG_DM_ALIGN_PAD
	error = table_offer_logical(at, args, physical, &logical, offset);
	if (error)
		return error;
#endif
	return align_geometry_init(&at->geometry, physical, logical, offset,
				   at->start, at->ti->len);
}

/**
 * table_suggest_physical - look for a better P than the drive's
 * @bdev: the device below
 *
 * Return: io_min of a large-unit SSD, which may tell its unit only there, or 0.
 */
unsigned int table_suggest_physical(struct block_device *bdev)
{
	unsigned int io_min = bdev_io_min(bdev);

	if (bdev_rot(bdev) || !is_power_of_2(io_min) ||
	    io_min <= bdev_physical_block_size(bdev) ||
	    io_min > ALIGN_MAX_FIXED)
		return 0;
	return io_min;
}

#ifdef CONFIG_DM_ALIGN_PAD

#ifdef CONFIG_DM_ALIGN_COALESCE
/*
 * Layers above read once, when their table loads, whether flushes are wanted. So a
 * device that is live, or was opened, without a volatile write cache must not get one.
 */
static const char *refuse_holding(struct align_target *at)
{
	struct gendisk *disk = dm_disk(dm_table_get_md(at->ti->table));
	/* Before anything else, as openers seen by a refused change must be remembered. */
	bool flushed = !at->node || node_is_flushed(at->node);

	if (bdev_write_cache(disk->part0)) {
		if (!flushed)
			return "coalesce: the device was open without a write cache; close it";
		return NULL;
	}
	/* A device gets its size when it becomes active for the first time. */
	if (get_capacity(disk))
		return "coalesce needs a volatile write cache: create it with write_cache on";
	if (at->given.write_cache && !at->given.write_cache_on)
		return "coalesce needs a volatile write cache: leave out write_cache off";
	return NULL;
}
#else
static const char *refuse_holding(struct align_target *at)
{
	return "mode coalesce is not built in";
}
#endif

/* Look why a mode that fixes writes cannot be had here. */
static const char *refuse_fixing(struct align_target *at, enum align_mode mode)
{
	struct block_device *bdev = at->dev->bdev;
	const struct align_geometry *g = &at->geometry;
	u32 block = align_block_sectors(g);
	struct align_limits lim;

	if (bdev_is_zoned(bdev))
		return "pad and coalesce are not possible on a zoned device; use report";
	if (g->physical > ALIGN_MAX_FIXED)
		return "pad and coalesce need physical blocks of at most 262144 bytes; use report";
	if (!align_can_fix(g))
		return "pad and coalesce need a logical block size of 512 or 4096";
	if (at->offset_unknown)
		return "pad and coalesce need alignment_offset: the device is misaligned";
	align_get_limits(at, &lim);
	if (lim.chunk_sectors &&
	    (lim.chunk_sectors % block || ((u32)lim.start - g->lead) % block))
		return "pad and coalesce: physical blocks cross the device's chunk_sectors";
	if (g->physical > g->logical &&
	    (g->first_whole < g->end_whole || align_offers_smaller(at)) &&
	    !align_block_fits(g, &lim, g->first_whole, PAGE_SIZE))
		return "pad and coalesce: a block exceeds the device's max_sectors or segments";
	return mode == ALIGN_COALESCE ? refuse_holding(at) : NULL;
}

#else
static const char *refuse_fixing(struct align_target *at, enum align_mode mode)
{
	if (mode == ALIGN_PAD)
		return "mode pad is not built in";
	return "mode coalesce is not built in";
}
#endif

/**
 * table_refuse_mode - look why a mode cannot be had here
 * @at: the target, with its device and geometry
 * @mode: the mode
 *
 * Return: NULL if it can, or the text of the reason.
 */
const char *table_refuse_mode(struct align_target *at, enum align_mode mode)
{
	if (mode != ALIGN_REPORT)
		return refuse_fixing(at, mode);
#ifdef CONFIG_DM_ALIGN_PAD
	if (align_offers_smaller(at))
		return "logical_block_size needs mode pad or coalesce";
#endif
	return NULL;
}

/**
 * table_print - print a table line as device-mapper shows it
 * @at: the target
 * @result: receives the line
 * @maxlen: room in @result
 *
 * A message may set an argument that was not given, at any time: each is read once.
 */
void table_print(const struct align_target *at, char *result,
		 unsigned int maxlen)
{
	bool mode = READ_ONCE(at->given.mode);
	unsigned int nr = mode + at->given.physical + at->given.offset;
	unsigned int sz = 0;
#ifdef CONFIG_DM_ALIGN_PAD
	bool max_blocks = READ_ONCE(at->given.max_blocks);
	bool logical = at->given.logical;
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
	bool hold_ms = READ_ONCE(at->given.hold_ms);
#endif

#ifdef CONFIG_DM_ALIGN_PAD
	nr += logical + max_blocks;
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
	nr += hold_ms + at->given.write_cache;
#endif
	DMEMIT("%s %llu", at->dev->name, (unsigned long long)at->start);
	if (nr)
		DMEMIT(" %u", 2 * nr);
	if (mode)
		DMEMIT(" mode %s", align_mode_name(READ_ONCE(at->mode)));
	if (at->given.physical)
		DMEMIT(" physical_block_size %u", at->geometry.physical);
	if (at->given.offset)
		DMEMIT(" alignment_offset %u", at->geometry.offset);
#ifdef CONFIG_DM_ALIGN_PAD
	if (logical)
		DMEMIT(" logical_block_size %u", at->geometry.logical);
	if (max_blocks)
		DMEMIT(" max_blocks %u", READ_ONCE(at->engine.blocks.max));
#endif
#ifdef CONFIG_DM_ALIGN_COALESCE
	if (hold_ms)
		DMEMIT(" hold_ms %u", READ_ONCE(at->engine.held.hold_ms));
	if (at->given.write_cache)
		DMEMIT(" write_cache %s", at->given.write_cache_on ? "on" : "off");
#endif
}
