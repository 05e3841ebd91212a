// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of the simulated machine: blocks of powers of two from one arena at a
 * fixed address, so that addresses, which decide where requests are cut, are the
 * same in each run. Freed memory is overwritten, and used again as late as can be.
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
	void *base;		/* argument of ASan's free() */
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

/*
 * Pieces of memory in a search, where no address is used twice: a pointer tells which
 * piece it was to, also when that has been freed.
 */
#define GRANULE		32UL
#define MOST_GRANULES	(1U << 19)

static char *pieces[MACHINE_MOST_PIECES];
static unsigned int nr_pieces;
#ifndef SIM_ASAN
static unsigned short piece_at[MOST_GRANULES];

static void note_piece(char *memory, size_t room)
{
	size_t from = (size_t)(memory - (char *)MACHINE_ARENA_AT) / GRANULE;
	size_t to = from + room / GRANULE;

	if (nr_pieces + 1 == MACHINE_MOST_PIECES || to > MOST_GRANULES)
		machine_fail("a search needs more memory than can be followed");
	pieces[++nr_pieces] = memory;
	for (; from < to; from++)
		piece_at[from] = (unsigned short)nr_pieces;
}
#endif

unsigned int machine_piece_at(const void *at)
{
#ifdef SIM_ASAN
	(void)at;
	return 0;
#else
	size_t granule = (size_t)((const char *)at -
				  (char *)MACHINE_ARENA_AT) / GRANULE;
	unsigned int nr = granule < MOST_GRANULES ? piece_at[granule] : 0;

	/* Entries that earlier runs have left mean nothing. */
	return nr && nr <= nr_pieces && (const char *)at >= pieces[nr] &&
	       (const char *)at < pieces[nr] + machine_size(pieces[nr]) ? nr : 0;
#endif
}

struct machine_piece machine_piece(unsigned int number)
{
	const struct chunk *chunk = chunk_of(pieces[number]);

	return (struct machine_piece) {
		.at = pieces[number], .bytes = chunk->bytes,
		.used = chunk->magic == CHUNK_USED,
	};
}

unsigned int memory_pieces(void)
{
	return nr_pieces;
}

void memory_parts(void (*part)(void *at, size_t bytes))
{
	struct chunk *chunk;
	unsigned int i;

	PART(allocated);
	PART(nr_pieces);
	LIST(pieces, nr_pieces + 1);
#ifndef SIM_ASAN
	PART(arena);
#endif
	/* Freed memory stays freed, with any memory behind it. */
	for (i = 1; i <= nr_pieces; i++) {
		chunk = chunk_of(pieces[i]);
		if (chunk->magic == CHUNK_USED)
			part(chunk, sizeof(*chunk) + chunk->bytes);
	}
}

/* Memory in use by a search is never walked: its pieces have a list of their own. */
static void link_used(struct chunk *chunk)
{
#ifndef SIM_ASAN
	if (options.strategy == STRATEGY_SEARCH) {
		chunk->next = chunk;
		chunk->prev = chunk;
		return;
	}
#endif
	chunk->next = used.next;
	chunk->prev = &used;
	used.next->prev = chunk;
	used.next = chunk;
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
		/* Align memory to its own size, as the slab does. */
		size_t step = 32UL << class;
		uintptr_t at = (uintptr_t)arena + sizeof(*chunk);

		memory = (char *)((at + step - 1) & ~(step - 1));
		if (memory + (32UL << class) > arena_end)
			machine_fail("the simulated machine has no memory left");
		arena = memory + (32UL << class);
		chunk = chunk_of(memory);
		if (options.strategy == STRATEGY_SEARCH)
			note_piece(memory, 32UL << class);
	}
	/* A search has nothing there, as it looks at all that there is, often. */
	memset(memory, options.strategy == STRATEGY_SEARCH ? 0 : 0xa5, bytes);
#endif
	chunk->bytes = bytes;
	chunk->class = class;
	chunk->magic = CHUNK_USED;
	link_used(chunk);
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
	if (options.strategy == STRATEGY_SEARCH)
		return;
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
	nr_pieces = 0;
	arena = MACHINE_ARENA_AT;
	memset(freed, 0, sizeof(freed));
#endif
	used.next = &used;
	used.prev = &used;
	allocated = 0;
}
