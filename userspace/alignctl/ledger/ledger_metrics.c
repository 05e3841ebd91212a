// SPDX-License-Identifier: GPL-2.0
/*
 * Write ledgers as metrics for Prometheus, with the names of
 * kmod/ledger_table.h.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/latency.h"
#include "base/message.h"
#include "base/metrics.h"
#include "base/units.h"
#include "ledger/ledger_metrics.h"

#define PREFIX	"dm_align_"

/* The devices whose samples each family has. */
struct metrics {
	FILE *out;
	const struct ledger *ledger;
	size_t nr;
};

/* Begin a family; @more is put behind the help. */
static void family(const struct metrics *metrics, const char *name,
		   const char *type, const char *help, const char *more)
{
	metrics_family(metrics->out, PREFIX, name, type, help, more);
}

static void label(FILE *out, const char *name, const char *value)
{
	metrics_label(out, false, name, value);
}

/* Begin a sample; further labels and sample_end() follow. */
static void sample(const struct metrics *metrics, const char *name,
		   const char *suffix, const struct ledger *ledger)
{
	fprintf(metrics->out, PREFIX "%s%s{device=\"%s\"", name, suffix,
		ledger->device.dm);
	label(metrics->out, "name", ledger->device.name);
}

static void sample_end(const struct metrics *metrics, uint64_t value)
{
	fprintf(metrics->out, "} %" PRIu64 "\n", value);
}

/* Counters, in the order of kmod/ledger_table.h */

/* Sums of all the counters whose names go on where theirs end. */
static const enum ledger_counter sums[] = {
	LEDGER_rmw_avoided, LEDGER_rmw_drive,
};

/* Return what @counter adds to the name of the sum @of; NULL: it is no part. */
static const char *reason(enum ledger_counter counter, enum ledger_counter of)
{
	const char *name = ledger_rows[counter].name;
	size_t length = strlen(ledger_rows[of].name);

	return !strncmp(name, ledger_rows[of].name, length) &&
	       name[length] == '_' ? name + length + 1 : NULL;
}

static bool is_sum(enum ledger_counter counter)
{
	size_t i;

	for (i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sums[i] == counter)
			return true;
	return false;
}

