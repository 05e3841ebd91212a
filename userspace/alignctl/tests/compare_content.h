/* SPDX-License-Identifier: GPL-2.0 */
/* What a disk holds after a run, compared with the source of its requests. */
#ifndef ALIGNCTL_COMPARE_CONTENT_H
#define ALIGNCTL_COMPARE_CONTENT_H

#include "replay/content.h"

/*
 * The source at @path is what was made, and @content has all else but it and the
 * file descriptor. Fails the test if that cannot be compared.
 */
struct content_check compare_content(const char *path, struct content content);

#endif
