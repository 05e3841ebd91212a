// SPDX-License-Identifier: GPL-2.0
/*
 * Table lines of all kinds, good and bad, each with the answer that the manual
 * promises.
 */
#include <linux/hdreg.h>
#include <linux/nvme_ioctl.h>
#include <linux/reboot.h>
#include <linux/suspend.h>
#include <scsi/scsi_ioctl.h>
#include <scsi/sg.h>

#include "align.h"
#include "answers.h"
#include "defaults.h"
#include "node.h"
#include "shim.h"

#define TEXT_BYTES	4096U
#define MOST_ARGS	20U
#define SECTORS		2048U	/* of the drive */
#define LINES		12U	/* that are asked for */

enum { MODE, PHYSICAL, OFFSET, MAX_BLOCKS, HOLD_MS, CACHE, NAMES };

/* A value that is out of order, or not for this place. */
#define BAD	(~0U)

struct value {
	char *text;
	unsigned int is;
};

/* Values of each argument, of which the last two are bad. */
#define VALUES	6
static const struct {
	char *name;
	struct value value[VALUES];
} arguments[NAMES] = {
	[MODE] = { "mode", { { "report", 0 }, { "pad", 1 }, { "coalesce", 2 },
			     { "PAD", 1 }, { "repor", BAD }, { "", BAD } } },
	[PHYSICAL] = { "physical_block_size",
		       { { "4096", 4096 }, { "262144", 262144 }, { "512", 512 },
			 { "1048576", 1048576 }, { "3072", BAD },
			 { "2097152", BAD } } },
	[OFFSET] = { "alignment_offset",
		     { { "0", 0 }, { "512", 512 }, { "3584", 3584 },
		       { "1024", 1024 }, { "100", BAD }, { "x", BAD } } },
	[MAX_BLOCKS] = { "max_blocks",
			 { { "1", 1 }, { "64", 64 }, { "262144", 262144 },
			   { "7", 7 }, { "0", BAD }, { "262145", BAD } } },
	[HOLD_MS] = { "hold_ms",
		      { { "1", 1 }, { "500", 500 }, { "600000", 600000 },
			{ "20", 20 }, { "0", BAD }, { "600001", BAD } } },
	[CACHE] = { "write_cache",
		    { { "on", 1 }, { "off", 0 }, { "ON", 1 }, { "OFF", 0 },
		      { "maybe", BAD }, { "1", BAD } } },
};

/**
 * struct line - a table line, and its expected result
 * @argv: words of the line
 * @argc: number of @argv
 * @given: arguments that the line has
 * @value: values of @given
 * @start: first sector below
 * @bad: the target must refuse the line
 * @text: room for words that are made
 */
struct line {
	char *argv[MOST_ARGS];
	unsigned int argc;
	bool given[NAMES];
	unsigned int value[NAMES];
	unsigned int start;
	bool bad;
	char text[2][16];
};

static bool one_in(unsigned int n)
{
	return !machine_choose(n);
}

static void add(struct line *line, char *word)
{
	line->argv[line->argc++] = word;
}

/* Choose the arguments of a line, in any order. */
static void choose_arguments(struct line *line)
{
	unsigned int first = machine_choose(NAMES), i;

	for (i = 0; i < NAMES; i++) {
		unsigned int name = (first + i) % NAMES;
		unsigned int n = one_in(20) ? VALUES - 2 + machine_choose(2) :
					      machine_choose(VALUES - 2);
		const struct value *value = &arguments[name].value[n];

		if (!one_in(2))
			continue;
		line->given[name] = true;
		line->value[name] = value->is;
		line->bad |= value->is == BAD;
		add(line, arguments[name].name);
		add(line, value->text);
	}
	if (one_in(16) && line->argc > 3) {
		line->bad = true;
		add(line, line->argv[3]);
		add(line, line->argv[4]);
	}
}

