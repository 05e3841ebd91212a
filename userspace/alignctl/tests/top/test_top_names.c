// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "tests/tap.h"
#include "tests/tree.h"
#include "top/names.h"

static void controllers(void)
{
	static const struct { const char *text; bool has; } rows[] = {
		{ "cpu io memory pids", true }, { "io memory\n", true },
		{ "memory io", true }, { "io", false }, { "memory", false },
		{ "", false }, { "iox memory", false }, { "xio memory", false },
		{ "io memoryx", false },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK(names_has_controllers(rows[i].text) == rows[i].has,
		      "'%s'", rows[i].text);
}

/* As the kernel has it: 12 bits and 20. */
static void device_numbers(void)
{
	dev_t devno = names_devno(259U << 20 | 70000);

	CHECK(major(devno) == 259 && minor(devno) == 70000, "%u:%u",
	      major(devno), minor(devno));
}

static void open_files(void)
{
	char path[] = "/tmp/alignctl-unit-XXXXXX";
	CLEANUP_CLOSE int fd = mkstemp(path);
	struct top_row rows[4] = { 0 };
	struct stat found = { 0 };
	char **files;
	size_t i;

	fstat(fd, &found);
	for (i = 0; i < 3; i++) {
		rows[i].key.device = major(found.st_dev) << KERNEL_MINOR_BITS |
				     minor(found.st_dev);
		rows[i].key.inode = found.st_ino;
	}
	/* the same inode number on a device that there is not */
	rows[1].key.device ^= 1U << 31;
	files = names_files(rows, 4);
	CHECK(files[0] && !strcmp(files[0], path), "%s",
	      files[0] ? files[0] : "none");
	CHECK(!files[1] && !files[3], "%s", "a path of no file");
	CHECK(files[2] && !strcmp(files[2], path), "%s",
	      files[2] ? files[2] : "none");
	names_free_files(files, 4);
	unlink(path);
}

static void inodes_and_no_cgroups(void)
{
	const struct top_key mounted = { .device = 8U << 20 | 17, .inode = 12 };
	const struct top_key gone = { .device = 8U << 20 | 18, .inode = 3 };
	CLEANUP_FREE char *one = NULL, *other = NULL, *cgroup = NULL;
	struct names names;

	tree_open();
	tree_file("/proc/self/mountinfo",
		  "30 1 8:17 / /mnt/data rw - ext4 /dev/sdb1 rw\n");
	names_open(&names);
	one = names_inode(&names, &mounted);
	other = names_inode(&names, &gone);
	cgroup = names_cgroup(&names, 1);
	CHECK(!strcmp(one, "inode 12 on /mnt/data"), "%s", one);
	CHECK(!strcmp(other, "inode 3 on 8:18"), "%s", other);
	CHECK(!cgroup && names.no_cgroups &&
	      !strcmp(names.no_cgroups, "cgroup v2 is not mounted"), "%s",
	      names.no_cgroups ? names.no_cgroups : "there are cgroups");
	names_close(&names);
	tree_close();
}

const struct tap_test top_names_tests[] = {
	{ "top: write-back goes by its cgroup with io and memory only",
	  controllers },
	{ "top: device numbers are the kernel's", device_numbers },
	{ "top: a file has the path by which a process has it open",
	  open_files },
	{ "top: a file that no process has open has inode and mount point",
	  inodes_and_no_cgroups },
	{ 0 },
};
