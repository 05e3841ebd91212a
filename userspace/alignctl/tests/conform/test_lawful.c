// SPDX-License-Identifier: GPL-2.0
/*
 * The lawful contents against another definition of them: every order of the
 * requests and the read in which none comes before one that had ended when it
 * began, and in each order the content that the read then finds. After a power
 * cut: every such order of requests and flushes, cut anywhere behind the ended
 * flushes and the ended writes with FUA, and the last content before the cut.
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

/*
 * Add the contents that a cut may leave in all orders that go on like this, and
 * of which @done is before the cut.
 */
static uint32_t cuts(const struct lawful_request *requests, size_t nr,
		     unsigned int done, uint32_t content)
{
	uint32_t set = content;
	size_t i, k;

	for (i = 0; i < nr; i++)
		if (!(done & 1U << i) && requests[i].ended_ns != UINT64_MAX &&
		    (requests[i].flush || (requests[i].fua &&
					   lawful_covers(&requests[i], BLOCK))))
			set = 0;	/* too early to cut here */
	for (i = 0; i < nr; i++) {
		bool now = !(done & 1U << i);

		for (k = 0; now && k < nr; k++)
			if (!(done & 1U << k) && k != i &&
			    requests[k].ended_ns < requests[i].began_ns)
				now = false;
		if (!now)
			continue;
		set |= cuts(requests, nr, done | 1U << i,
			    !lawful_covers(&requests[i], BLOCK) ? content :
			    requests[i].effect == LAWFUL_DISCARDS ?
			    LAWFUL_ANYTHING : UINT32_C(1) << i);
		if (requests[i].ended_ns == UINT64_MAX)
			set |= cuts(requests, nr, done | 1U << i, content);
	}
	return set;
}

/* Return the contents after a cut by the functions under test. */
static uint32_t survivors(const struct lawful_request *requests, size_t nr)
{
	uint64_t flushed = lawful_flushed(requests, nr);
	uint64_t settled = lawful_settled(requests, nr, BLOCK, flushed);
	uint32_t set = settled ? 0 : LAWFUL_BEFORE;
	size_t i;

	for (i = 0; i < nr; i++)
		if (lawful_covers(&requests[i], BLOCK) &&
		    lawful_survives(&requests[i], settled))
			set |= requests[i].effect == LAWFUL_DISCARDS ?
			       LAWFUL_ANYTHING : UINT32_C(1) << i;
	return set;
}

static struct lawful_request request_before_cut(uint64_t random)
{
	struct lawful_request request = {
		.effect = LAWFUL_WRITES,
		.first = BLOCK - random / 16 % 2, .nr = 1 + random / 32 % 3,
		.began_ns = 1 + random / 128 % 12,
	};

	request.ended_ns = request.began_ns + random / 4096 % 8;
	/* one in eight has not ended */
	if (!(random >> 32 & 7))
		request.ended_ns = UINT64_MAX;
	switch (random % 8) {
	case 0:
	case 1:
		request.effect = LAWFUL_NOTHING;
		request.nr = 0;
		request.flush = true;
		break;
	case 2:
		request.fua = true;
		break;
	case 3:
		request.effect = LAWFUL_ZEROES;
		break;
	case 4:
		request.effect = random / 8 % 2 ? LAWFUL_DISCARDS :
						  LAWFUL_NOTHING;
		break;
	}
	return request;
}

static void agrees_with_every_cut(void)
{
	unsigned int seen_before = 0, seen_one = 0, seen_more = 0;
	uint64_t state = 2;
	int number;

	for (number = 0; number < CASES; number++) {
		struct lawful_request requests[MOST + 1];
		size_t nr = 1 + mix64(++state) % (MOST + 1), i;
		uint32_t found, wanted;

		for (i = 0; i < nr; i++)
			requests[i] = request_before_cut(mix64(++state));
		found = survivors(requests, nr);
		wanted = cuts(requests, nr, 0, LAWFUL_BEFORE);
		CHECK(found == wanted, "case %d: %" PRIx32 ", not %" PRIx32,
		      number, found, wanted);
		seen_before += wanted == LAWFUL_BEFORE;
		seen_one += !(wanted & LAWFUL_BEFORE) &&
			    !(wanted & (wanted - 1));
		seen_more += (wanted & (wanted - 1)) != 0;
	}
	CHECK(seen_before > CASES / 50 && seen_one > CASES / 50 &&
	      seen_more > CASES / 50, "%u, %u and %u of %d", seen_before,
	      seen_one, seen_more, CASES);
}

const struct tap_test lawful_tests[] = {
	{ "lawful contents are those of every order that the times allow",
	  agrees_with_every_order },
	{ "what survives a cut is what some order of requests and flushes leaves",
	  agrees_with_every_cut },
	{ 0 }
};