static void choose_line(struct line *line, char *below)
{
	static char *starts[] = { "x", "-1", "18446744073709551615", "",
				  "36028797018963967" };
	unsigned int at;

	memset(line, 0, sizeof(*line));
	line->start = one_in(2) ? machine_choose(64) : 0;
	scnprintf(line->text[0], sizeof(line->text[0]), "%u", line->start);
	add(line, one_in(20) ? "none" : below);
	line->bad = strcmp(line->argv[0], below);
	add(line, line->text[0]);
	if (one_in(20)) {
		line->argv[1] = starts[machine_choose(ARRAY_SIZE(starts))];
		line->bad = true;
	}
	at = line->argc;
	add(line, line->text[1]);
	choose_arguments(line);
	scnprintf(line->text[1], sizeof(line->text[1]), "%u",
		  line->argc - at - 1);
	if (line->argc == at + 1 && one_in(2))
		line->argc--;
	else if (one_in(20)) {
		static char *words[] = { "nonsense", "1" };

		/* A name that is none, a word alone, or one more than counted. */
		line->bad = true;
		add(line, words[0]);
		if (one_in(2))
			add(line, words[1]);
		if (one_in(2))
			scnprintf(line->text[1], sizeof(line->text[1]), "%u",
				  line->argc - at - 1);
	}
	if (one_in(40)) {
		line->argc = 1;
		line->bad = true;
	}
}

/**
 * struct shape - where blocks lie
 * @physical: P
 * @offset: alignment_offset, on the device below
 * @wrong: why not
 */
struct shape {
	unsigned int physical, offset;
	bool unknown, wrong;
};

/* "Boundaries" of dm-align.rst. */
static struct shape shape_of(const struct line *line,
			     const struct gendisk *disk)
{
	const struct queue_limits *below = &disk->queue->limits;
	unsigned int own = below->physical_block_size;
	struct shape shape = {
		.physical = line->given[PHYSICAL] ? line->value[PHYSICAL] : own,
	};

	if (line->given[OFFSET]) {
		shape.offset = line->value[OFFSET];
	} else if (shape.physical != own) {
		shape.wrong = !disk->device.parent;
		shape.offset = below->alignment_offset % shape.physical;
	} else if (below->flags & BLK_FLAG_MISALIGNED) {
		shape.unknown = true;
	} else {
		shape.offset = below->alignment_offset % own;
	}
	shape.wrong |= shape.offset >= shape.physical;
	return shape;
}

/* Whether a mode cannot be had; a device of one's own has no size yet. */
static bool is_refused(const struct line *line, const struct shape *shape,
		       const struct gendisk *disk)
{
	unsigned int mode = line->given[MODE] ? line->value[MODE] : 0;
	const struct queue_limits *below = &disk->queue->limits;
	unsigned int block = shape->physical >> SECTOR_SHIFT;
	unsigned int lead = (block - (shape->offset >> SECTOR_SHIFT)) % block;
	unsigned int chunk = below->chunk_sectors;

	if (!mode)
		return false;
	if (disk->queue->zoned || shape->unknown || shape->physical > 262144)
		return true;
	if (chunk && (chunk % block || lead))
		return true;
	if (block > 1 && below->max_sectors < block)
		return true;
	return mode == 2 && line->given[CACHE] && !line->value[CACHE];
}

static void must_read(const char *is, const char *must)
{
	if (strcmp(is, must))
		machine_fail("the table line is \"%s\", and must be \"%s\"", is,
			     must);
}

/* The line as the target tells it: in an order of its own. */
static void check_table(const struct line *line, struct align_target *at)
{
	static const unsigned int order[] = { MODE, PHYSICAL, OFFSET, MAX_BLOCKS,
					      HOLD_MS, CACHE };
	static const char *const modes[] = { "report", "pad", "coalesce" };
	char *is = machine_alloc(TEXT_BYTES, 8), *must = machine_alloc(TEXT_BYTES, 8);
	unsigned int i, n, nr = 0;

	for (i = 0; i < NAMES; i++)
		nr += line->given[i];
	n = scnprintf(must, TEXT_BYTES, "%s %u", line->argv[0], line->start);
	if (nr)
		n += scnprintf(must + n, TEXT_BYTES - n, " %u", 2 * nr);
	for (i = 0; i < NAMES; i++) {
		unsigned int name = order[i], value = line->value[name];

		if (!line->given[name])
			continue;
		n += scnprintf(must + n, TEXT_BYTES - n, " %s ",
			       arguments[name].name);
		if (name == MODE)
			n += scnprintf(must + n, TEXT_BYTES - n, "%s",
				       modes[value]);
		else if (name == CACHE)
			n += scnprintf(must + n, TEXT_BYTES - n, "%s",
				       value ? "on" : "off");
		else
			n += scnprintf(must + n, TEXT_BYTES - n, "%u", value);
	}
	at->ti->type->status(at->ti, STATUSTYPE_TABLE, 0, is, TEXT_BYTES);
	must_read(is, must);
	machine_free(is);
	machine_free(must);
}

