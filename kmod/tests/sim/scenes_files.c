// SPDX-License-Identifier: GPL-2.0
/*
 * Scenes of the files in sysfs: each is there, with the right content.
 */
#include "block_state.h"
#include "node.h"
#include "scenes.h"
#include "stage.h"
#include "sysfs_read.h"
#include "world.h"

#define SECTORS_OF_SMALL	64

static char text[PAGE_SIZE], earlier[PAGE_SIZE];

/* The rows of the ledger, which the ABI document names. */
static const struct {
	const char *name;
	bool is_gauge;
} rows[] = {
#define COUNTER	false
#define GAUGE	true
#define LEDGER_COUNTER(name, kind, unit, help) { #name, kind },
#include "ledger_table.h"
#undef LEDGER_COUNTER
#undef COUNTER
#undef GAUGE
};

/* In the order of enum ledger_histogram. */
static const char * const histograms[] = {
	"phase_histogram", "size_histogram", "latency_aligned_histogram",
	"latency_misaligned_histogram", "hold_time_histogram",
};

static const char * const target_files[] = {
	"physical_block_size", "alignment_offset", "mode", "max_blocks",
	"blocks", "memory_bytes", "device", "hold_ms",
	"memory_high_water_bytes", "holding",
};

/* Read a file of a device into the text. */
static ssize_t read_of(struct mapped_device *md, const char *prefix,
		       const char *name)
{
	char whole[64];

	scnprintf(whole, sizeof(whole), "%s%s", prefix, name);
	memset(text, 0, sizeof(text));
	return shim_file_read_named(dm_disk(md), whole, text);
}

static void must_say(const char *prefix, const char *name, const char *must)
{
	ssize_t ret = read_of(stage.md, prefix, name);

	if (ret < 0 || strcmp(text, must))
		machine_fail("scene %s: file %s%s says %ld, \"%s\", and must say \"%s\"",
			     stage.scene, prefix, name, (long)ret, text, must);
}

static void must_count(const char *prefix, const char *name, u64 must)
{
	char line[24];

	scnprintf(line, sizeof(line), "%llu\n", must);
	must_say(prefix, name, line);
}

/* Sum up the counts of a histogram. */
static u64 sum_of(const char *name)
{
	u64 sum = 0, count = 0;
	const char *at;

	MUST(read_of(stage.md, "", name) > 0, true);
	for (at = text; *at; at++) {
		if (*at >= '0' && *at <= '9') {
			count = 10 * count + *at - '0';
			continue;
		}
		sum += count;
		count = 0;
	}
	return sum;
}

static void must_count_rows(void)
{
	unsigned int i, gauges = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		must_count("", rows[i].name, ledger_read(stage.at->ledger, i));
		gauges += rows[i].is_gauge;
		if (rows[i].is_gauge)
			MUST(read_of(stage.md, "baseline_", rows[i].name),
			     (u64)-ENXIO);
		else
			must_count("baseline_", rows[i].name,
				   ledger_read_baseline(stage.at->ledger, i));
	}
	MUST(shim_nr_files(dm_disk(stage.md)),
	     2 * ARRAY_SIZE(rows) - gauges + 2 * ARRAY_SIZE(histograms) + 3 +
	     ARRAY_SIZE(target_files));
}

/* The baseline of a histogram is the histogram at the reset. */
static void must_keep_baselines(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(histograms); i++)
		MUST(sum_of(histograms[i]) > 0, true);
	for (i = 0; i < ARRAY_SIZE(histograms); i++) {
		char name[64];

		scnprintf(name, sizeof(name), "baseline_%s", histograms[i]);
		MUST(sum_of(name), 0);
	}
	MUST(read_of(stage.md, "", "size_histogram") > 0, true);
	memcpy(earlier, text, sizeof(text));
	MUST(stage_message("reset_stats", NULL), 0);
	act_write(stage_at(30), stage.block);
	MUST(sum_of("size_histogram"), COUNT(writes));
	must_say("", "baseline_size_histogram", earlier);
}

/* Check the files of a device of one target, and those of its target. */
static void must_tell_target(void)
{
	char device[24];

	must_count("target0_", "physical_block_size", stage.plan->physical);
	must_count("target0_", "alignment_offset",
		   stage.at->geometry.offset);
	must_say("target0_", "mode", "coalesce\n");
	must_count("target0_", "max_blocks", 64);
	must_count("target0_", "hold_ms", 400);
	must_say("target0_", "holding", "1\n");
	scnprintf(device, sizeof(device), "%u:%u\n", MAJOR(stage.drive->dev),
		  MINOR(stage.drive->dev));
	must_say("target0_", "device", device);
}

/* Make a device of @nr small targets, or give it their table. */
static void load_small(struct mapped_device *md, unsigned int nr)
{
	char *first[] = { "drive", "0", "2", "mode", "report" };
	char *second[] = { "drive", "64", "2", "mode", "report" };
	struct shim_target targets[] = {
		{ .sectors = SECTORS_OF_SMALL, .argc = 5, .argv = first },
		{ .sectors = SECTORS_OF_SMALL, .argc = 5, .argv = second },
	};
	char *error = NULL;

	MUST(shim_md_load_targets(md, targets, nr, &error), 0);
}

/* The measurement for attestation has the offset once. */
static void must_attest_unknown(struct dm_target *ti)
{
	ti->type->status(ti, STATUSTYPE_IMA, 0, text, sizeof(text));
	if (!strstr(text, ",alignment_offset=unknown,max_blocks="))
		machine_fail("scene %s: the target is measured as \"%s\"",
			     stage.scene, text);
}

