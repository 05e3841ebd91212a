/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The writes to all disks as metrics, in the text format of Prometheus. A series
 * of a disk has the label device, the kernel's name of the disk, as
 * node_exporter's node_disk_* have it. Counters begin at 0 when this program
 * starts, and when a disk is found; Prometheus knows such a reset.
 */
#ifndef ALIGNCTL_DISK_METRICS_H
#define ALIGNCTL_DISK_METRICS_H

#include <stdio.h>

#include "top/disks.h"
#include "top/names.h"

/* First line, by which a file of metrics is known to be one. */
#define DISK_METRICS_MARK	"# alignctl top --format prometheus\n"

/* Number of cgroups that have a series: those with most touches. */
#define DISK_METRICS_CGROUPS	10

/*
 * Write the metrics of all disks, at most seven series for each. @names are for
 * the cgroups of the reading; NULL: they are not asked for.
 */
void disk_metrics_write(FILE *out, const struct disks_reading *reading,
			const struct names *names);

/* Print the names of all metrics, and what they are, for --help. */
void disk_metrics_list(void);

#endif
