// SPDX-License-Identifier: GPL-2.0
/* Spawn the Python program, connect it by a pipe, and read the reason of a failure. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
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
#include "trace/parquet_child.h"

/* Program of the package. */
#define PROGRAM	"parquet"

/* Bytes at the end of what the child says that may be the reason. */
#define LAST_WORDS	4096

/**
 * struct spawning - the child that is started
 * @child: the child; its @words becomes the standard error
 * @command: arguments, standard input and process group of the child
 * @output: descriptor of the child's standard output; -1: /dev/null
 */
struct spawning {
	struct parquet_child *child;
	const struct parquet_command *command;
	int output;
};

/* Start @argv. Return: 0 or an error number. */
static int spawn_child(char **argv, void *context)
{
	const struct spawning *spawning = context;
	short flags = POSIX_SPAWN_SETSIGMASK;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	if (spawning->command->apart)
		flags |= POSIX_SPAWN_SETPGROUP;
	posix_spawnattr_setflags(&attributes, flags);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, spawning->command->input,
					 STDIN_FILENO);
	if (spawning->output >= 0)
		posix_spawn_file_actions_adddup2(&actions, spawning->output,
						 STDOUT_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO,
						 "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, spawning->child->words,
					 STDERR_FILENO);
	error = posix_spawnp(&spawning->child->pid, argv[0], &actions,
			     &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return error;
}

/*
 * Return the command line, which ends with NULL and lacks the interpreter, for
 * python_start(); for free().
 */
static char **command_line(char *package, char *const *arguments)
{
	size_t nr = 0;
	char **argv;

	while (arguments[nr])
		nr++;
	argv = memory_or_exit(calloc(nr + 4, sizeof(char *)));
	argv[1] = package;
	argv[2] = PROGRAM;
	memcpy(&argv[3], arguments, nr * sizeof(char *));
	return argv;
}

static void clear_child(struct parquet_child *child)
{
	if (child->output >= 0)
		close(child->output);
	if (child->words >= 0)
		close(child->words);
	*child = (struct parquet_child) { .output = -1, .words = -1 };
}

/* Report why the child was not started. */
static int report_failure(struct parquet_child *child, const char *path,
			  const char *what, int error)
{
	message_error("%s: %s: %s%s", path, what, strerror(error),
		      python_way_out(error));
	clear_child(child);
	return ALIGNCTL_IO;
}

int parquet_child_start(struct parquet_child *child,
			const struct parquet_command *command)
{
	CLEANUP_FREE char *self = NULL;
	CLEANUP_FREE char *package = python_package(command->path, &self);
	CLEANUP_FREE char **argv = NULL;
	int ends[2] = { -1, -1 };
	int error = 0;

	*child = (struct parquet_child) { .output = -1, .words = -1 };
	if (!package)
		return ALIGNCTL_IO;
	argv = command_line(package, command->arguments);
	child->words = memfd_create("parquet", MFD_CLOEXEC);
	if (child->words < 0)
		return report_failure(child, command->path, "memfd_create", errno);
	if (command->answers && pipe2(ends, O_CLOEXEC))
		return report_failure(child, command->path, "pipe", errno);
	child->output = ends[0];
	output_flush();
	error = python_start(argv, spawn_child, &(struct spawning) {
		child, command, ends[1] });
	if (ends[1] >= 0)
		close(ends[1]);
	if (!error)
		return ALIGNCTL_FINE;
	child->pid = 0;
	return report_failure(child, command->path, argv[0], error);
}

/* Return the last line of what the child said, for free(); NULL: nothing. */
static char *last_line(int words)
{
	char text[LAST_WORDS + 1];
	off_t end = lseek(words, 0, SEEK_END);
	off_t start = end > LAST_WORDS ? end - LAST_WORDS : 0;
	ssize_t got = pread(words, text, LAST_WORDS, start);
	char *line;

	while (got > 0 && strchr("\n ", text[got - 1]))
		got--;
	if (got <= 0)
		return NULL;
	text[got] = '\0';
	line = strrchr(text, '\n');
	return message_format("%s", line ? line + 1 : text);
}

int parquet_child_wait(struct parquet_child *child, char **reason)
{
	int status = 0, result = ALIGNCTL_IO;
	pid_t ended;

	*reason = NULL;
	/* the rest of its output is not wanted */
	if (child->output >= 0)
		close(child->output);
	child->output = -1;
	do
		ended = waitpid(child->pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		*reason = message_format("waitpid: %s", strerror(errno));
	else if (WIFSIGNALED(status))
		*reason = message_format("Python, which runs DuckDB, was ended by signal %d (%s); if memory ran out, free some",
					 WTERMSIG(status),
					 strsignal(WTERMSIG(status)));
	else if (!WEXITSTATUS(status))
		result = ALIGNCTL_FINE;
	else
		*reason = last_line(child->words);
	if (result && !*reason)
		*reason = message_format("Python, which runs DuckDB, ended with status %d and no word",
					 WEXITSTATUS(status));
	if (WIFEXITED(status) && WEXITSTATUS(status) == ALIGNCTL_USAGE)
		result = ALIGNCTL_USAGE;
	child->pid = 0;
	clear_child(child);
	return result;
}

void parquet_child_kill(struct parquet_child *child)
{
	int status;

	if (!child->pid)
		return;
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	clear_child(child);
}
