// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "sysfs/device.h"
#include "tests/tap.h"
#include "tests/tree.h"

/* A disk at 8:0 with a partition that starts at sector 63. */
static void make_disk(const char *folder)
{
	tree_open();
	tree_device(folder, "sda", "8:0", 0);
	tree_file("/sys/dev/block/8:0/size", "2048000\n");
	tree_file("/sys/dev/block/8:0/alignment_offset", "0\n");
	tree_file("/sys/dev/block/8:0/queue/logical_block_size", "512\n");
	tree_file("/sys/dev/block/8:0/queue/physical_block_size", "512\n");
	tree_file("/sys/dev/block/8:0/queue/minimum_io_size", "512\n");
	tree_file("/sys/dev/block/8:0/queue/rotational", "1\n");
}

static void partitions(void)
{
	struct device device;
	uint32_t offset = 1;

	make_disk("pci/ata1/sda-parent");
	tree_device("pci/ata1/sda-parent/sda", "sda1", "8:1", 1);
	tree_file("/sys/dev/block/8:1/size", "100\n");
	tree_file("/sys/dev/block/8:1/start", "63\n");
	tree_file("/sys/dev/block/8:1/alignment_offset", "0\n");
	CHECK(device_open_devno(&device, makedev(8, 1), "sda1") ==
	      ALIGNCTL_FINE, "cannot be opened");
	CHECK(device.sys.partition && device.sectors == 100 &&
	      device.logical == 512, "sectors %llu",
	      (unsigned long long)device.sectors);
	/* 63 sectors are 7.875 blocks: a block starts 512 bytes further on */
	CHECK(device_offset_for(&device, 4096, &offset) && offset == 512,
	      "offset %u", offset);
	CHECK(device_offset_for(&device, 512, &offset) && offset == 0,
	      "own offset %u", offset);
	device_close(&device);
	tree_close();
}

static void same(void)
{
	CLEANUP_FREE char *link = NULL;
	struct device device;

	make_disk("pci");
	link = sysfs_path("/sys/dev/block/8:0");
	tree_file("/sys/dev/block/8:0/diskseq", "7\n");
	CHECK(device_open_devno(&device, makedev(8, 0), "sda") == ALIGNCTL_FINE &&
	      device.diskseq == 7, "cannot be opened");
	CHECK(device_is_same(&device), "it is another one");
	tree_file("/sys/dev/block/8:0/diskseq", "8\n");
	CHECK(!device_is_same(&device), "another disk is the same");
	CHECK(!unlink(link) && !device_is_same(&device), "a disk that is gone is the same");
	device_close(&device);
	tree_close();
}

static void volumes(void)
{
	struct device device;
	uint32_t offset;

	make_disk("virtual/block");
	CHECK(device_open_devno(&device, makedev(8, 0), "sda") == ALIGNCTL_FINE,
	      "cannot be opened");
	CHECK(!device_offset_for(&device, 4096, &offset), "offset %u", offset);
	device_close(&device);
	tree_close();
}

static void misaligned(void)
{
	struct device device;
	uint32_t offset = 1;

	make_disk("pci/ata1");
	tree_file("/sys/dev/block/8:0/alignment_offset", "-1\n");
	CHECK(device_open_devno(&device, makedev(8, 0), "sda") == ALIGNCTL_FINE,
	      "cannot be opened");
	CHECK(!maybe_known(device.alignment_offset), "offset %lld",
	      (long long)maybe_or(device.alignment_offset, -1));
	CHECK(!device_offset_for(&device, 512, &offset) && !offset,
	      "offset %u", offset);
	device_close(&device);
	tree_close();
}

