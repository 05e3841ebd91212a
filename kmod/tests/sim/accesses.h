/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reads and writes of a step of a simulated machine: words of the engine's, the
 * shim's and the world's memory, and named things of the host's.
 *
 * The sources are compiled as for ThreadSanitizer, whose calls before each access
 * come here. Two steps are independent if neither writes a word that the other one
 * reads or writes: then their order changes nothing.
 */
#ifndef SIM_ACCESSES_H
#define SIM_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct accesses - accesses of a step
 * @entry: addresses of words, with bit 0 set if written
 * @nr: number of @entry
 * @room: most of @entry
 * @all: the step depends on all other steps
 */
struct accesses {
	uintptr_t *entry;
	size_t nr, room;
	bool all;
};

/* Whether the program was built so that accesses are seen. */
extern const bool accesses_seen;
/* Leave out too much: take writes for reads. For a test. */
extern bool accesses_loose;

/* Begin to note, from nothing on; and stop. */
void accesses_begin(void);
void accesses_stop(void);
void accesses_note(const void *what, bool write);
/* Add the accesses noted since accesses_begin(). */
void accesses_add(struct accesses *to);
/* Whether the accesses noted since accesses_begin() are independent of a step's. */
bool accesses_apart(const struct accesses *of);
/* Memory of which accesses are not noted, as they commute. */
void accesses_ignore(const void *from, size_t bytes);
void accesses_forget_ignored(void);

#endif
