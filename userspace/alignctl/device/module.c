// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "device/dm.h"
#include "device/module.h"
#include "device/sysfs.h"

#define MODULE_NAME	"dm-align"
#define OUTPUT_MAX	4096

/* Check for a lockdown, as in "none [integrity] confidentiality". */
static bool locked_down(const char *lockdown)
{
	return strstr(lockdown, "[integrity]") ||
	       strstr(lockdown, "[confidentiality]");
}

enum module_failure module_sort_failure(const char *output,
					const char *lockdown, bool root)
{
	/* strerror() of EKEYREJECTED and ENOKEY in the C locale */
	if (strstr(output, "Key was rejected by service") ||
	    strstr(output, "Required key not available"))
		return MODULE_KEY;
	if (strstr(output, "Operation not permitted"))
		return (lockdown ? locked_down(lockdown) : root) ?
			MODULE_LOCKDOWN : MODULE_PERMISSION;
	if (strstr(output, "not found"))
		return MODULE_MISSING;
	return MODULE_OTHER;
}

/*
 * Run modprobe and copy its standard error to @output. Return: 0 if it
 * succeeded, or -1.
 */
static int run_modprobe(char *output, size_t size)
{
	char *arguments[] = { "modprobe", MODULE_NAME, NULL };
	char *environment[] = {
		"LC_ALL=C",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		NULL,
	};
	posix_spawn_file_actions_t actions;
	int ends[2], error, status;
	size_t used = 0;
	ssize_t got;
	pid_t child;

	*output = '\0';
	if (pipe2(ends, O_CLOEXEC)) {
		snprintf(output, size, "pipe: %s", strerror(errno));
		return -1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments,
			     environment);
	if (error == ENOENT)	/* an ordinary user's PATH has no sbin */
		error = posix_spawn(&child, "/sbin/modprobe", &actions, NULL,
				    arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		snprintf(output, size, "modprobe: %s", strerror(error));
		return -1;
	}
	while (used + 1 < size &&
	       (got = read(ends[0], output + used, size - 1 - used)) > 0)
		used += got;
	output[used] = '\0';
	while (used && output[used - 1] == '\n')
		output[--used] = '\0';
	close(ends[0]);
	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

static void report(const char *output)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/kernel/security");
	CLEANUP_FREE char *lockdown = sysfs_text(dir, "lockdown");
	struct utsname kernel;

	uname(&kernel);
	switch (module_sort_failure(output, lockdown, !geteuid())) {
	case MODULE_MISSING:
		message_error("the module " MODULE_NAME " is not installed for kernel %s; build and install it: 'make modules install KVER=%s' (needs linux-headers-%s)",
			      kernel.release, kernel.release, kernel.release);
		break;
	case MODULE_KEY:
		message_error("Secure Boot: kernel %s does not trust the signature of " MODULE_NAME "; sign it with a key that is enrolled ('mokutil --import KEY.der', then reboot), or switch Secure Boot off in the firmware",
			      kernel.release);
		break;
	case MODULE_LOCKDOWN:
		message_error("Secure Boot: kernel %s is locked down and loads no unsigned module; sign " MODULE_NAME " with a key that is enrolled ('mokutil --import KEY.der', then reboot), or switch Secure Boot off in the firmware",
			      kernel.release);
		break;
	case MODULE_PERMISSION:
		message_error("the module " MODULE_NAME " may not be loaded by this user; run alignctl as root, and outside of a container");
		break;
	case MODULE_OTHER:
		message_error("the module " MODULE_NAME " cannot be loaded: %s",
			      *output ? output : "modprobe did not say why");
		break;
	}
}

int module_ensure(void)
{
	char output[OUTPUT_MAX];

	if (dm_align_available())
		return ALIGNCTL_FINE;
	if (run_modprobe(output, sizeof(output))) {
		report(output);
		return ALIGNCTL_IO;
	}
	if (dm_align_available())
		return ALIGNCTL_FINE;
	message_error("modprobe succeeded, but no 'align' target is registered; is another " MODULE_NAME " installed? See 'modinfo " MODULE_NAME "'");
	return ALIGNCTL_IO;
}
