/* SPDX-License-Identifier: GPL-2.0 */
/* Change the mode of an align device in use, and say why that is refused. */
#ifndef ALIGNCTL_MODE_CHANGE_H
#define ALIGNCTL_MODE_CHANGE_H

#include "mapped/dm.h"

/* Warn if another host may write below a target that rewrites neighbours. */
void mode_warn_shared(const struct dm_align *device);

/* Check that the device can hold blocks. Return: false after reporting how. */
bool mode_check_hold(const struct dm_align *device);

/*
 * Check that the device can pass requests on, as it offers no smaller logical blocks
 * than the device below. Return: false after reporting how.
 */
bool mode_check_report(const struct dm_align *device);

/*
 * Change the mode of all targets; return when no write of the old mode is in
 * flight and nothing is held. Return: enum alignctl_exit; reported, also why
 * the device cannot hold blocks, or cannot pass requests on.
 */
int mode_enter(const struct dm_align *device, const char *mode);

#endif
