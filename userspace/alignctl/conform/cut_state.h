/* SPDX-License-Identifier: GPL-2.0 */
/*
 * STATE, the file that tells after a power cut what had been sent before it, and
 * what had ended. It has to survive the cut, so:
 *
 * - It only grows: a header of 256 bytes, then records of 24 bytes, in the order of
 *   what happened. A check in each says where it belongs; reading ends at the first
 *   one that is not whole. What comes before that is true, even if the rest is missing.
 * - A request may be sent once a record on the disk says so (CUT_MAY_SEND): of one
 *   that STATE does not know nothing can be on the device. That a request is sent
 *   (CUT_BEGAN) need not be on the disk, as the seed tells what it was.
 * - A promise counts once it is on the disk: that a flush or a write with FUA has
 *   ended is synced at once, and with it all that came before. If that record is
 *   lost, less is promised, and nothing wrong is said of the device.
 *
 * All numbers are little-endian, of 64 bits where nothing else is said. Header:
 *
 *   byte   0  "alignctl conform"
 *   byte  16  version of the format
 *   byte  24  seed
 *   byte  32  run number
 *   byte  40  start and length of the area, bytes
 *   byte  56  size of the device, bytes
 *   byte  64  logical and physical block, bytes, 32 bits each
 *   byte  72  time of the first record since 1970, ns
 *   byte  80  path of the device, cut off to 160 bytes, then zeroes
 *   byte 240  zero
 *   byte 248  check
 *
 * Record: the kind in the low 8 bits, and the number above them; the time since the
 * header was made, ns, later than that of the record before; a check of both, of the
 * run number and of the record's place.
 */
#ifndef ALIGNCTL_CONFORM_CUT_STATE_H
#define ALIGNCTL_CONFORM_CUT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conform/cut.h"
#include "engine/io_queue.h"

#define CUT_STATE_HEADER	256U
#define CUT_STATE_RECORD	24U
#define CUT_STATE_PATH		160U

enum cut_record {
	CUT_READY = 1,	/* the area has its first content, which is durable */
	CUT_MAY_SEND,	/* requests of lower numbers may be sent from now on */
	CUT_BEGAN,	/* a request is sent; numbers rise */
	CUT_ENDED,	/* it has ended without an error */
	CUT_UNTRIED,	/* the device does not take a kind: errno << 8 | kind */
	CUT_STOPPED,	/* requests end here: enum cut_stop */
};

/* Why requests ended. */
enum cut_stop {
	CUT_STOP_NONE,		/* they did not: the host died, or was cut off */
	CUT_STOP_ALL,		/* the time was over, or their number reached */
	CUT_STOP_SIGNAL,
	CUT_STOP_DEVICE,	/* the device failed, as without power */
	CUT_STOP_STATE,		/* STATE could not be written */
};

/**
 * struct cut_header - what STATE begins with
 * @area: area, blocks, seed and run number
 * @device_bytes: size of the device
 * @since_ns: time since 1970 at which the records' times are 0
 * @path: path of the device, for people
 */
struct cut_header {
	struct cut_area area;
	uint64_t device_bytes;
	uint64_t since_ns;
	char path[CUT_STATE_PATH + 1];
};

/* Writing. */
struct cut_log;

/*
 * Make a new file, and see that it and its name are on the disk. Waking @queue, if
 * it is not NULL, tells that more requests may be sent. Return: enum alignctl_exit,
 * reported.
 */
int cut_log_create(struct cut_log **log, const char *path,
		   const struct cut_header *header, struct io_queue *queue);

/* Report why such a file cannot be made, by errno. */
void cut_log_refuse(const char *path);

/* Append a record; return its time. */
uint64_t cut_log_add(struct cut_log *log, enum cut_record kind,
		     uint64_t number);

/* Let a thread write to the disk what was appended until now. */
void cut_log_sync(struct cut_log *log);

/* Wait until it is there. Return: 0, or an errno. */
int cut_log_wait(struct cut_log *log);

/* Return up to which number requests may be sent, as the disk has it. */
uint64_t cut_log_may_send(struct cut_log *log);

/* Return the errno with which writing failed, or 0. */
int cut_log_error(struct cut_log *log);

/* Write the rest, and close. Return: 0, or an errno. */
int cut_log_close(struct cut_log *log);

/* Reading. */

/**
 * struct cut_sent - a request that was sent
 * @number: number of the request
 * @began_ns: time before it was sent
 * @ended_ns: time after it had ended; UINT64_MAX: it has not, or has failed
 */
struct cut_sent {
	uint64_t number;
	uint64_t began_ns;
	uint64_t ended_ns;
};

/**
 * struct cut_state - what STATE tells
 * @header: what was to be done
 * @ready: the area had its first content
 * @sent: the requests that were sent, by number
 * @nr: number of these
 * @may_send: requests from the last one of @sent on, and below this number, may have
 *	been sent, too
 * @untried: kinds that the device does not take, as an errno; 0: it takes them
 * @stop: why requests ended
 * @last_ns: time of the last record
 * @left_out: bytes at the end of the file that are no whole records
 */
struct cut_state {
	struct cut_header header;
	bool ready;
	struct cut_sent *sent;
	size_t nr;
	uint64_t may_send;
	int untried[PART_NR];
	enum cut_stop stop;
	uint64_t last_ns;
	uint64_t left_out;
};

/*
 * Read a file, as far as it is whole. Return: enum alignctl_exit, reported; errors
 * leave nothing to free.
 */
int cut_state_load(struct cut_state *state, const char *path);
void cut_state_free(struct cut_state *state);

#endif
