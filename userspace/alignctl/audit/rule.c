// SPDX-License-Identifier: GPL-2.0
/* The list of rules, as FOR_EACH_RULE() has them. */
#include <stddef.h>

#include "audit/rule.h"

#define RULE_LISTED(name) &rule_##name,
const struct rule *const check_rules[] = { FOR_EACH_RULE(RULE_LISTED) NULL };
#undef RULE_LISTED

bool rule_has_remedy(const struct rule *rule, enum remedy_id remedy)
{
	size_t i;

	for (i = 0; i < RULE_REMEDIES && rule->remedies[i]; i++)
		if (rule->remedies[i] == remedy)
			return true;
	return false;
}
