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

/* The first cells of histograms, and how many bins they have. */
#define SHARE_CELL(name)	(offsetof(struct ledger_share, name) / sizeof(u64))
#define RARE_CELL(name)		(LEDGER_SHARE_CELLS + \
				 offsetof(struct ledger_rare, name) / sizeof(atomic64_t))
static const struct {
	unsigned int first;
	unsigned int bins;
} ledger_histograms[LEDGER_HISTOGRAMS] = {
	[LEDGER_PHASE] = { RARE_CELL(phase), ALIGN_PHASE_BINS },
	[LEDGER_SIZE] = { SHARE_CELL(size), ALIGN_SIZE_BINS },
	[LEDGER_LATENCY_ALIGNED] = { SHARE_CELL(latency), ALIGN_LATENCY_BINS },
	[LEDGER_LATENCY_MISALIGNED] = {
		RARE_CELL(latency), ALIGN_LATENCY_BINS },
	[LEDGER_HOLD_TIME] = { RARE_CELL(hold_time), ALIGN_LATENCY_BINS },
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
	ledger->cpu = alloc_percpu(struct ledger_share);
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

/* The value of a cell: of the shares, which begin with the counters, their sum. */
static u64 ledger_cell(const struct ledger *ledger, unsigned int cell)
{
	u64 sum = 0;
	int cpu;

	if (cell >= LEDGER_SHARE_CELLS)
		return atomic64_read((const atomic64_t *)&ledger->rare +
				     cell - LEDGER_SHARE_CELLS);
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(((const u64 *)per_cpu_ptr(ledger->cpu, cpu))[cell]);
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
	u64 sum = ledger_cell(ledger, counter);

	return ledger_is_gauge(counter) && (s64)sum < 0 ? 0 : sum;
}

/* A counter's value at the last ledger_reset(), 0 before it. */
u64 ledger_read_baseline(struct ledger *ledger, enum ledger_counter counter)
{
	u64 value;

	spin_lock(&ledger->lock);
	value = ledger->baseline[counter];
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
	unsigned int cell;

	/* Nothing but cells; counters come first. */
	BUILD_BUG_ON(sizeof(struct ledger_share) % sizeof(u64));
	BUILD_BUG_ON(sizeof(struct ledger_rare) % sizeof(atomic64_t));
	BUILD_BUG_ON(offsetof(struct ledger_share, counter));

	spin_lock(&ledger->lock);
	for (cell = 0; cell < LEDGER_CELLS; cell++) {
		if (cell < LEDGER_NR && ledger_is_gauge(cell))
			continue;
		ledger->baseline[cell] = ledger_cell(ledger, cell);
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
	unsigned int cell = ledger_histograms[histogram].first;
	unsigned int bins = ledger_histograms[histogram].bins;
	ssize_t len = 0;
	unsigned int i;

	BUILD_BUG_ON(21 * ALIGN_PHASE_BINS > PAGE_SIZE);
	BUILD_BUG_ON(21 * ALIGN_LATENCY_BINS > PAGE_SIZE);

	for (i = 0; i < bins; i++, cell++) {
		u64 value;

		if (baseline) {
			spin_lock(&ledger->lock);
			value = ledger->baseline[cell];
			spin_unlock(&ledger->lock);
		} else {
			value = ledger_cell(ledger, cell);
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
