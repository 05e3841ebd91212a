/* SPDX-License-Identifier: GPL-2.0 */
/* Record the requests that reach a block device, by the kernel's tracing. */
#ifndef ALIGNCTL_RECORD_H
#define ALIGNCTL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/schema.h"
#include "record/following.h"
#include "sysfs/device.h"
#include "trace/writer.h"
#include "geometry.h"

/**
 * struct record_options - what to record, and how long
 * @device: the block device
 * @output: path of the file to write
 * @format: format of the file
 * @seconds: limit of time, s; 0: no limit
 * @count: limit of requests; 0: no limit
 * @bytes: limit of the file's size, bytes; 0: no limit
 * @buffer_kib: size of the kernel's buffer for each processor, KiB
 * @command: command that runs during the recording; NULL: none
 * @follow: follow the writes to the requests that reach the driver
 */
struct record_options {
	const struct device *device;
	const char *output;
	enum trace_written format;
	uint64_t seconds;
	uint64_t count;
	uint64_t bytes;
	uint64_t buffer_kib;
	char *const *command;
	bool follow;
};

/**
 * struct record_lost - requests that are missing
 * @cpu: number of the processor that sent the requests
 * @count: number of missing requests
 */
struct record_lost {
	unsigned int cpu;
	uint64_t count;
};

/* Cause of the end of a recording. */
enum record_stop {
	RECORD_STOP_NONE,
	RECORD_STOP_SIGNAL,
	RECORD_STOP_SECONDS,
	RECORD_STOP_COUNT,
	RECORD_STOP_SIZE,
	RECORD_STOP_COMMAND,
	RECORD_NR_STOPS
};

/**
 * struct record - the result of recording
 * @count: number of recorded requests, by operation
 * @bytes: total length of the recorded requests, by operation
 * @blocks_known: @geometry and the counts of touches are valid
 * @geometry: physical blocks of the device
 * @misaligned: number of writes with a partial touch
 * @zeroes_misaligned: number of write-zeroes with a partial touch
 * @touches: number of partial touches of writes and write-zeroes
 * @zero_touches: number of partial touches of write-zeroes
 * @secure: number of discards that were secure erases
 * @unknown: number of requests not recorded because of an unknown operation
 * @sent_back: number of requests not recorded because the device sent them
 *	back: they would have had to wait (REQ_NOWAIT), and are sent again
 * @sent_back_late: number of requests sent back after they had been recorded
 * @late: number of requests that were read too late to be sorted in, and got
 *	the previous request's time
 * @nr_lost: number of processors whose buffer was full at some time
 * @lost: requests missing, for each of these processors
 * @lost_total: number of requests missing, of all processors
 * @wall_s: length of the recording, seconds
 * @stopped: cause of the end
 * @command_status: exit status of the command as in a shell, 128 and the number
 *	for a signal; valid if there was a command
 * @followed: account of what became of the writes; valid if they were followed
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
	enum record_stop stopped;
	int command_status;
	struct followed followed;
};

/*
 * Record until a limit, the end of the command, or a signal. Return: enum
 * alignctl_exit; ALIGNCTL_FINE also if requests were lost. Errors have been
 * reported, and leave no file but, if it could not be written, the part of the draft
 * that could be. Free @record with record_free().
 */
int record_run(struct record *record, const struct record_options *options);
void record_free(struct record *record);

/* Count a recorded request. */
void record_count(struct record *record, const struct trace_request *request);

/* Return the number of recorded requests. */
uint64_t record_requests(const struct record *record);

/* What record_report_json() prints. */
extern const struct schema_document record_report_schema;

/* Print the result, for people or as JSON. */
void record_report_text(const struct record *record,
			const struct record_options *options);
void record_report_json(const struct record *record,
			const struct record_options *options);

#endif
