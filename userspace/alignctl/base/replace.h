/* SPDX-License-Identifier: GPL-2.0 */
/* Replace a file that other programs read while it is being written. */
#ifndef ALIGNCTL_REPLACE_H
#define ALIGNCTL_REPLACE_H

#include <stddef.h>

/*
 * Replace the file @path, or create it, with mode 0644: a reader sees the whole
 * old or the whole new content. An existing file is replaced only if it is a
 * regular one that is empty or has the first line of @text, so that no
 * other content is lost. Nothing is forced to the disk. @option is for messages.
 * Return: enum alignctl_exit, reported; the old file is there after an error.
 */
int replace_file(const char *option, const char *path, const char *text,
		 size_t length);

#endif
