// SPDX-License-Identifier: GPL-2.0
/*
 * Open a block device or a file, and find its size, blocks and alignment
 * offset.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/units.h"
#include "sysfs/device.h"
#include "geometry.h"

/* Return the alignment of O_DIRECT on a file: the file system's, or 512. */
static uint32_t file_logical(const char *path)
{
	struct statx found;

	if (!statx(AT_FDCWD, path, 0, STATX_DIOALIGN, &found) &&
	    (found.stx_mask & STATX_DIOALIGN) && found.stx_dio_offset_align)
		return found.stx_dio_offset_align;
	return ALIGN_SECTOR_SIZE;
}

static uint32_t attribute(const char *dir, const char *file, uint32_t otherwise)
{
	int64_t number;

	if (!sysfs_number(dir, file, &number) || number < 0 ||
	    number > UINT32_MAX)
		return otherwise;
	return (uint32_t)number;
}

/*
 * Take physical block and offset from the align target, if the device has just
 * one: a block above 4096 bytes is advertised as minimum_io_size only. The
 * offset is known only if the target covers all of the device below.
 */
static void ask_target(struct device *device)
{
	const char *dir = device->sys.disk_dir;
	CLEANUP_FREE char *below = NULL;
	int64_t physical, other, offset, size;
	dev_t devno;

	if (!sysfs_number(dir, "align/target0_physical_block_size", &physical) ||
	    sysfs_number(dir, "align/target1_physical_block_size", &other) ||
	    physical < ALIGN_SECTOR_SIZE || physical > ALIGN_MAX_BLOCK_SIZE ||
	    !align_is_power_of_2((uint32_t)physical) ||
	    physical == device->physical)
		return;
	device->physical = (uint32_t)physical;
	device->alignment_offset = MAYBE_UNKNOWN;
	if (!sysfs_devno(dir, "align/target0_device", &devno) ||
	    !sysfs_number(dir, "align/target0_alignment_offset", &offset) ||
	    offset < 0 || offset >= physical)
		return;
	below = sysfs_path("/sys/dev/block/%u:%u", major(devno), minor(devno));
	if (sysfs_number(below, "size", &size) && size >= 0 &&
	    (uint64_t)size == device->sectors)
		device->alignment_offset = maybe_of(offset);
}

/* Return the diskseq of a disk; 0 if the kernel is older, or the disk is gone. */
static uint64_t diskseq_of(const char *disk_dir)
{
	int64_t number;

	return sysfs_number(disk_dir, "diskseq", &number) && number > 0 ?
	       (uint64_t)number : 0;
}

int device_open_devno(struct device *device, dev_t devno, const char *path)
{
	const char *dir;
	int64_t number;

	memset(device, 0, sizeof(*device));
	device->path = path;
	device->block = true;
	device->devno = devno;
	if (!sysfs_device_open(&device->sys, devno)) {
		message_error("%s: no such block device in /sys (is sysfs mounted?)",
			      path);
		return ALIGNCTL_IO;
	}
	dir = device->sys.disk_dir;
	device->diskseq = diskseq_of(dir);
	device->logical = attribute(dir, "queue/logical_block_size",
				    ALIGN_SECTOR_SIZE);
	device->physical = attribute(dir, "queue/physical_block_size",
				     ALIGN_SECTOR_SIZE);
	device->io_min = attribute(dir, "queue/minimum_io_size", 0);
	device->io_opt = attribute(dir, "queue/optimal_io_size", 0);
	device->rotational = attribute(dir, "queue/rotational", 1);
	device->alignment_offset = maybe_of(0);
	/* the kernel's -1: it is nowhere */
	if (sysfs_number(device->sys.dir, "alignment_offset", &number))
		device->alignment_offset = number < 0 ? MAYBE_UNKNOWN :
							maybe_of(number);
	/* a device's size in bytes fits into a file offset */
	if (sysfs_number(device->sys.dir, "size", &number) && number >= 0 &&
	    number <= INT64_MAX >> ALIGN_SECTOR_SHIFT)
		device->sectors = (uint64_t)number;
	ask_target(device);
	return ALIGNCTL_FINE;
}

