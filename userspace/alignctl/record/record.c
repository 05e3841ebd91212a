// SPDX-License-Identifier: GPL-2.0
/*
 * Set up a tracing instance, read its buffers by turns, and write the requests in
 * order of time.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/units.h"
#include "record/arrivals.h"
#include "record/bio_event.h"
#include "record/following.h"
#include "record/record.h"
#include "record/tracefs.h"

/*
 * Pause between turns. Reading each event as it comes would take a processor
 * from the programs that are recorded.
 */
#define PAUSE_NS	10000000L
/* Time between checkpoints, which survive a kill. */
#define CHECKPOINT_NS	NS_PER_S
/* Limit of pages read from one buffer before the next one has its turn. */
#define PAGES_A_TURN	256
/*
 * Limit of the time from an event to its being readable, and from sending a
 * request to its being sent back.
 */
#define SETTLED_NS	(NS_PER_S / 5)

#define QUEUED		"events/block/block_bio_queue/"
#define COMPLETED	"events/block/block_bio_complete/"

struct recorder {
	const struct record_options *options;
	struct record *record;
	struct tracefs tracefs;
	struct ring_format page_format;
	struct bio_format queued_format;
	struct bio_format completed_format;
	struct bio_range range;
	uint8_t *page;
	struct trace_writer *writer;
	struct arrivals arrivals;
	struct following *following;	/* NULL: writes are not followed */
	uint64_t nr_read;
	uint64_t start_ns;	/* start of the recording */
	uint64_t last_ns;	/* time of the last request written */
	uint64_t checkpoint_ns;	/* time of the last checkpoint */
	pid_t command;		/* 0: no command, or it has ended */
};

uint64_t record_requests(const struct record *record)
{
	uint64_t total = 0;
	unsigned int op;

	for (op = 0; op < TRACE_NR_OPS; op++)
		total += record->count[op];
	return total;
}

static int set_range(struct recorder *recorder)
{
	const struct sysfs_device *sys = &recorder->options->device->sys;
	CLEANUP_FREE char *zoned = sysfs_text(sys->disk_dir, "queue/zoned");
	struct bio_range *range = &recorder->range;
	int64_t start;
	dev_t disk;

	if (!sysfs_devno(sys->disk_dir, "dev", &disk)) {
		message_error("%s/dev: cannot be read", sys->disk_dir);
		return ALIGNCTL_IO;
	}
	*range = (struct bio_range) {
		.dev = bio_event_devno(disk),
		.zoned = zoned && strcmp(zoned, "none"),
	};
	if (!sys->partition)
		return ALIGNCTL_FINE;
	if (!sysfs_number(sys->dir, "start", &start) || start < 0 ||
	    !recorder->options->device->sectors) {
		message_error("%s: cannot read the start of the partition",
			      sys->dir);
		return ALIGNCTL_IO;
	}
	range->start = (uint64_t)start;
	range->sectors = recorder->options->device->sectors;
	return ALIGNCTL_FINE;
}

static void set_geometry(struct recorder *recorder)
{
	const struct device *device = recorder->options->device;
	struct record *record = recorder->record;
	uint32_t offset;

	record->blocks_known =
		device_offset_for(device, device->physical, &offset) &&
		!align_geometry_init(&record->geometry, device->physical,
				     device->logical, offset, 0,
				     device->sectors);
}

static int read_event_format(const struct recorder *recorder,
			     const char *file, struct bio_format *format,
			     bool has_comm)
{
	const char *dir = recorder->tracefs.dir;
	CLEANUP_FREE char *text = tracefs_read(dir, file);

	if (!text)
		return ALIGNCTL_IO;
	if (bio_format_parse(format, text, has_comm))
		return ALIGNCTL_FINE;
	message_error("%s/%s: unknown description: %s", dir, file, text);
	return ALIGNCTL_IO;
}

static int read_formats(struct recorder *recorder)
{
	const char *dir = recorder->tracefs.dir;
	CLEANUP_FREE char *page = tracefs_read(dir, "events/header_page");
	int result;

	if (!page)
		return ALIGNCTL_IO;
	if (!ring_format_parse(&recorder->page_format, page)) {
		message_error("%s/events/header_page: unknown description: %s", dir,
			      page);
		return ALIGNCTL_IO;
	}
	recorder->page = memory_or_exit(
		malloc(ring_format_bytes(&recorder->page_format)));
	result = read_event_format(recorder, QUEUED "format",
				   &recorder->queued_format, true);
	if (!result)
		result = read_event_format(recorder, COMPLETED "format",
					   &recorder->completed_format, false);
	return result;
}

