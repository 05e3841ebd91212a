/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readers of on-disk headers. Each reads a bounded part of a device of any
 * origin, trusts no figure in it, and gives only those that the
 * format allows.
 */
#ifndef ALIGNCTL_HEADER_H
#define ALIGNCTL_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/stack.h"

/**
 * struct header_source - the device, or a part of a file
 * @read: read exactly @length bytes; false if that fails
 * @context: passed to @read
 * @size: size in bytes; readers read nothing behind it
 */
struct header_source {
	bool (*read)(void *context, uint64_t offset, void *buffer,
		     size_t length);
	void *context;
	uint64_t size;
};

/* Read from a source; false also if a byte lies behind its end. */
bool header_read(const struct header_source *source, uint64_t offset,
		 void *buffer, size_t length);

/*
 * Read one format's figures into @content. Return: false, with nothing set,
 * unless there is a header of the format with figures that are possible.
 */
bool header_luks(const struct header_source *source,
		 struct stack_content *content);
bool header_lvm(const struct header_source *source,
		struct stack_content *content);
bool header_md(const struct header_source *source,
	       struct stack_content *content);
bool header_xfs(const struct header_source *source,
		struct stack_content *content);
bool header_ext(const struct header_source *source,
		struct stack_content *content);
bool header_fat(const struct header_source *source,
		struct stack_content *content);
bool header_exfat(const struct header_source *source,
		  struct stack_content *content);
bool header_ntfs(const struct header_source *source,
		 struct stack_content *content);
bool header_bcache(const struct header_source *source,
		   struct stack_content *content);

/*
 * Find a GPT for sectors of another size than @logical, behind a protective MBR.
 * Return: false, with nothing set, if there is none.
 */
bool header_gpt(const struct header_source *source, uint32_t logical,
		struct stack_content *content);

/*
 * Take where a GPT for sectors of @logical has room for partitions. Return:
 * false, with nothing set, if it is not valid.
 */
bool header_gpt_room(const struct header_source *source, uint32_t logical,
		     struct stack_content *content);

/*
 * Check for a hybrid MBR in front of a GPT: one with partitions beside the entry that
 * protects the GPT.
 */
bool header_is_hybrid(const struct header_source *source);

#endif
