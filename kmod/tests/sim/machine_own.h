/* SPDX-License-Identifier: GPL-2.0 */
/* The common declarations of the machine's files. Only these include this header. */
#ifndef SIM_MACHINE_OWN_H
#define SIM_MACHINE_OWN_H

#include "inside.h"
#include "machine.h"

#define MOST_PENDING	4096
#define NEVER		(~0ULL)

struct queue {
	struct interrupt entry[MOST_PENDING];
	size_t nr;
};

struct cpu {
	struct thread *top;
};

extern struct machine_options options;
extern struct thread host;

/* machine.c: runnable tasks that are on no CPU, and runnable devices. */
extern struct thread *waiting[MOST_THREADS];
extern size_t nr_waiting;
extern struct thread *devices[MOST_THREADS];
extern size_t nr_devices;
extern struct cpu cpus[MACHINE_CPUS];
extern struct queue hard, soft;
/* Choices of all runs of the process. */
extern sim_u64 all_choices;

extern struct thread threads[MOST_THREADS];
extern size_t nr_threads;
/* How the run has gone so far. */
extern struct machine_result result;

/*
 * Each file of the machine: call @part for its memory, while no thread runs and
 * without memory that does not change in a search.
 */
void thread_parts(void (*part)(void *at, size_t bytes));
void memory_parts(void (*part)(void *at, size_t bytes));
void time_parts(void (*part)(void *at, size_t bytes));
void search_parts(void (*part)(void *at, size_t bytes));

#define PART(of)	part(&(of), sizeof(of))
#define LIST(of, nr)	part(of, (nr) * sizeof(*(of)))

struct thread *thread_take(enum thread_context context, const char *name,
			   void (*run)(void *argument), void *argument);
/* The current thread's function has returned: it is idle, and other threads go on. */
void thread_end(void);

/* machine_chance.c */
extern sim_u64 chance_state[2];
void chance_begin(sim_u64 seed);

static inline sim_u64 next_random(void)
{
	sim_u64 a = chance_state[0], b = chance_state[1], sum = a + b;

	b ^= a;
	chance_state[0] = (a << 24 | a >> 40) ^ b ^ (b << 16);
	chance_state[1] = b << 37 | b >> 27;
	return sum;
}

/* As machine_choose(), for callers that know that this is no search. */
static inline unsigned int choose_of(unsigned int n)
{
	return n < 2 ? 0 : (unsigned int)((next_random() >> 32) * n >> 32);
}

/* machine_memory.c: drop all memory; whether memory is of the arena. */
void memory_reset(void);
unsigned int memory_pieces(void);
bool memory_has(const char *at);

/* machine_pick.c: which interrupts a CPU can take now. */
bool takes_hard(const struct cpu *cpu);
bool takes_soft(const struct cpu *cpu);
bool takes_task(const struct cpu *cpu);
/* Put the @at-th waiting task on the @nr-th CPU that takes one. */
struct thread *place_task(unsigned int at, unsigned int nr);
struct thread *take_interrupt(struct queue *queue, enum thread_context context,
			      bool (*takes)(const struct cpu *),
			      unsigned int nr, unsigned int at);
/* Choose the next thread. Return: NULL if none can go on. */
struct thread *choose(void);

/* machine_search.c: whether orders are searched; and how often time has gone on meanwhile. */
extern bool explored;
extern unsigned int early;
void search_begin(void);
/* As choose(), as a search of all orders has it. */
struct thread *choose_searched(void);

/* machine_signals.c */
void catch_signals(void);

/* machine_stack.c: a new stack; have a thread begin; go on with another one. */
char *stack_new(unsigned int id);
void stack_begin(struct thread *thread);
/*
 * Clear the unused stack, so that variables that a thread's calls do not set show
 * nothing of earlier calls.
 */
void stack_clean(const struct thread *thread);
void go_to(struct thread *to);

/* machine_story.c */
void story_begin(bool keep);
sim_u64 story_hash(void);

/* machine_time.c: virtual time, and that of the next timer or sleeper. */
extern sim_u64 now_ns, next_ns;
void time_begin(void);
struct machine_timer *const *time_timers(size_t *nr);
void fire_timers(void);
void sleeper_add(struct thread *thread, sim_u64 until_ns);
void sleeper_remove(struct thread *thread);

#endif
