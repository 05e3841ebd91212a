/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of the requests to one disk, as far as it can be added up: parts of
 * a disk's requests have tallies whose sum is the tally of all of them. What depends
 * on the order of requests is known of a whole disk only, and is never added.
 */
#ifndef ALIGNCTL_TALLY_H
#define ALIGNCTL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

/* 128 bits by which the same requests are known again. */
#define TALLY_DIGEST_WORDS	2U

/**
 * struct write_kind - writes that are the same on blocks of some size
 * @nr: number of writes
 * @start: start in a block of that size, sectors
 * @length: length, sectors; one of more than a block is reduced by whole blocks
 *	to less than two, which leaves its touches
 */
struct write_kind {
	uint64_t nr;
	uint32_t start;
	uint32_t length;
};

/**
 * struct tally - the requests to a disk, or a part of them
 * @disk: name of the disk
 * @digest: digest of all requests, their times included, in their order
 * @timed: the requests have times
 * @first_ns: time of the first request, ns on the clock of the trace
 * @last_ns: time of the last request
 * @nr: number of requests
 * @requests: number of requests, by operation
 * @bytes: total length of the requests, by operation
 * @overflow: a sum was above 64 bits
 * @modes_known: what the modes leave is known: @pad_left and @coalesce_left
 * @pad_left: number of blocks that mode pad reads, and touches that it leaves
 * @coalesce_left: number of blocks that mode coalesce reads, and touches that it leaves
 * @kind: hash table of the kinds of writes and write-zeroes, on blocks of the
 *	owner's choice; those without a number are free
 * @nr_kinds: number of kinds
 * @room: number of elements of @kind, a power of two, or 0
 */
struct tally {
	char *disk;
	uint64_t digest[TALLY_DIGEST_WORDS];
	bool timed;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t nr;
	uint64_t requests[TRACE_NR_OPS];
	uint64_t bytes[TRACE_NR_OPS];
	bool overflow;
	bool modes_known;
	uint64_t pad_left;
	uint64_t coalesce_left;
	struct write_kind *kind;
	uint32_t nr_kinds;
	uint32_t room;
};

/* Begin a tally of a disk, without requests. */
void tally_begin(struct tally *tally, const char *disk, bool timed);
void tally_free(struct tally *tally);

/*
 * Count a request, at @time_ns on the clock of the trace, that starts in a block of
 * @sectors at @start.
 */
void tally_note(struct tally *tally, const struct trace_request *request,
		uint64_t time_ns, uint32_t start, uint32_t sectors);

/* Add @nr writes or write-zeroes of a kind. */
void tally_add_kind(struct tally *tally, uint32_t start, uint32_t length,
		    uint64_t nr);

/* Return the kinds, by start and then by length, for free(). */
struct write_kind *tally_kinds(const struct tally *tally);

/* Return the number of writes and write-zeroes, and their bytes. */
static inline uint64_t tally_writes(const struct tally *tally)
{
	return tally->requests[TRACE_WRITE] +
	       tally->requests[TRACE_WRITE_ZEROES];
}

static inline uint64_t tally_written(const struct tally *tally)
{
	return tally->bytes[TRACE_WRITE] + tally->bytes[TRACE_WRITE_ZEROES];
}

/* Tell whether two tallies are of the same requests to the same disk. */
bool tally_same(const struct tally *a, const struct tally *b);

/* Order by disk, then by time, then by digest. */
int tally_compare(const struct tally *a, const struct tally *b);

/*
 * Add the requests of @other, of the same disk, to @sum, which is then of no known
 * digest or modes. Return: false, with @sum of no use, if a sum is above 64 bits.
 */
bool tally_add(struct tally *sum, const struct tally *other);

/* Return the memory of a tally beside the structure itself, bytes. */
size_t tally_bytes(const struct tally *tally);

#endif
