// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's blktrace: records of 48 bytes in the kernel's byte order, some
 * followed by data, in a file for each processor or in one that "blkparse -d"
 * merged from these. Requests are the queued (Q) events: bios before the block
 * layer merges, splits or requeues them; of a trace without any, the issued (D)
 * events. blktrace does not tell write-zeroes from writes.
 */
#include <byteswap.h>
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <linux/blktrace_api.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "geometry.h"
#include "trace/blktrace.h"
#include "trace/format.h"

#define VERSION		7U
#define CGROUP_BYTES	8U

/* BLK_TC_ACT() would shift into the sign bit */
#define ACTION_FUA	((uint32_t)BLK_TC_FUA << BLK_TC_SHIFT)

#define FILE_BYTES	(16U << 10)
#define MAX_FILES	512U

/* Size of the cache of process names, indexed by process number modulo this. */
#define NR_NAMES	8192U

static const char ending[] = ".blktrace.";

/**
 * struct cpu_file - the file of a processor
 * @input: the file, either the trace's input or @own
 * @own: the file, if it is not the trace's input; else closed
 * @event: the next event of the file, in the host's byte order
 * @byte: position of @event in the file
 * @has_event: @event is valid
 */
struct cpu_file {
	struct trace_input *input;
	struct trace_input own;
	struct blk_io_trace event;
	uint64_t byte;
	bool has_event;
};

struct process {
	uint32_t pid;
	char comm[TRACE_COMM_BYTES];
};

/**
 * struct blktrace - a trace that is being read
 * @nr: number of files
 * @files: the files, one for each processor
 * @base: time of the first event, ns
 * @device_name: NAME in the files' names, NAME.blktrace.N
 * @device: device number of the previous request
 * @file: number of the trace's file that stands for @device
 * @has_device: @device and @file are valid
 * @processes: cache of process names
 */
struct blktrace {
	uint32_t nr;
	struct cpu_file *files;
	uint64_t base;
	char *device_name;
	uint32_t device;
	uint32_t file;
	bool has_device;
	struct process processes[NR_NAMES];
};

/* Return what a compressor has added to the name of a file; "": nothing. */
static const char *packing_of(const char *path)
{
	static const char *const all[] = { ".gz", ".bz2", ".xz", ".zst" };
	size_t length = strlen(path), i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (length > strlen(all[i]) &&
		    !strcmp(path + length - strlen(all[i]), all[i]))
			return path + length - strlen(all[i]);
	return path + length;
}

/*
 * Return the length of NAME in "NAME.blktrace.N", maybe compressed, "...N.gz"; 0 for
 * any other name.
 */
static size_t stem_length(const char *path)
{
	const char *end = packing_of(path), *digits = end, *at;

	while (digits > path && isdigit((unsigned char)digits[-1]))
		digits--;
	if (digits == end || digits - path < (ptrdiff_t)strlen(ending))
		return 0;
	at = digits - strlen(ending);
	return strncmp(at, ending, strlen(ending)) ? 0 : (size_t)(at - path);
}

bool blktrace_is_member(const char *path)
{
	return stem_length(path);
}

bool blktrace_same(const char *path, const char *other)
{
	size_t length = stem_length(path);

	return length && length == stem_length(other) &&
	       !strncmp(path, other, length) &&
	       !strcmp(packing_of(path), packing_of(other));
}

static int compare_members(const void *a, const void *b)
{
	const char *one = *(char *const *)a, *other = *(char *const *)b;
	size_t length = strlen(one), other_length = strlen(other);

	if (length != other_length)
		return length < other_length ? -1 : 1;
	return strcmp(one, other);
}

/*
 * List the files of a NAME, sorted, with names that end in @packing, or, if it is NULL,
 * in any. Return their number, <= MAX_FILES + 1.
 */
static uint32_t find_members(const char *name, const char *packing,
			     char **members)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	CLEANUP_FREE char *folder = slash ?
		message_format("%.*s", (int)(base - name), name) :
		message_format(".");
	CLEANUP_CLOSEDIR DIR *dir = opendir(folder);
	size_t length = strlen(base);
	struct dirent *entry;
	uint32_t nr = 0;

	while (dir && nr <= MAX_FILES && (entry = readdir(dir))) {
		if (stem_length(entry->d_name) == length &&
		    !strncmp(entry->d_name, base, length) &&
		    (!packing || !strcmp(packing_of(entry->d_name), packing)))
			members[nr++] = message_format("%.*s%s",
						       (int)(base - name), name,
						       entry->d_name);
	}
	qsort(members, nr, sizeof(*members), compare_members);
	return nr;
}