static int set_up(struct recorder *recorder)
{
	CLEANUP_FREE char *kib = message_format("%" PRIu64,
						recorder->options->buffer_kib);
	CLEANUP_FREE char *queued = message_format("dev == %" PRIu64,
						   recorder->range.dev);
	CLEANUP_FREE char *sent_back = message_format("%s && error == %d",
						      queued, -EAGAIN);
	const struct { const char *file, *text; } rows[] = {
		/* the clock of clock_ns() */
		{ "trace_clock", "mono" },
		{ "buffer_size_kb", kib },
		/* count events that do not fit, do not overwrite older ones */
		{ "options/overwrite", "0" },
		{ QUEUED "filter", queued },
		{ COMPLETED "filter", sent_back },
	};
	int result = ALIGNCTL_FINE;
	size_t i;

	for (i = 0; !result && i < sizeof(rows) / sizeof(rows[0]); i++)
		result = tracefs_write(&recorder->tracefs, rows[i].file,
				       rows[i].text);
	if (!result)
		result = read_formats(recorder);
	if (!result)
		result = tracefs_open_cpus(&recorder->tracefs);
	return result;
}

void record_count(struct record *record, const struct trace_request *request)
{
	bool zeroes = request->op == TRACE_WRITE_ZEROES;
	struct align_split split;

	record->count[request->op]++;
	record->bytes[request->op] += request->bytes;
	if (!(zeroes || request->op == TRACE_WRITE) || !record->blocks_known)
		return;
	align_split_write(&record->geometry,
			  request->offset >> ALIGN_SECTOR_SHIFT,
			  request->bytes >> ALIGN_SECTOR_SHIFT, &split);
	record->touches += split.nr_touches;
	if (zeroes) {
		record->zeroes_misaligned += split.nr_touches != 0;
		record->zero_touches += split.nr_touches;
	} else {
		record->misaligned += split.nr_touches != 0;
	}
}

/* Take an event of a page; false if it is malformed. */
static bool take_event(struct recorder *recorder,
		       const struct ring_event *event)
{
	struct arrival *next;
	enum bio_kind kind;
	bool sent_back;

	next = arrivals_next(&recorder->arrivals);
	kind = bio_event_read(&recorder->queued_format, event, &recorder->range,
			      &next->request);
	sent_back = kind == BIO_ELSEWHERE;
	if (sent_back)
		kind = bio_event_read(&recorder->completed_format, event,
				      &recorder->range, &next->request);
	switch (kind) {
	case BIO_REQUEST:
	case BIO_SECURE_ERASE:
		next->sent_back = sent_back;
		next->dropped = false;
		next->secure_erase = kind == BIO_SECURE_ERASE;
		recorder->arrivals.nr++;
		recorder->nr_read++;
		return true;
	case BIO_UNKNOWN:
		recorder->record->unknown += !sent_back;
		return true;
	case BIO_ELSEWHERE:
		return true;
	default:
		return false;
	}
}

/*
 * Read a processor's buffer for one turn; set *@more if it may hold more, and
 * *@bound to a time before which all of its events have been read. Return: enum
 * alignctl_exit; errors have been reported.
 */
static int read_cpu(struct recorder *recorder, const struct tracefs_cpu *cpu,
		    uint64_t *bound, bool *more)
{
	const size_t bytes = ring_format_bytes(&recorder->page_format);
	struct ring_event event = { 0 };
	struct ring_page page;
	unsigned int pages;

	*bound = clock_ns();
	for (pages = 0; pages < PAGES_A_TURN; pages++) {
		ssize_t got = read(cpu->fd, recorder->page, bytes);
		enum ring_next next = RING_BROKEN;

		if (got < 0 && errno == EINTR)
			continue;
		if (!got || (got < 0 && errno == EAGAIN))
			break;
		if (got < 0) {
			message_error("%s/trace_pipe_raw: %s", cpu->dir,
				      strerror(errno));
			return ALIGNCTL_IO;
		}
		if (ring_page_open(&page, &recorder->page_format,
				   recorder->page, (size_t)got))
			while ((next = ring_page_next(&page, &event)) ==
			       RING_EVENT)
				if (!take_event(recorder, &event)) {
					next = RING_BROKEN;
					break;
				}
		if (next == RING_BROKEN) {
			message_error("%s/trace_pipe_raw: malformed page from the kernel",
				      cpu->dir);
			return ALIGNCTL_IO;
		}
	}
	/* the next turn reads the rest */
	if (pages == PAGES_A_TURN) {
		*more = true;
		if (event.time_ns < *bound)
			*bound = event.time_ns;
	}
	*bound -= SETTLED_NS;
	return ALIGNCTL_FINE;
}

/* Check whether the recording has reached a limit. */
static bool is_full(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	struct record *record = recorder->record;

	if (options->count && record_requests(record) >= options->count)
		record->stopped = RECORD_STOP_COUNT;
	else if (options->bytes &&
		 trace_writer_bytes(recorder->writer) >= options->bytes)
		record->stopped = RECORD_STOP_SIZE;
	else
		return false;
	return true;
}

