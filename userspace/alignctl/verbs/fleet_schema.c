// SPDX-License-Identifier: GPL-2.0
/* What the document of fleet holds, which align_reports makes in Python. */
#include "verbs/report_schemas.h"

static const struct schema_row modelled_rows[] = {
	MEMBER("disk_seconds_per_day", JSON_REAL | JSON_NULL, NULL,
	       "null where it is not known"),
	MEMBER("disks", JSON_NUMBER, NULL,
	       "Number of those that the seconds are of"),
	MEMBER("extra_bytes_per_day", JSON_NUMBER | JSON_NULL, NULL, NULL),
	MEMBER("extra_bytes_at_most", JSON_BOOL, NULL, "true: an upper bound"),
	MEMBER("ssds", JSON_NUMBER, NULL,
	       "Number of those that the bytes are of"),
	MEMBER("confirmed_by_drives", JSON_NUMBER, NULL,
	       "Number of these whose own count confirms that of their writes"),
	MEMBER("not_known", JSON_NUMBER, NULL,
	       "Number of devices whose touches a day are known, and neither of the two"),
	MEMBER("share_of_disk_time", JSON_REAL | JSON_NULL, NULL,
	       "What the seconds are of the time of the disk; null unless they are of one"),
	MEMBER("share_of_rated_writes_per_year", JSON_REAL | JSON_NULL, NULL,
	       "What a year of the extra bytes is of all that the SSD is rated to be written; of several SSDs the greatest; null if no rating is known"),
	{ 0 },
};

static const struct schema_row figure_rows[] = {
	MEMBER("touches_per_day", JSON_NUMBER | JSON_NULL, NULL,
	       "Rounded from an exact sum; null where it is not known"),
	MEMBER("touches", JSON_NUMBER | JSON_NULL, NULL,
	       "Touches that were counted, in any length of time; null where nothing counted them"),
	MEMBER("modelled", JSON_OBJECT | JSON_NULL, NULL,
	       "What the touches cost, by a model, see fleet; null where touches_per_day is null",
	       .rows = modelled_rows, .name = "modelled"),
	MEMBER("shift", JSON_NUMBER | JSON_NULL, NULL,
	       "Number of findings of each grade; null where no document of check is there to say so"),
	MEMBER("unit", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("other", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("note", JSON_NUMBER | JSON_NULL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row writer_rows[] = {
	MEMBER("comm", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("touches", JSON_NUMBER, NULL, NULL),
	{ 0 },
};

static const struct schema_row device_finding_rows[] = {
	MEMBER("finding", JSON_TEXT, NULL, NULL),
	MEMBER("device", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("grade", JSON_TEXT, NULL, NULL),
	MEMBER("text", JSON_TEXT, NULL, NULL),
	{ 0 },
};

static const struct schema_row device_rows[] = {
	MEMBER("device", JSON_TEXT | JSON_NULL, NULL,
	       "Its name; null if neither plan nor the name of the file has it"),
	MEMBER("model", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBERS_OF(figure_rows),
	MEMBER("modes", JSON_ARRAY | JSON_TEXT, NULL, "Of align devices on it"),
	MEMBER("findings", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each finding and note", .rows = device_finding_rows),
	{ 0 },
};

static const struct schema_row host_rows[] = {
	MEMBER("rank", JSON_NUMBER, NULL, NULL),
	MEMBER("host", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("documents", JSON_ARRAY | JSON_TEXT, NULL,
	       "The kinds that it has: check, plan, stats"),
	MEMBER("touches_from", JSON_TEXT | JSON_NULL, NULL,
	       "That which the touches are from, or null"),
	MEMBERS_OF(figure_rows),
	MEMBER("disks", JSON_NUMBER, NULL, "Number of those that were checked"),
	MEMBER("writers", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Touches that plan counted of each process, the most first",
	       .rows = writer_rows),
	MEMBER("devices", JSON_ARRAY | JSON_OBJECT, NULL,
	       "Those with findings, notes or touches, by the same rank",
	       .rows = device_rows),
	{ 0 },
};

static const struct schema_row model_rows[] = {
	MEMBER("model", JSON_TEXT | JSON_NULL, NULL,
	       "null: not known, or of what is no single disk"),
	MEMBER("disks", JSON_NUMBER, NULL, "The number of its disks and hosts"),
	MEMBER("hosts", JSON_NUMBER, NULL, AS_ABOVE),
	MEMBERS_OF(figure_rows),
	{ 0 },
};

static const struct schema_row finding_rows[] = {
	MEMBER("finding", JSON_TEXT, NULL, NULL),
	MEMBER("grade", JSON_TEXT, NULL, NULL),
	MEMBER("hosts", JSON_NUMBER, NULL, "Number of those that have it"),
	MEMBER("times", JSON_NUMBER, NULL, NULL),
	{ 0 },
};

static const struct schema_row total_rows[] = {
	MEMBER("hosts", JSON_NUMBER, NULL, NULL),
	MEMBER("hosts_wrong", JSON_NUMBER, NULL,
	       "Those with findings or touches"),
	MEMBER("hosts_with_cost", JSON_NUMBER, NULL,
	       "Those whose touches a day are known"),
	MEMBER("hosts_checked", JSON_NUMBER, NULL, NULL),
	MEMBERS_OF(figure_rows),
	MEMBER("disks", JSON_NUMBER, NULL, NULL),
	{ 0 },
};

static const struct schema_row unused_rows[] = {
	MEMBER("file", JSON_TEXT, NULL, NULL),
	MEMBER("reason", JSON_TEXT, NULL, NULL),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("hosts", JSON_ARRAY | JSON_OBJECT, NULL,
	       "By their rank", .rows = host_rows),
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
