// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "ledger.h"

enum { LEDGER_IS_COUNTER, LEDGER_IS_GAUGE };

static const struct {
	const char *name;
	int kind;
} ledger_rows[LEDGER_NR] = {
#define LEDGER_COUNTER(name, kind, ...) { #name, LEDGER_IS_##kind },
#include "ledger_table.h"
#undef LEDGER_COUNTER
};

/* Where in a page a histogram lies and how many bins it has. */
static const struct {
	size_t offset;
	unsigned int bins;
} ledger_histograms[LEDGER_HISTOGRAMS] = {
	[LEDGER_PHASE] = {
		offsetof(struct ledger_page, phase), ALIGN_PHASE_BINS },
	[LEDGER_SIZE] = {
		offsetof(struct ledger_page, size), ALIGN_SIZE_BINS },
	[LEDGER_LATENCY_ALIGNED] = {
		offsetof(struct ledger_page, latency[0]), ALIGN_LATENCY_BINS },
	[LEDGER_LATENCY_MISALIGNED] = {
		offsetof(struct ledger_page, latency[1]), ALIGN_LATENCY_BINS },
	[LEDGER_HOLD_TIME] = {
		offsetof(struct ledger_page, hold_time), ALIGN_LATENCY_BINS },
};

/* The counters into which a resolved touch goes: the sum, and its reason. */
static const struct {
	enum ledger_counter sum;
	enum ledger_counter reason;
} ledger_accounts[RMW_HOW_NR] = {
	[RMW_HOST] = { LEDGER_rmw_host, LEDGER_NR },
	[RMW_MERGED] = { LEDGER_rmw_avoided, LEDGER_rmw_avoided_merged },
	[RMW_COMPLETE] = { LEDGER_rmw_avoided, LEDGER_rmw_avoided_complete },
	[RMW_KNOWN] = { LEDGER_rmw_avoided, LEDGER_rmw_avoided_known },
	[RMW_SUPERSEDED] = {
		LEDGER_rmw_avoided, LEDGER_rmw_avoided_superseded },
	[RMW_LOST] = { LEDGER_rmw_lost, LEDGER_NR },
	[RMW_DRIVE_REPORT] = { LEDGER_rmw_drive, LEDGER_rmw_drive_report },
	[RMW_DRIVE_EDGE] = { LEDGER_rmw_drive, LEDGER_rmw_drive_edge },
	[RMW_DRIVE_NO_MEMORY] = {
		LEDGER_rmw_drive, LEDGER_rmw_drive_no_memory },
	[RMW_DRIVE_MAX_BLOCKS] = {
		LEDGER_rmw_drive, LEDGER_rmw_drive_max_blocks },
	[RMW_DRIVE_READ_ERROR] = {
		LEDGER_rmw_drive, LEDGER_rmw_drive_read_error },
	[RMW_DRIVE_LIMITS] = { LEDGER_rmw_drive, LEDGER_rmw_drive_limits },
	[RMW_DRIVE_ATOMIC] = { LEDGER_rmw_drive, LEDGER_rmw_drive_atomic },
};

/**
 * ledger_init - initialise an empty ledger
 * @ledger: the ledger
 *
 * Return: 0 or -ENOMEM.
 */
int ledger_init(struct ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
	spin_lock_init(&ledger->lock);
	ledger->cpu = alloc_percpu(struct ledger_page);
	return ledger->cpu ? 0 : -ENOMEM;
}

void ledger_exit(struct ledger *ledger)
{
	free_percpu(ledger->cpu);
}

/* Return the name of a counter in status and in sysfs. */
const char *ledger_name(enum ledger_counter counter)
{
	return ledger_rows[counter].name;
}

bool ledger_is_gauge(enum ledger_counter counter)
{
	return ledger_rows[counter].kind == LEDGER_IS_GAUGE;
}

/* Sum of one cell, which lies @offset bytes into a page, over all CPUs. */
static u64 ledger_sum(const struct ledger *ledger, size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const void *page = per_cpu_ptr(ledger->cpu, cpu);

		sum += READ_ONCE(*(const u64 *)(page + offset));
	}
	return sum;
}

