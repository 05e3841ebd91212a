/* SPDX-License-Identifier: GPL-2.0 */
/* systemd's generator: the units of the lines of aligntab. */
#ifndef ALIGNCTL_GENERATOR_H
#define ALIGNCTL_GENERATOR_H

/*
 * Write what the template align@.service needs for each good line into @folder,
 * which systemd gives a generator for units: see systemd.generator(7). The
 * template is in @units. Without lines nothing is written. Return: enum
 * alignctl_exit; wrong lines and errors have been reported.
 */
int generator_run(const char *folder, const char *units);

#endif
