/* SPDX-License-Identifier: GPL-2.0 */
/* Keep an align device over reboots: its line in aligntab. */
#ifndef ALIGNCTL_PERSIST_H
#define ALIGNCTL_PERSIST_H

#include <stdbool.h>
#include <sys/types.h>

#include "mapped/attach.h"
#include "mapped/dm.h"

/*
 * Create an align device, or find it there, and add its line to aligntab. The
 * device below is hidden before: after a failure, the line and the device are
 * taken back. Return: enum alignctl_exit; errors have been reported.
 */
int persist_attach(struct attach_options *options, const char *name,
		   const struct device *device);

/*
 * Let systemd know that the device of a line has been removed: it starts no unit
 * that it takes for active when the device below comes back.
 */
void persist_stop_unit(const char *name);

/* Check for a line whose device is not there now. */
bool persist_has_only_line(const char *name);

/*
 * Remove the line of a device that is detached, or was never there, and let
 * udev give back the links of the device below. @below: its number, 0 if not
 * known; a line that means another device stays. Return: as persist_attach().
 */
int persist_detach(const char *name, dev_t below);

#endif
