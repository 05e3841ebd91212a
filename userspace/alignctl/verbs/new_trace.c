// SPDX-License-Identifier: GPL-2.0
/* Refuse an output that exists, or whose format cannot take the requests. */
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "replay/result_file.h"
#include "verbs/new_trace.h"

int new_trace_check(const char *verb, const char *path)
{
	CLEANUP_FREE char *draft = NULL;
	struct stat found;

	if (!path) {
		message_error("%s: --output FILE is needed", verb);
		return ALIGNCTL_USAGE;
	}
	if (!*path || !strcmp(path, "-")) {
		message_error("--output \"%s\": must name a file, not standard output",
			      path);
		return ALIGNCTL_USAGE;
	}
	if (!lstat(path, &found)) {
		message_error("%s: exists and is not overwritten; %sname another file",
			      path, S_ISREG(found.st_mode) ? "remove it or " :
			      "");
		return ALIGNCTL_USAGE;
	}
	draft = result_file_draft(path);
	if (!lstat(draft, &found) && found.st_size) {
		message_error("%s: exists, maybe an unfinished recording or conversion; rename or remove it",
			      draft);
		return ALIGNCTL_USAGE;
	}
	return ALIGNCTL_FINE;
}
