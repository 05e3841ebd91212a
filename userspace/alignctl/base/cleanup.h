/* SPDX-License-Identifier: GPL-2.0 */
/* Variables that free or close what they own when they go out of scope. */
#ifndef ALIGNCTL_CLEANUP_H
#define ALIGNCTL_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *slot)
{
	free(*(void **)slot);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **stream)
{
	if (*stream)
		fclose(*stream);
}

static inline void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define CLEANUP_FREE	__attribute__((cleanup(cleanup_free)))
#define CLEANUP_CLOSE	__attribute__((cleanup(cleanup_close)))
#define CLEANUP_FCLOSE	__attribute__((cleanup(cleanup_fclose)))
#define CLEANUP_CLOSEDIR __attribute__((cleanup(cleanup_closedir)))

#endif
