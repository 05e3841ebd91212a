// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
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
static const struct {
	enum ledger_cell first;
	unsigned int bins;
} ledger_histograms[LEDGER_HISTOGRAMS] = {
	[LEDGER_PHASE] = { LEDGER_CELL_PHASE, ALIGN_PHASE_BINS },
	[LEDGER_SIZE] = { LEDGER_CELL_SIZE, ALIGN_SIZE_BINS },
	[LEDGER_LATENCY_ALIGNED] = {
		LEDGER_CELL_LATENCY_ALIGNED, ALIGN_LATENCY_BINS },
	[LEDGER_LATENCY_MISALIGNED] = {
		LEDGER_CELL_LATENCY_MISALIGNED, ALIGN_LATENCY_BINS },
	[LEDGER_HOLD_TIME] = { LEDGER_CELL_HOLD_TIME, ALIGN_LATENCY_BINS },
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
	ledger->share = alloc_percpu(struct ledger_share *);
	return ledger->share ? 0 : -ENOMEM;
}

void ledger_exit(struct ledger *ledger)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kfree(*per_cpu_ptr(ledger->share, cpu));
	free_percpu(ledger->share);
	kfree(ledger->baseline);
}

/**
 * ledger_make_share - give this CPU its share
 * @ledger: the ledger
 *
 * Called with preemption disabled, which it enables for a moment: memory is not
 * allocated or freed without it where spinlocks sleep.
 *
 * Return: the share of the CPU that it returns on; NULL without memory.
 */
struct ledger_share *ledger_make_share(struct ledger *ledger)
{
	struct ledger_share *made, *other = NULL;

	preempt_enable();
	made = kzalloc(sizeof(*made), GFP_NOWAIT | __GFP_NORETRY |
		       __GFP_NOMEMALLOC | __GFP_NOWARN);
	preempt_disable();
	/* Fully ordered: who finds it in ledger_cell() finds it zeroed. */
	if (made)
		other = cmpxchg(this_cpu_ptr(ledger->share), NULL, made);
	if (other) {
		/* An interrupt has been faster, or the one before on another CPU. */
		preempt_enable();
		kfree(made);
		preempt_disable();
	}
	return this_cpu_read(*ledger->share);
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

/* The value of a cell: what CPUs have in common, and the shares that there are. */
static u64 ledger_cell(const struct ledger *ledger, unsigned int cell)
{
	u64 sum = atomic64_read(&ledger->cell[cell]);
	int cpu;

	if (cell >= LEDGER_SHARE_CELLS)
		return sum;
	for_each_possible_cpu(cpu) {
		struct ledger_share *share =
			READ_ONCE(*per_cpu_ptr(ledger->share, cpu));

		if (share)
			sum += local64_read(&share->cell[cell]);
	}
	return sum;
}

/* The value of a cell at the last ledger_reset(), 0 before it. */
static u64 ledger_cell_baseline(struct ledger *ledger, unsigned int cell)
{
	u64 value;

	spin_lock(&ledger->lock);
	value = ledger->baseline ? ledger->baseline[cell] : 0;
	spin_unlock(&ledger->lock);
	return value;
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
	return ledger_cell_baseline(ledger, counter);
}

/**
 * ledger_prepare - allocate the memory that ledger_reset() needs
 * @ledger: the ledger
 *
 * Process context. May sleep for memory, and does not wait for I/O, which a suspended
 * device may hold up.
 *
 * Return: 0 or -ENOMEM.
 */
int ledger_prepare(struct ledger *ledger)
{
	u64 *made;

	if (READ_ONCE(ledger->baseline))
		return 0;
	made = kcalloc(LEDGER_CELLS, sizeof(*made), GFP_NOIO);
	if (!made)
		return -ENOMEM;
	spin_lock(&ledger->lock);
	if (!ledger->baseline)
		swap(ledger->baseline, made);
	spin_unlock(&ledger->lock);
	kfree(made);
	return 0;
}

/**
 * ledger_reset - store the present counts as the baseline
 * @ledger: the ledger, prepared by ledger_prepare()
 *
 * Touches in flight at that moment are expected before it and resolved after
 * it, so that readers who subtract see a balance that is off by as many.
 */
void ledger_reset(struct ledger *ledger)
{
	unsigned int cell;

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
		u64 value = baseline ? ledger_cell_baseline(ledger, cell) :
				       ledger_cell(ledger, cell);

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
	struct ledger_share *share = ledger_get(ledger);

	ledger_count(ledger, share, sum, nr);
	if (reason != LEDGER_NR)
		ledger_count(ledger, share, reason, nr);
	ledger_count(ledger, share, LEDGER_rmw_pending, -(s64)nr);
	ledger_put();
}