static bool is_part(enum ledger_counter counter)
{
	size_t i;

	for (i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (reason(counter, sums[i]))
			return true;
	return false;
}

/*
 * Check for a counter of the feature logical_block_size, of a device without it, which
 * never counts. Its series would be one of many that are always 0.
 */
static bool cannot_count(const struct ledger *ledger,
			 enum ledger_counter counter)
{
	size_t i;

	if ((counter != LEDGER_reads_bounced && counter != LEDGER_bounce_reads &&
	     counter != LEDGER_touches_starved) || ledger->raw[counter])
		return false;
	for (i = 0; i < ledger->device.nr_targets; i++)
		if (target_offers_smaller(&ledger->device.target[i],
					  ledger->device.logical))
			return false;
	return true;
}

/* Write a counter of all devices, with a reason if it is a part of a sum. */
static void write_samples(const struct metrics *metrics, const char *name,
			  enum ledger_counter counter, const char *why)
{
	size_t i;

	for (i = 0; i < metrics->nr; i++) {
		const struct ledger *ledger = &metrics->ledger[i];

		if (ledger->missing[counter] ||
		    cannot_count(ledger, counter))
			continue;
		sample(metrics, name, "", ledger);
		if (why)
			label(metrics->out, "reason", why);
		sample_end(metrics, ledger->raw[counter]);
	}
}

static void write_counter(const struct metrics *metrics,
			  enum ledger_counter counter)
{
	const struct ledger_row *row = &ledger_rows[counter];
	CLEANUP_FREE char *name = message_format("%s%s", row->name,
						 row->gauge ? "" : "_total");
	unsigned int i;

	if (is_part(counter))
		return;
	family(metrics, name, row->gauge ? "gauge" : "counter", row->help,
	       is_sum(counter) ? ", by reason" : "");
	if (!is_sum(counter)) {
		write_samples(metrics, name, counter, NULL);
		return;
	}
	for (i = 0; i < LEDGER_NR; i++)
		if (reason(i, counter))
			write_samples(metrics, name, i, reason(i, counter));
}

/* Latencies */

/*
 * Logarithms of the upper ends of buckets, ns. Each is the end of a bin of the
 * target, so that the counts are exact; a revolution of a disk, which a
 * read-modify-write costs, is between 4.2 and 16.8 ms.
 */
static const unsigned int bucket_shifts[] = {
	16, 18, 20, 22, 23, 24, 25, 26, 28, 30,
};

static void write_latency(const struct metrics *metrics,
			  const struct ledger *ledger,
			  enum ledger_histogram histogram,
			  const char *alignment)
{
	static const char name[] = "write_latency_seconds";
	const uint64_t *bins = ledger->bins[histogram];
	FILE *out = metrics->out;
	unsigned int i, bin = 0;
	uint64_t count = 0;

	for (i = 0; i < sizeof(bucket_shifts) / sizeof(unsigned int); i++) {
		uint64_t end = UINT64_C(1) << bucket_shifts[i];

		while (align_latency_bin_end(bin) <= end)
			count += bins[bin++];
		sample(metrics, name, "_bucket", ledger);
		label(out, "alignment", alignment);
		/* a bin is of times below its end, a bucket up to it */
		fprintf(out, ",le=\"%.9f\"", ns_to_s((double)(end - 1)));
		sample_end(metrics, count);
	}
	count = latency_histogram_count(bins);
	sample(metrics, name, "_bucket", ledger);
	label(out, "alignment", alignment);
	fputs(",le=\"+Inf\"", out);
	sample_end(metrics, count);
	sample(metrics, name, "_sum", ledger);
	label(out, "alignment", alignment);
	fprintf(out, "} %.9f\n", latency_histogram_sum(bins) / 1e6);
	sample(metrics, name, "_count", ledger);
	label(out, "alignment", alignment);
	sample_end(metrics, count);
}

static void write_latencies(const struct metrics *metrics)
{
	size_t i;

	family(metrics, "write_latency_seconds", "histogram",
	       "writes from arrival to end",
	       "; the sum is from the middles of the target's bins, an eighth off at most");
	for (i = 0; i < metrics->nr; i++) {
		write_latency(metrics, &metrics->ledger[i],
			      HISTOGRAM_LATENCY_ALIGNED, "aligned");
		write_latency(metrics, &metrics->ledger[i],
			      HISTOGRAM_LATENCY_MISALIGNED, "misaligned");
	}
}

static void write_held_oldest(const struct metrics *metrics)
{
	size_t i;

	family(metrics, "held_oldest_seconds", "gauge",
	       "age of the oldest held block", ", 0 if nothing is held");
	for (i = 0; i < metrics->nr; i++) {
		int64_t ms;

		if (!maybe_get(metrics->ledger[i].device.held_oldest_ms, &ms))
			continue;
		sample(metrics, "held_oldest_seconds", "", &metrics->ledger[i]);
		fprintf(metrics->out, "} %.3f\n", (double)ms / 1000);
	}
}

/* Targets, of which most devices have one */

/* Return @now, or "mixed" if the targets before had another value. */
static const char *common(const char *before, const char *now)
{
	return before && strcmp(before, now) ? "mixed" : now;
}

static void write_info(const struct metrics *metrics,
		       const struct ledger *ledger)
{
	const char *mode = NULL, *lower = NULL;
	int64_t physical = -1, hold_ms = 0;
	bool same = true;
	size_t i;

	for (i = 0; i < ledger->device.nr_targets; i++) {
		mode = common(mode, ledger->device.target[i].status.mode);
		lower = common(lower, ledger->device.target[i].device);
		same &= physical < 0 || physical == ledger->device.target[i].status.physical;
		physical = ledger->device.target[i].status.physical;
		if (hold_ms < ledger->device.target[i].hold_ms)
			hold_ms = ledger->device.target[i].hold_ms;
	}
	CLEANUP_FREE char *block = !mode ? message_format("none") :
		same ? message_format("%" PRId64, physical) :
		       message_format("mixed");
	CLEANUP_FREE char *hold = message_format("%" PRId64, hold_ms);
	sample(metrics, "device_info", "", ledger);
	label(metrics->out, "mode", mode ? mode : "none");
	label(metrics->out, "lower_device", lower ? lower : "none");
	label(metrics->out, "physical_block_size", block);
	label(metrics->out, "hold_ms", hold);
	sample_end(metrics, 1);
}

static void write_targets(const struct metrics *metrics)
{
	size_t i, k;

	family(metrics, "device_info", "gauge",
	       "mode, device below, physical block and longest hold time",
	       ", of all targets");
	for (i = 0; i < metrics->nr; i++)
		write_info(metrics, &metrics->ledger[i]);
	family(metrics, "device_gone", "gauge",
	       "1 if a device below has been removed", "");
	for (i = 0; i < metrics->nr; i++) {
		const struct ledger *ledger = &metrics->ledger[i];

		sample(metrics, "device_gone", "", &metrics->ledger[i]);
		sample_end(metrics, dm_align_gone(&ledger->device) ? 1 : 0);
	}
	family(metrics, "memory_bytes", "gauge",
	       "memory that blocks take now", "");
	for (i = 0; i < metrics->nr; i++) {
		const struct ledger *ledger = &metrics->ledger[i];
		uint64_t sum = 0;

		for (k = 0; k < ledger->device.nr_targets; k++)
			sum += ledger->device.target[k].status.memory_bytes;
		sample(metrics, "memory_bytes", "", &metrics->ledger[i]);
		sample_end(metrics, sum);
	}
}

void ledger_metrics_write(FILE *out, const struct ledger *ledgers,
			  size_t nr, size_t unreadable)
{
	const struct metrics metrics = { out, ledgers, nr };
	unsigned int i;

	fputs(LEDGER_METRICS_MARK, out);
	family(&metrics, "build_info", "gauge", "version of alignctl", "");
	fputs(PREFIX "build_info{version=\"" ALIGNCTL_VERSION "\"} 1\n", out);
	family(&metrics, "unreadable_devices", "gauge",
	       "align devices whose ledgers could not be read", "");
	fprintf(out, PREFIX "unreadable_devices %zu\n", unreadable);
	/* a family without samples is no harm, but a reader expects some */
	if (!nr)
		return;
	for (i = 0; i < LEDGER_NR; i++)
		write_counter(&metrics, i);
	write_held_oldest(&metrics);
	write_latencies(&metrics);
	write_targets(&metrics);
}
