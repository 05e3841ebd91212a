// SPDX-License-Identifier: GPL-2.0
/* Submit and reap requests by io_uring, by a pool of threads, or one by one. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <liburing.h>
#include <linux/fs.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/units.h"
#include "engine/io_queue.h"

/* Requests in order of arrival, linked by @next. */
struct fifo {
	struct io_request *head;
	struct io_request **tail;
};

/* New in Linux 6.12; the installed headers may be older. */
#ifndef BLOCK_URING_CMD_DISCARD
#define BLOCK_URING_CMD_DISCARD	_IO(0x12, 0)
#endif

/**
 * struct helper - threads for requests by plain system calls, as discards on
 * block devices are, an ioctl, which io_uring lacks before Linux 6.12
 * @threads: the threads, started with the queue; for discards alone, with the first
 * @nr: number of threads
 * @lock: protects @todo, @done and @stop
 * @wake: signals that @todo is not empty, or @stop is set
 * @todo: requests to do
 * @done: requests that have ended
 * @ended: eventfd that counts the requests in @done
 * @count: buffer of the ring's read from @ended
 * @running: @threads have been started
 * @stop: @threads have to end
 */
struct helper {
	pthread_t *threads;
	unsigned int nr;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct fifo todo;
	struct fifo done;
	int ended;
	uint64_t count;
	bool running;
	bool stop;
};

/**
 * struct waker - an event by which another thread ends a sleep
 * @event: eventfd that the queue reads; valid if @open
 * @count: buffer of the ring's read from @event
 * @open: @event is open
 */
struct waker {
	int event;
	uint64_t count;
	bool open;
};

/**
 * struct io_queue - requests in flight on a device
 * @fd: descriptor of the device
 * @block: the device is a block device; else a regular file
 * @uring: requests go through @ring
 * @threads: requests go to @helper: without @ring all, else those that ask for it;
 *	with neither, the caller does them by plain system calls
 * @ring: the ring of io_uring
 * @disabled: no thread owns @ring yet, see enable_queue()
 * @fixed_file: @fd is registered with @ring
 * @no_discard: io_uring cannot discard on this device
 * @fixed: memory registered with @ring
 * @fixed_bytes: length of @fixed, bytes; 0: none
 * @helper: threads for what goes to them, and for discards that @ring cannot do
 * @waker: event that ends a sleep
 * @done: with neither ring nor threads: requests that have ended and not been
 *	returned
 */
struct io_queue {
	int fd;
	bool block;
	bool uring;
	bool threads;
	struct io_uring ring;
	bool disabled;
	bool fixed_file;
	bool no_discard;
	char *fixed;
	size_t fixed_bytes;
	struct helper helper;
	struct waker waker;
	struct fifo done;
};

static void fifo_init(struct fifo *fifo)
{
	fifo->head = NULL;
	fifo->tail = &fifo->head;
}

static void fifo_put(struct fifo *fifo, struct io_request *request)
{
	request->next = NULL;
	*fifo->tail = request;
	fifo->tail = &request->next;
}

static struct io_request *fifo_get(struct fifo *fifo)
{
	struct io_request *request = fifo->head;

	if (request) {
		fifo->head = request->next;
		if (!fifo->head)
			fifo->tail = &fifo->head;
	}
	return request;
}

/*
 * Open the ring for one thread that, from Linux 6.1 on, posts completions when
 * it looks for them, instead of being interrupted by each.
 */
static bool open_ring(struct io_queue *queue, unsigned int entries)
{
	queue->disabled = !io_uring_queue_init(entries, &queue->ring,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
		IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_R_DISABLED);
	return queue->disabled ||
	       !io_uring_queue_init(entries, &queue->ring, 0);
}

void *io_memory(size_t bytes)
{
	size_t rounded = (bytes + IO_MEMORY_ALIGNMENT - 1) &
			 ~(size_t)(IO_MEMORY_ALIGNMENT - 1);

	return memory_or_exit(aligned_alloc(IO_MEMORY_ALIGNMENT, rounded));
}

