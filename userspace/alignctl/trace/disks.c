// SPDX-License-Identifier: GPL-2.0
/* Count the requests of each disk by number, and print them sorted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "base/table.h"
#include "trace/disks.h"
#include "trace/format.h"

/* Disks that there is room for at first. */
#define FIRST_ROOM	16U

/* Rows of a table; of more disks there are several, to spare memory. */
#define TABLE_ROWS	4096U

/**
 * struct row - a disk as it is listed
 * @name: name of the disk; NULL: it has none
 * @disk: its counts
 * @touches_known: the number of touches is known
 */
struct row {
	const char *name;
	const struct trace_disk *disk;
	bool touches_known;
};

enum column { COLUMN_DISK, COLUMN_WRITES, COLUMN_TOUCHES };

static const struct table_column columns[] = {
	[COLUMN_DISK] = { .heading = "DISK" },
	[COLUMN_WRITES] = { .heading = "WRITES", .flags = TABLE_RIGHT },
	[COLUMN_TOUCHES] = { .heading = "TOUCHES", .flags = TABLE_RIGHT },
};

static struct table_value value(const void *context, size_t column)
{
	const struct row *row = context;

	switch ((enum column)column) {
	case COLUMN_DISK:
		return table_text(row->name);
	case COLUMN_WRITES:
		return table_number(row->disk->writes);
	case COLUMN_TOUCHES:
		break;
	}
	return row->touches_known ? table_number(row->disk->touches) :
				    table_null();
}

void trace_disks_set_blocks(struct trace_disks *disks, uint32_t physical,
			    uint32_t offset)
{
	/* traces are counted in sectors, with any logical block */
	disks->unknown = align_geometry_init(&disks->blocks, physical,
					     ALIGN_SECTOR_SIZE, offset, 0,
					     TRACE_MAX_END >>
					     ALIGN_SECTOR_SHIFT);
}

/* Return the counts of a disk, all zeroes if it is new. */
static struct trace_disk *disk_of(struct trace_disks *disks, uint32_t file)
{
	if (file >= disks->room) {
		while (file >= disks->room)
			disks->room = disks->room ? 2 * disks->room :
						    FIRST_ROOM;
		disks->disk = memory_or_exit(reallocarray(disks->disk,
			disks->room, sizeof(*disks->disk)));
	}
	while (disks->nr <= file)
		disks->disk[disks->nr++] = (struct trace_disk) { 0 };
	return &disks->disk[file];
}

/*
 * Return the number of touches of a write. A write that begins or ends within a
 * sector is taken as the sectors that it reaches.
 */
static unsigned int touches_of(const struct trace_disks *disks,
			       const struct trace_request *request)
{
	const struct align_geometry *g = &disks->blocks;
	uint64_t first = request->offset >> ALIGN_SECTOR_SHIFT;
	uint64_t last = (request->offset + request->bytes - 1) >>
			ALIGN_SECTOR_SHIFT;
	bool head = align_sector_in_block(g, first);
	bool tail = align_sector_in_block(g, last + 1);

	return align_block_of(g, first) == align_block_of(g, last) ?
	       head || tail : (unsigned int)head + tail;
}

void trace_disks_add(struct trace_disks *disks,
		     const struct trace_request *request)
{
	struct trace_disk *disk;

	if (request->file == TRACE_OTHER_FILE) {
		disks->beyond = true;
		return;
	}
	disk = disk_of(disks, request->file);
	disk->requests++;
	disk->writes += request->op == TRACE_WRITE;
	if (!disks->unknown && (request->op == TRACE_WRITE ||
				request->op == TRACE_WRITE_ZEROES))
		disk->touches += touches_of(disks, request);
}

void trace_disks_clear(struct trace_disks *disks)
{
	disks->nr = 0;
	disks->beyond = false;
}

void trace_disks_free(struct trace_disks *disks)
{
	free(disks->disk);
	*disks = (struct trace_disks) { 0 };
}

/* Order by touches, the most first, then by name, those without one last. */
static int compare_disks(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->disk->touches != y->disk->touches)
		return x->disk->touches < y->disk->touches ? 1 : -1;
	if (!x->name || !y->name)
		return !x->name - !y->name;
	return strcmp(x->name, y->name);
}

/* List the disks that have requests, in order; for free(). */
static struct row *list_disks(const struct trace_disks *disks,
			      const struct trace_names *names, uint32_t *nr)
{
	struct row *rows = memory_or_exit(calloc((size_t)disks->nr + 1,
						 sizeof(*rows)));
	uint32_t i;

	*nr = 0;
	for (i = 0; i < disks->nr; i++)
		if (disks->disk[i].requests)
			rows[(*nr)++] = (struct row) {
				.name = trace_names_get(names, i),
				.disk = &disks->disk[i],
				.touches_known = !disks->unknown,
			};
	qsort(rows, *nr, sizeof(*rows), compare_disks);
	return rows;
}

static void widen_column(struct table_column *column, const char *cell)
{
	if (strlen(cell) > column->width)
		column->width = (unsigned int)strlen(cell);
}

/* Print some of the rows, below others of the same columns or not. */
static void print_some(const struct table_type *type, const struct row *rows,
		       uint32_t nr, bool below)
{
	struct table *table = table_new(type);
	uint32_t i;

	for (i = 0; i < nr; i++)
		table_add(table, &rows[i]);
	if (below)
		table_hide_headings(table);
	table_print_to(table, 2, stderr);
}

/* Print many rows in tables whose columns are in line. */
static void print_many(const struct row *rows, uint32_t nr)
{
	struct table_column wide[] = {
		columns[COLUMN_DISK], columns[COLUMN_WRITES],
		columns[COLUMN_TOUCHES],
	};
	const struct table_type type = TABLE_TYPE(wide, value);
	uint32_t i;

	for (i = 0; i < nr; i++) {
		CLEANUP_FREE char *name =
			message_visible(rows[i].name ? rows[i].name : "");

		widen_column(&wide[COLUMN_DISK], name);
		widen_column(&wide[COLUMN_WRITES], FIGURE_OF(rows[i].disk->writes));
		widen_column(&wide[COLUMN_TOUCHES], FIGURE_OF(rows[i].disk->touches));
	}
	for (i = 0; i < nr; i += TABLE_ROWS)
		print_some(&type, &rows[i],
			   nr - i < TABLE_ROWS ? nr - i : TABLE_ROWS, i);
}

void trace_disks_print(const struct trace_disks *disks,
		       const struct trace_names *names)
{
	static const struct table_type type = TABLE_TYPE(columns, value);
	CLEANUP_FREE struct row *rows = NULL;
	uint32_t nr;

	rows = list_disks(disks, names, &nr);
	if (disks->unknown)
		fprintf(stderr, "%" PRIu32 " disk%s; touches are not known: %s\n",
			nr, PLURAL_OF(nr), disks->unknown);
	else
		fprintf(stderr, "%" PRIu32 " disk%s; touches are of blocks of %" PRIu32
			" bytes, with a boundary at byte %" PRIu32 "\n",
			nr, PLURAL_OF(nr), disks->blocks.physical,
			disks->blocks.offset);
	if (nr > TABLE_ROWS)
		print_many(rows, nr);
	else
		print_some(&type, rows, nr, false);
}
