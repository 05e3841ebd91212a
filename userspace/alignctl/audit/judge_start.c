// SPDX-License-Identifier: GPL-2.0
/*
 * The rules about where a device begins and ends: partitions, loop devices, mapped
 * devices.
 */
#include <inttypes.h>
#include <string.h>

#include "audit/content.h"
#include "audit/partition_type.h"
#include "audit/subject.h"
#include "base/message.h"
#include "base/units.h"

#define TABLE_SECTORS	34	/* of GPT, at the end of a disk */
/* sfdisk moves no partition to this byte or before, bytes. */
#define FIRST_BYTE	((int64_t)MIB)
#define DOS_PRIMARY_MAX	4	/* partitions behind are in an extended one */

/* Add a finding about a place @shift bytes inside a block. */
static struct finding *add_into_block(const struct subject *subject,
				      const char *what, int64_t shift)
{
	return subject_add(subject, "%s %" PRId64
			   " bytes into a physical block of %" PRId64, what,
			   shift, subject->block);
}

/* Return the words of a command for the table of a partition's disk. */
static struct remedy_words words_of_table(const struct subject *subject)
{
	struct remedy_words words = words_of_layer(subject_disk(subject));

	words.number = subject->layer->partition;
	return words;
}

/*
 * Check for a table that sfdisk changes without touching what it holds. A hybrid MBR
 * and the boot catalogue of a live system would keep the former place, and an array
 * its other half.
 */
static bool can_change(const struct stack_layer *disk)
{
	const char *table = disk->content.table;

	/* the largest sector that a loop device is known to have */
	if (disk->kind == STACK_FILE &&
	    maybe_above(stack_sysfs(disk, STACK_LOGICAL), (int64_t)PAGE_BYTES))
		return false;
	return table && !disk->content.hybrid && !disk->content.type &&
	       (!strcmp(table, "gpt") || !strcmp(table, "dos"));
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
	const struct stack_layer *disk = subject_disk(subject);
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
		if (from < start && stack_is_extended(other) && !other->extended)
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
	const struct stack_layer *disk = subject_disk(subject);

	if (stack_multipath(subject->stack, disk))
		return "its disk is a path: see this partition on the multipath device, or map it there with kpartx";
	if (!disk->content.table && disk->content.unread)
		return disk->content.why == UNREAD_ORDINARY ?
			"its table was not read: check it as root, which says how to move it" :
			"its table was not read, as the note about its disk says: mend that, and check again";
	if (disk->content.hybrid)
		return "its disk has a hybrid MBR, which sfdisk leaves as it is: back up, make both tables anew, restore";
	if (disk->content.type)
		return "its disk carries more than the table, as an array's member or a live system: make it anew by the tool of that content, or erase a signature that is left over";
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
	int64_t unit = maybe_or(stack_sysfs(subject_disk(subject), STACK_LOGICAL), 0);
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
	finding = add_into_block(subject, "starts", shift);
	finding->note = unused;
	if (unused) {
		finding_cost(finding, "none in use: the partition is %s, and %s",
			     unused->name, unused->written);
		finding_say(finding, "nothing need be done");
	} else {
		subject_start_cost(subject, finding);
		mend_start(finding, subject, shift);
	}
}

const struct rule rule_partition_start = {
	.name = "partition-start", .note = RULE_EITHER, .grade = RULE_SHIFT,
	.start = RULE_START, .place = judge_partition_start,
	.remedies = { REMEDY_MOVE_PARTITION, REMEDY_MOVE_MAPPED },
	.man =
		"A partition starts inside a physical block. If its partition table is DOS, or GPT "
		"without a hybrid MBR, the disk carries nothing else (as a live system's image), "
		"and there is enough free space beside it, a command moves it with its content; "
		"nothing may use it meanwhile. A power failure during the move damages the content, "
		"so back it up first. A boot loader that stores sector numbers must be reinstalled "
		"afterwards. A note for partition types that are not written to in use, such as "
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
	disk = subject_disk(subject);
	unit = maybe_or(stack_sysfs(disk, STACK_LOGICAL), 0);
	reaches = maybe_below(used, bytes + 1);
	finding = add_into_block(subject, "ends", over);
	finding_cost(finding, reaches ?
		     "a write of the file system's last block is an RMW" :
		     "an RMW for writes of its last %" PRId64
		     " bytes, if its content uses them", over);
	finding->note = !reaches;
	if (reaches || !is_whole(over, unit)) {
		finding_say(finding,
			    "shrink the file system to the last block boundary first, then the partition");
		return;
	}
	/* no remedy says what the content would lose */
	if (own->content.type || own->content.table || own->content.unread ||
	    !can_change(disk) || stack_multipath(subject->stack, disk))
		return;
	words = words_of_table(subject);
	words.size = (bytes - over) / unit;
	finding_mend(finding, own->mapped ? REMEDY_SHRINK_MAPPED :
					    REMEDY_SHRINK_PARTITION, &words);
}

