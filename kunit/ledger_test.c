// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the ledger (ledger.c).
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ledger.h"

/* The target exports nothing: a suite that is a module has its own copy. */
#ifdef MODULE
#include "ledger.c"
#endif

static int ledger_suite_init(struct kunit *test)
{
	struct ledger *ledger = kunit_kzalloc(test, sizeof(*ledger),
					      GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ledger);
	/* a ledger may lie in uninitialised memory */
	memset(ledger, 0xa5, sizeof(*ledger));
	KUNIT_ASSERT_EQ(test, ledger_init(ledger), 0);
	test->priv = ledger;
	return 0;
}

static void ledger_suite_exit(struct kunit *test)
{
	if (test->priv)
		ledger_exit(test->priv);
}

/*
 * Return the share of one CPU, as if it had counted; tests run alone, so nothing else
 * adds to it.
 */
static local64_t *share(struct kunit *test, const struct ledger *ledger, int cpu)
{
	struct ledger_share **own = per_cpu_ptr(ledger->share, cpu);

	if (!*own)
		*own = kzalloc(sizeof(**own), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *own);
	return (*own)->cell;
}

/* Reset a ledger, as the message does. */
static void reset(struct kunit *test, struct ledger *ledger)
{
	KUNIT_ASSERT_EQ(test, ledger_prepare(ledger), 0);
	ledger_reset(ledger);
}

/*
 * The published table. It may grow at the end; no entry may move or change its
 * name, because scripts read the status line by position.
 */
static const char * const published_names[] = {
	"rmw_expected", "rmw_avoided", "rmw_host", "rmw_drive", "rmw_lost",
	"rmw_pending", "rmw_avoided_merged", "rmw_avoided_complete",
	"rmw_avoided_known", "rmw_drive_report", "rmw_drive_edge",
	"rmw_drive_no_memory", "rmw_drive_max_blocks", "rmw_drive_read_error",
	"rmw_drive_limits", "pad_reads", "pad_read_bytes", "pad_writes", "writes", "write_bytes",
	"writes_misaligned", "writes_sub_block", "writes_head_only",
	"writes_tail_only", "writes_both_ends", "writes_over_limits",
	"write_block_bytes", "sent_block_bytes", "fua", "flushes", "reads",
	"read_bytes", "discards", "discard_bytes", "write_zeroes",
	"write_zeroes_bytes", "waits", "cuts", "uncut", "nowait_again",
	"rmw_avoided_superseded", "touches_held", "reads_overlaid",
	"blocks_delayed", "flushes_failed", "times_degraded", "held_blocks",
	"degraded", "rmw_expected_zeroes", "write_zeroes_misaligned",
	"rmw_drive_atomic", "held_bytes", "reads_bounced", "bounce_reads",
	"touches_starved",
};

static void names_stay_as_published(struct kunit *test)
{
	size_t i, j;

	KUNIT_ASSERT_EQ(test, (size_t)LEDGER_NR, ARRAY_SIZE(published_names));
	for (i = 0; i < ARRAY_SIZE(published_names); i++)
		KUNIT_EXPECT_STREQ(test, ledger_name(i), published_names[i]);

	for (i = 0; i < LEDGER_NR; i++) {
		KUNIT_ASSERT_NOT_NULL(test, ledger_name(i));
		/* a key in "name:value" pairs and the name of a file */
		KUNIT_EXPECT_EQ(test, strlen(ledger_name(i)),
				strspn(ledger_name(i),
				       "abcdefghijklmnopqrstuvwxyz_"));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, ledger_name(i),
					    ledger_name(j));
	}
}

/* Return whether a counter is a level, which can fall, so has no baseline. */
static bool is_level(size_t counter)
{
	return counter == LEDGER_rmw_pending ||
	       counter == LEDGER_held_blocks || counter == LEDGER_degraded ||
	       counter == LEDGER_held_bytes;
}

