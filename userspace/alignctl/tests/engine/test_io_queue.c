// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/progress.h"
#include "engine/io_queue.h"
#include "tests/no_io_uring.h"
#include "tests/tap.h"

#define DEPTH	4
#define BYTES	4096

/* How the pieces of a file are written. */
enum way { BY_QUEUE, BY_THREADS, BY_BOTH };

/* Check whether a thread does the piece. */
static bool is_by_thread(enum way way, int piece)
{
	return way == BY_THREADS || (way == BY_BOTH && piece & 1);
}

/*
 * A piece of the file goes, and one becomes zeroes; the others stay. All at
 * once.
 */
static bool removes(struct io_queue *queue, char memory[DEPTH][BYTES],
		    enum way way)
{
	static const enum io_op ops[] = { IO_DISCARD, IO_WRITE_ZEROES,
					  IO_FLUSH, IO_READ };
	struct io_request requests[DEPTH], *done;
	bool good = !io_queue_poll(queue);
	int i, ended = 0;

	for (i = 0; i < DEPTH; i++) {
		requests[i] = (struct io_request) {
			.op = ops[i], .by_thread = is_by_thread(way, i),
			.buffer = memory[i], .offset = i * BYTES,
			.bytes = ops[i] == IO_FLUSH ? 0 : BYTES,
		};
		io_queue_start(queue, &requests[i]);
	}
	while (ended < DEPTH) {
		io_queue_sleep(queue, UINT64_MAX, true);
		while ((done = io_queue_poll(queue))) {
			good &= done->result ==
				(done->op == IO_READ ? BYTES : 0);
			ended++;
		}
	}
	for (i = 0; i < DEPTH; i++) {
		requests[i].op = IO_READ;
		requests[i].bytes = BYTES;
		io_queue_start(queue, &requests[i]);
		io_queue_wait(queue);
		good &= memory[i][0] == (i < 2 ? 0 : 'a' + i) &&
			memory[i][BYTES - 1] == memory[i][0];
	}
	return good;
}

/* Sleep ends at its time, also with nothing and with all ended. */
static bool sleeps(struct io_queue *queue)
{
	uint64_t until = clock_ns() + 20000000;

	io_queue_sleep(queue, until, false);
	return clock_ns() >= until;
}

static void *wakes(void *queue)
{
	usleep(20000);
	io_queue_wake(queue);
	return NULL;
}

/* Another thread ends a sleep without an end, and one that begins later. */
static bool wakes_up(int fd, unsigned int depth)
{
	struct io_queue *queue = io_queue_open(fd, depth);
	uint64_t begin = clock_ns();
	pthread_t thread;
	bool good;

	io_queue_let_wake(queue);
	if (pthread_create(&thread, NULL, wakes, queue))
		return false;
	io_queue_sleep(queue, UINT64_MAX, false);
	pthread_join(thread, NULL);
	good = clock_ns() - begin >= 20000000 && !io_queue_poll(queue);
	io_queue_wake(queue);
	io_queue_sleep(queue, UINT64_MAX, false);
	good &= !io_queue_poll(queue) && sleeps(queue);
	io_queue_close(queue);
	return good;
}

/* Count the threads of this process, without io_uring's own. */
static unsigned int threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned int nr = 0;

	while (folder && (entry = readdir(folder))) {
		CLEANUP_FREE char *path = message_format(
			"/proc/self/task/%s/comm", entry->d_name);
		CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
		char name[4] = { 0 };

		nr += fd >= 0 && read(fd, name, sizeof(name)) > 0 &&
		      memcmp(name, "iou-", sizeof(name));
	}
	closedir(folder);
	return nr;
}

/* Writes DEPTH pieces at once, reads them back, and reads after the end. */
static bool works(const char *method, enum way way)
{
	static const unsigned int methods[] = {
		[BY_THREADS] = IO_BY_THREADS,
		[BY_BOTH] = IO_BY_RING | IO_BY_THREADS,
	};
	char path[] = "/var/tmp/alignctl-queue-XXXXXX";
	CLEANUP_CLOSE int fd = mkstemp(path);
	unsigned int before = threads();
	struct io_queue *queue = way == BY_QUEUE ? io_queue_open(fd, DEPTH) :
				 io_queue_open_by(fd, DEPTH, methods[way]);
	struct io_request requests[DEPTH], *done;
	static char memory[DEPTH][BYTES];
	bool good = !strcmp(io_queue_method(queue), method);
	int i, pass;

	unlink(path);
	io_queue_register(queue, memory, 2 * BYTES);
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < DEPTH; i++) {
			memset(memory[i], pass ? 0 : 'a' + i, BYTES);
			requests[i] = (struct io_request) {
				.op = pass ? IO_READ : IO_WRITE,
				.dsync = i & 1,
				.by_thread = is_by_thread(way, i),
				.buffer = memory[i], .bytes = BYTES,
				.offset = i * BYTES,
			};
			io_queue_start(queue, &requests[i]);
		}
		for (i = 0; i < DEPTH; i++) {
			done = io_queue_wait(queue);
			good &= done->result == BYTES;
		}
	}
	for (i = 0; i < DEPTH; i++)
		good &= memory[i][0] == 'a' + i &&
			memory[i][BYTES - 1] == 'a' + i;
	good &= (threads() >= before + DEPTH) == (way != BY_QUEUE);
	good &= removes(queue, memory, way) && sleeps(queue);
	good &= wakes_up(fd, 1) && wakes_up(fd, DEPTH);
	requests[0].offset = DEPTH * BYTES - 512;
	io_queue_start(queue, &requests[0]);
	good &= io_queue_wait(queue)->result == 512;
	io_queue_close(queue);
	return good;
}

static void with_io_uring(void)
{
	struct io_uring ring;

	if (io_uring_queue_init(DEPTH, &ring, 0)) {
		tap_skipped = "this kernel or container forbids io_uring";
		return;
	}
	io_uring_queue_exit(&ring);
	CHECK(works("io_uring", BY_QUEUE), "see works()");
	CHECK(works("io_uring", BY_BOTH), "with threads, see works()");
}

static void by_threads(void)
{
	CHECK(works("pread/pwrite", BY_THREADS), "see works()");
}

static bool works_without_ring(void)
{
	return works("pread/pwrite", BY_QUEUE) &&
	       works("pread/pwrite", BY_BOTH);
}

static void works_where_io_uring_is_forbidden(void)
{
	CHECK(without_io_uring(works_without_ring), "see works()");
}

const struct tap_test io_queue_tests[] = {
	{ "requests go through io_uring, discards in a thread, and what asks for one",
	  with_io_uring },
	{ "all requests go through threads", by_threads },
	{ "the same works where io_uring is forbidden, with a thread and without",
	  works_where_io_uring_is_forbidden },
	{ 0 },
};
