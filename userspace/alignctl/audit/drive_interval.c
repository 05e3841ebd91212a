// SPDX-License-Identifier: GPL-2.0
/*
 * Compare the counts of drives with a ledger over an interval, and give the reason
 * where they cannot be compared.
 */
#include <string.h>

#include "audit/drive_interval.h"
#include "base/message.h"
#include "base/table.h"
#include "base/units.h"

/*
 * The drive confirms a count that differs from its own by one part in so many at
 * most: the two are not read at the same moment.
 */
#define TOLERANCE	100
/* How old a drive's count may be, seconds: SLOG-1 and SLOG-2 of OCP's document. */
#define OLDEST		600

/* Why a drive's count says nothing of the ledger's. */
enum silence {
	SILENCE_NONE,		/* the drive tells its count */
	SILENCE_DRIVE,		/* the drive has no count */
	SILENCE_UNSEEN,		/* it was not below when the interval began */
	SILENCE_RESTARTED,	/* it counts from its last power-on on */
	SILENCE_SEVERAL,	/* the writes went to several drives */
	SILENCE_MODE,		/* what was sent is not what arrived */
	SILENCE_NOTHING,	/* no write began inside a block */
	SILENCE_SHORT,		/* the drive may not have counted all yet */
};

/**
 * struct interval_row - a drive's counts in an interval
 * @drive: the drive, as asked at the end
 * @unaligned: writes that began inside its indirection unit
 * @media: bytes written to its media
 * @media_known: @media is set
 * @inside: writes that began inside a physical block, by the ledger
 * @confirms: whether these two are the same, if @silence is SILENCE_NONE
 * @silence: why @unaligned and @inside cannot be compared; the counts of the
 *	drive are set if it is SILENCE_NONE or behind SILENCE_RESTARTED
 */
struct interval_row {
	const struct drive *drive;
	uint64_t unaligned;
	uint64_t media;
	bool media_known;
	uint64_t inside;
	bool confirms;
	enum silence silence;
};

enum interval_column {
	INTERVAL_DRIVE, INTERVAL_KIND, INTERVAL_UNALIGNED, INTERVAL_INSIDE,
	INTERVAL_MEDIA, INTERVAL_CONFIRMED, INTERVAL_REASON,
	INTERVAL_EXPLANATION,
};

/* What both have is described by drive_report_members[]. */
static const struct table_column interval_columns[] = {
	[INTERVAL_DRIVE] = { .key = "drive", .heading = "DRIVE" },
	[INTERVAL_KIND] = { .key = "kind", .heading = "KIND" },
	[INTERVAL_UNALIGNED] = { .key = "unaligned_io",
				 .heading = "UNALIGNED",
				 .flags = TABLE_RIGHT },
	[INTERVAL_INSIDE] = { .key = "inside_writes", .heading = "LEDGER",
			      .flags = TABLE_RIGHT,
		COLUMN_MEMBER(JSON_NUMBER | JSON_ABSENT,
			"With --interval: the writes of the ledger that begin inside a block") },
	[INTERVAL_MEDIA] = { .key = "media_bytes_written",
			     .heading = "MEDIA-WRITTEN", .flags = TABLE_RIGHT,
			     .unit = FIGURE_BYTES },
	[INTERVAL_CONFIRMED] = { .key = "confirmed", .heading = "CONFIRMED",
		COLUMN_MEMBER(JSON_BOOL | JSON_NULL | JSON_ABSENT,
			"With --interval: whether unaligned_io is the same but for 1 %; null if that cannot be told") },
	[INTERVAL_REASON] = { .key = "reason" },
	[INTERVAL_EXPLANATION] = { .key = "explanation", .heading = "REASON",
				   .flags = TABLE_WRAP },
};

static bool has_counts(const struct interval_row *row)
{
	return !row->silence || row->silence > SILENCE_RESTARTED;
}

struct maybe drive_confirms(uint64_t unaligned, uint64_t inside,
			    double seconds)
{
	uint64_t more = unaligned > inside ? unaligned - inside :
					     inside - unaligned;

	if (more <= inside / TOLERANCE)
		return maybe_of(1);
	return seconds < OLDEST ? MAYBE_UNKNOWN : maybe_of(0);
}

static struct table_value confirmed_value(const struct interval_row *row)
{
	if (row->silence)
		return table_null();
	return table_shown(table_bool(row->confirms),
			   row->confirms ? "yes" : "no");
}

static const char *reason_name(const struct interval_row *row)
{
	static const char *const names[] = {
		[SILENCE_UNSEEN] = "not-asked-before",
		[SILENCE_RESTARTED] = "restarted",
		[SILENCE_SEVERAL] = "several-drives",
		[SILENCE_MODE] = "mode",
		[SILENCE_NOTHING] = "nothing-counted",
		[SILENCE_SHORT] = "short",
	};

	return row->silence == SILENCE_DRIVE ?
	       drive_reason_name(row->drive->reason) : names[row->silence];
}

/* Return the reason as a sentence, for free(), or NULL. */
static char *explain_row(const struct interval_row *row)
{
	static const char *const sentences[] = {
		[SILENCE_UNSEEN] = "the drive had no count when the interval began",
		[SILENCE_RESTARTED] = "the drive was powered on meanwhile, and counts anew",
		[SILENCE_SEVERAL] = "the writes went to several drives, each of which counts its own",
		[SILENCE_MODE] = "only in mode report are the writes sent as they arrive",
		[SILENCE_NOTHING] = "no write began inside a block",
		[SILENCE_SHORT] = "the counts differ, but the drive's may be ten minutes old: count for longer",
	};

	if (row->silence == SILENCE_DRIVE)
		return drive_explanation(row->drive);
	if (row->silence)
		return message_format("%s", sentences[row->silence]);
	return row->confirms ? NULL : message_format(
		"the drive has other units, or more writers than this device");
}

