// SPDX-License-Identifier: GPL-2.0
/*
 * dmhook: a library for LD_PRELOAD that disturbs the requests of a program to
 * device-mapper, as the variable DMHOOK says, a list with commas:
 *   resume-fails        the first resume is not made
 *   resumes-fail        no resume is made
 *   resume-half         the first resume puts the new table live, and fails
 *   load-waits=FILE     FILE is made, and the first load of a table waits until
 *                       it is gone
 *   suspend-waits=FILE  the same with the first suspend
 *   message-waits=FILE  the same with the first message to a target
 *   no-memory           while the device is suspended, the program's strdup()
 *                       and reallocarray() fail, and its libraries' do not
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/dm-ioctl.h>
#include <linux/ioctl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*real)(int fd, unsigned long request, void *argument);
static bool no_memory;

/* Check whether an allocation, of the caller at that address, is to fail. */
static bool fails(void *caller)
{
	Dl_info from;

	return no_memory && dladdr(caller, &from) &&
	       strstr(from.dli_fname, "alignctl");
}

/*
 * Find a word of the list, or one that begins with @word if that ends with "=".
 * Return: the text after it, or NULL.
 */
static const char *hooked(const char *word)
{
	size_t length = strlen(word);
	const char *at = getenv("DMHOOK");

	for (; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, length) &&
		    (word[length - 1] == '=' || strchr(",", at[length])))
			return at + length;
	}
	return NULL;
}

/* Wait as the word of the list says, but not @done a second time. */
static void wait_for(const char *word, bool *done)
{
	const char *given = hooked(word);
	char file[PATH_MAX];

	if (!given || *done)
		return;
	*done = true;
	snprintf(file, sizeof(file), "%.*s", (int)strcspn(given, ","), given);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	while (!access(file, F_OK))
		usleep(10000);
}

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

static int resume(int fd, unsigned long request, struct dm_ioctl *device)
{
	static bool done;
	bool first = !done;

	done = true;
	no_memory = false;
	if (first && hooked("resume-half"))
		return resume_half(fd, request, device);
	if (hooked("resumes-fail") || (first && hooked("resume-fails"))) {
		errno = EIO;
		return -1;
	}
	return real(fd, request, device);
}

int ioctl(int fd, unsigned long request, ...)
{
	static bool load_waited, suspend_waited, message_waited;
	struct dm_ioctl *device;
	va_list args;

	va_start(args, request);
	device = va_arg(args, void *);
	va_end(args);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	if (request == DM_TABLE_LOAD)
		wait_for("load-waits=", &load_waited);
	if (request == DM_TARGET_MSG)
		wait_for("message-waits=", &message_waited);
	if (request != DM_DEV_SUSPEND)
		return real(fd, request, device);
	if (!(device->flags & DM_SUSPEND_FLAG))
		return resume(fd, request, device);
	wait_for("suspend-waits=", &suspend_waited);
	no_memory = hooked("no-memory");
	return real(fd, request, device);
}

char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = fails(__builtin_return_address(0)) ? NULL : malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void *reallocarray(void *old, size_t nr, size_t size)
{
	size_t bytes;

	if (fails(__builtin_return_address(0)) ||
	    __builtin_mul_overflow(nr, size, &bytes))
		return NULL;
	return realloc(old, bytes);
}