/* An align target of 16384 over the disk at 8:0; @sectors: its length. */
static void on_target(const char *sectors, int64_t offset)
{
	struct device device;

	make_disk("pci/ata1");
	tree_device("virtual/block", "dm-0", "253:0", 0);
	tree_file("/sys/dev/block/253:0/size", sectors);
	tree_file("/sys/dev/block/253:0/alignment_offset", "0\n");
	tree_file("/sys/dev/block/253:0/queue/physical_block_size", "512\n");
	tree_file("/sys/dev/block/253:0/queue/minimum_io_size", "16384\n");
	tree_file("/sys/dev/block/253:0/align/target0_physical_block_size",
		  "16384\n");
	tree_file("/sys/dev/block/253:0/align/target0_alignment_offset",
		  "4096\n");
	tree_file("/sys/dev/block/253:0/align/target0_device", "8:0\n");
	CHECK(device_open_devno(&device, makedev(253, 0), "dm-0") ==
	      ALIGNCTL_FINE, "cannot be opened");
	CHECK(device.physical == 16384, "physical %u", device.physical);
	CHECK(maybe_or(device.alignment_offset, -1) == offset,
	      "offset %lld", (long long)maybe_or(device.alignment_offset, -1));
	device_close(&device);

	/* of two targets neither speaks for the device */
	tree_file("/sys/dev/block/253:0/align/target1_physical_block_size",
		  "16384\n");
	CHECK(device_open_devno(&device, makedev(253, 0), "dm-0") ==
	      ALIGNCTL_FINE, "cannot be opened");
	CHECK(device.physical == 512 && maybe_is(device.alignment_offset, 0),
	      "physical %u", device.physical);
	device_close(&device);
	tree_close();
}

static void targets(void)
{
	on_target("2048000\n", 4096);
	/* a part of the disk: where it begins is not told */
	on_target("2047000\n", -1);
}

