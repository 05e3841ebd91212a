/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ledger: per-CPU counters and histograms, and the baseline that
 * reset_stats stores. The kernel never subtracts.
 */
#ifndef DM_ALIGN_LEDGER_H
#define DM_ALIGN_LEDGER_H

#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "decide.h"
#include "geometry.h"

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
 * struct ledger_page - one CPU's share, a sum of them, or a baseline
 * @counter: by enum ledger_counter; a gauge wraps below 0 in one CPU's share
 * @phase: bins of align_phase_bin()
 * @size: bins of align_size_bin()
 * @latency: bins of align_latency_bin(): [0] aligned, [1] misaligned writes
 * @hold_time: bins of align_latency_bin(): held blocks, from their first held
 *	touch to the end of holding
 */
struct ledger_page {
	u64 counter[LEDGER_NR];
	u64 phase[ALIGN_PHASE_BINS];
	u64 size[ALIGN_SIZE_BINS];
	u64 latency[2][ALIGN_LATENCY_BINS];
	u64 hold_time[ALIGN_LATENCY_BINS];
};

/**
 * struct ledger - the accounts of one mapped device
 * @cpu: the shares; added to with this_cpu operations, from any context
 * @baseline: the sums at the last reset; gauges stay 0
 * @lock: guards @baseline; never taken on the I/O path
 */
struct ledger {
	struct ledger_page __percpu *cpu;
	struct ledger_page baseline;
	spinlock_t lock;	/* guards baseline */
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
