/* SPDX-License-Identifier: GPL-2.0 */
/* Metrics in the text format of Prometheus, version 0.0.4. */
#ifndef ALIGNCTL_METRICS_H
#define ALIGNCTL_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/options.h"

/* Formats that --format takes, and the rows of verbs that print metrics. */
extern const char *const metrics_formats[1];
#define METRICS_FORMAT	ARG_NAME("FORMAT", metrics_formats)
#define METRICS_ROW_OUTPUT						\
	OPTION("output", ARG_FILE,					\
	       "write the metrics to FILE, for node_exporter", .needs = "format")

/*
 * Begin the family of the metric @prefix@name, of a type as "gauge". The help is
 * @help, and behind it @more.
 */
void metrics_family(FILE *out, const char *prefix, const char *name,
		    const char *type, const char *help, const char *more);

/*
 * Write a label, with a comma before it unless @first. The value may have any
 * bytes: one that is no UTF-8 would make node_exporter refuse the whole file, and
 * a control character would reach a terminal, so both are written \xNN, as
 * device-mapper does in /dev/mapper.
 */
void metrics_label(FILE *out, bool first, const char *name, const char *value);

/*
 * Put the text of metrics into @file, the argument of --output, or on standard
 * output if that is NULL. Return: enum alignctl_exit, reported.
 */
int metrics_put(const char *file, const char *text, size_t length);

#endif
