/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drives below a device, and how many misaligned writes each of them has
 * counted itself, if it counts them. Nothing is written.
 */
#ifndef ALIGNCTL_DRIVE_H
#define ALIGNCTL_DRIVE_H

#include <sys/types.h>

#include "audit/drive_log.h"
#include "audit/stack.h"

/* Why a drive has no count. */
enum drive_reason {
	DRIVE_SAYS,		/* it has one */
	DRIVE_NONE,		/* what lies lowest is no drive */
	DRIVE_NOT_NVME,
	DRIVE_NOT_SUPPORTED,
	DRIVE_NOT_PERMITTED,
	DRIVE_FAILED,
	DRIVE_EMPTY_PAGE,
	DRIVE_OTHER_PAGE,
	DRIVE_UNKNOWN_VERSION,
};

/**
 * struct drive - a drive, and its answer
 * @name: the kernel's name; NULL: it was not asked yet
 * @kind: transport, for people: "NVMe", "ATA"
 * @reason: why it has no count
 * @error: message of the step that failed; NULL unless @reason is DRIVE_FAILED
 * @log: its log page, if @reason is DRIVE_SAYS; @log.version also if that is
 *	DRIVE_UNKNOWN_VERSION
 */
struct drive {
	char *name;
	char *kind;
	enum drive_reason reason;
	char *error;
	struct drive_log log;
};

/**
 * struct drives - all drives of the machine
 * @stack: the machine's block devices
 * @drive: answers, one for each device of @stack
 */
struct drives {
	struct stack stack;
	struct drive *drive;
};

/*
 * Find the machine's drives, and ask none. Return: enum alignctl_exit, reported;
 * drives_close() also then.
 */
int drives_open(struct drives *drives);
void drives_close(struct drives *drives);

/*
 * Call @visit for each drive below a device, or the device itself if nothing is
 * below. Each drive is asked when it is visited for the first time.
 */
void drives_below(struct drives *drives, dev_t devno,
		  void (*visit)(const struct drive *drive, void *context),
		  void *context);

/* Return the word for a reason, "not-nvme"; NULL for DRIVE_SAYS. */
const char *drive_reason_name(enum drive_reason reason);

/* Return a reason as a sentence, for free(); NULL for DRIVE_SAYS. */
char *drive_explanation(const struct drive *drive);

#endif
