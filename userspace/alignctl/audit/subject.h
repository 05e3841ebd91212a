/* SPDX-License-Identifier: GPL-2.0 */
/* The device that a rule judges, and what several rules ask and say of it. */
#ifndef ALIGNCTL_SUBJECT_H
#define ALIGNCTL_SUBJECT_H

#include "audit/judgement.h"
#include "audit/rule.h"
#include "audit/stack.h"

/**
 * struct subject - a device that is judged by a rule
 * @rule: the rule
 * @judgement: the judgement, of this device and those below so far
 * @stack: the stack
 * @layer: the device
 * @position: its position
 * @block: physical block by which it is judged, bytes; 0: not known
 * @index: index of the device
 */
struct subject {
	const struct rule *rule;
	struct judgement *judgement;
	const struct stack *stack;
	const struct stack_layer *layer;
	const struct position *position;
	int64_t block;
	size_t index;
};

/* Add a finding by the rule that judges, as judgement_add() does. */
struct finding *subject_add(const struct subject *subject, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Say the price of a start that lies inside a block. */
void subject_start_cost(const struct subject *subject, struct finding *finding);

/* Return the first device that the subject lies on, which there must be. */
const struct stack_layer *subject_disk(const struct subject *subject);

/* Return the words of a command for a device with a path, or for a whole image. */
struct remedy_words words_of_layer(const struct stack_layer *layer);

/*
 * Return the words of a command for a device, for the multipath device of a disk
 * that is a path of one, or for a part of an image, which has no path of its own.
 */
struct remedy_words subject_words(const struct subject *subject);

/* Check whether all devices below are where the disk's blocks begin. */
bool subject_below_aligned(const struct subject *subject);

#endif
