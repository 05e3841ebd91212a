/* SPDX-License-Identifier: GPL-2.0 */
/* The block layer's operation and flags of a request of the plan. */
#ifndef SIM_OP_FLAGS_H
#define SIM_OP_FLAGS_H

#include <linux/blk_types.h>

#include "world.h"

static inline blk_opf_t op_kind_flags(enum world_op_kind kind)
{
	static const blk_opf_t of_kind[OP_KINDS] = {
		[OP_READ] = REQ_OP_READ,
		[OP_WRITE] = REQ_OP_WRITE,
		[OP_FUA] = REQ_OP_WRITE | REQ_FUA | REQ_SYNC,
		[OP_FLUSH] = REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC,
		[OP_FLUSH_FUA] = REQ_OP_WRITE | REQ_PREFLUSH | REQ_FUA,
		[OP_DISCARD] = REQ_OP_DISCARD,
		[OP_ZEROES] = REQ_OP_WRITE_ZEROES,
	};

	return of_kind[kind];
}

#endif
