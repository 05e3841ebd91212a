// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "machine.h"

#define SLOTS		(1U << 14)
#define MOST_IGNORED	16U

/* A word that was accessed in this step: only if @step is that of now. */
struct slot {
	uintptr_t word;
	uint32_t step;
	bool written;
};

#ifdef SIM_ACCESSES
const bool accesses_seen = true;
#else
const bool accesses_seen = false;
#endif
bool accesses_loose;

static struct slot slots[SLOTS];
static unsigned int order[SLOTS], nr_noted;
static uint32_t step;
static bool noting;
static struct {
	uintptr_t from, to;
} ignored[MOST_IGNORED];
static unsigned int nr_ignored;

void accesses_begin(void)
{
	step++;
	nr_noted = 0;
	noting = true;
}

void accesses_stop(void)
{
	noting = false;
}

static struct slot *find(uintptr_t word)
{
	unsigned int at = (unsigned int)((word >> 3) * 0x9e3779b1U >> 7) % SLOTS;

	while (slots[at].step == step && slots[at].word != word)
		at = (at + 1) % SLOTS;
	return &slots[at];
}

static void note_word(uintptr_t word, bool write)
{
	struct slot *slot = find(word);

	if (slot->step != step) {
		if (nr_noted == SLOTS / 2)
			machine_fail("a step accesses more than %u words",
				     SLOTS / 2);
		*slot = (struct slot) { word, step, false };
		order[nr_noted++] = (unsigned int)(slot - slots);
	}
	slot->written |= write && !accesses_loose;
}

void accesses_note(const void *what, bool write)
{
	if (noting)
		note_word((uintptr_t)what & ~(uintptr_t)7, write);
}

void accesses_add(struct accesses *to)
{
	size_t i;

	if (to->room - to->nr < nr_noted) {
		to->room = to->nr + nr_noted;
		to->entry = realloc(to->entry, to->room * sizeof(*to->entry));
		if (!to->entry)
			abort();
	}
	for (i = 0; i < nr_noted; i++)
		to->entry[to->nr++] = slots[order[i]].word |
				      slots[order[i]].written;
}

bool accesses_apart(const struct accesses *of)
{
	size_t i;

	for (i = 0; i < of->nr; i++) {
		const struct slot *slot = find(of->entry[i] & ~(uintptr_t)7);

		if (slot->step == step && (slot->written || of->entry[i] & 1))
			return false;
	}
	return !of->all;
}

void accesses_ignore(const void *from, size_t bytes)
{
	if (nr_ignored == MOST_IGNORED)
		machine_fail("more than %u ranges are ignored", MOST_IGNORED);
	ignored[nr_ignored].from = (uintptr_t)from;
	ignored[nr_ignored++].to = (uintptr_t)from + bytes;
}

void accesses_forget_ignored(void)
{
	nr_ignored = 0;
}

#ifdef SIM_ACCESSES
/*
 * A task's stack may hold objects that other threads wait for or write to. The stack
 * of an interrupt or a device holds nothing behind the step.
 */
static bool is_private(uintptr_t at)
{
	unsigned int i;

	if (machine_current->context != CONTEXT_TASK &&
	    machine_is_on_stack((const void *)at))
		return true;
	if (!machine_is_shared((const void *)at))
		return true;
	for (i = 0; i < nr_ignored; i++)
		if (at >= ignored[i].from && at < ignored[i].to)
			return true;
	return false;
}

static void note_range(const void *from, size_t bytes, bool write)
{
	uintptr_t at = (uintptr_t)from & ~(uintptr_t)7;

	if (!noting || !bytes || is_private((uintptr_t)from))
		return;
	for (; at < (uintptr_t)from + bytes; at += 8)
		note_word(at, write);
}

/* The hooks that the compiler calls. */
#define ACCESS(bytes) \
	void __tsan_read##bytes(const void *at); \
	void __tsan_read##bytes(const void *at) \
	{ \
		note_range(at, bytes, false); \
	} \
	void __tsan_write##bytes(const void *at); \
	void __tsan_write##bytes(const void *at) \
	{ \
		note_range(at, bytes, true); \
	} \
	void __tsan_unaligned_read##bytes(const void *at); \
	void __tsan_unaligned_read##bytes(const void *at) \
	{ \
		note_range(at, bytes, false); \
	} \
	void __tsan_unaligned_write##bytes(const void *at); \
	void __tsan_unaligned_write##bytes(const void *at) \
	{ \
		note_range(at, bytes, true); \
	}

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_read_range(const void *at, size_t bytes);
void __tsan_read_range(const void *at, size_t bytes)
{
	note_range(at, bytes, false);
}

void __tsan_write_range(const void *at, size_t bytes);
void __tsan_write_range(const void *at, size_t bytes)
{
	note_range(at, bytes, true);
}

/* The linker has all calls of memcpy() and the like come here (--wrap). */
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
	note_range(from, bytes, false);
	note_range(to, bytes, true);
	return __real_memcpy(to, from, bytes);
}

void *__real_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
	note_range(from, bytes, false);
	note_range(to, bytes, true);
	return __real_memmove(to, from, bytes);
}

void *__real_memset(void *to, int byte, size_t bytes);
void *__wrap_memset(void *to, int byte, size_t bytes);
void *__wrap_memset(void *to, int byte, size_t bytes)
{
	note_range(to, bytes, true);
	return __real_memset(to, byte, bytes);
}
#endif