static void only_levels_are_gauges(struct kunit *test)
{
	int i;

	for (i = 0; i < LEDGER_NR; i++)
		KUNIT_EXPECT_EQ_MSG(test, ledger_is_gauge(i), is_level(i),
				    "%s", ledger_name(i));
}

static void starts_at_zero(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	int i;

	for (i = 0; i < LEDGER_NR; i++) {
		KUNIT_EXPECT_EQ(test, ledger_read(ledger, i), 0);
		KUNIT_EXPECT_EQ(test, ledger_read_baseline(ledger, i), 0);
	}
	for (i = 0; i < LEDGER_CELLS; i++)
		KUNIT_EXPECT_EQ(test, atomic64_read(&ledger->cell[i]), 0);
}

static unsigned int count_shares(const struct ledger *ledger)
{
	unsigned int nr = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		nr += !!*per_cpu_ptr(ledger->share, cpu);
	return nr;
}

static void a_cpu_gets_its_share_when_it_counts(struct kunit *test)
{
	struct ledger *ledger = test->priv;

	KUNIT_EXPECT_EQ(test, count_shares(ledger), 0);
	migrate_disable();
	ledger_inc(ledger, writes);
	ledger_inc(ledger, writes);
	ledger_inc(ledger, reads);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, count_shares(ledger), 1);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_writes), 2);
	KUNIT_EXPECT_EQ(test, atomic64_read(&ledger->cell[LEDGER_writes]), 0);
}

/* Counts of a CPU without a share are added to those of the other CPUs. */
static void counts_without_a_share(struct kunit *test)
{
	struct ledger *ledger = test->priv;

	ledger_count(ledger, NULL, LEDGER_writes, 5);
	KUNIT_EXPECT_EQ(test, count_shares(ledger), 0);
	ledger_inc(ledger, writes);
	ledger_count(ledger, NULL, LEDGER_rmw_pending, 1);
	ledger_dec(ledger, rmw_pending);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_writes), 6);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_rmw_pending), 0);
}

/* Each name adds to its own cell: the table's first, a middle one, the last. */
static void counts_each_name_apart(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	int i;

	ledger_inc(ledger, rmw_expected);
	ledger_add(ledger, write_bytes, 512);
	ledger_inc(ledger, write_bytes);
	ledger_add(ledger, degraded, 7);

	for (i = 0; i < LEDGER_NR; i++) {
		const char *name = ledger_name(i);
		u64 want = 0;

		if (!strcmp(name, "rmw_expected"))
			want = 1;
		else if (!strcmp(name, "write_bytes"))
			want = 513;
		else if (!strcmp(name, "degraded"))
			want = 7;
		KUNIT_EXPECT_EQ_MSG(test, ledger_read(ledger, i), want, "%s",
				    name);
	}
}

static void adds_64_bits(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	u64 first = 0xffffffffULL, second = 0x123400000001ULL;

	/* local_add() of x86 has no instruction for a constant of 64 bits. */
	OPTIMIZER_HIDE_VAR(first);
	OPTIMIZER_HIDE_VAR(second);
	ledger_add(ledger, write_bytes, first);
	ledger_add(ledger, write_bytes, second);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_write_bytes),
			0x123500000000ULL);
}

static void sums_over_cpus(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		u64 n = (1ULL << 40) + 7 * cpu + 1;

		local64_set(&share(test, ledger, cpu)[LEDGER_writes], n);
		sum += n;
	}
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_writes), sum);
	reset(test, ledger);
	KUNIT_EXPECT_EQ(test, ledger_read_baseline(ledger, LEDGER_writes), sum);
}

