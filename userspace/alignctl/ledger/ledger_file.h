/* SPDX-License-Identifier: GPL-2.0 */
/* Read ledgers from a saved document of "stats --json". */
#ifndef ALIGNCTL_LEDGER_FILE_H
#define ALIGNCTL_LEDGER_FILE_H

#include <stddef.h>

#include "ledger/ledger_select.h"

/*
 * Read the devices of a document into @selection: names, counters and histograms
 * as they were counted then, since the last reset or in an interval, and of each
 * target index, mode, physical block and device below. Counters of the document
 * that are not known here are ignored, as are those known here that it lacks,
 * unless a comparison needs them. Return: NULL, or the error, for free(),
 * and @selection is empty then.
 */
char *ledger_file_parse(struct ledger_selection *selection, const char *text,
			size_t length);

/* Read a file likewise. Return: enum alignctl_exit, reported. */
int ledger_file_read(struct ledger_selection *selection, const char *path);

#endif
