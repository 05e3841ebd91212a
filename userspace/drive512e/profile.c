// SPDX-License-Identifier: GPL-2.0
/* Find a profile by its name, and say which blocks its drive claims. */
#include "profile.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "profiles/profiles.h"

#define ADDRESS_OF(name) &profile_##name,

const struct profile *const profiles[] = {
	FOR_EACH_PROFILE(ADDRESS_OF)
	NULL,
};

const struct profile *profile_find(const char *name)
{
	for (const struct profile *const *at = profiles, *p; (p = *at); at++) {
		if (strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

const char *profile_names(void)
{
	static char names[256];
	size_t used = 0;

	for (const struct profile *const *at = profiles, *p; (p = *at); at++) {
		const char *before = p == profiles[0] ? "" :
				     at[1] ? ", " : " or ";

		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%s", before, p->name);
	}
	return names;
}

struct says profile_says(const struct profile *profile,
			 const struct block_map *truth)
{
	if (profile->says.logical)
		return profile->says;
	return (struct says){ SECTOR_SIZE, truth->physical, truth->alignment };
}
