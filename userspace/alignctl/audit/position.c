// SPDX-License-Identifier: GPL-2.0
/* Positions follow from figures and starts alone; what they mean is judge.c's. */
#include "audit/position.h"
#include "geometry.h"

bool position_is_block(struct maybe figure)
{
	return decode_is_block(figure);
}

/*
 * Return the physical block: what is known better than by the drive, else the
 * largest that any source gives.
 */
static struct maybe own_block(const struct stack_layer *layer)
{
	struct maybe block = MAYBE_UNKNOWN;
	size_t i;

	if (position_is_block(unit_known_better(&layer->unit)))
		return unit_known_better(&layer->unit);
	if (position_is_block(stack_probed(layer, STACK_PHYSICAL)))
		return stack_probed(layer, STACK_PHYSICAL);
	for (i = 0; i < STACK_NR_SOURCES; i++) {
		struct maybe claim = layer->view[i].figure[STACK_PHYSICAL];

		if (position_is_block(claim) &&
		    maybe_above(claim, maybe_or(block, 0)))
			block = claim;
	}
	return block;
}

struct maybe position_add(struct maybe shift, struct maybe bytes,
			  int64_t block)
{
	int64_t at, length;

	if (!maybe_get(shift, &at) || !maybe_get(bytes, &length))
		return MAYBE_UNKNOWN;
	return maybe_of((int64_t)(((uint64_t)at + (uint64_t)length) &
				  (uint64_t)(block - 1)));
}

/* Check for a device whose alignment offset is for blocks as large as these. */
static bool counts_blocks(const struct stack_layer *layer, int64_t block)
{
	return maybe_or(stack_sysfs(layer, STACK_PHYSICAL), 0) >= block ||
	       maybe_or(stack_sysfs(layer, STACK_IO_MIN), 0) >= block;
}

/*
 * Return the alignment offset of a disk that was measured, or that the drive itself
 * says where a bridge hides its blocks and so their place; unknown if neither is.
 */
static struct maybe offset_found(const struct stack_layer *layer, int64_t block)
{
	const struct stack_view *drive = &layer->view[STACK_IDENTIFY];

	if (maybe_is(stack_probed(layer, STACK_PHYSICAL), block) &&
	    maybe_known(stack_probed(layer, STACK_OFFSET)))
		return stack_probed(layer, STACK_OFFSET);
	if (maybe_or(stack_sysfs(layer, STACK_PHYSICAL), 0) < block &&
	    maybe_is(drive->figure[STACK_PHYSICAL], block))
		return drive->figure[STACK_OFFSET];
	return MAYBE_UNKNOWN;
}

struct maybe position_by_offset(const struct stack_layer *layer, int64_t block)
{
	struct maybe found = offset_found(layer, block);
	int64_t offset;

	if (!maybe_known(found))
		found = stack_sysfs(layer, STACK_OFFSET);
	/* nothing known, or the kernel's -1 */
	if (!maybe_get(found, &offset) || offset < 0)
		return MAYBE_UNKNOWN;
	/* a mapped device's is relative to these, which may be too small */
	if (layer->nr_below && !counts_blocks(layer, block))
		return MAYBE_UNKNOWN;
	return maybe_of((int64_t)(-(uint64_t)offset & (uint64_t)(block - 1)));
}

int64_t position_offset(int64_t shift, int64_t block)
{
	return (int64_t)(-(uint64_t)shift & (uint64_t)(block - 1));
}

/*
 * Check whether a device is what the header on the one below describes, or all of
 * the one below.
 */
static bool is_data_of(const struct stack_layer *layer,
		       const struct stack_layer *below)
{
	switch (layer->kind) {
	case STACK_MULTIPATH:
		return true;
	case STACK_MD:
		return stack_has_type(below, "linux_raid_member");
	case STACK_LVM:
		return stack_has_type(below, "LVM2_member");
	case STACK_CRYPT:
		return stack_has_type(below, "crypto_LUKS");
	default:
		return false;
	}
}

bool position_maps_whole(const struct stack *stack,
			 const struct stack_layer *layer)
{
	return layer->kind == STACK_ALIGN && layer->nr_below == 1 &&
	       maybe_same(layer->bytes, stack->layer[layer->below[0]].bytes);
}

