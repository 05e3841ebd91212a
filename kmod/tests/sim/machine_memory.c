// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of the simulated machine: blocks of powers of two from one arena at a
 * fixed address, so that addresses, which decide where requests are cut, are the
 * same in each run. What is freed is overwritten, and used again as late as can be.
 * ASan's build takes the C library's, where ASan sees each use behind a free.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine_own.h"

#define CLASSES		24
#define POISON		0x6b

struct chunk {
	struct chunk *next, *prev;
	void *base;		/* what ASan's free() wants */
	size_t bytes;
	unsigned int class;
	unsigned int magic;
};

#define CHUNK_USED	0x5ee0a11cU
#define CHUNK_FREE	0xdeadf4eeU

static struct chunk used;
static size_t allocated;
#ifndef SIM_ASAN
static char *arena, *arena_end;
struct free_list {
	struct chunk *first, *last;
};
static struct free_list freed[CLASSES];
#endif

static struct chunk *chunk_of(const void *memory)
{
	return (struct chunk *)((uintptr_t)memory - sizeof(struct chunk));
}

void *machine_alloc(size_t bytes, size_t align)
{
	struct chunk *chunk;
	unsigned int class = 0;
	char *memory;

#ifdef SIM_ASAN
	size_t head = align > sizeof(*chunk) ? align : sizeof(*chunk);
	void *base = NULL;

	if (posix_memalign(&base, align < 16 ? 16 : align, head + bytes))
		machine_fail("the machine has no memory left");
	memory = (char *)base + head;
	chunk = chunk_of(memory);
	chunk->base = base;
	class = 0;
#else
	size_t room = bytes < align ? align : bytes;

	while ((32UL << class) < room)
		class++;
	if (class >= CLASSES)
		return NULL;
	if (freed[class].first) {
		chunk = freed[class].first;
		freed[class].first = chunk->next;
		memory = (char *)(chunk + 1);
	} else {
		/* Aligned to its own size, as the slab does. */
		size_t step = 32UL << class;
		uintptr_t at = (uintptr_t)arena + sizeof(*chunk);

		memory = (char *)((at + step - 1) & ~(step - 1));
		if (memory + (32UL << class) > arena_end)
			machine_fail("the simulated machine has no memory left");
		arena = memory + (32UL << class);
		chunk = chunk_of(memory);
	}
	memset(memory, 0xa5, bytes);
#endif
	chunk->bytes = bytes;
	chunk->class = class;
	chunk->magic = CHUNK_USED;
	chunk->next = used.next;
	chunk->prev = &used;
	used.next->prev = chunk;
	used.next = chunk;
	allocated += bytes;
	return memory;
}

void machine_free(void *memory)
{
	struct chunk *chunk = chunk_of(memory);

	if (chunk->magic != CHUNK_USED)
		machine_fail("memory is freed that is not allocated");
	weak_free(memory, chunk->bytes);
	chunk->magic = CHUNK_FREE;
	chunk->next->prev = chunk->prev;
	chunk->prev->next = chunk->next;
	allocated -= chunk->bytes;
#ifdef SIM_ASAN
	free(chunk->base);
#else
	memset(memory, POISON, chunk->bytes);
	chunk->next = NULL;
	if (freed[chunk->class].first)
		freed[chunk->class].last->next = chunk;
	else
		freed[chunk->class].first = chunk;
	freed[chunk->class].last = chunk;
#endif
}

size_t machine_size(const void *memory)
{
#ifdef SIM_ASAN
	return chunk_of(memory)->bytes;	/* ASan would see a use of the rest */
#else
	return 32UL << chunk_of(memory)->class;
#endif
}

bool memory_has(const char *at)
{
#ifdef SIM_ASAN
	(void)at;
	return false;
#else
	return at >= (const char *)MACHINE_ARENA_AT && at < arena_end;
#endif
}

size_t machine_leaked(void)
{
	return allocated;
}

void memory_reset(void)
{
#ifdef SIM_ASAN
	while (used.next && used.next != &used)
		machine_free(used.next + 1);
#else
	if (!arena_end) {
		void *at = mmap(MACHINE_ARENA_AT, MACHINE_ARENA_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				MAP_FIXED_NOREPLACE, -1, 0);

		if (at == MAP_FAILED) {
			perror("sim: the arena");
			exit(2);
		}
		arena_end = (char *)MACHINE_ARENA_AT + MACHINE_ARENA_BYTES;
	}
	arena = MACHINE_ARENA_AT;
	memset(freed, 0, sizeof(freed));
#endif
	used.next = &used;
	used.prev = &used;
	allocated = 0;
}
