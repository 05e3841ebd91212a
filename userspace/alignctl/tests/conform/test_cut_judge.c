// SPDX-License-Identifier: GPL-2.0
/*
 * The verdict on a device after a cut, against another way to it: each logical block
 * is given a content, and each pair of requests to it is asked whether the later one
 * is durable and has replaced the earlier one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mix.h"
#include "base/pattern.h"
#include "conform/content.h"
#include "conform/cut_judge.h"
#include "tests/tap.h"

#define LOGICAL		512U
#define CELLS		8U
#define BLOCKS		(CELLS * CELL_BLOCKS * 2)
#define MOST		160U
#define CASES		60
#define RUN		UINT64_C(0x8182838485868788)
#define OTHER_RUN	UINT64_C(0x8182838485868789)

/* What a block is given besides contents of requests. */
enum given { GIVEN_FIRST, GIVEN_REQUEST, GIVEN_ZEROES, GIVEN_TORN, GIVEN_JUNK,
	     GIVEN_EARLIER, GIVEN_NR };

/**
 * struct device - a file with contents, and what was sent to it
 * @state: what STATE tells
 * @sent: its requests
 * @given: what each logical block was given
 * @of: for GIVEN_REQUEST, the index of the request
 * @fd: the file
 */
struct device {
	struct cut_state state;
	struct cut_sent sent[MOST];
	enum given given[BLOCKS];
	size_t of[BLOCKS];
	int fd;
};

static struct cut_shape shape_of(const struct device *device, size_t i)
{
	return cut_shape(&device->state.header.area, device->sent[i].number);
}

static bool covers(const struct device *device, size_t i, uint64_t block)
{
	struct cut_shape shape = shape_of(device, i);

	return shape.nr && block >= shape.first &&
	       block < shape.first + shape.nr;
}

/* Check by each flush whether it has made a request durable. */
static bool is_durable(const struct device *device, size_t i)
{
	size_t k;

	if (device->sent[i].ended_ns == UINT64_MAX)
		return false;
	if (shape_of(device, i).part == PART_FUA)
		return true;
	for (k = 0; k < device->state.nr; k++)
		if (shape_of(device, k).part == PART_FLUSH &&
		    device->sent[k].ended_ns != UINT64_MAX &&
		    device->sent[k].began_ns > device->sent[i].ended_ns)
			return true;
	return false;
}

/* Check whether what ended at @ended_ns must be gone from a block. */
static bool is_replaced(const struct device *device, uint64_t block,
			uint64_t ended_ns)
{
	size_t i;

	for (i = 0; i < device->state.nr; i++)
		if (covers(device, i, block) && is_durable(device, i) &&
		    device->sent[i].began_ns > ended_ns)
			return true;
	return false;
}

static bool is_right(const struct device *device, uint64_t block)
{
	bool zeroes = false;
	size_t i;

	for (i = 0; i < device->state.nr; i++) {
		if (!covers(device, i, block) ||
		    is_replaced(device, block, device->sent[i].ended_ns))
			continue;
		if (shape_of(device, i).part == PART_DISCARD)
			return true;
		zeroes |= shape_of(device, i).part == PART_ZEROES;
	}
	switch (device->given[block]) {
	case GIVEN_FIRST:
		return !is_replaced(device, block, 0);
	case GIVEN_REQUEST:
		return !is_replaced(device, block,
				    device->sent[device->of[block]].ended_ns);
	case GIVEN_ZEROES:
		return zeroes;
	default:
		return false;
	}
}

/* Give a block something, a content of a request as often as there is one. */
static void give(struct device *device, uint64_t block, uint64_t random,
		 char *to)
{
	uint64_t byte = device->state.header.area.start + block * LOGICAL;
	enum given given = random % 16 < GIVEN_NR ? random % 16 : GIVEN_REQUEST;
	size_t i = (random >> 8) % device->state.nr, tries;

	for (tries = 0; given == GIVEN_REQUEST; tries++) {
		enum kind_part part = shape_of(device, i).part;

		if (covers(device, i, block) && part != PART_DISCARD) {
			device->of[block] = i;
			if (part == PART_ZEROES)
				given = GIVEN_ZEROES;
			break;
		}
		if (tries == device->state.nr)
			given = GIVEN_FIRST;
		i = (i + 1) % device->state.nr;
	}
	device->given[block] = given;
	content_fill(to, byte, LOGICAL, given == GIVEN_EARLIER ? OTHER_RUN : RUN,
		     given == GIVEN_REQUEST ?
		     device->sent[device->of[block]].number + 1 : 0);
	if (given == GIVEN_ZEROES)
		memset(to, 0, LOGICAL);
	if (given == GIVEN_TORN)
		memset(to + LOGICAL / 2, 0xff, LOGICAL / 2);
	if (given == GIVEN_JUNK)
		memset(to, 0xee, LOGICAL);
}

