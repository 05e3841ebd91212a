/* SPDX-License-Identifier: GPL-2.0 */
/* Ledgers for people, and as JSON. */
#ifndef ALIGNCTL_LEDGER_REPORT_H
#define ALIGNCTL_LEDGER_REPORT_H

#include <stdbool.h>
#include <sys/types.h>

#include "device/ledger.h"

/**
 * struct ledger_device - an align device and its ledger
 * @name: below /dev/mapper
 * @dm: the kernel's name, "dm-N"
 * @dir: folder in sysfs
 * @devno: number
 * @ledger: what was read
 */
struct ledger_device {
	char *name;
	char *dm;
	char *dir;
	dev_t devno;
	struct ledger ledger;
};

void ledger_device_free(struct ledger_device *device);

/* Print every counter with its unit and meaning, for help. */
void ledger_report_counters(void);

void ledger_report_text(const struct ledger_device *devices, size_t nr);

/* @interval: seconds that the figures are for, 0: since the last reset. */
void ledger_report_json(const struct ledger_device *devices, size_t nr,
			uint64_t interval);

#endif
