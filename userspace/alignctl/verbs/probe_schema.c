// SPDX-License-Identifier: GPL-2.0
/* What the documents of probe hold, which align_reports makes in Python. */
#include "replay/report.h"
#include "verbs/report_schemas.h"

static const struct schema_row estimate_rows[] = {
	MEMBER("value", JSON_REAL, NULL,
	       "The estimate, in the unit that the name of the object ends with; rpm is revolutions per minute"),
	MEMBER("low", JSON_REAL, NULL,
	       "Bounds of the interval that holds the truth in 95 % of all cases; of rpm, and of revolution_us where rpm is known, in 99 %"),
	MEMBER("high", JSON_REAL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row head_rows[] = {
	MEMBER("device", JSON_TEXT | JSON_NULL, NULL,
	       "DEV, as on the command line; null with --samples"),
	MEMBER("samples", JSON_TEXT | JSON_NULL, NULL,
	       "FILE of --samples, or null"),
	MEMBER("machine", JSON_OBJECT, NULL, "Where and when it was measured",
	       .rows = report_machine_rows, .name = "machine"),
	MEMBER("device_facts", JSON_OBJECT | JSON_NULL, NULL,
	       "As in the JSON of a replay; null with --samples",
	       .rows = replay_facts_members, .name = "device_facts"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL,
	       "Why the measurement ended early, in words; null if it did not"),
	{ 0 },
};

static const struct schema_row kept_rows[] = {
	MEMBER("kept", JSON_TEXT | JSON_NULL, NULL,
	       "Path of the file that keeps the result for check; null: not kept"),
	MEMBER("not_kept", JSON_TEXT | JSON_NULL, NULL,
	       "Why a result was not kept, in words; null if it was kept, or there is none"),
	{ 0 },
};

static const struct schema_row study_rows[] = {
	MEMBER("seek_us", JSON_REAL, NULL, "The study's seek, in microseconds"),
	MEMBER("revolution_us", JSON_REAL, NULL,
	       "The study's revolution, in microseconds"),
	MEMBER("rpm", JSON_REAL, NULL,
	       "The study's speed, in revolutions per minute"),
	{ 0 },
};

static const struct schema_row told_rows[] = {
	MEMBER("rotates", JSON_BOOL | JSON_NULL, NULL,
	       "Whether the drive rotates; null: not known"),
	MEMBER("rpm", JSON_OBJECT | JSON_NULL, NULL,
	       "Speed, in revolutions per minute; null: not known, or it does not rotate",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("revolution_us", JSON_OBJECT | JSON_NULL, NULL,
	       "Time of a revolution, and of the method's seek; null: not known",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("seek_us", JSON_OBJECT | JSON_NULL, NULL, AS_ABOVE,
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("study", JSON_OBJECT | JSON_NULL, NULL,
	       "The same figures by the study's formulas, from the same times; null where revolution_us is, and always from rnddeltaread",
	       .rows = study_rows),
	MEMBER("cannot_tell", JSON_ARRAY | JSON_TEXT, NULL,
	       "Why a speed or a seek is not known, as sentences; empty: both are known, or the drive does not rotate"),
	MEMBERS_OF(kept_rows),
	{ 0 },
};

static const struct schema_row tried_rows[] = {
	MEMBER("c_bytes", JSON_NUMBER, NULL, "The C that was tried"),
	MEMBER("reads", JSON_NUMBER, NULL, "Number of reads"),
	MEMBER("least_us", JSON_REAL, NULL, "Shortest time of a read"),
	MEMBER("against", JSON_TEXT | JSON_NULL, NULL,
	       "Why the times are not uniform, in words; null: they are"),
	{ 0 },
};

static const struct schema_row delta_tenth_rows[] = {
	MEMBER("from_bytes", JSON_NUMBER, NULL,
	       "Shortest and longest distance of the tenth"),
	MEMBER("to_bytes", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("pairs", JSON_NUMBER, NULL, "Number of pairs"),
	MEMBER("p10_us", JSON_REAL, NULL,
	       "Percentiles of the times: 10, 50 and 90 %"),
	MEMBER("p50_us", JSON_REAL, NULL, AS_ABOVE),
	MEMBER("p90_us", JSON_REAL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row pair_rows[] = {
	MEMBER("distance", JSON_NUMBER, "bytes",
	       "From the start of the first read to that of the second"),
	MEMBER("us", JSON_REAL, "us", "Time of the second read"),
	{ 0 },
};

static const struct schema_row place_rows[] = {
	MEMBER("offset", JSON_NUMBER, "bytes", "Where the probe begins"),
	MEMBER("mb_per_s", JSON_REAL, NULL,
	       "Its rate, in 10^6 bytes per second"),
	{ 0 },
};

static const struct schema_row sequential_tenth_rows[] = {
	MEMBER("from_bytes", JSON_NUMBER, NULL,
	       "Start of the first and of the last probe of the tenth"),
	MEMBER("to_bytes", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("probes", JSON_NUMBER, NULL, "Number of probes"),
	MEMBER("mb_per_s", JSON_OBJECT, NULL,
	       "Their rate, in 10^6 bytes per second",
	       .rows = report_interval_rows, .name = "interval"),
	{ 0 },
};

static const struct schema_row percentile_rows[] = {
	MEMBER("percent", JSON_REAL, NULL, "Which percentile: 50, 90 or 98"),
	MEMBER("us", JSON_REAL, "us", "Its value"),
	MEMBER("low", JSON_REAL | JSON_NULL, "us",
	       "Bounds of its 95 % confidence interval; null: too few requests"),
	MEMBER("high", JSON_REAL | JSON_NULL, "us", AS_ABOVE),
	{ 0 },
};

static const struct schema_row block_rows[] = {
	MEMBER("bytes", JSON_NUMBER, "bytes", "Length of the block"),
	MEMBER("offset", JSON_NUMBER, "bytes",
	       "Byte x of DEV is a boundary if x - offset is a multiple of the length; less than the length"),
	MEMBER("confidence", JSON_REAL, NULL,
	       "Probability that the block is right, 0 to 1"),
	{ 0 },
};

static const struct schema_row says_rows[] = {
	MEMBER("size", JSON_NUMBER, "bytes", "Length of the device"),
	MEMBER("logical", JSON_NUMBER, "bytes",
	       "Its logical and its physical block"),
	MEMBER("physical", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("offset", JSON_SIGNED, "bytes",
	       "Its alignment offset; 0 also where the kernel cannot say"),
	MEMBER("rotational", JSON_BOOL, NULL,
	       "Whether it says that it is a disk; false also where it does not say"),
	MEMBER("write_cache", JSON_BOOL | JSON_NULL, NULL,
	       "Whether it has a volatile write cache; null where it does not say"),
	{ 0 },
};

static const struct schema_row reads_rows[] = {
	MEMBER("bytes", JSON_NUMBER, "bytes", "Length of what is read at once"),
	MEMBER("offset", JSON_NUMBER, "bytes", "As that of block"),
	{ 0 },
};

static const struct schema_row cache_rows[] = {
	MEMBER("is", JSON_TEXT | JSON_NULL, NULL,
	       "What was found; null: cannot tell", SCHEMA_WORDS("on", "off")),
	MEMBER("why", JSON_TEXT, NULL,
	       "How that shows, or why not, in words; empty where only reads were allowed"),
	{ 0 },
};

static const struct schema_row times_rows[] = {
	MEMBER("requests", JSON_NUMBER, NULL, "Number of requests"),
	MEMBER("p10_us", JSON_REAL, NULL,
	       "Percentiles of the times: 10, 50 and 90 %"),
	MEMBER("p50_us", JSON_REAL, NULL, AS_ABOVE),
	MEMBER("p90_us", JSON_REAL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row kind_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, "Name of the kind, in words"),
	MEMBER("bytes", JSON_NUMBER, "bytes", "Length of a request"),
	MEMBERS_OF(times_rows),
	MEMBER("slower_us", JSON_OBJECT | JSON_NULL, NULL,
	       "By how much these requests are slower than those that should be fast; null for the latter",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("chance", JSON_REAL | JSON_NULL, NULL,
	       "Probability of such times if these requests were no slower, 0 to 1; null as slower_us"),
	{ 0 },
};

static const struct schema_row scan_rows[] = {
	MEMBER("offset", JSON_NUMBER, "bytes",
	       "Where the requests begin, modulo the length of the scan"),
	MEMBERS_OF(times_rows),
	{ 0 },
};

static const struct schema_row best_rows[] = {
	MEMBER("depth", JSON_NUMBER, NULL, "Number of requests in flight"),
	MEMBER("iops", JSON_REAL, NULL, "Requests per second"),
	MEMBER("p90_us", JSON_REAL, NULL,
	       "90 % of the requests took no longer"),
	MEMBER("ratio_to_depth_1", JSON_REAL, NULL,
	       "These requests per second by those at depth 1"),
	MEMBER("sure", JSON_BOOL, NULL,
	       "Whether ten deeper ones were tried; false: a deeper one may be better"),
	{ 0 },
};

static const struct schema_row depth_rows[] = {
	MEMBER("depth", JSON_NUMBER, NULL, "Number of requests in flight"),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of requests made"),
	MEMBER("iops", JSON_REAL, NULL, "Requests per second"),
	MEMBER("mean_us", JSON_REAL, NULL, "Mean time of a request"),
	MEMBER("p90_us", JSON_REAL, NULL,
	       "90 % of the requests took no longer"),
	MEMBER("score", JSON_REAL, NULL,
	       "Harmonic mean of rate and latency, relative to the best of all depths, 0 to 1; the highest one is best"),
	{ 0 },
};

static const struct schema_row model_rows[] = {
	MEMBER("access_ms", JSON_REAL, NULL, "Time to reach a place"),
	MEMBER("mb_per_s", JSON_REAL, NULL,
	       "Rate from then on, in 10^6 bytes per second"),
	MEMBER("balanced_bytes", JSON_REAL, NULL,
	       "Size for which both take as long"),
	{ 0 },
};

static const struct schema_row chunk_rows[] = {
	MEMBER("bytes", JSON_NUMBER, "bytes", "Size of a request"),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of requests"),
	MEMBER("iops", JSON_REAL, NULL, "Requests per second"),
	MEMBER("mb_per_s", JSON_REAL, NULL, "10^6 bytes per second"),
	MEMBER("mean_us", JSON_REAL, NULL, "Mean time of a request"),
	MEMBER("p99_us", JSON_REAL, NULL,
	       "99 % of the requests took no longer"),
	{ 0 },
};

static const struct schema_row window_rows[] = {
	MEMBER("window", JSON_NUMBER, NULL,
	       "Number of reads that are sorted at once; 1: unsorted"),
	MEMBER("wall_s", JSON_OBJECT, NULL,
	       "Seconds of all reads, over the rounds",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("ratio", JSON_OBJECT | JSON_NULL, NULL,
	       "Time relative to window 1 in the same round; null for that window",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("words", JSON_TEXT, NULL,
	       "The same in words; empty where ratio is null"),
	{ 0 },
};

static const struct schema_row sorted_rows[] = {
	MEMBER("round", JSON_NUMBER, NULL, "Number of the round, from 1"),
	MEMBER("window", JSON_NUMBER, NULL, "As in windows"),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of reads"),
	MEMBER("wall_s", JSON_REAL, NULL, "Seconds of all reads"),
	{ 0 },
};

static const struct schema_row fullstroke_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       "The method", SCHEMA_WORDS("fullstroke")),
	MEMBERS_OF(head_rows),
	MEMBERS_OF(told_rows),
	MEMBER("overhead_us", JSON_OBJECT | JSON_NULL, NULL,
	       "Part of a read that is neither seek nor rotation, and was subtracted from seek_us; null: not known, and nothing was subtracted",
	       .rows = estimate_rows, .name = "estimate"),
	{ 0 },
};

static const struct schema_document fullstroke_document = {
	"probe fullstroke", MANY_RUNS_FORMAT, NULL, fullstroke_document_rows,
};

static const struct schema_row tracktotrack_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       "The method", SCHEMA_WORDS("tracktotrack")),
	MEMBERS_OF(head_rows),
	MEMBERS_OF(told_rows),
	MEMBER("c_bytes", JSON_NUMBER | JSON_NULL, NULL,
	       "C of the reads that the figures are from; null with --samples that do not tell"),
	MEMBER("overhead_us", JSON_OBJECT | JSON_NULL, NULL,
	       "Part of a read that is neither seek nor rotation, and was subtracted from seek_us; null: not known, and nothing was subtracted",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("tried", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each C that was tried, by length", .rows = tried_rows),
	{ 0 },
};

static const struct schema_document tracktotrack_document = {
	"probe tracktotrack", MANY_RUNS_FORMAT,
	NULL,
	tracktotrack_document_rows,
};

static const struct schema_row rotation_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       "The method", SCHEMA_WORDS("rotation")),
	MEMBERS_OF(head_rows),
	MEMBERS_OF(told_rows),
	{ 0 },
};

static const struct schema_document rotation_document = {
	"probe rotation", MANY_RUNS_FORMAT, NULL, rotation_document_rows,
};

static const struct schema_row rnddeltaread_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       "The method", SCHEMA_WORDS("rnddeltaread")),
	MEMBERS_OF(head_rows),
	MEMBERS_OF(told_rows),
	MEMBER("tenths", JSON_ARRAY | JSON_OBJECT, NULL,
	       "The pairs in ten parts of equal number, by distance",
	       .rows = delta_tenth_rows),
	MEMBER("pairs", JSON_ARRAY | JSON_OBJECT, NULL,
	       "All pairs, in the order of the reads", .rows = pair_rows),
	{ 0 },
};

static const struct schema_document rnddeltaread_document = {
	"probe rnddeltaread", MANY_RUNS_FORMAT,
	NULL,
	rnddeltaread_document_rows,
};

static const struct schema_row sequential_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, "The method",
	       SCHEMA_WORDS("seqread", "seqwrite")),
	MEMBERS_OF(head_rows),
	MEMBER("mb_per_s", JSON_OBJECT, NULL,
	       "Rate of the probes, in 10^6 bytes per second",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("slowest", JSON_OBJECT, NULL,
	       "The slowest and the fastest probe", .rows = place_rows,
	       .name = "place"),
	MEMBER("fastest", JSON_OBJECT, NULL, AS_ABOVE, .rows = place_rows,
	       .name = "place"),
	MEMBER("tenths", JSON_ARRAY | JSON_OBJECT, NULL,
	       "The probes in ten parts of equal number, by position",
	       .rows = sequential_tenth_rows),
	MEMBER("each", JSON_ARRAY | JSON_OBJECT, NULL,
	       "All probes, by position", .rows = place_rows, .name = "place"),
	{ 0 },
};

static const struct schema_document sequential_document = {
	"probe seqread, probe seqwrite", MANY_RUNS_FORMAT,
	NULL,
	sequential_document_rows,
};

static const struct schema_row random_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, "The method",
	       SCHEMA_WORDS("rndread", "rndwrite")),
	MEMBERS_OF(head_rows),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of requests"),
	MEMBER("mean_us", JSON_OBJECT, NULL, "Time of a request",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("iops", JSON_OBJECT, NULL, "Requests per second",
	       .rows = report_interval_rows, .name = "interval"),
	MEMBER("sd_us", JSON_REAL | JSON_NULL, NULL,
	       "Standard deviation of the times; null for a single request"),
	MEMBER("percentiles", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each percentile of the times", .rows = percentile_rows),
	{ 0 },
};

static const struct schema_document random_document = {
	"probe rndread, probe rndwrite", MANY_RUNS_FORMAT,
	NULL,
	random_document_rows,
};

static const struct schema_row block_size_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       "The method", SCHEMA_WORDS("block-size")),
	MEMBERS_OF(head_rows),
	MEMBER("block", JSON_OBJECT | JSON_NULL, NULL,
	       "The block that the drive writes as a whole; null: cannot tell",
	       .rows = block_rows),
	MEMBER("why", JSON_TEXT | JSON_NULL, NULL,
	       "Why block or penalty_us is null, in words; null if both are known"),
	MEMBER("says", JSON_OBJECT, NULL,
	       "What the drive says of itself", .rows = says_rows),
	MEMBER("contradicts", JSON_BOOL | JSON_NULL, NULL,
	       "Whether the block differs from the physical block that the drive says; null: cannot tell"),
	MEMBER("penalty_us", JSON_OBJECT | JSON_NULL, NULL,
	       "How much longer a write of a part of a block takes, with its 95 % interval; null: cannot tell",
	       .rows = estimate_rows, .name = "estimate"),
	MEMBER("reads", JSON_OBJECT | JSON_NULL, NULL,
	       "What an SSD reads at once; null where that does not show",
	       .rows = reads_rows),
	MEMBER("write_cache", JSON_OBJECT, NULL,
	       "Whether the volatile write cache is on", .rows = cache_rows),
	MEMBER("by", JSON_TEXT, NULL,
	       "The requests that decided, or were tried last, in words; empty: none were tried"),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of requests made"),
	MEMBER("seconds", JSON_REAL, NULL, "How long the requests took"),
	MEMBER("kinds", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each kind of request by which the block was verified",
	       .rows = kind_rows),
	MEMBER("scan", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each offset that was scanned", .rows = scan_rows),
	MEMBERS_OF(kept_rows),
	{ 0 },
};

static const struct schema_document block_size_document = {
	"probe block-size", MANY_RUNS_FORMAT, NULL, block_size_document_rows,
};

static const struct schema_row depth_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, "The method",
	       SCHEMA_WORDS("cncread", "cncwrite")),
	MEMBERS_OF(head_rows),
	MEMBER("best", JSON_OBJECT, NULL, "The best depth", .rows = best_rows),
	MEMBER("probes", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each depth that was tried, from 1", .rows = depth_rows),
	{ 0 },
};

static const struct schema_document depth_document = {
	"probe cncread, probe cncwrite", MANY_RUNS_FORMAT,
	NULL,
	depth_document_rows,
};

static const struct schema_row chunk_size_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL, "The method",
	       SCHEMA_WORDS("chunk-size", "chunk-size-write")),
	MEMBERS_OF(head_rows),
	MEMBER("fastest_bytes", JSON_NUMBER, NULL,
	       "Size with the highest rate"),
	MEMBER("nine_tenths_from_bytes", JSON_NUMBER, NULL,
	       "Smallest size with nine tenths of that rate"),
	MEMBER("model", JSON_OBJECT | JSON_NULL, NULL,
	       "A drive that needs the same time for each access, and then has a constant rate; null where none fits, or with several in flight",
	       .rows = model_rows),
	MEMBER("chunks", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each size, from the smallest", .rows = chunk_rows),
	{ 0 },
};

static const struct schema_document chunk_size_document = {
	"probe chunk-size, probe chunk-size-write", MANY_RUNS_FORMAT,
	NULL,
	chunk_size_document_rows,
};

static const struct schema_row sorted_document_rows[] = {
	MEMBER("method", JSON_TEXT, NULL,
	       "The method", SCHEMA_WORDS("sorted-reads")),
	MEMBERS_OF(head_rows),
	MEMBER("windows", JSON_ARRAY | JSON_OBJECT, NULL, "For each window",
	       .rows = window_rows),
	MEMBER("runs", JSON_ARRAY | JSON_OBJECT, NULL, "For each run",
	       .rows = sorted_rows),
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
