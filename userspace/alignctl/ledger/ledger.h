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
#include <time.h>

#include "ledger/dm_align.h"
#include "geometry.h"

enum ledger_counter {
#define LEDGER_COUNTER(name, ...) LEDGER_##name,
#include "ledger_table.h"
#undef LEDGER_COUNTER
	LEDGER_NR
};

/**
 * struct ledger_row - a counter of the ledger
 * @name: name of the counter
 * @gauge: a level; else monotonic
 * @unit: unit of the counter
 * @help: one sentence about the counter
 */
struct ledger_row {
	const char *name;
	bool gauge;
	const char *unit;
	const char *help;
};

extern const struct ledger_row ledger_rows[LEDGER_NR];

/* The first of the counters that the module may lack, if it is older. */
#define LEDGER_LATER	LEDGER_held_bytes

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
 * struct ledger_histogram_row - a histogram of the ledger
 * @name: name of the histogram in JSON; its file is <name>_histogram
 * @bins: number of bins
 * @of_times: a histogram of times, in the latency bins of kmod/geometry.h
 */
struct ledger_histogram_row {
	const char *name;
	unsigned int bins;
	bool of_times;
};

extern const struct ledger_histogram_row ledger_histograms[HISTOGRAM_NR];

/**
 * struct ledger - the ledger as read at one time
 * @device: the device; its state, logical block, targets and the age of what it holds as
 *	they were then
 * @read_ns: time of the reading, on the monotonic clock
 * @since_ns: time of the earlier reading from which it counts, likewise; 0: it
 *	counts from the last reset
 * @folder: inode number of its folder in sysfs, which is made with the counters and
 *	removed with them; 0: not known
 * @time: time of the reading, of day
 * @suggested: suggested physical block, bytes, or 0
 * @missing: counters that the module, which is older, does not have
 * @raw: counters since the device was created
 * @baseline: counters at the last reset; 0 for gauges
 * @bins: histograms since the device was created
 * @baseline_bins: histograms at the last reset
 */
struct ledger {
	struct dm_align device;
	uint64_t read_ns;
	uint64_t since_ns;
	uint64_t folder;
	time_t time;
	uint64_t suggested;
	bool missing[LEDGER_NR];
	uint64_t raw[LEDGER_NR];
	uint64_t baseline[LEDGER_NR];
	uint64_t bins[HISTOGRAM_NR][LEDGER_MAX_BINS];
	uint64_t baseline_bins[HISTOGRAM_NR][LEDGER_MAX_BINS];
};

/*
 * Read the ledger of a disk whose folder in sysfs is @disk_dir, for the first
 * time into one that is 0. Return: NULL, or which file is missing or malformed,
 * for free(). What an older module lacks is no error.
 */
char *ledger_read(struct ledger *ledger, const char *disk_dir);
void ledger_free(struct ledger *ledger);

/* Return a counter since the last reset, or a gauge's level. */
uint64_t ledger_value(const struct ledger *ledger, enum ledger_counter counter);

/*
 * Check that every partial touch has an outcome, which holds exactly while no
 * write is in flight. Use the raw counters, since touches may have been pending
 * at the last reset.
 */
bool ledger_balanced(const struct ledger *ledger);

/*
 * Return the bytes of whole physical blocks touched by the writes that arrived
 * (before) or that were sent to the drive (after), for each byte that was to be
 * written; 0 if there was none.
 */
double ledger_amplification_before(const struct ledger *ledger);
double ledger_amplification_after(const struct ledger *ledger);

/* Return the misaligned writes, per cent of all writes; 0 if there was none. */
double ledger_misaligned_percent(const struct ledger *ledger);

/*
 * Count from an earlier reading on, rather than from the last reset; from
 * nothing if the counters are others, of a device made anew or of one that had no
 * align target meanwhile: their folder is another one, or one of them was higher.
 */
void ledger_count_from(struct ledger *ledger, const struct ledger *earlier);

/* Read a histogram since the last reset into @bins, of LEDGER_MAX_BINS. */
void ledger_histogram(const struct ledger *ledger,
		      enum ledger_histogram histogram, uint64_t *bins);

/*
 * Return a bin's bound: of phase, the first byte in the block; of size, the
 * least size in bytes; of latency and hold time, the upper bound in
 * microseconds or, of the last bin, which has none, the lower bound.
 */
double ledger_bin_bound(const struct ledger *ledger,
			enum ledger_histogram histogram, unsigned int bin);

#endif
