// SPDX-License-Identifier: GPL-2.0
/* What the documents of probe hold, which align_reports makes in Python. */
#include "replay/report.h"
#include "verbs/report_schemas.h"

static const struct schema_row estimate_rows[] = {
	MEMBER("value", JSON_REAL, NULL, NULL),
	MEMBER("low", JSON_REAL, NULL, "The 95 % interval"),
	MEMBER("high", JSON_REAL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row head_rows[] = {
	MEMBER("device", JSON_TEXT | JSON_NULL, NULL, "null with samples"),
	MEMBER("samples", JSON_TEXT | JSON_NULL, NULL, "The file, or null"),
	MEMBER("machine", JSON_OBJECT, NULL,
	       NULL, .rows = report_machine_rows, .name = "machine"),
	MEMBER("device_facts", JSON_OBJECT | JSON_NULL, NULL,
	       "As of a replay; null with samples",
	       .rows = replay_facts_members,
	       .name = "device_facts"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL, NULL),
	{ 0 },
};

static const struct schema_row kept_rows[] = {
	MEMBER("kept", JSON_TEXT | JSON_NULL, NULL,
	       "Path of the file that keeps what was found, or null"),
	MEMBER("not_kept", JSON_TEXT | JSON_NULL, NULL, "Why not, or null"),
	{ 0 },
};

static const struct schema_row study_rows[] = {
	MEMBER("seek_us", JSON_REAL, NULL, NULL),
	MEMBER("revolution_us", JSON_REAL, NULL, NULL),
	MEMBER("rpm", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row told_rows[] = {
	MEMBER("rotates", JSON_BOOL | JSON_NULL, NULL,
	       "null if that is not sure"),
	MEMBER("rpm", JSON_OBJECT | JSON_NULL, NULL,
	       "null where there is none",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("revolution_us", JSON_OBJECT | JSON_NULL, NULL,
	       NULL, .rows = estimate_rows, .name = "estimate"),
	MEMBER("seek_us", JSON_OBJECT | JSON_NULL, NULL,
	       NULL, .rows = estimate_rows, .name = "estimate"),
	MEMBER("study", JSON_OBJECT | JSON_NULL, NULL,
	       "The study's figures, of the same times; null where there are none, as from rnddeltaread",
	       .rows = study_rows),
	MEMBER("cannot_tell", JSON_ARRAY | JSON_TEXT, NULL, "The reasons"),
	MEMBERS_OF(kept_rows),
	{ 0 },
};

static const struct schema_row tried_rows[] = {
	MEMBER("c_bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("reads", JSON_NUMBER, NULL, NULL),
	MEMBER("least_us", JSON_REAL, NULL, NULL),
	MEMBER("against", JSON_TEXT | JSON_NULL, NULL,
	       "Why not uniform, or null"),
	{ 0 },
};

static const struct schema_row delta_tenth_rows[] = {
	MEMBER("from_bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("to_bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("pairs", JSON_NUMBER, NULL, NULL),
	MEMBER("p10_us", JSON_REAL, NULL, NULL),
	MEMBER("p50_us", JSON_REAL, NULL, NULL),
	MEMBER("p90_us", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row pair_rows[] = {
	MEMBER("distance", JSON_NUMBER, NULL, NULL),
	MEMBER("us", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row place_rows[] = {
	MEMBER("offset", JSON_NUMBER, NULL, NULL),
	MEMBER("mb_per_s", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row sequential_tenth_rows[] = {
	MEMBER("from_bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("to_bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("probes", JSON_NUMBER, NULL, NULL),
	MEMBER("mb_per_s", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	{ 0 },
};

static const struct schema_row percentile_rows[] = {
	MEMBER("percent", JSON_REAL, NULL, NULL),
	MEMBER("us", JSON_REAL, NULL, NULL),
	MEMBER("low", JSON_REAL | JSON_NULL, NULL, NULL),
	MEMBER("high", JSON_REAL | JSON_NULL, NULL, NULL),
	{ 0 },
};

static const struct schema_row block_rows[] = {
	MEMBER("bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("offset", JSON_NUMBER, NULL,
	       "Within a block: byte x is a boundary if x - offset is a multiple of it"),
	MEMBER("confidence", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row says_rows[] = {
	MEMBER("size", JSON_NUMBER, NULL, NULL),
	MEMBER("logical", JSON_NUMBER, NULL, NULL),
	MEMBER("physical", JSON_NUMBER, NULL, NULL),
	MEMBER("offset", JSON_SIGNED, NULL, NULL),
	MEMBER("rotational", JSON_BOOL | JSON_NULL, NULL, NULL),
	MEMBER("write_cache", JSON_BOOL | JSON_NULL, NULL,
	       "null where it does not say"),
	{ 0 },
};

static const struct schema_row reads_rows[] = {
	MEMBER("bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("offset", JSON_NUMBER, NULL, NULL),
	{ 0 },
};

static const struct schema_row cache_rows[] = {
	MEMBER("is", JSON_TEXT | JSON_NULL, NULL,
	       NULL, SCHEMA_WORDS("on", "off")),
	MEMBER("why", JSON_TEXT | JSON_NULL, NULL, NULL),
	{ 0 },
};

static const struct schema_row times_rows[] = {
	MEMBER("requests", JSON_NUMBER, NULL, NULL),
	MEMBER("p10_us", JSON_REAL, NULL, NULL),
	MEMBER("p50_us", JSON_REAL, NULL, NULL),
	MEMBER("p90_us", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row kind_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, NULL),
	MEMBER("bytes", JSON_NUMBER, NULL, NULL),
	MEMBERS_OF(times_rows),
	MEMBER("slower_us", JSON_OBJECT | JSON_NULL, NULL,
	       "As penalty_us; null for those that the others are compared with",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("chance", JSON_REAL | JSON_NULL, NULL,
	       "Probability of such times if the requests are not slower; null as slower_us"),
	{ 0 },
};

static const struct schema_row scan_rows[] = {
	MEMBER("offset", JSON_NUMBER, NULL, NULL),
	MEMBERS_OF(times_rows),
	{ 0 },
};

static const struct schema_row best_rows[] = {
	MEMBER("depth", JSON_NUMBER, NULL, NULL),
	MEMBER("iops", JSON_REAL, NULL, NULL),
	MEMBER("p90_us", JSON_REAL, NULL, NULL),
	MEMBER("ratio_to_depth_1", JSON_REAL, NULL, NULL),
	MEMBER("sure", JSON_BOOL, NULL, "Whether ten deeper ones were tried"),
	{ 0 },
};

static const struct schema_row depth_rows[] = {
	MEMBER("depth", JSON_NUMBER, NULL, NULL),
	MEMBER("requests", JSON_NUMBER, NULL, NULL),
	MEMBER("iops", JSON_REAL, NULL, NULL),
	MEMBER("mean_us", JSON_REAL, NULL, NULL),
	MEMBER("p90_us", JSON_REAL, NULL, NULL),
	MEMBER("score", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row model_rows[] = {
	MEMBER("access_ms", JSON_REAL, NULL, NULL),
	MEMBER("mb_per_s", JSON_REAL, NULL, NULL),
	MEMBER("balanced_bytes", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row chunk_rows[] = {
	MEMBER("bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("requests", JSON_NUMBER, NULL, NULL),
	MEMBER("iops", JSON_REAL, NULL, NULL),
	MEMBER("mb_per_s", JSON_REAL, NULL, NULL),
	MEMBER("mean_us", JSON_REAL, NULL, NULL),
	MEMBER("p99_us", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row window_rows[] = {
	MEMBER("window", JSON_NUMBER, NULL, NULL),
	MEMBER("wall_s", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("ratio", JSON_OBJECT | JSON_NULL, NULL,
	       "To window 1", .rows = report_interval_rows, .name = "interval"),
	MEMBER("words", JSON_TEXT, NULL, NULL),
	{ 0 },
};

static const struct schema_row sorted_rows[] = {
	MEMBER("round", JSON_NUMBER, NULL, NULL),
	MEMBER("window", JSON_NUMBER, NULL, NULL),
	MEMBER("requests", JSON_NUMBER, NULL, NULL),
	MEMBER("wall_s", JSON_REAL, NULL, NULL),
	{ 0 },
};

static const struct schema_row fullstroke_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, NULL, SCHEMA_WORDS("fullstroke")),
	MEMBERS_OF(head_rows),
	MEMBERS_OF(told_rows),
	MEMBER("overhead_us", JSON_OBJECT | JSON_NULL, NULL,
	       "Of a read, neither seek nor rotation, and subtracted from seek_us; or null",
	       .rows = estimate_rows, .name = "estimate"),
	{ 0 },
};

static const struct schema_document fullstroke_document = {
	"probe fullstroke", MANY_RUNS_FORMAT, NULL, fullstroke_document_rows,
};

static const struct schema_row tracktotrack_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, NULL, SCHEMA_WORDS("tracktotrack")),
	MEMBERS_OF(head_rows),
	MEMBERS_OF(told_rows),
	MEMBER("c_bytes", JSON_NUMBER | JSON_NULL, NULL, "C of the figures"),
	MEMBER("overhead_us", JSON_OBJECT | JSON_NULL, NULL,
	       "Of a read, neither seek nor rotation, and subtracted from seek_us; or null",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("tried", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Each C", .rows = tried_rows),
	{ 0 },
};

static const struct schema_document tracktotrack_document = {
	"probe tracktotrack", MANY_RUNS_FORMAT,
	NULL,
	tracktotrack_document_rows,
};

static const struct schema_row rotation_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, NULL, SCHEMA_WORDS("rotation")),
	MEMBERS_OF(head_rows),
	MEMBERS_OF(told_rows),
	{ 0 },
};

static const struct schema_document rotation_document = {
	"probe rotation", MANY_RUNS_FORMAT, NULL, rotation_document_rows,
};

static const struct schema_row rnddeltaread_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, NULL, SCHEMA_WORDS("rnddeltaread")),
	MEMBERS_OF(head_rows),
	MEMBERS_OF(told_rows),
	MEMBER("tenths", JSON_ARRAY | JSON_OBJECT, NULL,
	       "By distance", .rows = delta_tenth_rows),
	MEMBER("pairs", JSON_ARRAY | JSON_OBJECT, NULL,
	       "All pairs", .rows = pair_rows),
	{ 0 },
};

static const struct schema_document rnddeltaread_document = {
	"probe rnddeltaread", MANY_RUNS_FORMAT,
	NULL,
	rnddeltaread_document_rows,
};

static const struct schema_row sequential_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       NULL, SCHEMA_WORDS("seqread", "seqwrite")),
	MEMBERS_OF(head_rows),
	MEMBER("mb_per_s", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("slowest", JSON_OBJECT, NULL,
	       NULL, .rows = place_rows, .name = "place"),
	MEMBER("fastest", JSON_OBJECT, NULL,
	       NULL, .rows = place_rows, .name = "place"),
	MEMBER("tenths", JSON_ARRAY | JSON_OBJECT, NULL,
	       "By position", .rows = sequential_tenth_rows),
	MEMBER("each", JSON_ARRAY | JSON_OBJECT, NULL,
	       "All probes", .rows = place_rows, .name = "place"),
	{ 0 },
};

static const struct schema_document sequential_document = {
	"probe seqread, probe seqwrite", MANY_RUNS_FORMAT,
	NULL,
	sequential_document_rows,
};

static const struct schema_row random_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       NULL, SCHEMA_WORDS("rndread", "rndwrite")),
	MEMBERS_OF(head_rows),
	MEMBER("requests", JSON_NUMBER, NULL, NULL),
	MEMBER("mean_us", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("iops", JSON_OBJECT, NULL,
	       NULL, .rows = report_interval_rows, .name = "interval"),
	MEMBER("sd_us", JSON_REAL | JSON_NULL, NULL, NULL),
	MEMBER("percentiles", JSON_ARRAY | JSON_OBJECT, NULL,
	       NULL, .rows = percentile_rows),
	{ 0 },
};

static const struct schema_document random_document = {
	"probe rndread, probe rndwrite", MANY_RUNS_FORMAT,
	NULL,
	random_document_rows,
};

static const struct schema_row block_size_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, NULL, SCHEMA_WORDS("block-size")),
	MEMBERS_OF(head_rows),
	MEMBER("block", JSON_OBJECT | JSON_NULL, NULL,
	       "null: cannot tell", .rows = block_rows),
	MEMBER("why", JSON_TEXT | JSON_NULL, NULL,
	       "It cannot tell that, or the penalty (null if it can)"),
	MEMBER("says", JSON_OBJECT, NULL,
	       "What the drive says of itself", .rows = says_rows),
	MEMBER("contradicts", JSON_BOOL | JSON_NULL, NULL,
	       "Whether the block is another one; null: cannot tell"),
	MEMBER("penalty_us", JSON_OBJECT | JSON_NULL, NULL,
	       "What a part of a block takes longer, with its 95 % interval; or null",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("reads", JSON_OBJECT | JSON_NULL, NULL,
	       "What an SSD reads at once; null where that does not show",
	       .rows = reads_rows),
	MEMBER("write_cache", JSON_OBJECT, NULL,
	       "What was found of it", .rows = cache_rows),
	MEMBER("by", JSON_TEXT | JSON_NULL, NULL, "Which requests decided"),
	MEMBER("requests", JSON_NUMBER, NULL, NULL),
	MEMBER("seconds", JSON_REAL, NULL, NULL),
	MEMBER("kinds", JSON_ARRAY | JSON_OBJECT, NULL,
	       "What the block was tried with", .rows = kind_rows),
	MEMBER("scan", JSON_ARRAY | JSON_OBJECT, NULL,
	       "All offsets", .rows = scan_rows),
	MEMBERS_OF(kept_rows),
	{ 0 },
};

static const struct schema_document block_size_document = {
	"probe block-size", MANY_RUNS_FORMAT, NULL, block_size_document_rows,
};

static const struct schema_row depth_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       NULL, SCHEMA_WORDS("cncread", "cncwrite")),
	MEMBERS_OF(head_rows),
	MEMBER("best", JSON_OBJECT, NULL, NULL, .rows = best_rows),
	MEMBER("probes", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Each depth", .rows = depth_rows),
	{ 0 },
};

static const struct schema_document depth_document = {
	"probe cncread, probe cncwrite", MANY_RUNS_FORMAT,
	NULL,
	depth_document_rows,
};

static const struct schema_row chunk_size_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       NULL, SCHEMA_WORDS("chunk-size", "chunk-size-write")),
	MEMBERS_OF(head_rows),
	MEMBER("fastest_bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("nine_tenths_from_bytes", JSON_NUMBER, NULL, NULL),
	MEMBER("model", JSON_OBJECT | JSON_NULL, NULL,
	       "null where none fits", .rows = model_rows),
	MEMBER("chunks", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Each size", .rows = chunk_rows),
	{ 0 },
};

static const struct schema_document chunk_size_document = {
	"probe chunk-size, probe chunk-size-write", MANY_RUNS_FORMAT,
	NULL,
	chunk_size_document_rows,
};

static const struct schema_row sorted_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, NULL, SCHEMA_WORDS("sorted-reads")),
	MEMBERS_OF(head_rows),
	MEMBER("windows", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Each window", .rows = window_rows),
	MEMBER("runs", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Each run", .rows = sorted_rows),
	{ 0 },
};

static const struct schema_document sorted_document = {
	"probe sorted-reads", MANY_RUNS_FORMAT, NULL, sorted_document_rows,
};

static const struct schema_document dry_document = {
	"probe --dry-run", MANY_RUNS_FORMAT, NULL, report_dry_rows,
};

const struct schema_document *const probe_documents[] = {
	&fullstroke_document, &tracktotrack_document, &rotation_document,
	&rnddeltaread_document, &sequential_document, &random_document,
	&block_size_document, &depth_document, &chunk_size_document,
	&sorted_document, &dry_document, NULL,
};