/* A touch may be resolved on another CPU than its arrival's. */
static void gauge_falls_on_another_cpu(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	int first = cpumask_first(cpu_possible_mask);
	int other = cpumask_next(first, cpu_possible_mask);

	if (other >= nr_cpu_ids)
		kunit_skip(test, "this machine has one CPU only");
	local64_add(3, &share(test, ledger, first)[LEDGER_rmw_pending]);
	local64_add(-2, &share(test, ledger, other)[LEDGER_rmw_pending]);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_rmw_pending), 1);
	local64_add(-1, &share(test, ledger, other)[LEDGER_rmw_pending]);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_rmw_pending), 0);
}

/* A reader may see a fall on one CPU, and miss the rise before it on another. */
static void gauge_is_never_below_zero(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	int cpu = cpumask_first(cpu_possible_mask);

	local64_add(-512, &share(test, ledger, cpu)[LEDGER_held_bytes]);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_held_bytes), 0);
	local64_add(1536, &share(test, ledger, cpu)[LEDGER_held_bytes]);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_held_bytes), 1024);
	/* no gauge */
	local64_add(-1, &share(test, ledger, cpu)[LEDGER_writes]);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_writes), U64_MAX);
}

/* Set all cells to different values, those of the shares on one CPU. */
static void fill(struct kunit *test, struct ledger *ledger, int cpu, u64 base)
{
	local64_t *cell = share(test, ledger, cpu);
	unsigned int i;

	for (i = 0; i < LEDGER_SHARE_CELLS; i++)
		local64_set(&cell[i], base + i);
	for (; i < LEDGER_CELLS; i++)
		atomic64_set(&ledger->cell[i], base + i);
}

/* A reset stores each cell but the gauges, and subtracts nothing. */
static void reset_stores_baseline(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	int cpu = cpumask_first(cpu_possible_mask);
	local64_t *now = share(test, ledger, cpu);
	size_t i;

	fill(test, ledger, cpu, 1000000);
	reset(test, ledger);
	for (i = 0; i < LEDGER_CELLS; i++) {
		if (i < LEDGER_SHARE_CELLS)
			KUNIT_ASSERT_EQ(test, (u64)local64_read(&now[i]),
					1000000 + i);
		KUNIT_ASSERT_EQ(test, ledger->baseline[i],
				is_level(i) ? 0 : 1000000 + i);
	}

	/* later counts change no baseline until the next reset */
	fill(test, ledger, cpu, 5000000);
	for (i = 0; i < LEDGER_NR; i++) {
		KUNIT_EXPECT_EQ(test, ledger_read(ledger, i), 5000000 + i);
		KUNIT_EXPECT_EQ(test, ledger_read_baseline(ledger, i),
				is_level(i) ? 0 : 1000000 + i);
	}
	reset(test, ledger);
	for (i = 0; i < LEDGER_NR; i++)
		KUNIT_EXPECT_EQ(test, ledger_read_baseline(ledger, i),
				is_level(i) ? 0 : 5000000 + i);
}

static const struct histogram_row {
	const char *name;
	enum ledger_histogram histogram;
	unsigned int first;
	unsigned int bins;
} histogram_params[] = {
	{ "phase", LEDGER_PHASE, LEDGER_CELL_PHASE, 128 },
	{ "size", LEDGER_SIZE, LEDGER_CELL_SIZE, 24 },
	{ "latency of aligned writes", LEDGER_LATENCY_ALIGNED,
	  LEDGER_CELL_LATENCY_ALIGNED, 112 },
	{ "latency of misaligned writes", LEDGER_LATENCY_MISALIGNED,
	  LEDGER_CELL_LATENCY_MISALIGNED, 112 },
	{ "hold time", LEDGER_HOLD_TIME, LEDGER_CELL_HOLD_TIME, 112 },
};

static void histogram_desc(const struct histogram_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(histogram, histogram_params, histogram_desc);

/* Check printed text: @bins numbers that rise by one from @first. */
static void check_printed(struct kunit *test, const char *text, ssize_t len,
			  unsigned int bins, u64 first)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, strlen(text), len);
	for (i = 0; i < bins; i++) {
		char want[24];
		int n = snprintf(want, sizeof(want), "%llu%c", first + i,
				 i + 1 < bins ? ' ' : '\n');

		KUNIT_ASSERT_EQ_MSG(test, strncmp(text, want, n), 0,
				    "bin %u: \"%.24s\"", i, text);
		text += n;
	}
	KUNIT_EXPECT_STREQ(test, text, "");
}

