// SPDX-License-Identifier: GPL-2.0
/* What is to be given for a layout, on every place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"
#include "base/cleanup.h"
#include "remedy/layout.h"
#include "tests/tap.h"

#define UNIT_MOST	(INT64_C(1) << 20)
#define ASHIFT_MAX	65536	/* 16 */
#define DISK_BYTES	((INT64_C(1) << 30) + 5 * 4096)

/* Each unit, with each logical block that a device of such units can have. */
#define FOR_EACH_PLACE(place)						\
	for ((place).logical = 512; (place).logical <= 4096;		\
	     (place).logical *= 8)					\
		for ((place).unit = (place).logical;			\
		     (place).unit <= UNIT_MOST; (place).unit *= 2)

static const struct remedy_words sda = { .device = "/dev/sda" };

/* Find the layout of a name for a place. Return: the number of rows with it. */
static unsigned int find(const char *name, const struct layout_place *place,
			 struct layout_advice *found)
{
	struct layout_advice advice;
	unsigned int nr = 0;
	size_t i;

	memset(found, 0, sizeof(*found));
	for (i = 0; i < layout_nr(); i++) {
		if (!layout_advise(i, place, &sda, &advice))
			continue;
		if (!strcmp(advice.name, name) && !nr++) {
			*found = advice;
			continue;
		}
		free(advice.give);
		free(advice.left);
	}
	return nr;
}

static void release(struct layout_advice *advice)
{
	free(advice->give);
	free(advice->left);
}

static void one_row(void)
{
	static const char *const names[] = {
		"partition", "xfs", "ext4", "zpool", "luks", "lvm", "md",
		"ceph", "postgresql", "innodb",
	};
	static const char *const larger[] = {
		"xfs-block", "xfs-sector", "ext4-block",
	};
	struct layout_place place = {
		.offset = maybe_of(0), .bytes = maybe_of(DISK_BYTES),
	};
	struct layout_advice advice;
	size_t i;

	FOR_EACH_PLACE(place) {
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			CHECK(find(names[i], &place, &advice) == 1 &&
			      advice.give, "%s, unit %" PRId64, names[i],
			      place.unit);
			release(&advice);
		}
		for (i = 0; i < sizeof(larger) / sizeof(larger[0]); i++) {
			CHECK(find(larger[i], &place, &advice) ==
			      (place.unit > 4096), "%s, unit %" PRId64,
			      larger[i], place.unit);
			release(&advice);
		}
	}
}

static void leavings(void)
{
	struct layout_place place = {
		.offset = maybe_of(0), .bytes = maybe_of(DISK_BYTES),
	};
	struct layout_advice advice;
	size_t i;

	FOR_EACH_PLACE(place)
		for (i = 0; i < layout_nr(); i++) {
			if (!layout_advise(i, &place, &sda, &advice))
				continue;
			CHECK(advice.left || !(advice.writes % place.unit),
			      "%s writes %" PRId64 " in units of %" PRId64,
			      advice.name, advice.writes, place.unit);
			CHECK(!advice.give || !strchr(advice.give, '{'), "%s",
			      advice.give);
			release(&advice);
		}
}

/* Check the partition of a disk whose first unit begins at a byte. */
static void partition_at(struct layout_place *place, int64_t offset)
{
	int64_t start = 0, size = 0;
	struct layout_advice advice;
	bool possible = !(offset % place->logical);

	place->offset = maybe_of(offset);
	find("partition", place, &advice);
	CHECK(possible == !!advice.give && possible == !advice.left,
	      "unit %" PRId64 ", offset %" PRId64, place->unit, offset);
	if (advice.give)
		sscanf(advice.give, "echo 'start=%" SCNd64 ", size=%" SCNd64,
		       &start, &size);
	start *= place->logical;
	size *= place->logical;
	CHECK(!possible || (size > 0 && start >= 34 * place->logical &&
			    (start - offset) % place->unit == 0 &&
			    size % place->unit == 0 &&
			    start + size + 34 * place->logical <= DISK_BYTES),
	      "unit %" PRId64 ", offset %" PRId64 ": %s", place->unit, offset,
	      advice.give);
	release(&advice);
}

