/* SPDX-License-Identifier: GPL-2.0 */
/* The table of remedies, for people and as JSON. */
#ifndef ALIGNCTL_REMEDY_LIST_H
#define ALIGNCTL_REMEDY_LIST_H

#include "base/schema.h"

/* Print each row of the table. */
void remedy_list_text(void);

/* Print one document with all rows. */
void remedy_list_json(void);

/* What its document holds. */
extern const struct schema_document remedy_list_schema;

#endif
