// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/pattern.h"
#include "sysfs/guard.h"
#include "tests/tap.h"
#include "tests/tree.h"

/* sda with sda1 and sda2, a volume dm-0 (vg-root) on sda2, and sdb. */
static void make_machine(void)
{
	tree_open();
	tree_device("pci", "sda", "8:0", 0);
	tree_device("pci/sda", "sda1", "8:1", 1);
	tree_device("pci/sda", "sda2", "8:2", 2);
	tree_device("pci", "sdb", "8:16", 0);
	tree_device("virtual/block", "dm-0", "253:0", 0);
	tree_file("/sys/dev/block/253:0/dm/name", "vg-root\n");
	tree_link("/sys/dev/block/253:0/slaves/sda2", "/sys/devices/pci/sda/sda2");
	tree_link("/sys/dev/block/8:2/holders/dm-0",
		  "/sys/devices/virtual/block/dm-0");
}

static void mount_on(const char *devno, const char *source, const char *where)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "22 1 %s / %s rw,relatime - ext4 %s rw\n", devno, where,
		 source);
	tree_file("/proc/self/mountinfo", line);
}

/* Is there a finding with that text about the device, and how many in all? */
static size_t findings(unsigned int major, unsigned int minor,
		       const char *text)
{
	struct guard_report report = { 0 };
	struct device device;
	size_t i, nr, found = 0;

	if (device_open_devno(&device, makedev(major, minor), "a device"))
		return 0;
	guard_usage(&report, &device);
	nr = report.nr;
	for (i = 0; i < nr; i++)
		found |= !strcmp(report.finding[i], text);
	CHECK(!*text || found, "no finding '%s' among %zu, first '%s'", text,
	      nr, nr ? report.finding[0] : "");
	guard_free(&report);
	device_close(&device);
	return nr;
}

static void unused(void)
{
	make_machine();
	CHECK(!findings(8, 16, ""), "sdb is in use");
	tree_close();
}

static void mounted(void)
{
	make_machine();
	mount_on("8:16", "/dev/sdb", "/srv");
	findings(8, 16, "sdb is mounted on /srv");
	/* Btrfs has a number of its own, and its device as the source */
	mount_on("0:40", "/dev/sdb", "/srv");
	findings(8, 16, "sdb is mounted on /srv");
	tree_close();
}

/* A process that sees other mounts than we do. */
static void mount_for(unsigned int process, const char *space, const char *devno,
		      const char *where)
{
	char path[64], line[256], target[64];

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", process);
	snprintf(line, sizeof(line),
		 "22 1 %s / %s rw,relatime - ext4 /dev/none rw\n", devno, where);
	tree_file(path, line);
	snprintf(path, sizeof(path), "/proc/%u/comm", process);
	tree_file(path, "server\n");
	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", process);
	snprintf(target, sizeof(target), "/mnt:[%s]", space);
	tree_link(path, target);
}

static void mounted_for_another(void)
{
	make_machine();
	tree_link("/proc/self/ns/mnt", "/mnt:[1]");
	/* one that is like ours says nothing new */
	mount_for(7, "1", "8:16", "/same");
	CHECK(!findings(8, 16, ""), "our own namespace was looked at twice");
	mount_for(12, "2", "8:16", "/srv");
	mount_for(13, "2", "8:16", "/srv");
	CHECK(findings(8, 16, "sdb is mounted on /srv for process 12 (server)") == 1,
	      "a namespace was looked at twice");
	findings(8, 0, "sda2 is held by dm-0 (vg-root)");
	/* what we see ourselves goes before */
	mount_on("8:16", "/dev/sdb", "/here");
	CHECK(findings(8, 16, "sdb is mounted on /here") == 1,
	      "and it is told twice");
	tree_close();
}

static void partition_mounted(void)
{
	make_machine();
	mount_on("8:1", "/dev/sda1", "/boot");
	findings(8, 0, "sda1 is mounted on /boot");
	findings(8, 1, "sda1 is mounted on /boot");
	tree_close();
}

static void held(void)
{
	make_machine();
	findings(8, 2, "sda2 is held by dm-0 (vg-root)");
	findings(8, 0, "sda2 is held by dm-0 (vg-root)");
	CHECK(!findings(8, 1, ""), "sda1 is in use");
	mount_on("253:0", "/dev/mapper/vg-root", "/");
	findings(8, 0, "dm-0 (vg-root) is mounted on /");
	tree_close();
}

static void parents(void)
{
	make_machine();
	/* the whole disk is mounted, or part of a multipath device */
	mount_on("8:0", "/dev/sda", "/data");
	findings(8, 1, "sda is mounted on /data");
	tree_link("/sys/dev/block/8:0/holders/dm-0",
		  "/sys/devices/virtual/block/dm-0");
	findings(8, 1, "sda is held by dm-0 (vg-root)");
	tree_close();
}

static void beneath(void)
{
	make_machine();
	mount_on("8:2", "/dev/sda2", "/odd");
	findings(253, 0, "sda2 is mounted on /odd");
	/* the volume is itself what holds sda2: that is no finding */
	mount_on("8:1", "/dev/sda1", "/boot");
	CHECK(!findings(253, 0, ""), "the volume is in use");
	tree_close();
}

static void swapped(void)
{
	make_machine();
	tree_file("/proc/swaps",
		  "Filename\tType\tSize\tUsed\tPriority\n"
		  "/dev/sda1\tpartition\t999\t0\t-2\n");
	findings(8, 0, "sda1 is in use as swap");
	CHECK(!findings(8, 16, ""), "sdb is in use");
	tree_close();
}

