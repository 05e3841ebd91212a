// SPDX-License-Identifier: GPL-2.0
/*
 * The files of /sys/block/dm-N/align: a whole ledger of zeroes, but for those
 * that the input names. What is accepted is also reported, in both forms.
 */
#include <dirent.h>

#include "fake_files.h"
#include "ledger_report.h"

/* Of any histogram: zeroes, as many as it has bins. */
static const char *zeroes(const char *file)
{
	static char text[HISTOGRAM_NR][2 * LEDGER_MAX_BINS];
	unsigned int i, bin;

	if (!strncmp(file, "baseline_", 9))
		file += 9;
	for (i = 0; i < HISTOGRAM_NR; i++) {
		const struct ledger_histogram_row *row = &ledger_histograms[i];

		if (strncmp(file, row->name, strlen(row->name)) ||
		    strcmp(file + strlen(row->name), "_histogram"))
			continue;
		for (bin = 0; bin < row->bins; bin++)
			memcpy(&text[i][2 * bin], "0 ", 2);
		text[i][2 * row->bins - 1] = '\0';
		return text[i];
	}
	return "0";
}

static const char *text_of(const char *file)
{
	char path[256];
	const char *text;

	snprintf(path, sizeof(path), "/%s", file);
	text = fake_file(path);
	/* of targets there are only those that the input names */
	if (!text && strncmp(file, "target", strlen("target")))
		text = zeroes(file);
	return text;
}

char *__wrap_sysfs_text(const char *dir, const char *file);

char *__wrap_sysfs_text(const char *dir, const char *file)
{
	const char *text = text_of(file);

	(void)dir;
	return text ? strdup(text) : NULL;
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

static void check_number(const char *prefix, const char *name, uint64_t number)
{
	char file[128];
	const char *text;

	snprintf(file, sizeof(file), "%s%s", prefix, name);
	text = text_of(file);
	FUZZ_CHECK(fuzz_is_number(text, strlen(text), number));
}

static void check_bins(const char *prefix, const char *name,
		       const uint64_t *bins, unsigned int nr)
{
	char file[128];
	const char *text;
	unsigned int i;

	snprintf(file, sizeof(file), "%s%s_histogram", prefix, name);
	text = text_of(file);
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

	check_number("", "epoch", ledger->epoch);
	check_number("", "suggested_physical_block_size", ledger->suggested);
	for (i = 0; i < LEDGER_NR; i++) {
		check_number("", ledger_rows[i].name, ledger->raw[i]);
		if (!ledger_rows[i].gauge)
			check_number("baseline_", ledger_rows[i].name,
				     ledger->baseline[i]);
	}
	for (i = 0; i < HISTOGRAM_NR; i++) {
		const struct ledger_histogram_row *row = &ledger_histograms[i];

		check_bins("", row->name, ledger->bins[i], row->bins);
		check_bins("baseline_", row->name, ledger->baseline_bins[i],
			   row->bins);
	}
	FUZZ_CHECK(ledger->nr_targets <= nr_fake_files);
	for (k = 0; k < ledger->nr_targets; k++) {
		char file[64];

		/* named by the number that it has, not by one that wraps to it */
		snprintf(file, sizeof(file), "/target%u_mode",
			 ledger->target[k].index);
		FUZZ_CHECK(fake_file(file));
		FUZZ_CHECK(ledger->target[k].device);
		for (other = 0; other < k; other++)
			FUZZ_CHECK(ledger->target[other].index !=
				   ledger->target[k].index);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[] = "fuzz", dm[] = "dm-0", dir[] = "/sys/block/dm-0";
	struct ledger_device device = { name, dm, dir, 0, { 0 } };
	struct fuzz_bytes bytes = { data, size };
	char *error;

	fake_files_open(&bytes);
	error = ledger_read(&device.ledger, dir);
	/* what the kernel says of a new device is understood */
	FUZZ_CHECK(!error || nr_fake_files);
	if (!error) {
		check(&device.ledger);
		/* which takes as long as ten readings */
		if (size % 8 == 0)
			ledger_report_text(&device, 1);
		if (size % 8 == 1)
			ledger_report_json(&device, 1, size & 16);
	}
	free(error);
	ledger_free(&device.ledger);
	fake_files_close();
	return 0;
}
