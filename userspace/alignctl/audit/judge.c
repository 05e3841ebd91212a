// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of check: one function for each kind of finding, run over every device
 * of the stack.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/content.h"
#include "audit/judge.h"
#include "audit/judge_cause.h"
#include "audit/partition_type.h"
#include "audit/position.h"
#include "audit/rule.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/units.h"
#include "geometry.h"

#define TABLE_SECTORS	34	/* of GPT, at the end of a disk */
/* sfdisk moves no partition to this byte or before, bytes. */
#define FIRST_BYTE	((int64_t)MIB)
/* sysfs shows an extended partition with its first sectors only, bytes. */
#define EXTENDED_BYTES	1024
#define DOS_PRIMARY_MAX	4	/* partitions behind are in an extended one */
#define LUKS_SECTOR_MAX	4096

/* What to do where sources disagree, and probe is one of them. */
#define MEASURED	"the measurement of probe decides; nothing need be done"

/* A device that is judged by a rule; @block is that of its position, 0 if it is not known. */
struct subject {
	const struct rule *rule;
	struct judgement *judgement;
	const struct stack *stack;
	const struct stack_layer *layer;
	const struct position *position;
	int64_t block;
	size_t index;
};

static struct finding *add_finding(const struct subject *subject, char *text,
				   char *cost)
{
	return judgement_add(subject->judgement, subject->index, subject->rule,
			     text, cost);
}

/* Return the first finding's words for a place inside a block. */
static char *into_block(const char *what, int64_t shift, int64_t block)
{
	return message_format("%s %" PRId64
			      " bytes into a physical block of %" PRId64, what,
			      shift, block);
}

static char *cost_of_start(int64_t block)
{
	return message_format(
		"a write of whole %" PRId64
		"-byte blocks covers its first and last physical block in part: 2 RMWs instead of none",
		block);
}

static const struct stack_layer *disk_of(const struct subject *subject)
{
	return &subject->stack->layer[subject->layer->below[0]];
}

/*
 * Return the words of a command for a device, or for a part of an image, which
 * has no path of its own.
 */
static struct remedy_words words_of(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	const struct stack_layer *file = own;
	struct remedy_words words = { 0 };

	if (own->kind == STACK_PARTITION &&
	    disk_of(subject)->kind == STACK_FILE) {
		file = disk_of(subject);
		words.image_start = maybe_or(own->start, 0);
		words.image_bytes = maybe_or(own->bytes, 0);
	}
	words.device = file->path;
	words.image = file->kind == STACK_FILE;
	if (words.image)
		words.image_sector = maybe_or(stack_sysfs(file, STACK_LOGICAL),
					      0);
	return words;
}

/* Return the words of a command for the table of a partition's disk. */
static struct remedy_words words_of_table(const struct subject *subject)
{
	const struct stack_layer *disk = disk_of(subject);

	return (struct remedy_words) {
		.device = disk->path,
		.number = subject->layer->partition,
		.image = disk->kind == STACK_FILE,
		.image_sector = maybe_or(stack_sysfs(disk, STACK_LOGICAL), 0),
	};
}

/* Check for a table that sfdisk changes without touching what it holds. */
static bool can_change(const struct stack_layer *disk)
{
	const char *table = disk->content.table;

	/* the largest sector that a loop device is known to have */
	if (disk->kind == STACK_FILE &&
	    maybe_above(stack_sysfs(disk, STACK_LOGICAL), (int64_t)PAGE_BYTES))
		return false;
	return table && (!strcmp(table, "gpt") || !strcmp(table, "dos"));
}

/* Check for an extended partition, which holds no data of its own. */
static bool is_extended(const struct stack_layer *layer)
{
	return layer->extended ||
	       (layer->kind == STACK_PARTITION &&
		maybe_below(layer->bytes, EXTENDED_BYTES + 1));
}

/* Free bytes around a partition. */
struct room {
	int64_t before;
	int64_t behind;
};

/* Find the bytes between a partition and its neighbours; 0 if unknown. */
static struct room room_around(const struct subject *subject, int64_t unit)
{
	const struct stack_layer *own = subject->layer;
	const struct stack_layer *disk = disk_of(subject);
	int64_t whole, start, bytes, end;
	struct room room = { 0 };
	size_t i;

	if (!maybe_get(disk->bytes, &whole) || !maybe_get(own->start, &start) ||
	    !maybe_get(own->bytes, &bytes))
		return room;
	end = start + bytes;
	room.before = start - FIRST_BYTE - unit;
	room.behind = whole - TABLE_SECTORS * unit - end;
	/* sfdisk keeps to what the table has for partitions */
	if (room.before > start - maybe_or(disk->content.table_start, 0))
		room.before = start - maybe_or(disk->content.table_start, 0);
	if (room.behind > maybe_or(disk->content.table_end, whole) - end)
		room.behind = maybe_or(disk->content.table_end, whole) - end;

	for (i = 0; i < subject->stack->nr; i++) {
		const struct stack_layer *other = &subject->stack->layer[i];
		int64_t from, length;

		if (other == own || other->kind != STACK_PARTITION ||
		    other->below[0] != own->below[0])
			continue;
		if (!maybe_get(other->start, &from) ||
		    !maybe_get(other->bytes, &length))
			return (struct room) { 0 };
		if (from >= end && from - end < room.behind)
			room.behind = from - end;
		/* sysfs does not say where an extended partition ends */
		if (from < start && is_extended(other) &&
		    length <= EXTENDED_BYTES)
			room.before = 0;
		if (from < start && start - from - length < room.before)
			room.before = start - from - length;
	}
	return room;
}

/* Check for other partitions inside a partition, as of a BSD disklabel. */
static bool holds_partitions(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t first = maybe_or(own->start, 0), start;
	int64_t end = first + maybe_or(own->bytes, 0);
	size_t i;

	for (i = 0; i < subject->stack->nr; i++) {
		const struct stack_layer *other = &subject->stack->layer[i];

		if (other != own && other->kind == STACK_PARTITION &&
		    other->below[0] == own->below[0] &&
		    maybe_get(other->start, &start) && start >= first &&
		    start < end)
			return true;
	}
	return false;
}

/* Return why a partition cannot be moved on its disk, or NULL. */
static const char *why_fixed(const struct subject *subject)
{
	const struct stack_layer *disk = disk_of(subject);

	if (!disk->content.table && disk->content.unread)
		return "its table was not read: check it as root, which says how to move it";
	if (!can_change(disk))
		return "nothing moves partitions in this table: back up, make it anew, restore";
	if (strcmp(disk->content.table, "gpt") &&
	    subject->layer->partition > DOS_PRIMARY_MAX)
		return "it may be a logical partition, which sfdisk cannot move: back up, make it anew, restore";
	if (holds_partitions(subject))
		return "it holds partitions, which know their place: back up, make it anew, restore";
	return NULL;
}

/* Check for a whole number of sectors, if @sector is the size of one. */
static bool is_whole(int64_t bytes, int64_t sector)
{
	return sector > 0 && position_is_block(maybe_of(sector)) &&
	       !(bytes % sector);
}

