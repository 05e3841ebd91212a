/* SPDX-License-Identifier: GPL-2.0 */
/* Files in memory, for targets that read and write files. */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* Path of the file to write, removed at the end; set by fuzz_given(). */
static char fuzz_written[64];

static void fuzz_remove_written(void)
{
	unlink(fuzz_written);
}

/* Write the input to a file; return its path. */
static const char *fuzz_given(const void *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("given", 0);
		FUZZ_CHECK(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		snprintf(fuzz_written, sizeof(fuzz_written),
			 "/dev/shm/fuzz-%d", getpid());
		atexit(fuzz_remove_written);
	}
	FUZZ_CHECK(!ftruncate(fd, 0));
	FUZZ_CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

#endif
