/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files in memory in place of those of /sys, for targets that wrap fopen() and
 * realpath(): sysfs.c reads the input, of lines "name=text". A name is the end
 * of a path.
 */
#ifndef FAKE_FILES_H
#define FAKE_FILES_H

#include <errno.h>

#include "fuzz.h"

#define FAKE_FILES_MAX	64

static struct fake_file {
	char *name;
	size_t length;		/* length of @name */
	const char *text;
} fake_files[FAKE_FILES_MAX];

static size_t nr_fake_files;

/* Return the text of the file with exactly that name, or NULL. */
static inline const char *fake_file_named(const char *name)
{
	size_t length = strlen(name), i;

	for (i = 0; i < nr_fake_files; i++)
		if (fake_files[i].length == length &&
		    !memcmp(fake_files[i].name, name, length))
			return fake_files[i].text;
	return NULL;
}

/* Add a file; its name is freed by fake_files_close(). */
static inline void fake_file_add(char *name, const char *text)
{
	fake_files[nr_fake_files++] = (struct fake_file) {
		name, strlen(name), text
	};
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
		/* a folder has each name once */
		if (fake_file_named(line))
			free(line);
		else
			fake_file_add(line, text);
	}
}

static inline void fake_files_close(void)
{
	while (nr_fake_files)
		free(fake_files[--nr_fake_files].name);
}

/* Return the text of the first file whose name ends @path, or NULL. */
static inline const char *fake_file(const char *path)
{
	size_t length = strlen(path), i;

	for (i = 0; i < nr_fake_files; i++) {
		size_t tail = fake_files[i].length;

		if (tail < length && path[length - tail - 1] == '/' &&
		    !memcmp(path + length - tail, fake_files[i].name, tail))
			return fake_files[i].text;
	}
	return NULL;
}

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const char *text;

	/* libFuzzer opens its own files */
	if (strncmp(path, "/sys/", strlen("/sys/")))
		return __real_fopen(path, mode);
	text = fake_file(path);
	if (text)
		return fmemopen((void *)text, strlen(text), "r");
	errno = ENOENT;
	return NULL;
}

char *__wrap_realpath(const char *path, char *resolved);

/* Return one folder for all devices: a partition's, if it has that file. */
char *__wrap_realpath(const char *path, char *resolved)
{
	(void)path;
	(void)resolved;
	return strdup("/sys/devices/pci0/block/disk/part");
}

#endif