static int write_request(struct recorder *recorder, struct arrival *arrival)
{
	struct trace_request *request = &arrival->request;

	if (request->time_ns < recorder->last_ns) {
		request->time_ns = recorder->last_ns;
		recorder->record->late++;
	}
	recorder->last_ns = request->time_ns;
	request->time_ns -= recorder->start_ns;
	record_count(recorder->record, request);
	recorder->record->secure += arrival->secure_erase;
	return trace_writer_add(recorder->writer, request);
}

/* Find and drop the request that came back as @back; it is close before it. */
static void drop_sent_back(struct recorder *recorder, struct arrival *back)
{
	struct arrival *sent = back;

	back->dropped = true;
	recorder->record->sent_back++;
	while (sent-- > recorder->arrivals.at) {
		if (sent->dropped || sent->sent_back ||
		    sent->request.op != back->request.op ||
		    sent->request.offset != back->request.offset ||
		    sent->request.bytes != back->request.bytes)
			continue;
		sent->dropped = true;
		return;
	}
	recorder->record->sent_back_late++;
}

/*
 * Write the requests before @bound, in order of time. Skip turns with little to
 * write, because all arrivals are sorted, also those that have to wait.
 */
static int write_until(struct recorder *recorder, uint64_t bound)
{
	struct arrivals *arrivals = &recorder->arrivals;
	int result = ALIGNCTL_FINE;
	struct arrival *at;
	size_t i;

	if (!arrivals->nr ||
	    bound < arrivals->at->request.time_ns + SETTLED_NS)
		return ALIGNCTL_FINE;
	arrivals_sort(arrivals);
	at = arrivals->at;
	for (i = 0; i < arrivals->nr; i++)
		if (at[i].sent_back && !at[i].dropped)
			drop_sent_back(recorder, &at[i]);
	for (i = 0; !result && i < arrivals->nr &&
	     at[i].request.time_ns < bound && !is_full(recorder); i++)
		if (!at[i].dropped)
			result = write_request(recorder, &at[i]);
	arrivals_drop(arrivals, i);
	return result;
}

/*
 * Read all buffers once, and set *@more if one of them may hold more; with
 * @all, read until they are empty, and write all requests.
 */
static int take_turn(struct recorder *recorder, bool all, bool *more)
{
	const struct tracefs *tracefs = &recorder->tracefs;
	uint64_t bound, least, before;
	int result = ALIGNCTL_FINE;
	unsigned int i;
	bool end;

	do {
		*more = false;
		least = UINT64_MAX;
		before = recorder->nr_read;
		for (i = 0; !result && i < tracefs->nr_cpus; i++) {
			result = read_cpu(recorder, &tracefs->cpu[i], &bound,
					  more);
			if (bound < least)
				least = bound;
		}
		end = all && recorder->nr_read == before;
		if (!result)
			result = write_until(recorder, end ? UINT64_MAX : least);
	} while (!result && all && !end);
	return result;
}

static int start_command(struct recorder *recorder)
{
	char *const *command = recorder->options->command;
	int error;

	if (!command)
		return ALIGNCTL_FINE;
	output_flush();
	error = posix_spawnp(&recorder->command, command[0], NULL, NULL,
			     command, environ);
	if (!error)
		return ALIGNCTL_FINE;
	recorder->command = 0;
	message_error("%s: cannot be run: %s", command[0], strerror(error));
	return ALIGNCTL_USAGE;
}

