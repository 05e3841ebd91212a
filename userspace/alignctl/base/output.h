/* SPDX-License-Identifier: GPL-2.0 */
/* Standard output, with the errors of its writes. */
#ifndef ALIGNCTL_OUTPUT_H
#define ALIGNCTL_OUTPUT_H

#include <stdbool.h>

/*
 * Prepare the standard descriptors, before any file is opened. A descriptor
 * that the caller has closed is replaced by one that fails, or the next device
 * that is opened would get its number and the report would be written to it. A
 * closed pipe ends the program by SIGPIPE, even if the caller ignores SIGPIPE.
 */
void output_prepare(void);

/*
 * Flush standard output. Return: false once any output could not be written; a
 * verb that prints while it works then ends.
 */
bool output_flush(void);

/*
 * Flush standard output before the program ends with @status of enum
 * alignctl_exit. Return: @status, or ALIGNCTL_IO, with the error reported, if
 * any output could not be written.
 */
int output_end(int status);

#endif
