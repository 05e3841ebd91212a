// SPDX-License-Identifier: GPL-2.0
/*
 * The rules about what is said of a device: by the kernel, the drive, probe, aligntab
 * and other sources.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/content.h"
#include "audit/subject.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "geometry.h"

/* What to do where sources disagree, and probe is one of them. */
#define MEASURED	"the measurement of probe decides; nothing need be done"

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
 * are align devices with the disk's blocks, or partitions and multipath devices
 * below such devices.
 */
static bool all_aligned(const struct stack *stack,
			const struct stack_layer *disk, size_t index,
			struct maybe shift, int64_t block)
{
	const struct stack_layer *above = NULL;
	bool any = false;

	while ((above = stack_above(stack, index, above))) {
		if (stack_is_extended(above))
			continue;
		any = true;
		if (above->kind == STACK_PARTITION ||
		    above->kind == STACK_MULTIPATH ?
		    !all_aligned(stack, disk, (size_t)(above - stack->layer),
				 above->kind == STACK_MULTIPATH ? shift :
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
	struct remedy_words words = subject_words(subject);

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
			finding = subject_add(subject, "%s says %s %" PRId64
					      ", sysfs %" PRId64,
					      stack_source_name(i),
					      stack_figure_key(k), other, kernel);
			if (blind)
				finding_cost(finding,
					     "libblkid shows misaligned (-1) as 0: mkfs and parted take it for aligned");
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
	.name = "disagree", .note = RULE_EITHER, .place = judge_disagree,
	.remedies = { REMEDY_ATTACH_BLOCKS },
	.cost =
		"programs align to different blocks, depending on the source that they ask",
	.workaround =
		"the figure is the kernel's or the drive's bridge's; the layers above use the one in sysfs",
	.man =
		"Two sources report different figures for a device. A note if libblkid shows 0 for "
		"the kernel's `-1`, or if align devices on the disk have the larger block.",
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
	finding = subject_add(subject, "probe measured blocks of %" PRId64
			      " bytes from byte %" PRId64
			      ", which check judges by; the kernel says %"
			      PRId64 " from byte %" PRId64, block, offset, says,
			      says_offset);
	if (harmless)
		finding_cost(finding,
			     "no RMW: a write aligned to the larger blocks is aligned to the measured ones, too");
	if (all_aligned(subject->stack, own, subject->index, at->shift,
			block)) {
		note_attached(finding);
		return;
	}
	finding->note = harmless;
	mend_by_attach(finding, subject, block, offset);
}

const struct rule rule_probed = {
	.name = "probed", .note = RULE_EITHER, .place = judge_probed,
	.remedies = { REMEDY_ATTACH_BLOCKS },
	.cost =
		"mkfs, parted and the kernel go by the kernel's figure: their whole-block writes can be RMWs",
	.man =
		"`probe block-size` has measured physical blocks of another size or offset than the "
		"disk reports. The command attaches an align device with the measured blocks. A "
		"note if the measured blocks are smaller and begin where the disk says, which costs "
		"nothing, or if everything on the disk lies on such an align device already.",
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
	finding = subject_add(subject,
			      "sources disagree about its unit: %s; check judges by %"
			      PRId64, claims, subject->block);
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
	.name = "unit", .note = RULE_NOTE, .place = judge_unit,
	.remedies = { REMEDY_ATTACH_BLOCKS },
	.cost =
		"programs that go by a smaller unit write parts of the drive's units, which can be RMWs",
	.workaround =
		"measure the unit with method block-size of probe: a measurement decides",
	.man =
		"Sources disagree about the unit of a drive (see `alignctl-unit`(7)) in a way that "
		"`disagree` and `probed` do not report. If the kernel uses a smaller unit, the "
		"command attaches an align device with the unit that alignctl takes.",
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
	finding = subject_add(subject,
			      "sources disagree about its rotation: %s; the first is taken",
			      says);
	if (unit_rotation(unit)->source == UNIT_MEASURED)
		finding_say(finding, MEASURED);
}

const struct rule rule_rotation = {
	.name = "rotation", .note = RULE_NOTE, .place = judge_rotation,
	.cost = "no RMW: only what RMWs are said to cost, by the time of a revolution",
	.workaround = "measure it with method rotation of probe: a measurement decides",
	.man = "Sources disagree about the speed of rotation of a disk, see `alignctl-unit`(7).",
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
	if (subject->layer->nr_below && subject_below_aligned(subject)) {
		finding = subject_add(subject,
				      "the kernel calls it misaligned (-1), though each device below begins at a physical block");
		finding_cost(finding,
			     "no RMW: no device below is shifted; mkfs and parted get no alignment from the kernel");
		finding->note = true;
		finding_say(finding,
			    "nothing need be done; the kernel says -1 where limits of the devices below differ");
		return;
	}
	subject_add(subject, subject->layer->nr_below > 1 ?
		    "the kernel finds no common boundary of the devices below (-1)" :
		    "the kernel calls it misaligned (-1)");
}

const struct rule rule_misaligned = {
	.name = "misaligned", .note = RULE_EITHER, .grade = RULE_SHIFT,
	.place = judge_misaligned,
	.cost =
		"no start is aligned on all devices below: RMWs at the ends of most writes",
	.workaround = "first mend the devices below, then set this device up again",
	.man =
		"The devices below have no boundary in common (the kernel reports alignment offset "
		"-1). A note if each of them begins at a boundary.",
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
	subject_add(subject, "alignment offset %" PRId64
		    ": requests over %" PRId64
		    " bytes are cut inside a physical block",
		    position_offset(shift, subject->block), max_io);
}

const struct rule rule_split = {
	.name = "split", .grade = RULE_UNIT, .place = judge_split,
	.cost = "2 RMWs for each cut of a large write",
	.workaround =
		"the kernel's splitting ignores the offset: an align device in mode pad cuts at boundaries",
	.man =
		"The disk has an alignment offset, and the kernel ignores it where it splits "
		"requests that are too large for the disk: they are cut inside physical blocks.",
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
	struct remedy_words words = subject_words(subject);
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
	mend_block(subject_add(subject, "minimum I/O size %" PRId64
			       ", above the physical block (%" PRId64 ")", unit,
			       subject->block),
		   REMEDY_ATTACH_UNIT, unit, &words);
}

const struct rule rule_large_unit = {
	.name = "large-unit", .note = RULE_NOTE, .place = judge_large_unit,
	.remedies = { REMEDY_ATTACH_UNIT },
	.cost = "writes below it may be RMWs inside the drive",
	.man =
		"The minimum I/O size of an SSD is larger than its physical block. Up to 262144 "
		"bytes, the largest block that modes `pad` and `coalesce` take, the command "
		"attaches an align device with this size as its physical block.",
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
	struct finding *finding;
	int64_t says;

	if (own->nr_below || position_is_block(figure) ||
	    (block && (own->kind != STACK_DISK || own->rotational ||
		       maybe_known(stack_probed(own, STACK_PHYSICAL)) ||
		       maybe_known(unit_known_better(&own->unit)) ||
		       !maybe_above(figure, subject->block))))
		return;
	if (maybe_get(figure, &says))
		finding = subject_add(subject, "says %s %" PRId64
				      ", which is no power of two from %u to %u",
				      stack_figure_key(what), says,
				      ALIGN_SECTOR_SIZE, AUDIT_BLOCK_MAX);
	else
		finding = subject_add(subject, "no source gives its %s",
				      stack_figure_key(what));
	finding_cost(finding, block ?
		     "not known: only its physical block is judged" :
		     "not known: neither the device nor its content is judged");
}

/* Check for a device that has partitions only in its table, as a guest's disk. */
static bool hides_partitions(const struct subject *subject)
{
	const struct stack_layer *own = subject->layer;

	/* these show the table of a device below, and an extended partition its own */
	return own->content.parts && !own->content.type &&
	       own->kind != STACK_PARTITION && own->kind != STACK_DM &&
	       own->kind != STACK_ALIGN && own->kind != STACK_MULTIPATH &&
	       !stack_above(subject->stack, subject->index, NULL);
}

/* Say of content that its blocks or partitions are not read. */
static void judge_content(const struct subject *subject)
{
	const struct stack_content *content = &subject->layer->content;
	struct finding *finding;

	if (hides_partitions(subject)) {
		finding = subject_add(subject,
				      "has a %s table with %d partition%s that the kernel does not show",
				      content->table, content->parts,
				      content->parts > 1 ? "s" : "");
		finding_cost(finding, "not known: what is in the table is not judged");
		finding_say(finding,
			    "check again while its partitions are mapped, as by kpartx, or from the guest whose disk it is");
	}
	if (!content_is_unread(content))
		return;
	finding = subject_add(subject,
			      "carries %s, whose blocks alignctl does not read",
			      content->type);
	finding_cost(finding, "not known: writes of this content are not judged");
	finding_say(finding,
		    "the content's own tools show its blocks: if these start at multiples of %" PRId64
		    " bytes and are multiples in length, they cost no RMW", subject->block);
}

const struct rule rule_unjudged = {
	.name = "unjudged", .note = RULE_NOTE, .any_block = true, .place = judge_unjudged,
	.content = judge_content,
	.workaround = "give the block with --physical, if you know it from elsewhere",
	.man =
		"The physical block or minimum I/O size is not reported, or no power of two from "
		"512 bytes to 1 MiB; or the content is of a type whose block size `check` does not "
		"read, such as DRBD, Stratis, VDO and members of firmware RAID; or there is a "
		"partition table whose partitions the kernel does not show, as on the disk of a "
		"guest.",
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
	subject_add(subject, "says physical blocks of %" PRId64
		    ", offset %" PRId64 " now, but said %" PRId64
		    ", offset %" PRId64 " when line %u of /etc/aligntab was written",
		    now, at, before, at_before, layer->tab_line);
}

const struct rule rule_claim = {
	.name = "claim", .note = RULE_NOTE, .place = judge_claim,
	.cost =
		"not known; if the drive still has its former blocks, RMWs that its align device no longer sees",
	.workaround =
		"set physical= and offset= in that line to the drive's true blocks, and claimed= to the blocks that it says now",
	.man =
		"A device of `aligntab`(5) reports another physical block or alignment offset than "
		"when its line was written (`claimed=`), as an SSD does whose block shrank with "
		"another kernel. From the next boot on, its align device uses the new figures, "
		"unless the line has `physical=`.",
};