static void prints_histogram(struct kunit *test)
{
	const struct histogram_row *row = test->param_value;
	struct ledger *ledger = test->priv;
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	ssize_t len;
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, text);
	cpu = cpumask_last(cpu_possible_mask);
	fill(test, ledger, cpu, 1000);
	reset(test, ledger);
	fill(test, ledger, cpu, 700000);

	len = ledger_print_histogram(ledger, row->histogram, false, text,
				     PAGE_SIZE);
	check_printed(test, text, len, row->bins, 700000 + row->first);
	len = ledger_print_histogram(ledger, row->histogram, true, text,
				     PAGE_SIZE);
	check_printed(test, text, len, row->bins, 1000 + row->first);
}

/* The largest numbers fit into the page of a sysfs file. */
static void prints_full_histogram_in_a_page(struct kunit *test)
{
	const struct histogram_row *row = test->param_value;
	struct ledger *ledger = test->priv;
	int cpu = cpumask_first(cpu_possible_mask);
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	ssize_t len;

	KUNIT_ASSERT_NOT_NULL(test, text);
	memset(share(test, ledger, cpu), 0xff, sizeof(struct ledger_share));
	memset(&ledger->cell[LEDGER_SHARE_CELLS], 0xff,
	       (LEDGER_CELLS - LEDGER_SHARE_CELLS) * sizeof(atomic64_t));
	len = ledger_print_histogram(ledger, row->histogram, false, text,
				     PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, len, row->bins * strlen("18446744073709551615 "));
	KUNIT_EXPECT_EQ(test, strlen(text), len);
	KUNIT_EXPECT_EQ(test, text[len - 1], '\n');
}

/* Printing never exceeds the room. */
static void prints_no_more_than_fits(struct kunit *test)
{
	const struct histogram_row *row = test->param_value;
	struct ledger *ledger = test->priv;
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	size_t room;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (room = 1; room <= 2 * row->bins; room++) {
		ssize_t len;

		memset(text, 'x', PAGE_SIZE);
		len = ledger_print_histogram(ledger, row->histogram, false,
					     text, room);
		KUNIT_ASSERT_EQ(test, len, strlen(text));
		KUNIT_ASSERT_LT(test, len, room);
		KUNIT_ASSERT_NULL(test, memchr_inv(text + room, 'x',
						   PAGE_SIZE - room));
	}
}

/* Counters to which a resolved touch adds 1; LEDGER_NR: no second one. */
static const struct book_row {
	enum rmw_how how;
	enum ledger_counter sum;
	enum ledger_counter reason;
} book_params[] = {
	{ RMW_HOST, LEDGER_rmw_host, LEDGER_NR },
	{ RMW_MERGED, LEDGER_rmw_avoided, LEDGER_rmw_avoided_merged },
	{ RMW_COMPLETE, LEDGER_rmw_avoided, LEDGER_rmw_avoided_complete },
	{ RMW_KNOWN, LEDGER_rmw_avoided, LEDGER_rmw_avoided_known },
	{ RMW_SUPERSEDED, LEDGER_rmw_avoided,
	  LEDGER_rmw_avoided_superseded },
	{ RMW_LOST, LEDGER_rmw_lost, LEDGER_NR },
	{ RMW_DRIVE_REPORT, LEDGER_rmw_drive, LEDGER_rmw_drive_report },
	{ RMW_DRIVE_EDGE, LEDGER_rmw_drive, LEDGER_rmw_drive_edge },
	{ RMW_DRIVE_NO_MEMORY, LEDGER_rmw_drive, LEDGER_rmw_drive_no_memory },
	{ RMW_DRIVE_MAX_BLOCKS, LEDGER_rmw_drive,
	  LEDGER_rmw_drive_max_blocks },
	{ RMW_DRIVE_READ_ERROR, LEDGER_rmw_drive,
	  LEDGER_rmw_drive_read_error },
	{ RMW_DRIVE_LIMITS, LEDGER_rmw_drive, LEDGER_rmw_drive_limits },
	{ RMW_DRIVE_ATOMIC, LEDGER_rmw_drive, LEDGER_rmw_drive_atomic },
};