static void free_members(char **members, uint32_t nr)
{
	while (nr--)
		free(members[nr]);
}

char *blktrace_member(const char *name)
{
	char *members[MAX_FILES + 1], *first = NULL;
	uint32_t nr = find_members(name, NULL, members);

	if (nr)
		first = memory_or_exit(strdup(members[0]));
	free_members(members, nr);
	return first;
}

static bool is_magic(uint32_t magic)
{
	return (magic & ~0xffU) == BLK_IO_TRACE_MAGIC;
}

static bool blktrace_recognize(const char *head, size_t length)
{
	uint32_t magic;

	if (length < sizeof(magic))
		return false;
	memcpy(&magic, head, sizeof(magic));
	return is_magic(magic) || is_magic(bswap_32(magic));
}

/* Convert a record to the host's byte order; false: it is none. */
static bool decode_event(struct blk_io_trace *event)
{
	if (is_magic(event->magic))
		return true;
	event->magic = bswap_32(event->magic);
	event->time = bswap_64(event->time);
	event->sector = bswap_64(event->sector);
	event->bytes = bswap_32(event->bytes);
	event->action = bswap_32(event->action);
	event->pid = bswap_32(event->pid);
	event->device = bswap_32(event->device);
	event->pdu_len = bswap_16(event->pdu_len);
	return is_magic(event->magic);
}

static enum trace_next refuse_cut(struct trace *trace,
				  const struct trace_input *input)
{
	trace->at.number = input->byte + (input->end - input->start);
	return trace_refuse(trace, "the file is truncated in a record");
}

static struct process *process_of(struct blktrace *b, uint32_t pid)
{
	return &b->processes[pid % NR_NAMES];
}

/* Take the data behind a record; only process names are used. */
static enum trace_next take_data(struct trace *trace, struct trace_input *input,
				 const struct blk_io_trace *event)
{
	uint32_t what = event->action & 0xffff, skip = 0, left = event->pdu_len;
	bool is_name = event->action & BLK_TC_ACT(BLK_TC_NOTIFY) &&
		       (what & ~__BLK_TN_CGROUP) == __BLK_TN_PROCESS;
	struct process *process = process_of(trace->state, event->pid);
	ssize_t got;

	if (is_name) {
		*process = (struct process) { .pid = event->pid };
		skip = what & __BLK_TN_CGROUP ? CGROUP_BYTES : 0;
	}
	while (left) {
		got = trace_input_peek(input, left < FILE_BYTES ? left : FILE_BYTES);
		if (got < 0)
			return trace_input_failure(input);
		if ((uint32_t)got < left && got < (ssize_t)FILE_BYTES)
			return refuse_cut(trace, input);
		if (is_name && (uint32_t)got > skip) {
			struct trace_request named;
			CLEANUP_FREE char *name = memory_or_exit(
				strndup(input->buffer + input->start + skip,
					(size_t)got - skip));

			trace_set_comm(&named, name);
			memcpy(process->comm, named.comm, sizeof(named.comm));
		}
		is_name = false;
		trace_input_take(input, (size_t)got);
		left -= (uint32_t)got;
	}
	return TRACE_GOT;
}

static bool is_note(const struct blk_io_trace *event)
{
	return event->action & BLK_TC_ACT(BLK_TC_NOTIFY);
}

static bool has_action(const struct blk_io_trace *event, uint32_t action)
{
	return (event->action & 0xffff & ~__BLK_TA_CGROUP) == action &&
	       !(event->action & BLK_TC_ACT(BLK_TC_NOTIFY | BLK_TC_PC));
}

/* Check for an event that counts as a request. */
static bool counts(const struct trace *trace, const struct blk_io_trace *event)
{
	return has_action(event, trace->issued ? __BLK_TA_ISSUE :
						 __BLK_TA_QUEUE);
}

