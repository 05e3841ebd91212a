// SPDX-License-Identifier: GPL-2.0
/*
 * flood: many threads that write a sector each, again and again, until SIGTERM.
 *
 *   flood THREADS write|discard DEVICE...
 *
 * write: each into a random block of its device, of blocks that lie apart. discard: always the same sector,
 * which is discarded after each write. The threads take the devices in turn.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SECTOR		512
/* Between blocks that are written, in sectors. */
#define APART		256
#define THREADS_MAX	1024
#define STACK		65536

enum kind { WRITE, DISCARD };

static const char * const kinds[] = {
	[WRITE] = "write", [DISCARD] = "discard" };

static enum kind kind;
static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

static void fail(const char *path, const char *what)
{
	fprintf(stderr, "flood: %s: %s: %s\n", path, what, strerror(errno));
	exit(1);
}

static void *flood(void *argument)
{
	const char *path = argument;
	uint64_t part[] = { SECTOR, SECTOR }, sectors, at;
	unsigned int seed = (uintptr_t)&part;
	void *data = aligned_alloc(4096, 4096);
	int fd = open(path, O_RDWR | O_DIRECT);

	if (!data || fd < 0)
		fail(path, "open");
	memset(data, 0x5a, 4096);
	sectors = lseek(fd, 0, SEEK_END) / SECTOR;
	while (!over) {
		at = kind == WRITE ? rand_r(&seed) % sectors / APART * APART : 0;
		if (pwrite(fd, data, SECTOR, (at + 1) * SECTOR) != SECTOR)
			fail(path, "write");
		if (kind == DISCARD && ioctl(fd, BLKDISCARD, part))
			fail(path, "discard");
	}
	close(fd);
	free(data);
	return NULL;
}

int main(int argc, char **argv)
{
	static pthread_t thread[THREADS_MAX];
	unsigned int nr, i, nr_kinds = sizeof(kinds) / sizeof(*kinds);
	pthread_attr_t attr;

	nr = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	while (argc > 3 && kind < nr_kinds && strcmp(argv[2], kinds[kind]))
		kind++;
	if (!nr || nr > THREADS_MAX || kind == nr_kinds) {
		fprintf(stderr, "usage: flood THREADS write|discard DEVICE...\n");
		return 2;
	}
	signal(SIGTERM, end);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < nr; i++) {
		errno = pthread_create(&thread[i], &attr, flood,
				       argv[3 + i % (argc - 3)]);
		if (errno)
			fail("thread", "create");
	}
	for (i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
