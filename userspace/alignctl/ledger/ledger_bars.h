/* SPDX-License-Identifier: GPL-2.0 */
/* The histograms of ledgers as bars of text. */
#ifndef ALIGNCTL_LEDGER_BARS_H
#define ALIGNCTL_LEDGER_BARS_H

#include <stddef.h>

#include "ledger/ledger_select.h"

/*
 * Return a bar for @part of the longest one, which has @width characters; for
 * free(). It is a blank for nothing, and at least one character otherwise.
 */
char *ledger_bar(double part, unsigned int width);

/* Print each histogram that is not empty, a bar for each bin. */
void ledger_bars_text(const struct ledger_device *devices, size_t nr);

#endif
