// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "ledger/ledger.h"
#include "sysfs/sysfs.h"
#include "tests/tap.h"
#include "tests/tree.h"

#define DIR	"/sys/class/block/dm-0"

/* Zeroes but for one bin. */
static void histogram(const char *name, unsigned int bins, unsigned int bin,
		      uint64_t value)
{
	CLEANUP_FREE char *path = message_format("%s/align/%s_histogram", DIR,
						 name);
	char text[ALIGN_PHASE_BINS * 22] = "";
	unsigned int i;

	for (i = 0; i < bins; i++)
		sprintf(text + strlen(text), "%s%" PRIu64, i ? " " : "",
			i == bin ? value : 0);
	strcat(text, "\n");
	tree_file(path, text);
}

static void counter(const char *name, uint64_t value)
{
	CLEANUP_FREE char *path = message_format("%s/align/%s", DIR, name);
	CLEANUP_FREE char *text = message_format("%" PRIu64 "\n", value);

	tree_file(path, text);
}

/* Counter number i reads 1000 + i, its baseline 10 * i. */
static void make_ledger(void)
{
	unsigned int i;

	tree_open();
	tree_device("virtual/block", "dm-0", "253:0", 0);
	tree_device("pci", "sda", "8:0", 0);
	tree_file(DIR "/queue/logical_block_size", "512\n");
	counter("epoch", 2);
	counter("suggested_physical_block_size", 16384);
	counter("held_oldest_ms", 1500);
	for (i = 0; i < LEDGER_NR; i++) {
		CLEANUP_FREE char *base = message_format("baseline_%s",
							 ledger_rows[i].name);

		counter(ledger_rows[i].name, 1000 + i);
		if (!ledger_rows[i].gauge)
			counter(base, 10 * i);
	}
	for (i = 0; i < HISTOGRAM_NR; i++) {
		const struct ledger_histogram_row *row = &ledger_histograms[i];
		CLEANUP_FREE char *base = message_format("baseline_%s",
							 row->name);

		histogram(row->name, row->bins, 5, 50);
		histogram(base, row->bins, 5, 8);
	}
	counter("target0_physical_block_size", 4096);
	counter("target0_hold_ms", 250);
	counter("target0_max_blocks", 64);
	counter("target0_blocks", 3);
	counter("target0_memory_bytes", 13000);
	counter("target0_memory_high_water_bytes", 26000);
	tree_file(DIR "/align/target0_alignment_offset", "unknown\n");
	tree_file(DIR "/align/target0_mode", "report\n");
	tree_file(DIR "/align/target0_device", "8:0\n");
}

static void read_all(struct ledger *ledger)
{
	CLEANUP_FREE char *dir = sysfs_path(DIR);
	CLEANUP_FREE char *error = ledger_read(ledger, dir);

	CHECK(!error, "%s", error);
}

static void reading(void)
{
	uint64_t bins[LEDGER_MAX_BINS];
	struct ledger ledger = { 0 };
	unsigned int i;

	make_ledger();
	read_all(&ledger);
	CHECK(ledger.device.state.epoch == 2 && ledger.suggested == 16384, "epoch %" PRIu64,
	      ledger.device.state.epoch);
	CHECK(maybe_is(ledger.device.held_oldest_ms, 1500), "held for %" PRId64 " ms",
	      maybe_or(ledger.device.held_oldest_ms, -1));
	CHECK(ledger.device.state.held_blocks == 1000 + LEDGER_held_blocks &&
	      ledger.device.state.degraded == 1000 + LEDGER_degraded &&
	      maybe_is(ledger.device.state.held_bytes, 1000 + LEDGER_held_bytes),
	      "%" PRIu64 " blocks are held", ledger.device.state.held_blocks);
	for (i = 0; i < LEDGER_NR; i++) {
		uint64_t want = ledger_rows[i].gauge ? 1000 + i :
						       1000 + i - 10 * i;

		CHECK(ledger_value(&ledger, i) == want, "%s is %" PRIu64,
		      ledger_rows[i].name, ledger_value(&ledger, i));
	}
	for (i = 0; i < HISTOGRAM_NR; i++) {
		ledger_histogram(&ledger, i, bins);
		CHECK(bins[5] == 42 && !bins[4], "%s: %" PRIu64,
		      ledger_histograms[i].name, bins[5]);
	}
	CHECK(ledger.device.nr_targets == 1 &&
	      !strcmp(ledger.device.target[0].status.mode, "report") &&
	      !maybe_known(ledger.device.target[0].status.offset) &&
	      ledger.device.target[0].status.physical == 4096 &&
	      !strcmp(ledger.device.target[0].device, "sda"), "%zu targets",
	      ledger.device.nr_targets);
	CHECK(ledger.device.target[0].hold_ms == 250 &&
	      ledger.device.target[0].memory_high_water == 26000, "hold_ms %" PRId64,
	      ledger.device.target[0].hold_ms);
	ledger_free(&ledger);
	tree_close();
}