static void partition(void)
{
	struct layout_place place = { .bytes = maybe_of(DISK_BYTES) };
	struct layout_advice advice;

	FOR_EACH_PLACE(place) {
		partition_at(&place, 0);
		partition_at(&place, place.unit - 512);
		partition_at(&place, place.unit / 2);
	}
	place = (struct layout_place) {
		4096, 512, maybe_of(0), maybe_of(2 << 20), false,
	};
	find("partition", &place, &advice);
	CHECK(!advice.give && advice.left, "no room: %s", advice.give);
	release(&advice);
	place.bytes = MAYBE_UNKNOWN;
	find("partition", &place, &advice);
	CHECK(!advice.give && advice.left, "no size: %s", advice.give);
	release(&advice);
	place.partition = true;
	CHECK(!find("partition", &place, &advice), "in a partition");
}

static void shifted(void)
{
	struct layout_place place = { .bytes = maybe_of(DISK_BYTES) };
	struct layout_advice advice;
	size_t i;

	FOR_EACH_PLACE(place) {
		if (place.unit == 512)
			continue;
		place.offset = maybe_of(place.unit - 512);
		for (i = 0; i < layout_nr(); i++) {
			bool any;

			if (!layout_advise(i, &place, &sda, &advice))
				continue;
			/* files are placed by their file system */
			any = !strcmp(advice.name, "lvm") ||
			      !strcmp(advice.name, "postgresql") ||
			      !strcmp(advice.name, "innodb");
			CHECK(any == !!advice.give ||
			      !strcmp(advice.name, "partition"), "%s: %s",
			      advice.name, advice.give);
			CHECK(advice.give || advice.left, "%s", advice.name);
			release(&advice);
		}
		place.offset = MAYBE_UNKNOWN;
		find("xfs", &place, &advice);
		CHECK(!advice.give && advice.left, "%s", advice.give);
		release(&advice);
	}
}

/* Judge a vdev of ZFS with a block on a disk of units; return the faults. */
static size_t faults_of_vdev(int64_t block, const struct layout_place *place)
{
	struct stack stack = { 0 };
	struct judgement judgement;
	struct stack_layer *layer = stack_add(&stack, STACK_DISK, "sda",
					      "/dev/sda");
	size_t faults;

	layer->view[STACK_SYSFS] = (struct stack_view) { {
		maybe_of(place->logical), maybe_of(place->unit),
		maybe_of(place->unit), maybe_of(0),
	} };
	layer->bytes = place->bytes;
	layer->rotational = true;
	layer->content.type = strdup("zfs_member");
	layer->content.block = maybe_of(block);
	judge_stack(&stack, &judgement);
	faults = judgement.nr;
	judgement_free(&judgement);
	stack_free(&stack);
	return faults;
}

/* Judge what a layout's command makes of each unit. */
static void judged(const char *name, const char *before)
{
	struct layout_place place = {
		.offset = maybe_of(0), .bytes = maybe_of(DISK_BYTES),
	};
	struct layout_advice advice;

	FOR_EACH_PLACE(place) {
		const char *at;
		int64_t block;
		size_t faults;

		find(name, &place, &advice);
		at = advice.give ? strstr(advice.give, before) : NULL;
		block = at ? INT64_C(1) << atoi(at + strlen(before)) : 1;
		faults = faults_of_vdev(block, &place);
		CHECK(faults == (place.unit > ASHIFT_MAX) &&
		      (!faults || (block == ASHIFT_MAX && advice.left)),
		      "unit %" PRId64 ": %s: %zu", place.unit, advice.give,
		      faults);
		release(&advice);
	}
}

static void zpool(void)
{
	judged("zpool", "ashift=");
}

const struct tap_test layout_tests[] = {
	{ "a layout has one row for each unit and logical block", one_row },
	{ "what writes less than a unit says so", leavings },
	{ "a partition begins and ends at units, between the tables", partition },
	{ "what cannot begin at a unit is not given", shifted },
	{ "a vdev with its ashift is judged to write whole units up to 64 KiB",
	  zpool },
	{ NULL, NULL },
};
