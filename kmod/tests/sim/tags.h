/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sectors in memory: each word has the tag. There are many of them, so these loops have
 * no branch for a word, and the compiler does several words at once.
 */
#ifndef SIM_TAGS_H
#define SIM_TAGS_H

#include <linux/blkdev.h>

#define SECTOR_WORDS	(SECTOR_SIZE / sizeof(u64))

/* Give half a sector a tag. */
static inline void tags_fill_half(u64 *words, u64 tag)
{
	unsigned int i;

	for (i = 0; i < SECTOR_WORDS / 2; i++)
		words[i] = tag;
}

static inline void tags_fill(u64 *words, u64 tag)
{
	tags_fill_half(words, tag);
	tags_fill_half(words + SECTOR_WORDS / 2, tag);
}

/* Return: the first word of half a sector that has another tag, or NULL. */
static inline const u64 *tags_other_half(const u64 *words, u64 tag)
{
	unsigned int i;
	u64 any = 0;

	for (i = 0; i < SECTOR_WORDS / 2; i++)
		any |= words[i] ^ tag;
	if (!any)
		return NULL;
	for (i = 0; words[i] == tag; i++)
		;
	return &words[i];
}

static inline const u64 *tags_other(const u64 *words, u64 tag)
{
	const u64 *other = tags_other_half(words, tag);

	return other ? other :
	       tags_other_half(words + SECTOR_WORDS / 2, tag);
}

#endif
