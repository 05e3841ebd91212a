/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is on the media: sparse memory, or a file.
 *
 * Every physical block changes atomically with respect to concurrent calls: a
 * reader sees a block before a write or after it, never half of it.  Nothing
 * is promised across blocks, as no drive promises that either.
 */
#ifndef DRIVE512E_STORE_H
#define DRIVE512E_STORE_H

#include <stdint.h>

#include "touch.h"

struct store;

/*
 * A store of @size bytes that starts as zeroes, or over the file @path (NULL:
 * memory), which is created or extended as needed and keeps its content.
 * NULL with errno set on failure.
 */
struct store *store_new(uint64_t size, const struct block_map *map,
			const char *path);
void store_free(struct store *store);

/* Each returns 0, or -1 with errno set. The range must lie in the store. */
int store_read(struct store *store, void *buf, uint64_t offset, uint64_t count);
int store_write(struct store *store, const void *buf, uint64_t offset,
		uint64_t count);
int store_zero(struct store *store, uint64_t offset, uint64_t count);

#endif
