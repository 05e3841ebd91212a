/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests that change something in a model of the modes, in the order in which
 * they came: done in each model by many at a time, and kept while there are not too
 * many, for models of which it is known only later that they are needed.
 */
#ifndef ALIGNCTL_CHANGES_H
#define ALIGNCTL_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "forecast/fixing.h"
#include "trace/trace.h"

/* Limit of requests that are kept, 32 MiB of them. */
#define CHANGES_MAX	(1U << 20)

struct changes;

/*
 * Create a list of requests for @nr models, which the caller frees after it. @keep:
 * requests may be needed again.
 */
struct changes *changes_new(struct fixing *const models[], unsigned int nr,
			    bool keep);
void changes_free(struct changes *changes);

/* Add a request of any operation, on the sectors from @first to before @end. */
void changes_add(struct changes *changes, const struct trace_request *request,
		 uint64_t first, uint64_t end);

/*
 * Do all requests that were added in the models, and a flush. Return: true if all of
 * them are kept.
 */
bool changes_end(struct changes *changes);

/* Do all kept requests in another model, and a flush. */
void changes_repeat(const struct changes *changes, struct fixing *model);

#endif
