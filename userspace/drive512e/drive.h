/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drive at its interface: it puts all requests into one order of arrival,
 * in which they are logged, counted and handed to the model.
 */
#ifndef DRIVE512E_DRIVE_H
#define DRIVE512E_DRIVE_H

#include "media.h"
#include "model.h"

struct drive_config {
	struct model_config model;
	const char *file;	/* backing file, NULL: memory */
	const char *log;	/* request log, NULL: none */
};

struct drive;

/* Create a drive; NULL with errno set, and the parameter at fault in *@what. */
struct drive *drive_new(const struct drive_config *config, const char **what);
void drive_free(struct drive *drive);

/*
 * Carry out @req and return when it is due: 0, or -1 with errno set. @buf takes
 * a read's data or has a write's. May sleep; safe to call from any number of
 * threads.
 *
 * A read takes its data on arrival and a write changes the media on completion:
 * of all that a drive may do with requests in flight together, this is hardest
 * on a host that gets its order wrong.
 */
int drive_request(struct drive *drive, const struct request *req, void *buf);

/*
 * Cut the power and switch it on: media_cut() and media_power_on().  Without
 * power every request fails at once and is neither counted nor logged; the
 * request with which the power goes is the last one counted.
 */
bool drive_cut_power(struct drive *drive, const struct power_cut *how);
void drive_power_on(struct drive *drive);

/* Make requests fail, and end that: media_fail() and media_heal(). */
int drive_fail(struct drive *drive, enum op op, uint64_t first, uint64_t count);
void drive_heal(struct drive *drive);

/* Return the size of the drive in bytes. */
uint64_t drive_size(const struct drive *drive);

/* Zero all counters and start the next epoch. */
void drive_reset(struct drive *drive);

/* Return the counters as a line of JSON without a newline; NULL: no memory. */
char *drive_stats_json(struct drive *drive);

#endif
