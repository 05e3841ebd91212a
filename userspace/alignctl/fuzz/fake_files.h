/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files in memory in place of those of /sys, for targets that wrap fopen() and
 * realpath(): what sysfs.c reads is then what the input says, "name=text" a
 * line. A name is the end of a path.
 */
#ifndef FAKE_FILES_H
#define FAKE_FILES_H

#include <errno.h>

#include "fuzz.h"

#define FAKE_FILES_MAX	64

static struct fake_file {
	char *name;
	const char *text;
} fake_files[FAKE_FILES_MAX];

static size_t nr_fake_files;

/* A folder has each name once. */
static inline bool fake_file_named(const char *name)
{
	size_t i;

	for (i = 0; i < nr_fake_files; i++)
		if (!strcmp(fake_files[i].name, name))
			return true;
	return false;
}

static inline void fake_files_open(struct fuzz_bytes *bytes)
{
	nr_fake_files = 0;
	while (bytes->left && nr_fake_files < FAKE_FILES_MAX) {
		char *line = fuzz_take_line(bytes), *text = strchr(line, '=');

		if (!text || text == line || memchr(line, '/', 1)) {
			free(line);
			continue;
		}
		*text++ = '\0';
		if (fake_file_named(line)) {
			free(line);
			continue;
		}
		fake_files[nr_fake_files++] = (struct fake_file) { line, text };
	}
}

static inline void fake_files_close(void)
{
	while (nr_fake_files)
		free(fake_files[--nr_fake_files].name);
}

/* The text of the first file of that name, or NULL. */
static const char *fake_file(const char *path)
{
	size_t length = strlen(path), i;

	for (i = 0; i < nr_fake_files; i++) {
		size_t tail = strlen(fake_files[i].name);

		if (tail < length && path[length - tail - 1] == '/' &&
		    !strcmp(path + length - tail, fake_files[i].name))
			return fake_files[i].text;
	}
	return NULL;
}

FILE *__wrap_fopen(const char *path, const char *mode);

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const char *text = fake_file(path);

	(void)mode;
	if (text)
		return fmemopen((void *)text, strlen(text), "r");
	errno = ENOENT;
	return NULL;
}

char *__wrap_realpath(const char *path, char *resolved);

/* Every device is a partition's folder, if it has that file, or a disk's. */
char *__wrap_realpath(const char *path, char *resolved)
{
	(void)path;
	(void)resolved;
	return strdup("/sys/devices/pci0/block/disk/part");
}

#endif
