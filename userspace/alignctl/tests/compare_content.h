/* SPDX-License-Identifier: GPL-2.0 */
/* Compare a disk's content after a run with the source of the requests. */
#ifndef ALIGNCTL_COMPARE_CONTENT_H
#define ALIGNCTL_COMPARE_CONTENT_H

#include "replay/content.h"

/*
 * Compare a disk with the source at @path; @content has all members set but
 * source and file descriptor. Fail the test if the comparison is impossible.
 */
struct content_check compare_content(const char *path, struct content content);

#endif
