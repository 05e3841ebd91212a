/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of the media: sparse memory, or a file.
 *
 * Every physical block changes atomically with respect to concurrent calls: a
 * reader sees a block before or after a write, never partly written. Nothing is
 * promised across blocks, as by any drive.
 */
#ifndef DRIVE512E_STORE_H
#define DRIVE512E_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "touch.h"

struct store;

/*
 * Create a store of @size bytes: zeroed memory, or the file @path (NULL:
 * memory), which is created or extended as needed and keeps its content. Return
 * NULL with errno set on failure.
 */
struct store *store_new(uint64_t size, const struct block_map *map,
			const char *path);
void store_free(struct store *store);

/* Return 0, or -1 with errno set.  The range must lie in the store. */
int store_read(struct store *store, void *buf, uint64_t offset, uint64_t count);
int store_write(struct store *store, const void *buf, uint64_t offset,
		uint64_t count);
int store_zero(struct store *store, uint64_t offset, uint64_t count);

/*
 * Check whether the range takes no memory, so that it holds zeroes. Of a file,
 * that is not known: return false.
 */
bool store_is_hole(struct store *store, uint64_t offset, uint64_t count);

#endif
