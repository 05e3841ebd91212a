/* SPDX-License-Identifier: GPL-2.0 */
/* Where the devices of a stack lie on the physical blocks of their disks. */
#ifndef ALIGNCTL_POSITION_H
#define ALIGNCTL_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/stack.h"
#include "base/maybe.h"
#include "unit/decode.h"

/* Largest block that the audit judges, bytes; align devices have smaller ones. */
#define AUDIT_BLOCK_MAX	DECODE_BLOCK_MAX

/**
 * struct position - where a device lies on the disk
 * @block: physical block of the disk at the bottom, bytes; the largest of
 *	several
 * @shift: bytes from a boundary of such a block to the device's first byte
 * @data_shift: shift of the data behind a header
 * @found: the place of a disk below is known otherwise than from the kernel
 */
struct position {
	struct maybe block;
	struct maybe shift;
	struct maybe data_shift;
	bool found;
};

/*
 * Find the position of device @index, whose element of @position is all
 * unknown, from those of the devices below, which are found already.
 */
void position_find(const struct stack *stack, struct position *position,
		   size_t index);

/* Check for a block that the audit judges, of at most AUDIT_BLOCK_MAX. */
bool position_is_block(struct maybe figure);

/* Return the place @bytes behind @shift, relative to a block. */
struct maybe position_add(struct maybe shift, struct maybe bytes,
			  int64_t block);

/* Return the place of a device's first byte by its alignment offset. */
struct maybe position_by_offset(const struct stack_layer *layer, int64_t block);

/*
 * Check for an align device that is mapped from the first byte of the one below on, as
 * it is as long.
 */
bool position_maps_whole(const struct stack *stack,
			 const struct stack_layer *layer);

/* Return the alignment offset of a device @shift bytes behind a boundary. */
int64_t position_offset(int64_t shift, int64_t block);

#endif
