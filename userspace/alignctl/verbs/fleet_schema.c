// SPDX-License-Identifier: GPL-2.0
/* What the document of fleet holds, which align_reports makes in Python. */
#include "verbs/report_schemas.h"

static const struct schema_row modelled_rows[] = {
	MEMBER("disk_seconds_per_day", JSON_REAL | JSON_NULL, NULL,
	       "Seconds a day that disks spend on the touches; null: not known of any disk"),
	MEMBER("disks", JSON_NUMBER, NULL,
	       "Number of disks that the seconds are of"),
	MEMBER("extra_bytes_per_day", JSON_NUMBER | JSON_NULL, "bytes",
	       "Bytes a day that SSDs write in addition; null: not known of any SSD"),
	MEMBER("extra_bytes_at_most", JSON_BOOL, NULL,
	       "Whether these bytes are an upper bound"),
	MEMBER("ssds", JSON_NUMBER, NULL,
	       "Number of SSDs that the bytes are of"),
	MEMBER("confirmed_by_drives", JSON_NUMBER, NULL,
	       "Number of SSDs whose own count of misaligned writes confirms the ledger's"),
	MEMBER("not_known", JSON_NUMBER, NULL,
	       "Number of devices whose touches a day are known, but neither seconds nor bytes"),
	MEMBER("share_of_disk_time", JSON_REAL | JSON_NULL, NULL,
	       "The seconds as a share of a day; null unless they are of one disk"),
	MEMBER("share_of_rated_writes_per_year", JSON_REAL | JSON_NULL, NULL,
	       "The extra bytes of a year as a share of all bytes that the SSD is rated to be written, the greatest of several SSDs; null if no rating is known"),
	{ 0 },
};

static const struct schema_row figure_rows[] = {
	MEMBER("touches_per_day", JSON_NUMBER | JSON_NULL, NULL,
	       "Partial touches per day, rounded from an exact sum; null: not known"),
	MEMBER("touches", JSON_NUMBER | JSON_NULL, NULL,
	       "Partial touches that were counted, in any length of time; null where nothing counted them"),
	MEMBER("modelled", JSON_OBJECT | JSON_NULL, NULL,
	       "What the touches cost, by the model in the description of fleet; null where touches_per_day is null",
	       .rows = modelled_rows, .name = "modelled"),
	MEMBER("shift", JSON_NUMBER | JSON_NULL, NULL,
	       "Number of findings of each grade, and of notes; null: none, and no document of check that would say so"),
	MEMBER("unit", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("other", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("note", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row writer_rows[] = {
	MEMBER("comm", JSON_TEXT, NULL, "Name of the process"),
	MEMBER("touches", JSON_NUMBER, NULL, "Partial touches of its writes"),
	{ 0 },
};

static const struct schema_row device_finding_rows[] = {
	MEMBER("finding", JSON_TEXT, NULL, "Name of the finding"),
	MEMBER("device", JSON_TEXT, NULL,
	       "Name of the device that it is about"),
	MEMBER("grade", JSON_TEXT, NULL,
	       "Its grade: shift, unit, other or note"),
	MEMBER("text", JSON_TEXT, NULL, "The finding as a sentence"),
	{ 0 },
};

static const struct schema_row device_rows[] = {
	MEMBER("device", JSON_TEXT | JSON_NULL, NULL,
	       "Name of the device; null if neither plan nor the name of the file has it"),
	MEMBER("model", JSON_TEXT | JSON_NULL, NULL,
	       "Model of the disk; null: not known, or no single disk"),
	MEMBERS_OF(figure_rows),
	MEMBER("modes", JSON_ARRAY | JSON_TEXT, NULL,
	       "Modes of the align devices on it"),
	MEMBER("findings", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each finding and note", .rows = device_finding_rows),
	{ 0 },
};

static const struct schema_row host_rows[] = {
	MEMBER("rank", JSON_NUMBER, NULL,
	       "Place by cost, then by findings, from 1"),
	MEMBER("host", JSON_TEXT, NULL, "Name of the host"),
	MEMBER("documents", JSON_ARRAY | JSON_TEXT, NULL,
	       "Kinds of documents of the host: check, plan, stats"),
	MEMBER("touches_from", JSON_TEXT | JSON_NULL, NULL,
	       "Kind of document that the touches are from; null where touches is null"),
	MEMBERS_OF(figure_rows),
	MEMBER("disks", JSON_NUMBER, NULL, "Number of disks that were checked"),
	MEMBER("writers", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each process of a document of plan, the most touches first",
	       .rows = writer_rows),
	MEMBER("devices", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each device with findings, notes or touches, by the same order",
	       .rows = device_rows),
	{ 0 },
};

static const struct schema_row model_rows[] = {
	MEMBER("model", JSON_TEXT | JSON_NULL, NULL,
	       "Name of the model; null: not known, or no single disk"),
	MEMBER("disks", JSON_NUMBER, NULL,
	       "Number of disks of the model, and of hosts that have one"),
	MEMBER("hosts", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBERS_OF(figure_rows),
	{ 0 },
};

static const struct schema_row finding_rows[] = {
	MEMBER("finding", JSON_TEXT, NULL, "Name of the finding"),
	MEMBER("grade", JSON_TEXT, NULL,
	       "Its grade: shift, unit, other or note"),
	MEMBER("hosts", JSON_NUMBER, NULL, "Number of hosts that have it"),
	MEMBER("times", JSON_NUMBER, NULL, "Number of findings by that name"),
	{ 0 },
};

static const struct schema_row total_rows[] = {
	MEMBER("hosts", JSON_NUMBER, NULL, "Number of hosts"),
	MEMBER("hosts_wrong", JSON_NUMBER, NULL,
	       "Number of hosts with findings or touches"),
	MEMBER("hosts_with_cost", JSON_NUMBER, NULL,
	       "Number of hosts whose touches a day are known"),
	MEMBER("hosts_checked", JSON_NUMBER, NULL,
	       "Number of hosts with a document of check"),
	MEMBERS_OF(figure_rows),
	MEMBER("disks", JSON_NUMBER, NULL, "Number of disks that were checked"),
	{ 0 },
};

static const struct schema_row unused_rows[] = {
	MEMBER("file", JSON_TEXT, NULL, "Path of the file"),
	MEMBER("reason", JSON_TEXT, NULL, "Why it was not used, in words"),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("hosts", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each host, by rank", .rows = host_rows),
	MEMBER("models", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each model", .rows = model_rows),
	MEMBER("findings", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each finding", .rows = finding_rows),
	MEMBER("total", JSON_OBJECT, NULL, "Of all hosts", .rows = total_rows),
	MEMBER("unused", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Each file that was not used", .rows = unused_rows),
	{ 0 },
};

const struct schema_document fleet_document = {
	"fleet", 1, NULL, document_rows,
};