/* What may be said about a regular file with these bytes at @at. */
static int file_findings(const void *bytes, size_t size, off_t at,
			 uint64_t end)
{
	char path[] = "/var/tmp/alignctl-file-XXXXXX";
	int fd = mkstemp(path), nr;
	struct guard_report report = { 0 };
	struct device device;

	if (ftruncate(fd, 1 << 22) || pwrite(fd, bytes, size, at) < 0)
		perror(path);
	close(fd);
	if (device_open(&device, path))
		return -1;
	CHECK(!guard_file_data(&report, &device, end), "cannot be read");
	nr = report.nr;
	guard_free(&report);
	device_close(&device);
	unlink(path);
	return nr;
}

static void files(void)
{
	char sector[PATTERN_SECTOR] __attribute__((aligned(8))) = { 0 };
	struct pattern_label label = { .sector = 8, .run = pattern_run(1) };

	CHECK(file_findings("", 0, 0, 1 << 22) == 0, "a sparse file");
	CHECK(file_findings(sector, sizeof(sector), 4096, 1 << 22) == 0,
	      "zeroes");
	CHECK(file_findings("x", 1, 2000000, 1 << 22) == 1, "a letter");
	CHECK(file_findings("x", 1, 2000000, 1 << 20) == 0,
	      "a letter after the end");
	pattern_fill(sector, 1);
	pattern_label(sector, &label, 1);
	CHECK(file_findings(sector, sizeof(sector), 4096, 1 << 22) == 0,
	      "our own sectors");
}

/* A file that is a swap area without being in use as one. */
static void signatures(void)
{
	char path[] = "/var/tmp/alignctl-file-XXXXXX";
	int fd = mkstemp(path);
	struct guard_report report = { 0 };
	uint32_t header[3] = { 1, 1023, 0 };
	struct device device;

	if (ftruncate(fd, 1 << 22) || pwrite(fd, header, 12, 1024) != 12 ||
	    pwrite(fd, "SWAPSPACE2", 10, 4086) != 10)
		perror(path);
	close(fd);
	CHECK(!device_open(&device, path) &&
	      !guard_signatures(&report, &device), "cannot be read");
	CHECK(report.nr == 1 &&
	      !strcmp(report.finding[0],
		      "carries the signature of swap at byte 4086"),
	      "%zu findings, '%s'", report.nr,
	      report.nr ? report.finding[0] : "");
	guard_free(&report);
	device_close(&device);
	unlink(path);
}

/* Sectors of a disk: a table of DOS's kind with one partition, or part of it. */
static void partition_tables(void)
{
	static const struct { const char *what; bool entry, magic, swap, table; }
	rows[] = {
		{ "an empty disk", false, false, false, false },
		{ "a table", true, true, false, true },
		{ "a table without its magic", true, false, false, false },
		{ "a file system", false, false, true, false },
	};
	const uint8_t entry[16] = { 0, 0, 2, 0, 0x83, 0, 3, 0, 8, 0, 0, 0,
				    0, 16, 0, 0 };
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[] = "/var/tmp/alignctl-file-XXXXXX";
		int fd = mkstemp(path);
		struct device device;

		if (ftruncate(fd, 1 << 22) ||
		    (rows[i].entry && pwrite(fd, entry, 16, 446) != 16) ||
		    (rows[i].magic && pwrite(fd, "\x55\xaa", 2, 510) != 2) ||
		    (rows[i].swap &&
		     pwrite(fd, "SWAPSPACE2", 10, 4086) != 10))
			perror(path);
		close(fd);
		CHECK(!device_open(&device, path) &&
		      guard_partition_table(&device) == rows[i].table, "%s",
		      rows[i].what);
		device_close(&device);
		unlink(path);
	}
}

/* A prepared device must not look like one that holds something. */
static void pattern_is_no_signature(void)
{
	char path[] = "/var/tmp/alignctl-file-XXXXXX";
	char sector[PATTERN_SECTOR] __attribute__((aligned(8)));
	int fd = mkstemp(path);
	struct guard_report report = { 0 };
	struct pattern_label label = { 0 };
	struct device device;
	uint64_t run;

	pattern_fill(sector, 1);
	for (run = 0; run < 20; run++) {
		label.run = pattern_run(run);
		for (label.sector = 0; label.sector < 512; label.sector++) {
			/* a later write here and there */
			label.sequence = label.sector % 3 ? 0 :
							    label.sector * run;
			pattern_label(sector, &label, 1);
			if (pwrite(fd, sector, sizeof(sector),
				   label.sector * PATTERN_SECTOR) < 0)
				perror(path);
		}
		CHECK(!device_open(&device, path) &&
		      !guard_signatures(&report, &device), "cannot be read");
		CHECK(!report.nr, "run %llu: %s", (unsigned long long)run,
		      report.finding[0]);
		guard_free(&report);
		device_close(&device);
	}
	close(fd);
	unlink(path);
}

const struct tap_test guard_tests[] = {
	{ "a device that is not in use is free", unused },
	{ "a mounted device is found, also under Btrfs's own number", mounted },
	{ "a mount in another mount namespace is found", mounted_for_another },
	{ "a mounted partition counts for its disk", partition_mounted },
	{ "a holder is named, and what is mounted above it", held },
	{ "a partition is not free while its disk is in use", parents },
	{ "a mount beneath a volume counts, the volume itself does not",
	  beneath },
	{ "swap is found", swapped },
	{ "a regular file is free if it holds nothing, or our own sectors",
	  files },
	{ "a signature is named with its place", signatures },
	{ "a partition table is told from what is none", partition_tables },
	{ "a prepared device carries no signature", pattern_is_no_signature },
	{ 0 },
};