static struct table_value interval_value(const void *row, size_t column)
{
	const struct interval_row *r = row;

	switch ((enum interval_column)column) {
	case INTERVAL_DRIVE:
		return table_text(r->drive->name);
	case INTERVAL_KIND:
		return table_text(r->drive->kind);
	case INTERVAL_UNALIGNED:
		return has_counts(r) ? table_number(r->unaligned) :
				       table_null();
	case INTERVAL_INSIDE:
		return table_number(r->inside);
	case INTERVAL_MEDIA:
		return has_counts(r) && r->media_known ?
		       table_number(r->media) : table_null();
	case INTERVAL_CONFIRMED:
		return confirmed_value(r);
	case INTERVAL_REASON:
		return table_text(reason_name(r));
	case INTERVAL_EXPLANATION:
		return table_text_taken(explain_row(r));
	}
	return table_absent();
}

static const struct table_type interval_table =
	TABLE_TYPE(interval_columns, interval_value);

const struct schema_row drive_interval_members[] = {
	MEMBERS_OF_TABLE(&interval_table),
	{ 0 },
};

static void ignore_drive(const struct drive *drive, void *context)
{
	(void)drive;
	(void)context;
}

void drives_ask(struct drives *drives, const struct ledger_selection *devices)
{
	size_t i;

	for (i = 0; i < devices->nr; i++)
		drives_below(drives, devices->ledger[i].device.devno, ignore_drive, NULL);
}

static void count_drive(const struct drive *drive, void *context)
{
	(void)drive;
	++*(size_t *)context;
}

/* Return the answer of a drive of that name, or NULL if it was not asked. */
static const struct drive *find_asked(const struct drives *drives, const char *name)
{
	size_t i;

	for (i = 0; i < drives->stack.nr; i++)
		if (drives->drive[i].name &&
		    !strcmp(drives->drive[i].name, name))
			return &drives->drive[i];
	return NULL;
}

/* Return the writes that began inside a block, by the ledger. */
static uint64_t sum_inside(const struct ledger *ledger)
{
	uint64_t bins[LEDGER_MAX_BINS], sum = 0;
	unsigned int i;

	ledger_histogram(ledger, HISTOGRAM_PHASE, bins);
	/* those in the first bin begin at a boundary, and end inside a block */
	for (i = 1; i < LEDGER_MAX_BINS; i++)
		sum += bins[i];
	return sum;
}

static bool reports_only(const struct ledger *ledger)
{
	size_t i;

	for (i = 0; i < ledger->device.nr_targets; i++)
		if (strcmp(ledger->device.target[i].status.mode, "report"))
			return false;
	return true;
}

/* What add_row() needs besides a drive. */
struct adding {
	const struct drives *before;
	const struct ledger *ledger;
	size_t drives;
	void (*add)(const struct interval_row *row, void *context);
	void *context;
};

static void add_row(const struct drive *drive, void *context)
{
	const struct adding *adding = context;
	const struct drive *before = find_asked(adding->before, drive->name);
	const struct drive_log *now = &drive->log;
	struct interval_row row = {
		.drive = drive, .inside = sum_inside(adding->ledger),
	};
	struct maybe confirms;

	if (drive->reason || !before || before->reason) {
		row.silence = drive->reason ? SILENCE_DRIVE : SILENCE_UNSEEN;
		adding->add(&row, adding->context);
		return;
	}
	row.unaligned = now->unaligned - before->log.unaligned;
	row.media_known = now->media_known && before->log.media_known &&
		now->media_bytes >= before->log.media_bytes;
	row.media = now->media_bytes - before->log.media_bytes;
	confirms = drive_confirms(row.unaligned, row.inside,
				  ns_to_s((double)(adding->ledger->read_ns -
						   adding->ledger->since_ns)));
	if (now->unaligned < before->log.unaligned)
		row.silence = SILENCE_RESTARTED;
	else if (adding->drives > 1)
		row.silence = SILENCE_SEVERAL;
	else if (!reports_only(adding->ledger))
		row.silence = SILENCE_MODE;
	else if (!row.inside && !row.unaligned)
		row.silence = SILENCE_NOTHING;
	else if (!maybe_known(confirms))
		row.silence = SILENCE_SHORT;
	row.confirms = maybe_is(confirms, 1);
	adding->add(&row, adding->context);
}

static void add_all(struct drives *before, struct drives *now,
		    const struct ledger *ledger,
		    void (*add)(const struct interval_row *row, void *context),
		    void *context)
{
	struct adding adding = { before, ledger, 0, add, context };

	drives_below(now, ledger->device.devno, count_drive, &adding.drives);
	drives_below(now, ledger->device.devno, add_row, &adding);
}

static void add_to_table(const struct interval_row *row, void *context)
{
	table_add(context, row);
}

void drive_interval_text(struct drives *before, struct drives *now,
			 const struct ledger *ledger)
{
	struct table *table = table_new(&interval_table);

	add_all(before, now, ledger, add_to_table, table);
	table_print(table, 2);
}

static void add_object(const struct interval_row *row, void *context)
{
	json_append(context, table_json(&interval_table, row));
}

struct json_object *drive_interval_json(struct drives *before,
					struct drives *now,
					const struct ledger *ledger)
{
	struct json_object *array = json_new_array();

	add_all(before, now, ledger, add_object, array);
	return array;
}
