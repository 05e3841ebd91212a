/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cause of a recording's touches as a finding among those of the stack:
 * what it is, what it costs, and the workaround.
 */
#ifndef ALIGNCTL_JUDGE_CAUSE_H
#define ALIGNCTL_JUDGE_CAUSE_H

#include "audit/cause.h"
#include "audit/judgement.h"
#include "audit/stack.h"

/*
 * Fill in what the judgement knows of device @layer, of which there is a
 * recording. Return: false if its blocks, or where they begin, are not known.
 */
bool judgement_place(const struct stack *stack,
		     const struct judgement *judgement, size_t layer,
		     struct cause_place *place);

/*
 * Add the finding that a recording of device @layer, or its ledger, has the
 * cause. The finding is the new owner of @advice, which comes from the forecast:
 * the cause says where touches come from, and not what helps; NULL: a ledger.
 */
void judge_cause(const struct stack *stack, struct judgement *judgement,
		 size_t layer, const struct cause *cause,
		 const struct finding_advice *advice);

#endif