/* Say how a partition gets to a boundary, if there is room for that. */
static void mend_start(struct finding *finding, const struct subject *subject,
		       int64_t back)
{
	int64_t ahead = subject->block - back;
	int64_t unit = maybe_or(stack_sysfs(disk_of(subject), STACK_LOGICAL), 0);
	const char *fixed = why_fixed(subject);
	struct remedy_words words;
	struct room room;

	if (fixed) {
		finding_say(finding, "%s", fixed);
		return;
	}
	room = room_around(subject, unit);
	if (!is_whole(ahead, unit) ||
	    (room.behind < ahead && room.before < back)) {
		finding_say(finding, "no room to move the partition by %" PRId64
			    " bytes: back up, make the partition anew at a multiple of 1 MiB, restore",
			    ahead);
		return;
	}
	words = words_of_table(subject);
	words.step = (room.behind >= ahead ? ahead : -back) / unit;
	finding_mend(finding, subject->layer->mapped ? REMEDY_MOVE_MAPPED :
						       REMEDY_MOVE_PARTITION,
		     &words);
}

/* Check for the data of a partition on boundaries although it is not. */
static bool data_is_aligned(const struct position *position)
{
	return maybe_is(position->data_shift, 0);
}

/* Return the type of a partition that nothing writes in use, or NULL. */
static const struct partition_type *unused_type(const struct stack_layer *layer)
{
	/* one that carries something all the same is used */
	return layer->content.type ? NULL : partition_type_unused(layer->type);
}

static void judge_partition_start(const struct subject *subject)
{
	const struct position *at = subject->position;
	const struct partition_type *unused = unused_type(subject->layer);
	struct finding *finding;
	int64_t shift;

	if (subject->layer->kind != STACK_PARTITION ||
	    !maybe_get(at->shift, &shift) || !shift || data_is_aligned(at))
		return;
	finding = add_finding(subject,
			      into_block("starts", shift, subject->block),
			      unused ? message_format("none in use: the partition is %s, and %s",
						      unused->name, unused->written) :
			       cost_of_start(subject->block));
	finding->note = unused;
	if (unused)
		finding_say(finding, "nothing need be done");
	else
		mend_start(finding, subject, shift);
}

const struct rule rule_partition_start = {
	.name = "partition-start",
	.note = RULE_EITHER,
	.grade = RULE_SHIFT,
	.start = RULE_START,
	.place = judge_partition_start,
	.remedies = { REMEDY_MOVE_PARTITION, REMEDY_MOVE_MAPPED },
	.man =
		"A partition starts inside a physical block. Where there is room beside "
		"it, in a table of GPT or DOS, the command moves it with its content, "
		"while nothing uses it. A power cut meanwhile damages the content: back it "
		"up first. A boot loader that keeps numbers of sectors must be installed "
		"anew. A note where its type says that nothing writes there in use, as "
		"BIOS boot and Microsoft reserved.",
};

/* Check for a type that leaves the last bytes alone if its start is aligned. */
static bool rounds_down(const struct stack_layer *layer, int64_t block)
{
	const struct stack_content *content = &layer->content;

	if (!content->type)
		return false;
	if (!strcmp(content->type, "swap"))
		return maybe_above(content->block, block - 1);
	return !strcmp(content->type, "LVM2_member") &&
	       maybe_known(content->extent) &&
	       maybe_or(content->extent, 0) % block == 0;
}

static void judge_partition_end(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	const struct stack_layer *disk;
	const struct position *at = subject->position;
	struct maybe used = own->content.bytes;
	int64_t over, unit, bytes;
	bool reaches;
	struct remedy_words words;
	struct finding *finding;

	/* one that must be moved has its end elsewhere then */
	if (own->kind != STACK_PARTITION ||
	    (!maybe_is(at->shift, 0) && !data_is_aligned(at)))
		return;
	if (!maybe_get(own->bytes, &bytes) ||
	    !maybe_get(position_add(at->shift, own->bytes, subject->block),
		       &over) ||
	    !over || rounds_down(own, subject->block) || unused_type(own) ||
	    maybe_below(used, bytes - over + 1))
		return;
	disk = disk_of(subject);
	unit = maybe_or(stack_sysfs(disk, STACK_LOGICAL), 0);
	reaches = maybe_below(used, bytes + 1);
	finding = add_finding(subject, into_block("ends", over, subject->block),
			      message_format(reaches ?
				"a write of the file system's last block is an RMW" :
				"an RMW for writes of its last %" PRId64
				" bytes, if its content uses them", over));
	finding->note = !reaches;
	if (reaches || !is_whole(over, unit)) {
		finding_say(finding,
			    "shrink the file system to the last block boundary first, then the partition");
		return;
	}
	/* no remedy says what the content would lose */
	if (own->content.type || own->content.table || own->content.unread ||
	    !can_change(disk))
		return;
	words = words_of_table(subject);
	words.size = (bytes - over) / unit;
	finding_mend(finding, own->mapped ? REMEDY_SHRINK_MAPPED :
					    REMEDY_SHRINK_PARTITION, &words);
}

const struct rule rule_partition_end = {
	.name = "partition-end",
	.note = RULE_EITHER,
	.grade = RULE_UNIT,
	.place = judge_partition_end,
	.remedies = { REMEDY_SHRINK_PARTITION, REMEDY_SHRINK_MAPPED },
	.workaround = "the content may use these last bytes; nothing need be done",
	.man =
		"A partition ends inside a physical block. A note, unless its file system "
		"reaches the last bytes; none where the file system, LVM or the swap area "
		"is known to leave them unused.",
};

/* Check for a type that mkfs.TYPE makes with the option -b. */
static bool is_ext(const char *type)
{
	return !strcmp(type, "ext2") || !strcmp(type, "ext3") ||
	       !strcmp(type, "ext4");
}

/* Check for a smallest write of the content that is a whole block. */
static bool writes_blocks(const struct stack_content *content, int64_t block)
{
	const char *type = content->type;

	if (!type)
		return !content->table && !content->unread;
	if (content->unread)
		return false;
	if (!strcmp(type, "xfs") || !strcmp(type, "crypto_LUKS"))
		return maybe_above(content->sector, block - 1);
	return (is_ext(type) || !strcmp(type, "btrfs") ||
		!strcmp(type, "swap")) && maybe_above(content->block, block - 1);
}

/* Say how a loop device gets the sectors of the disk, if its content may. */
static void mend_loop(struct finding *finding, const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t block = subject->block;
	struct remedy_words words = words_of(subject);
	size_t i;

	if (block > (int64_t)PAGE_BYTES) {
		finding_say(finding, "loop devices have sectors of at most %u bytes",
			    PAGE_BYTES);
		return;
	}
	for (i = subject->index + 1; i < subject->stack->nr; i++)
		if (stack_is_on(&subject->stack->layer[i], subject->index))
			break;
	if (maybe_or(own->start, 1) % block) {
		finding_say(finding,
			    "larger sectors would begin inside a block of the disk, as the loop device does");
		return;
	}
	if (i < subject->stack->nr || maybe_or(own->bytes, 1) % block ||
	    !writes_blocks(&own->content, block)) {
		finding_say(finding, "its content %s sectors of %" PRId64
			    " bytes and is unreadable with larger ones: before you make new content, set losetup's sectors to %" PRId64,
			    own->content.unread ? "may need" : "has",
			    maybe_or(stack_sysfs(own, STACK_LOGICAL), 0), block);
		return;
	}
	words.size = block;
	finding_mend(finding, REMEDY_LOOP_SECTORS, &words);
}

