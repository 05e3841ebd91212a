// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "media.h"
#include "oracle.h"
#include "states.h"

#define MOST_KEYS	8192U
#define STACKS		((uintptr_t)MACHINE_ARENA_AT + MACHINE_ARENA_BYTES)

/* A numbered thing: a piece of memory, or a thread. */
struct thing {
	bool is_thread;
	unsigned int of;
};

/* Something that is in a list of which the order means nothing. */
struct key {
	sim_u64 key;
	unsigned int at;
};

#ifdef SIM_ASAN
const bool states_seen = false;
#else
const bool states_seen = true;
#endif
bool states_loose;

static struct machine_inside in;
static unsigned int number_of_piece[MACHINE_MOST_PIECES];
static unsigned int number_of_thread[MOST_THREADS];
static struct thing things[MACHINE_MOST_PIECES + MOST_THREADS];
static unsigned int nr_things, walked;
static sim_u64 hash;

/* All static data of the engine, the shim and the world. */
extern char __start_sim_data[], __stop_sim_data[];

static void add(sim_u64 word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
	hash ^= hash >> 32;
}

static unsigned int give_number(unsigned int *number, bool is_thread,
				unsigned int of)
{
	if (!*number) {
		things[nr_things] = (struct thing) { is_thread, of };
		*number = ++nr_things;
	}
	return *number;
}

static sim_u64 of_thing(unsigned int kind, unsigned int number, size_t place)
{
	return (sim_u64)kind << 60 | (sim_u64)number << 32 | place;
}

static sim_u64 of_thread(unsigned int kind, size_t at, size_t bytes)
{
	unsigned int i = (unsigned int)(at / bytes);

	return of_thing(kind, give_number(&number_of_thread[i], true, i),
			at % bytes);
}

/* Return the meaning of a word of memory, wherever things lie. */
static sim_u64 meaning(sim_u64 word)
{
	uintptr_t in_arena = word - (uintptr_t)MACHINE_ARENA_AT;
	uintptr_t in_stacks = word - STACKS;
	uintptr_t in_threads = word - (uintptr_t)in.threads;
	unsigned int piece;

	if (in_arena < MACHINE_ARENA_BYTES) {
		piece = machine_piece_at((void *)word);
		if (!piece)
			return word;
		return of_thing(1, give_number(&number_of_piece[piece], false,
					       piece),
				word - (uintptr_t)machine_piece(piece).at);
	}
	if (in_stacks < in.nr_threads * STACK_BYTES)
		return of_thread(2, in_stacks, STACK_BYTES);
	if (in_threads < in.nr_threads * sizeof(*in.threads))
		return of_thread(3, in_threads, sizeof(*in.threads));
	return word;
}

static void add_meaning(const void *pointer)
{
	add(meaning((uintptr_t)pointer));
}

/* Add memory: its words that differ from the one before, each with its place. */
static void add_memory(const char *from, size_t bytes)
{
	sim_u64 words[8], last = 0;
	size_t at, i;

	for (at = 0; at < bytes; at += sizeof(words)) {
		if (bytes - at >= sizeof(words)) {
			memcpy(words, from + at, sizeof(words));
		} else {
			memset(words, 0, sizeof(words));
			memcpy(words, from + at, bytes - at);
		}
		if (!((words[0] ^ last) | (words[1] ^ last) |
		      (words[2] ^ last) | (words[3] ^ last) |
		      (words[4] ^ last) | (words[5] ^ last) |
		      (words[6] ^ last) | (words[7] ^ last)))
			continue;
		for (i = 0; i < 8; i++) {
			if (words[i] == last)
				continue;
			last = words[i];
			add(meaning(last) ^ (at + i) * 0x9e3779b97f4a7c15ULL);
		}
	}
	add(bytes);
}

static void add_thread(const struct thread *thread)
{
	unsigned int i;

	add(thread->state);
	if (thread->state == THREAD_IDLE)
		return;
	add(thread->context);
	add((sim_u64)thread->cpu);
	add(thread->preempt);
	add(thread->rcu);
	add(thread->irqs_off | thread->killed << 1 | thread->unplugs << 2);
	add_meaning(thread->bio_list);
	add_meaning(thread->plug);
	add_meaning(thread->waits_for);
	add(thread->wake_ns);
	add(thread->nr_held);
	for (i = 0; i < thread->nr_held; i++)
		add_meaning(thread->held[i]);
	add_meaning(thread->run);
	add_meaning(thread->argument);
	add_meaning(thread->below);
	add_memory(thread->sp, (size_t)(thread->stack + STACK_BYTES -
					(char *)thread->sp));
}

