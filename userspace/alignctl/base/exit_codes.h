/* SPDX-License-Identifier: GPL-2.0 */
/* What alignctl's exit status means; the same for every verb. */
#ifndef ALIGNCTL_EXIT_CODES_H
#define ALIGNCTL_EXIT_CODES_H

enum alignctl_exit {
	ALIGNCTL_FINE = 0,
	ALIGNCTL_FINDINGS = 1,	/* done, and something is not as it should be */
	ALIGNCTL_USAGE = 2,	/* asked for something that cannot be done */
	ALIGNCTL_IO = 3,	/* a device, file or system call failed */
	ALIGNCTL_BUSY = 4,	/* in use, or unsafe to touch */
};

#endif
