/* SPDX-License-Identifier: GPL-2.0 */
/* alignctl's exit status, with one meaning for all verbs. */
#ifndef ALIGNCTL_EXIT_CODES_H
#define ALIGNCTL_EXIT_CODES_H

enum alignctl_exit {
	ALIGNCTL_FINE = 0,
	ALIGNCTL_FINDINGS = 1,	/* done, and a check found a fault */
	ALIGNCTL_USAGE = 2,	/* bad arguments or input */
	ALIGNCTL_IO = 3,	/* a device, file or system call failed */
	ALIGNCTL_BUSY = 4,	/* a device is in use, or data would be lost */
};

#endif
