// SPDX-License-Identifier: GPL-2.0
/*
 * Resolve cgroup ids by file handles, and files by the open descriptors of
 * processes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <libmount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/units.h"
#include "sysfs/sysfs.h"
#include "top/names.h"

#define PATH_ROOM	4096
/* Kind of a handle that holds a cgroup's id: FILEID_KERNFS of linux/exportfs.h. */
#define HANDLE_KERNFS	0xfe

dev_t names_devno(uint32_t device)
{
	return makedev(device >> KERNEL_MINOR_BITS,
		       device & ((1U << KERNEL_MINOR_BITS) - 1));
}

/* Check whether a list of words separated by blanks has a word. */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word), next;

	for (; *text; text += next) {
		text += strspn(text, " \n");
		next = strcspn(text, " \n");
		if (next == length && !strncmp(text, word, length))
			return true;
	}
	return false;
}

bool names_has_controllers(const char *text)
{
	return has_word(text, "io") && has_word(text, "memory");
}

/* Find where cgroup v2 is mounted; NULL if it is not. */
static const char *cgroup_mount(struct libmnt_table *mounts)
{
	struct libmnt_iter *iter = memory_or_exit(
		mnt_new_iter(MNT_ITER_FORWARD));
	const char *found = NULL;
	struct libmnt_fs *fs;

	while (!found && !mnt_table_next_fs(mounts, iter, &fs)) {
		const char *type = mnt_fs_get_fstype(fs);

		if (type && !strcmp(type, "cgroup2"))
			found = mnt_fs_get_target(fs);
	}
	mnt_free_iter(iter);
	return found;
}

