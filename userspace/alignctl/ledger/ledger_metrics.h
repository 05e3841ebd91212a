/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ledgers as metrics, in the text format of Prometheus. Series of a device have
 * the labels device, the kernel's name, as node_exporter's node_disk_* have it,
 * and name. Counters are those since the device was created: a reset of the
 * baseline does not show.
 */
#ifndef ALIGNCTL_LEDGER_METRICS_H
#define ALIGNCTL_LEDGER_METRICS_H

#include <stddef.h>
#include <stdio.h>

#include "ledger/ledger_select.h"

/* First line, by which a file of metrics is known to be one. */
#define LEDGER_METRICS_MARK	"# alignctl stats --format prometheus\n"

/*
 * Write the metrics of all devices; @unreadable is the number of devices whose
 * ledgers could not be read.
 */
void ledger_metrics_write(FILE *out, const struct ledger *ledgers,
			  size_t nr, size_t unreadable);

#endif
