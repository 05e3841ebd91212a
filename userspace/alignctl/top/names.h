/* SPDX-License-Identifier: GPL-2.0 */
/* The names of cgroups and files, of which the kernel counts the numbers. */
#ifndef ALIGNCTL_TOP_NAMES_H
#define ALIGNCTL_TOP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top/counting.h"

struct libmnt_table;

/**
 * struct names - where names are looked up
 * @mounts: the mounts that this process sees
 * @cgroup_fd: mount point of cgroup v2; -1: there is none
 * @no_cgroups: reason why write-back does not go by its cgroup; NULL: none
 */
struct names {
	struct libmnt_table *mounts;
	int cgroup_fd;
	const char *no_cgroups;
};

void names_open(struct names *names);
void names_close(struct names *names);

/*
 * Check by the text of the root's cgroup.subtree_control whether write-back is
 * counted by cgroup: that takes the controllers io and memory.
 */
bool names_has_controllers(const char *text);

/* Return a cgroup's path below the mount point, for free(); NULL if it is gone. */
char *names_cgroup(const struct names *names, uint64_t id);

/*
 * Find the files of the rows among the open files of all processes. Return: an
 * array with a path for each row, or NULL where none has the file open; free it
 * with names_free_files().
 */
char **names_files(const struct top_row *row, size_t nr);
void names_free_files(char **files, size_t nr);

/* Return "inode N on PLACE", with the mount point of the file, for free(). */
char *names_inode(const struct names *names, const struct top_key *key);

/* Return a device number of struct top_key as userspace has it. */
dev_t names_devno(uint32_t device);

#endif
