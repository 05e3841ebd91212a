// SPDX-License-Identifier: GPL-2.0
/*
 * Write requests to a draft, tell what the format lost, and rename the draft when
 * it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "trace/format.h"
#include "trace/writer_format.h"

#define STREAM_BYTES	(64U << 10)

const char *const trace_written_names[TRACE_NR_WRITTEN] = {
	[TRACE_WRITE_RECORDING] = "recording",
	[TRACE_WRITE_IOLOG] = "fio",
	[TRACE_WRITE_CSV] = "csv",
	[TRACE_WRITE_PARQUET] = "parquet",
};

static const struct trace_written_format *const formats[TRACE_NR_WRITTEN] = {
	[TRACE_WRITE_RECORDING] = &trace_written_recording,
	[TRACE_WRITE_IOLOG] = &trace_written_iolog,
	[TRACE_WRITE_CSV] = &trace_written_csv,
	[TRACE_WRITE_PARQUET] = &trace_written_parquet,
};

const char *const trace_lost_names[TRACE_NR_LOST] = {
	[TRACE_LOST_FUA] = "fua",
	[TRACE_LOST_PREFLUSH] = "preflush",
	[TRACE_LOST_ZEROES] = "write_zeroes",
	[TRACE_LOST_PROCESS] = "process",
	[TRACE_LOST_LINE_END] = "line_end",
};

/* Texts of the warning: property, how it is written, formats with it. */
static const struct { const char *lacks, *becomes, *kept_by; }
lost_texts[TRACE_NR_LOST] = {
	[TRACE_LOST_FUA] = { "FUA", "written without it",
			     "recording or csv" },
	[TRACE_LOST_PREFLUSH] = { "preflush",
				  "written without it",
				  "recording or csv" },
	[TRACE_LOST_ZEROES] = { "write-zeroes", "written as writes",
				"recording or csv" },
	[TRACE_LOST_PROCESS] = { "processes",
				 "written without their number and name",
				 "recording or csv" },
	[TRACE_LOST_LINE_END] = { "line ends in process names",
				  "written with '?' instead",
				  "recording" },
};

static int report_failure(const struct trace_writer *writer)
{
	message_error("%s: cannot be written: %s", writer->path,
		      strerror(errno));
	return ALIGNCTL_IO;
}

/*
 * Create the draft, or open the one that a killed program has left; do not wait for the
 * reader of a pipe. @made: set if it was created. Return: the descriptor, or -1 with
 * errno set.
 */
static int open_draft(const char *path, bool *made)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	*made = fd >= 0;
	return *made || errno != EEXIST ? fd :
		open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/*
 * Check for a regular file of this user's with one name. Another user who may create
 * files in the folder can create the draft first, and could read and change the trace.
 */
static bool is_ours(const struct stat *found)
{
	return S_ISREG(found->st_mode) && found->st_nlink <= 1 &&
	       found->st_uid == geteuid();
}

/*
 * Make the draft empty, unless another process writes it, which is not known where the
 * file system has no locks, or it was not @made here and may be another user's. The lock is held until the draft has got its name: what
 * has been opened may be another one's whole trace by now. Return: as
 * trace_writer_begin().
 */
static int take_draft(struct trace_writer *writer, int fd, bool made)
{
	struct stat opened, found;
	bool locked;

	if (!made && !fstat(fd, &opened) && !is_ours(&opened)) {
		message_error("%s: is another user's, has another name too, or is no regular file; remove it, or name another file",
			      writer->draft);
		return ALIGNCTL_USAGE;
	}
	locked = !flock(fd, LOCK_EX | LOCK_NB);
	if ((!locked && errno == EWOULDBLOCK) || fstat(fd, &opened) ||
	    lstat(writer->draft, &found) || found.st_dev != opened.st_dev ||
	    found.st_ino != opened.st_ino) {
		message_error("%s: another process is writing it; name another file",
			      writer->draft);
		return ALIGNCTL_BUSY;
	}
	writer->lock = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return writer->lock < 0 || ftruncate(fd, 0) ? report_failure(writer) :
						      ALIGNCTL_FINE;
}

