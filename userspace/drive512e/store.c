// SPDX-License-Identifier: GPL-2.0
/* Cut each access at chunks, and lock one chunk at a time. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The store is divided into chunks at boundaries of physical blocks, so that no
 * block lies in two chunks: of a large block, or of several small ones. A chunk is
 * the unit of locking and of allocation.  The chunks share a fixed set of locks.
 */
#define CHUNK_LEAST 65536u
#define LOCKS 1024u

struct store {
	uint64_t size;
	uint64_t chunk_size;
	uint64_t shift;			/* added to an offset: see chunk_of() */
	int fd;				/* -1: memory */
	unsigned char **chunks;		/* NULL: zeroes; under chunk lock */
	uint64_t nr_chunks;
	pthread_mutex_t locks[LOCKS];
};

/* The part of a request in one chunk. */
struct piece {
	uint64_t chunk;
	uint64_t inside;		/* first byte, from the chunk's start */
	uint64_t offset;		/* first byte, from the store's start */
	uint64_t count;
};

static struct piece piece_at(const struct store *store, uint64_t offset,
			     uint64_t end)
{
	uint64_t shifted = offset + store->shift;
	struct piece p = {
		.chunk = shifted / store->chunk_size,
		.inside = shifted % store->chunk_size,
		.offset = offset,
		.count = end - offset,
	};

	if (p.count > store->chunk_size - p.inside)
		p.count = store->chunk_size - p.inside;
	return p;
}

static int open_file(struct store *store, const char *path)
{
	off_t end;

	store->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (store->fd < 0)
		return -1;
	end = lseek(store->fd, 0, SEEK_END);
	if (end < 0)
		return -1;
	if ((uint64_t)end < store->size)
		return ftruncate(store->fd, (off_t)store->size);
	return 0;
}

struct store *store_new(uint64_t size, const struct block_map *map,
			const char *path)
{
	struct store *store = calloc(1, sizeof(*store));
	int saved;

	if (!store)
		return NULL;
	store->size = size;
	store->chunk_size = map->physical > CHUNK_LEAST ? map->physical :
							  CHUNK_LEAST;
	store->shift = map->alignment ? store->chunk_size - map->alignment : 0;
	store->fd = -1;
	for (unsigned int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&store->locks[i], NULL);

	if (path) {
		if (open_file(store, path) == 0)
			return store;
	} else {
		store->nr_chunks = (size + store->shift) / store->chunk_size + 1;
		store->chunks = calloc(store->nr_chunks, sizeof(*store->chunks));
		if (store->chunks)
			return store;
	}
	saved = errno;
	store_free(store);
	errno = saved;
	return NULL;
}

void store_free(struct store *store)
{
	if (!store)
		return;
	if (store->fd >= 0)
		close(store->fd);
	if (store->chunks) {
		for (uint64_t i = 0; i < store->nr_chunks; i++)
			free(store->chunks[i]);
	}
	free(store->chunks);
	for (unsigned int i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&store->locks[i]);
	free(store);
}

static int file_read(int fd, unsigned char *buf, const struct piece *p)
{
	for (uint64_t done = 0; done < p->count;) {
		ssize_t n = pread(fd, buf + done, p->count - done,
				  (off_t)(p->offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0) {		/* the file has been truncated */
			errno = EIO;
			return -1;
		}
		done += (uint64_t)n;
	}
	return 0;
}

static int file_write(int fd, const unsigned char *buf, const struct piece *p)
{
	for (uint64_t done = 0; done < p->count;) {
		ssize_t n = pwrite(fd, buf + done, p->count - done,
				   (off_t)(p->offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		done += (uint64_t)n;
	}
	return 0;
}

/* Write zeroes where no hole can be made. */
static int file_write_zeroes(int fd, const struct piece *p)
{
	static const unsigned char zeroes[CHUNK_LEAST];

	for (uint64_t done = 0; done < p->count;) {
		struct piece part = {
			.offset = p->offset + done,
			.count = p->count - done,
		};

		if (part.count > sizeof(zeroes))
			part.count = sizeof(zeroes);
		if (file_write(fd, zeroes, &part) < 0)
			return -1;
		done += part.count;
	}
	return 0;
}

static int piece_read(struct store *store, unsigned char *buf,
		      const struct piece *p)
{
	const unsigned char *chunk;

	if (store->fd >= 0)
		return file_read(store->fd, buf, p);
	chunk = store->chunks[p->chunk];
	if (chunk)
		memcpy(buf, chunk + p->inside, p->count);
	else
		memset(buf, 0, p->count);
	return 0;
}

static int piece_write(struct store *store, const unsigned char *buf,
		       const struct piece *p)
{
	unsigned char **chunk;

	if (store->fd >= 0)
		return file_write(store->fd, buf, p);
	chunk = &store->chunks[p->chunk];
	if (!*chunk) {
		*chunk = calloc(1, store->chunk_size);
		if (!*chunk)
			return -1;
	}
	memcpy(*chunk + p->inside, buf, p->count);
	return 0;
}

static int piece_zero(struct store *store, const struct piece *p)
{
	unsigned char **chunk;

	if (store->fd >= 0) {
		if (fallocate(store->fd,
			      FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)p->offset, (off_t)p->count) == 0)
			return 0;
		return file_write_zeroes(store->fd, p);
	}
	chunk = &store->chunks[p->chunk];
	if (!*chunk)
		return 0;
	if (p->count == store->chunk_size) {
		free(*chunk);
		*chunk = NULL;
	} else {
		memset(*chunk + p->inside, 0, p->count);
	}
	return 0;
}

int store_read(struct store *store, void *buf, uint64_t offset, uint64_t count)
{
	uint64_t end = offset + count;
	unsigned char *to = buf;
	int ret = 0;

	while (offset < end && ret == 0) {
		struct piece p = piece_at(store, offset, end);
		pthread_mutex_t *lock = &store->locks[p.chunk % LOCKS];

		pthread_mutex_lock(lock);
		ret = piece_read(store, to, &p);
		pthread_mutex_unlock(lock);
		to += p.count;
		offset += p.count;
	}
	return ret;
}

int store_write(struct store *store, const void *buf, uint64_t offset,
		uint64_t count)
{
	uint64_t end = offset + count;
	const unsigned char *from = buf;
	int ret = 0;

	while (offset < end && ret == 0) {
		struct piece p = piece_at(store, offset, end);
		pthread_mutex_t *lock = &store->locks[p.chunk % LOCKS];

		pthread_mutex_lock(lock);
		ret = piece_write(store, from, &p);
		pthread_mutex_unlock(lock);
		from += p.count;
		offset += p.count;
	}
	return ret;
}

int store_zero(struct store *store, uint64_t offset, uint64_t count)
{
	uint64_t end = offset + count;
	int ret = 0;

	while (offset < end && ret == 0) {
		struct piece p = piece_at(store, offset, end);
		pthread_mutex_t *lock = &store->locks[p.chunk % LOCKS];

		pthread_mutex_lock(lock);
		ret = piece_zero(store, &p);
		pthread_mutex_unlock(lock);
		offset += p.count;
	}
	return ret;
}

bool store_is_hole(struct store *store, uint64_t offset, uint64_t count)
{
	uint64_t end = offset + count;
	bool hole = store->fd < 0;

	while (offset < end && hole) {
		struct piece p = piece_at(store, offset, end);
		pthread_mutex_t *lock = &store->locks[p.chunk % LOCKS];

		pthread_mutex_lock(lock);
		hole = !store->chunks[p.chunk];
		pthread_mutex_unlock(lock);
		offset += p.count;
	}
	return hole;
}
