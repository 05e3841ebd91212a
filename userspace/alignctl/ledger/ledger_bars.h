/* SPDX-License-Identifier: GPL-2.0 */
/* The histograms of ledgers: percentiles, and bars of text. */
#ifndef ALIGNCTL_LEDGER_BARS_H
#define ALIGNCTL_LEDGER_BARS_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "ledger/ledger_select.h"

/*
 * Return a percentile of a histogram of times as the bound of its bin: a time
 * may be anywhere in its bin.
 */
struct table_value ledger_percentile(const uint64_t *bins,
				     unsigned int per_mille);

/*
 * Return a bar for @part of the longest one, which has @width characters; for
 * free(). It is a blank for nothing, and at least one character otherwise.
 */
char *ledger_bar(double part, unsigned int width);

/* Print each histogram that is not empty, a bar for each bin. */
void ledger_bars_text(const struct ledger *ledgers, size_t nr);

#endif
