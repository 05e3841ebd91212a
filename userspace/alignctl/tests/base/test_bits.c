// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdbool.h>

#include "base/bits.h"
#include "tests/tap.h"

#define WORD_BITS	64U

/* Words of all sorts: few bits, many, runs, and a mixture. */
static const uint64_t words[] = {
	0, 1, 0x80, 0x8000000000000000, 0x8000000000000001, 0x5555555555555555,
	0xaaaaaaaaaaaaaaaa, 0x0f0f0f0f0f0f0f0f, 0x00000000ffffffff,
	0x123456789abcdef0, UINT64_MAX - 1, UINT64_MAX >> 1, UINT64_MAX,
};

#define NR_WORDS	(sizeof(words) / sizeof(words[0]))

static bool has(uint64_t word, uint32_t bit)
{
	return word >> bit & 1;
}

static void masks(void)
{
	uint32_t first, end, bit;

	for (first = 0; first < WORD_BITS; first++)
		for (end = first; end <= WORD_BITS; end++)
			for (bit = 0; bit < WORD_BITS; bit++)
				CHECK(has(bits_between(first, end), bit) ==
				      (bit >= first && bit < end),
				      "bit %" PRIu32 " of %" PRIu32 " to %" PRIu32,
				      bit, first, end);
}

static void counts(void)
{
	uint32_t bit, set;
	size_t i;

	for (i = 0; i < NR_WORDS; i++) {
		for (set = 0, bit = 0; bit < WORD_BITS; bit++)
			set += has(words[i], bit);
		CHECK(bits_count(words[i]) == set, "%#" PRIx64 ": %" PRIu32,
		      words[i], bits_count(words[i]));
	}
	for (bit = 0; bit <= WORD_BITS; bit++)
		CHECK(bits_count(bits_between(0, bit)) == bit,
		      "%" PRIu32 " bits: %" PRIu32, bit,
		      bits_count(bits_between(0, bit)));
}

static void lowest(void)
{
	uint32_t bit;
	size_t i;

	for (i = 0; i < NR_WORDS; i++)
		for (bit = 0; bit < WORD_BITS; bit++) {
			uint64_t word = words[i] << bit | (uint64_t)1 << bit;

			CHECK(bits_lowest(word) == bit, "%#" PRIx64 ": %" PRIu32,
			      word, bits_lowest(word));
		}
}

const struct tap_test bits_tests[] = {
	{ "a mask has the bits between two, all 64 and none included", masks },
	{ "the set bits of a word are counted", counts },
	{ "the lowest set bit is found, with any set above it", lowest },
	{ 0 },
};