static void make(struct device *device, uint64_t *random)
{
	static char content[BLOCKS * LOGICAL];
	uint64_t now = 1, number = 0;
	size_t i;

	*device = (struct device) {
		.state = {
			.header.area = {
				.start = CELL_BLOCKS * 2 * LOGICAL,
				.bytes = sizeof(content), .logical = LOGICAL,
				.block = 2 * LOGICAL, .seed = mix64(++*random),
				.run = RUN,
			},
			.ready = true, .nr = 1 + mix64(++*random) % MOST,
		},
		.fd = memfd_create("a device", MFD_CLOEXEC),
	};
	for (i = 0; i < device->state.nr; i++) {
		uint64_t each = mix64(++*random);

		/* some numbers were skipped, and some requests did not end */
		number += each % 8 == 0;
		now += each / 8 % 4;
		device->sent[i] = (struct cut_sent) {
			number++, 2 * now, each / 32 % 6 ?
			2 * (now + each / 256 % 12) + 1 : UINT64_MAX,
		};
	}
	device->state.sent = device->sent;
	device->state.may_send = number;
	for (i = 0; i < BLOCKS; i++)
		give(device, i, mix64(++*random), content + i * LOGICAL);
	CHECK(pwrite(device->fd, content, sizeof(content),
		     (off_t)device->state.header.area.start) ==
	      (ssize_t)sizeof(content), "not written");
}

static void agrees_on_each_block(void)
{
	static struct device device;
	uint64_t random = 1, right = 0, wrong = 0, seen[CUT_FAULT_NR] = { 0 };
	struct cut_verdict verdict;
	size_t i;
	int number;

	for (number = 0; number < CASES; number++) {
		uint64_t faulty = 0, torn = 0, promised = 0, block;

		make(&device, &random);
		for (block = 0; block < BLOCKS; block++) {
			bool bad = !is_right(&device, block);

			faulty += bad;
			torn += bad && device.given[block] == GIVEN_TORN;
			promised += is_replaced(&device, block, 0);
		}
		CHECK(!cut_judge(device.fd, &device.state, &verdict), "no");
		CHECK(cut_faulty(&verdict) == faulty, "case %d: %" PRIu64
		      " faulty, not %" PRIu64, number, cut_faulty(&verdict),
		      faulty);
		CHECK(verdict.faults[CUT_TORN] == torn, "%" PRIu64 " torn",
		      verdict.faults[CUT_TORN]);
		CHECK(verdict.promised == promised && verdict.blocks == BLOCKS,
		      "%" PRIu64 " durable", verdict.promised);
		CHECK(verdict.open_lost <= verdict.open &&
		      verdict.open <= BLOCKS, "%" PRIu64, verdict.open);
		wrong += faulty;
		right += BLOCKS - faulty;
		for (i = 0; i < CUT_FAULT_NR; i++)
			seen[i] += verdict.faults[i];
		close(device.fd);
	}
	CHECK(right > BLOCKS && wrong > BLOCKS, "%" PRIu64 " right, %" PRIu64,
	      right, wrong);
	for (i = 0; i < CUT_UNREADABLE; i++)
		CHECK(seen[i], "no %s was seen", cut_fault_names[i]);
}

/* Find the finding of a block. */
static const struct cut_finding *finding_at(const struct cut_verdict *verdict,
					    uint64_t byte)
{
	size_t i;

	for (i = 0; i < verdict->nr; i++)
		if (byte >= verdict->finding[i].start && byte <
		    verdict->finding[i].start + verdict->finding[i].bytes)
			return &verdict->finding[i];
	return NULL;
}

static void a_finding_names_write_and_promise(void)
{
	static struct device device;
	struct cut_verdict verdict;
	uint64_t random = 1000, checked = 0;
	int number;

	for (number = 0; number < CASES; number++) {
		const struct cut_area *area = &device.state.header.area;
		uint64_t block;

		make(&device, &random);
		CHECK(!cut_judge(device.fd, &device.state, &verdict), "no");
		for (block = 0; block < BLOCKS; block++) {
			uint64_t byte = area->start + block * LOGICAL;
			const struct cut_finding *finding =
				finding_at(&verdict, byte);
			const struct cut_request *lost, *promise;

			if (!finding || is_right(&device, block))
				continue;
			lost = &finding->expected;
			promise = &finding->promise;
			checked++;
			CHECK(lost->known == is_replaced(&device, block, 0),
			      "block %" PRIu64, block);
			if (!lost->known)
				continue;
			CHECK(byte >= lost->start && byte < lost->start +
			      lost->bytes, "another place");
			CHECK(promise->known != (lost->part == PART_FUA) &&
			      (!promise->known || promise->began_ns >
			       lost->ended_ns), "another promise");
			CHECK(!is_replaced(&device, block, lost->ended_ns),
			      "one that a durable one has replaced");
			CHECK(memcmp(finding->expected_bytes,
				     finding->found_bytes, CUT_BYTES),
			      "the same bytes");
		}
		close(device.fd);
	}
	CHECK(checked > BLOCKS, "%" PRIu64, checked);
}

const struct tap_test cut_judge_tests[] = {
	{ "each block after a cut is judged as pairs of requests say",
	  agrees_on_each_block },
	{ "a finding names the durable write and what made it so",
	  a_finding_names_write_and_promise },
	{ 0 }
};
