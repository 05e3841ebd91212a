// SPDX-License-Identifier: GPL-2.0
/*
 * Send requests from many slots, with each promise logged in STATE, until a
 * signal, an error or the cut.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/mix.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "base/units.h"
#include "conform/content.h"
#include "conform/cut_prepare.h"

/* Requests that may be sent beyond the last one, of those in flight. */
#define AHEAD_TIMES	4U

/**
 * struct slot - a request in flight
 * @io: the request
 * @number: its number
 * @part: kind of the request
 * @memory: its memory, with room to move in it
 * @next: the next free slot
 */
struct slot {
	struct io_request io;
	uint64_t number;
	enum kind_part part;
	char *memory;
	struct slot *next;
};

/**
 * struct work - the requests
 * @options: what to do
 * @prepared: what was done so far
 * @queue: the requests in flight
 * @log: STATE
 * @run: run number of the content
 * @free: slots that are not in flight
 * @in_flight: number of those that are
 * @number: the next number
 * @asked: number up to which STATE is asked to say that requests may be sent
 * @until_ns: end on the monotonic clock; UINT64_MAX: none
 * @progress: progress line
 */
struct work {
	const struct cut_options *options;
	struct cut_prepared *prepared;
	struct io_queue *queue;
	struct cut_log *log;
	uint64_t run;
	struct slot *free;
	unsigned int in_flight;
	uint64_t number;
	uint64_t asked;
	uint64_t until_ns;
	struct progress progress;
};

static void stop_work(struct work *work, enum cut_stop why, int error)
{
	if (work->prepared->stop)
		return;
	work->prepared->stop = why;
	work->prepared->error = error;
}

/* Write the area's first content, and make it durable. */
static int write_area(const struct cut_options *options, uint64_t run)
{
	CLEANUP_FREE char *buffer = io_memory(MIB);
	const struct cut_area *area = &options->area;
	uint64_t at = 0;

	while (at < area->bytes && !interrupt_seen()) {
		uint64_t left = area->bytes - at;
		size_t part = left < MIB ? (size_t)left : MIB;
		ssize_t done;

		content_fill(buffer, area->start + at, part, run, 0);
		done = pwrite(options->fd, buffer, part,
			      (off_t)(area->start + at));
		if (done < 0 && errno == EINTR)
			continue;
		if (done > 0 && done % area->logical == 0) {
			at += (uint64_t)done;
			continue;
		}
		message_error("%s: writing at byte %" PRIu64 ": %s",
			      options->path, area->start + at,
			      done < 0 ? strerror(errno) : "short");
		return ALIGNCTL_IO;
	}
	if (!fdatasync(options->fd))
		return ALIGNCTL_FINE;
	message_error("%s: flush: %s", options->path, strerror(errno));
	return ALIGNCTL_IO;
}

/* Let STATE say in time that more requests may be sent. */
static void ask_ahead(struct work *work)
{
	unsigned int ahead = AHEAD_TIMES * work->options->depth;

	if (work->number + ahead / 2 < work->asked)
		return;
	work->asked = work->number + ahead;
	cut_log_add(work->log, CUT_MAY_SEND, work->asked);
	cut_log_sync(work->log);
}

/* Skip the requests that the device does not take. */
static struct cut_shape next_shape(struct work *work)
{
	struct cut_shape shape = cut_shape(&work->options->area, work->number);

	while (work->prepared->untried[shape.part])
		shape = cut_shape(&work->options->area, ++work->number);
	return shape;
}

static void send_shape(struct work *work, const struct cut_shape *shape)
{
	const struct cut_options *options = work->options;
	const struct cut_area *area = &options->area;
	uint32_t moves = PAGE_BYTES / options->memory;
	struct slot *slot = work->free;

	work->free = slot->next;
	slot->number = work->number++;
	slot->part = shape->part;
	slot->io = (struct io_request) {
		.op = kind_op(shape->part), .dsync = shape->part == PART_FUA,
		.buffer = slot->memory + options->memory *
			  (mix64(area->seed + slot->number) % moves),
		.bytes = (uint64_t)shape->nr * area->logical,
		.offset = shape->nr ?
			  area->start + shape->first * area->logical : 0,
	};
	if (slot->io.op == IO_WRITE)
		content_fill(slot->io.buffer, slot->io.offset, slot->io.bytes,
			     work->run, slot->number + 1);
	work->prepared->sent[shape->part]++;
	work->in_flight++;
	cut_log_add(work->log, CUT_BEGAN, slot->number);
	io_queue_start(work->queue, &slot->io);
}

/*
 * Take the result of a request. What the device does not take is not sent again.
 * Any other error is the device's end, as when its power goes.
 */