/**
 * ledger_read - a counter's value since the ledger was made
 * @ledger: the ledger
 * @counter: the counter
 *
 * Under load the sum may be off by what moved while it was taken. A gauge for
 * which one CPU's rise was missed, and another's fall was not, is 0.
 */
u64 ledger_read(const struct ledger *ledger, enum ledger_counter counter)
{
	u64 sum = ledger_sum(ledger,
			     offsetof(struct ledger_page, counter[counter]));

	return ledger_is_gauge(counter) && (s64)sum < 0 ? 0 : sum;
}

/* A counter's value at the last ledger_reset(), 0 before it. */
u64 ledger_read_baseline(struct ledger *ledger, enum ledger_counter counter)
{
	u64 value;

	spin_lock(&ledger->lock);
	value = ledger->baseline.counter[counter];
	spin_unlock(&ledger->lock);
	return value;
}

/**
 * ledger_reset - store the present counts as the baseline
 * @ledger: the ledger
 *
 * Touches in flight at that moment are expected before it and resolved after
 * it, so that readers who subtract see a balance that is off by as many.
 */
void ledger_reset(struct ledger *ledger)
{
	size_t cell;

	/* A page has nothing but u64 cells; counters come first. */
	BUILD_BUG_ON(sizeof(struct ledger_page) % sizeof(u64));
	BUILD_BUG_ON(offsetof(struct ledger_page, counter));

	spin_lock(&ledger->lock);
	for (cell = 0; cell < sizeof(struct ledger_page) / sizeof(u64); cell++) {
		if (cell < LEDGER_NR && ledger_is_gauge(cell))
			continue;
		((u64 *)&ledger->baseline)[cell] =
			ledger_sum(ledger, cell * sizeof(u64));
	}
	spin_unlock(&ledger->lock);
}

/**
 * ledger_print_histogram - counts of all bins, separated by spaces
 * @ledger: the ledger
 * @histogram: the histogram
 * @baseline: print the counts at the last reset, instead of the present ones
 * @buf: receives the text
 * @size: room in @buf; 20 digits and a space a bin always fit in a page
 *
 * Return: length of the text, which ends with a newline.
 */
ssize_t ledger_print_histogram(struct ledger *ledger,
			       enum ledger_histogram histogram,
			       bool baseline, char *buf, size_t size)
{
	size_t offset = ledger_histograms[histogram].offset;
	unsigned int bins = ledger_histograms[histogram].bins;
	ssize_t len = 0;
	unsigned int i;

	BUILD_BUG_ON(21 * ALIGN_PHASE_BINS > PAGE_SIZE);
	BUILD_BUG_ON(21 * ALIGN_LATENCY_BINS > PAGE_SIZE);

	for (i = 0; i < bins; i++, offset += sizeof(u64)) {
		u64 value;

		if (baseline) {
			spin_lock(&ledger->lock);
			value = *(u64 *)((char *)&ledger->baseline + offset);
			spin_unlock(&ledger->lock);
		} else {
			value = ledger_sum(ledger, offset);
		}
		len += scnprintf(buf + len, size - len, "%llu%c", value,
				 i + 1 < bins ? ' ' : '\n');
	}
	return len;
}

/**
 * ledger_book - book pending touches as resolved
 * @ledger: the ledger
 * @how: how the touches were resolved
 * @nr: number of touches
 */
void ledger_book(struct ledger *ledger, enum rmw_how how, unsigned int nr)
{
	enum ledger_counter sum = ledger_accounts[how].sum;
	enum ledger_counter reason = ledger_accounts[how].reason;

	this_cpu_add(ledger->cpu->counter[sum], nr);
	if (reason != LEDGER_NR)
		this_cpu_add(ledger->cpu->counter[reason], nr);
	this_cpu_sub(ledger->cpu->counter[LEDGER_rmw_pending], nr);
}