/* Add all numbered things that were not added yet, and the things they point to. */
static void walk(void)
{
	struct machine_piece piece;

	for (; walked < nr_things; walked++) {
		if (things[walked].is_thread) {
			add_thread(&in.threads[things[walked].of]);
			continue;
		}
		piece = machine_piece(things[walked].of);
		add(piece.used);
		if (piece.used)
			add_memory(piece.at, piece.bytes);
	}
}

/* A key for an order: mostly another one for another thing. */
static sim_u64 key_of(void (*run)(void *argument), const void *argument)
{
	uintptr_t at = (uintptr_t)argument;
	sim_u64 key = (uintptr_t)run * 0x9e3779b97f4a7c15ULL;

	if (at - (uintptr_t)MACHINE_ARENA_AT >= MACHINE_ARENA_BYTES)
		return key + at;
	return key + number_of_piece[machine_piece_at(argument)];
}

static int compare(const void *a, const void *b)
{
	const struct key *one = a, *other = b;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return one->at < other->at ? -1 : 1;
}

/* Threads that nothing points to, such as those that have not begun. */
static void add_other_threads(void)
{
	struct key keys[MOST_THREADS];
	unsigned int nr = 0, i;

	for (i = 0; i < in.nr_threads; i++)
		if (!number_of_thread[i] && in.threads[i].state != THREAD_IDLE)
			keys[nr++] = (struct key) {
				key_of(in.threads[i].run,
				       in.threads[i].argument), i,
			};
	qsort(keys, nr, sizeof(*keys), compare);
	for (i = 0; i < nr; i++) {
		give_number(&number_of_thread[keys[i].at], true, keys[i].at);
		walk();
	}
}

static void add_interrupts(const struct interrupt *entry, size_t nr)
{
	static struct key keys[MOST_KEYS];
	unsigned int i;

	for (i = 0; i < nr; i++)
		keys[i] = (struct key) {
			key_of(entry[i].run, entry[i].argument), i,
		};
	qsort(keys, nr, sizeof(*keys), compare);
	add(nr);
	for (i = 0; i < nr; i++) {
		add_meaning(entry[keys[i].at].run);
		add_meaning(entry[keys[i].at].argument);
		walk();
	}
}

/* Timers that are set: when, is in their memory. */
static void add_timers(void)
{
	sim_u64 before = hash, sum = 0;
	size_t i;

	for (i = 0; i < in.nr_timers; i++) {
		hash = 0;
		add_meaning(in.timers[i]);
		sum += hash;
	}
	hash = before;
	add(sum);
	walk();
}

/* The place of a timer in the machine's list means nothing. */
static void hide_places(bool hide)
{
	unsigned int i;

	for (i = 0; i < in.nr_timers; i++)
		in.timers[i]->place = hide ? 1 : i + 1;
}

sim_u64 states_hash(const struct world_plan *plan)
{
	unsigned int i;

	in = machine_inside();
	memset(number_of_piece, 0, (in.nr_pieces + 1) * sizeof(*number_of_piece));
	memset(number_of_thread, 0, in.nr_threads * sizeof(*number_of_thread));
	nr_things = 0;
	walked = 0;
	hash = 0;
	hide_places(true);
	add_memory(__start_sim_data,
		   (size_t)(__stop_sim_data - __start_sim_data));
	walk();
	add_other_threads();
	for (i = 0; i < 2; i++)
		add_interrupts(in.interrupts[i].entry, in.interrupts[i].nr);
	add_timers();
	hide_places(false);
	add(in.now);
	add(in.early);
	add(in.explored);
	add(in.allocated);
	if (!states_loose) {
		add(world_count.outcome);
		media_state(plan->sectors, add);
		oracle_state(plan->sectors, add);
	}
	return hash ? hash : 1;
}

/* States that were seen: a table with open addresses, never more than half full. */
static struct state *states;
static size_t room, nr_states;

static struct state *find(sim_u64 of)
{
	size_t at = of & (room - 1);

	while (states[at].hash && states[at].hash != of)
		at = (at + 1) & (room - 1);
	return &states[at];
}

static void make_room(size_t new_room)
{
	struct state *old = states;
	size_t old_room = room, i;

	states = calloc(new_room, sizeof(*states));
	if (!states)
		abort();
	room = new_room;
	for (i = 0; i < old_room; i++)
		if (old[i].hash)
			*find(old[i].hash) = old[i];
	free(old);
}

void states_forget(void)
{
	free(states);
	states = NULL;
	room = 0;
	nr_states = 0;
	make_room(1024);
}

struct state *states_find(sim_u64 of)
{
	struct state *state = find(of);

	return state->hash ? state : NULL;
}

void states_add(sim_u64 of)
{
	if (2 * ++nr_states > room)
		make_room(2 * room);
	*find(of) = (struct state) { .hash = of };
}
