/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ledger of an align device, read from /sys/block/dm-N/align. The counters
 * are those of kmod/ledger_table.h, the bins those of kmod/geometry.h.
 */
#ifndef ALIGNCTL_LEDGER_H
#define ALIGNCTL_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/status.h"
#include "geometry.h"

enum ledger_counter {
#define LEDGER_COUNTER(name, ...) LEDGER_##name,
#include "ledger_table.h"
#undef LEDGER_COUNTER
	LEDGER_NR
};

/**
 * struct ledger_row - a row of the table
 * @name: of the counter
 * @gauge: a level, else monotonic
 * @unit: what is counted
 * @help: one sentence
 */
struct ledger_row {
	const char *name;
	bool gauge;
	const char *unit;
	const char *help;
};

extern const struct ledger_row ledger_rows[LEDGER_NR];

enum ledger_histogram {
	HISTOGRAM_PHASE,
	HISTOGRAM_SIZE,
	HISTOGRAM_LATENCY_ALIGNED,
	HISTOGRAM_LATENCY_MISALIGNED,
	HISTOGRAM_HOLD_TIME,
	HISTOGRAM_NR,
};

#define LEDGER_MAX_BINS		128	/* the most of any histogram */

/**
 * struct ledger_histogram_row - a kind of histogram
 * @name: in JSON; the file is called <name>_histogram
 * @bins: how many it has
 */
struct ledger_histogram_row {
	const char *name;
	unsigned int bins;
};

extern const struct ledger_histogram_row ledger_histograms[HISTOGRAM_NR];

/**
 * struct ledger_target - one target of the device
 * @index: its place in the table
 * @mode: "report", "pad" or "coalesce"
 * @physical: bytes
 * @offset: bytes; -1: unknown
 * @hold_ms: how long coalesce holds a block at most
 * @max_blocks: most blocks in memory at once
 * @blocks: blocks in memory now
 * @memory_bytes: memory in use now
 * @memory_high_water: most memory that was in use at once
 * @device: the kernel's name of the device below, or "major:minor"
 * @device_gone: is it no longer there?
 */
struct ledger_target {
	unsigned int index;
	char mode[STATUS_MODE_MAX];
	int64_t physical;
	int64_t offset;
	int64_t hold_ms;
	int64_t max_blocks;
	int64_t blocks;
	int64_t memory_bytes;
	int64_t memory_high_water;
	char *device;
	bool device_gone;
};

/**
 * struct ledger - one reading
 * @epoch: number of the epoch
 * @suggested: a better physical block size, or 0
 * @logical: logical block size of the align device, bytes
 * @raw: the counters as the kernel has them
 * @baseline: as they stood at the last reset; 0 for gauges
 * @bins: histograms as the kernel has them
 * @baseline_bins: as they stood at the last reset
 * @nr_targets: targets
 * @target: those
 */
struct ledger {
	uint64_t epoch;
	uint64_t suggested;
	uint32_t logical;
	uint64_t raw[LEDGER_NR];
	uint64_t baseline[LEDGER_NR];
	uint64_t bins[HISTOGRAM_NR][LEDGER_MAX_BINS];
	uint64_t baseline_bins[HISTOGRAM_NR][LEDGER_MAX_BINS];
	size_t nr_targets;
	struct ledger_target *target;
};

/*
 * Reads everything about a disk whose folder in sysfs is @disk_dir. Return:
 * NULL, or which file is missing or bad, for free().
 */
char *ledger_read(struct ledger *ledger, const char *disk_dir);
void ledger_free(struct ledger *ledger);

/* A counter since the last reset; a gauge as it is. */
uint64_t ledger_value(const struct ledger *ledger, enum ledger_counter counter);

/*
 * Does every partial touch have an outcome? Exact while no write is in flight;
 * on the raw counters, as touches may have been pending at the reset.
 */
bool ledger_balanced(const struct ledger *ledger);

/*
 * Blocks with acknowledged writes that could not be written; while there are
 * any the device is degraded, and every flush fails.
 */
uint64_t ledger_degraded(const struct ledger *ledger);

/* The first target whose device is no longer there; NULL: there is none. */
const struct ledger_target *ledger_gone(const struct ledger *ledger);

/*
 * Bytes of whole physical blocks touched by the writes that arrived (or that
 * were sent to the drive) for each byte that was to be written; 0 if nothing
 * was.
 */
double ledger_amplification_before(const struct ledger *ledger);
double ledger_amplification_after(const struct ledger *ledger);

/* Counts from an earlier reading on, rather than from the last reset. */
void ledger_count_from(struct ledger *ledger, const struct ledger *earlier);

/* A histogram since the last reset; @bins has room for LEDGER_MAX_BINS. */
void ledger_histogram(const struct ledger *ledger,
		      enum ledger_histogram histogram, uint64_t *bins);

/*
 * Where a bin lies: phase: first byte in the block; size: least size in bytes;
 * latency and hold time: upper end in microseconds, for the last bin, which has
 * none, the lower.
 */
double ledger_bin_bound(const struct ledger *ledger,
			enum ledger_histogram histogram, unsigned int bin);

#endif
