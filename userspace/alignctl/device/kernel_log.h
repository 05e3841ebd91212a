/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why device-mapper refused something: an ioctl only says EINVAL, the reason
 * is in the kernel's log.
 */
#ifndef ALIGNCTL_KERNEL_LOG_H
#define ALIGNCTL_KERNEL_LOG_H

/* From now on; -1 if the log may not be read. For kernel_log_reason(). */
int kernel_log_open(void);

/*
 * The reason in what was logged since, for free(); NULL if there is none. The
 * target's own line, which names argument and value, goes before that of the
 * device-mapper core. Closes @fd.
 */
char *kernel_log_reason(int fd);

/*
 * The reason in one record of /dev/kmsg, for free(), or NULL. @of_core is set
 * if the line is that of the device-mapper core.
 */
char *kernel_log_parse(const char *record, int *of_core);

#endif
