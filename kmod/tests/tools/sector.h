/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sectors that describe themselves: each has its address, version, writer and a
 * checksum, and filler derived from these, so that a stale, misplaced, torn or
 * foreign sector can be recognized as such.
 */
#ifndef SECTOR_H
#define SECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SECTOR_SIZE	512
#define SECTOR_WORDS	(SECTOR_SIZE / sizeof(uint64_t))
#define SECTOR_MAGIC	0x524f54434553474cULL

/* Positions of the named words; the words between are filler. */
enum sector_place {
	WORD_MAGIC,
	WORD_ADDRESS,
	WORD_VERSION,
	WORD_WRITER,
	WORD_FILLER,
	WORD_SUM = SECTOR_WORDS - 1,
};

/*
 * The content of a sector. Zeroes are no damage: write-zeroes and discards
 * leave them.
 */
enum sector_kind {
	SECTOR_DATA,		/* whole and of this run */
	SECTOR_ZEROES,
	SECTOR_OTHER_SEED,	/* whole, written by another run */
	SECTOR_GARBAGE,		/* any other content, also a torn sector */
};

struct sector_found {
	enum sector_kind kind;
	uint64_t address;	/* the next three as found, even in garbage */
	uint64_t version;
	uint64_t writer;
	bool magic;		/* the first word is a self-describing sector's */
};

static inline uint64_t sector_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static inline uint64_t sector_sum(const uint64_t *words)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < WORD_SUM; i++)
		sum = (sum << 7 | sum >> 57) ^ (words[i] * 0x9e3779b97f4a7c15ULL);
	return sum;
}

/* Return one word of the filler, which differs between any two sectors. */
static inline uint64_t sector_filler(uint64_t key, unsigned int i)
{
	return key ^ (i * 0x0101010101010101ULL);
}

static inline uint64_t sector_key(uint64_t seed, uint64_t address,
				  uint64_t version)
{
	return sector_mix(seed ^ sector_mix(address ^ sector_mix(version)));
}

/**
 * sector_fill - make one sector
 * @to: 512 bytes, at any address
 * @seed: the run's seed
 * @address: the sector's own address
 * @version: number of the write among those to that address
 * @writer: number of the writing thread (shown in reports, not compared)
 */
static inline void sector_fill(void *to, uint64_t seed, uint64_t address,
			       uint64_t version, uint64_t writer)
{
	uint64_t key = sector_key(seed, address, version);
	uint64_t words[SECTOR_WORDS];
	unsigned int i;

	words[WORD_MAGIC] = SECTOR_MAGIC ^ seed;
	words[WORD_ADDRESS] = address;
	words[WORD_VERSION] = version;
	words[WORD_WRITER] = writer;
	for (i = WORD_FILLER; i < WORD_SUM; i++)
		words[i] = sector_filler(key, i);
	words[WORD_SUM] = sector_sum(words);
	memcpy(to, words, SECTOR_SIZE);
}

/**
 * sector_look - classify the content of a sector
 * @from: 512 bytes, at any address
 * @seed: the run's seed
 * @found: the result
 */
static inline void sector_look(const void *from, uint64_t seed,
			       struct sector_found *found)
{
	uint64_t words[SECTOR_WORDS];
	uint64_t key, any = 0;
	bool whole;
	unsigned int i;

	memcpy(words, from, SECTOR_SIZE);
	found->address = words[WORD_ADDRESS];
	found->version = words[WORD_VERSION];
	found->writer = words[WORD_WRITER];
	found->magic = words[WORD_MAGIC] == (SECTOR_MAGIC ^ seed);

	whole = words[WORD_SUM] == sector_sum(words);
	if (whole && found->magic) {
		key = sector_key(seed, found->address, found->version);
		for (i = WORD_FILLER; i < WORD_SUM; i++)
			whole &= words[i] == sector_filler(key, i);
		found->kind = whole ? SECTOR_DATA : SECTOR_GARBAGE;
		return;
	}
	for (i = 0; i < SECTOR_WORDS; i++)
		any |= words[i];
	if (!any)
		found->kind = SECTOR_ZEROES;
	else
		found->kind = whole ? SECTOR_OTHER_SEED : SECTOR_GARBAGE;
}

/* Return one word of a version's content; not for WORD_WRITER and WORD_SUM. */
static inline uint64_t sector_word(uint64_t seed, uint64_t address,
				   uint64_t version, unsigned int i)
{
	switch (i) {
	case WORD_MAGIC:
		return SECTOR_MAGIC ^ seed;
	case WORD_ADDRESS:
		return address;
	case WORD_VERSION:
		return version;
	default:
		return sector_filler(sector_key(seed, address, version), i);
	}
}

/**
 * sector_is_mix - whether a sector is made of pieces of lawful versions
 * @from: 512 bytes, at any address
 * @seed: the run's seed
 * @address: the sector's own address
 * @oldest: the oldest lawful version
 * @newest: the newest lawful version
 * @zeroes: zeroes are lawful too
 *
 * A memory-backed disk copies a sector during a read, byte by byte on some
 * processors; a drive never shows such a mix. The words of writer and checksum
 * are ignored, as the others are enough.
 *
 * Return: true if each byte comes from one of these versions.
 */
static inline bool sector_is_mix(const void *from, uint64_t seed,
				 uint64_t address, uint64_t oldest,
				 uint64_t newest, bool zeroes)
{
	const unsigned char *bytes = from;
	unsigned int i, byte;

	for (i = 0; i < WORD_SUM; i++, bytes += sizeof(uint64_t)) {
		bool good[sizeof(uint64_t)];
		uint64_t v;

		if (i == WORD_WRITER)
			continue;
		for (byte = 0; byte < sizeof(uint64_t); byte++)
			good[byte] = zeroes && !bytes[byte];
		for (v = oldest; v <= newest; v++) {
			uint64_t word = sector_word(seed, address, v, i);
			unsigned char want[sizeof(word)];

			memcpy(want, &word, sizeof(word));
			for (byte = 0; byte < sizeof(word); byte++)
				good[byte] |= want[byte] == bytes[byte];
		}
		for (byte = 0; byte < sizeof(uint64_t); byte++)
			if (!good[byte])
				return false;
	}
	return true;
}

#endif
