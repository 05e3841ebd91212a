/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drive as its interface shows it: one order of arrival for all requests,
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

/* NULL with errno set, and in *@what the parameter at fault. */
struct drive *drive_new(const struct drive_config *config, const char **what);
void drive_free(struct drive *drive);

/*
 * Carries out @req and returns when it is due: 0, or -1 with errno set.  @buf
 * is where a read puts its data or where a write's data is.  Safe to call
 * from any number of threads.
 *
 * A read takes its data when it arrives and a write changes the media when it
 * completes: of all that a drive may do with requests that are in flight
 * together this is what is hardest on a host that gets its order wrong.
 */
int drive_request(struct drive *drive, const struct request *req, void *buf);

/*
 * media_cut() and media_power_on().  Without power every request fails at once
 * and leaves no trace, neither in a counter nor in the log; the request that
 * the power goes with is the last to be counted.
 */
bool drive_cut_power(struct drive *drive, const struct power_cut *how);
void drive_power_on(struct drive *drive);

/* media_fail() and media_heal(). */
int drive_fail(struct drive *drive, enum op op, uint64_t first, uint64_t count);
void drive_heal(struct drive *drive);

/* Zeroes all counters and starts the next epoch. */
void drive_reset(struct drive *drive);

/* The counters as one line of JSON, without a newline; NULL: no memory. */
char *drive_stats_json(struct drive *drive);

#endif
