// SPDX-License-Identifier: GPL-2.0
/*
 * What the documents of check hold, which audit/report.c and audit/layout_report.c
 * make; they are here as they have an advice of forecast/ in them.
 */
#include "forecast/report.h"
#include "unit/unit.h"
#include "verbs/report_schemas.h"

static const struct schema_row view_rows[] = {
	MEMBER("logical_block_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("physical_block_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("minimum_io_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("alignment_offset", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	{ 0 },
};

static const struct schema_row content_rows[] = {
	MEMBER("type", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("partition_table", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("unread", JSON_TEXT | JSON_NULL, NULL,
	       "Why headers were not read"),
	MEMBER("data_start", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("sector_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("block_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("extent_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("chunk_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("file_system_bytes", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("table_sector_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Sector that a GPT was made for, if that is another one"),
	MEMBER("array_logical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "That the superblock of md stores"),
	{ 0 },
};

static const struct schema_row device_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, NULL),
	MEMBER("path", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("devno", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("partition_type", JSON_TEXT | JSON_NULL, NULL,
	       "A GUID, or a number as 0x83"),
	MEMBER("model", JSON_TEXT | JSON_NULL, NULL,
	       "Of a disk, as the drive names it"),
	MEMBER("kind", JSON_TEXT, NULL,
	       NULL,
	       SCHEMA_WORDS("disk", "file", "part", "loop", "md", "lvm", "crypt",
			    "mpath", "align", "dm")),
	MEMBER("logical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Sizes are in bytes; what is not known is null"),
	MEMBER("physical_block_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("minimum_io_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("alignment_offset", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("start_bytes", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("end_bytes", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("shift_bytes", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("optimal_io_size", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("max_io_bytes", JSON_SIGNED | JSON_NULL, "bytes", NULL),
	MEMBER("disk_physical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Of the disk at the bottom, by which the device is judged"),
	MEMBER("data_shift_bytes", JSON_SIGNED | JSON_NULL, "bytes",
	       "As shift_bytes, of the data behind a header"),
	MEMBER("ioctl", JSON_OBJECT | JSON_NULL, NULL,
	       "The four sizes by this source; null if it was not asked or, for probed, if no usable result is stored",
	       .rows = view_rows, .name = "sizes"),
	MEMBER("libblkid", JSON_OBJECT | JSON_NULL, NULL,
	       AS_ABOVE, .rows = view_rows, .name = "sizes"),
	MEMBER("identify", JSON_OBJECT | JSON_NULL, NULL,
	       AS_ABOVE, .rows = view_rows, .name = "sizes"),
	MEMBER("probed", JSON_OBJECT | JSON_NULL, NULL,
	       AS_ABOVE, .rows = view_rows, .name = "sizes"),
	MEMBER("unit", JSON_OBJECT | JSON_NULL, NULL,
	       "Of a disk, what is known of its unit; else null",
	       .rows = unit_members, .name = "unit"),
	MEMBER("content", JSON_OBJECT, NULL,
	       "Its content", .rows = content_rows),
	MEMBER("lies_on", JSON_ARRAY | JSON_TEXT, NULL, "Names of the devices below"),
	MEMBER("mounted_on", JSON_ARRAY | JSON_TEXT, NULL, "Mount points"),
	MEMBER("swap", JSON_BOOL, NULL, NULL),
	{ 0 },
};

static const struct schema_row remedy_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, "Its row of --remedies"),
	MEMBER("command", JSON_TEXT, NULL,
	       "The command alone, also where not_in_place has it among words"),
	MEMBER("destroys", JSON_TEXT, NULL,
	       NULL,
	       SCHEMA_WORDS("nothing", "the content",
			    "acknowledged writes that cannot be written")),
	MEMBER("unmount", JSON_BOOL, NULL,
	       "true: nothing may use the device meanwhile"),
	{ 0 },
};

static const struct schema_row finding_rows[] = {
	MEMBER("finding", JSON_TEXT, NULL, "Its name, see DESCRIPTION"),
	MEMBER("device", JSON_TEXT, NULL, NULL),
	MEMBER("note", JSON_BOOL, NULL, NULL),
	MEMBER("cause", JSON_TEXT | JSON_NULL, NULL,
	       "With the finding of that name; else null",
	       SCHEMA_WORDS("none", "shift", "stream", "random", "fs-sector",
			    "split", "rewrite", "cannot-tell")),
	MEMBER("text", JSON_TEXT, NULL, NULL),
	MEMBER("cost", JSON_TEXT, NULL, NULL),
	MEMBER("command", JSON_TEXT | JSON_NULL, NULL,
	       "One of command and not_in_place is null"),
	MEMBER("not_in_place", JSON_TEXT | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("remedy", JSON_OBJECT | JSON_NULL, NULL,
	       "null where no command is printed", .rows = remedy_rows),
	MEMBER("recommendation", JSON_OBJECT | JSON_NULL, NULL,
	       "Of a --recording, that of alignctl-plan(8), JSON OF PLAN; null of other findings, and where nothing is forecast",
	       .rows = forecast_advice_members, .name = "recommendation"),
	{ 0 },
};

static const struct schema_row document_rows[] = {
	MEMBER("devices", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each device", .rows = device_rows),
	MEMBER("findings", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each finding and note", .rows = finding_rows),
	{ 0 },
};

const struct schema_document audit_report_schema = {
	"check", 1, NULL, document_rows,
};

static const struct schema_row layout_rows[] = {
	MEMBER("layout", JSON_TEXT, NULL, NULL),
	MEMBER("writes_bytes", JSON_NUMBER, "bytes",
	       "Size of its smallest ordinary writes"),
	MEMBER("give", JSON_TEXT | JSON_NULL, NULL,
	       "null if there is none for this place, as left says"),
	MEMBER("command", JSON_BOOL, NULL,
	       "true: give is a command for a POSIX shell; else it is of settings"),
	MEMBER("needs", JSON_TEXT | JSON_NULL, NULL, "Sentences or null"),
	MEMBER("left", JSON_TEXT | JSON_NULL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row layout_device_rows[] = {
	MEMBER("device", JSON_TEXT, NULL, NULL),
	MEMBER("path", JSON_TEXT | JSON_NULL, NULL, NULL),
	MEMBER("drive", JSON_TEXT, NULL, "The disk that is asked for its unit"),
	MEMBER("unit", JSON_OBJECT, NULL,
	       "Its bytes are null if nothing states it",
	       .rows = unit_members, .name = "unit"),
	MEMBER("logical_block_size", JSON_NUMBER | JSON_NULL, "bytes",
	       "null if nothing states the unit"),
	MEMBER("first_unit_byte", JSON_NUMBER | JSON_NULL, NULL,
	       "Of the device, at which a unit begins; null: not known"),
	MEMBER("cannot_tell", JSON_TEXT | JSON_NULL, NULL,
	       "Why there are no layouts, or null"),
	MEMBER("probe", JSON_TEXT | JSON_NULL, NULL,
	       "The command that measures the drive; null of an image"),
	MEMBER("layouts", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each layout", .rows = layout_rows),
	{ 0 },
};

static const struct schema_row layout_document_rows[] = {
	MEMBER("devices", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each device", .rows = layout_device_rows),
	{ 0 },
};

const struct schema_document layout_report_schema = {
	"check --layout", 1, NULL, layout_document_rows,
};
