// SPDX-License-Identifier: GPL-2.0
#include "../store.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

#define SIZE (1u << 20)
#define LENGTH_MAX (300u * SECTOR_SIZE)

/* Compare random reads, writes and zeroes with a plain array. */
static void play(struct store *store, unsigned char *model)
{
	static unsigned char buf[LENGTH_MAX];

	for (unsigned int i = 0; i < 3000; i++) {
		uint64_t count = (1 + tap_random(300)) * SECTOR_SIZE;
		uint64_t offset =
			tap_random((unsigned int)(SIZE - count) / SECTOR_SIZE + 1) *
			(uint64_t)SECTOR_SIZE;

		switch (tap_random(3)) {
		case 0:
			CHECK(store_read(store, buf, offset, count) == 0,
			      "errno %d", errno);
			CHECK(memcmp(buf, model + offset, count) == 0,
			      "%ju bytes at %ju differ", (uintmax_t)count,
			      (uintmax_t)offset);
			break;
		case 1:
			memset(buf, (int)(1 + tap_random(255)), count);
			CHECK(store_write(store, buf, offset, count) == 0,
			      "errno %d", errno);
			memcpy(model + offset, buf, count);
			break;
		case 2:
			CHECK(store_zero(store, offset, count) == 0, "errno %d",
			      errno);
			memset(model + offset, 0, count);
			break;
		}
	}
}

static void test_memory(void)
{
	static const struct block_map maps[] = {
		{ 4096, 0 }, { 4096, 3584 }, { 65536, 512 },
		{ 262144, 200704 }, { 1048576, 0 }, { 1048576, 1048064 },
	};

	for (unsigned int i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct store *store = store_new(SIZE, &maps[i], NULL);
		unsigned char *model = calloc(1, SIZE);

		play(store, model);
		free(model);
		store_free(store);
	}
}

static void test_file(void)
{
	char path[] = "/tmp/drive512e-test-XXXXXX";
	struct block_map map = { 4096, 3584 };
	unsigned char *model = calloc(1, SIZE), *again = malloc(SIZE);
	struct store *store;
	struct stat st;
	int fd = mkstemp(path);

	CHECK(fd >= 0, "errno %d", errno);
	close(fd);
	store = store_new(SIZE, &map, path);
	CHECK(stat(path, &st) == 0 && st.st_size == SIZE, "not extended");
	play(store, model);
	store_free(store);

	store = store_new(SIZE, &map, path);
	CHECK(store_read(store, again, 0, SIZE) == 0, "errno %d", errno);
	CHECK(memcmp(again, model, SIZE) == 0, "content was not kept");
	store_free(store);
	unlink(path);
	free(model);
	free(again);
}

static void test_bad_file(void)
{
	struct block_map map = { 4096, 0 };

	CHECK(!store_new(SIZE, &map, "/nonexistent/drive") && errno == ENOENT,
	      "errno %d", errno);
}

/* Writers fill one block, which lies across a multiple of its size. */
#define ROUNDS 20000

static struct store *shared;
static struct block_map shared_map = { 65536, 512 };
static atomic_uint writers_left;

static void *write_block(void *opaque)
{
	unsigned char *buf = malloc(shared_map.physical);

	memset(buf, (int)(uintptr_t)opaque, shared_map.physical);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (store_write(shared, buf, shared_map.alignment,
				shared_map.physical))
			abort();
	}
	free(buf);
	writers_left--;
	return NULL;
}

static void test_atomic_blocks(void)
{
	unsigned char *buf = malloc(shared_map.physical);
	pthread_t writers[2];

	shared = store_new(SIZE, &shared_map, NULL);
	writers_left = 2;
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&writers[i], NULL, write_block, (void *)(i + 1));
	while (writers_left) {
		store_read(shared, buf, shared_map.alignment,
			   shared_map.physical);
		CHECK(memcmp(buf, buf + 1, shared_map.physical - 1) == 0,
		      "a block has content of two writes");
	}
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
	store_free(shared);
	free(buf);
}

const struct tap_test store_tests[] = {
	{ "memory holds written data, at any alignment", test_memory },
	{ "a file holds written data and keeps it", test_file },
	{ "a file that cannot be opened is an error", test_bad_file },
	{ "a reader sees a block as one write left it", test_atomic_blocks },
	{ 0 },
};
