/* SPDX-License-Identifier: GPL-2.0 */
/* Names of systemd's units. */
#ifndef ALIGNCTL_UNIT_NAME_H
#define ALIGNCTL_UNIT_NAME_H

/* Return a name as an instance of a unit, as systemd-escape does, for free(). */
char *unit_escape(const char *name);

/*
 * Return the unit that brings up the line of that name, for free(); NULL: its
 * name would be too long for systemd.
 */
char *unit_of(const char *name);

#endif
