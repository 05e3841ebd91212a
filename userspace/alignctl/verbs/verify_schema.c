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
	MEMBER("device", JSON_TEXT, NULL, NULL),
	MEMBER("workload", JSON_TEXT, NULL, NULL),
	MEMBER("mode", JSON_TEXT, NULL, NULL),
	MEMBER("runs", JSON_NUMBER, NULL, NULL),
	MEMBER("requests", JSON_NUMBER, NULL, NULL),
	MEMBER("written", JSON_NUMBER, NULL,
	       "Writes that the device gets, others than those issued if buffered"),
	MEMBER("buffered", JSON_BOOL, NULL, NULL),
	MEMBER("touches", JSON_NUMBER, NULL, NULL),
	MEMBER("at_drive", JSON_NUMBER | JSON_NULL, NULL,
	       "Touches that reached the drive"),
	MEMBER("drive_rmws", JSON_NUMBER | JSON_NULL, NULL,
	       "null: the drive does not count"),
	MEMBER("host", JSON_NUMBER | JSON_NULL, NULL,
	       "Touches that dm-align read for"),
	MEMBER("avoided", JSON_NUMBER | JSON_NULL, NULL, NULL),
	MEMBER("pad_reads", JSON_NUMBER | JSON_NULL, NULL, NULL),
	MEMBER("mean_us", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("p99_us", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("seconds", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("to_raw", JSON_OBJECT | JSON_NULL, NULL,
	       "The time relative to the raw run's, or null",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("data_ok", JSON_BOOL, NULL, NULL),
	MEMBER("words", JSON_TEXT, NULL, NULL),
	{ 0 },
};

static const struct schema_row run_rows[] = {
	MEMBER("profile", JSON_TEXT, NULL, NULL),
	MEMBER("workload", JSON_TEXT, NULL, NULL),
	MEMBER("mode", JSON_TEXT, NULL, NULL),
	MEMBER("count", JSON_NUMBER, NULL, NULL),
	MEMBER("touches_expected", JSON_NUMBER, NULL, NULL),
	MEMBER("replay", JSON_OBJECT, NULL,
	       "The JSON of that run", .rows = replay_rows, .name = "replay"),
	MEMBER("drive", JSON_MAP | JSON_ANY | JSON_NULL, NULL,
	       "The emulated drive's own counts, or null"),
	MEMBER("ledger", JSON_MAP | JSON_NUMBER | JSON_NULLS | JSON_NULL, NULL,
	       "What the run added to the ledger, or null"),
	MEMBER("repetition", JSON_NUMBER, NULL, NULL),
	MEMBER("phases", JSON_ARRAY | JSON_ANY | JSON_NULL, NULL,
	       "Pairs of the first byte of misaligned writes and their number, or null"),
	MEMBER("below", JSON_MAP | JSON_ANY | JSON_NULL, NULL,
	       "What was seen of the device below, or null"),
	{ 0 },
};

static const struct schema_row verify_rows[] = {
	MEMBER("machine", JSON_MAP | JSON_ANY, NULL,
	       "How it was measured, with repetitions, threads and access"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL,
	       "Why the runs ended early, or null"),
	MEMBER("findings", JSON_ARRAY | JSON_TEXT, NULL, "Sentences"),
	MEMBER("verdicts", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each workload and mode", .rows = verdict_rows),
	MEMBER("runs", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Each run", .rows = run_rows),
	{ 0 },
};

static const struct schema_document verify_document = {
	"verify", 3,
	"Without --vs and --live. In 2, the replays of runs had latency_us; in 1, the numbers in machine were text.",
	verify_rows,
};

static const struct schema_row line_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, NULL),
	MEMBER("unit", JSON_TEXT, NULL, NULL),
	MEMBER("on", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("vs", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("ratio", JSON_OBJECT | JSON_NULL, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("words", JSON_TEXT, NULL, NULL),
	{ 0 },
};

static const struct schema_row sample_rows[] = {
	MEMBER("repetition", JSON_NUMBER, NULL, NULL),
	MEMBER("device", JSON_TEXT, NULL, NULL),
	MEMBER("replay", JSON_OBJECT, NULL,
	       "The JSON of that run", .rows = replay_rows, .name = "replay"),
	MEMBER("requests", JSON_ARRAY | JSON_NUMBER | JSON_NULL, NULL,
	       "Reads and writes that the kernel counted at the device, or null"),
	MEMBER("ledger", JSON_MAP | JSON_NUMBER | JSON_NULLS | JSON_NULL, NULL,
	       "What the run added to the ledger, or null"),
	MEMBER("drive", JSON_MAP | JSON_ANY | JSON_NULL, NULL,
	       "The emulated drive's own counts, or null"),
	{ 0 },
};

static const struct schema_row vs_rows[] = {
	MEMBER("source", JSON_TEXT, NULL, NULL),
	MEMBER("on", JSON_TEXT, NULL, "The paths"),
	MEMBER("vs", JSON_TEXT, NULL, AS_ABOVE),
	MEMBER("machine", JSON_OBJECT, NULL,
	       NULL, .rows = report_machine_rows, .name = "machine"),
	MEMBER("repetitions", JSON_NUMBER, NULL, NULL),
	MEMBER("shared_disks", JSON_ARRAY | JSON_TEXT, NULL,
	       "On which both may write to the same place"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("time", JSON_TEXT, NULL,
	       "What the latencies are: response with --timing open, else service",
	       SCHEMA_WORDS("response", "service")),
	MEMBER("figures", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each quantity", .rows = line_rows),
	MEMBER("verdict", JSON_TEXT, NULL, "A sentence"),
	MEMBER("findings", JSON_ARRAY | JSON_TEXT, NULL, "Sentences"),
	MEMBER("runs", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Each run", .rows = sample_rows),
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
	MEMBER("least", JSON_REAL, NULL, NULL),
	MEMBER("most", JSON_REAL, NULL, NULL),
	MEMBER("median", JSON_REAL, NULL, NULL),
	MEMBER("words", JSON_TEXT, NULL, NULL),
	{ 0 },
};

static const struct schema_row figure_rows[] = {
	MEMBER("name", JSON_TEXT, NULL,
	       "The quantities are writes and touches (per second), at_drive and host (for each touch), rmws (for 1000 writes), and misaligned_mean, misaligned_p99, aligned_mean and aligned_p99 (microseconds)"),
	MEMBER("unit", JSON_TEXT, NULL, NULL),
	MEMBER("modes", JSON_MAP | JSON_OBJECT | JSON_NULLS, NULL,
	       "For each mode; null for a mode without any values",
	       .rows = report_interval_rows, .name = "interval"),
	{ 0 },
};

static const struct schema_row change_rows[] = {
	MEMBER("mode", JSON_TEXT, NULL, NULL),
	MEMBER("beside", JSON_TEXT, NULL, "The first mode"),
	MEMBER("name", JSON_TEXT, NULL, NULL),
	MEMBER("kind", JSON_TEXT, NULL,
	       NULL, SCHEMA_WORDS("difference", "ratio")),
	MEMBER("by", JSON_OBJECT | JSON_NULL, NULL,
	       "As in figures; null if it cannot be computed",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("words", JSON_TEXT, NULL, NULL),
	{ 0 },
};

static const struct schema_row period_rows[] = {
	MEMBER("number", JSON_NUMBER, NULL, NULL),
	MEMBER("block", JSON_NUMBER, NULL, NULL),
	MEMBER("mode", JSON_TEXT, NULL, NULL),
	MEMBER("began_s", JSON_REAL, NULL, "Since the start"),
	MEMBER("seconds", JSON_REAL, NULL, NULL),
	MEMBER("moved", JSON_SIGNED, NULL,
	       "Touches that arrived in it and were not resolved in it, or the reverse"),
	MEMBER("counters", JSON_OBJECT, NULL,
	       "What each counter of the ledger rose by; as with stats",
	       .rows = ledger_counter_members,
	       .name = "counters"),
	MEMBER("writes", JSON_REAL | JSON_NULL, NULL, "The quantities by name"),
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
	MEMBER("device", JSON_TEXT, NULL, "The align device"),
	MEMBER("dm", JSON_TEXT, NULL, "The kernel's name for it"),
	MEMBER("mode_before", JSON_TEXT, NULL,
	       "Its mode before the experiment"),
	MEMBER("modes", JSON_ARRAY | JSON_TEXT, NULL,
	       "As asked for; the first is the one that the others are compared with"),
	MEMBER("machine", JSON_OBJECT, NULL,
	       NULL, .rows = report_machine_rows, .name = "machine"),
	MEMBER("seed", JSON_NUMBER, NULL, "Of the order"),
	MEMBER("warmup_s", JSON_REAL, NULL, "Left out after each change"),
	MEMBER("periods_planned", JSON_NUMBER, NULL, "The number of periods"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL,
	       "Why the periods ended early, or null"),
	MEMBER("verdict", JSON_ARRAY | JSON_TEXT, NULL, "Sentences"),
	MEMBER("findings", JSON_ARRAY | JSON_TEXT, NULL, AS_ABOVE),
	MEMBER("load", JSON_OBJECT | JSON_NULL, NULL,
	       "Writes per second of the periods", .rows = load_rows),
	MEMBER("figures", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each quantity", .rows = figure_rows),
	MEMBER("changes", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each mode but the first, and each quantity",
	       .rows = change_rows),
	MEMBER("periods", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each period", .rows = period_rows),
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
