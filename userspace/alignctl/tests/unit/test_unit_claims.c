// SPDX-License-Identifier: GPL-2.0
/* Claims made up, and which of them is taken. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "tests/tap.h"
#include "tests/tree.h"
#include "unit/unit.h"

static struct unit unit;

static void says(enum unit_source source, const char *figure, int64_t bytes)
{
	unit_claim(&unit, source, figure, maybe_of(bytes), UNIT_HIGH, NULL);
}

/* Check what is taken, and whether another claim contradicts; then forget. */
static void takes(int64_t bytes, const char *source, bool contradicted)
{
	const struct unit_claim *taken;

	unit_judge(&unit);
	taken = unit_taken(&unit);
	CHECK(maybe_or(unit_bytes(&unit), -1) == bytes, "%" PRId64 ", not %"
	      PRId64, maybe_or(unit_bytes(&unit), -1), bytes);
	CHECK(source ? taken && !strcmp(unit_source_name(taken->source), source) :
		       !taken, "source %s, not %s",
	      taken ? unit_source_name(taken->source) : NULL, source);
	CHECK(unit_contradicted(&unit) == contradicted, "contradicted: %d",
	      !contradicted);
	unit_free(&unit);
}

static void precedence(void)
{
	static const enum unit_source order[] = {
		UNIT_KERNEL, UNIT_DRIVE, UNIT_HWDB, UNIT_MEASURED,
		UNIT_OVERRIDE, UNIT_GIVEN,
	};
	size_t i, k;

	takes(-1, NULL, false);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		for (k = 0; k <= i; k++)
			says(order[k], "figure", INT64_C(512) << k);
		takes(INT64_C(512) << i, unit_source_name(order[i]), i);
		/* in any order of gathering */
		for (k = i + 1; k-- > 0;)
			says(order[k], "figure", INT64_C(512) << k);
		takes(INT64_C(512) << i, unit_source_name(order[i]), i);
	}
}

static void agreement(void)
{
	says(UNIT_HWDB, "figure", 4096);
	says(UNIT_KERNEL, "figure", 4096);
	takes(4096, "hwdb", false);
}

static void hints(void)
{
	unit_claim(&unit, UNIT_DRIVE, "NOWS", maybe_of(131072), UNIT_LOW, NULL);
	unit_claim(&unit, UNIT_DRIVE, "NPWG", MAYBE_UNKNOWN, UNIT_LOW,
		   message_format("not permitted, needs root"));
	unit_claim(&unit, UNIT_HWDB, "figure", maybe_of(24576), UNIT_HIGH,
		   NULL);
	says(UNIT_KERNEL, "physical_block_size", 4096);
	takes(4096, "kernel", false);
}

static void who_knows_better(void)
{
	says(UNIT_DRIVE, UNIT_IDENTIFY, 4096);
	says(UNIT_KERNEL, "figure", 512);
	says(UNIT_MEASURED, "figure", 8192);
	unit_judge(&unit);
	CHECK(maybe_is(unit_known_better(&unit), 8192) &&
	      !unit_has_stranger(&unit), "a measurement");
	says(UNIT_HWDB, "figure", 16384);
	unit_judge(&unit);
	CHECK(maybe_is(unit_known_better(&unit), 8192) &&
	      unit_has_stranger(&unit), "a document");
	unit_give(&unit, maybe_of(512));
	CHECK(!maybe_known(unit_known_better(&unit)), "what the user gives");
	unit_free(&unit);
	says(UNIT_DRIVE, "NPWG", 4096);
	unit_judge(&unit);
	CHECK(!maybe_known(unit_known_better(&unit)) &&
	      unit_has_stranger(&unit), "the drive");
	unit_free(&unit);
}

static void words(void)
{
	CLEANUP_FREE char *text = NULL;

	says(UNIT_KERNEL, "physical_block_size", 512);
	says(UNIT_MEASURED, "probe block-size", 4096);
	unit_claim(&unit, UNIT_DRIVE, "NOWS", maybe_of(8192), UNIT_LOW, NULL);
	unit_judge(&unit);
	text = unit_claims_text(&unit);
	CHECK(text && !strcmp(text, "measured (probe block-size) 4096, kernel (physical_block_size) 512"),
	      "%s", text);
	unit_free(&unit);
	CHECK(!unit_claims_text(&unit), "no claim");
}

#define DISK	"/sys/devices/pci0/sda/"

static const char *model = "Made up\n";

/* Ask for the unit of a disk that is made up. */
static void ask(const char *physical, const char *io_min, const char *rotational)
{
	struct sysfs_device sys;

	tree_open();
	tree_device("pci0", "sda", "8:0", 0);
	tree_file(DISK "queue/logical_block_size", "512\n");
	tree_file(DISK "queue/physical_block_size", physical);
	tree_file(DISK "queue/minimum_io_size", io_min);
	tree_file(DISK "queue/rotational", rotational);
	tree_file(DISK "device/model", model);
	tree_file(DISK "device/rev", "1.0\n");
	CHECK(sysfs_device_open(&sys, 8 << 8), "no disk");
	unit_ask(&unit, &sys);
	sysfs_device_close(&sys);
	tree_close();
}

static void kernel(void)
{
	ask("4096\n", "4096\n", "1\n");
	CHECK(unit.model && !strcmp(unit.model, "Made up") &&
	      unit.firmware && !strcmp(unit.firmware, "1.0") && !unit.disk,
	      "model %s, firmware %s", unit.model, unit.firmware);
	CHECK(maybe_is(unit.physical, 4096), "physical");
	takes(4096, "kernel", false);
	/* the suggestion of --physical auto */
	ask("4096\n", "16384\n", "0\n");
	takes(16384, "kernel", false);
	ask("4096\n", "16384\n", "1\n");
	takes(4096, "kernel", false);
	ask("4096\n", "24576\n", "0\n");
	takes(4096, "kernel", false);
}

static void nameless(void)
{
	model = "\n";
	ask("4096\n", "4096\n", "1\n");
	model = "Made up\n";
	CHECK(!unit.model, "model '%s'", unit.model);
	unit_free(&unit);
}

const struct tap_test unit_claims_tests[] = {
	{ "the first source by precedence is taken", precedence },
	{ "claims of one size contradict nothing", agreement },
	{ "hints, gaps and impossible sizes are not taken", hints },
	{ "the drive and the kernel are not known better", who_knows_better },
	{ "claims in words, by precedence", words },
	{ "a field of blanks is no model", nameless },
	{ "the kernel's figure is what --physical auto suggests", kernel },
	{ 0 },
};
