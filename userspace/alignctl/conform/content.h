/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The content that conform writes: the label of base/pattern.h, which says in each
 * 512 bytes where they belong, of which write they are, and of which run.
 */
#ifndef ALIGNCTL_CONFORM_CONTENT_H
#define ALIGNCTL_CONFORM_CONTENT_H

#include <stdint.h>

enum content { CONTENT_ZEROES, CONTENT_LABEL, CONTENT_TORN, CONTENT_FOREIGN };

/* Fill the buffer of a write that begins at @byte of the device. */
void content_fill(char *buffer, uint64_t byte, uint64_t bytes, uint64_t run,
		  uint64_t sequence);

/*
 * Recognize a logical block of @logical bytes that was read from @byte of the
 * device; @sequence is set for CONTENT_LABEL. Labels of other runs, and those of
 * another place, are foreign.
 */
enum content content_recognize(const char *buffer, uint32_t logical,
			       uint64_t byte, uint64_t run, uint64_t *sequence);

#endif
