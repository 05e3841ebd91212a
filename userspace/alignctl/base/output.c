// SPDX-License-Identifier: GPL-2.0
/* Flush standard output, and keep the first error of a write for the exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "base/output.h"

/* errno of the first failed write to standard output; 0 if none has failed. */
static int failure;

/* Write the stream's buffer and keep errno, which the stream would lose. */
static ssize_t write_buffer(void *cookie, const char *buffer, size_t size)
{
	size_t done = 0;

	(void)cookie;
	while (done < size && !failure) {
		ssize_t got = write(STDOUT_FILENO, buffer + done, size - done);

		if (got >= 0)
			done += (size_t)got;
		else if (errno != EINTR)
			failure = errno;
	}
	return (ssize_t)done;
}

/* Make stdout a stream that writes through write_buffer(). */
static void watch_output(void)
{
	const cookie_io_functions_t functions = { .write = write_buffer };
	static FILE *stream;

	if (stream)
		return;
	stream = memory_or_exit(fopencookie(NULL, "w", functions));
	if (isatty(STDOUT_FILENO))
		setvbuf(stream, NULL, _IOLBF, 0);
	stdout = stream;
}

void output_prepare(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* in the wrong direction: I/O fails as on a closed one */
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY :
							   O_RDONLY) < 0)
			_exit(ALIGNCTL_IO);
	}
	signal(SIGPIPE, SIG_DFL);
	watch_output();
}

bool output_flush(void)
{
	fflush(stdout);
	return !failure;
}

int output_end(int status)
{
	int fd;

	/* some file systems report only at close that they are full */
	if (output_flush()) {
		fd = dup(STDOUT_FILENO);
		if (fd >= 0 && close(fd))
			failure = errno;
	}
	if (!failure)
		return status;
	message_error("standard output: %s", strerror(failure));
	return status < ALIGNCTL_IO ? ALIGNCTL_IO : status;
}
