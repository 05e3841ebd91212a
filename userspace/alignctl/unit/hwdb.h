/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The entries of udev's hardware database about the unit of a drive, and about
 * the writes that an SSD is rated for. The
 * project's own are in scripts/packaging/udev/60-alignctl-unit.hwdb; an
 * administrator's, below /etc/udev/hwdb.d, replace them or override everything.
 * The database is this system's, also if another machine's /sys is read.
 */
#ifndef ALIGNCTL_HWDB_H
#define ALIGNCTL_HWDB_H

#include "base/maybe.h"

/* The properties of an entry. */
#define HWDB_UNIT	"ALIGNCTL_UNIT"
#define HWDB_OVERRIDE	"ALIGNCTL_UNIT_OVERRIDE"
#define HWDB_RATED	"ALIGNCTL_RATED_TBW"
#define HWDB_RATED_OVERRIDE	"ALIGNCTL_RATED_TBW_OVERRIDE"

/**
 * struct hwdb_answer - what the database says of a drive
 * @unit: HWDB_UNIT, bytes
 * @override: HWDB_OVERRIDE, bytes
 * @rated: HWDB_RATED, bytes that may be written in the drive's life
 * @rated_override: HWDB_RATED_OVERRIDE, likewise
 * @wrong: why a property cannot be used, or why nothing could be asked, for
 *	free(); NULL: neither
 */
struct hwdb_answer {
	struct maybe unit;
	struct maybe override;
	struct maybe rated;
	struct maybe rated_override;
	char *wrong;
};

/*
 * Return what an entry is found by, for free(). A name that is NULL is empty;
 * ':' and what is no printable ASCII become '_'.
 */
char *hwdb_key(const char *model, const char *firmware, const char *disk);

/*
 * Read the value of a property, a size, or writes in 10^12 bytes. Return: NULL,
 * or why it cannot be used, for free(), and then @bytes is unchanged.
 */
char *hwdb_value(const char *name, const char *value, struct maybe *bytes);
char *hwdb_rated_value(const char *name, const char *value,
		       struct maybe *bytes);

/* Ask the database. The caller frees @answer->wrong. */
void hwdb_ask(const char *key, struct hwdb_answer *answer);

#endif
