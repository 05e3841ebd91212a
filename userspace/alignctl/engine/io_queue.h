/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests with several in flight: io_uring. For one in flight, and where the
 * kernel has no io_uring or forbids it, plain system calls behind the same
 * functions.
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
	IO_DISCARD,		/* of a file: a hole */
	IO_WRITE_ZEROES,	/* without data, where the device can do that */
};

/**
 * struct io_request - one request
 * @op: what it does
 * @dsync: a write that ends when it is durable, as with O_DSYNC
 * @buffer: memory of the caller's, aligned for O_DIRECT; for IO_READ, IO_WRITE
 * @bytes: length; 0 for IO_FLUSH
 * @offset: byte on the device
 * @result: when done: bytes transferred, 0 where nothing is transferred, or a
 *	negative errno
 * @next: io_queue's own
 */
struct io_request {
	enum io_op op;
	bool dsync;
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
 * A queue on @fd for @depth requests in flight. Never NULL. It becomes that of
 * the thread that first starts a request or sleeps, which must also close it.
 */
struct io_queue *io_queue_open(int fd, unsigned int depth);
void io_queue_close(struct io_queue *queue);

/*
 * Lets the kernel know memory that buffers will lie in, for speed; without
 * effect where it cannot. At most once for a queue.
 */
void io_queue_register(struct io_queue *queue, void *memory, size_t bytes);

/* "io_uring" or "pread/pwrite". */
const char *io_queue_method(const struct io_queue *queue);

/* Are several really in flight together? */
bool io_queue_parallel(const struct io_queue *queue);

/* Starts a request; at most @depth may be under way. */
void io_queue_start(struct io_queue *queue, struct io_request *request);

/* Waits for any request that was started, and returns it with its result. */
struct io_request *io_queue_wait(struct io_queue *queue);

/* As io_queue_wait(), but NULL if none has ended. */
struct io_request *io_queue_poll(struct io_queue *queue);

/*
 * Waits until a request has ended, a signal comes, io_queue_wake() has been
 * called, or the monotonic clock reaches @until_ns; UINT64_MAX: never. @busy:
 * is any request under way?
 */
void io_queue_sleep(struct io_queue *queue, uint64_t until_ns, bool busy);

/*
 * Lets other threads end a sleep, the present one or the next; to be called
 * once, before those others are there.
 */
void io_queue_let_wake(struct io_queue *queue);
void io_queue_wake(struct io_queue *queue);

#endif