int io_request_check(const struct io_request *request, const char *path)
{
	const char *what = request->op == IO_WRITE ? "writing" : "reading";

	if (request->result < 0) {
		message_error("%s: %s %" PRIu64 " bytes at byte %" PRIu64 ": %s",
			      path, what, request->bytes, request->offset,
			      strerror(-request->result));
		return ALIGNCTL_IO;
	}
	if ((uint64_t)request->result != request->bytes) {
		message_error("%s: %s at byte %" PRIu64 ": only %d of %" PRIu64
			      " bytes", path, what, request->offset,
			      request->result, request->bytes);
		return ALIGNCTL_IO;
	}
	return ALIGNCTL_FINE;
}

static void helper_start(struct io_queue *queue);

struct io_queue *io_queue_open_by(int fd, unsigned int depth,
				  unsigned int methods)
{
	struct io_queue *queue = memory_or_exit(calloc(1, sizeof(*queue)));
	struct stat found;

	queue->fd = fd;
	queue->block = !fstat(fd, &found) && S_ISBLK(found.st_mode);
	fifo_init(&queue->done);
	queue->threads = methods & IO_BY_THREADS;
	queue->helper.nr = queue->threads ? depth : 1;
	/* one entry more than the depth is for the waker */
	queue->uring = methods & IO_BY_RING && open_ring(queue, depth + 1);
	queue->fixed_file = queue->uring &&
			    !io_uring_register_files(&queue->ring, &fd, 1);
	/* if there are none, the caller has not written to the device yet */
	if (queue->threads)
		helper_start(queue);
	return queue;
}

struct io_queue *io_queue_open(int fd, unsigned int depth)
{
	/*
	 * With one in flight io_uring gains nothing and costs something: it
	 * first issues with NOWAIT, and if a layer must wait, retries from
	 * another thread.
	 */
	return io_queue_open_by(fd, depth, depth > 1 ? IO_BY_RING : 0);
}

void io_queue_register(struct io_queue *queue, void *memory, size_t bytes)
{
	struct iovec range = { memory, bytes };

	if (!queue->uring ||
	    io_uring_register_buffers(&queue->ring, &range, 1))
		return;
	queue->fixed = memory;
	queue->fixed_bytes = bytes;
}

static void helper_stop(struct helper *helper)
{
	unsigned int i;

	if (!helper->running)
		return;
	pthread_mutex_lock(&helper->lock);
	helper->stop = true;
	pthread_cond_broadcast(&helper->wake);
	pthread_mutex_unlock(&helper->lock);
	for (i = 0; i < helper->nr; i++)
		pthread_join(helper->threads[i], NULL);
	free(helper->threads);
	pthread_mutex_destroy(&helper->lock);
	pthread_cond_destroy(&helper->wake);
	close(helper->ended);
}

void io_queue_close(struct io_queue *queue)
{
	helper_stop(&queue->helper);
	/* or the device stays open exclusively until the ring is freed */
	if (queue->fixed_file)
		io_uring_unregister_files(&queue->ring);
	if (queue->uring)
		io_uring_queue_exit(&queue->ring);
	if (queue->waker.open)
		close(queue->waker.event);
	free(queue);
}

const char *io_queue_method(const struct io_queue *queue)
{
	return queue->uring ? "io_uring" : "pread/pwrite";
}

bool io_queue_parallel(const struct io_queue *queue)
{
	return queue->uring || queue->threads;
}

bool io_queue_has_ring(const struct io_queue *queue)
{
	return queue->uring;
}

static int rw_flags(const struct io_request *request)
{
	return request->dsync ? RWF_DSYNC : 0;
}

/* Return fallocate()'s mode for a discard or write-zeroes. */
static int fallocate_mode(const struct io_request *request)
{
	return FALLOC_FL_KEEP_SIZE |
	       (request->op == IO_DISCARD ? FALLOC_FL_PUNCH_HOLE :
					    FALLOC_FL_ZERO_RANGE);
}

