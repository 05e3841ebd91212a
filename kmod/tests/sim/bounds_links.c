// SPDX-License-Identifier: GPL-2.0
#include "block_state.h"
#include "bounds.h"

#define LINK(member) { \
	offsetof(struct align_block, member), \
	offsetof(struct align_block, member) + \
		sizeof(((struct align_block *)0)->member), \
}

const struct bounds_link bounds_links[] = {
	LINK(rb), LINK(number), LINK(list), LINK(rest), LINK(seq), LINK(by_age), { 0, 0 },
};
