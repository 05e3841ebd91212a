/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Litmus tests of the simulated memory: litmus.c has them, and litmus_engine.c those of
 * parts of the engine; litmus_main.c runs them.
 */
#ifndef SIM_LITMUS_H
#define SIM_LITMUS_H

#include "machine.h"

#define LITMUS_PROCESSES	4

/**
 * struct litmus - a litmus test
 * @name: its name, as in tools/memory-model/litmus-tests where it is from there
 * @sometimes: the kernel's memory model allows the outcome that @seen looks for
 * @modelled: the simulated memory shows that outcome, too
 * @process: functions of the threads
 * @seen: tells whether the outcome has come out
 */
struct litmus {
	const char *name;
	bool sometimes, modelled;
	void (*process[LITMUS_PROCESSES])(void);
	bool (*seen)(void);
};

extern const struct litmus litmus_tests[], litmus_engine_tests[];
extern const unsigned int litmus_nr, litmus_engine_nr;
/*
 * The values that the threads have read, as the tests number them: P0's r0 is 00,
 * P1's r2 is 12.
 */
extern sim_u64 litmus_r[LITMUS_PROCESSES][4];

/* Make the variables and locks as they are at first. */
void litmus_begin(void);
void litmus_engine_begin(void);

#define R(process, number) litmus_r[process][number]
#define IS(process, number, value) (R(process, number) == (value))

#define NEVER(test_name, is_seen, ...) \
	{ .name = test_name, .seen = is_seen, .process = { __VA_ARGS__ } }
#define SOMETIMES(test_name, is_seen, ...) \
	{ .name = test_name, .seen = is_seen, .process = { __VA_ARGS__ }, \
	  .sometimes = true, .modelled = true }
/* A test that needs a late load, or a store that CPUs see one after the other. */
#define LEFT_OUT(test_name, is_seen, ...) \
	{ .name = test_name, .seen = is_seen, .process = { __VA_ARGS__ }, \
	  .sometimes = true }

#endif
