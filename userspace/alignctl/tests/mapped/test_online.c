// SPDX-License-Identifier: GPL-2.0
/* Where align belongs below a device whose table is not linear. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "mapped/online.h"
#include "sysfs/sysfs.h"
#include "tests/tap.h"
#include "tests/tree.h"

/* A LUKS device on a multipath device with two paths. */
static void multipath(void)
{
	CLEANUP_FREE char *commands = NULL, *dir = NULL;
	bool online = true;

	tree_open();
	tree_device("pci/a", "sda", "8:0", 0);
	tree_device("pci/b", "sdb", "8:16", 0);
	tree_device("virtual/block", "dm-0", "253:0", 0);
	tree_file("/sys/dev/block/253:0/dm/name", "lun\n");
	tree_file("/sys/dev/block/253:0/dm/uuid", "mpath-3600\n");
	tree_link("/sys/dev/block/253:0/slaves/sda", "/sys/devices/pci/a/sda");
	tree_link("/sys/dev/block/253:0/slaves/sdb", "/sys/devices/pci/b/sdb");
	tree_device("virtual/block", "dm-1", "253:1", 0);
	tree_link("/sys/dev/block/253:1/slaves/dm-0",
		  "/sys/devices/virtual/block/dm-0");
	dir = sysfs_path("/sys/dev/block/253:1");
	commands = online_below(dir, &online);
	CHECK(commands &&
	      !strcmp(commands, "'alignctl attach /dev/mapper/lun'"),
	      "%s", commands ? commands : "nothing");
	CHECK(!online, "a multipath device cannot stay in use");
	tree_close();
}

const struct tap_test online_tests[] = {
	{ "the paths of a multipath device are not attached one by one",
	  multipath },
	{ 0 },
};
