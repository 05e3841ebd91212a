// SPDX-License-Identifier: GPL-2.0
/* What the documents of a replay hold, which replay/report.c makes. */
#include "engine/probes.h"
#include "replay/report.h"
#include "replay/times.h"

static const struct schema_row times_rows[] = {
	MEMBERS_OF_TABLE(&times_table[TIMES_WHOLE]),
	MEMBER("histogram", JSON_ARRAY | JSON_BIN, NULL,
	       "Pairs of the upper end of a bin in microseconds and its count, without empty bins. The bins are those of the kernel module's latency histograms, four to an octave; the last one, from 120 s, has the maximum as its end"),
	{ 0 },
};

static const struct schema_row service_rows[] = {
	MEMBERS_OF_TABLE(&times_table[TIMES_WHOLE]),
	{ 0 },
};

static const struct schema_row by_kind_rows[] = {
	MEMBERS_OF_TABLE(&times_table[TIMES_KIND]),
	MEMBER("service_us", JSON_OBJECT, NULL,
	       "Service times of these requests", .rows = service_rows,
	       .name = "times_without_histogram"),
	{ 0 },
};

static const struct schema_row by_size_rows[] = {
	MEMBERS_OF_TABLE(&times_table[TIMES_SIZE]),
	MEMBER("service_us", JSON_OBJECT, NULL,
	       "Service times of these requests", .rows = service_rows,
	       .name = "times_without_histogram"),
	{ 0 },
};

static const struct schema_row by_class_rows[] = {
	MEMBERS_OF_TABLE(&times_table[TIMES_CLASS]),
	MEMBER("service_us", JSON_OBJECT, NULL,
	       "Service times of these requests", .rows = service_rows,
	       .name = "times_without_histogram"),
	{ 0 },
};

static const struct schema_row by_phase_rows[] = {
	MEMBERS_OF_TABLE(&times_table[TIMES_PHASE]),
	MEMBER("service_us", JSON_OBJECT, NULL,
	       "Service times of these requests", .rows = service_rows,
	       .name = "times_without_histogram"),
	{ 0 },
};

