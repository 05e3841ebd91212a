// SPDX-License-Identifier: GPL-2.0
/*
 * Append records to STATE from a thread that syncs them, and load the file after
 * the cut.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/mix.h"
#include "base/progress.h"
#include "base/units.h"
#include "conform/cut_state.h"
#include "conform/saved.h"
#include "geometry.h"

#define VERSION		1U
#define KIND_BITS	8U
#define KIND_MASK	((1U << KIND_BITS) - 1)
/*
 * Most numbers that may be sent beyond the last one that was: four times those in
 * flight, and in front of them numbers that are skipped, as the device does not take
 * such a request. As many in a row as there is room for here never are.
 */
#define AHEAD_MOST	(5 * CUT_MAX_DEPTH)
#define BLOCK_MOST	(1U << 20)

static const char magic[] = "alignctl conform";

enum header_at {
	AT_VERSION = 16, AT_SEED = 24, AT_RUN = 32, AT_START = 40, AT_BYTES = 48,
	AT_DEVICE = 56, AT_LOGICAL = 64, AT_BLOCK = 68, AT_SINCE = 72,
	AT_PATH = 80, AT_CHECK = 248,
};

enum record_at { AT_WHAT = 0, AT_TIME = 8, AT_RECORD_CHECK = 16 };

static void put64(uint8_t *at, uint64_t n)
{
	n = htole64(n);
	memcpy(at, &n, sizeof(n));
}

static void put32(uint8_t *at, uint32_t n)
{
	n = htole32(n);
	memcpy(at, &n, sizeof(n));
}

static uint64_t header_check(const uint8_t *header)
{
	uint64_t check = 0;
	size_t at;

	for (at = 0; at < AT_CHECK; at += sizeof(uint64_t))
		check = mix64(check + le64_at(header + at) + 1);
	return check;
}

static uint64_t record_check(uint64_t run, uint64_t index, uint64_t what,
			     uint64_t time)
{
	return mix64(run ^ mix64(index + 1) ^ mix64(what ^ mix64(~time)));
}

/* Writing */

/**
 * struct cut_log - the file that is written
 * @fd: descriptor of the file
 * @run: run number, for the checks
 * @since_ns: time on the monotonic clock at which the records' times are 0
 * @queue: queue to wake when @may_send rises; NULL: none
 * @thread: thread that writes to the disk
 * @lock: protects all that follows
 * @wake: @wanted or @stop has changed, for the thread
 * @done: @on_disk or @error has changed, for cut_log_wait()
 * @pending: records that are not in the file yet
 * @used: bytes of @pending
 * @room: bytes that @pending has memory for
 * @records: number of records
 * @last_ns: time of the last one
 * @said: number of the last record CUT_MAY_SEND
 * @wanted: number of records that are to be on the disk
 * @on_disk: number of records that are
 * @may_send: number of the last CUT_MAY_SEND on the disk
 * @error: errno of the first failure; nothing is written after it
 * @stop: the thread has to end
 */
struct cut_log {
	int fd;
	uint64_t run;
	uint64_t since_ns;
	struct io_queue *queue;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_cond_t done;
	uint8_t *pending;
	size_t used;
	size_t room;
	uint64_t records;
	uint64_t last_ns;
	uint64_t said;
	uint64_t wanted;
	uint64_t on_disk;
	uint64_t may_send;
	int error;
	bool stop;
};

static bool write_all(int fd, const uint8_t *from, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(fd, from, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		from += done;
		bytes -= (size_t)done;
	}
	return true;
}

/* Write what is pending, and have it on the disk; called with the lock held. */
static void write_pending(struct cut_log *log)
{
	uint64_t records = log->records, may_send = log->said;
	CLEANUP_FREE uint8_t *from = log->pending;
	size_t bytes = log->used;
	int error;

	log->pending = NULL;
	log->used = 0;
	log->room = 0;
	pthread_mutex_unlock(&log->lock);
	error = write_all(log->fd, from, bytes) && !fdatasync(log->fd) ?
		0 : errno;
	pthread_mutex_lock(&log->lock);
	if (error) {
		log->error = error;
	} else {
		log->on_disk = records;
		log->may_send = may_send;
	}
	pthread_cond_broadcast(&log->done);
	if (log->queue)
		io_queue_wake(log->queue);
}

