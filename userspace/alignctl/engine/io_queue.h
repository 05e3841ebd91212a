/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue of requests, several of them in flight: by io_uring, or by threads
 * with plain system calls, or by both; or with one in flight, by plain system
 * calls of the caller, as where the kernel lacks or forbids io_uring.
 */
#ifndef ALIGNCTL_IO_QUEUE_H
#define ALIGNCTL_IO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

struct io_queue;

enum io_op {
	IO_READ,
	IO_WRITE,
	IO_FLUSH,		/* as fdatasync() */
	IO_DISCARD,		/* in a file: punch a hole */
	IO_WRITE_ZEROES,	/* without data, if the device can */
};

/**
 * struct io_request - one request
 * @op: operation
 * @dsync: the write is durable when it ends, as with O_DSYNC
 * @by_thread: a thread does the request, if the queue has threads
 * @buffer: the caller's memory for IO_READ and IO_WRITE, aligned for O_DIRECT
 * @bytes: length, bytes; 0 for IO_FLUSH
 * @offset: first byte on the device
 * @result: set at the end: bytes transferred, 0 of other operations, or a
 *	negative errno
 * @next: link of the queue's lists
 */
struct io_request {
	enum io_op op;
	bool dsync;
	bool by_thread;
	void *buffer;
	uint64_t bytes;
	uint64_t offset;
	int result;
	struct io_request *next;
};

#define IO_MEMORY_ALIGNMENT	PAGE_BYTES

/* Allocate memory fit for O_DIRECT, for free(). */
void *io_memory(size_t bytes);

/*
 * Report a read or write of the device @path that has ended and failed, or fell
 * short. Return: enum alignctl_exit.
 */
int io_request_check(const struct io_request *request, const char *path);

/*
 * Open a queue on @fd for @depth requests in flight; never NULL. The first
 * thread that starts a request or sleeps owns the queue: no other may do so, or
 * close it.
 */
struct io_queue *io_queue_open(int fd, unsigned int depth);

/* How a queue has several requests in flight. */
#define IO_BY_RING	0x01U	/* io_uring, if there is */
#define IO_BY_THREADS	0x02U	/* threads: where io_uring is not, all requests */

/*
 * Open a queue as io_queue_open() does, by the given methods; 0: by the caller. Exit
 * with a message if there are no threads.
 */
struct io_queue *io_queue_open_by(int fd, unsigned int depth,
				  unsigned int methods);
void io_queue_close(struct io_queue *queue);

/*
 * Register the memory of buffers with the kernel, for speed, at most once for a
 * queue. A failure is ignored.
 */
void io_queue_register(struct io_queue *queue, void *memory, size_t bytes);

/* Return the method's name, "io_uring" or "pread/pwrite". */
const char *io_queue_method(const struct io_queue *queue);

/* Check whether the queue can have several requests in flight. */
bool io_queue_parallel(const struct io_queue *queue);

/* Check whether the queue uses io_uring. */
bool io_queue_has_ring(const struct io_queue *queue);

/* Start a request; at most @depth may be in flight. */
void io_queue_start(struct io_queue *queue, struct io_request *request);

/* Wait for the end of any request in flight; return it with its result. */
struct io_request *io_queue_wait(struct io_queue *queue);

/* Return a request that has ended, or NULL, without waiting. */
struct io_request *io_queue_poll(struct io_queue *queue);

/*
 * Wait for the end of a request, a signal, io_queue_wake(), or until the
 * monotonic clock reaches @until_ns, UINT64_MAX: for ever. @busy: requests are
 * in flight.
 */
void io_queue_sleep(struct io_queue *queue, uint64_t until_ns, bool busy);

/* Prepare io_queue_wake(); call once, before other threads use the queue. */
void io_queue_let_wake(struct io_queue *queue);

/* End a sleep from another thread, the present sleep or else the next one. */
void io_queue_wake(struct io_queue *queue);

#endif
