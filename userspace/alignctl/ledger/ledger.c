// SPDX-License-Identifier: GPL-2.0
/*
 * Read the ledger of an align device from its sysfs files, and work out what it
 * says.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/units.h"
#include "ledger/ledger.h"
#include "sysfs/sysfs.h"

enum { LEDGER_IS_COUNTER, LEDGER_IS_GAUGE };

const struct ledger_row ledger_rows[LEDGER_NR] = {
#define LEDGER_COUNTER(name, kind, unit, help) \
	{ #name, LEDGER_IS_##kind, unit, help },
#include "ledger_table.h"
#undef LEDGER_COUNTER
};

const struct ledger_histogram_row ledger_histograms[HISTOGRAM_NR] = {
	[HISTOGRAM_PHASE] = { "phase", ALIGN_PHASE_BINS, false },
	[HISTOGRAM_SIZE] = { "size", ALIGN_SIZE_BINS, false },
	[HISTOGRAM_LATENCY_ALIGNED] = { "latency_aligned", ALIGN_LATENCY_BINS,
					true },
	[HISTOGRAM_LATENCY_MISALIGNED] = { "latency_misaligned",
					   ALIGN_LATENCY_BINS, true },
	[HISTOGRAM_HOLD_TIME] = { "hold_time", ALIGN_LATENCY_BINS, true },
};

/* Read the counts in a file; false if there are too few or too many. */
static bool read_bins(const char *dir, const char *file, unsigned int count,
		      uint64_t *bins)
{
	CLEANUP_FREE char *text = sysfs_text(dir, file);
	const char *at = text;
	unsigned int i;

	if (!text)
		return false;
	for (i = 0; i < count; i++)
		if ((i && *at++ != ' ') ||
		    !decimal_read(&at, UINT64_MAX, &bins[i]))
			return false;
	return !*at;
}

static bool read_counter(const char *dir, const char *file, uint64_t *value)
{
	CLEANUP_FREE char *text = sysfs_text(dir, file);
	const char *at = text;

	return text && decimal_read(&at, UINT64_MAX, value) && !*at;
}

/*
 * Read the age of the oldest held block, unknown if the file is missing. Return:
 * false if it is malformed.
 */
static bool read_held_oldest(struct ledger *ledger, const char *dir)
{
	CLEANUP_FREE char *text = sysfs_text(dir, "held_oldest_ms");
	const char *at = text;
	uint64_t number;

	ledger->device.held_oldest_ms = MAYBE_UNKNOWN;
	if (!text)
		return true;
	if (!decimal_read(&at, INT64_MAX, &number) || *at)
		return false;
	ledger->device.held_oldest_ms = maybe_of((int64_t)number);
	return true;
}

static char *bad_file(const char *dir, const char *file)
{
	return message_format("%s/%s: missing or malformed", dir, file);
}

/* A search for the targets' files: targets of other types have none. */
struct target_search {
	struct ledger *ledger;
	const char *dir;
};

/*
 * Check whether a file has a target's mode, and set @index to the target. Only
 * a number as the kernel writes it counts: "target01_mode" is not target 1's.
 */
static bool is_mode_file(const char *name, unsigned int *index)
{
	const char *at = name + strlen("target");
	uint64_t number;

	if (strncmp(name, "target", strlen("target")) ||
	    (at[0] == '0' && at[1] != '_') ||
	    !decimal_read(&at, UINT_MAX, &number) || strcmp(at, "_mode"))
		return false;
	*index = (unsigned int)number;
	return true;
}

static void visit_file(const char *name, void *context)
{
	struct target_search *search = context;
	struct ledger *ledger = search->ledger;
	struct align_target target;
	unsigned int index;

	if (!is_mode_file(name, &index) ||
	    !target_read(&target, search->dir, index))
		return;
	*ARRAY_APPEND(ledger->device.target, ledger->device.nr_targets) = target;
}

/*
 * Read counter number @i and its baseline. The baseline comes first: a reset between
 * the two would make it the higher one, and the count since then one below 0.
 * Return: NULL, or which file is missing or malformed, for free().
 */
static char *read_with_baseline(struct ledger *ledger, const char *dir,
				unsigned int i)
{
	const char *name = ledger_rows[i].name;
	CLEANUP_FREE char *base = message_format("baseline_%s", name);
	CLEANUP_FREE char *later = i < LEDGER_LATER ? NULL :
				   sysfs_text(dir, name);

	ledger->missing[i] = i >= LEDGER_LATER && !later;
	if (ledger->missing[i])
		return NULL;
	if (!ledger_rows[i].gauge &&
	    !read_counter(dir, base, &ledger->baseline[i]))
		return bad_file(dir, base);
	return read_counter(dir, name, &ledger->raw[i]) ? NULL :
							  bad_file(dir, name);
}

/* Tell what the device holds by its counters, as its status line would. */
static void take_state(struct ledger *ledger)
{
	struct align_state *state = &ledger->device.state;

	state->held_blocks = ledger->raw[LEDGER_held_blocks];
	state->degraded = ledger->raw[LEDGER_degraded];
	state->held_bytes = ledger->missing[LEDGER_held_bytes] ? MAYBE_UNKNOWN :
		maybe_of((int64_t)ledger->raw[LEDGER_held_bytes]);
}