static void again(void)
{
	struct ledger ledger = { .device.name = strdup("align-sda") };

	make_ledger();
	read_all(&ledger);
	counter("writes", 5000);
	read_all(&ledger);
	CHECK(ledger.raw[LEDGER_writes] == 5000, "writes %" PRIu64,
	      ledger.raw[LEDGER_writes]);
	CHECK(ledger.device.nr_targets == 1, "%zu targets",
	      ledger.device.nr_targets);
	CHECK(ledger.device.name && !strcmp(ledger.device.name, "align-sda"),
	      "the name is lost");
	ledger_free(&ledger);
	tree_close();
}

static void missing(void)
{
	CLEANUP_FREE char *error = NULL;
	CLEANUP_FREE char *dir = NULL;
	struct ledger ledger = { 0 };

	make_ledger();
	dir = sysfs_path(DIR);
	tree_file(DIR "/align/baseline_size_histogram", "1 2 3\n");
	error = ledger_read(&ledger, dir);
	CHECK(error && strstr(error, "baseline_size_histogram"), "%s",
	      error ? error : "no error");
	ledger_free(&ledger);
	tree_close();
}

static void numbered(void)
{
	struct ledger ledger = { 0 };

	make_ledger();
	/* target 0 has its file; these are not the kernel's */
	tree_file(DIR "/align/target00_mode", "report\n");
	tree_file(DIR "/align/target4294967296_mode", "report\n");
	tree_file(DIR "/align/target_mode", "report\n");
	read_all(&ledger);
	CHECK(ledger.device.nr_targets == 1, "%zu targets", ledger.device.nr_targets);
	ledger_free(&ledger);
	tree_close();
}

static void balance(void)
{
	struct ledger ledger = { 0 };

	ledger.raw[LEDGER_rmw_expected] = 100;
	ledger.raw[LEDGER_rmw_avoided] = 40;
	ledger.raw[LEDGER_rmw_host] = 30;
	ledger.raw[LEDGER_rmw_drive] = 20;
	ledger.raw[LEDGER_rmw_lost] = 9;
	CHECK(!ledger_balanced(&ledger), "99 of 100");
	ledger.raw[LEDGER_rmw_pending] = 1;
	CHECK(ledger_balanced(&ledger), "100 of 100");
	/* one was pending at the reset: still balanced */
	ledger.baseline[LEDGER_rmw_expected] = 1;
	CHECK(ledger_balanced(&ledger), "after a reset");
}

static void amplification(void)
{
	struct ledger ledger = { 0 };

	CHECK(ledger_amplification_before(&ledger) == 0, "nothing written");
	ledger.raw[LEDGER_write_bytes] = 1024;
	ledger.baseline[LEDGER_write_bytes] = 512;
	ledger.raw[LEDGER_write_block_bytes] = 8192;
	ledger.baseline[LEDGER_write_block_bytes] = 4096;
	ledger.raw[LEDGER_sent_block_bytes] = 512;
	CHECK(ledger_amplification_before(&ledger) == 8, "before: %f",
	      ledger_amplification_before(&ledger));
	CHECK(ledger_amplification_after(&ledger) == 1, "after: %f",
	      ledger_amplification_after(&ledger));
}

static void intervals(void)
{
	struct ledger before = { 0 }, after = { 0 };
	uint64_t bins[LEDGER_MAX_BINS];

	make_ledger();
	read_all(&before);
	counter("writes", 5000);
	histogram("phase", ALIGN_PHASE_BINS, 5, 57);
	/* a reset in between must not show */
	counter("baseline_writes", 4000);
	read_all(&after);
	ledger_count_from(&after, &before);
	CHECK(ledger_value(&after, LEDGER_writes) ==
	      5000 - (1000 + LEDGER_writes), "writes %" PRIu64,
	      ledger_value(&after, LEDGER_writes));
	CHECK(ledger_value(&after, LEDGER_reads) == 0, "reads %" PRIu64,
	      ledger_value(&after, LEDGER_reads));
	ledger_histogram(&after, HISTOGRAM_PHASE, bins);
	CHECK(bins[5] == 7, "phase %" PRIu64, bins[5]);
	ledger_free(&before);
	ledger_free(&after);
	tree_close();
}

static void restarted(void)
{
	struct ledger before = { 0 }, after = { 0 };
	uint64_t bins[LEDGER_MAX_BINS];

	make_ledger();
	read_all(&before);
	/* one counter alone gives the other device away */
	counter("reads", 3);
	read_all(&after);
	ledger_count_from(&after, &before);
	CHECK(ledger_value(&after, LEDGER_reads) == 3 &&
	      ledger_value(&after, LEDGER_writes) == 1000 + LEDGER_writes,
	      "reads %" PRIu64, ledger_value(&after, LEDGER_reads));
	ledger_histogram(&after, HISTOGRAM_PHASE, bins);
	CHECK(bins[5] == 50, "phase %" PRIu64, bins[5]);
	CHECK(after.since_ns == before.read_ns, "not from the reading before");
	ledger_free(&before);
	ledger_free(&after);
	tree_close();
}

