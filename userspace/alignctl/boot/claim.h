/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the device of a line said of its blocks when the line was written, so that
 * a kernel, bridge or firmware that says something else later is noticed.
 */
#ifndef ALIGNCTL_CLAIM_H
#define ALIGNCTL_CLAIM_H

#include "boot/aligntab.h"
#include "sysfs/device.h"

/* Return what a device says now. */
struct aligntab_claim claim_of(const struct device *device);

/* Return the option of a line that keeps it, "claimed=4096+0", for free(). */
char *claim_option(const struct aligntab_claim *claim);

/*
 * Warn if the device of that number says something else now than its line keeps.
 * A line without the option keeps nothing.
 */
void claim_warn(const struct aligntab_line *line, dev_t devno);

#endif
