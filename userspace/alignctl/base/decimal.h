/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decimal numbers in text from outside: digits and nothing else, and what is
 * too large is refused rather than wrapped or cut off.
 */
#ifndef ALIGNCTL_DECIMAL_H
#define ALIGNCTL_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads the digits at *@at and moves it behind them. False, with nothing set,
 * if there are none or the number is above @max.
 */
bool decimal_read(const char **at, uint64_t max, uint64_t *number);

/* The same for a device's number, "major:minor". */
bool decimal_read_devno(const char **at, dev_t *devno);

#endif