/*
 * Check for an align device that is placed by the one that it maps whole. Its own
 * offset is the one that it was given: of no use where the disk was found to lie
 * elsewhere, but all that is known better than by the kernel where it was not.
 */
static bool lies_as_below(const struct stack *stack,
			  const struct stack_layer *layer,
			  const struct position *position, int64_t block)
{
	return position_maps_whole(stack, layer) &&
	       (position[layer->below[0]].found ||
		!maybe_known(position_by_offset(layer, block)));
}

/*
 * Return the place of a device by those below: of a partition or loop device by
 * its start, of the data behind a header by where they begin on all of those, of
 * a multipath device by its paths, of an align device by the whole that it maps.
 */
static struct maybe by_below(const struct stack *stack,
			     const struct stack_layer *layer,
			     const struct position *position, int64_t block)
{
	struct maybe shift = MAYBE_UNKNOWN;
	size_t i;

	if (layer->kind == STACK_PARTITION || layer->kind == STACK_LOOP)
		return position_add(position[layer->below[0]].shift, layer->start,
			       block);
	if (lies_as_below(stack, layer, position, block))
		return position[layer->below[0]].shift;
	for (i = 0; i < layer->nr_below; i++) {
		const struct position *at = &position[layer->below[i]];
		struct maybe data = layer->kind == STACK_MULTIPATH ?
				    at->shift : at->data_shift;

		if (!is_data_of(layer, &stack->layer[layer->below[i]]) ||
		    !maybe_known(data) || (i && !maybe_same(data, shift)))
			return MAYBE_UNKNOWN;
		shift = data;
	}
	return shift;
}

/*
 * Return what is to be added to the place that the kernel gives a mapped device: the
 * kernel reckons from the devices below, which may have been found elsewhere, as where
 * probe has measured another offset. Return: unknown unless it is one for all of them.
 */
static struct maybe correct_kernel(const struct stack *stack,
				   const struct stack_layer *layer,
				   const struct position *position,
				   int64_t block)
{
	struct maybe correction = maybe_of(0);
	bool any = false;
	size_t i;

	/* an align device may have been given its own offset */
	for (i = 0; i < layer->nr_below && layer->kind != STACK_ALIGN; i++) {
		const struct stack_layer *below = &stack->layer[layer->below[i]];
		struct maybe says = maybe_known(below->kernel_offset) ?
			below->kernel_offset : stack_sysfs(below, STACK_OFFSET);
		struct maybe here;

		/* of smaller blocks, any place is one that these can have */
		if (!maybe_known(says) || maybe_below(says, 0) ||
		    maybe_below(position[layer->below[i]].block, block))
			continue;
		here = position_add(position[layer->below[i]].shift, says,
				    block);
		if (!maybe_known(here) || !counts_blocks(below, block) ||
		    (any && !maybe_same(here, correction)))
			return MAYBE_UNKNOWN;
		correction = here;
		any = true;
	}
	return correction;
}

void position_find(const struct stack *stack, struct position *position,
		   size_t index)
{
	const struct stack_layer *layer = &stack->layer[index];
	struct position *own = &position[index];
	int64_t block = 0;
	size_t i;

	for (i = 0; i < layer->nr_below; i++) {
		own->found |= position[layer->below[i]].found;
		if (maybe_above(position[layer->below[i]].block, block)) {
			own->block = position[layer->below[i]].block;
			block = maybe_or(own->block, 0);
		}
	}
	if (!maybe_known(own->block))
		own->block = own_block(layer);
	if (!maybe_get(own->block, &block))
		return;
	/* the user's own takes the place of the kernel's */
	own->found |= maybe_known(layer->kernel_offset) ||
		      maybe_known(offset_found(layer, block));
	if (layer->nr_below)
		own->shift = by_below(stack, layer, position, block);
	if (!maybe_known(own->shift))
		own->shift = position_add(position_by_offset(layer, block),
					  correct_kernel(stack, layer, position,
							 block), block);
	own->data_shift = position_add(own->shift, layer->content.start, block);
}
