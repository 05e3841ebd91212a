// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/cleanup.h"
#include "mapped/kernel_log.h"
#include "tests/tap.h"

static void reasons(void)
{
	static const struct { const char *record, *reason; int of_core; }
	rows[] = {
		{ "3,812,44245512,-;device-mapper: table: 253:0: align: max_blocks must be a number from 1 to 1048576 (-EINVAL)\n",
		  "max_blocks must be a number from 1 to 1048576", 1 },
		{ "3,811,44244666,-;device-mapper: align: feature argument \"mode x\": no such mode\n SUBSYSTEM=x\n",
		  "feature argument \"mode x\": no such mode", 0 },
		{ "3,1,2,-;device-mapper: align: 253:12: message \"mode x\": (see above) must be report or pad",
		  "message \"mode x\": (see above) must be report or pad", 0 },
		{ "3,1,2,-;device-mapper: table: 253:0: align: a (b) c (-22)",
		  "a (b) c", 1 },
		{ "3,1,2,-;device-mapper: table: 253:0: linear: Device lookup failed (-ENODEV)",
		  NULL, 0 },
		{ "3,1,2,-;device-mapper: ioctl: error adding target to table",
		  NULL, 0 },
		{ "3,1,2,-;device-mapper: table: Inline encryption capabilities of new DM table were more restrictive than the old table's. This is not supported!\n",
		  "Inline encryption capabilities of new DM table were more restrictive than the old table's. This is not supported!", 1 },
		{ "3,1,2,-;device-mapper: ioctl: can't change device type (old=4 vs new=1) after initial table load.\n",
		  "can't change device type (old=4 vs new=1) after initial table load.", 1 },
		{ "6,1,2,-;usb 1-1: align: something", NULL, 0 },
		{ "no record at all", NULL, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int of_core = 0;
		CLEANUP_FREE char *reason = kernel_log_parse(rows[i].record,
							     &of_core);

		CHECK(!reason == !rows[i].reason, "row %zu: %s", i,
		      reason ? reason : "nothing");
		if (!reason || !rows[i].reason)
			continue;
		CHECK(!strcmp(reason, rows[i].reason), "row %zu: '%s'", i,
		      reason);
		CHECK(of_core == rows[i].of_core, "row %zu: core %d", i,
		      of_core);
	}
}

const struct tap_test kernel_log_tests[] = {
	{ "the kernel's reason is found in its log, and only that", reasons },
	{ 0 },
};
