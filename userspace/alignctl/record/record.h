/* SPDX-License-Identifier: GPL-2.0 */
/* Records the requests that reach a block device, by the kernel's tracing. */
#ifndef ALIGNCTL_RECORD_H
#define ALIGNCTL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"
#include "geometry.h"
#include "trace/writer.h"

/**
 * struct record_options - what to record, and how long
 * @device: a block device
 * @output: the file to be made
 * @format: its format
 * @seconds: ends after so many; 0: no limit
 * @requests: likewise
 * @bytes: ends when the file has so many; 0: no limit
 * @buffer_kib: of the kernel's, for each processor
 * @command: runs while it is recorded; NULL: none
 */
struct record_options {
	const struct device *device;
	const char *output;
	enum trace_written format;
	uint64_t seconds;
	uint64_t requests;
	uint64_t bytes;
	uint64_t buffer_kib;
	char *const *command;
};

/**
 * struct record_lost - requests that are missing
 * @cpu: number of the processor that they were sent from
 * @count: how many
 */
struct record_lost {
	unsigned int cpu;
	uint64_t count;
};

/**
 * struct record - what was recorded
 * @count: requests, of each kind
 * @bytes: their length
 * @blocks_known: are the three that follow for the device's own blocks?
 * @geometry: the device's physical blocks
 * @misaligned: writes that cover a block in part
 * @zeroes_misaligned: write-zeroes that do
 * @touches: how many blocks both cover in part
 * @zero_touches: how many of these the write-zeroes do
 * @secure: discards that were secure erases
 * @unknown: requests that are not recorded, as their kind cannot be told
 * @sent_back: requests that are not recorded, as the device sent them back: they
 *	would have had to wait for it (REQ_NOWAIT), and are sent again
 * @sent_back_late: of these, such as were recorded by then
 * @late: requests whose time was set to that of the one before, as they came
 *	in too late to be put in their place
 * @nr_lost: processors whose buffer was full at some time
 * @lost: of each
 * @lost_total: of all
 * @wall_s: seconds that were recorded
 * @stopped: what ended it: "signal", "seconds", "requests", "size", "command"
 * @command_status: as a shell has it, 128 and the number for a signal; valid
 *	if there was a command
 */
struct record {
	uint64_t count[TRACE_NR_OPS];
	uint64_t bytes[TRACE_NR_OPS];
	bool blocks_known;
	struct align_geometry geometry;
	uint64_t misaligned;
	uint64_t zeroes_misaligned;
	uint64_t touches;
	uint64_t zero_touches;
	uint64_t secure;
	uint64_t unknown;
	uint64_t sent_back;
	uint64_t sent_back_late;
	uint64_t late;
	unsigned int nr_lost;
	struct record_lost *lost;
	uint64_t lost_total;
	double wall_s;
	const char *stopped;
	int command_status;
};

/*
 * Records until a limit, the end of the command, or a signal. Return: enum
 * alignctl_exit; ALIGNCTL_FINE also where something is lost. Errors have been
 * reported, and leave no file. @record is for record_free().
 */
int record_run(struct record *record, const struct record_options *options);
void record_free(struct record *record);

/* Counts one that is recorded. */
void record_count(struct record *record, const struct trace_request *request);

/* All requests. */
uint64_t record_requests(const struct record *record);

/* For people, and for programs. */
void record_report_text(const struct record *record,
			const struct record_options *options);
void record_report_json(const struct record *record,
			const struct record_options *options);

#endif