static void book_desc(const struct book_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s", ledger_name(row->sum),
		 row->reason == LEDGER_NR ? "" : ledger_name(row->reason));
}

KUNIT_ARRAY_PARAM(book, book_params, book_desc);

static void books_in_the_right_counters(struct kunit *test)
{
	const struct book_row *row = test->param_value;
	struct ledger *ledger = test->priv;
	int i;

	ledger_add(ledger, rmw_expected, 5);
	ledger_add(ledger, rmw_pending, 5);
	ledger_book(ledger, row->how, 1);
	ledger_book(ledger, row->how, 2);
	ledger_book(ledger, row->how, 0);
	for (i = 0; i < LEDGER_NR; i++) {
		u64 want = 0;

		if (i == LEDGER_rmw_expected)
			want = 5;
		else if (i == LEDGER_rmw_pending)
			want = 2;
		else if (i == row->sum || i == row->reason)
			want = 3;
		KUNIT_EXPECT_EQ_MSG(test, ledger_read(ledger, i), want, "%s",
				    ledger_name(i));
	}
}

static void book_table_is_whole(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(book_params), RMW_HOW_NR);
}

static void expect_balance(struct kunit *test, const struct ledger *ledger)
{
	KUNIT_ASSERT_EQ(test, ledger_read(ledger, LEDGER_rmw_expected),
			ledger_read(ledger, LEDGER_rmw_avoided) +
			ledger_read(ledger, LEDGER_rmw_host) +
			ledger_read(ledger, LEDGER_rmw_drive) +
			ledger_read(ledger, LEDGER_rmw_lost) +
			ledger_read(ledger, LEDGER_rmw_pending));
	KUNIT_ASSERT_EQ(test, ledger_read(ledger, LEDGER_rmw_avoided),
			ledger_read(ledger, LEDGER_rmw_avoided_merged) +
			ledger_read(ledger, LEDGER_rmw_avoided_complete) +
			ledger_read(ledger, LEDGER_rmw_avoided_known) +
			ledger_read(ledger, LEDGER_rmw_avoided_superseded));
	KUNIT_ASSERT_EQ(test, ledger_read(ledger, LEDGER_rmw_drive),
			ledger_read(ledger, LEDGER_rmw_drive_report) +
			ledger_read(ledger, LEDGER_rmw_drive_edge) +
			ledger_read(ledger, LEDGER_rmw_drive_no_memory) +
			ledger_read(ledger, LEDGER_rmw_drive_max_blocks) +
			ledger_read(ledger, LEDGER_rmw_drive_read_error) +
			ledger_read(ledger, LEDGER_rmw_drive_limits) +
			ledger_read(ledger, LEDGER_rmw_drive_atomic));
}

/* Touches that arrive and are resolved in any order balance at any moment. */
static void balances_at_every_moment(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	struct rnd_state rnd;
	u32 pending = 0;
	int i;

	prandom_seed_state(&rnd, 4096);
	for (i = 0; i < 5000; i++) {
		if (!pending || prandom_u32_state(&rnd) % 2) {
			u32 n = 1 + prandom_u32_state(&rnd) % ALIGN_MAX_TOUCHES;

			ledger_add(ledger, rmw_expected, n);
			ledger_add(ledger, rmw_pending, n);
			pending += n;
		} else {
			u32 n = 1 + prandom_u32_state(&rnd) % pending;

			ledger_book(ledger, prandom_u32_state(&rnd) %
				    RMW_HOW_NR, n);
			pending -= n;
		}
		expect_balance(test, ledger);
		KUNIT_ASSERT_EQ(test, pending,
				ledger_read(ledger, LEDGER_rmw_pending));
		if (i == 2500)
			reset(test, ledger);
	}
}