static void *write_records(void *context)
{
	struct cut_log *log = context;

	pthread_mutex_lock(&log->lock);
	for (;;) {
		while (!log->stop && (log->error ||
				      log->wanted <= log->on_disk))
			pthread_cond_wait(&log->wake, &log->lock);
		if (log->error || log->wanted <= log->on_disk)
			break;
		write_pending(log);
	}
	pthread_mutex_unlock(&log->lock);
	return NULL;
}

static void encode_header(uint8_t *to, const struct cut_header *header)
{
	memset(to, 0, CUT_STATE_HEADER);
	memcpy(to, magic, sizeof(magic) - 1);
	put64(to + AT_VERSION, VERSION);
	put64(to + AT_SEED, header->area.seed);
	put64(to + AT_RUN, header->area.run);
	put64(to + AT_START, header->area.start);
	put64(to + AT_BYTES, header->area.bytes);
	put64(to + AT_DEVICE, header->device_bytes);
	put32(to + AT_LOGICAL, header->area.logical);
	put32(to + AT_BLOCK, header->area.block);
	put64(to + AT_SINCE, header->since_ns);
	memcpy(to + AT_PATH, header->path,
	       strnlen(header->path, CUT_STATE_PATH));
	put64(to + AT_CHECK, header_check(to));
}

static int start_thread(struct cut_log *log)
{
	sigset_t all, before;
	int error;

	/* leave signals to the thread that sends requests */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&log->thread, NULL, write_records, log);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

void cut_log_refuse(const char *path)
{
	message_error(errno == EEXIST ?
		      "--prepare %s: %s, perhaps of an earlier cut; judge it by --after, or remove it" :
		      "--prepare %s: %s", path, strerror(errno));
}

int cut_log_create(struct cut_log **log, const char *path,
		   const struct cut_header *header, struct io_queue *queue)
{
	struct cut_log *made = memory_or_exit(calloc(1, sizeof(*made)));
	uint8_t bytes[CUT_STATE_HEADER];
	int error = 0;

	*made = (struct cut_log) {
		.run = header->area.run, .since_ns = clock_ns(), .queue = queue,
		.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND |
			   O_CLOEXEC, 0600),
	};
	if (made->fd < 0) {
		cut_log_refuse(path);
		free(made);
		return ALIGNCTL_USAGE;
	}
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->wake, NULL);
	pthread_cond_init(&made->done, NULL);
	encode_header(bytes, header);
	if (!write_all(made->fd, bytes, sizeof(bytes)) || fsync(made->fd) ||
	    !saved_sync_folder(path))
		error = errno;
	if (!error)
		error = start_thread(made);
	if (error) {
		message_error("--prepare %s: %s", path, strerror(error));
		close(made->fd);
		free(made);
		return ALIGNCTL_IO;
	}
	*log = made;
	return ALIGNCTL_FINE;
}

uint64_t cut_log_add(struct cut_log *log, enum cut_record kind, uint64_t number)
{
	uint64_t what = number << KIND_BITS | kind, time;
	uint8_t *to;

	pthread_mutex_lock(&log->lock);
	/* a clock with long ticks must not hide which came first */
	time = clock_ns() - log->since_ns;
	if (time <= log->last_ns)
		time = log->last_ns + 1;
	log->last_ns = time;
	if (log->used + CUT_STATE_RECORD > log->room) {
		log->room = 2 * log->room + 64 * CUT_STATE_RECORD;
		log->pending = memory_or_exit(realloc(log->pending, log->room));
	}
	to = log->pending + log->used;
	log->used += CUT_STATE_RECORD;
	put64(to + AT_WHAT, what);
	put64(to + AT_TIME, time);
	put64(to + AT_RECORD_CHECK,
	      record_check(log->run, log->records++, what, time));
	if (kind == CUT_MAY_SEND)
		log->said = number;
	pthread_mutex_unlock(&log->lock);
	return time;
}

