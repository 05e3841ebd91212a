// SPDX-License-Identifier: GPL-2.0
/* Write and check the label of a sector, and the stream for parts of sectors. */
#include <endian.h>
#include <string.h>

#include "base/mix.h"
#include "base/pattern.h"

#define WORDS		(PATTERN_SECTOR / sizeof(uint64_t))
#define LINE_WORDS	8U	/* a check every 64 bytes */
#define BYTES_HIGH	0x8080808080808080ULL
#define BYTES_FREE	0x3f3f3f3f3f3f3f3fULL

enum label_word { WORD_MAGIC, WORD_SECTOR, WORD_SEQUENCE, WORD_RUN,
		  WORD_CHECK, WORD_FILLER };

static const char pattern_magic[] = "alignctl";

static uint64_t make_plain(uint64_t n)
{
	return (n & BYTES_FREE) | BYTES_HIGH;
}

uint64_t pattern_run(uint64_t random)
{
	return make_plain(mix64(random));
}

static uint64_t label_check(const struct pattern_label *label)
{
	return make_plain(mix64(label->run ^
			 mix64(label->sequence ^ mix64(label->sector + 1))));
}

/* Check whether word @i of a sector belongs to the label, not the filler. */
static bool is_label_word(size_t i)
{
	return i < WORD_FILLER || i % LINE_WORDS == 0;
}

static const uint64_t *make_filler(void)
{
	static uint64_t words[WORDS];
	size_t i;

	if (!words[WORDS - 1])
		for (i = 0; i < WORDS; i++)
			words[i] = htole64(make_plain(mix64(i + 1)));
	return words;
}

void pattern_fill(void *buffer, size_t sectors)
{
	size_t i;

	for (i = 0; i < sectors; i++)
		memcpy((char *)buffer + i * PATTERN_SECTOR, make_filler(),
		       PATTERN_SECTOR);
}

void pattern_label(void *sectors, const struct pattern_label *first, size_t nr)
{
	struct pattern_label label = *first;
	uint64_t *word = sectors, check;

	_Static_assert(WORDS == 8 * LINE_WORDS, "eight lines, each written");
	for (; nr; nr--, label.sector++, word += WORDS) {
		check = htole64(label_check(&label));
		memcpy(&word[WORD_MAGIC], pattern_magic, sizeof(*word));
		word[WORD_SECTOR] = htole64(label.sector);
		word[WORD_SEQUENCE] = htole64(label.sequence);
		word[WORD_RUN] = htole64(label.run);
		word[WORD_CHECK] = check;
		/* unrolled: every write of a replay passes here */
		word[1 * LINE_WORDS] = check;
		word[2 * LINE_WORDS] = check;
		word[3 * LINE_WORDS] = check;
		word[4 * LINE_WORDS] = check;
		word[5 * LINE_WORDS] = check;
		word[6 * LINE_WORDS] = check;
		word[7 * LINE_WORDS] = check;
	}
}

void pattern_stream(void *buffer, uint64_t offset, size_t bytes,
		    uint64_t sequence, uint64_t run)
{
	char *to = buffer;

	while (bytes) {
		const struct pattern_label place = {
			.sector = offset / sizeof(uint64_t),
			.sequence = sequence, .run = run,
		};
		uint64_t word = htole64(label_check(&place));
		size_t into = offset % sizeof(word);
		size_t part = sizeof(word) - into;

		if (part > bytes)
			part = bytes;
		memcpy(to, (char *)&word + into, part);
		to += part;
		offset += part;
		bytes -= part;
	}
}

enum pattern_state pattern_read(const void *sector,
				struct pattern_label *label)
{
	const uint64_t *word = sector;
	struct pattern_label found;
	size_t i;

	if (memcmp(&word[WORD_MAGIC], pattern_magic, sizeof(*word)))
		return PATTERN_ABSENT;
	found.sector = le64toh(word[WORD_SECTOR]);
	found.sequence = le64toh(word[WORD_SEQUENCE]);
	found.run = le64toh(word[WORD_RUN]);
	if (le64toh(word[WORD_CHECK]) != label_check(&found))
		return PATTERN_ABSENT;
	*label = found;
	for (i = WORD_FILLER; i < WORDS; i++)
		if (word[i] != (is_label_word(i) ? word[WORD_CHECK] : make_filler()[i]))
			return PATTERN_TORN;
	return PATTERN_WHOLE;
}
