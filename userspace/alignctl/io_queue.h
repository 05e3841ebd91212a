/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads and writes with several in flight: io_uring. For one in flight, and
 * where the kernel has no io_uring or forbids it, plain system calls behind the
 * same functions.
 */
#ifndef ALIGNCTL_IO_QUEUE_H
#define ALIGNCTL_IO_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct io_queue;

/**
 * struct io_request - one read or write
 * @write: else a read
 * @dsync: a write that ends when it is durable, as with O_DSYNC
 * @buffer: memory of the caller's, aligned for O_DIRECT
 * @bytes: length
 * @offset: byte on the device
 * @result: when done: bytes transferred, or a negative errno
 */
struct io_request {
	bool write;
	bool dsync;
	void *buffer;
	uint32_t bytes;
	uint64_t offset;
	int result;
};

/* A queue on @fd for @depth requests in flight. Never NULL. */
struct io_queue *io_queue_open(int fd, unsigned int depth);
void io_queue_close(struct io_queue *queue);

/* "io_uring" or "pread/pwrite". */
const char *io_queue_method(const struct io_queue *queue);

/* Are several really in flight together? */
bool io_queue_parallel(const struct io_queue *queue);

/* Starts a request; at most @depth may be under way. */
void io_queue_start(struct io_queue *queue, struct io_request *request);

/* Waits for any request that was started, and returns it with its result. */
struct io_request *io_queue_wait(struct io_queue *queue);

#endif
