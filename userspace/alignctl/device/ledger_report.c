// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/latency.h"
#include "base/message.h"
#include "base/output.h"
#include "base/table.h"
#include "device/ledger_report.h"
#include "device/mode.h"

#define JSON_FORMAT	1

void ledger_device_free(struct ledger_device *device)
{
	ledger_free(&device->ledger);
	free(device->name);
	free(device->dm);
	free(device->dir);
	memset(device, 0, sizeof(*device));
}

static uint64_t sum_bins(const uint64_t *bins)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < LEDGER_MAX_BINS; i++)
		sum += bins[i];
	return sum;
}

static void text_counters(const struct ledger *ledger)
{
	static const bool right[] = { false, false, true, false, false };
	struct table table = { .columns = 5, .right = right };
	unsigned int i;

	for (i = 0; i < LEDGER_NR; i++) {
		const struct ledger_row *row = &ledger_rows[i];
		uint64_t value = ledger_value(ledger, i);

		/* the accounts always, the rest if there is something */
		if (!value && i > LEDGER_rmw_pending)
			continue;
		table_add(&table, message_format(" "));
		table_add(&table, message_format("%s", row->name));
		table_add(&table, message_format("%" PRIu64, value));
		table_add(&table, message_format("%s", row->unit));
		table_add(&table, message_format("%s", row->help));
	}
	table_print(&table);
}

/* Percentiles as the bounds that bins have: a time in one may be anywhere in it. */
static void text_times(const struct ledger *ledger, const char *what,
		       const char *measure, enum ledger_histogram histogram)
{
	static const struct { const char *name; unsigned int per_mille; }
	percentiles[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 } };
	uint64_t bins[LEDGER_MAX_BINS];
	size_t i;

	ledger_histogram(ledger, histogram, bins);
	if (!sum_bins(bins))
		return;
	printf("  %s: %" PRIu64 ", %s", what, sum_bins(bins), measure);
	for (i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
		bool open;
		double bound = latency_histogram_percentile(bins,
					percentiles[i].per_mille, &open);

		printf(" %s %s %.1f ", percentiles[i].name, open ? ">=" : "<",
		       bound);
	}
	puts("us");
}

static void text_phase(const struct ledger *ledger)
{
	uint64_t bins[LEDGER_MAX_BINS], sum;
	unsigned int i;

	ledger_histogram(ledger, HISTOGRAM_PHASE, bins);
	sum = sum_bins(bins);
	if (!sum)
		return;
	puts("  misaligned writes by first byte in the physical block:");
	for (i = 0; i < ALIGN_PHASE_BINS; i++)
		if (bins[i])
			printf("    %6.0f  %" PRIu64 " (%.1f %%)\n",
			       ledger_bin_bound(ledger, HISTOGRAM_PHASE, i),
			       bins[i], 100.0 * bins[i] / sum);
}

void ledger_report_text(const struct ledger_device *devices, size_t nr)
{
	size_t i, k;

	for (i = 0; i < nr; i++) {
		const struct ledger *ledger = &devices[i].ledger;

		printf("%s (%s), epoch %" PRIu64 "\n", devices[i].name,
		       devices[i].dm, ledger->epoch);
		for (k = 0; k < ledger->nr_targets; k++) {
			const struct ledger_target *target = &ledger->target[k];

			printf("  target %u: mode %s on %s, physical block %" PRId64
			       ", alignment offset ", target->index,
			       target->mode, target->device, target->physical);
			if (target->offset < 0)
				fputs("unknown", stdout);
			else
				printf("%" PRId64, target->offset);
			printf("; %" PRId64 " of %" PRId64 " blocks, %" PRId64
			       " bytes of memory, at most %" PRId64 "\n",
			       target->blocks, target->max_blocks,
			       target->memory_bytes,
			       target->memory_high_water);
			if (mode_holds(target->mode))
				printf("  target %u: holds a block for %" PRId64
				       " ms at most\n", target->index,
				       target->hold_ms);
		}
		text_counters(ledger);
		printf("  write amplification: %.3f as it arrived, %.3f as it was sent\n",
		       ledger_amplification_before(ledger),
		       ledger_amplification_after(ledger));
		text_times(ledger, "aligned writes", "latency",
			   HISTOGRAM_LATENCY_ALIGNED);
		text_times(ledger, "misaligned writes", "latency",
			   HISTOGRAM_LATENCY_MISALIGNED);
		text_times(ledger, "held blocks", "held", HISTOGRAM_HOLD_TIME);
		text_phase(ledger);
		if (ledger_gone(ledger))
			printf("  gone: %s, below, is no longer there; reads and writes fail\n",
			       ledger_gone(ledger)->device);
		if (ledger_degraded(ledger))
			puts("  degraded: held blocks cannot be written, and every flush fails");
		if (!ledger_balanced(ledger))
			puts("  the ledger does not balance at this moment");
		if (ledger->suggested)
			printf("  io_min below hints at physical blocks of %" PRIu64 " bytes\n",
			       ledger->suggested);
	}
	output_flush();
}

