// SPDX-License-Identifier: GPL-2.0
/*
 * Percentiles of a ledger's histograms, and the bars that stats --histograms
 * prints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/latency.h"
#include "base/message.h"
#include "ledger/ledger_bars.h"

#define BAR_WIDTH	40U	/* characters, of the largest bin */
#define TIME_BINS	4	/* to a bar: an octave */

static const char *const titles[HISTOGRAM_NR] = {
	[HISTOGRAM_PHASE] =
		"misaligned writes by first byte in the physical block",
	[HISTOGRAM_SIZE] = "writes by size, at least",
	[HISTOGRAM_LATENCY_ALIGNED] = "aligned writes by latency",
	[HISTOGRAM_LATENCY_MISALIGNED] = "misaligned writes by latency",
	[HISTOGRAM_HOLD_TIME] = "held blocks by time until written back",
};

/* A histogram with a bar for one bin, or for one octave of times. */
struct bars {
	const struct ledger *ledger;
	enum ledger_histogram histogram;
	unsigned int nr;
	uint64_t count[LEDGER_MAX_BINS];
	uint64_t all;
	uint64_t largest;
};

struct bar_row {
	const struct bars *bars;
	unsigned int bar;
};

enum bar_column { BAR_BIN, BAR_COUNT, BAR_SHARE, BAR_LINE };

static const struct table_column bar_columns[] = {
	[BAR_BIN] = { .heading = "BIN", .flags = TABLE_RIGHT },
	[BAR_COUNT] = { .heading = "COUNT", .flags = TABLE_RIGHT },
	[BAR_SHARE] = { .heading = "SHARE", .flags = TABLE_RIGHT,
			.unit = FIGURE_PER_CENT },
	[BAR_LINE] = { .heading = "BAR" },
};

/* Return the bound of a bar, for free(). */
static char *bar_bound(const struct bars *bars, unsigned int bar)
{
	const struct ledger *ledger = bars->ledger;
	enum ledger_histogram histogram = bars->histogram;
	unsigned int last = (bar + 1) * TIME_BINS - 1;

	if (!ledger_histograms[histogram].of_times)
		return message_format("%s", figure(FIGURE_LENGTH,
						   ledger_bin_bound(ledger,
								    histogram,
								    bar)).text);
	if (bar + 1 < bars->nr)
		return message_format("< %s", figure(FIGURE_US,
						     ledger_bin_bound(ledger,
								      histogram,
								      last)).text);
	/* the last bin has no end */
	return message_format(">= %s", figure(FIGURE_US,
					      ledger_bin_bound(ledger,
							       histogram,
							       last - TIME_BINS)).text);
}

struct table_value ledger_percentile(const uint64_t *bins,
				     unsigned int per_mille)
{
	struct table_value value;
	bool open;

	value = table_real(latency_histogram_percentile(bins, per_mille,
							&open));
	value.text = message_format("%s %s", open ? ">=" : "<",
				    figure(FIGURE_US, value.real).text);
	return value;
}

char *ledger_bar(double part, unsigned int width)
{
	unsigned int length = (unsigned int)(part * width);
	char *bar;

	if (!(part > 0))
		return message_format(" ");
	if (!length)
		length = 1;
	bar = memory_or_exit(malloc(length + 1));
	memset(bar, '#', length);
	bar[length] = '\0';
	return bar;
}

static struct table_value bar_value(const void *row, size_t column)
{
	const struct bar_row *r = row;
	const struct bars *bars = r->bars;
	uint64_t count = bars->count[r->bar];

	switch ((enum bar_column)column) {
	case BAR_BIN:
		return table_text_taken(bar_bound(bars, r->bar));
	case BAR_COUNT:
		return table_number(count);
	case BAR_SHARE:
		return table_real(100.0 * (double)count / (double)bars->all);
	case BAR_LINE:
		return table_text_taken(ledger_bar((double)count /
						   (double)bars->largest,
						   BAR_WIDTH));
	}
	return table_absent();
}

static const struct table_type bar_table = TABLE_TYPE(bar_columns, bar_value);

static void get_bars(struct bars *bars, const struct ledger *ledger,
		     enum ledger_histogram histogram)
{
	const struct ledger_histogram_row *row = &ledger_histograms[histogram];
	unsigned int each = row->of_times ? TIME_BINS : 1, i;
	uint64_t bins[LEDGER_MAX_BINS];

	memset(bars, 0, sizeof(*bars));
	bars->ledger = ledger;
	bars->histogram = histogram;
	bars->nr = row->bins / each;
	ledger_histogram(ledger, histogram, bins);
	for (i = 0; i < row->bins; i++) {
		bars->count[i / each] += bins[i];
		bars->all += bins[i];
	}
	for (i = 0; i < bars->nr; i++)
		if (bars->count[i] > bars->largest)
			bars->largest = bars->count[i];
}

/*
 * Print the bars from the first to the last that is not empty; of phases, whose
 * blocks may be shorter than the histogram, only those that are not empty.
 */
static void text_bars(const struct bars *bars)
{
	bool all = bars->histogram != HISTOGRAM_PHASE;
	struct table *table = table_new(&bar_table);
	struct bar_row row = { bars, 0 };
	unsigned int last = bars->nr - 1;

	while (!bars->count[row.bar])
		row.bar++;
	while (!bars->count[last])
		last--;
	for (; row.bar <= last; row.bar++)
		if (all || bars->count[row.bar])
			table_add(table, &row);
	printf("  %s:\n", titles[bars->histogram]);
	table_print(table, 2);
}

void ledger_bars_text(const struct ledger *ledgers, size_t nr)
{
	unsigned int histogram;
	struct bars bars;
	size_t i;

	for (i = 0; i < nr; i++) {
		CLEANUP_FREE char *name = message_visible(ledgers[i].device.name);

		printf("%s (%s)\n", name, ledgers[i].device.dm);
		for (histogram = 0; histogram < HISTOGRAM_NR; histogram++) {
			get_bars(&bars, &ledgers[i], histogram);
			if (bars.all)
				text_bars(&bars);
		}
	}
}
