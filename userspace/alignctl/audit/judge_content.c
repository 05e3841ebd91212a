// SPDX-License-Identifier: GPL-2.0
/* The rules about what a device carries: headers, tables, file systems. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/content.h"
#include "audit/partition_type.h"
#include "audit/subject.h"
#include "base/message.h"
#include "base/units.h"
#include "geometry.h"

#define LUKS_SECTOR_MAX	4096

static void judge_unread(const struct subject *subject)
{
	static const char *const ways_out[] = {
		[UNREAD_NOT] = "",
		[UNREAD_ORDINARY] = "root may open the device, unless the machine forbids that too",
		[UNREAD_FORBIDDEN] = "this system denies the device to root, too: check on the host, or outside of the container",
		[UNREAD_GONE] = "the device or its node is missing: check again when both are there",
		[UNREAD_REPLACED] = "the node is left from another device: check again when udev has made the node anew",
		[UNREAD_SUSPENDED] = "a read would wait: check again when the device answers",
		[UNREAD_SEVERAL] = "one signature is left from earlier content: find out which, and erase only that one",
		[UNREAD_DAMAGED] = "check the content with the tools of its type, or use a newer alignctl",
		[UNREAD_CUT] = "the image is shorter than its partition table says, or the device than the one that it was copied from: copy it again, whole",
		[UNREAD_FAILED] = "the device fails to read: the kernel log says more",
	};
	const struct stack_content *content = &subject->layer->content;
	const struct stack_layer *multipath = stack_multipath(subject->stack,
							      subject->layer);

	/* a path may only stand by, and refuse to read */
	if (content->unread && !(multipath && !multipath->content.unread))
		finding_say(subject_add(subject, "its headers were not read: %s",
					content->unread),
			    "%s", ways_out[content->why]);
}

const struct rule rule_unread = {
	.name = "unread", .note = RULE_NOTE, .place = judge_unread,
	.cost = "not known: the content of the device is not judged",
	.man =
		"Headers on a device could not be read, for the reason that is printed: no "
		"permission, a suspended or removed device, read errors, a truncated image, a "
		"damaged header, or signatures of several types.",
};

/* Check for an align device above all of this one that has sectors of @sector. */
static bool has_sectors_above(const struct subject *subject, int64_t sector)
{
	const struct stack_layer *above = NULL;

	while ((above = stack_above(subject->stack, subject->index, above)))
		if (above->kind == STACK_ALIGN &&
		    maybe_same(above->bytes, subject->layer->bytes) &&
		    maybe_is(stack_sysfs(above, STACK_LOGICAL), sector))
			return true;
	return false;
}

/* Check for a device that takes an align device of smaller logical blocks. */
static bool takes_smaller(const struct subject *subject)
{
	enum stack_kind kind = subject->layer->kind;

	/* a loop device is made anew with its file's sectors instead */
	return kind != STACK_LOOP && kind != STACK_ALIGN &&
	       !subject->layer->zoned && !subject_words(subject).image &&
	       maybe_above(stack_sysfs(subject->layer, STACK_LOGICAL),
			   ALIGN_SECTOR_SIZE);
}

/* Say of a GPT that it was made for sectors of another size. */
static void judge_table_sector(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;
	const struct remedy_words words = subject_words(subject);
	struct finding *finding;
	int64_t sector;

	if (!maybe_get(own->content.table_sector, &sector) ||
	    has_sectors_above(subject, sector))
		return;
	finding = subject_add(subject, "its GPT is for %" PRId64
			      "-byte sectors, and the device has sectors of %" PRId64,
			      sector, maybe_or(stack_sysfs(own, STACK_LOGICAL), 0));
	if (sector == ALIGN_SECTOR_SIZE && takes_smaller(subject))
		finding_mend(finding, REMEDY_ATTACH_LOGICAL, &words);
	else if (own->kind == STACK_FILE)
		finding_say(finding, "check the image with --logical %" PRId64, sector);
}

const struct rule rule_table_sector = {
	.name = "table-sector", .note = RULE_NOTE, .content = judge_table_sector,
	.remedies = { REMEDY_ATTACH_LOGICAL },
	.cost = "not known: its partitions cannot be found",
	.workaround =
		"the GPT was written through a bridge or loop device with such sectors; only such a device can read it",
	.man =
		"A GPT was written for another sector size than it is read with, so its partitions "
		"are not found. For an image, `--logical` sets the right size.",
};

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
	finding_cost(finding,
		     "RMWs only when an update of the boot loader writes to the partition");
}