#define BOOKERS		4
#define BOOKER_TOUCHES	20000

/* One thread of several that fill the same ledger. */
struct booker {
	struct ledger *ledger;
	struct completion done;
};

static int booker_run(void *data)
{
	struct booker *booker = data;
	int i;

	for (i = 0; i < BOOKER_TOUCHES; i++) {
		ledger_inc(booker->ledger, rmw_expected);
		ledger_inc(booker->ledger, rmw_pending);
		ledger_book(booker->ledger, i % RMW_HOW_NR, 1);
		if (!(i % 1000))
			cond_resched();
	}
	complete(&booker->done);
	return 0;
}

/* Threads on any CPUs lose no touch. */
static void threads_lose_no_touch(struct kunit *test)
{
	struct ledger *ledger = test->priv;
	struct booker *bookers;
	unsigned int started;
	unsigned int i;

	bookers = kunit_kcalloc(test, BOOKERS, sizeof(*bookers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bookers);
	for (started = 0; started < BOOKERS; started++) {
		struct booker *booker = &bookers[started];
		struct task_struct *task;

		booker->ledger = ledger;
		init_completion(&booker->done);
		task = kthread_run(booker_run, booker, "align-booker");
		if (IS_ERR(task))
			break;
	}
	for (i = 0; i < started; i++)
		wait_for_completion(&bookers[i].done);

	KUNIT_ASSERT_EQ(test, started, BOOKERS);
	expect_balance(test, ledger);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_rmw_expected),
			BOOKERS * BOOKER_TOUCHES);
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_rmw_pending), 0);
	/* each thread books RMW_HOST, which is way 0, first and then in turn */
	KUNIT_EXPECT_EQ(test, ledger_read(ledger, LEDGER_rmw_host),
			BOOKERS * DIV_ROUND_UP(BOOKER_TOUCHES, RMW_HOW_NR));
}

static struct kunit_case ledger_cases[] = {
	KUNIT_CASE(names_stay_as_published),
	KUNIT_CASE(only_levels_are_gauges),
	KUNIT_CASE(starts_at_zero),
	KUNIT_CASE(a_cpu_gets_its_share_when_it_counts),
	KUNIT_CASE(counts_without_a_share),
	KUNIT_CASE(counts_each_name_apart),
	KUNIT_CASE(adds_64_bits),
	KUNIT_CASE(sums_over_cpus),
	KUNIT_CASE(gauge_falls_on_another_cpu),
	KUNIT_CASE(gauge_is_never_below_zero),
	KUNIT_CASE(reset_stores_baseline),
	KUNIT_CASE_PARAM(prints_histogram, histogram_gen_params),
	KUNIT_CASE_PARAM(prints_full_histogram_in_a_page, histogram_gen_params),
	KUNIT_CASE_PARAM(prints_no_more_than_fits, histogram_gen_params),
	KUNIT_CASE_PARAM(books_in_the_right_counters, book_gen_params),
	KUNIT_CASE(book_table_is_whole),
	KUNIT_CASE(balances_at_every_moment),
	KUNIT_CASE(threads_lose_no_touch),
	{}
};

static struct kunit_suite ledger_suite = {
	.name = "dm-align-ledger",
	.init = ledger_suite_init,
	.exit = ledger_suite_exit,
	.test_cases = ledger_cases,
};

kunit_test_suite(ledger_suite);

MODULE_DESCRIPTION("KUnit tests for dm-align's ledger");
MODULE_LICENSE("GPL");
