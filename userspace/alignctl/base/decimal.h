/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decimal numbers in text from outside: digits and nothing else. A number that
 * is too large is refused, never wrapped or truncated.
 */
#ifndef ALIGNCTL_DECIMAL_H
#define ALIGNCTL_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Read the number at *@at and advance *@at past its digits. Return false, with
 * nothing changed, if there is no digit or the number is above @max.
 */
bool decimal_read(const char **at, uint64_t max, uint64_t *number);

/*
 * Read a device number, "major:minor", at *@at and advance *@at past it. Return
 * false, with nothing changed, if there is none or a part is above 32 bits.
 */
bool decimal_read_devno(const char **at, dev_t *devno);

#endif
