/* SPDX-License-Identifier: GPL-2.0 */
/* Standard output: whether all that a verb printed has arrived. */
#ifndef ALIGNCTL_OUTPUT_H
#define ALIGNCTL_OUTPUT_H

#include <stdbool.h>

/*
 * Prepare the standard descriptors, before anything is opened. A descriptor that
 * the caller has closed becomes one that cannot be used, or the next device that
 * is opened would get its number, and the report would be written onto it. A
 * closed pipe ends the program by SIGPIPE, whatever the caller does with that.
 */
void output_prepare(void);

/*
 * Write out what has been printed so far. Return: false once any of it could not
 * be written; a verb that prints while it works then ends.
 */
bool output_flush(void);

/*
 * Write out what has been printed, before the program ends with @status of enum
 * alignctl_exit. Return: @status, or ALIGNCTL_IO, with the error reported, if
 * any of the output could not be written.
 */
int output_end(int status);

#endif
