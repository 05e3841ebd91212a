// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <liburing.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/progress.h"
#include "engine/io_queue.h"
#include "tests/tap.h"

#define DEPTH	4
#define BYTES	4096

/*
 * A piece of the file goes, and one becomes zeroes; the others stay. All at
 * once.
 */
static bool removes(struct io_queue *queue, char memory[DEPTH][BYTES])
{
	static const enum io_op ops[] = { IO_DISCARD, IO_WRITE_ZEROES,
					  IO_FLUSH, IO_READ };
	struct io_request requests[DEPTH], *done;
	bool good = !io_queue_poll(queue);
	int i, ended = 0;

	for (i = 0; i < DEPTH; i++) {
		requests[i] = (struct io_request) {
			.op = ops[i], .buffer = memory[i],
			.offset = i * BYTES,
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

/* Writes DEPTH pieces at once, reads them back, and reads after the end. */
static bool works(const char *method)
{
	char path[] = "/var/tmp/alignctl-queue-XXXXXX";
	CLEANUP_CLOSE int fd = mkstemp(path);
	struct io_queue *queue = io_queue_open(fd, DEPTH);
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
	good &= removes(queue, memory) && sleeps(queue);
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
	CHECK(works("io_uring"), "see works()");
}

/* In a child that may not call io_uring_setup, as in many containers. */
static void without_io_uring(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]), .filter = filter,
	};
	pid_t child = fork();
	int status = -1;

	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(2);
		_exit(works("pread/pwrite") ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "status 0x%x", status);
}

const struct tap_test io_queue_tests[] = {
	{ "requests go through io_uring, discards in a thread", with_io_uring },
	{ "the same works where io_uring is forbidden", without_io_uring },
	{ 0 },
};