static void judge_loop_start(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t block = subject->block, start;

	if (own->kind != STACK_LOOP || !own->nr_below ||
	    !maybe_get(own->start, &start) || !(start % block))
		return;
	add_finding(subject,
		    into_block("starts in its file", start & (block - 1), block),
		    cost_of_start(block));
}

const struct rule rule_loop_start = {
	.name = "loop-start",
	.grade = RULE_SHIFT,
	.start = RULE_FILE_START,
	.place = judge_loop_start,
	.workaround =
		"from another start, the loop device would not show its content: copy the content into a file of its own",
	.man = "The content of a loop device starts inside a block of its file.",
};

static void judge_hidden(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t block = subject->block, says;

	if (own->kind != STACK_LOOP || !own->nr_below ||
	    !maybe_get(stack_sysfs(own, STACK_PHYSICAL), &says) || says >= block)
		return;
	mend_loop(add_finding(subject,
			      message_format("says physical block %" PRId64
					     ", the disk below %s (%s) has %" PRId64,
					     says, own->file ? own->file : "it",
					     disk_of(subject)->name, block),
		      message_format("mkfs and programs choose blocks that are too small")),
		  subject);
}

const struct rule rule_hidden = {
	.name = "hidden",
	.note = RULE_NOTE,
	.place = judge_hidden,
	.remedies = { REMEDY_LOOP_SECTORS },
	.man =
		"A loop device claims a smaller physical block than the disk below its "
		"file. There is a command where its content can be read with larger "
		"sectors, too.",
};

/*
 * Check whether a device above shows all of the same content, as an align
 * device and multipath do, so that it is judged there.
 */
static bool shown_above(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	size_t i;

	for (i = subject->index + 1; i < subject->stack->nr; i++) {
		const struct stack_layer *above = &subject->stack->layer[i];

		if (above->aside || !maybe_same(above->bytes, own->bytes) ||
		    (above->kind != STACK_ALIGN && above->kind != STACK_DM &&
		     above->kind != STACK_MULTIPATH) ||
		    !own->content.type ||
		    !stack_has_type(above, own->content.type))
			continue;
		if (stack_is_on(above, subject->index))
			return true;
	}
	return false;
}

/* Say what a type needs for larger or aligned blocks. */
static void mend_anew(struct finding *finding, const struct stack_layer *layer)
{
	const struct content_type *type = content_type_of(layer->content.type);

	finding_say(finding, "%s", type && type->way_out ? type->way_out :
		    "the file system has no larger blocks; an align device in mode pad or coalesce below it completes the blocks");
}

/* Return the word for what a type has blocks of, "clusters". */
static const char *unit_of(const struct stack_layer *layer)
{
	const struct content_type *type = content_type_of(layer->content.type);

	return type && type->unit ? type->unit : "blocks";
}

/*
 * Make a finding about a file system a note if only updates write to it, as to
 * an EFI system partition.
 */
static void soften_finding(struct finding *finding, const struct subject *subject)
{
	if (!partition_type_is_efi(subject->layer->type))
		return;
	finding->note = true;
	free(finding->cost);
	finding->cost = message_format(
		"RMWs only when an update of the boot loader writes to the partition");
}

/* Say how a header that puts its data off the boundaries is mended. */
static void mend_data(struct finding *finding, const struct subject *subject)
{
	struct remedy_words words = words_of(subject);

	if (stack_has_type(subject->layer, "crypto_LUKS"))
		finding_mend(finding, REMEDY_LUKS_DATA, &words);
	else if (stack_has_type(subject->layer, "LVM2_member"))
		finding_say(finding,
			    "move its extents to another physical volume of the group, then make this volume anew with its data at a multiple of 1 MiB");
	else if (stack_has_type(subject->layer, "linux_raid_member"))
		finding_say(finding,
			    "all data would move: back up, make the array anew with its data at a multiple of 1 MiB, restore");
	else
		mend_anew(finding, subject->layer);
}

static void judge_data_start(const struct subject *subject)
{
	bool clusters = maybe_known(subject->layer->content.block);
	struct finding *finding;
	int64_t start, shift, block = subject->block;

	/* a header that only passes on the shift below it is not to blame */
	if (!maybe_get(subject->layer->content.start, &start) ||
	    !maybe_get(subject->position->data_shift, &shift) || !shift ||
	    !(start & (block - 1)))
		return;
	finding = add_finding(subject,
			      message_format("its %s begin at byte %" PRId64
					     ", %" PRId64
					     " bytes into a physical block of %" PRId64,
					     clusters ? unit_of(subject->layer) : "data",
					     start, shift, block),
		      cost_of_start(block));
	mend_data(finding, subject);
	soften_finding(finding, subject);
}

const struct rule rule_data_start = {
	.name = "data-start",
	.note = RULE_EITHER,
	.grade = RULE_SHIFT,
	.start = RULE_DATA_START,
	.content = judge_data_start,
	.remedies = { REMEDY_LUKS_DATA },
	.man =
		"LUKS, LVM, md or bcache puts its data at a place inside a physical block "
		"(LUKS data offset, pe_start, data offset), or FAT or exFAT its first "
		"cluster. Of an EFI system partition a note.",
};

/* Check whether all devices below are where the disk's blocks begin. */
static bool below_aligned(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	size_t i;

	for (i = 0; i < own->nr_below; i++) {
		const struct position *at =
			&subject->judgement->position[own->below[i]];

		if (!maybe_is(at->shift, 0) || maybe_above(at->data_shift, 0))
			return false;
	}
	return true;
}

static void judge_mapped_start(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t shift;

	if (own->kind == STACK_PARTITION || own->kind == STACK_LOOP ||
	    !own->nr_below || !maybe_get(subject->position->shift, &shift) ||
	    !shift || !below_aligned(subject))
		return;
	add_finding(subject, into_block("is mapped from", shift, subject->block),
		    cost_of_start(subject->block));
}

const struct rule rule_mapped_start = {
	.name = "mapped-start",
	.grade = RULE_SHIFT,
	.start = RULE_START,
	.place = judge_mapped_start,
	.workaround =
		"its table fixes where the data begin: copy the data to an aligned device",
	.man =
		"A device-mapper device begins inside a physical block, according to the "
		"kernel.",
};

/* Check whether the kernel calls a device below misaligned. */
static bool below_misaligned(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	size_t i;

	for (i = 0; i < own->nr_below; i++)
		if (maybe_is(stack_sysfs(&subject->stack->layer[own->below[i]],
				      STACK_OFFSET), -1))
			return true;
	return false;
}

