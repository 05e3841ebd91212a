// SPDX-License-Identifier: GPL-2.0
/* Read from the kernel's log why device-mapper refused a table or a message. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "mapped/kernel_log.h"

#define RECORD_MAX	8192	/* the kernel's records are shorter */

int kernel_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* Return the text after "253:0: ", the device that the line is about. */
static const char *skip_devno(const char *text)
{
	const char *at = text + strspn(text, "0123456789");

	if (at == text || *at != ':')
		return text;
	at++;
	if (!strspn(at, "0123456789"))
		return text;
	at += strspn(at, "0123456789");
	return strncmp(at, ": ", 2) ? text : at + 2;
}

char *kernel_log_parse(const char *record, int *of_core)
{
	static const char core[] = "device-mapper: table: ";
	static const char target[] = "align: ";
	static const char own[] = "device-mapper: align: ";
	/* what a new table must not lose, of the core's two files */
	static const char lost[] = "Inline encryption ";
	static const char ioctl[] = "device-mapper: ioctl: ";
	static const char type[] = "can't change device type ";
	const char *text = strchr(record, ';');
	size_t length;
	const char *code;

	if (!text)
		return NULL;
	text++;
	if (!strncmp(text, own, strlen(own))) {
		*of_core = 0;
		text = skip_devno(text + strlen(own));
	} else if (!strncmp(text, core, strlen(core))) {
		*of_core = 1;
		text = skip_devno(text + strlen(core));
		if (!strncmp(text, target, strlen(target)))
			text += strlen(target);
		else if (strncmp(text, lost, strlen(lost)))
			return NULL;
	} else if (!strncmp(text, ioctl, strlen(ioctl))) {
		*of_core = 1;
		text += strlen(ioctl);
		if (strncmp(text, type, strlen(type)))
			return NULL;
	} else {
		return NULL;
	}
	/* the record's properties follow on further lines */
	length = strcspn(text, "\n");
	/* the core ends with the error code, as in " (-EINVAL)" */
	code = memrchr(text, '(', length);
	if (*of_core && code && code > text && code[1] == '-')
		length = code - 1 - text;
	return memory_or_exit(strndup(text, length));
}

char *kernel_log_reason(int fd)
{
	char *reason = NULL;
	int have_own = 0;
	char record[RECORD_MAX + 1];
	ssize_t got;

	if (fd < 0)
		return NULL;
	for (;;) {
		char *found;
		int of_core;

		got = read(fd, record, RECORD_MAX);
		if (got < 0 && errno == EPIPE)	/* overwritten: read on */
			continue;
		if (got <= 0)
			break;
		record[got] = '\0';
		found = kernel_log_parse(record, &of_core);
		if (!found)
			continue;
		if (of_core && have_own) {
			free(found);
			continue;
		}
		have_own |= !of_core;
		free(reason);
		reason = found;
	}
	close(fd);
	return reason;
}
