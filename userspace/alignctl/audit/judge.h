/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The judgement of a stack of devices: where each device lies relative to the
 * physical blocks of the disk, and what costs read-modify-writes. It reads
 * nothing but the description.
 */
#ifndef ALIGNCTL_JUDGE_H
#define ALIGNCTL_JUDGE_H

#include "audit/judgement.h"
#include "audit/stack.h"

/* Judge a stack; free @judgement with judgement_free(). */
void judge_stack(const struct stack *stack, struct judgement *judgement);

#endif
