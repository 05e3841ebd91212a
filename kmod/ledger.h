/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ledger: counters and histograms, and the baseline that reset_stats stores. What
 * aligned writes add to is there for each CPU, what only misaligned ones do, once. The
 * kernel never subtracts.
 *
 * A CPU gets its share when it counts for the first time, without waiting: an idle
 * device has none, on any number of CPUs. Where there is no memory, it adds to
 * cells that all CPUs have in common, and tries again the next time.
 */
#ifndef DM_ALIGN_LEDGER_H
#define DM_ALIGN_LEDGER_H

#include <asm/local64.h>
#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>

#include "geometry.h"
#include "mode.h"

enum ledger_counter {
#define LEDGER_COUNTER(name, ...) LEDGER_##name,
#include "ledger_table.h"
#undef LEDGER_COUNTER
	LEDGER_NR,
};

/* Histograms; aligned and misaligned writes have one of latencies each. */
enum ledger_histogram {
	LEDGER_PHASE,
	LEDGER_SIZE,
	LEDGER_LATENCY_ALIGNED,
	LEDGER_LATENCY_MISALIGNED,
	LEDGER_HOLD_TIME,
	LEDGER_HISTOGRAMS,
};

/* Cells: the counters, then the bins of histograms. */
enum ledger_cell {
	/* Histograms of all writes: bins of align_size_bin() and align_latency_bin(). */
	LEDGER_CELL_SIZE = LEDGER_NR,
	LEDGER_CELL_LATENCY_ALIGNED = LEDGER_CELL_SIZE + ALIGN_SIZE_BINS,
	LEDGER_SHARE_CELLS = LEDGER_CELL_LATENCY_ALIGNED + ALIGN_LATENCY_BINS,
	/* Those of misaligned writes: bins of align_phase_bin() and align_latency_bin(). */
	LEDGER_CELL_PHASE = LEDGER_SHARE_CELLS,
	LEDGER_CELL_LATENCY_MISALIGNED = LEDGER_CELL_PHASE + ALIGN_PHASE_BINS,
	/* From a block's first held touch to the end of holding. */
	LEDGER_CELL_HOLD_TIME =
		LEDGER_CELL_LATENCY_MISALIGNED + ALIGN_LATENCY_BINS,
	LEDGER_CELLS = LEDGER_CELL_HOLD_TIME + ALIGN_LATENCY_BINS,
};

/**
 * struct ledger_share - one CPU's share of the cells that all writes add to
 * @cell: by enum ledger_cell; a gauge wraps below 0 in one CPU's share
 */
struct ledger_share {
	local64_t cell[LEDGER_SHARE_CELLS];
};

/**
 * struct ledger - the accounts of one mapped device
 * @share: the share of each CPU that has counted something: memory that it got
 *	then, and that is never taken away
 * @lock: guards @baseline; never taken on the I/O path
 * @baseline: all cells at the last reset, gauges 0; NULL before ledger_prepare()
 * @cell: the cells that misaligned writes add to, and before them those of the
 *	shares, of CPUs that got no memory for one; in no line with @share, which all
 *	writes read
 */
struct ledger {
	struct ledger_share * __percpu *share;
	spinlock_t lock;	/* guards baseline */
	u64 *baseline;
	atomic64_t cell[LEDGER_CELLS] ____cacheline_aligned_in_smp;
};

int ledger_init(struct ledger *ledger);
void ledger_exit(struct ledger *ledger);

const char *ledger_name(enum ledger_counter counter);
bool ledger_is_gauge(enum ledger_counter counter);
u64 ledger_read(const struct ledger *ledger, enum ledger_counter counter);
u64 ledger_read_baseline(struct ledger *ledger, enum ledger_counter counter);
int ledger_prepare(struct ledger *ledger);
void ledger_reset(struct ledger *ledger);
ssize_t ledger_print_histogram(struct ledger *ledger,
			       enum ledger_histogram histogram,
			       bool baseline, char *buf, size_t size);

void ledger_book(struct ledger *ledger, enum rmw_how how, unsigned int nr);

struct ledger_share *ledger_make_share(struct ledger *ledger);

/**
 * ledger_get - begin to count on this CPU
 * @ledger: the ledger
 *
 * Any context. Disables preemption until ledger_put().
 *
 * Return: the CPU's share; NULL if there is no memory for one.
 */
static inline struct ledger_share *ledger_get(struct ledger *ledger)
{
	struct ledger_share *share;

	preempt_disable();
	share = this_cpu_read(*ledger->share);
	return likely(share) ? share : ledger_make_share(ledger);
}

static inline void ledger_put(void)
{
	preempt_enable();
}

/* Add to a cell of a share that ledger_get() has returned, or of all CPUs. */
static inline void ledger_count(struct ledger *ledger,
				struct ledger_share *share,
				unsigned int cell, s64 n)
{
	if (likely(share))
		local64_add(n, &share->cell[cell]);
	else
		atomic64_add(n, &ledger->cell[cell]);
}

static inline void ledger_add_to(struct ledger *ledger, unsigned int cell,
				 s64 n)
{
	ledger_count(ledger, ledger_get(ledger), cell, n);
	ledger_put();
}

/* Count in a cell that misaligned writes add to. */
static inline void ledger_inc_rare(struct ledger *ledger, unsigned int cell)
{
	atomic64_inc(&ledger->cell[cell]);
}

#define ledger_add(ledger, name, n) \
	ledger_add_to(ledger, LEDGER_##name, n)
#define ledger_inc(ledger, name)	ledger_add(ledger, name, 1)
#define ledger_dec(ledger, name)	ledger_add(ledger, name, -1)

#endif
