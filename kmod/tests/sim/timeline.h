/* SPDX-License-Identifier: GPL-2.0 */
/* The story of a world as a table: a line for each event, a column for each thread. */
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include <stdio.h>

#include "world.h"

/* Write the kept part of the last world's story. */
void timeline_write(FILE *file, const struct world_plan *plan);
/* Write a request, or an event, in words. */
void timeline_op(FILE *file, const struct world_op *op);

#endif