char *ledger_read(struct ledger *ledger, const char *disk_dir)
{
	CLEANUP_FREE char *dir = message_format("%s/align", disk_dir);
	struct target_search search = { ledger, dir };
	struct dm_align device = ledger->device;
	struct stat folder;
	unsigned int i;

	targets_free(device.target, device.nr_targets);
	device.target = NULL;
	device.nr_targets = 0;
	*ledger = (struct ledger){
		.device = device, .read_ns = clock_ns(), .time = time(NULL),
	};
	if (!stat(dir, &folder))
		ledger->folder = folder.st_ino;
	if (!read_counter(dir, "epoch", &ledger->device.state.epoch))
		return bad_file(dir, "epoch");
	if (!read_counter(dir, "suggested_physical_block_size",
			  &ledger->suggested))
		return bad_file(dir, "suggested_physical_block_size");
	if (!read_held_oldest(ledger, dir))
		return bad_file(dir, "held_oldest_ms");
	ledger->device.logical = sysfs_logical(disk_dir);
	for (i = 0; i < LEDGER_NR; i++) {
		char *error = read_with_baseline(ledger, dir, i);

		if (error)
			return error;
	}
	take_state(ledger);
	for (i = 0; i < HISTOGRAM_NR; i++) {
		const struct ledger_histogram_row *row = &ledger_histograms[i];
		CLEANUP_FREE char *file = message_format("%s_histogram",
							 row->name);
		CLEANUP_FREE char *base = message_format("baseline_%s", file);

		/* in this order, as above */
		if (!read_bins(dir, base, row->bins, ledger->baseline_bins[i]))
			return bad_file(dir, base);
		if (!read_bins(dir, file, row->bins, ledger->bins[i]))
			return bad_file(dir, file);
	}
	sysfs_each(dir, visit_file, &search);
	return NULL;
}

void ledger_free(struct ledger *ledger)
{
	dm_align_free(&ledger->device);
	memset(ledger, 0, sizeof(*ledger));
}

uint64_t ledger_value(const struct ledger *ledger, enum ledger_counter counter)
{
	return ledger->raw[counter] - ledger->baseline[counter];
}

bool ledger_balanced(const struct ledger *ledger)
{
	const uint64_t *raw = ledger->raw;

	return raw[LEDGER_rmw_expected] ==
	       raw[LEDGER_rmw_avoided] + raw[LEDGER_rmw_host] +
	       raw[LEDGER_rmw_drive] + raw[LEDGER_rmw_lost] +
	       raw[LEDGER_rmw_pending];
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / whole : 0;
}

double ledger_amplification_before(const struct ledger *ledger)
{
	return ratio(ledger_value(ledger, LEDGER_write_block_bytes),
		     ledger_value(ledger, LEDGER_write_bytes));
}

double ledger_amplification_after(const struct ledger *ledger)
{
	return ratio(ledger_value(ledger, LEDGER_sent_block_bytes),
		     ledger_value(ledger, LEDGER_write_bytes));
}

double ledger_misaligned_percent(const struct ledger *ledger)
{
	return 100 * ratio(ledger_value(ledger, LEDGER_writes_misaligned),
			   ledger_value(ledger, LEDGER_writes));
}

/* Check whether the counters are others: one, none of which falls, was higher. */
static bool has_restarted(const struct ledger *ledger,
			  const struct ledger *earlier)
{
	unsigned int i, bin;

	if (ledger->folder && earlier->folder &&
	    ledger->folder != earlier->folder)
		return true;
	for (i = 0; i < HISTOGRAM_NR; i++)
		for (bin = 0; bin < ledger_histograms[i].bins; bin++)
			if (ledger->bins[i][bin] < earlier->bins[i][bin])
				return true;
	for (i = 0; i < LEDGER_NR; i++)
		if (!ledger_rows[i].gauge && ledger->raw[i] < earlier->raw[i])
			return true;
	return false;
}

void ledger_count_from(struct ledger *ledger, const struct ledger *earlier)
{
	static const struct ledger nothing;
	const struct ledger *from =
		has_restarted(ledger, earlier) ? &nothing : earlier;
	unsigned int i;

	for (i = 0; i < LEDGER_NR; i++)
		if (!ledger_rows[i].gauge)
			ledger->baseline[i] = from->raw[i];
	memcpy(ledger->baseline_bins, from->bins, sizeof(from->bins));
	ledger->since_ns = earlier->read_ns;
}

void ledger_histogram(const struct ledger *ledger,
		      enum ledger_histogram histogram, uint64_t *bins)
{
	unsigned int i;

	for (i = 0; i < LEDGER_MAX_BINS; i++)
		bins[i] = ledger->bins[histogram][i] -
			  ledger->baseline_bins[histogram][i];
}

/* Bytes of a block that share a bin of phases; of the largest target's blocks. */
static double phase_bin_bytes(const struct ledger *ledger)
{
	uint32_t least = ledger->device.logical ? ledger->device.logical :
						  ALIGN_SECTOR_SIZE;
	size_t i;

	for (i = 0; i < ledger->device.nr_targets; i++)
		if (ledger->device.target[i].status.physical / ALIGN_PHASE_BINS > least)
			least = ledger->device.target[i].status.physical /
				ALIGN_PHASE_BINS;
	return least;
}

double ledger_bin_bound(const struct ledger *ledger,
			enum ledger_histogram histogram, unsigned int bin)
{
	switch (histogram) {
	case HISTOGRAM_PHASE:
		return bin * phase_bin_bytes(ledger);
	case HISTOGRAM_SIZE:
		return (double)(1ULL << (bin + ALIGN_SECTOR_SHIFT));
	default:
		if (bin == ALIGN_LATENCY_BINS - 1)
			bin--;
		return ns_to_us(align_latency_bin_end(bin));
	}
}
