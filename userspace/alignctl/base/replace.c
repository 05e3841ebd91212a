// SPDX-License-Identifier: GPL-2.0
/*
 * Write a temporary file, check what would be lost, and rename the new file over
 * the old one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/replace.h"

/* Check whether a file is empty or begins with the first line of @text. */
static bool has_first_line(int fd, const char *text)
{
	size_t length = strcspn(text, "\n") + 1;
	CLEANUP_FREE char *found = memory_or_exit(malloc(length));
	ssize_t got = read(fd, found, length);

	return !got ||
	       (got == (ssize_t)length && !memcmp(found, text, length));
}

/* Check that nothing is lost with the old file. Return: enum alignctl_exit. */
static int check_old(const char *option, const char *path, const char *text)
{
	/* a pipe or a device must not be waited for, a link not be followed */
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW |
				    O_CLOEXEC);
	struct stat old;

	if (fd < 0 && errno == ENOENT)
		return ALIGNCTL_FINE;
	if (fd < 0 && errno != ELOOP) {
		message_error("--%s %s: %s", option, path, strerror(errno));
		return ALIGNCTL_IO;
	}
	if (fd < 0 || fstat(fd, &old) || !S_ISREG(old.st_mode)) {
		message_error("--%s %s: exists and is no regular file; name a new one",
			      option, path);
		return ALIGNCTL_USAGE;
	}
	if (has_first_line(fd, text))
		return ALIGNCTL_FINE;
	message_error("--%s %s: exists with other content; name a new one, or remove it",
		      option, path);
	return ALIGNCTL_USAGE;
}

static bool write_all(int fd, const char *text, size_t length)
{
	ssize_t put;

	while (length) {
		put = write(fd, text, length);
		if (put < 0 && errno != EINTR)
			return false;
		if (put > 0) {
			text += put;
			length -= (size_t)put;
		}
	}
	return true;
}

int replace_file(const char *option, const char *path, const char *text,
		 size_t length)
{
	CLEANUP_FREE char *draft = message_format("%s.XXXXXX", path);
	int result = check_old(option, path, text);
	int fd, error;

	if (result)
		return result;
	fd = mkostemp(draft, O_CLOEXEC);
	if (fd >= 0 && !fchmod(fd, 0644) && write_all(fd, text, length) &&
	    !close(fd) && !rename(draft, path))
		return ALIGNCTL_FINE;
	error = errno;
	if (fd >= 0) {
		close(fd);
		unlink(draft);
	}
	message_error("--%s %s: %s", option, path, strerror(error));
	return ALIGNCTL_IO;
}
