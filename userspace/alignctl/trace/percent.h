/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Percent-encoding: any name as a part of a path that is valid everywhere, as hive
 * partitions of Parquet have it. Letters, digits, '.', '_' and '-' stay.
 */
#ifndef ALIGNCTL_PERCENT_H
#define ALIGNCTL_PERCENT_H

/* Encode a name; for free(). */
char *percent_encode(const char *name);

/* Decode a name; for free(). NULL: it is not encoded in that way. */
char *percent_decode(const char *text);

#endif