/* Do a request by plain system calls. Return: bytes, 0, or a negative errno. */
static int do_plain(const struct io_queue *queue,
		    const struct io_request *request)
{
	struct iovec memory = { request->buffer, request->bytes };
	uint64_t range[] = { request->offset, request->bytes };
	ssize_t got = -1;

	do {
		switch (request->op) {
		case IO_READ:
			got = preadv2(queue->fd, &memory, 1, request->offset,
				      0);
			break;
		case IO_WRITE:
			got = pwritev2(queue->fd, &memory, 1, request->offset,
				       rw_flags(request));
			break;
		case IO_FLUSH:
			got = fdatasync(queue->fd);
			break;
		case IO_DISCARD:
		case IO_WRITE_ZEROES:
			got = queue->block ?
			      ioctl(queue->fd, request->op == IO_DISCARD ?
				    BLKDISCARD : BLKZEROOUT, range) :
			      fallocate(queue->fd, fallocate_mode(request),
					request->offset, request->bytes);
			break;
		}
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static void *helper_run(void *context)
{
	struct io_queue *queue = context;
	struct helper *helper = &queue->helper;
	struct io_request *request;

	pthread_mutex_lock(&helper->lock);
	for (;;) {
		while (!(request = fifo_get(&helper->todo)) && !helper->stop)
			pthread_cond_wait(&helper->wake, &helper->lock);
		if (!request)
			break;
		pthread_mutex_unlock(&helper->lock);
		request->result = do_plain(queue, request);
		pthread_mutex_lock(&helper->lock);
		fifo_put(&helper->done, request);
		if (eventfd_write(helper->ended, 1))
			abort();	/* or the request would never end */
	}
	pthread_mutex_unlock(&helper->lock);
	return NULL;
}

static void helper_start(struct io_queue *queue)
{
	struct helper *helper = &queue->helper;
	sigset_t all, before;
	unsigned int i;
	int wrong = 0;

	helper->threads = memory_or_exit(calloc(helper->nr,
						sizeof(*helper->threads)));
	fifo_init(&helper->todo);
	fifo_init(&helper->done);
	pthread_mutex_init(&helper->lock, NULL);
	pthread_cond_init(&helper->wake, NULL);
	helper->ended = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	/* leave signals to the thread that waits */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < helper->nr && !wrong; i++)
		wrong = pthread_create(&helper->threads[i], NULL, helper_run,
				       queue);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (wrong || helper->ended < 0) {
		message_error("cannot start a thread for requests: %s",
			      strerror(wrong ? wrong : errno));
		exit(ALIGNCTL_IO);
	}
	helper->running = true;
}

/* Get an entry; there is one, as the caller keeps to the depth. */
static struct io_uring_sqe *new_entry(struct io_queue *queue)
{
	return memory_or_exit(io_uring_get_sqe(&queue->ring));
}

static void give_to_helper(struct io_queue *queue, struct io_request *request)
{
	struct helper *helper = &queue->helper;

	/* for discards alone */
	if (!helper->running)
		helper_start(queue);
	pthread_mutex_lock(&helper->lock);
	fifo_put(&helper->todo, request);
	pthread_cond_signal(&helper->wake);
	pthread_mutex_unlock(&helper->lock);
}

/* Give a request to the helper, and await the end of one in the ring. */
static void add_to_helper(struct io_queue *queue, struct io_request *request)
{
	struct helper *helper = &queue->helper;
	struct io_uring_sqe *sqe = new_entry(queue);

	give_to_helper(queue, request);
	io_uring_prep_read(sqe, helper->ended, &helper->count,
			   sizeof(helper->count), 0);
	io_uring_sqe_set_data(sqe, helper);
}

static void prepare_transfer(const struct io_queue *queue,
			     struct io_uring_sqe *sqe,
			     const struct io_request *request)
{
	char *buffer = request->buffer;
	bool fixed = queue->fixed_bytes && buffer >= queue->fixed &&
		     buffer + request->bytes <=
		     queue->fixed + queue->fixed_bytes;

	if (request->op == IO_READ)
		io_uring_prep_read(sqe, queue->fd, buffer, request->bytes,
				   request->offset);
	else
		io_uring_prep_write(sqe, queue->fd, buffer, request->bytes,
				    request->offset);
	if (fixed)	/* buffer 0 is the only one */
		sqe->opcode = request->op == IO_READ ? IORING_OP_READ_FIXED :
						       IORING_OP_WRITE_FIXED;
	sqe->rw_flags = rw_flags(request);
}

static void prepare_discard(const struct io_queue *queue,
			    struct io_uring_sqe *sqe,
			    const struct io_request *request)
{
	if (!queue->block) {
		io_uring_prep_fallocate(sqe, queue->fd, fallocate_mode(request),
					request->offset, request->bytes);
		return;
	}
	/* the command takes the offset as address, the length as addr3 */
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, queue->fd,
			 (void *)(uintptr_t)request->offset, 0, 0);
	sqe->cmd_op = BLOCK_URING_CMD_DISCARD;
	sqe->addr3 = request->bytes;
}

