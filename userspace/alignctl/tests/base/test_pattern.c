// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "base/pattern.h"
#include "tests/tap.h"

static const struct pattern_label label = {
	.sector = 123456789012ULL, .sequence = 20001,
};

static struct pattern_label make(unsigned char *sector)
{
	struct pattern_label made = label;

	made.run = pattern_run(42);
	pattern_fill(sector, 1);
	pattern_label(sector, &made, 1);
	return made;
}

static bool matches(const void *sector, const struct pattern_label *wanted)
{
	struct pattern_label found;

	return pattern_read(sector, &found) == PATTERN_WHOLE &&
	       !memcmp(&found, wanted, sizeof(found));
}

static void reads_back(void)
{
	unsigned char sector[PATTERN_SECTOR] __attribute__((aligned(8)));
	struct pattern_label made = make(sector), found;

	CHECK(pattern_read(sector, &found) == PATTERN_WHOLE, "not whole");
	CHECK(!memcmp(&found, &made, sizeof(made)), "sector %" PRIu64
	      " sequence %" PRIu64, found.sector, found.sequence);
}

static void each_of_a_row_by_itself(void)
{
	unsigned char sectors[3 * PATTERN_SECTOR] __attribute__((aligned(8)));
	struct pattern_label wanted = label;
	unsigned int i;

	pattern_fill(sectors, 3);
	pattern_label(sectors, &label, 3);
	for (i = 0; i < 3; i++, wanted.sector++)
		CHECK(matches(sectors + i * PATTERN_SECTOR, &wanted),
		      "sector %u of the row", i);
}

static void any_byte(void)
{
	unsigned char sector[PATTERN_SECTOR] __attribute__((aligned(8)));
	struct pattern_label found;
	unsigned int i;

	make(sector);
	for (i = 0; i < PATTERN_SECTOR; i++) {
		sector[i] ^= 1;
		CHECK(pattern_read(sector, &found) != PATTERN_WHOLE,
		      "byte %u seems whole", i);
		sector[i] ^= 1;
	}
}

static void any_field(void)
{
	unsigned char sector[PATTERN_SECTOR] __attribute__((aligned(8)));
	struct pattern_label made = make(sector), other;

	other = made;
	other.sector++;
	CHECK(!matches(sector, &other), "another sector");
	other = made;
	other.sequence--;
	CHECK(!matches(sector, &other), "another write");
	other = made;
	other.run = pattern_run(43);
	CHECK(!matches(sector, &other), "another run");
}

/* 64 bytes of a neighbour, anywhere in the sector. */
static void any_line(void)
{
	unsigned char sector[PATTERN_SECTOR] __attribute__((aligned(8)));
	unsigned char other[PATTERN_SECTOR] __attribute__((aligned(8)));
	struct pattern_label made, neighbour, found;
	unsigned int i;

	neighbour = make(other);
	neighbour.sector++;
	pattern_label(other, &neighbour, 1);
	for (i = 64; i < PATTERN_SECTOR; i += 64) {
		made = make(sector);
		memcpy(sector + i, other + i, 64);
		CHECK(pattern_read(sector, &found) == PATTERN_TORN,
		      "64 bytes of a neighbour at %u", i);
		CHECK(found.sector == made.sector, "label of %" PRIu64,
		      found.sector);
	}
}

static void foreign(void)
{
	unsigned char sector[PATTERN_SECTOR] __attribute__((aligned(8)));
	struct pattern_label found;

	memset(sector, 0, sizeof(sector));
	CHECK(pattern_read(sector, &found) == PATTERN_ABSENT, "zeroes");
	memset(sector, 0xff, sizeof(sector));
	CHECK(pattern_read(sector, &found) == PATTERN_ABSENT, "ones");
}

static void plain_bytes(void)
{
	unsigned char sector[PATTERN_SECTOR] __attribute__((aligned(8)));
	unsigned int i;

	make(sector);
	for (i = 24; i < PATTERN_SECTOR; i++)
		CHECK(sector[i] >= 0x80 && sector[i] <= 0xbf,
		      "byte %u is 0x%02x", i, sector[i]);
}

const struct tap_test pattern_tests[] = {
	{ "a sector says where it belongs and who wrote it", reads_back },
	{ "sectors in a row each have a label of their own", each_of_a_row_by_itself },
	{ "no byte of a sector can change unseen", any_byte },
	{ "a sector of another address, write or run does not match",
	  any_field },
	{ "64 bytes from a neighbouring sector are seen", any_line },
	{ "zeroes and ones are no writer's pattern", foreign },
	{ "after the numbers come only bytes that no signature is made of",
	  plain_bytes },
	{ 0 },
};
