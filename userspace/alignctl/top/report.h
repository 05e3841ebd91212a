/* SPDX-License-Identifier: GPL-2.0 */
/* Print an interval of alignctl top, for people or as JSON. */
#ifndef ALIGNCTL_TOP_REPORT_H
#define ALIGNCTL_TOP_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/schema.h"
#include "top/counting.h"
#include "top/names.h"

/**
 * struct top_report - what an interval is printed with
 * @device: the block device
 * @geometry: physical blocks of the device
 * @names: names of cgroups and files
 * @direct: files of direct writes are known
 * @most: largest number of rows to print; 0: all
 */
struct top_report {
	const struct device *device;
	const struct align_geometry *geometry;
	const struct names *names;
	bool direct;
	size_t most;
};

/* Print the notes that hold for all intervals. */
void top_report_notes(const struct top_report *report);

void top_report_text(const struct top_report *report,
		     const struct top_interval *interval);

/* What a document holds. */
extern const struct schema_document top_report_schema;

/* Print a document, on one line if others follow. */
void top_report_json(const struct top_report *report,
		     const struct top_interval *interval, bool one_line);

#endif
