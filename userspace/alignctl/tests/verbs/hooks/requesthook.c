// SPDX-License-Identifier: GPL-2.0
/*
 * requesthook: a library for LD_PRELOAD that lets requests by system calls end as they
 * may on a drive. The variable REQUESTHOOK says how:
 *   late-trim    a trim ends at once, and is done behind the next read of its range,
 *                or before the next write there
 *   fail-writes  writes fail, from the hundredth on
 *   no-thread    no thread can be started
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST	4096

/* Trims that are not done yet. */
static struct { off_t start, end; } late[MOST];
static size_t nr_late;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_asked_for(const char *what)
{
	const char *how = getenv("REQUESTHOOK");

	return how && !strcmp(how, what);
}

static int trim(int fd, off_t start, off_t bytes)
{
	int (*real)(int fd, int mode, off_t start, off_t bytes) =
		dlsym(RTLD_NEXT, "fallocate");

	return real(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, bytes);
}

/* Do the trims that overlap a range. */
static void do_late(int fd, off_t start, off_t end)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < nr_late) {
		if (late[i].start >= end || late[i].end <= start) {
			i++;
			continue;
		}
		if (trim(fd, late[i].start, late[i].end - late[i].start))
			abort();
		late[i] = late[--nr_late];
	}
	pthread_mutex_unlock(&lock);
}

int fallocate(int fd, int mode, off_t start, off_t bytes)
{
	int (*real)(int fd, int mode, off_t start, off_t bytes) =
		dlsym(RTLD_NEXT, "fallocate");

	if (!is_asked_for("late-trim") || !(mode & FALLOC_FL_PUNCH_HOLE))
		return real(fd, mode, start, bytes);
	pthread_mutex_lock(&lock);
	if (nr_late == MOST)
		abort();
	late[nr_late].start = start;
	late[nr_late++].end = start + bytes;
	pthread_mutex_unlock(&lock);
	return 0;
}

ssize_t preadv2(int fd, const struct iovec *part, int nr, off_t offset, int flags)
{
	ssize_t (*real)(int fd, const struct iovec *part, int nr, off_t offset,
			int flags) = dlsym(RTLD_NEXT, "preadv2");
	ssize_t got = real(fd, part, nr, offset, flags);

	do_late(fd, offset, offset + (off_t)part->iov_len);
	return got;
}

ssize_t pwritev2(int fd, const struct iovec *part, int nr, off_t offset, int flags)
{
	ssize_t (*real)(int fd, const struct iovec *part, int nr, off_t offset,
			int flags) = dlsym(RTLD_NEXT, "pwritev2");

	static atomic_uint nr_writes;

	if (is_asked_for("fail-writes") && ++nr_writes >= 100) {
		errno = EIO;
		return -1;
	}
	do_late(fd, offset, offset + (off_t)part->iov_len);
	return real(fd, part, nr, offset, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *context), void *context)
{
	int (*real)(pthread_t *thread, const pthread_attr_t *attributes,
		    void *(*run)(void *context), void *context) =
		dlsym(RTLD_NEXT, "pthread_create");

	return is_asked_for("no-thread") ? EAGAIN :
	       real(thread, attributes, run, context);
}
