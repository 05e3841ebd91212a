// SPDX-License-Identifier: GPL-2.0
/* Ask an NVMe drive for log pages and Identify data by admin commands. */
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "sysfs/nvme.h"
#include "sysfs/sysfs.h"

/* NVM Express Base Specification: commands, and status codes. */
#define GET_LOG_PAGE		0x02
#define IDENTIFY		0x06
#define ALL_NAMESPACES		UINT32_MAX
#define STATUS_CODE		0x7ff	/* type and code, without flags */
#define INVALID_OPCODE		0x001
#define INVALID_FIELD		0x002
#define INVALID_LOG_PAGE	0x109

/* Return the result of a system call that failed. */
static enum nvme_result failed(const char *path, char **error)
{
	if (errno == EACCES || errno == EPERM)
		return NVME_NOT_PERMITTED;
	*error = message_format("%s: %s", path, strerror(errno));
	return NVME_FAILED;
}

/* Send a command that fills a page, as nvme_log_page() has it. */
static enum nvme_result send_command(const char *name, dev_t devno,
				     struct nvme_admin_cmd *command,
				     void *page, uint32_t length, char **error)
{
	CLEANUP_FREE char *path = sysfs_path("/dev/%s", name);
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat found;
	int status;

	*error = NULL;
	/* what the drive does not send stays zero */
	memset(page, 0, length);
	if (fd < 0 || fstat(fd, &found))
		return failed(path, error);
	/* a node may be left from another device; a made-up machine has files */
	if (!sysfs_elsewhere() &&
	    (!S_ISBLK(found.st_mode) || found.st_rdev != devno)) {
		*error = message_format("%s is another device", path);
		return NVME_FAILED;
	}
	/* no time limit of our own: the kernel resets a drive that exceeds it */
	command->addr = (uintptr_t)page;
	command->data_len = length;
	status = ioctl(fd, NVME_IOCTL_ADMIN_CMD, command);
	if (status < 0)
		return failed(path, error);
	switch (status & STATUS_CODE) {
	case 0:
		return NVME_DONE;
	case INVALID_OPCODE:
	case INVALID_FIELD:
	case INVALID_LOG_PAGE:
		return NVME_NOT_SUPPORTED;
	}
	*error = message_format("%s: NVMe status %03Xh", path,
				(unsigned int)status & STATUS_CODE);
	return NVME_FAILED;
}

enum nvme_result nvme_log_page(const char *name, dev_t devno, uint8_t id,
			       void *page, uint32_t length, char **error)
{
	struct nvme_admin_cmd command = {
		.opcode = GET_LOG_PAGE,
		.nsid = ALL_NAMESPACES,
		.cdw10 = (length / 4 - 1) << 16 | id,
	};

	return send_command(name, devno, &command, page, length, error);
}

enum nvme_result nvme_identify(const char *name, dev_t devno, uint32_t nsid,
			       enum nvme_structure structure, void *page,
			       char **error)
{
	struct nvme_admin_cmd command = {
		.opcode = IDENTIFY,
		.nsid = nsid,
		.cdw10 = structure,
	};

	return send_command(name, devno, &command, page, NVME_IDENTIFY_BYTES,
			    error);
}
