// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/message.h"
#include "sysfs/same_disk.h"
#include "tests/tap.h"
#include "tests/tree.h"

static bool same(unsigned int major, unsigned int minor, dev_t other)
{
	struct device device = { .devno = makedev(major, minor) };

	return same_disk(&device, other);
}

static void disks_below_are_compared(void)
{
	struct stat here;
	char *node;

	tree_open();
	tree_device("pci", "sda", "8:0", 0);
	tree_device("pci/sda", "sda1", "8:1", 1);
	tree_device("pci/sda", "sda2", "8:2", 2);
	tree_device("pci", "sdb", "8:16", 0);
	tree_device("virtual/block", "dm-0", "253:0", 0);
	tree_link("/sys/dev/block/253:0/slaves/sda1",
		  "/sys/devices/pci/sda/sda1");
	CHECK(same(8, 0, makedev(8, 0)), "a disk is itself");
	CHECK(same(8, 1, makedev(8, 2)), "two partitions of a disk");
	CHECK(same(253, 0, makedev(8, 2)), "a mapping of a partition");
	CHECK(same(8, 2, makedev(253, 0)), "the same the other way round");
	CHECK(!same(8, 16, makedev(253, 0)), "of another disk");
	CHECK(!same(8, 16, makedev(0, 40)), "of no disk");
	CHECK(same(0, 40, makedev(0, 40)), "on one file system of no disk");
	/* a loop device of a file that lies where this test runs */
	CHECK(!stat(".", &here), "no folder");
	tree_device("virtual/block", "loop0", "7:0", 0);
	tree_file("/sys/dev/block/7:0/loop/backing_file", ".\n");
	CHECK(same(7, 0, here.st_dev), "the disk of its file");
	CHECK(!same(7, 0, makedev(253, 0)), "another one");
	/* and one of a partition, whose node only root can make */
	node = message_format("%s/node", getenv("ALIGNCTL_SYSROOT"));
	if (!mknod(node, S_IFBLK | 0600, makedev(8, 1))) {
		tree_device("virtual/block", "loop1", "7:1", 0);
		tree_file("/sys/dev/block/7:1/loop/backing_file", node);
		CHECK(same(7, 1, makedev(8, 2)), "the disk of its partition");
		CHECK(!same(7, 1, makedev(8, 16)), "not another disk");
	}
	free(node);
	tree_close();
}

const struct tap_test same_disk_tests[] = {
	{ "devices on one disk are found through what is between",
	  disks_below_are_compared },
	{ 0 }
};
