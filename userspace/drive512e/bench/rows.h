/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was published about drives, and how the model is asked for the same
 * figure: one table, in rows.c.
 */
#ifndef DRIVE512E_BENCH_ROWS_H
#define DRIVE512E_BENCH_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Allowed deviation of a claimed row. */
#define BENCH_TOLERANCE 0.10

struct bench_row {
	const char *profile;
	bool nocache;			/* the write cache is off */
	const char *name;
	const char *source;		/* letter in profiles/profiles.h */
	const char *unit;
	double published;		/* 0: no figure */
	/* why the model does not claim to meet it; NULL: it meets it */
	const char *unclaimed;
	double (*measure)(const struct bench_row *row);	/* NULL: cannot be */
	/* arguments of measure() */
	unsigned int n;
	uint64_t bytes;
	uint64_t offset;
};

/* The rows, ended by one without a profile. */
extern const struct bench_row bench_rows[];

/* Sizes of the chunk-size curve: the first, and each twice the last. */
#define BENCH_CHUNK_MIN UINT64_C(4096)
#define BENCH_CHUNK_MAX (UINT64_C(64) << 20)

/* Return the throughput of random reads of @bytes each. */
double bench_chunk_mb_s(const char *profile, uint64_t bytes);

/* Return the row's deviation from what was published: 0.1 is 10 % more. */
double bench_deviation(const struct bench_row *row, double measured);

/* Check whether the row keeps what the model claims. */
bool bench_holds(const struct bench_row *row, double measured);

#endif
