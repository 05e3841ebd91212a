/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ledger: counters and histograms, and the baseline that reset_stats stores. What
 * aligned writes add to is there for each CPU, what only misaligned ones do, once. The
 * kernel never subtracts.
 */
#ifndef DM_ALIGN_LEDGER_H
#define DM_ALIGN_LEDGER_H

#include <linux/atomic.h>
#include <linux/percpu.h>
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

/**
 * struct ledger_share - one CPU's share of the cells that all writes add to
 * @counter: by enum ledger_counter; a gauge wraps below 0 in one CPU's share
 * @size: bins of align_size_bin()
 * @latency: bins of align_latency_bin(): aligned writes
 */
struct ledger_share {
	u64 counter[LEDGER_NR];
	u64 size[ALIGN_SIZE_BINS];
	u64 latency[ALIGN_LATENCY_BINS];
};

/**
 * struct ledger_rare - the cells that misaligned writes add to
 * @phase: bins of align_phase_bin()
 * @latency: bins of align_latency_bin()
 * @hold_time: bins of align_latency_bin(): held blocks, from their first held
 *	touch to the end of holding
 */
struct ledger_rare {
	atomic64_t phase[ALIGN_PHASE_BINS];
	atomic64_t latency[ALIGN_LATENCY_BINS];
	atomic64_t hold_time[ALIGN_LATENCY_BINS];
};

/* Cells of a share, and of the whole, where those of struct ledger_rare follow. */
#define LEDGER_SHARE_CELLS	(sizeof(struct ledger_share) / sizeof(u64))
#define LEDGER_CELLS		(LEDGER_SHARE_CELLS + \
				 sizeof(struct ledger_rare) / sizeof(atomic64_t))

/**
 * struct ledger - the accounts of one mapped device
 * @cpu: the shares; added to with this_cpu operations, from any context
 * @baseline: all cells at the last reset; gauges stay 0
 * @lock: guards @baseline; never taken on the I/O path
 * @rare: histograms that misaligned writes add to, from any context; in no line
 *	with @cpu, which all writes read
 */
struct ledger {
	struct ledger_share __percpu *cpu;
	u64 baseline[LEDGER_CELLS];
	spinlock_t lock;	/* guards baseline */
	struct ledger_rare rare ____cacheline_aligned_in_smp;
};

int ledger_init(struct ledger *ledger);
void ledger_exit(struct ledger *ledger);

const char *ledger_name(enum ledger_counter counter);
bool ledger_is_gauge(enum ledger_counter counter);
u64 ledger_read(const struct ledger *ledger, enum ledger_counter counter);
u64 ledger_read_baseline(struct ledger *ledger, enum ledger_counter counter);
void ledger_reset(struct ledger *ledger);
ssize_t ledger_print_histogram(struct ledger *ledger,
			       enum ledger_histogram histogram,
			       bool baseline, char *buf, size_t size);

void ledger_book(struct ledger *ledger, enum rmw_how how, unsigned int nr);

#define ledger_add(ledger, name, n) \
	this_cpu_add((ledger)->cpu->counter[LEDGER_##name], n)
#define ledger_inc(ledger, name) \
	this_cpu_inc((ledger)->cpu->counter[LEDGER_##name])
#define ledger_dec(ledger, name) \
	this_cpu_dec((ledger)->cpu->counter[LEDGER_##name])

#endif
