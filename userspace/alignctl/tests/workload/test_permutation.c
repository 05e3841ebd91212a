// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "tests/tap.h"
#include "workload/permutation.h"

static void one_to_one(void)
{
	static const uint64_t sizes[] = { 1, 2, 3, 4, 5, 15, 16, 17, 1000,
					  4096, 4097 };
	uint64_t seed, n;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (seed = 0; seed < 5; seed++) {
			CLEANUP_FREE unsigned int *seen =
				calloc(sizes[i], sizeof(*seen));

			for (n = 0; n < sizes[i]; n++) {
				uint64_t at = permutation_number(sizes[i],
								 seed, n);

				CHECK(at < sizes[i], "%" PRIu64 " of %" PRIu64,
				      at, sizes[i]);
				if (at < sizes[i])
					seen[at]++;
			}
			for (n = 0; n < sizes[i]; n++)
				CHECK(seen[n] == 1, "%" PRIu64 " of %" PRIu64
				      ": %u times", n, sizes[i], seen[n]);
		}
	}
}

static void large_sizes(void)
{
	static const uint64_t sizes[] = { UINT64_MAX, UINT64_MAX / 2,
					  (1ULL << 40) + 1 };
	uint64_t at[100];
	size_t i, n, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (n = 0; n < 100; n++) {
			at[n] = permutation_number(sizes[i], 7, n);
			CHECK(at[n] < sizes[i], "turn %zu of %" PRIu64 " is %"
			      PRIu64, n, sizes[i], at[n]);
			for (k = 0; k < n; k++)
				CHECK(at[k] != at[n], "%" PRIu64
				      " has two turns of %" PRIu64, at[n],
				      sizes[i]);
		}
	}
}

const struct tap_test permutation_tests[] = {
	{ "each number below any size has one turn, and each turn one number",
	  one_to_one },
	{ "so it is for sizes beyond 32 bits", large_sizes },
	{ 0 },
};