/* Open a block device that has a size. Return: as device_open(). */
static int open_block(struct device *device, dev_t devno, const char *path)
{
	int result = device_open_devno(device, devno, path);

	if (result || device->sectors)
		return result;
	message_error("%s: has no size; is a medium in the drive?", path);
	device_close(device);
	return ALIGNCTL_IO;
}

int device_open(struct device *device, const char *path)
{
	struct stat found;

	if (stat(path, &found)) {
		message_error("%s: %s", path, strerror(errno));
		return errno == EACCES ? ALIGNCTL_IO : ALIGNCTL_USAGE;
	}
	if (S_ISBLK(found.st_mode))
		return open_block(device, found.st_rdev, path);
	if (!S_ISREG(found.st_mode)) {
		message_error("%s: neither a block device nor a regular file",
			      path);
		return ALIGNCTL_USAGE;
	}
	memset(device, 0, sizeof(*device));
	device->path = path;
	device->devno = found.st_dev;
	device->inode = found.st_ino;
	device->sectors = found.st_size >> ALIGN_SECTOR_SHIFT;
	device->logical = file_logical(path);
	device->physical = DEVICE_FILE_PHYSICAL;
	return ALIGNCTL_FINE;
}

void device_close(struct device *device)
{
	sysfs_device_close(&device->sys);
}

bool device_is_open_as(const struct device *device, int fd)
{
	struct stat found;

	if (fstat(fd, &found))
		return false;
	if (device->block)
		return S_ISBLK(found.st_mode) &&
		       found.st_rdev == device->devno;
	return S_ISREG(found.st_mode) && found.st_dev == device->devno &&
	       found.st_ino == device->inode;
}

bool device_is_same(const struct device *device)
{
	CLEANUP_SYSFS struct sysfs_device now = { 0 };

	return sysfs_device_open(&now, device->devno) &&
	       diskseq_of(now.disk_dir) == device->diskseq;
}

uint32_t device_suggested_physical(const struct device *device)
{
	if (device->rotational || device->io_min <= device->physical ||
	    device->io_min > ALIGN_MAX_FIXED ||
	    !align_is_power_of_2(device->io_min))
		return 0;
	return device->io_min;
}

uint32_t device_default_cache_block(uint32_t logical, uint64_t bytes)
{
	uint32_t block = logical;

	while (block < PAGE_BYTES && bytes % (2 * block) == 0)
		block *= 2;
	return block;
}

uint32_t device_cache_block(const struct device *device)
{
	CLEANUP_CLOSE int fd = open(device->path, O_RDONLY | O_CLOEXEC);
	struct statfs found;
	int block = 0;

	if (device->block && fd >= 0 && !ioctl(fd, BLKBSZGET, &block))
		return block;
	if (!device->block && fd >= 0 && !fstatfs(fd, &found) &&
	    align_is_power_of_2(found.f_bsize) &&
	    found.f_bsize <= DEVICE_MAX_CACHE_BLOCK)
		return found.f_bsize;
	return device_default_cache_block(device->logical, device->sectors <<
					  ALIGN_SECTOR_SHIFT);
}

bool device_offset_for(const struct device *device, uint32_t physical,
		       uint32_t *offset)
{
	const char *disk = device->sys.disk_dir;
	int64_t of_disk = 0, start = 0, known;

	*offset = 0;
	if (!device->block)
		return true;
	if (physical == device->physical) {
		if (!maybe_get(device->alignment_offset, &known))
			return false;
		/* may be relative to a larger io_min */
		*offset = known & (physical - 1);
		return true;
	}
	/* the start of a disk made of other devices is not known */
	if (strstr(disk, "/devices/virtual/block/"))
		return false;
	if (sysfs_number(disk, "alignment_offset", &of_disk) &&
	    (of_disk < 0 || of_disk > UINT32_MAX))
		return false;
	if (device->sys.partition &&
	    !sysfs_number(device->sys.dir, "start", &start))
		return false;
	*offset = align_shifted_offset((uint32_t)of_disk, (uint64_t)start,
				       physical);
	return true;
}