void names_open(struct names *names)
{
	CLEANUP_FREE char *mountinfo = sysfs_path("/proc/self/mountinfo");
	CLEANUP_FREE char *text = NULL;
	const char *cgroups;

	*names = (struct names) {
		.mounts = memory_or_exit(mnt_new_table()), .cgroup_fd = -1,
	};
	mnt_table_parse_file(names->mounts, mountinfo);
	cgroups = cgroup_mount(names->mounts);
	if (!cgroups) {
		names->no_cgroups = "cgroup v2 is not mounted";
		return;
	}
	names->cgroup_fd = open(cgroups, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	text = sysfs_text(cgroups, "cgroup.subtree_control");
	if (!text || !names_has_controllers(text))
		names->no_cgroups = "cgroup.subtree_control of cgroup v2 lacks io or memory";
}

void names_close(struct names *names)
{
	mnt_unref_table(names->mounts);
	if (names->cgroup_fd >= 0)
		close(names->cgroup_fd);
}

/* Return the path of an open file, for free(); NULL if it has none. */
static char *path_of(const char *dir, const char *name)
{
	CLEANUP_FREE char *link = message_format("%s/%s", dir, name);
	char path[PATH_ROOM];
	ssize_t length = readlink(link, path, sizeof(path));

	if (length <= 0 || length == sizeof(path) || *path != '/')
		return NULL;
	return memory_or_exit(strndup(path, (size_t)length));
}

/* Return the path of a descriptor of our own, for free(). */
static char *path_of_fd(int fd)
{
	CLEANUP_FREE char *name = message_format("%d", fd);

	return path_of("/proc/self/fd", name);
}

char *names_cgroup(const struct names *names, uint64_t id)
{
	struct {
		struct file_handle handle;
		uint64_t id;
	} handle = {
		.handle = { .handle_bytes = sizeof(id),
			    .handle_type = HANDLE_KERNFS },
	};
	CLEANUP_FREE char *root = NULL, *path = NULL;
	CLEANUP_CLOSE int fd = -1;
	size_t length;

	if (!id || names->cgroup_fd < 0)
		return NULL;
	memcpy(handle.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(names->cgroup_fd, &handle.handle,
			       O_PATH | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	root = path_of_fd(names->cgroup_fd);
	path = path_of_fd(fd);
	length = root ? strlen(root) : 0;
	if (!path || !length || strncmp(path, root, length))
		return NULL;
	return message_format("%s", path[length] ? path + length : "/");
}

/**
 * struct search - search for the files of rows
 * @row: the rows
 * @order: indices of rows that have a file, by device and inode
 * @nr: number of these rows
 * @left: number of these rows without a path
 * @file: paths of the rows
 * @dir: folder of a process's open files
 */
struct search {
	const struct top_row *row;
	size_t *order;
	size_t nr;
	size_t left;
	char **file;
	const char *dir;
};

static int compare_keys(const struct top_key *a, const struct top_key *b)
{
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return 0;
}

static int compare_order(const void *one, const void *other, void *context)
{
	const struct top_row *row = context;

	return compare_keys(&row[*(const size_t *)one].key,
			    &row[*(const size_t *)other].key);
}

/* Return the first place in the order that is not before a key. */
static size_t find_place(const struct search *search, const struct top_key *key)
{
	size_t low = 0, high = search->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(&search->row[search->order[middle]].key,
				 key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void visit_fd(const char *name, void *context)
{
	struct search *search = context;
	CLEANUP_FREE char *path = NULL;
	struct top_key key = { 0 };
	struct statx found;
	size_t i;

	if (!search->left)
		return;
	CLEANUP_FREE char *link = message_format("%s/%s", search->dir, name);

	/* without asking a server that may not answer */
	if (statx(AT_FDCWD, link, AT_STATX_DONT_SYNC, STATX_INO, &found))
		return;
	key.device = found.stx_dev_major << KERNEL_MINOR_BITS |
		     found.stx_dev_minor;
	key.inode = found.stx_ino;
	for (i = find_place(search, &key); i < search->nr; i++) {
		size_t row = search->order[i];

		if (compare_keys(&search->row[row].key, &key))
			break;
		if (search->file[row])
			continue;
		if (!path)
			path = path_of(search->dir, name);
		if (!path)
			break;
		search->file[row] = message_format("%s", path);
		search->left--;
	}
}

static void visit_process(const char *name, void *context)
{
	struct search *search = context;
	CLEANUP_FREE char *dir = NULL;

	if (!search->left || strspn(name, "0123456789") != strlen(name))
		return;
	dir = sysfs_path("/proc/%s/fd", name);
	search->dir = dir;
	sysfs_each(dir, visit_fd, search);
}

char **names_files(const struct top_row *row, size_t nr)
{
	CLEANUP_FREE char *processes = sysfs_path("/proc");
	struct search search = { .row = row };
	size_t i;

	search.file = memory_or_exit(calloc(nr + 1, sizeof(*search.file)));
	search.order = memory_or_exit(calloc(nr + 1, sizeof(*search.order)));
	for (i = 0; i < nr; i++)
		if (row[i].key.device)
			search.order[search.nr++] = i;
	search.left = search.nr;
	qsort_r(search.order, search.nr, sizeof(*search.order), compare_order,
		(void *)row);
	if (search.left)
		sysfs_each(processes, visit_process, &search);
	free(search.order);
	return search.file;
}

void names_free_files(char **files, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(files[i]);
	free(files);
}

char *names_inode(const struct names *names, const struct top_key *key)
{
	struct libmnt_iter *iter = memory_or_exit(
		mnt_new_iter(MNT_ITER_FORWARD));
	dev_t devno = names_devno(key->device);
	CLEANUP_FREE char *number = message_format("%u:%u", major(devno),
						   minor(devno));
	const char *place = NULL;
	struct libmnt_fs *fs;
	char *text;

	while (!place && !mnt_table_next_fs(names->mounts, iter, &fs))
		if (mnt_fs_get_devno(fs) == devno)
			place = mnt_fs_get_target(fs);
	mnt_free_iter(iter);
	text = message_format("inode %" PRIu64 " on %s", (uint64_t)key->inode,
			      place ? place : number);
	return text;
}
