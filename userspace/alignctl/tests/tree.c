// SPDX-License-Identifier: GPL-2.0
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "tests/tree.h"

/* In memory, which is faster than a disk for files rewritten this often. */
static char root[] = "/dev/shm/alignctl-tree-XXXXXX";

void tree_open(void)
{
	strcpy(strrchr(root, '-'), "-XXXXXX");
	if (!mkdtemp(root)) {
		perror(root);
		exit(1);
	}
	setenv("ALIGNCTL_SYSROOT", root, 1);
	tree_file("/proc/self/mountinfo", "");
	tree_file("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
}

static int remove_one(const char *path, const struct stat *found, int type,
		      struct FTW *ftw)
{
	(void)found;
	(void)type;
	(void)ftw;
	return remove(path);
}

void tree_close(void)
{
	unsetenv("ALIGNCTL_SYSROOT");
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Return a file's real path, for free(), and create the folders above it. */
static char *place(const char *path)
{
	char *full = message_format("%s%s", root, path);
	char *slash;

	for (slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	return full;
}

void tree_file(const char *path, const char *text)
{
	CLEANUP_FREE char *full = place(path);
	CLEANUP_FCLOSE FILE *stream = fopen(full, "w");

	if (!stream || fputs(text, stream) < 0) {
		perror(full);
		exit(1);
	}
}

void tree_link(const char *path, const char *target)
{
	CLEANUP_FREE char *full = place(path);
	CLEANUP_FREE char *to = message_format("%s%s", root, target);

	if (symlink(to, full)) {
		perror(full);
		exit(1);
	}
}

void tree_device(const char *folder, const char *name, const char *devno,
		 int partition)
{
	CLEANUP_FREE char *dir = message_format("/sys/devices/%s/%s", folder,
						name);
	CLEANUP_FREE char *number = message_format("%s/dev", dir);
	CLEANUP_FREE char *part = message_format("%s/partition", dir);
	CLEANUP_FREE char *by_number = message_format("/sys/dev/block/%s",
						      devno);
	CLEANUP_FREE char *by_name = message_format("/sys/class/block/%s",
						    name);
	CLEANUP_FREE char *part_text = message_format("%d\n", partition);
	CLEANUP_FREE char *devno_text = message_format("%s\n", devno);

	tree_file(number, devno_text);
	if (partition)
		tree_file(part, part_text);
	tree_link(by_number, dir);
	tree_link(by_name, dir);
}
