/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The content that replay writes: a label in each 512-byte sector says which
 * sector it is and which write put it there. All fields are little-endian:
 *
 *   byte   0  "alignctl"
 *   byte   8  sector, counted from the start of the device
 *   byte  16  sequence: 0 prepared, n + 1 written by write number n
 *   byte  24  run number, random for each prepare
 *   byte  32  check: a hash of the three numbers
 *   byte  64, 128, ... 448  check again, so each 64 bytes belong to a sector
 *   rest      a filler without period, equal in all sectors
 *
 * A request that is not made of whole sectors has no room for labels. It writes
 * its part of a stream in which each eight bytes, at a multiple of eight of the
 * device, are a hash of their address, the write and the run number.
 *
 * Filler, check, run and stream are made of bytes 0x80 to 0xbf only: no
 * file-system signature that libblkid knows lies wholly in that range, so a
 * prepared device is never mistaken for one in use.
 */
#ifndef ALIGNCTL_PATTERN_H
#define ALIGNCTL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry.h"

#define PATTERN_SECTOR	ALIGN_SECTOR_SIZE

/**
 * struct pattern_label - the label in a written sector
 * @sector: address of the sector on the device, in sectors
 * @sequence: 0 prepared, else one more than the number of the write
 * @run: run number, from pattern_run()
 */
struct pattern_label {
	uint64_t sector;
	uint64_t sequence;
	uint64_t run;
};

enum pattern_state {
	PATTERN_ABSENT,		/* no label with a right check */
	PATTERN_TORN,		/* a good label over bytes of another origin */
	PATTERN_WHOLE,
};

/* Turn any number into a run number, of bytes that the pattern may have. */
uint64_t pattern_run(uint64_t random);

/* Write the filler into @sectors sectors; pattern_label() completes them. */
void pattern_fill(void *buffer, size_t sectors);

/* Label @nr sectors in a row that hold the filler; the first with @first. */
void pattern_label(void *sectors, const struct pattern_label *first, size_t nr);

/* Check whether a request is made of whole sectors, which are labelled. */
static inline bool pattern_has_labels(uint64_t offset, uint64_t bytes)
{
	return (offset | bytes) % PATTERN_SECTOR == 0;
}

/* Fill @buffer with the stream of a write that begins at byte @offset. */
void pattern_stream(void *buffer, uint64_t offset, size_t bytes,
		    uint64_t sequence, uint64_t run);

/* Read and check a sector's label; @label is set unless PATTERN_ABSENT. */
enum pattern_state pattern_read(const void *sector,
				struct pattern_label *label);

#endif
