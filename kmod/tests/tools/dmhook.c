// SPDX-License-Identifier: GPL-2.0
/*
 * dmhook: a library for LD_PRELOAD that lets the next suspend or resume of a
 * device-mapper device fail or wait, as the variable DMHOOK says:
 *   resume-fails        the resume is not made
 *   resume-half         the resume puts the new table live, and fails
 *   suspend-waits=FILE  FILE is made, and the suspend waits until it is gone
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/ioctl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAITS	"suspend-waits="

static int (*real)(int fd, unsigned long request, void *argument);

/* Let the device be suspended again, after its resume, and the resume fail. */
static int resume_half(int fd, unsigned long request, struct dm_ioctl *device)
{
	struct dm_ioctl *again;

	again = malloc(device->data_size);
	if (!again)
		abort();
	memcpy(again, device, device->data_size);
	if (!real(fd, request, device)) {
		again->flags |= DM_SUSPEND_FLAG;
		if (real(fd, request, again))
			abort();
	}
	free(again);
	errno = EIO;
	return -1;
}

int ioctl(int fd, unsigned long request, ...)
{
	static int done;
	const char *hook = getenv("DMHOOK");
	struct dm_ioctl *device;
	va_list args;
	int suspends;

	va_start(args, request);
	device = va_arg(args, void *);
	va_end(args);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	if (done || !hook || request != DM_DEV_SUSPEND)
		return real(fd, request, device);
	suspends = device->flags & DM_SUSPEND_FLAG;
	if (suspends && !strncmp(hook, WAITS, strlen(WAITS))) {
		const char *file = hook + strlen(WAITS);

		done = 1;
		close(open(file, O_CREAT | O_WRONLY, 0600));
		while (!access(file, F_OK))
			usleep(10000);
	} else if (!suspends && !strcmp(hook, "resume-fails")) {
		done = 1;
		errno = EIO;
		return -1;
	} else if (!suspends && !strcmp(hook, "resume-half")) {
		done = 1;
		return resume_half(fd, request, device);
	}
	return real(fd, request, device);
}