int trace_writer_begin(struct trace_writer **begun, const char *path,
		       enum trace_written format,
		       const struct trace_origin *origin)
{
	struct trace_writer *writer;
	struct stat found;
	bool there = !stat(path, &found);
	int fd, result;
	bool made;

	*begun = NULL;
	if (there && !S_ISREG(found.st_mode)) {
		message_error("%s: exists and is not a regular file; name a new file",
			      path);
		return ALIGNCTL_USAGE;
	}
	writer = memory_or_exit(calloc(1, sizeof(*writer)));
	writer->format = formats[format];
	writer->lock = -1;
	writer->replaces = there;
	writer->path = message_format("%s", path);
	writer->draft = message_format("%s.new", path);
	writer->origin = *origin;
	writer->source = message_format("%s", "");
	if (origin->device)
		writer->origin.device = message_format("%s", origin->device);
	fd = open_draft(writer->draft, &made);
	result = fd < 0 ? report_failure(writer) : take_draft(writer, fd, made);
	if (!result) {
		writer->stream = fdopen(fd, "w");
		result = writer->stream ? ALIGNCTL_FINE : report_failure(writer);
	}
	if (result) {
		if (fd >= 0)
			close(fd);
		trace_writer_abandon(writer);
		return result;
	}
	/* the C library ignores the size if it allocates the buffer */
	writer->buffer = memory_or_exit(malloc(STREAM_BYTES));
	setvbuf(writer->stream, writer->buffer, _IOFBF, STREAM_BYTES);
	writer->format->begin(writer);
	*begun = writer;
	return ALIGNCTL_FINE;
}

static void release_writer(struct trace_writer *writer)
{
	if (writer->state && writer->format->release)
		writer->format->release(writer);
	if (writer->lock >= 0)
		close(writer->lock);
	free((char *)writer->origin.device);
	free(writer->source);
	free(writer->path);
	free(writer->draft);
	free(writer->buffer);
	free(writer->state);
	trace_names_free(&writer->files);
	free(writer);
}

/* Remove the draft, which is closed, or leave its readable part. */
static void drop_draft(const struct trace_writer *writer, bool keep)
{
	/* closing it may have written the half of something */
	if (!keep || !writer->nr_flushed ||
	    truncate(writer->draft, (off_t)writer->flushed)) {
		unlink(writer->draft);
		return;
	}
	message_error("%s: has the first %" PRIu64 " requests; plan, replay and convert can read it",
		      writer->draft, writer->nr_flushed);
}

void trace_writer_abandon(struct trace_writer *writer)
{
	bool failed;

	if (!writer)
		return;
	if (writer->stream) {
		failed = ferror(writer->stream);
		fclose(writer->stream);
		drop_draft(writer, writer->keep && failed);
	}
	release_writer(writer);
}

void trace_writer_source(struct trace_writer *writer,
			 const struct trace_facts *facts)
{
	free(writer->source);
	writer->source = message_format("%s", facts->format);
	writer->untimed = !facts->timed;
}

int trace_writer_file(struct trace_writer *writer, uint32_t file,
		      const char *name)
{
	const char *fault;

	if (file >= TRACE_MAX_FILES)
		fault = "more than 1024 files";
	else if (writer->used[file])
		fault = "its first request precedes its name";
	else
		fault = trace_names_set(&writer->files, file, name);
	if (fault) {
		message_error("%s: file %s: %s", writer->path, name, fault);
		return ALIGNCTL_USAGE;
	}
	if (writer->format->file)
		writer->format->file(writer, file);
	return ALIGNCTL_FINE;
}

/* Note that all requests so far are in the file, unless a write has failed. */
static void note_flushed(struct trace_writer *writer)
{
	if (ferror(writer->stream))
		return;
	writer->flushed = trace_writer_bytes(writer);
	writer->nr_flushed = writer->nr;
}

/* Flush whole lines before the buffer is full, which would split a line. */
static void flush_lines(struct trace_writer *writer)
{
	if (writer->format->checkpoint ||
	    trace_writer_bytes(writer) - writer->flushed < STREAM_BYTES / 2)
		return;
	fflush(writer->stream);
	note_flushed(writer);
}

