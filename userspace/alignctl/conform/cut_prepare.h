/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Before a power cut: requests in flight together, until a signal stops them or the
 * power goes, with a file that tells afterwards what was sent and what had ended.
 */
#ifndef ALIGNCTL_CONFORM_CUT_PREPARE_H
#define ALIGNCTL_CONFORM_CUT_PREPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "conform/cut_state.h"

/**
 * struct cut_options - what to do
 * @fd: the device, opened with O_DIRECT
 * @path: its path, for messages
 * @state: path of STATE, a new file
 * @area: where to write, and the seed; the run number is chosen here
 * @device_bytes: size of the device
 * @memory: alignment of memory that the device takes, bytes
 * @depth: number of requests in flight
 * @requests: number of requests; 0: no limit
 * @seconds: time for requests; 0: no limit
 */
struct cut_options {
	int fd;
	const char *path;
	const char *state;
	struct cut_area area;
	uint64_t device_bytes;
	uint32_t memory;
	unsigned int depth;
	uint64_t requests;
	uint64_t seconds;
};

/**
 * struct cut_prepared - what was done
 * @sent: number of requests that were sent, by part
 * @ended: number of these that have ended without an error
 * @untried: requests that the device does not take, by part, as an errno; 0: it
 *	takes them
 * @stop: why they ended
 * @error: errno of the device or of STATE, with CUT_STOP_DEVICE and CUT_STOP_STATE
 * @method: how requests were sent
 */
struct cut_prepared {
	uint64_t sent[PART_NR];
	uint64_t ended[PART_NR];
	int untried[PART_NR];
	enum cut_stop stop;
	int error;
	const char *method;
};

/*
 * Write the area, make that durable, and send requests, until the options say, a
 * signal comes, or the device fails. Return: enum alignctl_exit, reported;
 * ALIGNCTL_IO with @prepared set if requests were sent, see there.
 */
int cut_prepare(const struct cut_options *options,
		struct cut_prepared *prepared);

#endif