/* Say how a header that puts its data off the boundaries is mended. */
static void mend_data(struct finding *finding, const struct subject *subject)
{
	struct remedy_words words = subject_words(subject);

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
	finding = subject_add(subject, "its %s begin at byte %" PRId64
			      ", %" PRId64
			      " bytes into a physical block of %" PRId64,
			      clusters ? unit_of(subject->layer) : "data",
			      start, shift, block);
	subject_start_cost(subject, finding);
	mend_data(finding, subject);
	soften_finding(finding, subject);
}

const struct rule rule_data_start = {
	.name = "data-start", .note = RULE_EITHER, .grade = RULE_SHIFT,
	.start = RULE_DATA_START, .content = judge_data_start,
	.remedies = { REMEDY_LUKS_DATA },
	.man =
		"The data area of LUKS, LVM, md or bcache (data offset, pe_start), or the first "
		"cluster of FAT or exFAT, starts inside a physical block. A note for an EFI system "
		"partition.",
};

/* Say of an array how its state is written. */
static void judge_md_superblock(const struct subject *subject)
{
	int64_t logical = maybe_or(stack_sysfs(subject->layer, STACK_LOGICAL), 0);
	int64_t bytes;

	if (!stack_has_type(subject->layer, "linux_raid_member") ||
	    !maybe_get(subject->layer->content.sector, &bytes))
		return;
	/* md rounds up to logical blocks */
	if (bytes < logical)
		bytes = logical;
	if (bytes >= subject->block)
		return;
	subject_add(subject, "its superblock is written in %" PRId64
		    " bytes, below the physical block (%" PRId64 ")", bytes,
		    subject->block);
}

const struct rule rule_md_superblock = {
	.name = "md-superblock", .note = RULE_NOTE, .grade = RULE_UNIT,
	.content = judge_md_superblock,
	.cost =
		"an RMW when the array's state changes, as at the first write after a pause",
	.workaround =
		"the superblock's length follows from md's number of member slots; nothing need be done",
	.man = "md writes its superblock with a request smaller than the physical block.",
};

/* Say of an array which kernels assemble it. */
static void judge_md_logical(const struct subject *subject)
{
	int64_t logical;

	if (!maybe_get(subject->layer->content.logical, &logical))
		return;
	subject_add(subject, "its superblock keeps a logical block of %" PRId64
		    " bytes", logical);
}

const struct rule rule_md_logical = {
	.name = "md-logical", .note = RULE_NOTE, .content = judge_md_logical,
	.cost = "no RMW; Linux before 6.19 does not assemble the array",
	.workaround =
		"keep a kernel of 6.19 or later for boot and rescue; make an array for earlier kernels with an earlier kernel",
	.man =
		"The superblock of an md array stores a logical block size, as Linux 6.19 and later "
		"write it. Earlier kernels do not assemble the array.",
};

static void judge_extent(const struct subject *subject)
{
	int64_t block = subject->block, extent;
	struct remedy_words words = subject_words(subject);

	if (!maybe_get(subject->layer->content.extent, &extent) ||
	    !(extent % block))
		return;
	words.block_device = true;
	words.size = block;
	finding_mend(subject_add(subject, "extents of %" PRId64
				 " bytes, no multiple of the physical block (%"
				 PRId64 ")", extent, block),
		     REMEDY_LVM_EXTENT, &words);
}

const struct rule rule_extent = {
	.name = "extent", .grade = RULE_UNIT, .content = judge_extent,
	.remedies = { REMEDY_LVM_EXTENT },
	.cost = "volumes can begin inside a physical block",
	.man = "The extent size of an LVM volume group is no multiple of the physical block.",
};

static void judge_chunk(const struct subject *subject)
{
	int64_t block = subject->block, chunk;

	if (!maybe_get(subject->layer->content.chunk, &chunk) ||
	    !(chunk % block))
		return;
	finding_say(subject_add(subject, "chunks of %" PRId64
				" bytes, no multiple of the physical block (%"
				PRId64 ")", chunk, block),
		    "reshape the array to chunks of a multiple of %" PRId64
		    " bytes, where its level can; else back up, make the array anew, restore",
		    block);
}

const struct rule rule_chunk = {
	.name = "chunk", .grade = RULE_UNIT, .content = judge_chunk,
	.cost = "two chunks share a physical block: RMWs at their ends",
	.man = "The chunk size of an md array is no multiple of the physical block.",
};

/*
 * Check for a file system whose smallest write, a @what of @bytes, the device refuses,
 * and say what takes it. Return: whether that is so.
 */