static void must_be(const char *what, u64 is, u64 must)
{
	if (is != must)
		machine_fail("%s of a device is %llu, and must be %llu", what, is,
			     must);
}

/* Check the limits that layers above see, and the arguments as the target took them. */
static void check_limits(const struct line *line, const struct shape *shape,
			 const struct gendisk *below, struct gendisk *disk,
			 const struct align_target *at)
{
	unsigned int mode = line->given[MODE] ? line->value[MODE] : 0;
	const struct queue_limits *drive = &below->queue->limits;
	const struct queue_limits *is = &disk->queue->limits;
	unsigned int block = shape->physical >> SECTOR_SHIFT;
	unsigned int shift = line->start << SECTOR_SHIFT;
	struct queue_limits must = *drive;

	must.alignment_offset = (drive->alignment_offset - shift) &
				(drive->physical_block_size - 1);
	if (mode && block > 1)
		must.max_write_zeroes_sectors -=
			must.max_write_zeroes_sectors % block;
	if (!shape->unknown && (line->given[PHYSICAL] || line->given[OFFSET])) {
		must.io_min = DIV_ROUND_UP(must.io_min, shape->physical) *
			      shape->physical;
		must.io_opt -= must.io_opt % shape->physical;
		if (shape->physical <= 4096 ||
		    shape->physical == drive->physical_block_size) {
			must.physical_block_size = shape->physical;
			if (must.chunk_sectors % block)
				must.chunk_sectors = 0;
			must.alignment_offset = (shape->offset - shift) &
						(shape->physical - 1);
			must.flags &= ~BLK_FLAG_MISALIGNED;
		}
	}
	/* A device that is misaligned has none. */
	if (!must.flags)
		must_be("alignment_offset", is->alignment_offset,
			must.alignment_offset);
	must_be("max_write_zeroes_sectors", is->max_write_zeroes_sectors,
		must.max_write_zeroes_sectors);
	must_be("io_min", is->io_min, must.io_min);
	must_be("io_opt", is->io_opt, must.io_opt);
	must_be("physical_block_size", is->physical_block_size,
		must.physical_block_size);
	must_be("chunk_sectors", is->chunk_sectors, must.chunk_sectors);
	must_be("dma_alignment", is->dma_alignment,
		mode && block > 1 ? max(drive->dma_alignment, 511U) :
				    drive->dma_alignment);
	must_be("misaligned", is->flags, must.flags);
	must_be("write cache", disk->write_cache, below->write_cache ||
		mode == 2 || (line->given[CACHE] && line->value[CACHE]));
	must_be("suggested size", at->suggested, !below->queue->flash ||
		!is_power_of_2(drive->io_min) || drive->io_min > 262144 ||
		drive->io_min <= drive->physical_block_size ? 0 : drive->io_min);
	must_be("max_blocks", at->engine.blocks.max, line->given[MAX_BLOCKS] ?
		line->value[MAX_BLOCKS] : (16U << 20) / shape->physical);
	must_be("hold_ms", at->engine.held.hold_ms,
		line->given[HOLD_MS] ? line->value[HOLD_MS] : 500);
	must_be("holding", at->engine.held.holding, mode == 2);
	must_be("offset", at->geometry.offset, shape->unknown ? 0 : shape->offset);
	must_be("unknown offset", at->offset_unknown, shape->unknown);
	must_be("bios of a flush", at->ti->num_flush_bios, 1);
	must_be("bios of a discard", at->ti->num_discard_bios, 1);
	must_be("bios of an erase", at->ti->num_secure_erase_bios, 1);
	must_be("bios of zeroes", at->ti->num_write_zeroes_bios, 1);
	must_be("accounting", at->ti->accounts_remapped_io, true);
}