static const struct schema_row samples_rows[] = {
	MEMBER("seconds", JSON_NUMBER, NULL,
	       "Number of whole seconds in which any request ended"),
	MEMBER("seconds_idle", JSON_NUMBER, NULL,
	       "Number of the other whole seconds"),
	MEMBER("iops", JSON_REAL, NULL,
	       "Requests per second, and 10^6 bytes per second: means, standard deviation, least and greatest"),
	MEMBER("iops_sd", JSON_REAL, NULL, AS_ABOVE),
	MEMBER("iops_min", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("iops_max", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("mb_per_s", JSON_REAL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row slice_rows[] = {
	MEMBER("end_s", JSON_REAL, NULL,
	       "When the last request of the part had completed, in seconds since the start of the run"),
	MEMBER("count", JSON_NUMBER, NULL,
	       "Number of requests of the part, and their mean and greatest service time"),
	MEMBER("mean_us", JSON_REAL, NULL, AS_ABOVE),
	MEMBER("max_us", JSON_REAL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row check_rows[] = {
	MEMBER("status", JSON_TEXT, NULL,
	       "Result of the comparison; skipped: there was none",
	       SCHEMA_WORDS("ok", "mismatch", "skipped")),
	MEMBER("sectors", JSON_NUMBER, NULL,
	       "Number of sectors of 512 bytes compared"),
	MEMBER("mismatches", JSON_NUMBER, NULL,
	       "Number of sectors that differ"),
	MEMBER("first_mismatch_sector", JSON_NUMBER | JSON_NULL, NULL,
	       "First of them on the device; null if there is none"),
	MEMBER("passes", JSON_NUMBER, NULL, "Number of times that the source was read"),
	{ 0 },
};

const struct schema_row replay_facts_members[] = {
	MEMBER("kind", JSON_TEXT, NULL, "Kind of the device",
	       SCHEMA_WORDS("disk", "partition", "file")),
	MEMBER("size_bytes", JSON_NUMBER, NULL,
	       "Length of the device, logical and physical block"),
	MEMBER("logical_block_size", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("physical_block_size", JSON_NUMBER, "bytes", AS_ABOVE),
	MEMBER("alignment_offset", JSON_NUMBER | JSON_ABSENT, "bytes",
	       "Absent, as the following, of a file; unknown: the kernel cannot say",
	       SCHEMA_WORDS("unknown")),
	MEMBER("io_min", JSON_NUMBER | JSON_ABSENT, "bytes",
	       "minimum_io_size, optimal_io_size and rotational in the queue directory in sysfs"),
	MEMBER("io_opt", JSON_NUMBER | JSON_ABSENT, "bytes", AS_ABOVE),
	MEMBER("rotational", JSON_BOOL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("scheduler", JSON_TEXT | JSON_NULL | JSON_ABSENT, NULL,
	       "The text of that name in the queue directory in sysfs; null where there is none"),
	MEMBER("nomerges", JSON_TEXT | JSON_NULL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("max_sectors_kb", JSON_TEXT | JSON_NULL | JSON_ABSENT, NULL,
	       AS_ABOVE),
	MEMBER("max_segments", JSON_TEXT | JSON_NULL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("write_cache", JSON_TEXT | JSON_NULL | JSON_ABSENT, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row kind_rows[] = {
	MEMBER("kind", JSON_TEXT, NULL, "Kind of request"),
	MEMBER("requests", JSON_NUMBER, NULL, "Number of requests"),
	MEMBER("bytes", JSON_NUMBER, "bytes", "Their total length"),
	{ 0 },
};

static const struct schema_row head_rows[] = {
	MEMBER("source", JSON_TEXT, NULL, "SOURCE, as on the command line"),
	MEMBER("source_format", JSON_TEXT, NULL,
	       "The word workload, or the format of the trace"),
	MEMBER("device", JSON_TEXT, NULL, "DEV, as on the command line"),
	MEMBER("count", JSON_NUMBER | JSON_ABSENT, NULL,
	       "Only of a workload, as the next four: its repetitions"),
	MEMBER("start", JSON_NUMBER | JSON_ABSENT, "bytes",
	       "The byte at which the first repetition, area or position starts"),
	MEMBER("span", JSON_NUMBER | JSON_NULL | JSON_ABSENT, "bytes",
	       "Of random workloads, seqread and seqwrite, the bytes that they spread over; else null"),
	MEMBER("areas", JSON_NUMBER | JSON_NULL | JSON_ABSENT, NULL,
	       "Of the areasync workloads, the number of areas; else null"),
	MEMBER("seed", JSON_NUMBER | JSON_NULL | JSON_ABSENT, NULL,
	       "Of random workloads, what their order was computed from; else null"),
	MEMBER("timing", JSON_TEXT, NULL,
	       "When requests were issued, as HOW of --timing says",
	       SCHEMA_NAMES(engine_timing_names)),
	MEMBER("speed", JSON_REAL | JSON_NULL, NULL,
	       "X of --speed, or 1; null unless timing is open"),
	MEMBER("buffered", JSON_BOOL, NULL,
	       "Whether phase run goes through the page cache"),
	MEMBER("fdatasync", JSON_BOOL, NULL,
	       "Whether a flush was asked for after each write"),
	MEMBER("depth", JSON_NUMBER, NULL,
	       "Most requests in flight of each thread"),
	MEMBER("threads", JSON_NUMBER, NULL, "Number of threads"),
	MEMBER("warmup_s", JSON_REAL, NULL, "Seconds of the warm-up"),
	MEMBER("physical_block_size", JSON_NUMBER, "bytes",
	       "The blocks that the following figures, by_class and by_phase are for"),
	MEMBER("alignment_offset", JSON_NUMBER, "bytes",
	       "Where the first physical block begins; unknown: the kernel cannot say, and 0 is used",
	       SCHEMA_WORDS("unknown")),
	MEMBER("writes_expected", JSON_NUMBER | JSON_ABSENT, NULL,
	       "Only of a workload that writes, as the next four: writes that the device gets of the whole workload, and blocks that the page cache reads for them. Unless buffered, these are the writes of the workload, and 0"),
	MEMBER("reads_expected", JSON_NUMBER | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("touches_expected", JSON_NUMBER | JSON_ABSENT, NULL,
	       "Partial touches of the whole workload on these physical blocks: the read-modify-writes of a drive without a cache"),
	MEMBER("rmin", JSON_NUMBER | JSON_ABSENT, NULL,
	       "Reads that nothing can avoid: physical blocks that the workload touches and never writes in full, without those that lie only partly inside the device"),
	MEMBER("distinct_blocks", JSON_NUMBER | JSON_ABSENT, NULL,
	       "Physical blocks written at least once"),
	{ 0 },
};

static const struct schema_row tail_rows[] = {
	MEMBER("data_check", JSON_OBJECT, NULL,
	       "Whether the data is what was written", .rows = check_rows),
	MEMBER("device_facts", JSON_OBJECT, NULL,
	       "What the device says of itself",
	       .rows = replay_facts_members, .name = "device_facts"),
	{ 0 },
};

const struct schema_row replay_run_members[] = {
	MEMBERS_OF(head_rows),
	MEMBER("depth_reached", JSON_NUMBER, NULL,
	       "Most requests in flight at any time, of all threads"),
	MEMBER("method", JSON_TEXT, NULL,
	       "How the requests were issued: pread/pwrite, or with several in flight io_uring",
	       SCHEMA_WORDS("pread/pwrite", "io_uring")),
	MEMBER("warmup_requests", JSON_NUMBER, NULL,
	       "Requests of the warm-up, which are in none of the following figures but issued and failed"),
	MEMBER("requests", JSON_NUMBER, NULL,
	       "Requests of the source that succeeded, and bytes of their reads and writes. Flushes that a workload or --fdatasync adds after writes are not requests of the source"),
	MEMBER("bytes", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBER("flushes", JSON_NUMBER, NULL,
	       "All flushes that succeeded but the one at the end: those of the source, and those added"),
	MEMBER("issued", JSON_NUMBER, NULL,
	       "Requests of the source that were issued"),
	MEMBER("failed", JSON_NUMBER, NULL, "Number of these that failed"),
	MEMBER("discards_unsupported", JSON_NUMBER, NULL,
	       "Discards left out because the device has none; they are not in requests"),
	MEMBER("waited_for_overlap", JSON_NUMBER, NULL,
	       "Requests that waited for an earlier one, an overlapping one or a flush"),
	MEMBER("stopped", JSON_TEXT | JSON_NULL, NULL,
	       "What ended the run early; null: nothing",
	       SCHEMA_WORDS("signal", "error")),
	MEMBER("wall_s", JSON_REAL, NULL,
	       "Seconds until the last request ended, without the warm-up"),
	MEMBER("pauses", JSON_NUMBER | JSON_ABSENT, NULL,
	       "Number of pauses; absent without any"),
	MEMBER("pause_s", JSON_REAL | JSON_ABSENT, NULL,
	       "Their seconds, which are part of wall_s; absent without any"),
	MEMBER("flush_s", JSON_REAL, NULL,
	       "Seconds of the flush after the run, which is not part of wall_s. Data that is held when it is acknowledged is written in both, so compare their sum"),
	MEMBER("iops", JSON_REAL, NULL,
	       "Requests, and 10^6 bytes, per second of wall_s"),
	MEMBER("mb_per_s", JSON_REAL, NULL, AS_ABOVE),
	MEMBER("samples_1s", JSON_OBJECT | JSON_NULL, NULL,
	       "The rates as means of one-second samples, over those whole seconds in which any request ended, as tools that sample print it. They differ from the rates of the whole run if the run stalls. null if it was shorter than a second",
	       .rows = samples_rows),
	MEMBER("service_us", JSON_OBJECT, "us",
	       "From issue to completion, over all requests of the source. Percentiles are the upper ends of bins that are at most 1/128 wide; the other figures are exact; sd is that of the sample (n-1)",
	       .rows = times_rows, .name = "times"),
	MEMBER("flush_us", JSON_OBJECT | JSON_NULL, "us",
	       "The same for the flushes that were added after writes; null if there are none",
	       .rows = times_rows, .name = "times"),
	MEMBER("response_us", JSON_OBJECT | JSON_NULL, "us",
	       "The same from the intended start, which is the time of the request in the trace. null unless timing is open: without a clock there is no schedule, and service_us is the latency",
	       .rows = times_rows, .name = "times"),
	MEMBER("lag_us", JSON_OBJECT | JSON_NULL, "us",
	       "The same from the intended start to the issue; null unless timing is open",
	       .rows = times_rows, .name = "times"),
	MEMBER("drift", JSON_REAL | JSON_NULL, NULL,
	       "Where timing is open: how late the last request was issued, as a fraction of the time at which it was due; else null"),
	MEMBER("time_line", JSON_ARRAY | JSON_OBJECT, NULL,
	       "The requests of the source in the order of completion, in parts of equal number, 100 to 200 of them if there are enough requests",
	       .rows = slice_rows),
	MEMBER("by_kind", JSON_ARRAY | JSON_OBJECT, NULL,
	       "As service_us, without its histogram, by kind of request",
	       .rows = by_kind_rows),
	MEMBER("by_size", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each length of reads and writes", .rows = by_size_rows),
	MEMBER("by_class", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each class of writes", .rows = by_class_rows),
	MEMBER("by_phase", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each start of writes in the physical block",
	       .rows = by_phase_rows),
	MEMBER("probes", JSON_OBJECT | JSON_ABSENT, NULL,
	       "Only of seqwrite, seqread and rnddeltaread",
	       .rows = probes_members),
	MEMBER("each_us", JSON_ARRAY | JSON_REAL | JSON_NULLS | JSON_ABSENT, "us",
	       "Only with --each: the service time of each request in the order of the source, from issue to completion. null: the request failed, was in the warm-up, or was not made"),
	MEMBERS_OF(tail_rows),
	{ 0 },
};

static const struct schema_row phase_rows[] = {
	MEMBERS_OF(head_rows),
	MEMBER("requests", JSON_NUMBER, NULL,
	       "Number of requests of the workload, and their total length"),
	MEMBER("bytes", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBERS_OF(tail_rows),
	{ 0 },
};

static const struct schema_row dry_rows[] = {
	MEMBERS_OF(head_rows),
	MEMBER("by_kind", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each kind of request", .rows = kind_rows),
	MEMBER("end", JSON_NUMBER, "bytes",
	       "Byte behind the last one of any request"),
	MEMBER("device_bytes", JSON_NUMBER, NULL, "Length of the device"),
	MEMBER("placement", JSON_TEXT, NULL,
	       "Where the trace lies on the device, as with --wrap or --scale; exact: as it is",
	       SCHEMA_NAMES(placement_names)),
	MEMBER("wrap_bytes", JSON_NUMBER | JSON_NULL, "bytes",
	       "With wrap: length after which requests begin at the start of the device again; else null"),
	MEMBER("moved", JSON_NUMBER, NULL,
	       "Number of requests that go elsewhere than in the trace"),
	MEMBER("dry_run", JSON_BOOL, NULL, "Always true"),
	{ 0 },
};

const struct schema_document replay_run_schema = {
	"replay", REPLAY_FORMAT,
	"In 2, a workload had a document of its own, with latency_us in place of service_us.",
	replay_run_members,
};

const struct schema_document replay_phase_schema = {
	"replay --phase", REPLAY_FORMAT,
	"Of the phases prepare and check, which have no members about the run.",
	phase_rows,
};

const struct schema_document replay_dry_schema = {
	"replay --dry-run", REPLAY_FORMAT, NULL, dry_rows,
};