static void add_request(struct io_queue *queue, struct io_request *request)
{
	struct io_uring_sqe *sqe;

	if ((request->by_thread && queue->threads) ||
	    (request->op == IO_DISCARD && queue->block && queue->no_discard)) {
		add_to_helper(queue, request);
		return;
	}
	sqe = new_entry(queue);
	switch (request->op) {
	case IO_READ:
	case IO_WRITE:
		prepare_transfer(queue, sqe, request);
		break;
	case IO_FLUSH:
		io_uring_prep_fsync(sqe, queue->fd, IORING_FSYNC_DATASYNC);
		break;
	case IO_DISCARD:
		prepare_discard(queue, sqe, request);
		break;
	case IO_WRITE_ZEROES:
		io_uring_prep_fallocate(sqe, queue->fd, fallocate_mode(request),
					request->offset, request->bytes);
		break;
	}
	if (queue->fixed_file) {
		sqe->fd = 0;
		io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
	}
	io_uring_sqe_set_data(sqe, request);
}

/* Exit if submitting failed: the request would never end. */
static void check_submitted(int submitted)
{
	if (submitted >= 0)
		return;
	message_error("io_uring_submit: %s", strerror(-submitted));
	exit(ALIGNCTL_IO);
}

static void submit_queue(struct io_queue *queue)
{
	int submitted;

	while (io_uring_sq_ready(&queue->ring)) {
		submitted = io_uring_submit(&queue->ring);
		if (submitted != -EINTR && submitted != -EAGAIN &&
		    submitted != -EBUSY)
			check_submitted(submitted);
	}
}

/* Await io_queue_wake() in the ring. */
static void wait_for_wake(struct io_queue *queue)
{
	struct io_uring_sqe *sqe = new_entry(queue);
	struct waker *waker = &queue->waker;

	io_uring_prep_read(sqe, waker->event, &waker->count,
			   sizeof(waker->count), 0);
	io_uring_sqe_set_data(sqe, waker);
	submit_queue(queue);
}

/* Make the calling thread the ring's owner, unless the ring has one. */
static void enable_queue(struct io_queue *queue)
{
	if (!queue->disabled)
		return;
	queue->disabled = false;
	/* not by io_uring_enable_rings(), which liburing 2.3 does not export */
	if (syscall(__NR_io_uring_register, queue->ring.ring_fd,
		    IORING_REGISTER_ENABLE_RINGS, NULL, 0)) {
		message_error("IORING_REGISTER_ENABLE_RINGS: %s",
			      strerror(errno));
		exit(ALIGNCTL_IO);
	}
	if (queue->waker.open)
		wait_for_wake(queue);
}

void io_queue_start(struct io_queue *queue, struct io_request *request)
{
	if (!queue->uring && queue->threads) {
		give_to_helper(queue, request);
		return;
	}
	if (!queue->uring) {
		request->result = do_plain(queue, request);
		fifo_put(&queue->done, request);
		return;
	}
	enable_queue(queue);
	add_request(queue, request);
	submit_queue(queue);
}

void io_queue_let_wake(struct io_queue *queue)
{
	struct waker *waker = &queue->waker;
	int flags = EFD_CLOEXEC | (queue->uring ? 0 : EFD_NONBLOCK);

	waker->event = eventfd(0, flags);
	if (waker->event < 0) {
		message_error("cannot create an eventfd: %s", strerror(errno));
		exit(ALIGNCTL_IO);
	}
	waker->open = true;
	if (queue->uring && !queue->disabled)
		wait_for_wake(queue);
}

void io_queue_wake(struct io_queue *queue)
{
	if (eventfd_write(queue->waker.event, 1))
		abort();	/* or the owner would sleep for ever */
}

/*
 * Check whether io_uring failed to discard: before Linux 6.12, on a device that
 * refuses NOWAIT (some of dm), or on one without discards, which only the
 * helper can tell apart.
 */
static bool discards_not(struct io_queue *queue,
			 const struct io_request *request)
{
	if (request->op != IO_DISCARD || !queue->block ||
	    (request->result != -EOPNOTSUPP && request->result != -EINVAL))
		return false;
	queue->no_discard = true;
	return true;
}