/* Check whether the command has ended; with @wait, wait for its end. */
static bool command_ended(struct recorder *recorder, bool wait)
{
	pid_t ended;
	int status;

	if (!recorder->command)
		return false;
	do
		ended = waitpid(recorder->command, &status, wait ? 0 : WNOHANG);
	while (ended < 0 && errno == EINTR && wait);
	if (ended != recorder->command)
		return false;
	recorder->command = 0;
	recorder->record->command_status = WIFEXITED(status) ?
		WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

static void show_requests(struct recorder *recorder, struct progress *progress,
			  uint64_t seconds)
{
	const struct record *record = recorder->record;
	CLEANUP_FREE char *text = message_format(
		"%s: %" PRIu64 " requests, %" PRIu64 ":%02" PRIu64 "%s",
		recorder->options->device->sys.name, record_requests(record),
		seconds / 60, seconds % 60,
		recorder->options->command ? "" : "; Ctrl-C ends it");

	progress_text(progress, text);
}

static int write_checkpoint(struct recorder *recorder)
{
	uint64_t now = clock_ns();

	if (now - recorder->checkpoint_ns < CHECKPOINT_NS)
		return ALIGNCTL_FINE;
	recorder->checkpoint_ns = now;
	return trace_writer_checkpoint(recorder->writer);
}

/* Record until a limit, the end of the command, or a signal. */
static int record_loop(struct recorder *recorder)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const uint64_t limit_ns = recorder->options->seconds * NS_PER_S;
	struct record *record = recorder->record;
	struct progress progress;
	uint64_t ran_ns;
	int result;
	bool more;

	progress_start(&progress, "", 0);
	do {
		result = take_turn(recorder, false, &more);
		if (!result && recorder->following)
			result = following_read(recorder->following);
		if (!result)
			result = write_checkpoint(recorder);
		ran_ns = clock_ns() - progress.start_ns;
		if (record->stopped)
			break;
		if (command_ended(recorder, false))
			record->stopped = RECORD_STOP_COMMAND;
		else if (interrupt_seen())
			record->stopped = RECORD_STOP_SIGNAL;
		else if (limit_ns && ran_ns >= limit_ns)
			record->stopped = RECORD_STOP_SECONDS;
		else if (!more)
			nanosleep(&pause, NULL);
		show_requests(recorder, &progress, ran_ns / NS_PER_S);
	} while (!result && !record->stopped);
	progress_end(&progress);
	record->wall_s = ns_to_s(ran_ns);
	return result;
}

static int count_lost(struct recorder *recorder)
{
	const struct tracefs *tracefs = &recorder->tracefs;
	struct record *record = recorder->record;
	uint64_t lost;
	unsigned int i;

	record->lost = memory_or_exit(calloc(tracefs->nr_cpus,
					     sizeof(*record->lost)));
	for (i = 0; i < tracefs->nr_cpus; i++) {
		if (!tracefs_lost(&tracefs->cpu[i], &lost))
			return ALIGNCTL_IO;
		if (!lost)
			continue;
		record->lost[record->nr_lost++] = (struct record_lost) {
			tracefs->cpu[i].number, lost };
		record->lost_total += lost;
	}
	return ALIGNCTL_FINE;
}

static int begin_output(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	struct trace_origin origin = {
		.device = options->device->sys.name,
		.logical = options->device->logical,
		.physical = options->device->physical,
		.offset_known = recorder->record->blocks_known,
		.offset = recorder->record->geometry.offset,
	};
	struct timespec now;
	int result;

	/* events are enabled later, so no request is earlier */
	recorder->start_ns = clock_ns();
	recorder->last_ns = recorder->start_ns;
	clock_gettime(CLOCK_REALTIME, &now);
	origin.start_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
	result = trace_writer_begin(&recorder->writer, options->output,
				    options->format, &origin);
	if (!result)
		trace_writer_keep(recorder->writer);
	return result;
}

static int record_all(struct recorder *recorder)
{
	int result, ended;
	bool more;

	result = tracefs_write(&recorder->tracefs, COMPLETED "enable", "1");
	if (!result)
		result = tracefs_write(&recorder->tracefs, QUEUED "enable",
				       "1");
	if (!result)
		result = start_command(recorder);
	if (!result)
		result = record_loop(recorder);
	ended = tracefs_write(&recorder->tracefs, QUEUED "enable", "0");
	if (!result)
		result = ended;
	if (!result && recorder->following)
		result = following_end(recorder->following);
	if (!result)
		result = take_turn(recorder, true, &more);
	if (!result)
		result = count_lost(recorder);
	return result;
}

int record_run(struct record *record, const struct record_options *options)
{
	struct recorder recorder = { .options = options, .record = record };
	int result;

	memset(record, 0, sizeof(*record));
	set_geometry(&recorder);
	result = set_range(&recorder);
	if (!result && options->follow)
		result = following_check(&record->followed, options->device);
	if (result)
		return result;
	/* before the instance, which has to be removed, is made */
	interrupt_catch();
	result = tracefs_open(&recorder.tracefs);
	if (result)
		return result;
	result = set_up(&recorder);
	if (!result && options->follow)
		result = following_open(&recorder.following, &record->followed,
					options->buffer_kib);
	if (!result)
		result = begin_output(&recorder);
	if (!result) {
		result = record_all(&recorder);
		trace_writer_lost(recorder.writer, record->lost_total);
		if (!result)
			result = trace_writer_end(recorder.writer);
		else
			trace_writer_abandon(recorder.writer);
	}
	following_close(recorder.following);
	tracefs_close(&recorder.tracefs);
	if (recorder.command && (result || interrupt_seen()))
		kill(recorder.command, SIGTERM);
	command_ended(&recorder, true);
	arrivals_free(&recorder.arrivals);
	free(recorder.page);
	return result;
}

void record_free(struct record *record)
{
	free(record->lost);
	followed_free(&record->followed);
}
