// SPDX-License-Identifier: GPL-2.0
/* Execute a program of align_reports, with a document in a file in memory. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/output.h"
#include "base/python.h"
#include "verbs/reports.h"

/* Block the signals that interrupt.py unblocks when it can handle them. */
static void hold_signals_back(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int reports_become(const char *name, int argc, char **argv, char *const *more)
{
	CLEANUP_FREE char *self = NULL;
	CLEANUP_FREE char *package = python_package(argv[0], &self);
	const char *python = python_interpreter();
	CLEANUP_FREE char **arguments = NULL;
	size_t nr_more = 0;

	if (!package)
		return ALIGNCTL_IO;
	while (more && more[nr_more])
		nr_more++;
	arguments = memory_or_exit(calloc((size_t)argc + nr_more + 3,
					  sizeof(char *)));
	arguments[0] = (char *)python;
	arguments[1] = package;
	arguments[2] = (char *)name;
	/* before the verb's arguments, of which "--" may end the options */
	if (nr_more)
		memcpy(&arguments[3], more, nr_more * sizeof(char *));
	memcpy(&arguments[3 + nr_more], &argv[1],
	       (size_t)(argc - 1) * sizeof(char *));
	hold_signals_back();
	output_flush();
	/* the package makes its runs with this very program */
	if (!setenv("ALIGNCTL", self, 1))
		execvp(python, arguments);
	message_error("%s: %s: %s; apt-get install python3", argv[0], python,
		      strerror(errno));
	return ALIGNCTL_IO;
}

/* Return a file in memory with a text, from its start on; -1: reported. */
static int file_of(const char *text)
{
	int fd = memfd_create("document", MFD_CLOEXEC);
	size_t left = strlen(text);

	while (fd >= 0 && left) {
		ssize_t got = write(fd, text, left);

		if (got < 0 && errno != EINTR)
			break;
		text += got > 0 ? got : 0;
		left -= got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0 && !left && !lseek(fd, 0, SEEK_SET))
		return fd;
	message_error("a file in memory: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int reports_run(const char *name, int argc, char **argv, const char *input)
{
	CLEANUP_CLOSE int file = input ? file_of(input) : -1;
	int status;
	pid_t child;

	if (input && file < 0)
		return ALIGNCTL_IO;
	output_flush();
	child = fork();
	if (!child) {
		if (!input || dup2(file, STDIN_FILENO) == STDIN_FILENO)
			_exit(reports_become(name, argc, argv, NULL));
		_exit(ALIGNCTL_IO);
	}
	if (child < 0) {
		message_error("fork: %s", strerror(errno));
		return ALIGNCTL_IO;
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return ALIGNCTL_IO;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ALIGNCTL_IO;
}
