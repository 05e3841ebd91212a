// SPDX-License-Identifier: GPL-2.0
/* Execute a program of align_reports, with its arguments in a file in memory. */
#include <errno.h>
#include <fcntl.h>
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

/* Execute the program in the place of this one. Return: an error number. */
static int execute(char **arguments, void *context)
{
	(void)context;
	execvp(arguments[0], arguments);
	return errno;
}

int reports_become(const char *name, const char *verb,
		   struct json_object *members)
{
	CLEANUP_FREE char *self = NULL;
	CLEANUP_FREE char *package = python_package(verb, &self);
	CLEANUP_CLOSE int file = package ? file_of(json_text(members,
					JSON_C_TO_STRING_PLAIN)) : -1;
	CLEANUP_FREE char *given = message_format("%d", file);
	char *arguments[] = { NULL, package, (char *)name, given, NULL };
	int error;

	/* the program takes the file over */
	if (file < 0 || fcntl(file, F_SETFD, 0))
		return ALIGNCTL_IO;
	hold_signals_back();
	output_flush();
	/* the package makes its runs with this very program */
	if (!setenv("ALIGNCTL", self, 1)) {
		error = python_start(arguments, execute, NULL);
		message_error("%s: %s: %s%s", verb, arguments[0],
			      strerror(error), python_way_out(error));
	}
	return ALIGNCTL_IO;
}

int reports_run(const char *name, const char *verb, struct json_object *members,
		const char *input)
{
	CLEANUP_CLOSE int file = input ? file_of(input) : -1;
	int status;
	pid_t child;

	json_add_bool(members, "written", input);
	if (input && file < 0) {
		json_object_put(members);
		return ALIGNCTL_IO;
	}
	output_flush();
	child = fork();
	if (!child) {
		if (!input || dup2(file, STDIN_FILENO) == STDIN_FILENO)
			_exit(reports_become(name, verb, members));
		_exit(ALIGNCTL_IO);
	}
	json_object_put(members);
	if (child < 0) {
		message_error("fork: %s", strerror(errno));
		return ALIGNCTL_IO;
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return ALIGNCTL_IO;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ALIGNCTL_IO;
}
