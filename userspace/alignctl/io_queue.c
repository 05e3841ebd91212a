// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "exit_codes.h"
#include "io_queue.h"
#include "message.h"

struct io_queue {
	int fd;
	bool uring;
	struct io_uring ring;
	/* without io_uring: what is done and not yet waited for, a ring too */
	struct io_request **done;
	unsigned int depth, head, count;
};

struct io_queue *io_queue_open(int fd, unsigned int depth)
{
	struct io_queue *queue = memory_or_exit(calloc(1, sizeof(*queue)));

	queue->fd = fd;
	queue->depth = depth;
	/*
	 * With one in flight nothing is gained, and something is lost: io_uring
	 * first issues without waiting, a layer that must wait sends that back,
	 * and the second try comes from another thread.
	 */
	queue->uring = depth > 1 &&
		       !io_uring_queue_init(depth, &queue->ring, 0);
	if (!queue->uring)
		queue->done = memory_or_exit(calloc(depth,
						    sizeof(*queue->done)));
	return queue;
}

void io_queue_close(struct io_queue *queue)
{
	if (queue->uring)
		io_uring_queue_exit(&queue->ring);
	free(queue->done);
	free(queue);
}

const char *io_queue_method(const struct io_queue *queue)
{
	return queue->uring ? "io_uring" : "pread/pwrite";
}

bool io_queue_parallel(const struct io_queue *queue)
{
	return queue->uring;
}

static int rw_flags(const struct io_request *request)
{
	return request->dsync ? RWF_DSYNC : 0;
}

static void start_plain(struct io_queue *queue, struct io_request *request)
{
	struct iovec memory = { request->buffer, request->bytes };
	ssize_t got;

	do {
		got = request->write ?
			pwritev2(queue->fd, &memory, 1, request->offset,
				 rw_flags(request)) :
			preadv2(queue->fd, &memory, 1, request->offset, 0);
	} while (got < 0 && errno == EINTR);
	request->result = got < 0 ? -errno : got;
	queue->done[(queue->head + queue->count++) % queue->depth] = request;
}

void io_queue_start(struct io_queue *queue, struct io_request *request)
{
	struct io_uring_sqe *sqe;
	int submitted;

	if (!queue->uring) {
		start_plain(queue, request);
		return;
	}
	/* there is room: the caller keeps to the depth, and each is submitted */
	sqe = memory_or_exit(io_uring_get_sqe(&queue->ring));
	if (request->write)
		io_uring_prep_write(sqe, queue->fd, request->buffer,
				    request->bytes, request->offset);
	else
		io_uring_prep_read(sqe, queue->fd, request->buffer,
				   request->bytes, request->offset);
	sqe->rw_flags = rw_flags(request);
	io_uring_sqe_set_data(sqe, request);
	do {
		submitted = io_uring_submit(&queue->ring);
	} while (submitted == -EINTR || submitted == -EAGAIN ||
		 submitted == -EBUSY);
	if (submitted < 0) {
		/* nobody would ever answer this request */
		message_error("io_uring_submit: %s", strerror(-submitted));
		exit(ALIGNCTL_IO);
	}
}

struct io_request *io_queue_wait(struct io_queue *queue)
{
	struct io_request *request;
	struct io_uring_cqe *cqe;
	int waited;

	if (!queue->uring) {
		request = queue->done[queue->head];
		queue->head = (queue->head + 1) % queue->depth;
		queue->count--;
		return request;
	}
	do {
		waited = io_uring_wait_cqe(&queue->ring, &cqe);
	} while (waited == -EINTR);
	request = io_uring_cqe_get_data(cqe);
	request->result = cqe->res;
	io_uring_cqe_seen(&queue->ring, cqe);
	return request;
}
