/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lawful content of every sector of a region at a given moment.
 *
 * Writes to one sector never overlap in time, so its versions count up by one
 * and all versions from the newest acknowledged to the newest issued one are
 * lawful: such a version is in flight, or it failed and may have reached the
 * drive all the same. No other content is lawful.
 *
 * A discard leaves the old content or zeroes, so it is a version of zeroes that
 * is never acknowledged.
 */
#ifndef SECTOR_STATES_H
#define SECTOR_STATES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum op_kind { OP_READ, OP_WRITE, OP_ZEROES, OP_DISCARD };

struct sector_state {
	uint64_t acked;		/* newest acknowledged version */
	uint64_t issued;	/* newest issued version */
	uint64_t zeroes;	/* bit i: version issued - i is one of zeroes */
	bool busy;		/* a write, discard or write-zeroes is in flight */
};

/* One write, discard or write-zeroes, kept for the report of a mismatch. */
struct op_record {
	uint64_t first, count;	/* sectors of the region */
	uint64_t issued_us, ended_us;	/* since the start; 0: not ended */
	int thread, error;
	enum op_kind kind;
};

#define MODEL_RECORDS	16384	/* power of two */

struct model {
	pthread_mutex_t lock;	/* guards everything below */
	struct sector_state *state;
	uint64_t sectors;	/* length of the region */
	uint64_t seed;
	uint64_t address;	/* address of the region's first sector */
	bool torn_reads;	/* mixes of lawful versions are lawful */
	uint64_t mismatches;
	uint64_t reports;	/* number of mismatches to print */
	struct op_record *record;
	uint64_t records;	/* ever made; the ring keeps the last ones */
};

/* Microseconds of the monotonic clock. */
uint64_t now_us(void);

/**
 * model_init - start with a region of unknown content
 * @m: the model
 * @sectors: length of the region
 * @address: address of its first sector, for its content
 * @seed: the run's seed
 *
 * Return: false without memory.
 */
bool model_init(struct model *m, uint64_t sectors, uint64_t address,
		uint64_t seed);
void model_free(struct model *m);

/**
 * model_issue - begin a write, discard or write-zeroes
 * @m: the model
 * @kind: one of these
 * @thread: number of the thread
 * @first: first sector
 * @count: sectors wanted; cut down to those before the next busy one
 * @unit: sectors of a logical block; @first and @count are multiples of it
 * @versions: set to the version of each sector, @count entries
 * @record: set to the number for model_end()
 *
 * Return: number of sectors reserved for the caller, 0 if @first is busy.
 */
uint64_t model_issue(struct model *m, enum op_kind kind, int thread,
		     uint64_t first, uint64_t count, uint64_t unit,
		     uint64_t *versions, uint64_t *record);

/**
 * model_end - end a request of model_issue()
 * @m: the model
 * @kind: as it began
 * @first: as it began
 * @count: result of model_issue()
 * @good: number of acknowledged sectors, from the first on
 * @error: errno of the other sectors, or 0
 * @record: as it began
 */
void model_end(struct model *m, enum op_kind kind, uint64_t first,
	       uint64_t count, uint64_t good, int error, uint64_t record);

/* Record the oldest lawful version of each sector before a read starts. */
void model_read_begin(struct model *m, uint64_t first, uint64_t count,
		      uint64_t *oldest);

/**
 * model_read_end - compare the result of a read with the lawful content
 * @m: the model
 * @first: first sector
 * @count: sectors read
 * @oldest: result of model_read_begin()
 * @data: @count pointers to 512 bytes
 * @where: name of the read device, for the report
 *
 * Prints a report of each sector that is not lawful.
 *
 * Return: number of unlawful sectors.
 */
uint64_t model_read_end(struct model *m, uint64_t first, uint64_t count,
			const uint64_t *oldest, const void *const *data,
			const char *where);

#endif
