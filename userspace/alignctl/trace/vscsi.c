// SPDX-License-Identifier: GPL-2.0
/*
 * Traces of virtual SCSI disks, version 1: records of 32 bytes, little-endian,
 *
 *	u32 serial number, u32 bytes, u32 segments, u16 SCSI command,
 *	u16 version, u64 sector, u64 microseconds
 *
 * with the version, 1, in the upper byte of its field.
 */
#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/units.h"
#include "geometry.h"
#include "trace/format.h"

#define VERSION		1
#define VERSION_SHIFT	8
#define MAX_COMMAND	0xff

struct record {
	uint32_t serial;
	uint32_t bytes;
	uint32_t segments;
	uint16_t command;
	uint16_t version;
	uint64_t sector;
	uint64_t us;
};

/* Commands of SCSI, SBC-4. */
static const struct {
	uint8_t command;
	enum trace_op op;
} commands[] = {
	{ 0x08, TRACE_READ }, { 0x28, TRACE_READ }, { 0xa8, TRACE_READ },
	{ 0x88, TRACE_READ }, { 0x0a, TRACE_WRITE }, { 0x2a, TRACE_WRITE },
	{ 0xaa, TRACE_WRITE }, { 0x8a, TRACE_WRITE },
	/* WRITE AND VERIFY */
	{ 0x2e, TRACE_WRITE }, { 0xae, TRACE_WRITE }, { 0x8e, TRACE_WRITE },
	/* SYNCHRONIZE CACHE */
	{ 0x35, TRACE_FLUSH }, { 0x91, TRACE_FLUSH },
};

static bool is_record(const struct record *record)
{
	return le16toh(record->version) >> VERSION_SHIFT == VERSION &&
	       le16toh(record->command) <= MAX_COMMAND;
}

static bool vscsi_recognize(const char *head, size_t length)
{
	struct record record;
	size_t at;

	for (at = 0; at + sizeof(record) <= length; at += sizeof(record)) {
		memcpy(&record, head + at, sizeof(record));
		if (!is_record(&record))
			return false;
	}
	return at;
}

static int vscsi_open(struct trace *trace)
{
	trace->facts = (struct trace_facts) {
		.format = "vscsi",
		.timed = true,
	};
	return ALIGNCTL_FINE;
}

/* Set the operation; TRACE_NR_OPS: the command moves no data of the disk. */
static void take_command(struct trace_request *request, uint16_t command)
{
	size_t i;

	request->op = TRACE_NR_OPS;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].command == command)
			request->op = commands[i].op;
}

static enum trace_next vscsi_next(struct trace *trace,
				  struct trace_request *request)
{
	struct trace_input *input = &trace->input;
	struct record record;
	ssize_t got;

	trace->at = (struct trace_place) { input->path, "byte", input->byte };
	got = trace_input_peek(input, sizeof(record));
	if (got < 0)
		return trace_input_failure(input);
	if (!got)
		return TRACE_END;
	if ((size_t)got < sizeof(record))
		return trace_refuse(trace, "the file is truncated in a record of 32 bytes");
	memcpy(&record, input->buffer + input->start, sizeof(record));
	trace_input_take(input, sizeof(record));
	if (!is_record(&record))
		return trace_refuse(trace, "not a record of version 1");
	take_command(request, le16toh(record.command));
	if (le64toh(record.us) > UINT64_MAX / NS_PER_US)
		return trace_refuse(trace, "the time is beyond 64 bits of nanoseconds");
	request->time_ns = le64toh(record.us) * NS_PER_US;
	if (request->op == TRACE_FLUSH || request->op == TRACE_NR_OPS)
		return TRACE_GOT;
	if (le64toh(record.sector) > UINT64_MAX >> ALIGN_SECTOR_SHIFT)
		return trace_refuse(trace, "the sector is beyond 64 bits of bytes");
	request->offset = le64toh(record.sector) << ALIGN_SECTOR_SHIFT;
	request->bytes = le32toh(record.bytes);
	return TRACE_GOT;
}

const struct trace_format trace_vscsi = {
	.no_op = TRACE_LEFT_OTHER_COMMAND,
	.recognize = vscsi_recognize,
	.open = vscsi_open,
	.next = vscsi_next,
	.unsorted = true,
	.foreign = true,
};
