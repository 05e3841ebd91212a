// SPDX-License-Identifier: GPL-2.0
/* Read VPD pages from sysfs, and the capacity by an SG_IO command. */
#include <errno.h>
#include <fcntl.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "sysfs/sysfs.h"
#include "unit/scsi.h"

#define SERVICE_ACTION_IN_16	0x9e
#define READ_CAPACITY_16	0x10
#define TIMEOUT_MS		10000
#define PAGE_BYTES		260	/* no more is read of a page of sysfs */

char *scsi_capacity(const char *name, dev_t devno,
		    uint8_t data[DECODE_CAPACITY_BYTES])
{
	CLEANUP_FREE char *path = sysfs_path("/dev/%s", name);
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t sense[32], command[16] = {
		SERVICE_ACTION_IN_16, READ_CAPACITY_16,
		[13] = DECODE_CAPACITY_BYTES,
	};
	struct sg_io_hdr io = {
		.interface_id = 'S',
		.dxfer_direction = SG_DXFER_FROM_DEV,
		.cmd_len = sizeof(command),
		.cmdp = command,
		.mx_sb_len = sizeof(sense),
		.sbp = sense,
		.dxfer_len = DECODE_CAPACITY_BYTES,
		.dxferp = data,
		.timeout = TIMEOUT_MS,
	};
	struct stat found;

	/* what the disk does not send stays zero */
	memset(data, 0, DECODE_CAPACITY_BYTES);
	if (fd < 0 || fstat(fd, &found))
		return message_format("%s: %s", path, strerror(errno));
	/* a node may be left from another device; a made-up machine has files */
	if (!sysfs_elsewhere() &&
	    (!S_ISBLK(found.st_mode) || found.st_rdev != devno))
		return message_format("%s is another device", path);
	if (ioctl(fd, SG_IO, &io))
		return message_format("%s: %s", path, strerror(errno));
	if ((io.info & SG_INFO_OK_MASK) != SG_INFO_OK)
		return message_format("%s: READ CAPACITY(16) failed with SCSI status %02Xh",
				      path, io.status);
	return NULL;
}

/* Read a page that sysfs has of a disk, as "vpd_pg80". Return: its length. */
static size_t read_page(const char *disk_dir, const char *name,
			uint8_t page[PAGE_BYTES])
{
	CLEANUP_FREE char *path = message_format("%s/device/%s", disk_dir,
						 name);
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, page, PAGE_BYTES);

	return got > 0 ? (size_t)got : 0;
}

char *scsi_serial(const char *disk_dir)
{
	uint8_t page[PAGE_BYTES];
	size_t length = read_page(disk_dir, "vpd_pg80", page);

	return decode_scsi_serial(page, length);
}

struct maybe scsi_rpm(const char *disk_dir)
{
	uint8_t page[PAGE_BYTES];
	size_t length = read_page(disk_dir, "vpd_pgb1", page);

	return decode_scsi_rpm(page, length);
}
