/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read from the kernel log why device-mapper refused a request: its ioctl only
 * returns EINVAL.
 */
#ifndef ALIGNCTL_KERNEL_LOG_H
#define ALIGNCTL_KERNEL_LOG_H

/* Open the log at its end, for kernel_log_reason(); -1 if that is forbidden. */
int kernel_log_open(void);

/*
 * Return the reason that was logged since the log was opened, for free(); NULL
 * if there is none. Prefer the target's line, which names argument and value,
 * to the device-mapper core's. Close @fd.
 */
char *kernel_log_reason(int fd);

/*
 * Return the reason in a record of /dev/kmsg, for free(), or NULL. Set @of_core
 * to 1 if the record is the device-mapper core's, else to 0.
 */
char *kernel_log_parse(const char *record, int *of_core);

#endif
