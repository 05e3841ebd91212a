/* SPDX-License-Identifier: GPL-2.0 */
/* The trace that a verb makes: its --output FILE, which must not be there yet. */
#ifndef ALIGNCTL_NEW_TRACE_H
#define ALIGNCTL_NEW_TRACE_H

/*
 * Check that @path, NULL if --output was not given, can be the trace that @verb
 * makes. Return: enum alignctl_exit; errors have been reported.
 */
int new_trace_check(const char *verb, const char *path);

#endif
