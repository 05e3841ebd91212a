/* SPDX-License-Identifier: GPL-2.0 */
/* What was found about a stack of devices: findings, and positions. */
#ifndef ALIGNCTL_JUDGEMENT_H
#define ALIGNCTL_JUDGEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/cause.h"
#include "audit/position.h"
#include "base/maybe.h"
#include "remedy/remedy.h"

enum finding_code {
	FINDING_PARTITION_START,
	FINDING_PARTITION_END,
	FINDING_LOOP_START,
	FINDING_DATA_START,
	FINDING_MAPPED_START,
	FINDING_MISALIGNED,
	FINDING_EXTENT,
	FINDING_CHUNK,
	FINDING_FS_BLOCK,
	FINDING_FS_SECTOR,
	FINDING_LUKS_SECTOR,
	FINDING_SPLIT,
	FINDING_HIDDEN,
	FINDING_LARGE_UNIT,
	FINDING_DISAGREE,
	FINDING_PROBED,
	FINDING_UNIT,
	FINDING_ROTATION,
	FINDING_UNREAD,
	FINDING_UNJUDGED,
	FINDING_TABLE_SECTOR,
	FINDING_CLAIM,
	FINDING_MD_LOGICAL,
	FINDING_MD_SUPERBLOCK,
	FINDING_CAUSE,
	FINDING_NR,
};

/**
 * struct finding_advice - what helps most against the touches of a recording
 * @text: the advice, for people; NULL: there is no recording
 * @remedy: word for the remedy; NULL: nothing is forecast, @text says why
 * @left: number of read-modify-writes that are left
 * @gain_percent: share of the touches that the remedy saves
 */
struct finding_advice {
	char *text;
	const char *remedy;
	uint64_t left;
	double gain_percent;
};

/**
 * struct finding - one thing that is wrong with a device, or worth a note
 * @code: kind of the finding
 * @note: costs nothing by itself, or not known to: does not count as a fault
 * @layer: index of the device
 * @cause: cause of the touches, with FINDING_CAUSE only
 * @advice: the forecast's recommendation, with FINDING_CAUSE only
 * @text: one sentence about the device, without its name
 * @cost: price of leaving it so
 * @remedy: row of the remedy that mends it; REMEDY_NONE: @reason names no command
 * @command: the command that mends it; NULL: @reason says why there is none
 * @inner: the command that @reason has among its words, or NULL
 * @reason: why it cannot be mended in place, and what can be done; NULL if
 *	there is a command
 */
struct finding {
	enum finding_code code;
	bool note;
	size_t layer;
	enum cause_kind cause;
	struct finding_advice advice;
	char *text;
	char *cost;
	enum remedy_id remedy;
	char *command;
	char *inner;
	char *reason;
};

/**
 * struct judgement - positions and findings
 * @nr: number of findings
 * @finding: the findings, by rising device, and last the causes; may be NULL if
 *	@nr is 0
 * @position: position of each device of the stack
 */
struct judgement {
	size_t nr;
	struct finding *finding;
	struct position *position;
};

/*
 * Add a finding about device @layer. It owns @text and @cost, which are
 * allocated. Return: the finding, valid until the next one is added.
 */
struct finding *judgement_add(struct judgement *judgement, size_t layer,
			      enum finding_code code, char *text, char *cost);

/* Let a row of the table of remedies be what mends a finding. */
void finding_mend(struct finding *finding, enum remedy_id remedy,
		  const struct remedy_words *words);

void judgement_free(struct judgement *judgement);

/* Return the number of findings that are no notes. */
size_t judgement_faults(const struct judgement *judgement);

/* Return the word for a finding, "partition-start". */
const char *finding_name(enum finding_code code);

#endif
