// SPDX-License-Identifier: GPL-2.0
/*
 * Write block traces in Parquet: a folder with a file for each volume. The draft
 * is text, a line for each request; at its end DuckDB makes the folder of it, in a
 * child process that is told the rest as JSON:
 *
 *	{"metadata": {KEY: TEXT...}, "volumes": [[NUMBER, NAME or null]...]}
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/message.h"
#include "base/signals.h"
#include "trace/format.h"
#include "trace/parquet.h"
#include "trace/parquet_child.h"
#include "trace/percent.h"
#include "trace/unfinished.h"
#include "trace/writer_format.h"

/* Value of a column that a source does not have. */
#define UNKNOWN	"unknown"

/* Original units of the formats, by their names in struct trace_facts. */
static const struct units {
	const char *format;
	const char *time;
	const char *offset;
	const char *length;
} units[] = {
	{ "recording", "ns", "byte", "byte" },
	{ "fio iolog v2", "ms", "byte", "byte" },
	{ "fio iolog v3", "us", "byte", "byte" },
	{ "blktrace", "ns", "512 bytes", "byte" },
	{ "blkparse", "ns", "512 bytes", "512 bytes" },
	{ "ftrace", "us", "512 bytes", "512 bytes" },
	{ "msr", "100 ns", "byte", "byte" },
	{ "alibaba", "us", "byte", "byte" },
	{ "tencent", "s", "512 bytes", "512 bytes" },
	{ "systor", "ns", "byte", "byte" },
	{ "fiu", "ns", "512 bytes", "512 bytes" },
	{ "spc", "us", "512 bytes", "byte" },
	{ "mqsim", "ns", "512 bytes", "512 bytes" },
	{ "blkreplay", "ns", "512 bytes", "512 bytes" },
	{ "vscsi", "us", "512 bytes", "byte" },
	{ "parquet", "ns", "byte", "byte" },
};

static void parquet_begin(struct trace_writer *writer)
{
	(void)writer;
}

static bool parquet_add(struct trace_writer *writer,
			const struct trace_request *request)
{
	unsigned int op = (unsigned int)request->op |
			  (request->preflush ? PARQUET_OP_PREFLUSH : 0) |
			  (request->fua ? PARQUET_OP_FUA : 0);

	if (request->bytes > UINT32_MAX) {
		message_error("%s: request %" PRIu64 " of %" PRIu64 " bytes: column len_bytes ends at 4294967295; write a recording",
			      writer->path, writer->nr + 1, request->bytes);
		return false;
	}
	if (request->time_ns > INT64_MAX) {
		message_error("%s: request %" PRIu64 " at %" PRIu64 " ns: column ts_ns ends at 9223372036854775807; write a recording",
			      writer->path, writer->nr + 1, request->time_ns);
		return false;
	}
	writer->lost[TRACE_LOST_PROCESS] += request->pid || *request->comm;
	fprintf(writer->stream, "%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64 "\n",
		request->file, request->time_ns, writer->nr, op,
		request->offset, request->bytes);
	return true;
}

static void add_number(struct json_object *metadata, const char *key,
		       uint64_t number)
{
	CLEANUP_FREE char *text = message_format("%" PRIu64, number);

	json_add_text(metadata, key, text);
}

static const struct units *units_of(const char *format)
{
	static const struct units unknown = {
		NULL, UNKNOWN, UNKNOWN, UNKNOWN,
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].format, format))
			return &units[i];
	return &unknown;
}

/* Make the metadata of all files. */
static struct json_object *metadata_of(const struct trace_writer *writer)
{
	const struct trace_origin *origin = &writer->origin;
	const struct units *of = units_of(writer->source);
	CLEANUP_FREE char *source =
		message_format("alignctl convert, of a trace in format %s",
			       writer->source);
	struct json_object *metadata = json_new();

	json_add_text(metadata, "source", source);
	json_add_text(metadata, "licence", UNKNOWN);
	json_add_text(metadata, "time_unit", of->time);
	json_add_text(metadata, "offset_unit", of->offset);
	json_add_text(metadata, "length_unit", of->length);
	json_add_text(metadata, "epoch", writer->untimed ? "none" : "start");
	if (origin->start_ns)
		add_number(metadata, "start_ns", origin->start_ns);
	if (origin->device) {
		CLEANUP_FREE char *device = percent_encode(origin->device);

		json_add_text(metadata, "device", device);
	}
	if (origin->logical)
		add_number(metadata, "logical_block_bytes", origin->logical);
	if (origin->physical)
		add_number(metadata, "physical_block_bytes", origin->physical);
	if (origin->offset_known)
		add_number(metadata, "alignment_offset_bytes", origin->offset);
	if (origin->lost)
		add_number(metadata, "lost", origin->lost);
	return metadata;
}

/* Make an array of the volumes that requests go to. */
static struct json_object *volumes_of(const struct trace_writer *writer)
{
	struct json_object *volumes = json_new_array(), *volume;
	uint32_t file;

	for (file = 0; file < TRACE_MAX_FILES; file++) {
		const char *name = trace_names_get(&writer->files, file);
		CLEANUP_FREE char *encoded = name && *name ?
					     percent_encode(name) : NULL;

		if (!writer->used[file])
			continue;
		volume = json_new_array();
		json_append_number(volume, file);
		json_append(volume, json_from_text(encoded));
		json_append(volumes, volume);
	}
	return volumes;
}

/* Return a file in memory with what the child is told; -1: errno is set. */
static int description_of(const struct trace_writer *writer)
{
	struct json_object *all = json_new();
	const char *text;
	size_t length;
	int fd = memfd_create("description", MFD_CLOEXEC);

	json_add(all, "metadata", metadata_of(writer));
	json_add(all, "volumes", volumes_of(writer));
	text = json_object_to_json_string(all);
	length = strlen(text);
	if (fd >= 0 && (pwrite(fd, text, length, 0) != (ssize_t)length)) {
		close(fd);
		fd = -1;
	}
	json_object_put(all);
	return fd;
}

/* Start the child, to which signals go. */
static int start_child(struct parquet_child *child,
		       const struct parquet_command *command)
{
	CLEANUP_SIGNALS sigset_t before = signals_block();
	int result = parquet_child_start(child, command);

	if (!result)
		unfinished_child(child->pid);
	return result;
}

static int parquet_finish(struct trace_writer *writer)
{
	char *const arguments[] = { "write", writer->draft, writer->path,
				    NULL };
	CLEANUP_CLOSE int description = description_of(writer);
	CLEANUP_FREE char *reason = NULL;
	const struct parquet_command command = {
		.path = writer->path, .arguments = arguments,
		.input = description,
	};
	struct parquet_child child;
	int result;

	if (description < 0) {
		message_error("%s: a file in memory: %s", writer->path,
			      strerror(errno));
		return ALIGNCTL_IO;
	}
	result = start_child(&child, &command);
	if (result)
		return result;
	result = parquet_child_wait(&child, &reason);
	unfinished_child(0);
	if (result && !unfinished_seen())
		message_error("%s: %s", writer->path, reason);
	return result;
}

const struct trace_written_format trace_written_parquet = {
	.begin = parquet_begin,
	.add = parquet_add,
	.finish = parquet_finish,
};