static void judge_misaligned(const struct subject *subject)
{
	struct finding *finding;

	if (!maybe_is(stack_sysfs(subject->layer, STACK_OFFSET), -1) ||
	    below_misaligned(subject))
		return;
	if (subject->layer->nr_below && below_aligned(subject)) {
		finding = add_finding(subject,
			message_format("the kernel calls it misaligned (-1), though each device below begins at a physical block"),
			message_format("no RMW: no device below is shifted; mkfs and parted get no alignment from the kernel"));
		finding->note = true;
		finding_say(finding,
			    "nothing need be done; the kernel says -1 where limits of the devices below differ");
		return;
	}
	add_finding(subject,
		    message_format(subject->layer->nr_below > 1 ?
			"the kernel finds no common boundary of the devices below (-1)" :
			"the kernel calls it misaligned (-1)"),
	    message_format(
		"no start is aligned on all devices below: RMWs at the ends of most writes"));
}

const struct rule rule_misaligned = {
	.name = "misaligned",
	.note = RULE_EITHER,
	.grade = RULE_SHIFT,
	.place = judge_misaligned,
	.workaround = "first mend the devices below, then set this device up again",
	.man =
		"The kernel finds no boundary common to the devices below. A note where "
		"each of them begins at a physical block.",
};

/*
 * Check whether an align device has blocks of @block bytes with @shift from one
 * to its first byte. @disk passes on its own minimum_io_size, which says
 * nothing then.
 */
static bool has_blocks(const struct stack_layer *layer,
		       const struct stack_layer *disk, struct maybe shift,
		       int64_t block)
{
	bool told = maybe_is(layer->align_block, block) ||
		    maybe_is(stack_sysfs(layer, STACK_PHYSICAL), block) ||
		    (maybe_is(stack_sysfs(layer, STACK_IO_MIN), block) &&
		     maybe_or(stack_sysfs(disk, STACK_IO_MIN), 0) < block);

	return layer->kind == STACK_ALIGN && told &&
	       maybe_same(position_by_offset(layer, block), shift);
}

/*
 * Check whether all that lies on device @index of @disk, @shift from a block,
 * are align devices with the disk's blocks, or partitions below such devices.
 */
static bool all_aligned(const struct stack *stack,
			const struct stack_layer *disk, size_t index,
			struct maybe shift, int64_t block)
{
	bool any = false;
	size_t i;

	for (i = index + 1; i < stack->nr; i++) {
		const struct stack_layer *above = &stack->layer[i];

		if (!stack_is_on(above, index) || is_extended(above))
			continue;
		any = true;
		if (above->kind == STACK_PARTITION ?
		    !all_aligned(stack, disk, i,
				 position_add(shift, above->start, block),
				 block) :
		    !has_blocks(above, disk, shift, block))
			return false;
	}
	return any;
}

/* Mend a finding by an align device of @block, unless that fixes no writes of blocks so large. */
static void mend_block(struct finding *finding, enum remedy_id remedy, int64_t block,
		       const struct remedy_words *words)
{
	if (block > ALIGN_MAX_FIXED)
		finding_say(finding,
			    "an align device fixes blocks of at most %u bytes: make programs and file systems write whole blocks of %" PRId64,
			    ALIGN_MAX_FIXED, block);
	else
		finding_mend(finding, remedy, words);
}

/* Say how an align device gets the blocks of a disk, if it may have them. */
static void mend_by_attach(struct finding *finding,
			   const struct subject *subject, int64_t block,
			   int64_t offset)
{
	struct remedy_words words = words_of(subject);

	words.size = block;
	words.offset = offset;
	mend_block(finding, REMEDY_ATTACH_BLOCKS, block, &words);
}

/* Make a note of a finding that align devices above have mended. */
static void note_attached(struct finding *finding)
{
	finding->note = true;
	finding_say(finding,
		    "align devices above have these blocks; nothing need be done");
}

static void judge_disagree(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t kernel, other, measured, shift;
	size_t i, k;

	for (k = 0; k < STACK_NR_FIGURES; k++) {
		/* judge_probed() compares with what was measured */
		for (i = STACK_SYSFS + 1; i < STACK_PROBED; i++) {
			struct finding *finding;
			bool blind;

			if (!maybe_get(stack_sysfs(own, k), &kernel) ||
			    !maybe_get(own->view[i].figure[k], &other) ||
			    kernel == other)
				continue;
			blind = i == STACK_LIBBLKID && k == STACK_OFFSET &&
				kernel == -1 && !other;
			finding = add_finding(subject,
				message_format("%s says %s %" PRId64
						       ", sysfs %" PRId64,
						       stack_source_name(i),
						       stack_figure_key(k), other,
						       kernel),
				message_format(blind ?
				"libblkid shows misaligned (-1) as 0: mkfs and parted take it for aligned" :
				"programs align to different blocks, depending on the source that they ask"));
			finding->note = blind;
			if (maybe_get(stack_probed(own, STACK_PHYSICAL),
				      &measured))
				finding_say(finding,
					    "the measurement of probe decides: blocks of %" PRId64
					    " bytes", measured);
			else if (i == STACK_IDENTIFY && k == STACK_PHYSICAL &&
				 other > kernel && all_aligned(subject->stack,
					own, subject->index,
					subject->position->shift, other)) {
				note_attached(finding);
			} else if (i == STACK_IDENTIFY && k == STACK_PHYSICAL &&
				 other > kernel &&
				 subject->block == other &&
				 maybe_get(subject->position->shift, &shift)) {
				mend_by_attach(finding, subject, other,
					       position_offset(shift, other));
			}
		}
	}
}

const struct rule rule_disagree = {
	.name = "disagree",
	.note = RULE_EITHER,
	.place = judge_disagree,
	.remedies = { REMEDY_ATTACH_BLOCKS },
	.workaround =
		"the figure is the kernel's or the drive's bridge's; the layers above use the one in sysfs",
	.man =
		"Two sources give different figures. A note where libblkid has 0 for `-1`, "
		"and where align devices on the disk have the larger block.",
};

/* Judge a disk whose blocks were measured, and are not where it says. */
static void judge_probed(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	const struct position *at = subject->position;
	int64_t says, says_offset, shift, offset, block = subject->block;
	bool elsewhere, harmless;
	struct finding *finding;

	if (!maybe_is(stack_probed(own, STACK_PHYSICAL), block) ||
	    !maybe_get(at->shift, &shift) ||
	    !maybe_get(stack_sysfs(own, STACK_PHYSICAL), &says) ||
	    !maybe_get(stack_sysfs(own, STACK_OFFSET), &says_offset))
		return;
	offset = position_offset(shift, block);
	elsewhere = (says_offset & (block - 1)) != offset;
	if (says == block && !elsewhere)
		return;
	/* what is aligned to larger blocks is aligned to these */
	harmless = says > block && !elsewhere;
	finding = add_finding(subject,
			      message_format("probe measured blocks of %" PRId64
					     " bytes from byte %" PRId64
					     ", which check judges by; the kernel says %"
					     PRId64 " from byte %" PRId64, block,
					     offset, says, says_offset),
		      message_format(harmless ?
			"no RMW: a write aligned to the larger blocks is aligned to the measured ones, too" :
			"mkfs, parted and the kernel go by the kernel's figure: their whole-block writes can be RMWs"));
	if (all_aligned(subject->stack, own, subject->index, at->shift,
			block)) {
		note_attached(finding);
		return;
	}
	finding->note = harmless;
	mend_by_attach(finding, subject, block, offset);
}

