/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The audit as metrics, in the text format of Prometheus. A series that belongs
 * to a disk has the label device, the kernel's name of the disk, as
 * node_exporter's node_disk_* have it; a device on the disk has the label layer.
 */
#ifndef ALIGNCTL_AUDIT_METRICS_H
#define ALIGNCTL_AUDIT_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "audit/judgement.h"
#include "audit/stack.h"

/* First line, by which a file of metrics is known to be one. */
#define AUDIT_METRICS_MARK	"# alignctl check --format prometheus\n"

/*
 * Write the metrics of all devices that are asked about: at most six series a
 * disk, and two a finding. @serial adds the serial numbers of the disks.
 */
void audit_metrics_write(FILE *out, const struct stack *stack,
			 const struct judgement *judgement, bool serial);

/* Print the names of all metrics, and what they are, for --help. */
void audit_metrics_list(void);

#endif