static bool judge_unusable(const struct subject *subject, const char *what,
			   int64_t bytes)
{
	const struct remedy_words words = subject_words(subject);
	int64_t logical = maybe_or(stack_sysfs(subject->layer, STACK_LOGICAL), 0);
	struct finding *finding;

	if (bytes >= logical || !takes_smaller(subject))
		return false;
	finding = subject_add(subject, "%s %s of %" PRId64
			      " bytes, below the logical block of the device (%"
			      PRId64 ")", subject->layer->content.type, what,
			      bytes, logical);
	finding_cost(finding,
		     "the device refuses such writes: the file system cannot be mounted");
	finding_mend(finding, REMEDY_ATTACH_LOGICAL, &words);
	return true;
}

/* Say how a file system with small blocks is mended by making it anew. */
static void mend_fs(struct finding *finding, const struct subject *subject,
		    enum remedy_id remedy)
{
	struct remedy_words words = subject_words(subject);

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
	mend_fs(subject_add(subject, "XFS sectors of %" PRId64
			    " bytes, below the physical block (%" PRId64 ")",
			    sector, block),
		subject, block > (int64_t)PAGE_BYTES ? REMEDY_NONE : REMEDY_MKFS_XFS);
}

const struct rule rule_fs_sector = {
	.name = "fs-sector", .grade = RULE_UNIT, .content = judge_fs_sector,
	.remedies = { REMEDY_MKFS_XFS, REMEDY_ATTACH_LOGICAL },
	.cost = "writes of its log and headers end inside physical blocks: RMWs",
	.man =
		"The sectors of XFS, in which it writes its log, are smaller than the physical "
		"block.",
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
	finding = subject_add(subject, "%s %s of %" PRId64
			      " bytes, %s the physical block (%" PRId64 ")",
			      content->type, unit_of(own), unit,
			      unit < block ? "below" : "no multiple of", block);
	finding_cost(finding, "each write of single %s is an RMW", unit_of(own));
	mend_fs(finding, subject, block > (int64_t)PAGE_BYTES ? REMEDY_NONE :
		stack_has_type(own, "xfs") ? REMEDY_MKFS_XFS :
		content_is_ext(content->type) ? REMEDY_MKFS_EXT :
		REMEDY_NONE);
	soften_finding(finding, subject);
}

const struct rule rule_fs_block = {
	.name = "fs-block", .note = RULE_EITHER, .grade = RULE_UNIT,
	.content = judge_fs_block,
	.remedies = { REMEDY_MKFS_XFS, REMEDY_MKFS_EXT, REMEDY_ATTACH_LOGICAL },
	.man =
		"The blocks, clusters or fragments of a file system, or the ashift of a ZFS vdev, "
		"are smaller than the physical block or no multiple of it. A note for an EFI system "
		"partition.",
};

/* Return the content of the device that has opened this LUKS, or NULL. */
static const struct stack_content *find_opened(const struct subject *subject)
{
	const struct stack_layer *above = NULL;

	while ((above = stack_above(subject->stack, subject->index, above)))
		if (above->kind == STACK_CRYPT)
			return &above->content;
	return NULL;
}

/* Say how LUKS gets larger sectors, if what is inside can be read then. */
static void mend_luks(struct finding *finding, const struct subject *subject)
{
	const struct stack_content *own = &subject->layer->content;
	const struct stack_content *inside = find_opened(subject);
	struct remedy_words words = subject_words(subject);

	if (own->version == 1)
		finding_mend(finding, REMEDY_LUKS_REMAKE, &words);
	else if (!inside || inside->unread)
		finding_say(finding,
			    "larger sectors make smaller blocks inside unreadable: open the LUKS device as root, and check its content");
	else if (own->version == 2 && inside->type &&
		 content_writes_blocks(inside, LUKS_SECTOR_MAX))
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
	mend_luks(subject_add(subject, "LUKS sectors of %" PRId64
			      " bytes, below the physical block (%" PRId64 ")",
			      sector, block),
		  subject);
}

const struct rule rule_luks_sector = {
	.name = "luks-sector", .note = RULE_NOTE, .grade = RULE_UNIT,
	.content = judge_luks_sector,
	.remedies = { REMEDY_LUKS_SECTORS, REMEDY_LUKS_REMAKE },
	.cost = "no RMW by itself, but LUKS passes writes of that size to the disk",
	.workaround =
		"the content could have smaller blocks, which larger sectors make unreadable: back up, make the LUKS device anew, restore",
	.man =
		"The sectors of a LUKS device are smaller than the physical block, so it passes "
		"such writes on. For an open LUKS 2 device a command enlarges them, unless the file "
		"system inside has smaller blocks, which could not be read afterwards.",
};