const struct rule rule_probed = {
	.name = "probed",
	.note = RULE_EITHER,
	.place = judge_probed,
	.remedies = { REMEDY_ATTACH_BLOCKS },
	.man =
		"The blocks of a disk that `probe` has measured have another size, or "
		"begin elsewhere, than the disk says. The command attaches an align device "
		"with them. A note where they begin as it says and are smaller, which "
		"costs nothing, and where all that lies on the disk has such an align "
		"device between.",
};

/*
 * Judge a disk about whose unit sources disagree, where other findings do not
 * say so: judge_disagree() has the drive's Identify data, and judge_probed()
 * what was measured, both against the kernel.
 */
static void judge_unit(const struct subject *subject)
{
	const struct unit *unit = &subject->layer->unit;
	const struct unit_claim *taken = unit_taken(unit);
	CLEANUP_FREE char *claims = NULL;
	struct finding *finding;
	int64_t shift;

	if (!unit_contradicted(unit) || taken->source == UNIT_GIVEN ||
	    !unit_has_stranger(unit))
		return;
	claims = unit_claims_text(unit);
	finding = add_finding(subject,
			      message_format("sources disagree about its unit: %s; check judges by %"
					     PRId64, claims, subject->block),
		      message_format("programs that go by a smaller unit write parts of the drive's units, which can be RMWs"));
	if (taken->source == UNIT_MEASURED)
		finding_say(finding, MEASURED);
	else if (maybe_get(subject->position->shift, &shift) &&
		 maybe_is(taken->bytes, subject->block) &&
		 maybe_below(stack_sysfs(subject->layer, STACK_PHYSICAL),
			     subject->block) &&
		 !all_aligned(subject->stack, subject->layer, subject->index,
			      subject->position->shift, subject->block))
		mend_by_attach(finding, subject, subject->block,
			       position_offset(shift, subject->block));
}

const struct rule rule_unit = {
	.name = "unit",
	.note = RULE_NOTE,
	.place = judge_unit,
	.remedies = { REMEDY_ATTACH_BLOCKS },
	.workaround =
		"measure the unit with method block-size of probe: a measurement decides",
	.man =
		"Sources disagree about the unit of a drive, see `UNIT OF A DRIVE`, and "
		"not only those of `disagree` and `probed`. The command attaches an align "
		"device with the unit that is taken, if the kernel knows a smaller one.",
};

/* Judge a disk about whose rotation sources disagree. */
static void judge_rotation(const struct subject *subject)
{
	const struct unit *unit = &subject->layer->unit;
	CLEANUP_FREE char *says = NULL;
	struct finding *finding;

	if (!unit_rotation_contradicted(unit))
		return;
	says = unit_rotations_text(unit);
	finding = add_finding(subject,
			      message_format("sources disagree about its rotation: %s; the first is taken",
					     says),
		      message_format("no RMW: only what RMWs are said to cost, by the time of a revolution"));
	if (unit_rotation(unit)->source == UNIT_MEASURED)
		finding_say(finding, MEASURED);
}

const struct rule rule_rotation = {
	.name = "rotation",
	.note = RULE_NOTE,
	.place = judge_rotation,
	.workaround = "measure it with method rotation of probe: a measurement decides",
	.man =
		"Sources disagree how fast a disk rotates, see the end of `UNIT OF A "
		"DRIVE`.",
};

/* Say of content that its blocks are not read. */
static void judge_content(const struct subject *subject)
{
	const struct stack_content *content = &subject->layer->content;

	if (!content_is_unread(content))
		return;
	finding_say(add_finding(subject,
				message_format("carries %s, whose blocks alignctl does not read",
					       content->type),
			message_format("not known: writes of this content are not judged")),
		    "the content's own tools show its blocks: if these start at multiples of %" PRId64
		    " bytes and are multiples in length, they cost no RMW", subject->block);
}

/* Check for an align device above all of this one that has sectors of @sector. */
static bool has_sectors_above(const struct subject *subject, int64_t sector)
{
	size_t i;

	for (i = subject->index + 1; i < subject->stack->nr; i++) {
		const struct stack_layer *above = &subject->stack->layer[i];

		if (above->kind == STACK_ALIGN &&
		    stack_is_on(above, subject->index) &&
		    maybe_same(above->bytes, subject->layer->bytes) &&
		    maybe_is(stack_sysfs(above, STACK_LOGICAL), sector))
			return true;
	}
	return false;
}

/* Check for a device that takes an align device of smaller logical blocks. */
static bool takes_smaller(const struct subject *subject)
{
	enum stack_kind kind = subject->layer->kind;

	/* a loop device is made anew with its file's sectors instead */
	return kind != STACK_LOOP && kind != STACK_ALIGN &&
	       !words_of(subject).image &&
	       maybe_above(stack_sysfs(subject->layer, STACK_LOGICAL),
			   ALIGN_SECTOR_SIZE);
}

/* Say of a GPT that it was made for sectors of another size. */
static void judge_table_sector(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	const struct remedy_words words = words_of(subject);
	struct finding *finding;
	int64_t sector;

	if (!maybe_get(own->content.table_sector, &sector) ||
	    has_sectors_above(subject, sector))
		return;
	finding = add_finding(subject,
			      message_format("its GPT is for %" PRId64
					     "-byte sectors, and the device has sectors of %" PRId64,
					     sector,
					     maybe_or(stack_sysfs(own, STACK_LOGICAL),
						      0)),
		      message_format("not known: its partitions cannot be found"));
	if (sector == ALIGN_SECTOR_SIZE && takes_smaller(subject))
		finding_mend(finding, REMEDY_ATTACH_LOGICAL, &words);
	else if (own->kind == STACK_FILE)
		finding_say(finding, "check the image with --logical %" PRId64, sector);
}

const struct rule rule_table_sector = {
	.name = "table-sector",
	.note = RULE_NOTE,
	.content = judge_table_sector,
	.remedies = { REMEDY_ATTACH_LOGICAL },
	.workaround =
		"the GPT was written through a bridge or loop device with such sectors; only such a device can read it",
	.man =
		"A GPT was made for sectors of another size than those it is read with, so "
		"its partitions are not found; of an image, `--logical` has the right "
		"size.",
};

