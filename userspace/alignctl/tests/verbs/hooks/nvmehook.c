// SPDX-License-Identifier: GPL-2.0
/*
 * nvmehook: a library for LD_PRELOAD that answers NVMe admin commands in place
 * of a drive. The file on which a command is sent says how, in its first line:
 *   page          the rest of the file is the log page
 *   status N      the drive refuses the command with that status
 *   errno N       the system call fails
 * Any command but the one for log page C0h aborts the program, as does a file
 * that may be written to. Each command adds a byte to the file NVMEHOOK, if that
 * variable is set.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void count(void)
{
	const char *log = getenv("NVMEHOOK");
	int fd = log ? open(log, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;

	if (fd >= 0 && write(fd, ".", 1) != 1)
		abort();
	close(fd);
}

/* Check for Get Log Page of 512 bytes, and nothing else that matters. */
static void check(int fd, const struct nvme_admin_cmd *command)
{
	struct nvme_admin_cmd expected = {
		.opcode = 0x02,
		.nsid = 0xffffffff,
		.addr = command->addr,
		.data_len = 512,
		.cdw10 = 0x007f00c0,
	};

	if (memcmp(command, &expected, sizeof(expected)) ||
	    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
		abort();
}

static int answer(int fd, const struct nvme_admin_cmd *command)
{
	char text[1024];
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
	int number;

	check(fd, command);
	count();
	if (got < 0)
		abort();
	text[got] = '\0';
	if (sscanf(text, "status %d", &number) == 1)
		return number;
	if (sscanf(text, "errno %d", &number) == 1) {
		errno = number;
		return -1;
	}
	if (strncmp(text, "page\n", 5) || got > 5 + 512)
		abort();
	memcpy((void *)(uintptr_t)command->addr, text + 5, (size_t)got - 5);
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int fd, unsigned long request, void *argument);
	void *argument;
	va_list args;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (request == NVME_IOCTL_ADMIN_CMD)
		return answer(fd, argument);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	return real(fd, request, argument);
}
