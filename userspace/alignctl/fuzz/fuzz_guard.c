// SPDX-License-Identifier: GPL-2.0
/*
 * Mount and swap tables, which libmount parses and the guard searches. The
 * input is mountinfo, and after an empty line the table of swap areas.
 */
#include "base/exit_codes.h"
#include "sysfs/device.h"
#include "sysfs/guard.h"
#include "tests/tree.h"
#include "fuzz.h"

/* Make up a machine with sda and two partitions, one of them below dm-0. */
static void make_machine(void)
{
	tree_open();
	atexit(tree_close);
	tree_device("pci0/block", "sda", "8:0", 0);
	tree_device("pci0/block/sda", "sda1", "8:1", 1);
	tree_device("pci0/block/sda", "sda2", "8:2", 2);
	tree_device("virtual/block", "dm-0", "254:0", 0);
	tree_file("/sys/devices/virtual/block/dm-0/dm/name", "vg-root\n");
	tree_file("/sys/devices/virtual/block/dm-0/slaves/sda2/dev", "8:2\n");
	tree_file("/sys/devices/pci0/block/sda/sda2/holders/dm-0/dev",
		  "254:0\n");
}

static void check(const struct guard_report *report, bool given_null)
{
	size_t i;

	for (i = 0; i < report->nr; i++) {
		const char *c = report->finding[i];

		FUZZ_CHECK(*c && (!strstr(c, "(null)") || given_null));
		/* no control characters, as findings go to a terminal */
		for (; *c; c++)
			FUZZ_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	static const dev_t devices[] = { 0x800, 0x801, 0x802, 0xfe00 };
	dev_t devno = devices[size % 4];
	struct guard_report report = { 0 };
	struct device device;
	char *mounts, *swaps;
	bool given_null;

	if (!made)
		make_machine();
	made = true;
	mounts = fuzz_text(data, size);
	given_null = strstr(mounts, "null");
	swaps = strstr(mounts, "\n\n");
	if (swaps) {
		swaps[1] = '\0';
		swaps += 2;
		given_null |= !!strstr(swaps, "null");
	}
	tree_file("/proc/self/mountinfo", mounts);
	tree_file("/proc/swaps", swaps ? swaps : "");
	FUZZ_CHECK(device_open_devno(&device, devno, "/dev/x") ==
		   ALIGNCTL_FINE);
	guard_usage(&report, &device);
	check(&report, given_null);
	/* sda2 is always held by dm-0 */
	FUZZ_CHECK(devno != 0x802 || report.nr >= 1);
	guard_free(&report);
	device_close(&device);
	free(mounts);
	return 0;
}
