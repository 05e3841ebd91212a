// SPDX-License-Identifier: GPL-2.0
/*
 * The files of /sys/block/dm-N/align: a whole ledger of zeroes, except for the
 * files in the input. An accepted ledger is also reported in each form.
 */
#include <ctype.h>
#include <dirent.h>

#include "base/decimal.h"
#include "ledger/ledger_bars.h"
#include "ledger/ledger_interval.h"
#include "ledger/ledger_metrics.h"
#include "ledger/ledger_report.h"
#include "fake_files.h"

/* Names of a count's file and of its file with the count at the last reset. */
struct names {
	char now[64], baseline[64];
};

static struct names counters[LEDGER_NR], histograms[HISTOGRAM_NR];

/* Text of each histogram, a zero for each bin. */
static char zeroes[HISTOGRAM_NR][2 * LEDGER_MAX_BINS];

static void name(struct names *names, const char *file, const char *suffix)
{
	snprintf(names->now, sizeof(names->now), "%s%s", file, suffix);
	snprintf(names->baseline, sizeof(names->baseline), "baseline_%s%s",
		 file, suffix);
}

static void make_names(void)
{
	unsigned int i, bin;

	for (i = 0; i < LEDGER_NR; i++)
		name(&counters[i], ledger_rows[i].name, "");
	for (i = 0; i < HISTOGRAM_NR; i++) {
		name(&histograms[i], ledger_histograms[i].name, "_histogram");
		for (bin = 0; bin < ledger_histograms[i].bins; bin++)
			memcpy(&zeroes[i][2 * bin], "0 ", 2);
		zeroes[i][2 * bin - 1] = '\0';
	}
}

/*
 * Return the text of a file that the input does not name; NULL: no such file.
 */
FUZZ_CHECKER
static const char *otherwise(const char *file)
{
	size_t length = strlen(file);
	unsigned int i;

	/* only the input has targets */
	if (!strncmp(file, "target", strlen("target")))
		return NULL;
	if (length < 10 || strcmp(file + length - 10, "_histogram"))
		return "0";
	for (i = 0; i < HISTOGRAM_NR; i++)
		if (!strcmp(file, histograms[i].now) ||
		    !strcmp(file, histograms[i].baseline))
			return zeroes[i];
	return NULL;
}

char *__wrap_sysfs_text(const char *dir, const char *file);

char *__wrap_sysfs_text(const char *dir, const char *file)
{
	const char *text = fake_file_named(file);

	(void)dir;
	if (!text)
		text = otherwise(file);
	return text ? strdup(text) : NULL;
}

bool __wrap_decimal_read(const char **at, uint64_t max, uint64_t *number);
bool __real_decimal_read(const char **at, uint64_t max, uint64_t *number);

/* Read a number; take the short way for the thousand bins of zero. */
FUZZ_CHECKER
bool __wrap_decimal_read(const char **at, uint64_t max, uint64_t *number)
{
	if ((*at)[0] != '0' || isdigit((unsigned char)(*at)[1]))
		return __real_decimal_read(at, max, number);
	*number = 0;
	++*at;
	return true;
}

int __wrap_scandir(const char *dir, struct dirent ***entries,
		   int (*filter)(const struct dirent *entry),
		   int (*compare)(const struct dirent **, const struct dirent **));

int __wrap_scandir(const char *dir, struct dirent ***entries,
		   int (*filter)(const struct dirent *entry),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	size_t i;

	(void)dir;
	(void)filter;
	(void)compare;
	*entries = calloc(nr_fake_files + 1, sizeof(**entries));
	FUZZ_CHECK(*entries);
	for (i = 0; i < nr_fake_files; i++) {
		(*entries)[i] = calloc(1, sizeof(struct dirent));
		FUZZ_CHECK((*entries)[i]);
		snprintf((*entries)[i]->d_name, sizeof((*entries)[i]->d_name),
			 "%s", fake_files[i].name);
	}
	return (int)nr_fake_files;
}

FUZZ_CHECKER
static void check_number(const char *file, uint64_t number)
{
	const char *text = fake_file_named(file);

	FUZZ_CHECK(text ? fuzz_is_number(text, strlen(text), number) : !number);
}

FUZZ_CHECKER
static void check_bins(const char *file, const uint64_t *bins, unsigned int nr)
{
	static const uint64_t none[LEDGER_MAX_BINS];
	const char *text = fake_file_named(file);
	unsigned int i;

	if (!text) {
		FUZZ_CHECK(!memcmp(bins, none, nr * sizeof(*bins)));
		return;
	}
	for (i = 0; i < nr; i++) {
		size_t length = strcspn(text, " ");

		FUZZ_CHECK(fuzz_is_number(text, length, bins[i]));
		text += length + (text[length] == ' ');
	}
	FUZZ_CHECK(!*text);
}

static void check(const struct ledger *ledger)
{
	unsigned int i;
	size_t k, other;

	check_number("epoch", ledger->device.state.epoch);
	check_number("suggested_physical_block_size", ledger->suggested);
	FUZZ_CHECK(maybe_above(ledger->device.held_oldest_ms, -1));
	check_number("held_oldest_ms",
		     (uint64_t)maybe_or(ledger->device.held_oldest_ms, 0));
	for (i = 0; i < LEDGER_NR; i++) {
		check_number(counters[i].now, ledger->raw[i]);
		if (!ledger_rows[i].gauge)
			check_number(counters[i].baseline,
				     ledger->baseline[i]);
	}
	for (i = 0; i < HISTOGRAM_NR; i++) {
		unsigned int nr = ledger_histograms[i].bins;

		check_bins(histograms[i].now, ledger->bins[i], nr);
		check_bins(histograms[i].baseline, ledger->baseline_bins[i],
			   nr);
	}
	FUZZ_CHECK(ledger->device.nr_targets <= nr_fake_files);
	for (k = 0; k < ledger->device.nr_targets; k++) {
		char file[64];

		/* the file has the target's own number, not one that wraps */
		snprintf(file, sizeof(file), "target%u_mode",
			 ledger->device.target[k].index);
		FUZZ_CHECK(fake_file_named(file));
		FUZZ_CHECK(ledger->device.target[k].device);
		for (other = 0; other < k; other++)
			FUZZ_CHECK(ledger->device.target[other].index !=
				   ledger->device.target[k].index);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger ledger = { 0 };
	struct fuzz_bytes bytes = { data, size };
	char *error;

	if (!*counters[0].now)
		make_names();
	fake_files_open(&bytes);
	ledger.device.name = strdup("fuzz");
	ledger.device.dm = strdup("dm-0");
	error = ledger_read(&ledger, "/sys/block/dm-0");
	/* a new device's ledger is read */
	FUZZ_CHECK(!error || nr_fake_files);
	if (!error) {
		check(&ledger);
		/* seldom, as it takes as long as ten readings */
		if (size % 64 == 0)
			ledger_report_text(&ledger, 1);
		if (size % 64 == 1)
			ledger_report_json(&ledger, 1, size & 16);
		if (size % 64 == 2)
			ledger_metrics_write(stdout, &ledger, 1, 0);
		if (size % 64 == 3)
			ledger_bars_text(&ledger, 1);
		if (size % 64 == 4)
			ledger_interval_text(&ledger, 1, true);
	}
	free(error);
	ledger_free(&ledger);
	fake_files_close();
	return 0;
}