const struct rule rule_partition_end = {
	.name = "partition-end", .note = RULE_EITHER, .grade = RULE_UNIT,
	.place = judge_partition_end,
	.remedies = { REMEDY_SHRINK_PARTITION, REMEDY_SHRINK_MAPPED },
	.workaround = "the content may use these last bytes; nothing need be done",
	.man =
		"A partition ends inside a physical block. A note unless its file system uses the "
		"last bytes. No finding at all if file system, LVM or swap area is known to leave "
		"them unused.",
};

/* Say how a loop device gets the sectors of the disk, if its content may. */
static void mend_loop(struct finding *finding, const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t block = subject->block;
	struct remedy_words words = subject_words(subject);

	if (block > (int64_t)PAGE_BYTES) {
		finding_say(finding, "loop devices have sectors of at most %u bytes",
			    PAGE_BYTES);
		return;
	}
	if (maybe_or(own->start, 1) % block) {
		finding_say(finding,
			    "larger sectors would begin inside a block of the disk, as the loop device does");
		return;
	}
	if (stack_above(subject->stack, subject->index, NULL) ||
	    maybe_or(own->bytes, 1) % block ||
	    !content_writes_blocks(&own->content, block)) {
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
	subject_start_cost(subject, add_into_block(subject, "starts in its file",
						   start & (block - 1)));
}

const struct rule rule_loop_start = {
	.name = "loop-start", .grade = RULE_SHIFT, .start = RULE_FILE_START,
	.place = judge_loop_start,
	.workaround =
		"from another start, the loop device would not show its content: copy the content into a file of its own",
	.man = "A loop device starts at an offset in its file that is inside a physical block.",
};

static void judge_hidden(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t block = subject->block, says;

	if (own->kind != STACK_LOOP || !own->nr_below ||
	    !maybe_get(stack_sysfs(own, STACK_PHYSICAL), &says) || says >= block)
		return;
	mend_loop(subject_add(subject, "says physical block %" PRId64
			      ", the disk below %s (%s) has %" PRId64, says,
			      own->file ? own->file : "it",
			      subject_disk(subject)->name, block),
		  subject);
}

const struct rule rule_hidden = {
	.name = "hidden", .note = RULE_NOTE, .place = judge_hidden,
	.remedies = { REMEDY_LOOP_SECTORS },
	.cost = "mkfs and programs choose blocks that are too small",
	.man =
		"A loop device reports a smaller physical block than the disk that its file is on. "
		"The command enlarges its sectors, if the content can still be read then.",
};

static void judge_mapped_start(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	int64_t shift;

	if (own->kind == STACK_PARTITION || own->kind == STACK_LOOP ||
	    !own->nr_below || !maybe_get(subject->position->shift, &shift) ||
	    !shift || !subject_below_aligned(subject))
		return;
	/* the offset that it was given is that of the disk */
	if (position_maps_whole(subject->stack, own))
		return;
	subject_start_cost(subject, add_into_block(subject, "is mapped from",
						   shift));
}

const struct rule rule_mapped_start = {
	.name = "mapped-start", .grade = RULE_SHIFT, .start = RULE_START,
	.place = judge_mapped_start,
	.workaround =
		"its table fixes where the data begin: copy the data to an aligned device",
	.man =
		"A device-mapper device starts inside a physical block, by the figures of the "
		"kernel.",
};