/* Say that a device of aligntab says other blocks than when its line was made. */
static void judge_claim(const struct subject *subject)
{
	const struct stack_layer *layer = subject->layer;
	struct maybe offset = stack_sysfs(layer, STACK_OFFSET);
	int64_t now, before, at, at_before;

	if (!maybe_get(stack_sysfs(layer, STACK_PHYSICAL), &now) || now <= 0 ||
	    !maybe_get(layer->claimed_physical, &before))
		return;
	at_before = maybe_or(layer->claimed_offset, -1);
	/* the kernel's -1: it is nowhere; it may be relative to a larger unit */
	at = maybe_below(offset, 0) ? -1 : maybe_or(offset, at_before) % now;
	if (now == before && at == at_before)
		return;
	add_finding(subject,
		    message_format("says physical blocks of %" PRId64
				   ", offset %" PRId64
				   " now, but said %" PRId64
				   ", offset %" PRId64 " when line %u of /etc/aligntab was written",
				   now, at, before, at_before, layer->tab_line),
		    message_format("not known; if the drive still has its former blocks, RMWs that its align device no longer sees"));
}

const struct rule rule_claim = {
	.name = "claim",
	.note = RULE_NOTE,
	.place = judge_claim,
	.workaround =
		"set physical= and offset= in that line to the drive's true blocks, and claimed= to the blocks that it says now",
	.man =
		"A device of `aligntab`(5) says another physical block or alignment offset "
		"than when its line was written, as an SSD does whose block shrank with "
		"another kernel. From the next boot on, its align device has what it says "
		"now, unless the line has `physical=`.",
};

/* Say of an array how its state is written. */
static void judge_md_superblock(const struct subject *subject)
{
	int64_t bytes;

	if (!stack_has_type(subject->layer, "linux_raid_member") ||
	    !maybe_get(subject->layer->content.sector, &bytes) ||
	    bytes >= subject->block)
		return;
	add_finding(subject,
		    message_format("its superblock is written in %" PRId64
				   " bytes, below the physical block (%"
				   PRId64 ")", bytes, subject->block),
		    message_format("an RMW when the array's state changes, as at the first write after a pause"));
}

const struct rule rule_md_superblock = {
	.name = "md-superblock",
	.note = RULE_NOTE,
	.grade = RULE_UNIT,
	.content = judge_md_superblock,
	.workaround =
		"the superblock's length follows from md's number of member slots; nothing need be done",
	.man = "md writes its superblock in less than a physical block.",
};

/* Say of an array which kernels assemble it. */
static void judge_md_logical(const struct subject *subject)
{
	int64_t logical;

	if (!maybe_get(subject->layer->content.logical, &logical))
		return;
	add_finding(subject,
		    message_format("its superblock keeps a logical block of %"
				   PRId64 " bytes", logical),
		    message_format("no RMW; Linux before 6.19 does not assemble the array"));
}

const struct rule rule_md_logical = {
	.name = "md-logical",
	.note = RULE_NOTE,
	.content = judge_md_logical,
	.workaround =
		"keep a kernel of 6.19 or later for boot and rescue; make an array for earlier kernels with an earlier kernel",
	.man =
		"The superblock of md has a logical block, as Linux 6.19 and later write "
		"it. Earlier kernels do not assemble such an array.",
};

static void judge_extent(const struct subject *subject)
{
	int64_t block = subject->block, extent;
	struct remedy_words words = words_of(subject);

	if (!maybe_get(subject->layer->content.extent, &extent) ||
	    !(extent % block))
		return;
	words.block_device = true;
	words.size = block;
	finding_mend(add_finding(subject,
		    message_format("extents of %" PRId64
				   " bytes, no multiple of the physical block (%"
				   PRId64 ")", extent, block),
		    message_format("volumes can begin inside a physical block")),
		     REMEDY_LVM_EXTENT, &words);
}

const struct rule rule_extent = {
	.name = "extent",
	.grade = RULE_UNIT,
	.content = judge_extent,
	.remedies = { REMEDY_LVM_EXTENT },
	.man = "An extent of LVM is no multiple of the physical block.",
};

static void judge_chunk(const struct subject *subject)
{
	int64_t block = subject->block, chunk;

	if (!maybe_get(subject->layer->content.chunk, &chunk) ||
	    !(chunk % block))
		return;
	finding_say(add_finding(subject,
		    message_format("chunks of %" PRId64
				   " bytes, no multiple of the physical block (%"
				   PRId64 ")", chunk, block),
		    message_format("two chunks share a physical block: RMWs at their ends")),
		    "reshape the array to chunks of a multiple of %" PRId64
		    " bytes, where its level can; else back up, make the array anew, restore",
		    block);
}

const struct rule rule_chunk = {
	.name = "chunk",
	.grade = RULE_UNIT,
	.content = judge_chunk,
	.man = "A chunk of md is no multiple of the physical block.",
};

/*
 * Check for a file system whose smallest write, a @what of @bytes, the device refuses,
 * and say what takes it. Return: whether that is so.
 */
static bool judge_unusable(const struct subject *subject, const char *what,
			   int64_t bytes)
{
	const struct remedy_words words = words_of(subject);
	int64_t logical = maybe_or(stack_sysfs(subject->layer, STACK_LOGICAL), 0);

	if (bytes >= logical || !takes_smaller(subject))
		return false;
	finding_mend(add_finding(subject,
		message_format("%s %s of %" PRId64
				       " bytes, below the logical block of the device (%"
				       PRId64 ")", subject->layer->content.type,
				       what, bytes, logical),
		message_format("the device refuses such writes: the file system cannot be mounted")),
		REMEDY_ATTACH_LOGICAL, &words);
	return true;
}

/* Say how a file system with small blocks is mended by making it anew. */
static void mend_fs(struct finding *finding, const struct subject *subject,
		    enum remedy_id remedy)
{
	struct remedy_words words = words_of(subject);

	words.size = subject->block;
	words.type = subject->layer->content.type;
	if (remedy != REMEDY_NONE)
		finding_mend(finding, remedy, &words);
	else
		mend_anew(finding, subject->layer);
}

static void judge_fs_sector(const struct subject *subject)
{
	int64_t block = subject->block, sector;

	if (!stack_has_type(subject->layer, "xfs") ||
	    !maybe_get(subject->layer->content.sector, &sector) ||
	    sector >= block ||
	    judge_unusable(subject, "sectors", sector))
		return;
	mend_fs(add_finding(subject,
			    message_format("XFS sectors of %" PRId64
					   " bytes, below the physical block (%"
					   PRId64 ")", sector, block),
		    message_format("writes of its log and headers end inside physical blocks: RMWs")),
		subject, block <= (int64_t)PAGE_BYTES ? REMEDY_MKFS_XFS :
							REMEDY_NONE);
}

const struct rule rule_fs_sector = {
	.name = "fs-sector",
	.grade = RULE_UNIT,
	.content = judge_fs_sector,
	.remedies = { REMEDY_MKFS_XFS, REMEDY_ATTACH_LOGICAL },
	.man =
		"XFS has smaller sectors than the drive has physical blocks, and writes "
		"its log in them.",
};