/* The files of a target that the live table lacks have nothing to say. */
static void targets_that_go(void)
{
	struct mapped_device *md = shim_md_new("small", 4);
	struct queue_limits *limits = &stage.drive->queue->limits;
	bool flash = stage.drive->queue->flash;
	unsigned int io_min = limits->io_min;

	stage.drive->queue->flash = true;
	limits->io_min = 2 * stage.plan->physical;
	load_small(md, 2);
	stage.drive->queue->flash = flash;
	limits->io_min = io_min;
	MUST(shim_md_resume(md), 0);
	MUST(read_of(md, "target1_", "mode") > 0, true);
	MUST(strcmp(text, "report\n"), 0);
	MUST(read_of(md, "", "suggested_physical_block_size") > 0, true);
	scnprintf(earlier, sizeof(earlier), "%u\n", 2 * stage.plan->physical);
	MUST(strcmp(text, earlier), 0);
	limits->flags |= BLK_FLAG_MISALIGNED;
	load_small(md, 1);
	limits->flags &= ~BLK_FLAG_MISALIGNED;
	MUST(shim_md_suspend(md), 0);
	MUST(shim_md_resume(md), 0);
	MUST(read_of(md, "target1_", "mode"), (u64)-ENODEV);
	MUST(read_of(md, "target0_", "alignment_offset") > 0, true);
	MUST(strcmp(text, "unknown\n"), 0);
	must_attest_unknown(shim_md_target(md));
	MUST(read_of(md, "", "suggested_physical_block_size") > 0, true);
	MUST(strcmp(text, "0\n"), 0);
	shim_md_remove(md);
}

/* A device has the files of a target before the table with that target is live. */
static void targets_that_come(void)
{
	struct mapped_device *md = shim_md_new("small", 4);

	load_small(md, 1);
	MUST(shim_md_resume(md), 0);
	MUST(read_of(md, "target1_", "mode"), (u64)-ENXIO);
	load_small(md, 2);
	MUST(read_of(md, "target1_", "mode"), (u64)-ENODEV);
	shim_md_remove(md);
}

void scene_files(void)
{
	shim_files = true;
	stage_open(2, 400, 64);
	must_count("", "epoch", 1);
	must_count("", "suggested_physical_block_size", 0);
	must_count("", "held_oldest_ms", 0);
	must_tell_target();
	act_write(stage_at(4) + 1, 1);
	act_write(stage_at(20), stage.block);
	stage_rest_ms(5);
	must_count("", "held_oldest_ms", 6);
	must_count("target0_", "blocks", 1);
	must_count("target0_", "memory_bytes",
		   atomic64_read(&stage.at->engine.blocks.bytes));
	must_count("target0_", "memory_high_water_bytes",
		   atomic64_read(&stage.at->engine.blocks.bytes_high));
	must_count("", "held_blocks", 1);
	must_count_rows();
	stage_flush();
	must_count("", "held_oldest_ms", 0);
	must_keep_baselines();
	must_count_rows();
	stage_close();
	targets_that_come();
	targets_that_go();
	shim_files = false;
}

/* Load a table without the target. */
static void load_linear(void *md)
{
	char *argv[] = { "drive", "0" };
	const struct shim_target linear = {
		.sectors = SECTORS_OF_SMALL, .linear = true, .argc = 2, .argv = argv,
	};
	char *error = NULL;

	MUST(shim_md_load_targets(md, &linear, 1, &error), 0);
}

static bool answered;

static void load_next(void *md)
{
	load_small(md, 1);
	answered = true;
}

/*
 * A table replaces the only one of a device that has the target, whose files go with it,
 * while another with the target is loaded: it waits until the files are gone, and those of
 * other devices do not.
 */
void scene_next_files(void)
{
	struct mapped_device *md = shim_md_new("small", 4);
	struct mapped_device *other = shim_md_new("other", 5);

	shim_files = true;
	load_linear(md);
	MUST(shim_md_resume(md), 0);
	load_small(md, 1);
	answered = false;
	shim_files_read(true);
	machine_start(CONTEXT_TASK, "linear", load_linear, md);
	stage_rest_us(AT_ONCE_US);
	machine_start(CONTEXT_TASK, "next", load_next, md);
	stage_rest_us(AT_ONCE_US);
	MUST(answered, false);
	load_small(other, 1);
	shim_files_read(false);
	stage_rest_us(AT_ONCE_US);
	MUST(answered, true);
	MUST(read_of(md, "target0_", "mode"), (u64)-ENODEV);
	must_log_nothing();
	shim_md_remove(other);
	shim_md_remove(md);
	shim_files = false;
}

/* Resume a device whose @nth allocation for it fails; return how many there were. */
static unsigned int resume_without(unsigned int nth)
{
	struct mapped_device *md = shim_md_new("small", 4);
	unsigned int nr;

	/* As of a new device, the files are made when it is resumed. */
	load_small(md, 1);
	shim_files = true;
	stage_refuse(nth);
	MUST(shim_md_resume(md), 0);
	nr = shim_nr_allocations;
	if (stage_has_refused())
		must_log("cannot create all sysfs files: error -12");
	must_log_nothing();
	shim_md_remove(md);
	shim_files = false;
	return nr;
}

/* Without memory for a file the device works, and the log says that files lack. */
void scene_lost_files(void)
{
	unsigned int of_target = ARRAY_SIZE(target_files) + 1, all, nth;

	stage_open(0, 400, 64);
	all = resume_without(~0U);
	MUST_LIE(all, of_target, 400);
	/* The device's table of files, and a name in it. */
	resume_without(1);
	resume_without(2);
	/* The device's attributes; the target's table of files, and their names. */
	for (nth = all - of_target; nth <= all; nth++)
		resume_without(nth);
	stage_close();
}
