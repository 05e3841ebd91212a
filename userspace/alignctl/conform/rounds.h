/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds: a few requests in flight together on a cell of a device, and what is
 * found afterwards. Many cells are at work at the same time, and share nothing.
 */
#ifndef ALIGNCTL_CONFORM_ROUNDS_H
#define ALIGNCTL_CONFORM_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conform/kind.h"

#define ROUNDS_MAX_CELLS	64U

/* What is wrong with a logical block. */
enum fault {
	FAULT_LOST,		/* the content of a write is not there */
	FAULT_STALE,		/* a read found what had been replaced before */
	FAULT_TORN,		/* parts of a logical block are of different writes */
	FAULT_NEIGHBOUR,	/* a block that no request covers has changed */
	FAULT_FOREIGN,		/* the content of another block, or of no request */
	FAULT_NR,
};

/* How the requests of a round are sent. */
enum round_method {
	METHOD_URING,		/* io_uring */
	METHOD_SYNC,		/* threads with system calls, one for each request */
	METHOD_NR,
};

/**
 * struct rounds_options - what to do
 * @fd: the device, opened with O_DIRECT
 * @path: its path, for messages
 * @start: first byte of the area; a physical block begins there
 * @bytes: length of the area, bytes
 * @logical: logical block, bytes
 * @block: physical block, bytes, at least twice as large
 * @memory: alignment of memory that the device takes, bytes
 * @cells: number of cells at work
 * @seed: number that all choices are made from
 * @rounds: number of rounds; 0: until @until_ns
 * @until_ns: end on the monotonic clock; 0: none
 * @kind: the only kind to do; KIND_NR: all
 * @method: the only method; METHOD_NR: both in turn, as far as there is io_uring
 */
struct rounds_options {
	int fd;
	const char *path;
	uint64_t start;
	uint64_t bytes;
	uint32_t logical;
	uint32_t block;
	uint32_t memory;
	unsigned int cells;
	uint64_t seed;
	uint64_t rounds;
	uint64_t until_ns;
	size_t kind;
	enum round_method method;
};

/**
 * struct round_request - a request of a round that went wrong
 * @part: what it was
 * @start: first byte on the device
 * @bytes: length; 0 for a flush
 * @memory: where its memory begins in a page, bytes
 * @began_ns: when it was sent, counted from the first one of the round
 * @ended_ns: when it had ended
 */
struct round_request {
	enum kind_part part;
	uint64_t start;
	uint64_t bytes;
	uint32_t memory;
	uint64_t began_ns;
	uint64_t ended_ns;
};

/**
 * struct round_fault - what a round found
 * @fault: kind of fault
 * @kind: kind of the round
 * @method: how its requests were sent
 * @round: number of the round
 * @random: number that its choices were made from
 * @request: its requests
 * @nr: number of requests
 * @reader: index of the read that found it; @nr: the read afterwards
 * @at: first byte of the logical block
 * @found: index of the request whose content was found; @nr: other content
 * @text: what was expected and what was found, for people; for free()
 */
struct round_fault {
	enum fault fault;
	size_t kind;
	enum round_method method;
	uint64_t round;
	uint64_t random;
	struct round_request request[KIND_PARTS];
	size_t nr;
	size_t reader;
	uint64_t at;
	size_t found;
	char *text;
};

/* Faults that are kept; all are counted. */
#define ROUNDS_FAULTS	32U

/**
 * struct method_rounds - what was done and found by a method
 * @rounds: number of rounds
 * @faulty: number of these with a fault
 */
struct method_rounds {
	uint64_t rounds;
	uint64_t faulty;
};

/**
 * struct rounds_result - what was found
 * @rounds: number of rounds of each kind
 * @faulty: number of these with a fault
 * @method: rounds and faults of each method
 * @faults: number of rounds with a fault of each sort
 * @untried: requests that the device does not take, by part, as an errno; 0: it
 *	takes them
 * @nr: number of faults that are kept
 * @fault: the first ones
 */
struct rounds_result {
	uint64_t rounds[KIND_NR];
	uint64_t faulty[KIND_NR];
	struct method_rounds method[METHOD_NR];
	uint64_t faults[FAULT_NR];
	int untried[PART_NR];
	size_t nr;
	struct round_fault fault[ROUNDS_FAULTS];
};

extern const char *const fault_names[FAULT_NR];

/* Names of the methods, for a row of options. */
extern const char *const round_methods[METHOD_NR];

/* Return the rounds of all kinds together. */
uint64_t rounds_sum(const struct rounds_result *result);

/*
 * Do the rounds, until the options say, or a signal. Return: enum
 * alignctl_exit, reported: ALIGNCTL_FINE also with faults.
 */
int rounds_run(const struct rounds_options *options,
	       struct rounds_result *result);
void rounds_free(struct rounds_result *result);

#endif