/* Take the next record of a file; TRACE_END: there is none left. */
static enum trace_next take_event(struct trace *trace, struct cpu_file *file)
{
	struct trace_input *input = file->input;
	ssize_t got;

	trace->at = (struct trace_place) { input->path, "byte", input->byte };
	file->byte = input->byte;
	file->has_event = false;
	got = trace_input_peek(input, sizeof(file->event));
	if (got <= 0)
		return got ? trace_input_failure(input) : TRACE_END;
	if ((size_t)got < sizeof(file->event))
		return refuse_cut(trace, input);
	memcpy(&file->event, input->buffer + input->start, sizeof(file->event));
	trace_input_take(input, sizeof(file->event));
	if (!decode_event(&file->event))
		return trace_refuse(trace, "not a blktrace record");
	if ((file->event.magic & 0xff) != VERSION)
		return trace_refuse(trace, "a record of version %" PRIu32 "; only version 7 is supported",
				    file->event.magic & 0xff);
	file->has_event = true;
	trace->seen_queued |= has_action(&file->event, __BLK_TA_QUEUE);
	trace->seen_issued |= has_action(&file->event, __BLK_TA_ISSUE);
	return take_data(trace, input, &file->event);
}

/* Go to the next event that is no note or, with @counted, that counts. */
static enum trace_next advance_file(struct trace *trace, struct cpu_file *file,
				    bool counted)
{
	enum trace_next next;

	do
		next = take_event(trace, file);
	while (next == TRACE_GOT &&
	       (counted ? !counts(trace, &file->event) :
			  is_note(&file->event)));
	return next;
}

/* Find the earliest event, the trace's time 0, and go to those that count. */
static int find_base(struct trace *trace)
{
	struct blktrace *b = trace->state;
	int failed;
	bool found = false;
	uint32_t i;

	for (i = 0; i < b->nr; i++) {
		struct cpu_file *file = &b->files[i];

		failed = trace_next_status(advance_file(trace, file, false));
		if (failed)
			return failed;
		if (!file->has_event)
			continue;
		if (!found || b->base > file->event.time)
			b->base = file->event.time;
		found = true;
	}
	for (i = 0; i < b->nr; i++) {
		struct cpu_file *file = &b->files[i];

		if (!file->has_event || counts(trace, &file->event))
			continue;
		failed = trace_next_status(advance_file(trace, file, true));
		if (failed)
			return failed;
	}
	return ALIGNCTL_FINE;
}

static int open_members(struct trace *trace, char **members, uint32_t nr)
{
	struct blktrace *b = trace->state;
	int failed;

	if (nr > MAX_FILES) {
		message_error("%s: trace of more than 512 files; merge the files with blkparse -d first",
			      trace->input.path);
		return ALIGNCTL_USAGE;
	}
	b->files = memory_or_exit(calloc(nr, sizeof(*b->files)));
	for (; b->nr < nr; b->nr++) {
		struct cpu_file *file = &b->files[b->nr];

		failed = trace_input_open(&file->own, members[b->nr],
					  FILE_BYTES);
		if (failed)
			return failed;
		file->input = &file->own;
	}
	return ALIGNCTL_FINE;
}

static int open_files(struct trace *trace)
{
	struct blktrace *b = trace->state;
	const char *path = trace->input.path;
	size_t length = stem_length(path);
	char *members[MAX_FILES + 1];
	uint32_t nr;
	int failed;

	if (!length) {
		b->files = memory_or_exit(calloc(1, sizeof(*b->files)));
		b->nr = 1;
		b->files[0].input = &trace->input;
		return ALIGNCTL_FINE;
	}
	b->device_name = message_format("%.*s", (int)length, path);
	nr = find_members(b->device_name, packing_of(path), members);
	failed = open_members(trace, members, nr);
	free_members(members, nr);
	return failed;
}

static int blktrace_open(struct trace *trace)
{
	struct blktrace *b = memory_or_exit(calloc(1, sizeof(*b)));
	const char *slash;
	int failed;

	trace->state = b;
	failed = open_files(trace);
	if (failed)
		return failed;
	trace->facts = (struct trace_facts) {
		.format = "blktrace",
		.timed = true,
	};
	if (b->device_name) {
		slash = strrchr(b->device_name, '/');
		trace->facts.origin.device = slash ? slash + 1 : b->device_name;
	}
	return find_base(trace);
}

