// SPDX-License-Identifier: GPL-2.0
/*
 * The lawful contents against another definition of them: every order of the
 * requests and the read in which none comes before one that had ended when it
 * began, and in each order the content that the read then finds.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "base/mix.h"
#include "conform/lawful.h"
#include "tests/tap.h"

#define BLOCK		5
#define MOST		4
#define CASES		20000

/* What is put into an order: requests, and the read, which is the last one. */
struct moment {
	uint64_t began_ns;
	uint64_t ended_ns;
};

/* Add the contents that the read may find in all orders that go on like this. */
static uint32_t orders(const struct lawful_request *requests,
		       const struct moment *moments, size_t nr,
		       unsigned int done, uint32_t content)
{
	uint32_t set = 0;
	size_t i, k;

	for (i = 0; i <= nr; i++) {
		bool now = !(done & 1U << i);

		for (k = 0; now && k <= nr; k++)
			if (!(done & 1U << k) && k != i &&
			    moments[k].ended_ns < moments[i].began_ns)
				now = false;
		if (!now)
			continue;
		if (i == nr) {
			set |= content;
			continue;
		}
		if (!lawful_covers(&requests[i], BLOCK)) {
			set |= orders(requests, moments, nr, done | 1U << i,
				      content);
			continue;
		}
		set |= orders(requests, moments, nr, done | 1U << i,
			      requests[i].effect == LAWFUL_DISCARDS ?
			      LAWFUL_ANYTHING : UINT32_C(1) << i);
		/* one that has failed may have done nothing */
		if (requests[i].ended_ns == UINT64_MAX)
			set |= orders(requests, moments, nr, done | 1U << i,
				      content);
	}
	return set;
}

static void agrees_with_every_order(void)
{
	unsigned int seen_before = 0, seen_one = 0, seen_more = 0;
	uint64_t state = 1;
	int number;

	for (number = 0; number < CASES; number++) {
		struct lawful_request requests[MOST];
		struct moment moments[MOST + 1];
		uint32_t found, wanted;
		size_t nr = 1 + mix64(++state) % MOST, i;
		bool last = mix64(++state) % 3 == 0;

		for (i = 0; i < nr; i++) {
			uint64_t random = mix64(++state);

			requests[i] = (struct lawful_request) {
				.effect = random % 8 ? LAWFUL_WRITES + random / 8 % 2 :
					  random / 8 % 2 ? LAWFUL_DISCARDS : LAWFUL_NOTHING,
				.first = BLOCK - random / 16 % 2, .nr = 1 + random / 32 % 3,
				.began_ns = 1 + random / 128 % 12,
			};
			requests[i].ended_ns = requests[i].began_ns +
					       random / 4096 % 8;
			/* one in eight fails */
			if (!(random >> 32 & 7))
				requests[i].ended_ns = UINT64_MAX;
			moments[i] = (struct moment) { requests[i].began_ns,
						       requests[i].ended_ns };
		}
		moments[nr].began_ns = last ? 100 : 1 + mix64(++state) % 20;
		moments[nr].ended_ns = last ? UINT64_MAX :
				       moments[nr].began_ns + mix64(++state) % 8;
		found = lawful_contents(requests, nr, BLOCK,
					moments[nr].began_ns,
					moments[nr].ended_ns);
		wanted = orders(requests, moments, nr, 0, LAWFUL_BEFORE);
		CHECK(found == wanted, "case %d: %" PRIx32 ", not %" PRIx32,
		      number, found, wanted);
		seen_before += wanted == LAWFUL_BEFORE;
		seen_one += wanted && !(wanted & (wanted - 1)) &&
			    wanted < LAWFUL_BEFORE;
		seen_more += (wanted & (wanted - 1)) != 0;
	}
	CHECK(seen_before > CASES / 50 && seen_one > CASES / 50 &&
	      seen_more > CASES / 50, "%u, %u and %u of %d", seen_before,
	      seen_one, seen_more, CASES);
}

const struct tap_test lawful_tests[] = {
	{ "lawful contents are those of every order that the times allow",
	  agrees_with_every_order },
	{ 0 }
};
