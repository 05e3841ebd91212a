// SPDX-License-Identifier: GPL-2.0
/*
 * Let the guard look at a device, ask the person at a terminal, and open it
 * exclusively.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "sysfs/guard.h"
#include "verbs/overwrite.h"

/*
 * Let a person at a terminal confirm by typing the device's name. What runs
 * without one, a script, has --force.
 */
static bool ask_person(const struct device *device)
{
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;
	ssize_t got;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	fprintf(stderr, "All of that will be overwritten. Type %s to go on: ",
		device->path);
	got = getline(&line, &size, stdin);
	if (got > 0 && line[got - 1] == '\n')
		line[got - 1] = '\0';
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): CLEANUP_FREE */
	return got > 0 && !strcmp(line, device->path);
}

int overwrite_guard(struct overwrite *overwrite)
{
	const struct device *device = overwrite->device;
	struct guard_report report = { 0 };
	CLEANUP_FREE char *word = message_shell_word(device->path);
	const char *because = "as --force says";
	int result = ALIGNCTL_FINE;

	if (overwrite->force && !guard_same_device(device, overwrite->force)) {
		message_error("--force names %s, but %s %s; name the same device",
			      overwrite->force, overwrite->named_by,
			      device->path);
		return ALIGNCTL_USAGE;
	}
	guard_usage(&report, device);
	if (overwrite->keeps)
		/* restoring would undo what another program wrote meanwhile */
		guard_writers(&report, device);
	else if (device->block)
		result = guard_signatures(&report, device);
	else
		result = guard_file_data(&report, device, overwrite->end);
	guard_print(&report, device);
	if (report.nr && !overwrite->force && overwrite->ask &&
	    ask_person(device)) {
		overwrite->force = device->path;
		because = "as confirmed at the terminal";
	}
	if (report.nr && !overwrite->force) {
		message_error("%s: refused, because %s would overwrite the device; take another one, or --force %s if nothing on it matters",
			      device->path, overwrite->verb, word);
		result = ALIGNCTL_BUSY;
	} else if (report.nr || (result && overwrite->force)) {
		message_warning("%s: going on, %s", device->path, because);
		result = ALIGNCTL_FINE;
	}
	guard_free(&report);
	return result;
}

/* Close what is open instead of the device that was checked. Return: ALIGNCTL_BUSY. */
static int refuse_other(const struct device *device, int *fd)
{
	close(*fd);
	*fd = -1;
	message_error("%s: leads to another device or file since it was checked; nothing was written, run the command again",
		      device->path);
	return ALIGNCTL_BUSY;
}

int overwrite_open(const struct device *device, int flags, bool exclusive,
		   const char *instead, int *fd)
{
	CLEANUP_FREE char *word = message_shell_word(device->path);

	*fd = open(device->path, flags | O_CLOEXEC |
		   (device->block && exclusive ? O_EXCL : 0));
	if (*fd >= 0)
		return device_is_open_as(device, *fd) ? ALIGNCTL_FINE :
							refuse_other(device, fd);
	if (errno == EBUSY) {
		message_error("%s: in use by the kernel or by a program that holds it exclusively; --force %s if nothing on it matters",
			      device->path, word);
		return ALIGNCTL_BUSY;
	}
	if (errno == EINVAL)
		message_error("%s: cannot be opened with O_DIRECT; %stake a block device, or a file on ext4, XFS or Btrfs",
			      device->path, instead);
	else
		message_error("%s: %s", device->path, strerror(errno));
	return ALIGNCTL_IO;
}