int trace_writer_checkpoint(struct trace_writer *writer)
{
	if (writer->format->checkpoint)
		writer->format->checkpoint(writer);
	else
		fflush(writer->stream);
	note_flushed(writer);
	return ferror(writer->stream) ? report_failure(writer) : ALIGNCTL_FINE;
}

int trace_writer_add(struct trace_writer *writer,
		     const struct trace_request *request)
{
	const char *fault = trace_request_fault(request);

	if (!fault && request->time_ns < writer->last_ns)
		fault = "time is before the previous request's";
	if (!fault && request->file >= TRACE_MAX_FILES)
		fault = "more than 1024 files";
	if (fault) {
		message_error("%s: request %" PRIu64 ": %s", writer->path,
			      writer->nr + 1, fault);
		return ALIGNCTL_USAGE;
	}
	if (!writer->format->add(writer, request))
		return ALIGNCTL_USAGE;
	writer->nr++;
	writer->used[request->file] = true;
	writer->last_ns = request->time_ns;
	if (writer->end < request->offset + request->bytes)
		writer->end = request->offset + request->bytes;
	flush_lines(writer);
	return ferror(writer->stream) ? report_failure(writer) : ALIGNCTL_FINE;
}

uint64_t trace_writer_not_expressed(const struct trace_writer *writer,
				    enum trace_lost what)
{
	return writer->lost[what];
}

uint64_t trace_writer_bytes(const struct trace_writer *writer)
{
	return (uint64_t)ftello(writer->stream);
}

void trace_writer_keep(struct trace_writer *writer)
{
	writer->keep = true;
}

void trace_writer_lost(struct trace_writer *writer, uint64_t requests)
{
	writer->origin.lost = requests;
}

/* Warn of what the format could not express. */
static void warn_lost(const struct trace_writer *writer)
{
	const char *name = NULL;
	size_t i;

	for (i = 0; i < TRACE_NR_WRITTEN; i++)
		if (writer->format == formats[i])
			name = trace_written_names[i];
	for (i = 0; i < TRACE_NR_LOST; i++)
		if (writer->lost[i])
			message_warning("%s: format %s cannot express %s: %" PRIu64
					" requests %s; use format %s",
					writer->path, name,
					lost_texts[i].lacks, writer->lost[i],
					lost_texts[i].becomes,
					lost_texts[i].kept_by);
}

/*
 * Give the complete draft its name, which another program may have taken since the
 * begin. Return: as trace_writer_begin().
 */
static int name_draft(struct trace_writer *writer)
{
	unsigned int flags = writer->replaces ? 0 : RENAME_NOREPLACE;

	if (!renameat2(AT_FDCWD, writer->draft, AT_FDCWD, writer->path, flags))
		return ALIGNCTL_FINE;
	if (errno == EEXIST) {
		writer->keep = true;
		message_error("%s: has been made meanwhile, and is not overwritten; the whole trace is %s, rename it",
			      writer->path, writer->draft);
		return ALIGNCTL_BUSY;
	}
	/* not every file system knows the flag */
	return errno == EINVAL && !rename(writer->draft, writer->path) ?
		       ALIGNCTL_FINE : report_failure(writer);
}

/* Make the file of the complete draft. Return: as trace_writer_begin(). */
static int finish_file(struct trace_writer *writer)
{
	int result;

	if (!writer->format->finish)
		return name_draft(writer);
	result = writer->format->finish(writer);
	unlink(writer->draft);
	return result;
}

int trace_writer_end(struct trace_writer *writer)
{
	FILE *stream = writer->stream;
	bool written;
	int result;

	if (writer->format->end)
		writer->format->end(writer);
	written = !fflush(stream) && !ferror(stream) && !fsync(fileno(stream));
	if (fclose(stream) || !written) {
		result = report_failure(writer);
		drop_draft(writer, writer->keep);
	} else {
		result = finish_file(writer);
		if (result && !writer->keep)
			unlink(writer->draft);
	}
	if (!result)
		warn_lost(writer);
	release_writer(writer);
	return result;
}