/* Return a request that a thread has ended, or NULL. */
static struct io_request *take_from_helper(struct helper *helper)
{
	struct io_request *request;

	pthread_mutex_lock(&helper->lock);
	request = fifo_get(&helper->done);
	pthread_mutex_unlock(&helper->lock);
	return request;
}

/* Return a request that has ended without a ring, or NULL. */
static struct io_request *take_without_ring(struct io_queue *queue)
{
	struct helper *helper = &queue->helper;
	struct io_request *request;
	eventfd_t one;

	if (!helper->running)
		return fifo_get(&queue->done);
	request = take_from_helper(helper);
	if (request)
		eventfd_read(helper->ended, &one);
	return request;
}

/*
 * Return the request of a completion; NULL for a wake, and for a discard that
 * the helper tries again.
 */
static struct io_request *take_completion(struct io_queue *queue, struct io_uring_cqe *cqe)
{
	struct helper *helper = &queue->helper;
	struct io_request *request = io_uring_cqe_get_data(cqe);

	if ((void *)request == &queue->waker) {
		io_uring_cqe_seen(&queue->ring, cqe);
		wait_for_wake(queue);
		return NULL;
	}
	if ((void *)request == helper) {
		request = take_from_helper(helper);
		io_uring_cqe_seen(&queue->ring, cqe);
		return request;
	}
	request->result = cqe->res;
	io_uring_cqe_seen(&queue->ring, cqe);
	if (!discards_not(queue, request))
		return request;
	add_to_helper(queue, request);
	submit_queue(queue);
	return NULL;
}

/*
 * Sleep until a thread has ended a request, if @busy, or a wake, without the
 * ring.
 */
static void sleep_without_ring(struct io_queue *queue, uint64_t until_ns,
			       bool busy)
{
	const bool for_ever = until_ns == UINT64_MAX;
	/* poll() leaves out what is negative */
	struct pollfd events[] = {
		{ queue->waker.open ? queue->waker.event : -1, POLLIN, 0 },
		{ busy ? queue->helper.ended : -1, POLLIN, 0 },
	};
	uint64_t now = clock_ns();
	uint64_t left_ns = until_ns > now ? until_ns - now : 0;
	const struct timespec left = {
		.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S,
	};
	eventfd_t count;

	if (!queue->waker.open && !busy && for_ever)
		return;
	if (ppoll(events, 2, for_ever ? NULL : &left, NULL) > 0 &&
	    events[0].revents)
		eventfd_read(queue->waker.event, &count);
}

struct io_request *io_queue_wait(struct io_queue *queue)
{
	struct io_request *request = NULL;
	struct io_uring_cqe *cqe;

	while (!queue->uring) {
		request = take_without_ring(queue);
		if (request || !queue->helper.running)
			return request;
		sleep_without_ring(queue, UINT64_MAX, true);
	}
	while (!request)
		if (io_uring_wait_cqe(&queue->ring, &cqe) != -EINTR)
			request = take_completion(queue, cqe);
	return request;
}

struct io_request *io_queue_poll(struct io_queue *queue)
{
	struct io_uring_cqe *cqe;

	if (!queue->uring)
		return take_without_ring(queue);
	while (!io_uring_peek_cqe(&queue->ring, &cqe)) {
		struct io_request *request = take_completion(queue, cqe);

		if (request)
			return request;
	}
	return NULL;
}

void io_queue_sleep(struct io_queue *queue, uint64_t until_ns, bool busy)
{
	struct __kernel_timespec left = { 0 };
	struct io_uring_cqe *cqe;
	uint64_t now;

	if (!queue->uring || (!busy && !queue->waker.open)) {
		/* busy with neither: plain system calls have all ended */
		if (!busy || queue->helper.running)
			sleep_without_ring(queue, until_ns,
					   busy && !queue->uring);
		return;
	}
	enable_queue(queue);
	if (until_ns == UINT64_MAX) {
		io_uring_wait_cqe(&queue->ring, &cqe);
		return;
	}
	now = clock_ns();
	if (until_ns <= now)
		return;
	left.tv_sec = (until_ns - now) / NS_PER_S;
	left.tv_nsec = (until_ns - now) % NS_PER_S;
	io_uring_wait_cqe_timeout(&queue->ring, &cqe, &left);
}
