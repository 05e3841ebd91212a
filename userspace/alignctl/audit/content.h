/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The types of content that libblkid names: by which figure each is judged, or
 * that its blocks are not read.
 */
#ifndef ALIGNCTL_CONTENT_H
#define ALIGNCTL_CONTENT_H

#include "audit/header.h"
#include "audit/stack.h"

/* By what a type is judged. */
enum content_rule {
	CONTENT_UNREAD,		/* by nothing: its blocks are not read */
	CONTENT_BLOCK,		/* by its smallest block, @block of the content */
	CONTENT_SECTOR,		/* XFS: by that and its sector */
	CONTENT_DATA,		/* by where the data behind its header begin */
	CONTENT_READ_ONLY,	/* by nothing: it is not written in use */
};

/**
 * struct content_type - a type of content
 * @name: libblkid's name
 * @rule: by what it is judged
 * @read: reader of its header; NULL: libblkid gives the block
 * @unit: its blocks, for people: "clusters"; NULL: "blocks"
 * @way_out: how it gets larger or aligned ones, for people; NULL: it has none
 */
struct content_type {
	const char *name;
	enum content_rule rule;
	bool (*read)(const struct header_source *source,
		     struct stack_content *content);
	const char *unit;
	const char *way_out;
};

/* Return the row of a type; NULL for NULL and for a type of a newer libblkid. */
const struct content_type *content_type_of(const char *name);

/* Check for content whose blocks were not read, though its type is known. */
bool content_is_unread(const struct stack_content *content);

/* Check for a type that mkfs.TYPE makes with the option -b. */
bool content_is_ext(const char *type);

/* Check for a smallest write of the content that is a whole block. */
bool content_writes_blocks(const struct stack_content *content, int64_t block);

#endif
