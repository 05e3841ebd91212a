/* SPDX-License-Identifier: GPL-2.0 */
/* The script of a life as text: --plan reads it, --shrink writes it. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include <stdio.h>

#include "life.h"

extern const char *const script_kinds[OP_KINDS];
extern const char *const script_events[EVENT_KINDS];

void script_write(FILE *file, const struct life_script *script);
/* Read a script. Return: NULL, or the error; *@line is its line. */
const char *script_read(FILE *file, struct life_script *script,
			unsigned int *line);
/* Return: NULL, or the part of a plan that no world can have. */
const char *script_check(const struct world_plan *plan);

#endif