static void judge_fs_block(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	const struct stack_content *content = &own->content;
	int64_t block = subject->block, unit;
	struct finding *finding;

	if (!maybe_get(content->block, &unit) || unit % block == 0 ||
	    judge_unusable(subject, unit_of(own), unit))
		return;
	finding = add_finding(subject,
		    message_format("%s %s of %" PRId64
					   " bytes, %s the physical block (%" PRId64
					   ")", content->type, unit_of(own), unit,
					   unit < block ? "below" : "no multiple of",
					   block),
		    message_format("each write of single %s is an RMW",
				   unit_of(own)));
	mend_fs(finding, subject, block > (int64_t)PAGE_BYTES ? REMEDY_NONE :
		stack_has_type(own, "xfs") ? REMEDY_MKFS_XFS :
		is_ext(content->type) ? REMEDY_MKFS_EXT :
		REMEDY_NONE);
	soften_finding(finding, subject);
}

const struct rule rule_fs_block = {
	.name = "fs-block",
	.note = RULE_EITHER,
	.grade = RULE_UNIT,
	.content = judge_fs_block,
	.remedies = { REMEDY_MKFS_XFS, REMEDY_MKFS_EXT, REMEDY_ATTACH_LOGICAL },
	.man =
		"The file system has smaller blocks, clusters or fragments than the drive, "
		"as has a vdev of ZFS by its ashift. Of an EFI system partition a note.",
};

/* Return the content of the device that has opened this LUKS, or NULL. */
static const struct stack_content *find_opened(const struct subject *subject)
{
	size_t i;

	for (i = subject->index + 1; i < subject->stack->nr; i++) {
		const struct stack_layer *above = &subject->stack->layer[i];

		if (above->kind == STACK_CRYPT &&
		    stack_is_on(above, subject->index))
			return &above->content;
	}
	return NULL;
}

/* Say how LUKS gets larger sectors, if what is inside can be read then. */
static void mend_luks(struct finding *finding, const struct subject *subject)
{
	const struct stack_content *own = &subject->layer->content;
	const struct stack_content *inside = find_opened(subject);
	struct remedy_words words = words_of(subject);

	if (own->version == 1)
		finding_mend(finding, REMEDY_LUKS_REMAKE, &words);
	else if (!inside || inside->unread)
		finding_say(finding,
			    "larger sectors make smaller blocks inside unreadable: open the LUKS device as root, and check its content");
	else if (own->version == 2 && inside->type &&
		 writes_blocks(inside, LUKS_SECTOR_MAX))
		finding_mend(finding, REMEDY_LUKS_SECTORS, &words);
}

static void judge_luks_sector(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t sector, block = subject->block;

	if (!stack_has_type(own, "crypto_LUKS") ||
	    !maybe_get(own->content.sector, &sector) ||
	    sector >= block || sector >= (int64_t)PAGE_BYTES)
		return;
	mend_luks(add_finding(subject,
			      message_format("LUKS sectors of %" PRId64
					     " bytes, below the physical block (%"
					     PRId64 ")", sector, block),
		      message_format("no RMW by itself, but LUKS passes writes of that size to the disk")),
		  subject);
}

const struct rule rule_luks_sector = {
	.name = "luks-sector",
	.note = RULE_NOTE,
	.grade = RULE_UNIT,
	.content = judge_luks_sector,
	.remedies = { REMEDY_LUKS_SECTORS, REMEDY_LUKS_REMAKE },
	.workaround =
		"the content could have smaller blocks, which larger sectors make unreadable: back up, make the LUKS device anew, restore",
	.man =
		"LUKS lets writes through that are smaller than the physical block. There "
		"is a command for LUKS 2 that is open, where the file system inside has no "
		"smaller blocks, which could not be read afterwards.",
};

/*
 * Judge the cutting of large requests, which the kernel does at multiples of
 * the physical block from sector 0, without the alignment offset.
 */
static void judge_split(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	struct maybe cut = stack_sysfs(own, STACK_PHYSICAL);
	int64_t shift, max_io;

	/* to smaller blocks, which it may know instead, the shift can be none */
	if (own->nr_below || !maybe_get(own->max_io, &max_io) ||
	    !maybe_get(subject->position->shift, &shift) || !shift ||
	    (position_is_block(cut) && !(shift & (maybe_or(cut, 0) - 1))))
		return;
	add_finding(subject,
		    message_format("alignment offset %" PRId64
				   ": requests over %" PRId64
				   " bytes are cut inside a physical block",
				   position_offset(shift, subject->block), max_io),
	    message_format("2 RMWs for each cut of a large write"));
}

const struct rule rule_split = {
	.name = "split",
	.grade = RULE_UNIT,
	.place = judge_split,
	.workaround =
		"the kernel's splitting ignores the offset: an align device in mode pad cuts at boundaries",
	.man =
		"The disk has an alignment offset, which the kernel ignores where it cuts "
		"large requests.",
};

/* Check whether only align devices with blocks of @unit lie on a disk. */
static bool has_units_above(const struct subject *subject, int64_t unit)
{
	int64_t offset;

	return maybe_get(stack_sysfs(subject->layer, STACK_OFFSET), &offset) &&
	       offset >= 0 &&
	       all_aligned(subject->stack, subject->layer, subject->index,
			   maybe_of((int64_t)(-(uint64_t)offset &
					      (uint64_t)(unit - 1))), unit);
}

static void judge_large_unit(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	struct remedy_words words = words_of(subject);
	int64_t unit;

	/* a hint, which a measurement answers */
	if (own->kind != STACK_DISK || own->nr_below || own->rotational ||
	    !position_is_block(stack_sysfs(own, STACK_IO_MIN)) ||
	    !maybe_get(stack_sysfs(own, STACK_IO_MIN), &unit) ||
	    unit <= subject->block ||
	    maybe_known(stack_probed(own, STACK_PHYSICAL)) ||
	    maybe_known(unit_known_better(&own->unit)) ||
	    has_units_above(subject, unit))
		return;
	mend_block(add_finding(subject,
			       message_format("minimum I/O size %" PRId64
					      ", above the physical block (%" PRId64 ")",
					      unit, subject->block),
		       message_format("writes below it may be RMWs inside the drive")),
		   REMEDY_ATTACH_UNIT, unit, &words);
}

const struct rule rule_large_unit = {
	.name = "large-unit",
	.note = RULE_NOTE,
	.place = judge_large_unit,
	.remedies = { REMEDY_ATTACH_UNIT },
	.man =
		"An SSD has a minimum I/O size above its physical block. There is a "
		"command if it is at most 262144, which is the largest block whose writes "
		"an align device fixes.",
};

static void judge_unread(const struct subject *subject)
{
	static const char *const ways_out[] = {
		[UNREAD_NOT] = "",
		[UNREAD_ORDINARY] = "root may open the device, unless the machine forbids that too",
		[UNREAD_FORBIDDEN] = "this system denies the device to root, too: check on the host, or outside of the container",
		[UNREAD_GONE] = "the device or its node is missing: check again when both are there",
		[UNREAD_REPLACED] = "the node is left from another device: check again when udev has made the node anew",
		[UNREAD_SUSPENDED] = "a read would wait: check again when the device is resumed",
		[UNREAD_SEVERAL] = "one signature is left from earlier content: find out which, and erase only that one",
		[UNREAD_DAMAGED] = "check the content with the tools of its type, or use a newer alignctl",
		[UNREAD_CUT] = "the image is shorter than its partition table says: copy it again, whole",
		[UNREAD_FAILED] = "the device fails to read: the kernel log says more",
	};
	const struct stack_content *content = &subject->layer->content;

	if (content->unread)
		finding_say(add_finding(subject,
					message_format("its headers were not read: %s",
						       content->unread),
				message_format("not known: the content of the device is not judged")),
			    "%s", ways_out[content->why]);
}

