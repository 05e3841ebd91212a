// SPDX-License-Identifier: GPL-2.0
/*
 * drivehook: a library for LD_PRELOAD that answers commands in place of a drive.
 * A file says how, in its first line:
 *   page          the rest of the file is the page
 *   status N      the drive refuses the command with that status
 *   errno N       the system call fails
 * For log page C0h of NVMe, that is the file on which the command is sent. For
 * Identify it is the file identify-0 (a namespace) or identify-1 (controller), and
 * for READ CAPACITY(16) of SCSI the file capacity, in the folder DRIVEHOOK_ANSWERS.
 * Any other command aborts the program, as does a file that may be written to.
 * Each command adds a byte to the file DRIVEHOOK, if that variable is set.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void count(void)
{
	const char *log = getenv("DRIVEHOOK");
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

/* Answer from a file with a page of at most @most bytes. */
static int answer(int fd, void *page, ssize_t most)
{
	char text[8192];
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
	int number;

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
	if (strncmp(text, "page\n", 5) || got > 5 + most)
		abort();
	memcpy(page, text + 5, (size_t)got - 5);
	return 0;
}

/* Answer from a file of the folder. */
static int answer_by(const char *name, void *page, ssize_t most)
{
	char path[4096];
	int fd, result;

	snprintf(path, sizeof(path), "%s/%s", getenv("DRIVEHOOK_ANSWERS"), name);
	fd = open(path, O_RDONLY);
	result = answer(fd, page, most);
	close(fd);
	return result;
}

static int answer_nvme(int fd, const struct nvme_admin_cmd *command)
{
	void *page = (void *)(uintptr_t)command->addr;
	struct nvme_admin_cmd identify = {
		.opcode = 0x06,
		.nsid = command->cdw10 ? 0 : 1,
		.addr = command->addr,
		.data_len = 4096,
		.cdw10 = command->cdw10 & 1,
	};

	if (!memcmp(command, &identify, sizeof(identify)))
		return answer_by(command->cdw10 ? "identify-1" : "identify-0",
				 page, 4096);
	check(fd, command);
	return answer(fd, page, 512);
}

/* Check for READ CAPACITY(16) of 32 bytes; a status is SCSI's. */
static int answer_scsi(struct sg_io_hdr *io)
{
	static const unsigned char expected[16] = {
		0x9e, 0x10, [13] = 32,
	};
	int result;

	if (io->cmd_len != sizeof(expected) || io->dxfer_len != 32 ||
	    memcmp(io->cmdp, expected, sizeof(expected)))
		abort();
	result = answer_by("capacity", io->dxferp, 32);
	io->status = result > 0 ? (unsigned char)result : 0;
	io->info = result > 0 ? SG_INFO_CHECK : SG_INFO_OK;
	return result < 0 ? result : 0;
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
		return answer_nvme(fd, argument);
	if (request == SG_IO)
		return answer_scsi(argument);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ioctl");
	return real(fd, request, argument);
}
