// SPDX-License-Identifier: GPL-2.0
/* The choices of a seed: xoroshiro128+, seeded by splitmix64; Blackman and Vigna, 2018. */
#include "machine_own.h"

sim_u64 chance_state[2];

static sim_u64 split_mix(sim_u64 *from)
{
	sim_u64 z = *from += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

unsigned int machine_choose(unsigned int n)
{
	if (options.strategy == STRATEGY_SEARCH)
		return 0;
	return choose_of(n);
}

bool machine_chance(unsigned int one_in)
{
	return options.strategy != STRATEGY_SEARCH && one_in && !machine_choose(one_in);
}

void chance_begin(sim_u64 seed)
{
	chance_state[0] = split_mix(&seed);
	chance_state[1] = split_mix(&seed);
}
