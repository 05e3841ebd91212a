/* SPDX-License-Identifier: GPL-2.0 */
/* Check the trace that a verb writes: --output FILE, which must not exist. */
#ifndef ALIGNCTL_NEW_TRACE_H
#define ALIGNCTL_NEW_TRACE_H

/*
 * Check that @verb can write a trace to @path, NULL if --output was not given.
 * Return: enum alignctl_exit; errors have been reported.
 */
int new_trace_check(const char *verb, const char *path);

#endif