void cut_log_sync(struct cut_log *log)
{
	pthread_mutex_lock(&log->lock);
	log->wanted = log->records;
	pthread_cond_signal(&log->wake);
	pthread_mutex_unlock(&log->lock);
}

int cut_log_wait(struct cut_log *log)
{
	int error;

	cut_log_sync(log);
	pthread_mutex_lock(&log->lock);
	while (!log->error && log->on_disk < log->wanted)
		pthread_cond_wait(&log->done, &log->lock);
	error = log->error;
	pthread_mutex_unlock(&log->lock);
	return error;
}

uint64_t cut_log_may_send(struct cut_log *log)
{
	uint64_t number;

	pthread_mutex_lock(&log->lock);
	number = log->may_send;
	pthread_mutex_unlock(&log->lock);
	return number;
}

int cut_log_error(struct cut_log *log)
{
	int error;

	pthread_mutex_lock(&log->lock);
	error = log->error;
	pthread_mutex_unlock(&log->lock);
	return error;
}

int cut_log_close(struct cut_log *log)
{
	int error = cut_log_wait(log);

	pthread_mutex_lock(&log->lock);
	log->stop = true;
	pthread_cond_signal(&log->wake);
	pthread_mutex_unlock(&log->lock);
	pthread_join(log->thread, NULL);
	if (close(log->fd) && !error)
		error = errno;
	pthread_mutex_destroy(&log->lock);
	pthread_cond_destroy(&log->wake);
	pthread_cond_destroy(&log->done);
	free(log->pending);
	free(log);
	return error;
}

/* Reading */

/* Check that the numbers of a header fit together. */
static bool header_possible(const struct cut_header *header)
{
	const struct cut_area *area = &header->area;

	return align_is_power_of_2(area->logical) &&
	       align_is_power_of_2(area->block) &&
	       area->logical >= ALIGN_SECTOR_SIZE &&
	       area->block >= 2 * area->logical && area->block <= BLOCK_MOST &&
	       area->bytes && area->start % area->logical == 0 &&
	       area->bytes % ((uint64_t)CELL_BLOCKS * area->block) == 0 &&
	       header->device_bytes <= INT64_MAX &&
	       area->bytes <= header->device_bytes &&
	       area->start <= header->device_bytes - area->bytes;
}

/* Read the header. Return: what is wrong with it, or NULL. */
static const char *decode_header(struct cut_header *header, const uint8_t *from,
				 size_t bytes)
{
	if (bytes < CUT_STATE_HEADER &&
	    !memcmp(from, magic, bytes < sizeof(magic) - 1 ?
				 bytes : sizeof(magic) - 1))
		return "ends before anything was sent; prepare again";
	if (bytes < CUT_STATE_HEADER || memcmp(from, magic, sizeof(magic) - 1))
		return "is no file of conform --prepare";
	if (le64_at(from + AT_VERSION) != VERSION)
		return "is of another version of alignctl; take that one";
	if (le64_at(from + AT_CHECK) != header_check(from))
		return "is damaged in its first 256 bytes";
	*header = (struct cut_header) {
		.area = {
			.start = le64_at(from + AT_START),
			.bytes = le64_at(from + AT_BYTES),
			.logical = le32_at(from + AT_LOGICAL),
			.block = le32_at(from + AT_BLOCK),
			.seed = le64_at(from + AT_SEED),
			.run = le64_at(from + AT_RUN),
		},
		.device_bytes = le64_at(from + AT_DEVICE),
		.since_ns = le64_at(from + AT_SINCE),
	};
	memcpy(header->path, from + AT_PATH, CUT_STATE_PATH);
	return header_possible(header) ? NULL : "names an impossible area";
}

