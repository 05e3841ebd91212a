// SPDX-License-Identifier: GPL-2.0
/* One row for each drive: its count, or the reason why there is none. */
#include <stdio.h>

#include "audit/drive_report.h"
#include "base/table.h"

enum drive_column {
	DRIVE_NAME, DRIVE_KIND, DRIVE_UNALIGNED, DRIVE_MEDIA, DRIVE_VERSION,
	DRIVE_REASON, DRIVE_EXPLANATION,
};

static const struct table_column drive_columns[] = {
	[DRIVE_NAME] = { .key = "drive", .heading = "DRIVE",
		COLUMN_MEMBER(JSON_TEXT, "The kernel's name of the drive") },
	[DRIVE_KIND] = { .key = "kind", .heading = "KIND",
		COLUMN_MEMBER(JSON_TEXT,
			"How the drive is attached: NVMe, ATA and so on") },
	[DRIVE_UNALIGNED] = { .key = "unaligned_io", .heading = "UNALIGNED",
			      .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Misaligned writes that the drive has counted since it was switched on; with --interval, in the interval; null where the drive does not say") },
	[DRIVE_MEDIA] = { .key = "media_bytes_written",
			  .heading = "MEDIA-WRITTEN", .flags = TABLE_RIGHT,
			  .unit = FIGURE_BYTES,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL,
			"Bytes written to the media, likewise; null also where the count exceeds 64 bits") },
	[DRIVE_VERSION] = { .key = "log_page_version", .heading = "PAGE",
			    .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_NULL | JSON_ABSENT,
			"Without --interval: version of the log page; null where the drive does not say") },
	[DRIVE_REASON] = { .key = "reason",
		COLUMN_MEMBER(JSON_TEXT | JSON_NULL,
			"null where the drive says its counts; else no-drive (nothing was found below that is a drive), not-nvme, not-supported, not-permitted (only root is), failed (the command, or opening the device), empty-page, other-page (its GUID is missing) or unknown-version. With --interval, why confirmed is null: also not-asked-before, restarted (the drive was switched on meanwhile), several-drives, mode (another one than report), nothing-counted or short: they differ, in less than ten minutes",
			SCHEMA_WORDS("no-drive", "not-nvme", "not-supported", "not-permitted", "failed",
				     "empty-page", "other-page", "unknown-version", "not-asked-before",
				     "restarted", "several-drives", "mode", "nothing-counted", "short")) },
	[DRIVE_EXPLANATION] = { .key = "explanation", .heading = "REASON",
				.flags = TABLE_WRAP,
		COLUMN_MEMBER(JSON_TEXT | JSON_NULL, "The reason as a sentence") },
};

static struct table_value drive_value(const void *row, size_t column)
{
	const struct drive *drive = row;
	bool says = drive->reason == DRIVE_SAYS;

	switch ((enum drive_column)column) {
	case DRIVE_NAME:
		return table_text(drive->name);
	case DRIVE_KIND:
		return table_text(drive->kind);
	case DRIVE_UNALIGNED:
		return says ? table_number(drive->log.unaligned) : table_null();
	case DRIVE_MEDIA:
		return says && drive->log.media_known ?
		       table_number(drive->log.media_bytes) : table_null();
	case DRIVE_VERSION:
		return says || drive->reason == DRIVE_UNKNOWN_VERSION ?
		       table_number(drive->log.version) : table_null();
	case DRIVE_REASON:
		return table_text(drive_reason_name(drive->reason));
	case DRIVE_EXPLANATION:
		return table_text_taken(drive_explanation(drive));
	}
	return table_absent();
}

static const struct table_type drive_table =
	TABLE_TYPE(drive_columns, drive_value);

const struct schema_row drive_report_members[] = {
	MEMBERS_OF_TABLE(&drive_table),
	{ 0 },
};

/* Rows, and how many there are. */
struct drive_rows {
	struct table *table;
	size_t nr;
};

static void add_row(const struct drive *drive, void *context)
{
	struct drive_rows *rows = context;

	table_add(rows->table, drive);
	rows->nr++;
}

void drive_report_text(struct drives *drives, dev_t devno)
{
	struct drive_rows rows = { table_new(&drive_table), 0 };

	drives_below(drives, devno, add_row, &rows);
	table_print(rows.table, 2);
	if (!rows.nr)
		puts("  no drive was found below it");
}

static void add_object(const struct drive *drive, void *context)
{
	json_append(context, table_json(&drive_table, drive));
}

struct json_object *drive_report_json(struct drives *drives, dev_t devno)
{
	struct json_object *array = json_new_array();

	drives_below(drives, devno, add_object, array);
	return array;
}
