// SPDX-License-Identifier: GPL-2.0
/* The table-driven checksum, made at first use. */
#include "trace/crc32c.h"

#define POLYNOMIAL	0x82f63b78U	/* bits reversed */

static uint32_t table[256];

static void make_table(void)
{
	uint32_t i, bit, crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[i] = crc;
	}
}

uint32_t crc32c(uint32_t crc, const void *data, size_t bytes)
{
	const uint8_t *byte = data;

	if (!table[1])
		make_table();
	for (crc = ~crc; bytes; bytes--, byte++)
		crc = crc >> 8 ^ table[(crc ^ *byte) & 0xff];
	return ~crc;
}
