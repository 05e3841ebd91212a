/* SPDX-License-Identifier: GPL-2.0 */
/* What was found about a stack of devices: findings, and positions. */
#ifndef ALIGNCTL_JUDGEMENT_H
#define ALIGNCTL_JUDGEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/cause.h"
#include "audit/position.h"
#include "audit/rule.h"
#include "base/maybe.h"
#include "remedy/remedy.h"

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
 * @rule: rule by which it was found
 * @note: costs nothing by itself, or not known to: does not count as a fault
 * @layer: index of the device
 * @cause: cause of the touches, by rule_cause only
 * @advice: the forecast's recommendation, by rule_cause only
 * @text: one sentence about the device, without its name
 * @cost: price of leaving it so
 * @remedy: row of the remedy that mends it; REMEDY_NONE: @reason names no command
 * @command: the command that mends it; NULL: @reason says why there is none
 * @inner: the command that @reason has among its words, or NULL
 * @reason: why it cannot be mended in place, and what can be done; NULL if
 *	there is a command
 */
struct finding {
	const struct rule *rule;
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
 * Add a finding about device @layer, a note if the rule makes no faults, with the rule's
 * price and workaround. It owns @text, which is allocated. Return: the finding, valid
 * until the next one is added.
 */
struct finding *judgement_add(struct judgement *judgement, size_t layer,
			      const struct rule *rule, char *text);

/* Say what leaving a finding costs, instead of its rule's price. */
void finding_cost(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Say in words what to do about a finding, instead of its rule's workaround. */
void finding_say(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Let a row of the table of remedies be what mends a finding. */
void finding_mend(struct finding *finding, enum remedy_id remedy,
		  const struct remedy_words *words);

void judgement_free(struct judgement *judgement);

/* Return the number of findings that are no notes. */
size_t judgement_faults(const struct judgement *judgement);

/*
 * Return where the start that a finding is about lies inside a block; unknown: it is
 * about none.
 */
struct maybe judgement_shift(const struct judgement *judgement,
			     const struct finding *finding);

#endif