static void suggestion(void)
{
	static const struct {
		uint32_t io_min, physical; bool rotational; uint32_t suggested;
	} rows[] = {
		{ 16384, 4096, false, 16384 }, { 65536, 4096, false, 65536 },
		{ 16384, 4096, true, 0 }, { 4096, 4096, false, 0 },
		{ 262144, 4096, false, 262144 },
		{ 524288, 4096, false, 0 }, { 12288, 4096, false, 0 },
		{ 0, 4096, false, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct device device = {
			.io_min = rows[i].io_min, .physical = rows[i].physical,
			.rotational = rows[i].rotational,
		};

		CHECK(device_suggested_physical(&device) == rows[i].suggested,
		      "row %zu: %u", i, device_suggested_physical(&device));
	}
}

static void shared_by(const char *folder, int is_shared)
{
	CLEANUP_FREE char *reason = NULL;
	struct device device;

	make_disk(folder);
	CHECK(device_open_devno(&device, makedev(8, 0), "sda") == ALIGNCTL_FINE,
	      "cannot be opened");
	reason = device_shared_reason(&device);
	CHECK(!reason == !is_shared, "%s: %s", folder,
	      reason ? reason : "not shared");
	device_close(&device);
	tree_close();
}

/* A namespace of NVMe, on a controller or, with native multipath, a subsystem. */
static void shared_over(const char *transport, bool multipath, bool is_shared)
{
	CLEANUP_FREE char *reason = NULL;
	CLEANUP_FREE char *file = message_format("%s\n", transport);
	struct device device;

	tree_open();
	tree_device("nvme", "nvme0n1", "259:0", 0);
	if (multipath) {
		tree_file("/sys/devices/subsystem/model", "Disk\n");
		tree_file("/sys/devices/ctl/nvme0/transport", "pcie\n");
		tree_file("/sys/devices/ctl/nvme1/transport", file);
		tree_link("/sys/devices/subsystem/nvme0",
			  "/sys/devices/ctl/nvme0");
		tree_link("/sys/devices/subsystem/nvme1",
			  "/sys/devices/ctl/nvme1");
		tree_link("/sys/dev/block/259:0/device",
			  "/sys/devices/subsystem");
	} else {
		tree_file("/sys/dev/block/259:0/device/transport", file);
	}
	CHECK(device_open_devno(&device, makedev(259, 0), "nvme0n1") ==
	      ALIGNCTL_FINE, "cannot be opened");
	reason = device_shared_reason(&device);
	CHECK(!reason == !is_shared, "%s, multipath %d: %s", transport,
	      multipath, reason ? reason : "not shared");
	device_close(&device);
	tree_close();
}

static void shared(void)
{
	CLEANUP_FREE char *reason = NULL;
	struct device device;

	shared_by("pci/host2/session1/target2:0:0", 1);
	shared_by("pci/host2/rport-2:0-1/target2:0:0", 1);
	shared_by("pci/ata1/host0/target0:0:0", 0);
	shared_over("tcp", false, true);
	shared_over("tcp", true, true);
	shared_over("pcie", false, false);
	shared_over("pcie", true, false);
	shared_over("apple-nvme", false, false);

	/* a volume on a multipath device */
	make_disk("pci/ata1");
	tree_device("virtual/block", "dm-0", "253:0", 0);
	tree_file("/sys/dev/block/253:0/dm/uuid", "mpath-3600\n");
	tree_device("virtual/block", "dm-1", "253:1", 0);
	tree_link("/sys/dev/block/253:1/slaves/dm-0",
		  "/sys/devices/virtual/block/dm-0");
	CHECK(device_open_devno(&device, makedev(253, 1), "dm-1") ==
	      ALIGNCTL_FINE, "cannot be opened");
	reason = device_shared_reason(&device);
	CHECK(reason, "a volume on a multipath device is not shared");
	device_close(&device);
	tree_close();
	free(reason);

	/* one on a partition, which has neither device nor slaves itself */
	tree_open();
	tree_device("nvme", "nvme0n1", "259:0", 0);
	tree_file("/sys/dev/block/259:0/device/transport", "tcp\n");
	tree_device("nvme/nvme0n1", "nvme0n1p1", "259:1", 1);
	tree_device("virtual/block", "dm-1", "253:1", 0);
	tree_link("/sys/dev/block/253:1/slaves/nvme0n1p1",
		  "/sys/devices/nvme/nvme0n1/nvme0n1p1");
	CHECK(device_open_devno(&device, makedev(253, 1), "dm-1") ==
	      ALIGNCTL_FINE, "cannot be opened");
	reason = device_shared_reason(&device);
	CHECK(reason, "a volume on a partition is not shared");
	device_close(&device);
	tree_close();
}

/* What is reached by the network of the machine, and what by one of its own. */
static void network(void)
{
	static const struct { const char *folder; bool network; } rows[] = {
		{ "platform/host2/session1/target2:0:0", true },
		{ "pci/host2/rport-2:0-1/target2:0:0", false },
		{ "rbd/0/block/rbd0", true }, { "virtual/block/nbd0", true },
		{ "pci/ata1/host0/target0:0:0", false },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *reason = NULL;
		struct device device;

		make_disk(rows[i].folder);
		tree_device("virtual/block", "dm-0", "253:0", 0);
		tree_file("/sys/dev/block/253:0/dm/uuid", "mpath-3600\n");
		CLEANUP_FREE char *sda = message_format("/sys/devices/%s/sda",
							rows[i].folder);
		tree_link("/sys/dev/block/253:0/slaves/sda", sda);
		CHECK(device_open_devno(&device, makedev(253, 0), "dm-0") ==
		      ALIGNCTL_FINE, "cannot be opened");
		reason = device_network_reason(&device);
		CHECK(!reason == !rows[i].network, "%s: %s", rows[i].folder,
		      reason ? reason : "no network");
		device_close(&device);
		tree_close();
	}
}

static void blocks_as_the_kernel_has_them(void)
{
	CHECK(device_default_cache_block(512, 1000 * 4096) == 4096, "of pages");
	CHECK(device_default_cache_block(512, 1953525163ULL * 512) == 512,
	      "odd");
	CHECK(device_default_cache_block(512, 1000 * 4096 + 1024) == 1024,
	      "of 1 KiB");
	CHECK(device_default_cache_block(4096, 1000 * 4096) == 4096, "4Kn");
}

const struct tap_test device_tests[] = {
	{ "a partition's alignment offset follows from its start", partitions },
	{ "a device is the same until it goes, or another disk has its number", same },
	{ "a volume's start on the disk is not guessed", volumes },
	{ "a misaligned device has no known offset", misaligned },
	{ "a block size that a target does not advertise is the target's", targets },
	{ "a larger unit is suggested by io_min on SSDs only", suggestion },
	{ "disks that other hosts may reach are recognized", shared },
	{ "disks that are reached by the network are told", network },
	{ "blocks of the cache divide the device, as in the kernel",
	  blocks_as_the_kernel_has_them },
	{ 0 },
};