/* Find a request that was sent, by its number; NULL: none was. */
static struct cut_sent *find_sent(const struct cut_state *state,
				  uint64_t number)
{
	size_t low = 0, high = state->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state->sent[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < state->nr && state->sent[low].number == number ?
	       &state->sent[low] : NULL;
}

/* Return the lowest number that the next request may have. */
static uint64_t next_number(const struct cut_state *state)
{
	return state->nr ? state->sent[state->nr - 1].number + 1 : 0;
}

/* Take over a record; false: no such record can be there. */
static bool take_record(struct cut_state *state, unsigned int kind,
			uint64_t number, uint64_t time)
{
	struct cut_sent *sent;
	uint64_t part = number & KIND_MASK, error = number >> KIND_BITS;

	switch ((enum cut_record)kind) {
	case CUT_READY:
		state->ready = true;
		return true;
	case CUT_MAY_SEND:
		if (number < state->may_send)
			return false;
		state->may_send = number;
		return true;
	case CUT_BEGAN:
		if (number < next_number(state) || number >= state->may_send)
			return false;
		state->sent[state->nr++] = (struct cut_sent) {
			number, time, UINT64_MAX,
		};
		return true;
	case CUT_ENDED:
		sent = find_sent(state, number);
		if (!sent || sent->ended_ns != UINT64_MAX)
			return false;
		sent->ended_ns = time;
		return true;
	case CUT_UNTRIED:
		if (part >= PART_NR || !error || error > INT_MAX)
			return false;
		state->untried[part] = (int)error;
		return true;
	case CUT_STOPPED:
		if (!number || number > CUT_STOP_STATE)
			return false;
		state->stop = (enum cut_stop)number;
		return true;
	}
	return false;
}

/* Take over the records up to the first one that is not whole. */
static void take_records(struct cut_state *state, const uint8_t *from,
			 size_t bytes)
{
	size_t nr = bytes / CUT_STATE_RECORD, i;

	state->sent = memory_or_exit(calloc(nr + 1, sizeof(*state->sent)));
	for (i = 0; i < nr; i++, from += CUT_STATE_RECORD) {
		uint64_t what = le64_at(from + AT_WHAT);
		uint64_t time = le64_at(from + AT_TIME);

		if (le64_at(from + AT_RECORD_CHECK) !=
		    record_check(state->header.area.run, i, what, time) ||
		    time <= state->last_ns || time == UINT64_MAX ||
		    !take_record(state, what & KIND_MASK, what >> KIND_BITS,
				 time))
			break;
		state->last_ns = time;
	}
	state->left_out = bytes - i * CUT_STATE_RECORD;
}

/* Read all of a file, for free(); NULL with errno set if that fails. */
static uint8_t *read_file(const char *path, size_t *bytes)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *buffer;
	struct stat found;
	ssize_t got;

	if (fd < 0 || fstat(fd, &found))
		return NULL;
	if (!S_ISREG(found.st_mode)) {
		errno = EINVAL;
		return NULL;
	}
	buffer = memory_or_exit(malloc((size_t)found.st_size + 1));
	for (*bytes = 0; *bytes < (size_t)found.st_size; *bytes += (size_t)got) {
		got = read(fd, buffer + *bytes, (size_t)found.st_size - *bytes);
		if (got < 0 && errno == EINTR) {
			got = 0;
		} else if (got < 0) {
			free(buffer);
			return NULL;
		} else if (!got) {
			break;
		}
	}
	return buffer;
}

int cut_state_load(struct cut_state *state, const char *path)
{
	size_t bytes = 0;
	CLEANUP_FREE uint8_t *file = read_file(path, &bytes);
	const char *wrong;

	memset(state, 0, sizeof(*state));
	if (!file) {
		message_error("--after %s: %s", path, strerror(errno));
		return ALIGNCTL_USAGE;
	}
	wrong = decode_header(&state->header, file, bytes);
	if (wrong) {
		message_error("--after %s: %s", path, wrong);
		return ALIGNCTL_USAGE;
	}
	take_records(state, file + CUT_STATE_HEADER, bytes - CUT_STATE_HEADER);
	if (state->may_send > next_number(state) + AHEAD_MOST)
		state->may_send = next_number(state) + AHEAD_MOST;
	return ALIGNCTL_FINE;
}

void cut_state_free(struct cut_state *state)
{
	free(state->sent);
	state->sent = NULL;
}
