// SPDX-License-Identifier: GPL-2.0
#include "../profile.h"

#include <string.h>

#include "tap.h"

static void test_names(void)
{
	const char *names = profile_names();
	size_t length = 0;

	for (const struct profile *const *at = profiles, *p; (p = *at); at++) {
		CHECK(profile_find(p->name) == p, "%s", p->name);
		CHECK(strstr(names, p->name), "%s is not in %s", p->name, names);
		CHECK(p->about && *p->about, "%s is not described", p->name);
		length += strlen(p->name) + 2;
	}
	/* ", " between all, and " or " before the last. */
	CHECK(strlen(names) == length, "%s", names);
	CHECK(strstr(names, " or qlc-64k"), "%s", names);
	CHECK(!profile_find("floppy") && !profile_find(""), "found");
}

static void test_figures(void)
{
	for (const struct profile *const *at = profiles, *p; (p = *at); at++) {
		bool disk = p->kind == PROFILE_MECHANICAL;
		bool flash = p->kind == PROFILE_FLASH;

		CHECK(p->rotational == disk, "%s", p->name);
		CHECK((p->rpm > 0) == disk && (p->dies > 0) == flash, "%s",
		      p->name);
		CHECK(!flash || (p->page && p->page_read_ns && p->program_ns &&
				 p->cache_bytes >= p->page), "%s", p->name);
		CHECK(!disk || p->outer_rate > p->inner_rate, "%s", p->name);
		CHECK(p->blocks.alignment < 4096 || p->blocks.physical > 4096,
		      "%s", p->name);
	}
}

static void test_truth_is_said(void)
{
	struct block_map map = { 16384, 512 };
	struct says says = profile_says(profile_find("instant"), &map);

	CHECK(says.logical == 512 && says.physical == 16384 &&
	      says.alignment == 512, "%u, %u, %u", says.logical, says.physical,
	      says.alignment);
}

static void test_liar(void)
{
	const struct profile *liar = profile_find("usb-liar");
	struct says says = profile_says(liar, &liar->blocks);
	struct touch t;

	CHECK(says.logical == 512 && says.physical == 512 &&
	      says.alignment == 0, "%u, %u, %u", says.logical, says.physical,
	      says.alignment);
	t = touch_of(&liar->blocks, 7 * 512, 4096);
	CHECK(t.partial == 0, "blocks do not begin at sector 7");
	t = touch_of(&liar->blocks, 0, 4096);
	CHECK(t.partial == 2, "%u", t.partial);
}

static void test_hidden_units(void)
{
	static const struct { const char *name; uint32_t unit, said; } units[] = {
		{ "nvme-512e", 4096, 512 },
		{ "qlc-16k", 16384, 4096 },
		{ "qlc-64k", 65536, 4096 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const struct profile *p = profile_find(units[i].name);

		CHECK(p->blocks.physical == units[i].unit &&
		      profile_says(p, &p->blocks).physical == units[i].said,
		      "%s", p->name);
	}
}

const struct tap_test profile_tests[] = {
	{ "the list of names is that of the table", test_names },
	{ "each profile has the figures of its kind", test_figures },
	{ "a drive says its blocks unless it lies", test_truth_is_said },
	{ "usb-liar says 512 and has blocks of 4096 from sector 7 on",
	  test_liar },
	{ "SSDs do not say their units", test_hidden_units },
	{ 0 },
};