/* Find the number of the trace's file that stands for an event's device. */
static enum trace_next take_device(struct trace *trace, uint32_t device,
				   uint32_t *file)
{
	struct blktrace *b = trace->state;
	char name[32];

	if (!b->has_device || b->device != device) {
		snprintf(name, sizeof(name), "%" PRIu32 ",%" PRIu32,
			 device >> KERNEL_MINOR_BITS,
			 device & ((1U << KERNEL_MINOR_BITS) - 1));
		if (trace_find_file(trace, name, &b->file) != TRACE_GOT)
			return TRACE_BROKEN;
		b->device = device;
		b->has_device = true;
	}
	*file = b->file;
	return TRACE_GOT;
}

/* Turn an event into a request; @is_request: false if it makes none. */
static enum trace_next take_request(struct trace *trace,
				    const struct blk_io_trace *event,
				    struct trace_request *request,
				    bool *is_request)
{
	struct blktrace *b = trace->state;
	const struct process *process = process_of(b, event->pid);
	bool flush = event->action & BLK_TC_ACT(BLK_TC_FLUSH);

	*is_request = event->bytes || flush;
	if (!*is_request) {
		trace->left_out[TRACE_LEFT_EMPTY]++;
		return TRACE_GOT;
	}
	if (event->time < b->base)
		return trace_refuse(trace, "time is before the first event's");
	if (event->sector > UINT64_MAX >> ALIGN_SECTOR_SHIFT)
		return trace_refuse(trace, "sector %" PRIu64 " is beyond any device",
				    (uint64_t)event->sector);
	*request = (struct trace_request) {
		.time_ns = event->time - b->base,
		.pid = event->pid,
	};
	if (process->pid == event->pid)
		memcpy(request->comm, process->comm, sizeof(request->comm));
	if (event->bytes) {
		request->offset = (uint64_t)event->sector << ALIGN_SECTOR_SHIFT;
		request->bytes = event->bytes;
		request->preflush = flush;
		request->fua = event->action & ACTION_FUA;
	}
	if (!event->bytes)
		request->op = TRACE_FLUSH;
	else if (event->action & BLK_TC_ACT(BLK_TC_DISCARD))
		request->op = TRACE_DISCARD;
	else if (event->action & BLK_TC_ACT(BLK_TC_WRITE))
		request->op = TRACE_WRITE;
	else
		request->op = TRACE_READ;
	return take_device(trace, event->device, &request->file);
}

static struct cpu_file *earliest_file(struct blktrace *b)
{
	struct cpu_file *earliest = NULL;
	uint32_t i;

	for (i = 0; i < b->nr; i++)
		if (b->files[i].has_event &&
		    (!earliest || b->files[i].event.time < earliest->event.time))
			earliest = &b->files[i];
	return earliest;
}

static enum trace_next blktrace_next(struct trace *trace,
				     struct trace_request *request)
{
	struct blktrace *b = trace->state;
	struct cpu_file *file;
	struct trace_place place;
	enum trace_next next, after;
	bool is_request;

	do {
		file = earliest_file(b);
		if (!file)
			return trace_end_queued(trace, request);
		place = (struct trace_place) { file->input->path, "byte",
					       file->byte };
		trace->at = place;
		next = take_request(trace, &file->event, request, &is_request);
		if (next == TRACE_GOT) {
			after = advance_file(trace, file, true);
			if (trace_next_status(after))
				next = after;
		}
		trace->at = place;
	} while (next == TRACE_GOT && !is_request);
	return next;
}

static void blktrace_close(struct trace *trace)
{
	struct blktrace *b = trace->state;
	uint32_t i;

	if (!b)
		return;
	for (i = 0; i < b->nr; i++)
		trace_input_close(&b->files[i].own);
	free(b->files);
	free(b->device_name);
	free(b);
}

const struct trace_format trace_blktrace = {
	.recognize = blktrace_recognize,
	.open = blktrace_open,
	.next = blktrace_next,
	.close = blktrace_close,
	.unsorted = true,
};
