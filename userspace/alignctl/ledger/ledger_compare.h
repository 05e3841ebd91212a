/* SPDX-License-Identifier: GPL-2.0 */
/* Two states of the same devices, side by side. */
#ifndef ALIGNCTL_LEDGER_COMPARE_H
#define ALIGNCTL_LEDGER_COMPARE_H

#include <stdbool.h>

#include "base/schema.h"
#include "ledger/ledger_select.h"

/*
 * Print each device that both states have, by its name; if each state has one
 * device only, these two. A device that only one has is named in a warning.
 * Return: enum alignctl_exit; that no device is in both has been reported.
 */
int ledger_compare(const struct ledger_selection *before,
		   const struct ledger_selection *after, bool json);

/* The document of ledger_compare(). */
extern const struct schema_document ledger_compare_document;

#endif