/* Check which ioctls pass: all, if the target is the whole device and in mode report. */
static void check_ioctls(const struct line *line, const struct gendisk *below,
			 struct align_target *at)
{
	static const struct {
		unsigned int cmd;
		bool harmless;
	} ioctls[] = {
		{ HDIO_GET_IDENTITY, true }, { NVME_IOCTL_ID, true },
		{ SCSI_IOCTL_GET_BUS_NUMBER, true },
		{ SCSI_IOCTL_GET_IDLUN, true }, { SCSI_IOCTL_PROBE_HOST, true },
		{ SG_EMULATED_HOST, true }, { SG_GET_RESERVED_SIZE, true },
		{ SG_GET_TIMEOUT, true }, { SG_GET_VERSION_NUM, true },
		{ SG_SET_RESERVED_SIZE, true }, { SG_SET_TIMEOUT, true },
		{ 0x2285, false }, { 0, false },
	};
	unsigned int mode = line->given[MODE] ? line->value[MODE] : 0;
	bool whole = !line->start && at->ti->len == below->sectors;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
		struct block_device *bdev = NULL;
		bool forward = true;
		int is = at->ti->type->prepare_ioctl(at->ti, &bdev,
						     ioctls[i].cmd, 0,
						     &forward);

		must_be("ioctl", is, !whole || (mode && !ioctls[i].harmless));
		if (bdev != below->part0)
			machine_fail("an ioctl goes to another device");
	}
}

/* Ask for a table, and look at the device that comes of it. */
static void ask_line(struct gendisk *below, char *name)
{
	struct mapped_device *md = shim_md_new("asked", 4);
	unsigned int sectors = below->sectors;
	struct align_target *at;
	struct shape shape;
	struct line line;
	char *error = NULL;
	int ret;

	choose_line(&line, name);
	shape = shape_of(&line, below);
	line.bad = line.bad || shape.wrong || is_refused(&line, &shape, below);
	if (one_in(2))
		sectors -= line.start;
	ret = shim_md_load(md, sectors, line.argc, line.argv, &error);
	if (!!ret != line.bad || (ret && !error))
		machine_fail("a table line is answered with %d: %s", ret,
			     error ? error : "");
	if (ret)
		goto out;
	if (shim_md_resume(md))
		machine_fail("a device is not resumed");
	at = shim_md_target(md)->private;
	check_table(&line, at);
	check_limits(&line, &shape, below, dm_disk(md), at);
	check_ioctls(&line, below, at);
out:
	shim_md_remove(md);
}

static int send(struct mapped_device *md, char *name, char *value)
{
	char *argv[] = { name, value };

	return shim_md_message(md, 0, value ? 2 : 1, argv);
}

static void load(struct mapped_device *md, char *words, unsigned int nr)
{
	char *argv[] = { "drive", "0", "2", "write_cache", "on" };
	char *sizes[] = { "drive", "0", "4", "physical_block_size", words,
			  "alignment_offset", "0" };
	char *error = NULL;

	if (words ? shim_md_load(md, SECTORS, nr, sizes, &error) :
		    shim_md_load(md, SECTORS, nr, argv, &error))
		machine_fail("a table is refused: %s", error);
	if (shim_md_resume(md))
		machine_fail("a device is not resumed");
}

static u64 epoch_of(struct mapped_device *md)
{
	struct align_target *at = shim_md_target(md)->private;

	return at->node->epoch;
}

/* A table with blocks of another size begins an epoch, another table does not. */
static void ask_epochs(void)
{
	struct mapped_device *md = shim_md_new("asked", 4);

	load(md, "4096", 7);
	must_be("epoch", epoch_of(md), 1);
	load(md, "4096", 7);
	must_be("epoch", epoch_of(md), 1);
	load(md, "8192", 7);
	must_be("epoch", epoch_of(md), 2);
	load(md, "4096", 7);
	must_be("epoch", epoch_of(md), 3);
	shim_md_remove(md);
}

