// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/units.h"
#include "ledger/ledger_interval.h"
#include "tests/tap.h"

/* Bins of the fast and the slow writes, which begin at 524 us and 3146 us. */
#define FAST	40
#define SLOW	50

/*
 * Return the row, for free(), of an interval of @seconds on a device with counts
 * from before, under a load that has the same figures each second. It is without
 * the column of seconds.
 */
static char *row_of(unsigned int seconds)
{
	struct ledger ledger = { .device = { .name = (char *)"align-sda" } };
	uint64_t (*bins)[LEDGER_MAX_BINS] = ledger.bins;
	struct json_object *row;
	unsigned int i;
	char *text;

	ledger.since_ns = 5 * NS_PER_S;
	ledger.read_ns = ledger.since_ns + seconds * NS_PER_S;
	for (i = 0; i < LEDGER_NR; i++) {
		ledger.baseline[i] = 7 * i;
		ledger.raw[i] = 7 * i + (i + 1) * seconds;
	}
	ledger.baseline_bins[HISTOGRAM_LATENCY_ALIGNED][FAST] = 90;
	bins[HISTOGRAM_LATENCY_ALIGNED][FAST] = 90 + 600 * seconds;
	bins[HISTOGRAM_LATENCY_MISALIGNED][FAST] = 100 * seconds;
	bins[HISTOGRAM_LATENCY_MISALIGNED][SLOW] = 300 * seconds;
	row = ledger_interval_json(&ledger);
	json_object_object_del(row, "seconds");
	text = message_format("%s", json_text(row, JSON_C_TO_STRING_PLAIN));
	json_object_put(row);
	return text;
}

static void same_load(void)
{
	static const unsigned int lengths[] = { 2, 10, 3600 };
	CLEANUP_FREE char *second = row_of(1);
	unsigned int i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		CLEANUP_FREE char *row = row_of(lengths[i]);

		CHECK(!strcmp(row, second), "%u s: %s, 1 s: %s", lengths[i],
		      row, second);
	}
}

const struct tap_test ledger_interval_tests[] = {
	{ "one load has the same row in an interval of any length",
	  same_load },
	{ 0 },
};
