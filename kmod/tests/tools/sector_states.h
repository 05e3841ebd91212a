/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every sector of a region may hold at a given moment.
 *
 * Writes to one sector never overlap in time, so its versions count up by one
 * and everything between the newest acknowledged version and the newest issued
 * one is lawful: such a version is in flight, or it failed and may have reached
 * the drive all the same. Nothing else is lawful, ever.
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
	uint64_t reports;	/* how many of them to print */
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
 * Return: false if there is no memory for it.
 */
bool model_init(struct model *m, uint64_t sectors, uint64_t address,
		uint64_t seed);
void model_free(struct model *m);

/**
 * model_issue - begin a write, discard or write-zeroes
 * @m: the model
 * @kind: which of them
 * @thread: who
 * @first: first sector
 * @count: sectors wanted; cut down to those before the next busy one
 * @unit: sectors of a logical block; @first and @count are multiples of it
 * @versions: set to the version of each sector, @count entries
 * @record: set to the number to end it with
 *
 * Return: how many sectors are now this caller's, 0 if @first is busy.
 */
uint64_t model_issue(struct model *m, enum op_kind kind, int thread,
		     uint64_t first, uint64_t count, uint64_t unit,
		     uint64_t *versions, uint64_t *record);

/**
 * model_end - end what model_issue() began
 * @m: the model
 * @kind: as it began
 * @first: as it began
 * @count: what model_issue() returned
 * @good: the sectors that were acknowledged, from the first on
 * @error: errno of the others, 0 if there are none
 * @record: as it began
 */
void model_end(struct model *m, enum op_kind kind, uint64_t first,
	       uint64_t count, uint64_t good, int error, uint64_t record);

/* Oldest lawful version of each sector, to be noted before a read starts. */
void model_read_begin(struct model *m, uint64_t first, uint64_t count,
		      uint64_t *oldest);

/**
 * model_read_end - compare what a read returned with what is lawful
 * @m: the model
 * @first: first sector
 * @count: sectors read
 * @oldest: as model_read_begin() left it
 * @data: @count pointers to 512 bytes
 * @where: what was read, for the report
 *
 * Prints a report of each sector that is not lawful.
 *
 * Return: sectors that are not lawful.
 */
uint64_t model_read_end(struct model *m, uint64_t first, uint64_t count,
			const uint64_t *oldest, const void *const *data,
			const char *where);

#endif
