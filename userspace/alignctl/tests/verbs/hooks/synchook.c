// SPDX-License-Identifier: GPL-2.0
/*
 * synchook: a library for LD_PRELOAD that appends a line to the file SYNCHOOK for each
 * fsync(), with what is synced, each rename(), with the new name, and each write of a
 * request.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

static void note(const char *what, const char *path)
{
	FILE *log = fopen(getenv("SYNCHOOK"), "ae");

	if (!log)
		return;
	fprintf(log, "%s %s\n", what, path);
	fclose(log);
}

int fsync(int fd)
{
	int (*real)(int fd) = dlsym(RTLD_NEXT, "fsync");
	char link[64], path[PATH_MAX] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) > 0)
		note("fsync", path);
	return real(fd);
}

int rename(const char *old, const char *new)
{
	int (*real)(const char *old, const char *new) =
		dlsym(RTLD_NEXT, "rename");

	note("rename", new);
	return real(old, new);
}

ssize_t pwritev2(int fd, const struct iovec *part, int nr, off_t offset,
		 int flags)
{
	ssize_t (*real)(int fd, const struct iovec *part, int nr, off_t offset,
			int flags) = dlsym(RTLD_NEXT, "pwritev2");

	note("write", "");
	return real(fd, part, nr, offset, flags);
}
