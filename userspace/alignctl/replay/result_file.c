// SPDX-License-Identifier: GPL-2.0
/* Decide whether a file may be replaced, and write to a draft beside it. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "replay/result_file.h"

#define HEAD_BYTES	64

/* Return the folder of a path, for free(). */
static char *folder_of(const char *path)
{
	CLEANUP_FREE char *copy = memory_or_exit(strdup(path));

	return memory_or_exit(strdup(dirname(copy)));
}

/* Return 1 if the file is empty or begins with @mark, 0 if not, -1 if it is unreadable. */
static int may_replace(const char *path, const char *mark)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got, i;
	char head[HEAD_BYTES];

	got = fd < 0 ? -1 : read(fd, head, sizeof(head));
	for (i = 0; i < got && *mark; i++) {
		if (isspace((unsigned char)head[i]))
			continue;
		if (head[i] != *mark++)
			return 0;
	}
	return got < 0 ? -1 : !got || !*mark;
}

int result_file_check(const char *option, const char *path, const char *mark)
{
	CLEANUP_FREE char *folder = folder_of(path);
	struct stat found;
	int may;

	if (stat(path, &found)) {
		if (errno == ENOENT && *path &&
		    !access(folder, W_OK | X_OK))
			return ALIGNCTL_FINE;
		message_error("--%s %s: %s", option, path, strerror(errno));
		return ALIGNCTL_USAGE;
	}
	if (!S_ISREG(found.st_mode)) {
		message_error("--%s %s: exists and is no regular file; name a new one",
			      option, path);
		return ALIGNCTL_USAGE;
	}
	may = access(path, W_OK) ? -1 : may_replace(path, mark);
	if (may < 0)
		message_error("--%s %s: %s", option, path, strerror(errno));
	else if (!may)
		message_error("--%s %s: exists with other content; name a new one, or remove it",
			      option, path);
	return may > 0 ? ALIGNCTL_FINE : ALIGNCTL_USAGE;
}

char *result_file_draft(const char *path)
{
	return message_format("%s.new", path);
}

int result_file_sync_name(const char *path)
{
	CLEANUP_FREE char *folder = folder_of(path);
	CLEANUP_CLOSE int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || (fsync(fd) && errno != EINVAL) ? -1 : 0;
}

bool result_file_same(const char *a, const char *b)
{
	CLEANUP_FREE char *folder_a = folder_of(a), *folder_b = folder_of(b);
	CLEANUP_FREE char *copy_a = memory_or_exit(strdup(a));
	CLEANUP_FREE char *copy_b = memory_or_exit(strdup(b));
	struct stat of_a, of_b;

	if (!stat(a, &of_a) && !stat(b, &of_b))
		return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
	return !stat(folder_a, &of_a) && !stat(folder_b, &of_b) &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino &&
	       !strcmp(basename(copy_a), basename(copy_b));
}
