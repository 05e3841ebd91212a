// SPDX-License-Identifier: GPL-2.0
/* What the documents of verify hold, which align_reports makes in Python. */
#include "ledger/ledger_report.h"
#include "replay/report.h"
#include "verbs/report_schemas.h"

static const struct schema_row replay_rows[] = {
	MEMBER("format", JSON_NUMBER, NULL, "As of every document of replay"),
	MEMBERS_OF(replay_run_members),
	{ 0 },
};

static const struct schema_row verdict_rows[] = {
	MEMBER("device", JSON_TEXT, NULL,
	       "DEV of --on, as on the command line"),
	MEMBER("workload", JSON_TEXT, NULL, "Name of the workload"),
	MEMBER("mode", JSON_TEXT, NULL,
	       "How the device was used: raw, without the target, or through a mode of the target"),
	MEMBER("runs", JSON_NUMBER, NULL,
	       "Number of runs that the other members are of"),
	MEMBER("requests", JSON_NUMBER, NULL, "Requests of a run"),
	MEMBER("written", JSON_NUMBER, NULL,
	       "Writes of a run that the device gets; others than requests if buffered"),
	MEMBER("buffered", JSON_BOOL, NULL,
	       "Whether the requests go through the page cache"),
	MEMBER("touches", JSON_NUMBER, NULL, "Partial touches of these writes"),
	MEMBER("at_drive", JSON_NUMBER | JSON_NULL, NULL,
	       "Touches that reached the drive; null: mode raw, and the drive does not count"),
	MEMBER("drive_rmws", JSON_NUMBER | JSON_NULL, NULL,
	       "Read-modify-writes that the drive counted; null: it does not count"),
	MEMBER("host", JSON_NUMBER | JSON_NULL, NULL,
	       "Touches for which the target read a block, and touches that it resolved without a read; null in mode raw"),
	MEMBER("avoided", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("pad_reads", JSON_NUMBER | JSON_NULL, NULL,
	       "Reads that the target sent to complete blocks; null in mode raw"),
	MEMBER("mean_us", JSON_OBJECT, NULL,
	       "Mean service time of a run, over the runs",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("p99_us", JSON_OBJECT, NULL,
	       "99 % of the requests of a run took no longer; over the runs",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("seconds", JSON_OBJECT, NULL,
	       "Seconds until all writes were durable, with the flush at the end, over the runs",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("to_raw", JSON_OBJECT | JSON_NULL, NULL,
	       "The seconds as a multiple of those of the raw run of the same repetition; null: mode raw, or there is none",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("data_ok", JSON_BOOL, NULL,
	       "Whether all data was read back as written, through the target and from the device below"),
	MEMBER("words", JSON_TEXT, NULL, "The verdict, in words"),
	{ 0 },
};

static const struct schema_row run_rows[] = {
	MEMBER("profile", JSON_TEXT, NULL,
	       "DEV of --on, as on the command line"),
	MEMBER("workload", JSON_TEXT, NULL, "Name of the workload"),
	MEMBER("mode", JSON_TEXT, NULL,
	       "How the device was used: raw, without the target, or through a mode of the target"),
	MEMBER("count", JSON_NUMBER, NULL, "Repetitions inside the workload"),
	MEMBER("touches_expected", JSON_NUMBER, NULL,
	       "Partial touches of the workload"),
	MEMBER("replay", JSON_OBJECT, NULL,
	       "The JSON of that run", .rows = replay_rows, .name = "replay"),
	MEMBER("drive", JSON_MAP | JSON_ANY | JSON_NULL, NULL,
	       "Counts of the emulated drive in this run, by name; null without --drive-control"),
	MEMBER("ledger", JSON_MAP | JSON_NUMBER | JSON_NULLS | JSON_NULL, NULL,
	       "What the run added to the counters of the ledger, by name; null: mode raw"),
	MEMBER("repetition", JSON_NUMBER, NULL,
	       "Number of the repetition, from 1"),
	MEMBER("phases", JSON_ARRAY | JSON_ANY | JSON_NULL, NULL,
	       "Pairs of the first byte of misaligned writes in the physical block and their number; null: mode raw"),
	MEMBER("below", JSON_MAP | JSON_ANY | JSON_NULL, NULL,
	       "data_check of the replay once more, of the device itself after the target was removed; null: mode raw"),
	{ 0 },
};

static const struct schema_row verify_rows[] = {
	MEMBER("machine", JSON_MAP | JSON_ANY, NULL,
	       "How the runs were made: device, date, kernel and others, each a number or a text"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL,
	       "Why the runs ended early, in words; null if they did not"),
	MEMBER("findings", JSON_ARRAY | JSON_TEXT, NULL,
	       "What is wrong with the runs, as sentences; empty: nothing"),
	MEMBER("verdicts", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each workload and mode", .rows = verdict_rows),
	MEMBER("runs", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each run, in their order", .rows = run_rows),
	{ 0 },
};

static const struct schema_document verify_document = {
	"verify", 3,
	"Without --vs and --live. In 2, the replays of runs had latency_us; in 1, the numbers in machine were text.",
	verify_rows,
};

static const struct schema_row line_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, "Name of the quantity"),
	MEMBER("unit", JSON_TEXT, NULL, "Its unit"),
	MEMBER("on", JSON_OBJECT, NULL,
	       "The quantity on the device of --on, and on that of --vs",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("vs", JSON_OBJECT, NULL, AS_ABOVE, .rows = report_interval_rows,
	       .name = "interval"),
	MEMBER("ratio", JSON_OBJECT | JSON_NULL, NULL,
	       "The quantity on --on as a multiple of that on --vs; null if one of them was 0",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("words", JSON_TEXT, NULL, "The ratio in words"),
	{ 0 },
};

static const struct schema_row sample_rows[] = {
	MEMBER("repetition", JSON_NUMBER, NULL,
	       "Number of the repetition, from 1"),
	MEMBER("device", JSON_TEXT, NULL, "Path of the device"),
	MEMBER("replay", JSON_OBJECT, NULL,
	       "The JSON of that run", .rows = replay_rows, .name = "replay"),
	MEMBER("requests", JSON_ARRAY | JSON_NUMBER | JSON_NULL, NULL,
	       "Number of reads and of writes that the kernel counted at the device in this run; null: a file"),
	MEMBER("ledger", JSON_MAP | JSON_NUMBER | JSON_NULLS | JSON_NULL, NULL,
	       "What the run added to the counters of the ledger, by name; null: no align device"),
	MEMBER("drive", JSON_MAP | JSON_ANY | JSON_NULL, NULL,
	       "Counts of the emulated drive in this run, by name; null without --drive-control"),
	{ 0 },
};

static const struct schema_row vs_rows[] = {
	MEMBER("source", JSON_TEXT, NULL, "SOURCE, as on the command line"),
	MEMBER("on", JSON_TEXT, NULL, "Paths of the two devices"),
	MEMBER("vs", JSON_TEXT, NULL, AS_ABOVE),
	MEMBER("machine", JSON_OBJECT, NULL, "Where and when it was measured",
	       .rows = report_machine_rows, .name = "machine"),
	MEMBER("repetitions", JSON_NUMBER, NULL,
	       "Runs on each device that were asked for"),
	MEMBER("shared_disks", JSON_ARRAY | JSON_TEXT, NULL,
	       "Disks on which both devices lie, and may write to the same place"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL,
	       "Why the runs ended early, in words; null if they did not"),
	MEMBER("time", JSON_TEXT, NULL,
	       "What the latencies are: response with --timing open, else service",
	       SCHEMA_WORDS("response", "service")),
	MEMBER("figures", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each quantity", .rows = line_rows),
	MEMBER("verdict", JSON_TEXT, NULL, "The result as a sentence"),
	MEMBER("findings", JSON_ARRAY | JSON_TEXT, NULL,
	       "What is wrong with the runs, as sentences; empty: nothing"),
	MEMBER("runs", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each run, in their order", .rows = sample_rows),
	{ 0 },
};

static const struct schema_document vs_document = {
	"verify --vs", MANY_RUNS_FORMAT,
	"In 1, the replays had latency_us.",
	vs_rows,
};

static const struct schema_document vs_dry_document = {
	"verify --vs --dry-run", MANY_RUNS_FORMAT, NULL, report_dry_rows,
};

static const struct schema_row load_rows[] = {
	MEMBER("least", JSON_REAL, NULL,
	       "Least, greatest and median writes per second"),
	MEMBER("most", JSON_REAL, NULL, AS_ABOVE),
	MEMBER("median", JSON_REAL, NULL, AS_ABOVE),
	MEMBER("words", JSON_TEXT, NULL, "The load in words"),
	{ 0 },
};

static const struct schema_row figure_rows[] = {
	MEMBER("name", JSON_TEXT, NULL,
	       "The quantity: writes or touches (per second), at_drive or host (for each touch), rmws (for 1000 writes), misaligned_mean, misaligned_p99, aligned_mean or aligned_p99 (microseconds)"),
	MEMBER("unit", JSON_TEXT, NULL, "Its unit"),
	MEMBER("modes", JSON_MAP | JSON_OBJECT | JSON_NULLS, NULL,
	       "The quantity in each mode, over its periods; null for a mode without a value",
	       .rows = report_interval_rows, .name = "interval"),
	{ 0 },
};

static const struct schema_row change_rows[] = {
	MEMBER("mode", JSON_TEXT, NULL,
	       "The mode, and the first mode, with which it is compared"),
	MEMBER("beside", JSON_TEXT, NULL, AS_ABOVE),
	MEMBER("name", JSON_TEXT, NULL, "The quantity, as in figures"),
	MEMBER("kind", JSON_TEXT, NULL, "What is computed of the two",
	       SCHEMA_WORDS("difference", "ratio")),
	MEMBER("by", JSON_OBJECT | JSON_NULL, NULL,
	       "The difference, mode less first mode, or the ratio, mode by first mode, over pairs of periods; null if it cannot be computed",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("words", JSON_TEXT, NULL, "The same in words"),
	{ 0 },
};

static const struct schema_row period_rows[] = {
	MEMBER("number", JSON_NUMBER, NULL,
	       "Number of the period, and of its block of periods, from 1"),
	MEMBER("block", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("mode", JSON_TEXT, NULL, "Mode during the period"),
	MEMBER("began_s", JSON_REAL, NULL,
	       "Seconds from the start of the experiment to the period"),
	MEMBER("seconds", JSON_REAL, NULL, "Length of the period"),
	MEMBER("moved", JSON_NUMBER, NULL,
	       "By how much the touches that arrived in the period differ from those resolved in it"),
	MEMBER("counters", JSON_OBJECT, NULL,
	       "What each counter of the ledger rose by; gauges as with stats",
	       .rows = ledger_counter_members, .name = "counters"),
	MEMBER("writes", JSON_REAL | JSON_NULL, NULL,
	       "The quantities of figures, in their units; null where there is none"),
	MEMBER("touches", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("at_drive", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("host", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("rmws", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("misaligned_mean", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("misaligned_p99", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("aligned_mean", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("aligned_p99", JSON_REAL | JSON_NULL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row live_rows[] = {
	MEMBER("device", JSON_TEXT, NULL, "Name of the align device"),
	MEMBER("dm", JSON_TEXT, NULL, "The kernel's name for it"),
	MEMBER("mode_before", JSON_TEXT, NULL, "Mode before the experiment"),
	MEMBER("modes", JSON_ARRAY | JSON_TEXT, NULL,
	       "As asked for; the others are compared with the first one"),
	MEMBER("machine", JSON_OBJECT, NULL, "Where and when it was measured",
	       .rows = report_machine_rows, .name = "machine"),
	MEMBER("seed", JSON_NUMBER, NULL,
	       "What the order of the modes was computed from"),
	MEMBER("warmup_s", JSON_REAL, NULL,
	       "Seconds after each change of the mode that are in no period"),
	MEMBER("periods_planned", JSON_NUMBER, NULL,
	       "Number of periods that were planned"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL,
	       "Why the periods ended early, in words; null if they did not"),
	MEMBER("verdict", JSON_ARRAY | JSON_TEXT, NULL,
	       "The result as sentences"),
	MEMBER("findings", JSON_ARRAY | JSON_TEXT, NULL,
	       "What is wrong with the periods, as sentences; empty: nothing"),
	MEMBER("load", JSON_OBJECT | JSON_NULL, NULL,
	       "Writes per second in the periods; null: there was no period",
	       .rows = load_rows),
	MEMBER("figures", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each quantity", .rows = figure_rows),
	MEMBER("changes", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each mode but the first, and each quantity",
	       .rows = change_rows),
	MEMBER("periods", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each period, in their order", .rows = period_rows),
	{ 0 },
};

static const struct schema_document live_document = {
	"verify --live", 1, NULL, live_rows,
};

static const struct schema_document live_dry_document = {
	"verify --live --dry-run", 1, NULL, report_dry_rows,
};

const struct schema_document *const verify_documents[] = {
	&verify_document, &vs_document, &vs_dry_document, &live_document,
	&live_dry_document, NULL,
};
