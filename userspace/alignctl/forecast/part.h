/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of tallies: what one process found of some disks, or of some time, for
 * another one to put together. A file is a set of tallies, so that files can be put
 * together in any order and any grouping, and twice. It is text, one fact a line,
 * in one order: the same tallies are the same bytes.
 *
 *   alignctl partial plan 1
 *   blocks PHYSICAL LOGICAL OFFSET SECTORS SHIFT	as in struct tallies_question
 *   modes yes|no
 *   disk DIGEST DIGEST TIMED FIRST_NS LAST_NS NR NAME	digests in hexadecimal
 *   requests READ WRITE FLUSH DISCARD WRITE-ZEROES
 *   bytes READ WRITE FLUSH DISCARD WRITE-ZEROES
 *   left PAD COALESCE		only if the modes are known
 *   kind START LENGTH NR	rising
 *   end NR CRC			tallies, and CRC-32C of all lines before, in hexadecimal
 *
 * Lengths and places are sectors of 512 bytes. Names are as percent_encode() has them.
 */
#ifndef ALIGNCTL_PART_H
#define ALIGNCTL_PART_H

#include "forecast/tallies.h"

/*
 * Write tallies, in order, to the file @path, which is replaced as replace_file()
 * does. Return: enum alignctl_exit; reported.
 */
int part_write(const struct tallies *tallies, const char *path);

/*
 * Add the tallies of the file @path to @tallies, whose question is that of its first
 * file. Return: enum alignctl_exit; what is wrong is reported, with its line.
 */
int part_read(struct tallies *tallies, const char *path);

#endif
