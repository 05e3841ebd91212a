// SPDX-License-Identifier: GPL-2.0
#include "profile.h"

#include <stddef.h>
#include <string.h>

static const struct profile profiles[] = {
	{
		.name = "instant",
		.kind = PROFILE_INSTANT,
		.cache_allowed = true,
	}, {
		.name = "fixed",
		.kind = PROFILE_FIXED,
		.cache_allowed = true,
	},
};

const struct profile *profile_find(const char *name)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	}
	return NULL;
}

const char *profile_names(void)
{
	return "instant or fixed";
}
