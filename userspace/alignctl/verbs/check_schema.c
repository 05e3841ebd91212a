// SPDX-License-Identifier: GPL-2.0
/*
 * What the documents of check hold, which audit/report.c and audit/layout_report.c
 * make; they are here as they have an advice of forecast/ in them.
 */
#include "forecast/report.h"
#include "unit/unit.h"
#include "verbs/report_schemas.h"

static const struct schema_row view_rows[] = {
	MEMBER("logical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Logical and physical block, and least size of I/O without a penalty"),
	MEMBER("physical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       AS_ABOVE),
	MEMBER("minimum_io_size", JSON_SIGNED | JSON_NULL, "bytes", AS_ABOVE),
	MEMBER("alignment_offset", JSON_SIGNED | JSON_NULL, "bytes",
	       "Where the first physical block begins; -1: the kernel calls the device misaligned"),
	{ 0 },
};

static const struct schema_row content_rows[] = {
	MEMBER("type", JSON_TEXT | JSON_NULL, NULL,
	       "Type of the content, and of the partition table, as libblkid names it; null: none, or not read"),
	MEMBER("partition_table", JSON_TEXT | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("unread", JSON_TEXT | JSON_NULL, NULL,
	       "Why headers were not read, in words; null: they were read, or not looked for"),
	MEMBER("data_start", JSON_SIGNED | JSON_NULL, "bytes",
	       "First byte of the data behind a header; this and the following are null where the content has no such figure"),
	MEMBER("sector_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Smallest unit of a write"),
	MEMBER("block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Block of the file system or cache, cluster, or page of the swap area"),
	MEMBER("extent_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Extent of LVM"),
	MEMBER("chunk_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Chunk of md; 0: the level has none"),
	MEMBER("file_system_bytes", JSON_SIGNED | JSON_NULL, "bytes",
	       "Length of the file system"),
	MEMBER("table_sector_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Sector that a GPT was made for, if that is not the disk's"),
	MEMBER("array_logical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Logical block in the superblock of md"),
	{ 0 },
};

static const struct schema_row device_rows[] = {
	MEMBER("name", JSON_TEXT, NULL,
	       "Name of the device in the kernel; of an image, its path; of a partition in it, that path, a colon and the number"),
	MEMBER("path", JSON_TEXT | JSON_NULL, NULL,
	       "Path of the device or image, for commands; null: it has none"),
	MEMBER("devno", JSON_TEXT | JSON_NULL, NULL,
	       "Device number, major:minor; null of an image"),
	MEMBER("partition_type", JSON_TEXT | JSON_NULL, NULL,
	       "Type in the partition table, a GUID or a number as 0x83; null: no partition, or not known"),
	MEMBER("model", JSON_TEXT | JSON_NULL, NULL,
	       "Model of a disk, as the drive names it; else null"),
	MEMBER("kind", JSON_TEXT, NULL,
	       "Kind of the device",
	       SCHEMA_WORDS("disk", "file", "part", "loop", "md", "lvm", "crypt", "mpath", "align", "dm")),
	MEMBER("logical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Logical and physical block, and least size of I/O without a penalty, as sysfs says; each size is null where it is not known"),
	MEMBER("physical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       AS_ABOVE),
	MEMBER("minimum_io_size", JSON_SIGNED | JSON_NULL, "bytes", AS_ABOVE),
	MEMBER("alignment_offset", JSON_SIGNED | JSON_NULL, "bytes",
	       "Where the first physical block begins; -1: the kernel calls the device misaligned"),
	MEMBER("start_bytes", JSON_SIGNED | JSON_NULL, "bytes",
	       "First byte of a partition on its disk, or of a loop device in its file; null of another device"),
	MEMBER("end_bytes", JSON_SIGNED | JSON_NULL, "bytes",
	       "Byte behind the device's last one, on the same disk or file"),
	MEMBER("shift_bytes", JSON_SIGNED | JSON_NULL, "bytes",
	       "Bytes from a boundary of the disk's physical blocks to the device's first byte"),
	MEMBER("optimal_io_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Best size of I/O"),
	MEMBER("max_io_bytes", JSON_SIGNED | JSON_NULL, "bytes",
	       "Largest request that the kernel sends"),
	MEMBER("disk_physical_block_size", JSON_SIGNED | JSON_NULL, "bytes",
	       "Physical block of the disk at the bottom, by which the device is judged"),
	MEMBER("data_shift_bytes", JSON_SIGNED | JSON_NULL, "bytes",
	       "The same as shift_bytes, for the data behind a header"),
	MEMBER("ioctl", JSON_OBJECT | JSON_NULL, NULL,
	       "The four sizes by this source; null if the source was not asked or, for probed, if no usable result is stored",
	       .rows = view_rows, .name = "sizes"),
	MEMBER("libblkid", JSON_OBJECT | JSON_NULL, NULL,
	       AS_ABOVE, .rows = view_rows, .name = "sizes"),
	MEMBER("identify", JSON_OBJECT | JSON_NULL, NULL,
	       AS_ABOVE, .rows = view_rows, .name = "sizes"),
	MEMBER("probed", JSON_OBJECT | JSON_NULL, NULL,
	       AS_ABOVE, .rows = view_rows, .name = "sizes"),
	MEMBER("unit", JSON_OBJECT | JSON_NULL, NULL,
	       "What is known of the unit of a disk; null of another device, and if no source was found",
	       .rows = unit_members, .name = "unit"),
	MEMBER("content", JSON_OBJECT, NULL,
	       "What the headers on the device say", .rows = content_rows),
	MEMBER("lies_on", JSON_ARRAY | JSON_TEXT, NULL,
	       "Names of the devices directly below"),
	MEMBER("mounted_on", JSON_ARRAY | JSON_TEXT, NULL, "Mount points"),
	MEMBER("swap", JSON_BOOL, NULL, "Whether the device is in use as swap"),
	{ 0 },
};

static const struct schema_row remedy_rows[] = {
	MEMBER("name", JSON_TEXT, NULL, "Name of its row in --remedies"),
	MEMBER("command", JSON_TEXT, NULL,
	       "The command alone, also where not_in_place has it among words"),
	MEMBER("destroys", JSON_TEXT, NULL,
	       "What the command destroys",
	       SCHEMA_WORDS("nothing", "the content", "acknowledged writes that cannot be written")),
	MEMBER("unmount", JSON_BOOL, NULL,
	       "Whether nothing may use the device meanwhile"),
	{ 0 },
};

static const struct schema_row finding_rows[] = {
	MEMBER("finding", JSON_TEXT, NULL,
	       "Name of the rule, as in DESCRIPTION"),
	MEMBER("device", JSON_TEXT, NULL,
	       "Name of the device that the finding is about"),
	MEMBER("note", JSON_BOOL, NULL, "true: a note; false: a fault"),
	MEMBER("cause", JSON_TEXT | JSON_NULL, NULL,
	       "The cause that the finding of that name has found; null of other findings",
	       SCHEMA_WORDS("none", "shift", "stream", "random", "fs-sector", "split", "rewrite", "cannot-tell")),
	MEMBER("text", JSON_TEXT, NULL, "What is wrong, in words"),
	MEMBER("cost", JSON_TEXT, NULL, "What that costs, in words"),
	MEMBER("command", JSON_TEXT | JSON_NULL, NULL,
	       "The command that mends it, and why none does so in place; one of the two is null"),
	MEMBER("not_in_place", JSON_TEXT | JSON_NULL, NULL, AS_ABOVE),
	MEMBER("remedy", JSON_OBJECT | JSON_NULL, NULL,
	       "The command with its consequences; null where no command is printed",
	       .rows = remedy_rows),
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
	MEMBER("layout", JSON_TEXT, NULL, "Name of the layout"),
	MEMBER("writes_bytes", JSON_NUMBER, "bytes",
	       "Size of its smallest ordinary writes"),
	MEMBER("give", JSON_TEXT | JSON_NULL, NULL,
	       "Command or settings; null if there are none for this place, as left says"),
	MEMBER("command", JSON_BOOL, NULL,
	       "Whether give is a command for a POSIX shell; false: it is settings"),
	MEMBER("needs", JSON_TEXT | JSON_NULL, NULL,
	       "What the layout requires, and which writes still cover a unit in part, as sentences; null: nothing"),
	MEMBER("left", JSON_TEXT | JSON_NULL, NULL, AS_ABOVE),
	{ 0 },
};

static const struct schema_row layout_device_rows[] = {
	MEMBER("device", JSON_TEXT, NULL,
	       "Name of the device, as in JSON OF CHECK"),
	MEMBER("path", JSON_TEXT | JSON_NULL, NULL,
	       "Path of the device, for commands; null: it has none"),
	MEMBER("drive", JSON_TEXT, NULL, "Name of the disk whose unit counts"),
	MEMBER("unit", JSON_OBJECT, NULL,
	       "What is known of that unit; its bytes are null if nothing states it",
	       .rows = unit_members, .name = "unit"),
	MEMBER("logical_block_size", JSON_NUMBER | JSON_NULL, "bytes",
	       "Logical block of the device; null if nothing states the unit"),
	MEMBER("first_unit_byte", JSON_NUMBER | JSON_NULL, "bytes",
	       "First byte of the device at which a unit begins; null: not known"),
	MEMBER("cannot_tell", JSON_TEXT | JSON_NULL, NULL,
	       "Why there are no layouts, in words; null: there are"),
	MEMBER("probe", JSON_TEXT | JSON_NULL, NULL,
	       "The command that measures the drive; null of an image"),
	MEMBER("layouts", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each layout; empty if nothing states the unit",
	       .rows = layout_rows),
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