static struct json_object *json_targets(const struct ledger *ledger)
{
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < ledger->nr_targets; i++) {
		const struct ledger_target *target = &ledger->target[i];
		struct json_object *object = json_new();

		json_add_number(object, "index", target->index);
		json_add_text(object, "mode", target->mode);
		json_add_number(object, "physical_block_size",
				target->physical);
		if (target->offset < 0)
			json_add_text(object, "alignment_offset", "unknown");
		else
			json_add_number(object, "alignment_offset",
					target->offset);
		json_add_text(object, "device", target->device);
		json_add_bool(object, "device_gone", target->device_gone);
		json_add_number(object, "hold_ms", target->hold_ms);
		json_add_number(object, "max_blocks", target->max_blocks);
		json_add_number(object, "blocks", target->blocks);
		json_add_number(object, "memory_bytes", target->memory_bytes);
		json_add_number(object, "memory_high_water_bytes",
				target->memory_high_water);
		json_append(array, object);
	}
	return array;
}

static struct json_object *json_histogram(const struct ledger *ledger,
					  enum ledger_histogram histogram)
{
	static const char *const units[HISTOGRAM_NR] = {
		[HISTOGRAM_PHASE] = "bytes from the start of the block",
		[HISTOGRAM_SIZE] = "bytes, at least",
		[HISTOGRAM_LATENCY_ALIGNED] = "us, less than",
		[HISTOGRAM_LATENCY_MISALIGNED] = "us, less than",
		[HISTOGRAM_HOLD_TIME] = "us, less than",
	};
	struct json_object *object = json_new(), *array = json_new_array();
	uint64_t bins[LEDGER_MAX_BINS];
	unsigned int i;

	ledger_histogram(ledger, histogram, bins);
	json_add_text(object, "unit", units[histogram]);
	json_add_number(object, "count", sum_bins(bins));
	for (i = 0; i < ledger_histograms[histogram].bins; i++)
		if (bins[i])
			json_append_bin(array, ledger_bin_bound(ledger,
								histogram, i),
					bins[i]);
	json_add(object, "bins", array);
	if (histogram == HISTOGRAM_PHASE || histogram == HISTOGRAM_SIZE)
		return object;
	json_add_real(object, "p50_us",
		      latency_histogram_percentile(bins, 500, NULL));
	json_add_real(object, "p90_us",
		      latency_histogram_percentile(bins, 900, NULL));
	json_add_real(object, "p99_us",
		      latency_histogram_percentile(bins, 990, NULL));
	return object;
}

static struct json_object *json_device(const struct ledger_device *device)
{
	const struct ledger *ledger = &device->ledger;
	struct json_object *object = json_new(), *part;
	unsigned int i;

	json_add_text(object, "name", device->name);
	json_add_text(object, "dm", device->dm);
	json_add_number(object, "epoch", ledger->epoch);
	json_add_number(object, "suggested_physical_block_size",
			ledger->suggested);
	json_add(object, "targets", json_targets(ledger));
	part = json_new();
	for (i = 0; i < LEDGER_NR; i++)
		json_add_number(part, ledger_rows[i].name,
				ledger_value(ledger, i));
	json_add(object, "counters", part);
	part = json_new();
	for (i = 0; i < LEDGER_NR; i++)
		json_add_number(part, ledger_rows[i].name, ledger->raw[i]);
	json_add(object, "raw", part);
	part = json_new();
	json_add_real(part, "write_amplification_before",
		      ledger_amplification_before(ledger));
	json_add_real(part, "write_amplification_after",
		      ledger_amplification_after(ledger));
	json_add_bool(part, "balanced", ledger_balanced(ledger));
	json_add_bool(part, "degraded", ledger_degraded(ledger));
	json_add(object, "derived", part);
	part = json_new();
	for (i = 0; i < HISTOGRAM_NR; i++)
		json_add(part, ledger_histograms[i].name,
			 json_histogram(ledger, i));
	json_add(object, "histograms", part);
	return object;
}

void ledger_report_json(const struct ledger_device *devices, size_t nr,
			uint64_t interval)
{
	struct json_object *object = json_new_document(JSON_FORMAT);
	struct json_object *array = json_new_array();
	size_t i;

	if (interval)
		json_add_number(object, "interval_s", interval);
	for (i = 0; i < nr; i++)
		json_append(array, json_device(&devices[i]));
	json_add(object, "devices", array);
	json_print(object, interval);
}