static void made_anew(void)
{
	struct ledger before = { 0 }, after = { 0 };
	uint64_t bins[LEDGER_MAX_BINS];

	make_ledger();
	read_all(&before);
	tree_close();
	make_ledger();
	counter("writes", 5000);
	read_all(&after);
	ledger_count_from(&after, &before);
	CHECK(ledger_value(&after, LEDGER_writes) == 5000, "writes %" PRIu64,
	      ledger_value(&after, LEDGER_writes));
	ledger_histogram(&after, HISTOGRAM_PHASE, bins);
	CHECK(bins[5] == 50, "phase %" PRIu64, bins[5]);
	ledger_free(&before);
	ledger_free(&after);
	tree_close();
}

static void other_bins(void)
{
	struct ledger before = { .raw[LEDGER_writes] = 10 };
	struct ledger after = { .raw[LEDGER_writes] = 20 };
	uint64_t bins[LEDGER_MAX_BINS];

	before.bins[HISTOGRAM_LATENCY_ALIGNED][3] = 10;
	after.bins[HISTOGRAM_LATENCY_ALIGNED][5] = 20;
	ledger_count_from(&after, &before);
	ledger_histogram(&after, HISTOGRAM_LATENCY_ALIGNED, bins);
	CHECK(!bins[3] && bins[5] == 20 &&
	      ledger_value(&after, LEDGER_writes) == 20, "%" PRIu64
	      " times in a bin that fell", bins[3]);
}

/* Answer the reader of a counter's file, and reset the counter before it goes on. */
static void reset_behind(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	counter("baseline_writes", 1009);
	_exit(fd < 0 || write(fd, "1005\n", 5) != 5);
}

static void reset_meanwhile(void)
{
	CLEANUP_FREE char *path = NULL;
	struct ledger ledger = { 0 };
	pid_t other;
	int status;

	make_ledger();
	counter("baseline_writes", 1000);
	path = sysfs_path(DIR "/align/writes");
	if (unlink(path) || mkfifo(path, 0600)) {
		CHECK(false, "no pipe");
		return;
	}
	other = fork();
	if (!other)
		reset_behind(path);
	read_all(&ledger);
	waitpid(other, &status, 0);
	CHECK(!status && ledger_value(&ledger, LEDGER_writes) == 5,
	      "writes %" PRIu64, ledger_value(&ledger, LEDGER_writes));
	ledger_free(&ledger);
	tree_close();
}

static void bounds(void)
{
	struct align_target target[2] = {
		{ .status.physical = 4096 }, { .status.physical = 65536 },
	};
	struct ledger ledger = { .device.logical = 512 };

	CHECK(ledger_bin_bound(&ledger, HISTOGRAM_PHASE, 5) == 2560, "phase");
	ledger.device.nr_targets = 2;
	ledger.device.target = target;
	CHECK(ledger_bin_bound(&ledger, HISTOGRAM_PHASE, 5) == 2560,
	      "phase of 64 KiB");
	target[1].status.physical = 262144;
	CHECK(ledger_bin_bound(&ledger, HISTOGRAM_PHASE, 5) == 5 * 2048,
	      "phase of 256 KiB");
	ledger.device.logical = 4096;
	CHECK(ledger_bin_bound(&ledger, HISTOGRAM_PHASE, 5) == 5 * 4096,
	      "phase of 256 KiB, 4096 addressable");
	target[1].status.physical = 1048576;
	CHECK(ledger_bin_bound(&ledger, HISTOGRAM_PHASE, 127) == 127 * 8192,
	      "phase of 1 MiB");
	CHECK(ledger_bin_bound(&ledger, HISTOGRAM_SIZE, 3) == 4096, "size");
	CHECK(ledger_bin_bound(&ledger, HISTOGRAM_LATENCY_ALIGNED, 4) == 1.28,
	      "latency");
	CHECK(ledger_bin_bound(&ledger, HISTOGRAM_HOLD_TIME, 4) == 1.28,
	      "hold time");
}

const struct tap_test ledger_tests[] = {
	{ "every counter and histogram is read, less its baseline", reading },
	{ "a second reading replaces the first one, of the same device", again },
	{ "a file that is missing or short is named", missing },
	{ "a target is there once, by the number that the kernel writes",
	  numbered },
	{ "the ledger balances when every touch has an outcome", balance },
	{ "write amplification is per byte written since the reset",
	  amplification },
	{ "an interval counts from the reading before, resets or not",
	  intervals },
	{ "counters that fall are another device's, and count from nothing",
	  restarted },
	{ "so are counters in another folder, which need not be lower",
	  made_anew },
	{ "so are counters of which only a bin of a histogram falls", other_bins },
	{ "a reset while a ledger is read makes no count below 0",
	  reset_meanwhile },
	{ "bins lie where kmod/geometry.h has them", bounds },
	{ 0 },
};