/**
 * struct shared_search - search for how a disk is reached
 * @network: search for a network, and not for other hosts
 * @reason: what was found, or NULL
 * @depth: devices between the first one and the one being visited
 */
struct shared_search {
	bool network;
	char *reason;
	unsigned int depth;
};

static void search_shared(const char *dir, struct shared_search *search);

static void search_slave(const char *name, void *context)
{
	CLEANUP_FREE char *dir = sysfs_path("/sys/class/block/%s", name);
	CLEANUP_SYSFS struct sysfs_device slave = { 0 };
	dev_t devno;

	/* of a partition, the disk tells how it is reached */
	if (sysfs_devno(dir, "dev", &devno) && sysfs_device_open(&slave, devno))
		search_shared(slave.disk_dir, context);
}

/* Check for a transport of NVMe that only this machine has. */
static bool is_local(const char *transport)
{
	return !strcmp(transport, "pcie") || !strcmp(transport, "apple-nvme");
}

/**
 * struct fabric_search - search for a fabric that a namespace of NVMe is reached by
 * @dir: folder with a controller, or with those of a subsystem
 * @transport: the fabric, or NULL
 */
struct fabric_search {
	const char *dir;
	char *transport;
};

/* Take the transport of a controller, unless it is local. */
static void visit_controller(const char *name, void *context)
{
	struct fabric_search *search = context;
	CLEANUP_FREE char *controller = message_format("%s/%s", search->dir,
						       name);
	char *transport = search->transport ? NULL :
			  sysfs_text(controller, "transport");

	if (transport && !is_local(transport))
		search->transport = transport;
	else
		free(transport);
}

/*
 * Return the fabric that a namespace of NVMe is reached by, for free(), or NULL.
 * Native multipath puts the one namespace of several paths below the subsystem,
 * which has no transport itself: its controllers have.
 */
static char *find_fabric(const char *dir)
{
	CLEANUP_FREE char *device = message_format("%s/device", dir);
	struct fabric_search search = { .dir = device };

	visit_controller(".", &search);
	if (!search.transport)
		sysfs_each(device, visit_controller, &search);
	return search.transport;
}

/*
 * Search a disk and all devices below it for signs of sharing that a local disk
 * does not show: a fabric below, or a type of device made for sharing; or for a
 * fabric that is the network of the machine.
 */
static void search_shared(const char *dir, struct shared_search *search)
{
	static const struct {
		const char *part, *what;
		bool shared, network;
	} places[] = {
		{ "/session", "an iSCSI session", true, true },
		{ "/rport-", "a Fibre Channel port", true, false },
		{ "/rbd", "a RADOS block device", true, true },
		{ "/drbd", "a DRBD resource", true, true },
		{ "/nbd", "a network block device", false, true },
	};
	CLEANUP_FREE char *slaves = message_format("%s/slaves", dir);
	CLEANUP_FREE char *uuid = sysfs_text(dir, "dm/uuid");
	const char *name = strrchr(dir, '/') + 1;
	size_t i;

	if (search->reason || search->depth > 8)
		return;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!strstr(dir, places[i].part) ||
		    !(search->network ? places[i].network : places[i].shared))
			continue;
		search->reason = message_format("%s is reached through %s",
						name, places[i].what);
		return;
	}
	CLEANUP_FREE char *fabric = find_fabric(dir);

	if (fabric && (!search->network || strcmp(fabric, "fc"))) {
		search->reason = message_format(
			"%s is reached through NVMe over %s", name, fabric);
		return;
	}
	if (!search->network && uuid && !strncmp(uuid, "mpath-", 6)) {
		search->reason = message_format("%s is a multipath device",
						name);
		return;
	}
	search->depth++;
	sysfs_each(slaves, search_slave, search);
	search->depth--;
}

char *device_shared_reason(const struct device *device)
{
	struct shared_search search = { 0 };

	if (device->block)
		search_shared(device->sys.disk_dir, &search);
	return search.reason;
}

char *device_network_reason(const struct device *device)
{
	struct shared_search search = { .network = true };

	if (device->block)
		search_shared(device->sys.disk_dir, &search);
	return search.reason;
}
