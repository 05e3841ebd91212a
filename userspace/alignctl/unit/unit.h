/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The unit of a drive: the physical block of a disk, or the indirection unit of
 * an SSD, which is the smallest that it writes without reading. Claims about it
 * are gathered, each with its source, and one is taken; they are never averaged.
 * Beside it, how fast the disk rotates.
 *
 * The order of precedence is that of enum unit_source. A person who gives or
 * overrides the unit of a drive does so because of the other claims. A measurement of this
 * very drive shows what it does, against a document or the drive's own word. The
 * hardware database has what the manufacturer publishes about drives that say
 * nothing or something wrong about themselves, so it comes before them. The
 * kernel repeats what the drive says, cut or rounded to its own rules, and a
 * bridge may have changed it, so it comes last.
 */
#ifndef ALIGNCTL_UNIT_H
#define ALIGNCTL_UNIT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/maybe.h"
#include "base/schema.h"
#include "sysfs/sysfs.h"

/* Who makes a claim: the first one that states the unit is taken. */
enum unit_source {
	UNIT_GIVEN,		/* the user, by --physical */
	UNIT_OVERRIDE,		/* the administrator, in udev's hwdb */
	UNIT_MEASURED,		/* 'alignctl probe block-size' */
	UNIT_HWDB,		/* udev's hwdb, from a public document */
	UNIT_DRIVE,		/* the drive, asked directly */
	UNIT_KERNEL,		/* sysfs */
};

/* How far a claim can be relied on. */
enum unit_confidence {
	UNIT_LOW,		/* a hint, which may be about something else */
	UNIT_MEDIUM,
	UNIT_HIGH,
};

/**
 * struct unit_claim - what one source says
 * @source: the source
 * @figure: name of the figure there, as "NPWG"
 * @origin: where the source has the figure from, for people; NULL: itself
 * @bytes: size; unknown: the source does not say, or @unread
 * @confidence: how far it can be relied on
 * @states: the figure is of the unit; else it only bears on it, and is neither
 *	taken nor contradicts
 * @unread: why the figure could not be read, for people; NULL: it was
 */
struct unit_claim {
	enum unit_source source;
	const char *figure;
	const char *origin;
	struct maybe bytes;
	enum unit_confidence confidence;
	bool states;
	char *unread;
};

/**
 * struct unit_rotation - what one source says of how fast a disk rotates
 * @rpm: revolutions a minute; 0: it does not rotate; unknown: @unread
 * @least: lower end of the interval of a measurement, else @rpm
 * @most: its upper end
 * @source: the source: a measurement, the drive, or the kernel for a disk that
 *	does not rotate
 * @figure: name of the figure there, as "IDENTIFY word 217"
 * @unread: why what was measured cannot be used, for people; NULL: it can
 */
struct unit_rotation {
	struct maybe rpm;
	struct maybe least;
	struct maybe most;
	enum unit_source source;
	const char *figure;
	char *unread;
};

/**
 * struct unit_rated - how many bytes an SSD is rated to be written in its life
 * @bytes: the bytes; unknown: no source states them
 * @source: the source: an administrator, or a document
 * @figure: name of the property
 */
struct unit_rated {
	struct maybe bytes;
	enum unit_source source;
	const char *figure;
};

#define UNIT_ROTATIONS	4
#define UNIT_CLAIMS	12

/* The figure of the drive that the audit compares with the kernel's itself. */
#define UNIT_IDENTIFY	"IDENTIFY word 106"

/**
 * struct unit - the unit of a disk
 * @nr: number of claims
 * @claim: the claims, by precedence once they are judged
 * @taken: index of the claim that is taken; UNIT_CLAIMS: none
 * @logical: logical block of the disk, bytes
 * @physical: physical block as sysfs has it, bytes
 * @offset: alignment offset of the disk that was measured with the unit, bytes
 * @nr_rotations: number of rotations
 * @rotation: what each source says of the disk's rotation, by precedence, which
 *	is that of enum unit_source and, of the drive, that of its own words
 * @rated: writes that the drive is rated for
 * @model: model as the drive says; NULL: not known
 * @firmware: version of its firmware; NULL: not known
 * @disk: wwid, or "serial-" and the serial number; NULL: it has none
 * @serial: serial number; NULL: not known
 *
 * One of zeroes has no claims, and is judged.
 */
struct unit {
	size_t nr;
	struct unit_claim claim[UNIT_CLAIMS];
	size_t taken;
	struct maybe logical;
	struct maybe physical;
	struct maybe offset;
	size_t nr_rotations;
	struct unit_rotation rotation[UNIT_ROTATIONS];
	struct unit_rated rated;
	char *model;
	char *firmware;
	char *disk;
	char *serial;
};

/* Add a claim, which owns @unread. */
struct unit_claim *unit_claim(struct unit *unit, enum unit_source source,
			      const char *figure, struct maybe bytes,
			      enum unit_confidence confidence, char *unread);

/* Order the claims by precedence, and choose the one that is taken. */
void unit_judge(struct unit *unit);

/*
 * Gather all claims about the disk that a device is or lies on, and judge them.
 * The disk is opened for reading and asked, where the caller may. May sleep for
 * as long as the kernel waits for the disk. The caller frees @unit.
 */
void unit_ask(struct unit *unit, const struct sysfs_device *sys);
void unit_free(struct unit *unit);

/* Put the unit that the user gives before all other claims. */
void unit_give(struct unit *unit, struct maybe bytes);

/* Return the claim that is taken, or NULL. */
const struct unit_claim *unit_taken(const struct unit *unit);

/* Return the unit, bytes; unknown: nothing states it. */
struct maybe unit_bytes(const struct unit *unit);

/* Return the unit that a source states, bytes; unknown: none stated. */
struct maybe unit_claimed(const struct unit *unit, enum unit_source source);

/*
 * Return the unit that an administrator, a measurement or a document states,
 * bytes; unknown: there are only the figures of the drive and the kernel, or one
 * that was given in their place.
 */
struct maybe unit_known_better(const struct unit *unit);

/*
 * Check for a claim that states another unit than the one that is taken.
 * Claims without a figure contradict nothing.
 */
bool unit_contradicted(const struct unit *unit);

/*
 * Check for a claim that states the unit and is none of the kernel, of the
 * drive's ATA Identify data, or of a measurement.
 */
bool unit_has_stranger(const struct unit *unit);

/* Return the first that says how fast a disk rotates, or NULL. */
const struct unit_rotation *unit_rotation(const struct unit *unit);

/*
 * Check for a source that says another rotation than the first one. A drive says
 * its nominal speed, so it contradicts a measurement only by more than 1 %.
 */
bool unit_rotation_contradicted(const struct unit *unit);

/*
 * Return what all say of the rotation, as "drive (VPD page B1h) 7200 rpm, kernel
 * (rotational) no rotation", for free(); NULL: no source states one.
 */
char *unit_rotations_text(const struct unit *unit);

/*
 * Return all claims that state the unit, as "measured 4096, kernel
 * (physical_block_size) 512", for free(); NULL: there are none.
 */
char *unit_claims_text(const struct unit *unit);

/* Return the words of a source and a confidence in the JSON, "measured". */
const char *unit_source_name(enum unit_source source);
const char *unit_confidence_name(enum unit_confidence confidence);

/*
 * Return a unit as an object of JSON, as alignctl-check(8) has it; the caller
 * puts it.
 */
struct json_object *unit_json(const struct unit *unit);

/* The members of unit_json(). */
extern const struct schema_row unit_members[];

#endif
