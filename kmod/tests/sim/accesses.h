/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a step of a simulated machine reads and writes: words of the engine's, the
 * shim's and the world's memory, and things of the host's that are named.
 *
 * The sources are compiled as for ThreadSanitizer, whose calls before each access
 * come here. Two steps are independent if neither writes what the other one reads
 * or writes: then their order changes nothing.
 */
#ifndef SIM_ACCESSES_H
#define SIM_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct accesses - those of a step
 * @entry: addresses of words, with bit 0 set if written
 * @nr: number of @entry
 * @room: most of @entry
 * @all: the step depends on all others
 */
struct accesses {
	uintptr_t *entry;
	size_t nr, room;
	bool all;
};

/* Whether the program was built so that accesses are seen. */
extern const bool accesses_seen;
/* Leave out too much: what is written is taken for read. For a test. */
extern bool accesses_loose;

/* Begin to note, from nothing on; and stop. */
void accesses_begin(void);
void accesses_stop(void);
void accesses_note(const void *what, bool write);
/* Add what was noted since the begin. */
void accesses_add(struct accesses *to);
/* Whether what was noted since the begin is independent of a step's. */
bool accesses_apart(const struct accesses *of);
/* Memory of which accesses are not noted, as they commute. */
void accesses_ignore(const void *from, size_t bytes);
void accesses_forget_ignored(void);

#endif
