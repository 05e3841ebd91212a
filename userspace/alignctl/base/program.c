// SPDX-License-Identifier: GPL-2.0
/* Run programs of the system, such as modprobe, and read what they print. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/program.h"

#define OUTPUT_MAX	(1 << 20)	/* what is more is dropped */

/* Read a pipe to its end; return the text, for free(). */
static char *read_all(int fd)
{
	char *text = memory_or_exit(malloc(OUTPUT_MAX + 1));
	char dropped[4096];
	size_t used = 0;
	ssize_t got;

	for (;;) {
		got = used < OUTPUT_MAX ?
			read(fd, text + used, OUTPUT_MAX - used) :
			read(fd, dropped, sizeof(dropped));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		if (used < OUTPUT_MAX)
			used += got;
	}
	while (used && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
	return memory_or_exit(realloc(text, used + 1));
}

/* Start a program. Return: 0 or an error number. */
static int start(pid_t *child, char *const argv[], int output)
{
	static const char *const folders[] = { "/usr/sbin", "/sbin" };
	char *environment[] = {
		"LC_ALL=C",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		NULL,
	};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	size_t i;
	int error;

	/* what the caller must not be ended by may end the program */
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	error = posix_spawnp(child, argv[0], &actions, &attributes, argv,
			     environment);
	/* an ordinary user's PATH has no sbin */
	for (i = 0; error == ENOENT && i < sizeof(folders) / sizeof(folders[0]);
	     i++) {
		CLEANUP_FREE char *path = message_format("%s/%s", folders[i],
							 argv[0]);

		error = posix_spawn(child, path, &actions, &attributes, argv,
				    environment);
	}
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

int program_run(char *const argv[], char **output)
{
	int ends[2], error, status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC)) {
		*output = message_format("pipe: %s", strerror(errno));
		return PROGRAM_FAILED;
	}
	error = start(&child, argv, ends[1]);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		*output = message_format("%s: %s", argv[0], strerror(error));
		return error == ENOENT ? PROGRAM_MISSING : PROGRAM_FAILED;
	}
	*output = read_all(ends[0]);
	close(ends[0]);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return PROGRAM_FAILED;
	return WEXITSTATUS(status);
}

bool program_names(char *const argv[], const char *node)
{
	CLEANUP_FREE char *output = NULL;
	struct stat wanted, found;
	char *rest, *word;

	if (stat(node, &wanted) || program_run(argv, &output) < 0)
		return false;
	rest = output;
	while ((word = strsep(&rest, " \t\n,=")))
		if (*word == '/' && !stat(word, &found) &&
		    S_ISBLK(found.st_mode) && found.st_rdev == wanted.st_rdev)
			return true;
	return false;
}
