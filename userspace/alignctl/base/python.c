// SPDX-License-Identifier: GPL-2.0
/*
 * Find the interpreter and the package align_reports, beside the program or in the
 * source tree.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/python.h"

#define PACKAGE	"align_reports"

#define SYSTEM_PYTHON	"/usr/bin/python3"

/* Environment: the interpreter to try after this one; see needs.py. */
#define NEXT_PYTHON	"ALIGNCTL_NEXT_PYTHON"

/* Return the interpreter that the user has named; NULL: none. */
static const char *python_chosen(void)
{
	const char *chosen = secure_getenv("ALIGNCTL_PYTHON");

	return chosen && *chosen ? chosen : NULL;
}

/* Return the interpreter to try after @python; NULL: there is none. */
static const char *python_after(const char *python)
{
	return python_chosen() || !strcmp(python, SYSTEM_PYTHON) ? NULL :
	       SYSTEM_PYTHON;
}

int python_start(char **arguments,
		 int (*start)(char **arguments, void *context), void *context)
{
	const char *python = python_chosen() ?: REPORTS_PYTHON, *next;
	int error;

	do {
		next = python_after(python);
		arguments[0] = (char *)python;
		error = (next ? setenv(NEXT_PYTHON, next, 1) :
				unsetenv(NEXT_PYTHON)) ?
			errno : start(arguments, context);
		python = next;
	} while (error == ENOENT && python);
	return error;
}

const char *python_way_out(int error)
{
	if (error != ENOENT && error != EACCES)
		return "";
	return python_chosen() ? "; ALIGNCTL_PYTHON names it" :
				 "; apt-get install python3, or name it in ALIGNCTL_PYTHON";
}

/*
 * Find the package: where it is installed, or in the source tree for an
 * alignctl that runs where it was built. For free(); NULL: it is in neither.
 */
static char *find_package(const char *self)
{
	static const char *const places[] = {
		"../share/alignctl", "../../userspace",
	};
	const char *end = strrchr(self, '/');
	size_t i;

	for (i = 0; end && i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = message_format("%.*s/%s/" PACKAGE,
					    (int)(end - self), self, places[i]);

		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

char *python_package(const char *what, char **self)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *package;

	*self = NULL;
	if (length < 0) {
		message_error("/proc/self/exe: %s", strerror(errno));
		return NULL;
	}
	path[length] = '\0';
	package = find_package(path);
	if (!package)
		message_error("%s: " PACKAGE " is missing in ../share/alignctl of %s; run 'make install'",
			      what, path);
	else
		*self = message_format("%s", path);
	return package;
}