static void finish_request(struct work *work, struct slot *slot)
{
	struct cut_prepared *prepared = work->prepared;
	const struct io_request *io = &slot->io;
	int result = io->result;

	work->in_flight--;
	slot->next = work->free;
	work->free = slot;
	if (result >= 0 && (io->op != IO_WRITE ||
			    (uint64_t)result == io->bytes)) {
		prepared->ended[slot->part]++;
		cut_log_add(work->log, CUT_ENDED, slot->number);
		if (io->op == IO_FLUSH || io->dsync)
			cut_log_sync(work->log);
		return;
	}
	if ((io->op == IO_DISCARD || io->op == IO_WRITE_ZEROES) &&
	    (result == -EOPNOTSUPP || result == -EINVAL)) {
		if (!prepared->untried[slot->part])
			cut_log_add(work->log, CUT_UNTRIED,
				    (uint64_t)-result << 8 | slot->part);
		prepared->untried[slot->part] = -result;
		return;
	}
	if (!prepared->stop)
		message_warning("%s: %s of %" PRIu64 " bytes at byte %" PRIu64
				": %s", work->options->path,
				kind_part_name(slot->part), io->bytes,
				io->offset, result < 0 ? strerror(-result) :
							 "short");
	stop_work(work, CUT_STOP_DEVICE, result < 0 ? -result : EIO);
}

/* Check whether no more requests are to be sent, and why. */
static bool is_stopping(struct work *work)
{
	const struct cut_options *options = work->options;

	if (cut_log_error(work->log))
		stop_work(work, CUT_STOP_STATE, cut_log_error(work->log));
	else if (interrupt_seen())
		stop_work(work, CUT_STOP_SIGNAL, 0);
	else if (clock_ns() >= work->until_ns || (options->requests &&
		 work->number >= options->requests))
		stop_work(work, CUT_STOP_ALL, 0);
	return work->prepared->stop != CUT_STOP_NONE;
}

static void show_progress(struct work *work)
{
	CLEANUP_FREE char *text = message_format(
		"conform: %" PRIu64 " requests sent, %" PRIu64
		" flushes ended; cut the power at any time",
		work->number, work->prepared->ended[PART_FLUSH]);

	progress_text(&work->progress, text);
}

static void send_requests(struct work *work)
{
	unsigned int turn = 0;

	for (;;) {
		bool last = is_stopping(work);
		struct io_request *ended;

		while (!last && work->free) {
			struct cut_shape shape = next_shape(work);

			ask_ahead(work);
			if (work->number >= cut_log_may_send(work->log))
				break;
			send_shape(work, &shape);
			last = is_stopping(work);
		}
		if (last && !work->in_flight)
			return;
		if (!(++turn % 256))
			show_progress(work);
		ended = io_queue_poll(work->queue);
		if (ended)
			finish_request(work, (struct slot *)ended);
		else
			io_queue_sleep(work->queue, last ? UINT64_MAX :
				       work->until_ns, work->in_flight > 0);
	}
}

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Prepare area and STATE. Return: enum alignctl_exit, reported. */
static int prepare_area(struct work *work)
{
	const struct cut_options *options = work->options;
	struct cut_header header = {
		.area = options->area, .device_bytes = options->device_bytes,
		.since_ns = realtime_ns(),
	};
	int result;

	work->run = pattern_run(options->area.seed ^ header.since_ns);
	header.area.run = work->run;
	strncpy(header.path, options->path, CUT_STATE_PATH);
	result = cut_log_create(&work->log, options->state, &header,
				work->queue);
	if (result)
		return result;
	result = write_area(options, work->run);
	if (result || interrupt_seen())
		return result;
	cut_log_add(work->log, CUT_READY, 0);
	work->asked = AHEAD_TIMES * options->depth;
	cut_log_add(work->log, CUT_MAY_SEND, work->asked);
	cut_log_wait(work->log);
	return ALIGNCTL_FINE;
}

int cut_prepare(const struct cut_options *options,
		struct cut_prepared *prepared)
{
	struct work work = {
		.options = options, .prepared = prepared,
		.until_ns = UINT64_MAX,
	};
	uint64_t bytes = 2 * (uint64_t)options->area.block + PAGE_BYTES;
	struct slot *slots = memory_or_exit(calloc(options->depth,
						   sizeof(*slots)));
	int result, error;
	unsigned int i;

	memset(prepared, 0, sizeof(*prepared));
	for (i = 0; i < options->depth; i++) {
		slots[i].memory = io_memory(bytes);
		slots[i].next = work.free;
		work.free = &slots[i];
	}
	work.queue = io_queue_open(options->fd, options->depth);
	io_queue_let_wake(work.queue);
	prepared->method = io_queue_method(work.queue);
	progress_start(&work.progress, "conform", 0);
	result = prepare_area(&work);
	if (!result) {
		if (options->seconds)
			work.until_ns = clock_ns() +
					options->seconds * NS_PER_S;
		send_requests(&work);
		cut_log_add(work.log, CUT_STOPPED, prepared->stop);
	}
	progress_end(&work.progress);
	if (work.log) {
		error = cut_log_close(work.log);
		if (error)
			stop_work(&work, CUT_STOP_STATE, error);
	}
	io_queue_close(work.queue);
	for (i = 0; i < options->depth; i++)
		free(slots[i].memory);
	free(slots);
	if (result)
		return result;
	if (prepared->stop == CUT_STOP_STATE)
		message_error("--prepare %s: %s; what it has counts",
			      options->state, strerror(prepared->error));
	return prepared->stop == CUT_STOP_DEVICE ||
	       prepared->stop == CUT_STOP_STATE ? ALIGNCTL_IO : ALIGNCTL_FINE;
}
