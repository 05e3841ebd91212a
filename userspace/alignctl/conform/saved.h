/* SPDX-License-Identifier: GPL-2.0 */
/* The content of an area, kept in a file until the area has it again. */
#ifndef ALIGNCTL_CONFORM_SAVED_H
#define ALIGNCTL_CONFORM_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read or write all of @bytes; false with errno set if that fails. */
bool saved_transfer(int fd, char *buffer, size_t bytes, uint64_t at,
		    bool write_them);

/*
 * Copy an area of the device @fd, opened with O_DIRECT, to a new file, and have
 * it on the disk. @saved: set to the file's descriptor, for saved_restore(), as its
 * name may be gone by then. Return: enum alignctl_exit, reported; there is no file
 * then.
 */
int saved_make(int fd, const char *device, uint64_t start, uint64_t bytes,
	       const char *file, int *saved);

/*
 * Open a file that saved_make() of an earlier run made, of so many bytes. Return: enum
 * alignctl_exit, reported.
 */
int saved_open(const char *file, uint64_t bytes, int *saved);

/*
 * Check for a file or folder that is in this machine's memory, and gone when the
 * machine crashes or loses power.
 */
bool saved_in_memory(const char *path);

/* Return the command that copies a file back by hand, for free(). */
char *saved_way_back(const char *device, uint64_t start, const char *file);

/* Check that the area of the device @fd has the content of the file already. */
bool saved_is_there(int fd, uint64_t start, uint64_t bytes, int saved);

/*
 * Copy it back, have it on the disk, compare, and remove the file. Return: enum
 * alignctl_exit, reported; the file is still there then.
 */
int saved_restore(int fd, const char *device, uint64_t start, uint64_t bytes,
		  const char *file, int saved);

/*
 * Sync the folder of a new file, so that its name is on the disk, too; false with
 * errno set if that fails.
 */
bool saved_sync_folder(const char *file);

#endif