const struct rule rule_unread = {
	.name = "unread",
	.note = RULE_NOTE,
	.place = judge_unread,
	.man =
		"Headers could not be read, for the reason that it gives: the user may not "
		"open the device, it is suspended or gone, reads fail, an image is cut "
		"short, a header is damaged, or there are signatures of several types.",
};

/*
 * Say of the lowest device that its physical block is none that can be judged,
 * or of an SSD that its minimum I/O size is none.
 */
static void judge_unjudged(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	bool block = maybe_known(subject->position->block);
	enum stack_figure what = block ? STACK_IO_MIN : STACK_PHYSICAL;
	struct maybe figure = stack_sysfs(own, what);
	int64_t says;

	if (own->nr_below || position_is_block(figure) ||
	    (block && (own->kind != STACK_DISK || own->rotational ||
		       maybe_known(stack_probed(own, STACK_PHYSICAL)) ||
		       maybe_known(unit_known_better(&own->unit)) ||
		       !maybe_above(figure, subject->block))))
		return;
	add_finding(subject, maybe_get(figure, &says) ?
		    message_format("says %s %" PRId64
				   ", which is no power of two from %u to %u",
				   stack_figure_key(what), says,
				   ALIGN_SECTOR_SIZE, AUDIT_BLOCK_MAX) :
		    message_format("no source gives its %s",
				   stack_figure_key(what)),
		    message_format(block ?
			"not known: only its physical block is judged" :
			"not known: neither the device nor its content is judged"));
}

const struct rule rule_unjudged = {
	.name = "unjudged",
	.note = RULE_NOTE,
	.any_block = true,
	.place = judge_unjudged,
	.content = judge_content,
	.workaround = "give the block with --physical, if you know it from elsewhere",
	.man =
		"A physical block or minimum I/O size that is no power of two from 512 "
		"bytes to 1 MiB, or that nothing says; or content of a type whose blocks "
		"`check` does not read, such as DRBD, stratis, VDO and members of "
		"firmware's RAID.",
};

/* Judge a device: where it lies, and what it carries. */
static void judge_device(struct subject *subject)
{
	const struct rule *const *rule;
	bool known = maybe_get(subject->position->block, &subject->block);

	for (rule = check_rules; (subject->rule = *rule); rule++)
		if ((*rule)->place && (known || (*rule)->any_block))
			(*rule)->place(subject);
	if (!known || shown_above(subject))
		return;
	for (rule = check_rules; (subject->rule = *rule); rule++)
		if ((*rule)->content)
			(*rule)->content(subject);
}

/* Judge what a device has counted. */
static void judge_counters(struct subject *subject)
{
	const struct rule *const *rule;

	for (rule = check_rules; (subject->rule = *rule); rule++)
		if ((*rule)->ledger)
			(*rule)->ledger(subject);
}

static bool reaches(const struct stack *stack, size_t from, size_t to)
{
	const struct stack_layer *layer = &stack->layer[from];
	size_t i;

	if (from == to)
		return true;
	for (i = 0; i < layer->nr_below; i++)
		if (reaches(stack, layer->below[i], to))
			return true;
	return false;
}

/*
 * Find where a device that was found shifted begins inside a block, of those on
 * device @index, or that device itself; 0: none was found.
 */
static uint32_t shift_found(const struct stack *stack,
			    const struct judgement *judgement, size_t index)
{
	size_t i;

	for (i = 0; i < judgement->nr; i++) {
		const struct finding *finding = &judgement->finding[i];

		if (finding_is_shift(finding) &&
		    reaches(stack, finding->layer, index))
			return (uint32_t)maybe_or(judgement_shift(judgement, finding), 0);
	}
	return (uint32_t)maybe_or(judgement->position[index].shift, 0);
}

/* Name the cause in the counters of an align device that has written. */
static void judge_ledger(const struct subject *subject)
{
	const struct cause_ledger *ledger = subject->layer->ledger;
	struct judgement *judgement = subject->judgement;
	struct cause cause;

	if (!ledger || !ledger->touches)
		return;
	cause_of_ledger(ledger, shift_found(subject->stack, judgement, subject->index),
			&cause);
	judge_cause(subject->stack, judgement, subject->index, &cause, NULL);
	/* pad and coalesce are what mends it */
	if (!ledger->report)
		judgement->finding[judgement->nr - 1].note = true;
}

const struct rule rule_cause = {
	.name = "cause",
	.note = RULE_EITHER,
	.grade = RULE_UNIT,
	.ledger = judge_ledger,
	.remedies = { REMEDY_LARGEST_REQUEST },
	.workaround = "record it, longer or one program alone, and check with --recording",
	.man =
		"With `--recording`, what most of its touches come from: a shifted "
		"partition (writes of whole blocks, at one place inside a block), a log "
		"stream (the next write completes the block), blocks that are rewritten in "
		"part (a log block at each commit, a superblock) or random small writes, "
		"both with the process, a file system with small sectors, large writes cut "
		"at the largest request, or nothing. Of blocks that are rewritten, it says "
		"if each write, or most, was made durable before the next one, by a flush "
		"or FUA. A write rewrites a block if its process wrote at least half of "
		"the same place before, and the block is among the last 8 that the process "
		"wrote in part. `check` says that it cannot tell where no cause explains "
		"70 % of the touches, where there are fewer than 100, and where one stream "
		"writes whole blocks at one place inside a block, which may be a shifted "
		"partition or a log. What helps, a mode of an align device or a move of "
		"the start, and what it leaves of the touches, is \"recommended\": the "
		"forecast of `plan`, in its words. It is not known for blocks that an "
		"align device cannot mend. The counters of an align device, since their "
		"last reset, name the shift of a device that the audit has found, and in "
		"mode `coalesce` a log stream; this is a note unless the mode is `report`.",
};

/* Return a device that is judged. */
static struct subject subject_of(const struct stack *stack,
				 struct judgement *judgement, size_t index)
{
	return (struct subject) {
		.judgement = judgement,
		.stack = stack,
		.layer = &stack->layer[index],
		.position = &judgement->position[index],
		.index = index,
	};
}

void judge_stack(const struct stack *stack, struct judgement *judgement)
{
	size_t i;

	memset(judgement, 0, sizeof(*judgement));
	judgement->position = memory_or_exit(
		calloc(stack->nr + 1, sizeof(*judgement->position)));
	for (i = 0; i < stack->nr; i++) {
		struct subject subject = subject_of(stack, judgement, i);

		position_find(stack, judgement->position, i);
		if (!subject.layer->aside && !is_extended(subject.layer))
			judge_device(&subject);
	}
	for (i = 0; i < stack->nr; i++) {
		struct subject subject = subject_of(stack, judgement, i);

		if (!subject.layer->aside)
			judge_counters(&subject);
	}
}
