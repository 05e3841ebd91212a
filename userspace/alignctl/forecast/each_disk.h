/* SPDX-License-Identifier: GPL-2.0 */
/* Tally the requests to each disk of a trace, in one pass, for direct I/O. */
#ifndef ALIGNCTL_EACH_DISK_H
#define ALIGNCTL_EACH_DISK_H

#include "forecast/tallies.h"
#include "workload/source.h"

/*
 * Add a tally of each disk that @source has requests to, each with a flush at the
 * end; the source is read once. @jobs: threads that work on disks, if there are
 * several. Return: enum alignctl_exit; reported, and then nothing is added.
 */
int each_disk_read(struct tallies *tallies, struct source *source,
		   unsigned int jobs);

#endif