/* Mode coalesce needs a write cache that all openers of the device know of. */
static void ask_coalesce(struct gendisk *drive)
{
	struct mapped_device *md = shim_md_new("asked", 4);
	struct gendisk *disk = dm_disk(md);

	drive->write_cache = false;
	load(md, NULL, 2);
	must_be("coalesce without a cache", send(md, "mode", "coalesce"), -EINVAL);
	disk->openers++;
	load(md, NULL, 5);
	must_be("coalesce while an opener knows no cache",
		send(md, "mode", "coalesce"), -EINVAL);
	must_be("pad while an opener knows no cache", send(md, "mode", "pad"), 0);
	disk->openers--;
	must_be("coalesce without openers", send(md, "mode", "coalesce"), 0);
	disk->openers++;
	must_be("coalesce again", send(md, "mode", "coalesce"), 0);
	must_be("report", send(md, "mode", "report"), 0);
	/* The administrator switches the cache off, and on again. */
	disk->write_cache = false;
	must_be("coalesce while the cache is off", send(md, "mode", "coalesce"),
		-EINVAL);
	disk->write_cache = true;
	must_be("coalesce after that", send(md, "mode", "coalesce"), -EINVAL);
	disk->openers--;
	must_be("coalesce without openers", send(md, "mode", "coalesce"), 0);
	drive->write_cache = true;
	shim_md_remove(md);
}

/* Nothing is held while the machine sleeps, in either way, or in both. */
static void ask_sleep(void)
{
	static const struct {
		unsigned long event;
		bool holding;
	} steps[] = {
		{ PM_POST_SUSPEND, true }, { PM_SUSPEND_PREPARE, false },
		{ PM_POST_HIBERNATION, false }, { PM_POST_SUSPEND, true },
		{ PM_HIBERNATION_PREPARE, false }, { PM_POST_SUSPEND, false },
		{ PM_SUSPEND_PREPARE, false }, { PM_POST_SUSPEND, false },
		{ PM_POST_HIBERNATION, true }, { PM_RESTORE_PREPARE, false },
		{ PM_POST_RESTORE, true }, { PM_HIBERNATION_PREPARE, false },
		{ PM_SUSPEND_PREPARE, false }, { PM_POST_HIBERNATION, false },
		{ PM_POST_SUSPEND, true },
	};
	struct mapped_device *md = shim_md_new("asked", 4);
	struct mapped_device *late;
	unsigned int i;

	load(md, NULL, 5);
	must_be("coalesce", send(md, "mode", "coalesce"), 0);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		struct align_target *at = shim_md_target(md)->private;

		shim_sleep_event(steps[i].event);
		must_be("holding", at->engine.held.holding, steps[i].holding);
		/* A device that is created meanwhile is treated the same. */
		late = shim_md_new("late", 5);
		load(late, NULL, 5);
		must_be("coalesce", send(late, "mode", "coalesce"), 0);
		at = shim_md_target(late)->private;
		must_be("holding", at->engine.held.holding, steps[i].holding);
		shim_md_remove(late);
	}
	shim_md_remove(md);
}

void answers_ask(struct gendisk *drive)
{
	struct queue_limits *limits = &drive->queue->limits;
	struct queue_limits own = *limits;
	unsigned int i;

	drive->sectors = SECTORS;
	drive->part0->bd_nr_sectors = SECTORS;
	for (i = 0; i < LINES; i++) {
		limits->io_min = own.physical_block_size << machine_choose(7);
		if (one_in(8))
			limits->io_min = 3 * own.physical_block_size;
		limits->io_opt = 3 * own.physical_block_size * machine_choose(3);
		limits->dma_alignment = one_in(2) ? 3 : 511;
		limits->chunk_sectors = one_in(4) ? 24 << machine_choose(5) : 0;
		limits->max_sectors = one_in(8) ? 1 : 2048;
		limits->flags = one_in(8) ? BLK_FLAG_MISALIGNED : 0;
		drive->queue->flash = one_in(2);
		drive->queue->zoned = one_in(16);
		drive->write_cache = one_in(2);
		drive->device.parent = one_in(4) ? NULL : &drive->device;
		ask_line(drive, "drive");
	}
	*limits = own;
	limits->max_sectors = 2048;
	drive->queue->zoned = false;
	drive->device.parent = &drive->device;
	drive->write_cache = true;
	ask_epochs();
	ask_coalesce(drive);
	ask_sleep();
}
