// SPDX-License-Identifier: GPL-2.0
/* Copy an area into a file and back, and compare both before the file is given up. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "conform/saved.h"
#include "engine/io_queue.h"
#include "remedy/remedy.h"

bool saved_transfer(int fd, char *buffer, size_t bytes, uint64_t at,
		    bool write_them)
{
	while (bytes) {
		ssize_t got = write_them ?
			      pwrite(fd, buffer, bytes, (off_t)at) :
			      pread(fd, buffer, bytes, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (!got)
			errno = EIO;
		if (got <= 0)
			return false;
		buffer += got;
		at += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return true;
}

/* Copy @bytes from one place to another. */
static bool copy_range(int from, uint64_t from_at, int to, uint64_t to_at,
		       uint64_t bytes, char *buffer)
{
	while (bytes) {
		size_t part = bytes < MIB ? bytes : MIB;

		if (!saved_transfer(from, buffer, part, from_at, false) ||
		    !saved_transfer(to, buffer, part, to_at, true))
			return false;
		from_at += part;
		to_at += part;
		bytes -= part;
	}
	return !fsync(to);
}

bool saved_sync_folder(const char *file)
{
	CLEANUP_FREE char *path = memory_or_exit(strdup(file));
	CLEANUP_CLOSE int fd = open(dirname(path),
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && !fsync(fd);
}

/* Check that both places have the same content. */
static bool compare_range(int one, uint64_t one_at, int other, uint64_t bytes,
			  char *buffer, char *beside)
{
	uint64_t at = 0;

	while (at < bytes) {
		size_t part = bytes - at < MIB ? bytes - at : MIB;

		if (!saved_transfer(one, buffer, part, one_at + at, false) ||
		    !saved_transfer(other, beside, part, at, false))
			return false;
		if (memcmp(buffer, beside, part)) {
			errno = EIO;
			return false;
		}
		at += part;
	}
	return true;
}

int saved_make(int fd, const char *device, uint64_t start, uint64_t bytes,
	       const char *file, int *saved)
{
	CLEANUP_FREE char *buffer = io_memory(MIB);

	*saved = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*saved < 0) {
		message_error(errno == EEXIST ?
			      "--save %s: %s, perhaps from an earlier run that could not restore; restore and remove it, or name another file" :
			      "--save %s: %s", file, strerror(errno));
		return ALIGNCTL_USAGE;
	}
	if (copy_range(fd, start, *saved, 0, bytes, buffer) &&
	    saved_sync_folder(file))
		return ALIGNCTL_FINE;
	message_error("%s: its area cannot be saved in %s: %s", device, file,
		      strerror(errno));
	unlink(file);
	close(*saved);
	*saved = -1;
	return ALIGNCTL_IO;
}

/* Check that an open file may be a saved area of so many bytes; false: reported. */
static bool check_saved(const char *file, uint64_t bytes, int saved)
{
	struct stat found;

	if (saved < 0 || fstat(saved, &found)) {
		message_error("--save %s: %s", file, strerror(errno));
		return false;
	}
	if (!S_ISREG(found.st_mode)) {
		message_error("--save %s: is no regular file; name the one of --prepare",
			      file);
		return false;
	}
	if ((uint64_t)found.st_size == bytes)
		return true;
	message_error("--save %s: has %jd bytes, and the saved area has %" PRIu64
		      "; name the file of --prepare", file,
		      (intmax_t)found.st_size, bytes);
	return false;
}

int saved_open(const char *file, uint64_t bytes, int *saved)
{
	/* a pipe must not be waited for */
	*saved = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (check_saved(file, bytes, *saved))
		return ALIGNCTL_FINE;
	if (*saved >= 0)
		close(*saved);
	*saved = -1;
	return ALIGNCTL_USAGE;
}

bool saved_in_memory(const char *path)
{
	struct statfs system;

	return !statfs(path, &system) && (system.f_type == TMPFS_MAGIC ||
					  system.f_type == RAMFS_MAGIC);
}

char *saved_way_back(const char *device, uint64_t start, const char *file)
{
	return remedy_of_words(REMEDY_RESTORE_AREA, &(struct remedy_words) {
		.device = device, .file = file, .offset = (int64_t)start,
	});
}

bool saved_is_there(int fd, uint64_t start, uint64_t bytes, int saved)
{
	CLEANUP_FREE char *buffer = io_memory(MIB), *beside = io_memory(MIB);

	return compare_range(fd, start, saved, bytes, buffer, beside);
}

/* Remove the file, unless its name leads to another one by now. */
static void remove_saved(const char *file, int saved)
{
	struct stat own, named;

	if (!fstat(saved, &own) && !stat(file, &named) &&
	    own.st_dev == named.st_dev && own.st_ino == named.st_ino)
		unlink(file);
}

int saved_restore(int fd, const char *device, uint64_t start, uint64_t bytes,
		  const char *file, int saved)
{
	CLEANUP_FREE char *buffer = io_memory(MIB), *beside = io_memory(MIB);

	if (copy_range(saved, 0, fd, start, bytes, buffer) &&
	    compare_range(fd, start, saved, bytes, buffer, beside)) {
		remove_saved(file, saved);
		return ALIGNCTL_FINE;
	}
	int error = errno;
	CLEANUP_FREE char *command = saved_way_back(device, start, file);

	message_error("%s: its area is NOT restored: %s; %s has the content, restore it with: %s",
		      device, strerror(error), file, command);
	return ALIGNCTL_IO;
}
