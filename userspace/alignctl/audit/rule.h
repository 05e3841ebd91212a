/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules of check. A rule is a struct rule beside the function that judges by it, and
 * its name in the list here.
 */
#ifndef ALIGNCTL_RULE_H
#define ALIGNCTL_RULE_H

#include <stdbool.h>

#include "remedy/remedy.h"

/*
 * All rules, in the order in which the findings about a device stand. rule_NAME is the
 * rule.
 */
#define FOR_EACH_RULE(apply)						\
	apply(disagree)							\
	apply(probed)							\
	apply(unit)							\
	apply(rotation)							\
	apply(misaligned)						\
	apply(split)							\
	apply(large_unit)						\
	apply(unjudged)							\
	apply(partition_start)						\
	apply(partition_end)						\
	apply(loop_start)						\
	apply(hidden)							\
	apply(mapped_start)						\
	apply(unread)							\
	apply(claim)							\
	apply(table_sector)						\
	apply(data_start)						\
	apply(md_superblock)						\
	apply(md_logical)						\
	apply(extent)							\
	apply(chunk)							\
	apply(fs_sector)						\
	apply(fs_block)							\
	apply(luks_sector)						\
	apply(cause)

/* Whether a finding by a rule counts as a fault. */
enum rule_note {
	RULE_FAULT,		/* always */
	RULE_EITHER,		/* unless the function makes a note of it */
	RULE_NOTE,		/* never: it costs nothing by itself */
};

/* What a finding means for the writes of a device; fleet ranks hosts by it. */
enum rule_grade {
	RULE_OTHER,
	RULE_SHIFT,		/* each block that is written lies in two physical ones */
	RULE_UNIT,		/* writes are no multiples of a physical block */
};

/* Which start lies inside a block, by a rule about one. */
enum rule_start {
	RULE_NO_START,
	RULE_START,		/* of the device */
	RULE_DATA_START,	/* of the data behind its header */
	RULE_FILE_START,	/* of the device in its file: no cause is found by it */
};

#define RULE_REMEDIES	4

struct subject;

/**
 * struct rule - what check finds wrong with a device, or notes
 * @name: word for a finding by it, in all that alignctl prints: "partition-start"
 * @note: whether such a finding is a note
 * @grade: grade of a finding that is no note
 * @start: start that it is about
 * @any_block: @place judges a device of which no physical block is known, too
 * @place: judges where a device lies, and what is said of it; may be NULL
 * @content: judges what a device carries, unless a device above shows the same; may be NULL
 * @ledger: judges the counters of an align device, after all devices; may be NULL
 * @remedies: rows of the table of remedies that mend it; the rest is REMEDY_NONE
 * @cost: price of leaving it so, where the function says no other; NULL: the function
 *	always says one
 * @workaround: words for what to do where the function gives a finding no other remedy;
 *	NULL: the function always gives one
 * @man: text of the manual about the rule, with bold words between backquotes
 */
struct rule {
	const char *name;
	enum rule_note note;
	enum rule_grade grade;
	enum rule_start start;
	bool any_block;
	void (*place)(const struct subject *subject);
	void (*content)(const struct subject *subject);
	void (*ledger)(const struct subject *subject);
	enum remedy_id remedies[RULE_REMEDIES];
	const char *cost;
	const char *workaround;
	const char *man;
};

#define RULE_DECLARE(name) extern const struct rule rule_##name;
FOR_EACH_RULE(RULE_DECLARE)
#undef RULE_DECLARE

/* The rules of FOR_EACH_RULE(), ended by NULL. */
extern const struct rule *const check_rules[];

/* Check whether a remedy mends what a rule finds. */
bool rule_has_remedy(const struct rule *rule, enum remedy_id remedy);

#endif
