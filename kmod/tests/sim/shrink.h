/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shrinking: a script that breaks a promise is made smaller as long as it still
 * breaks one in the same words.
 *
 * A smaller plan has another schedule, so each candidate is lived with several
 * seeds of its machines, and the first that shows the violation is kept with it.
 */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "life.h"

/* Shrink a script. Return: lives that were lived for that. */
sim_u64 shrink(struct life_script *script, const char *failure);

/* Requests and events of the worlds of a script. */
unsigned int shrink_size(const struct life_script *script);

#endif
