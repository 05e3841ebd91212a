/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which sectors of each physical block are written, in bounded memory: what does
 * not fit is left for another pass over the same writes.
 */
#ifndef ALIGNCTL_COVERAGE_H
#define ALIGNCTL_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry.h"

/* 32 MiB of bits: 128 GiB in one pass if all of it is written. */
#define COVERAGE_MAX_LEAVES	65536U

struct coverage;

/* At most @max_leaves of 2 MiB of the device are looked at in one pass. */
struct coverage *coverage_new(const struct align_geometry *g,
			      uint32_t max_leaves);
void coverage_free(struct coverage *coverage);

/* A write, or write-zeroes, of the sectors from @first to before @end. */
void coverage_add(struct coverage *coverage, uint64_t first, uint64_t end);

/*
 * All writes were added. Adds what this pass has seen: blocks written at least
 * once, and those of them whose rest no write covers, edge blocks left out.
 * Return: whether all writes have to be added once more, for what lies behind.
 */
bool coverage_end_pass(struct coverage *coverage, uint64_t *distinct,
		       uint64_t *rmin);

#endif
