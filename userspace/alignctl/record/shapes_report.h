/* SPDX-License-Identifier: GPL-2.0 */
/* Print what became of the writes of a recording, for people or as JSON. */
#ifndef ALIGNCTL_SHAPES_REPORT_H
#define ALIGNCTL_SHAPES_REPORT_H

#include "base/json.h"
#include "base/schema.h"
#include "record/following.h"

void shapes_report_text(const struct followed *followed);

/* The members of shapes_report_json(). */
extern const struct schema_row shapes_report_members[];

struct json_object *shapes_report_json(const struct followed *followed);

#endif
