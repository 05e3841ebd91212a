/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulated machine: CPUs, threads, interrupts, virtual time, and the choices
 * of a seed.
 *
 * One thread of the simulation runs at a time, on a stack of its own, and it is
 * the only one that runs until it calls machine_point() or one of the calls that
 * say so. There the seed chooses the next thread. So the same seed makes the same
 * choices, and the same story.
 *
 * Only threads that a real machine could run go on. Each CPU runs the innermost of: a
 * hard interrupt, a soft interrupt, a task. A task leaves its CPU where it sleeps, or
 * where it can be preempted. A hard interrupt comes to a CPU that has interrupts on,
 * a soft interrupt to one that has interrupts on and runs no other one. Devices run
 * beside the CPUs.
 *
 * Time stands while a thread can run, and goes on to the next timer when none
 * can, or when the seed says so: a thread may be as slow as it likes.
 *
 * This header serves the kernel's side (the engine and the shim) and the host's
 * (machine_*.c, main.c), which share no other header.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "weak.h"

#define MACHINE_CPUS	4
#define MACHINE_LOCKS	24	/* most spin locks that a thread holds */

typedef unsigned long long sim_u64;

enum thread_context {
	CONTEXT_TASK,
	CONTEXT_SOFTIRQ,
	CONTEXT_HARDIRQ,
	CONTEXT_DEVICE,		/* beside the CPUs; takes no locks, calls no kernel code */
};

enum thread_state {
	THREAD_IDLE,		/* in the pool */
	THREAD_RUNNABLE,
	THREAD_SPINS,		/* for a lock, on its CPU */
	THREAD_SLEEPS,
};

/**
 * struct thread - a thread of the simulation
 * @context: the kind of context: task, interrupt, device
 * @state: whether it can go on
 * @cpu: CPU that it is on, or -1
 * @preempt: preempt_disable() depth, spin locks included
 * @irqs_off: the thread has interrupts off
 * @rcu: rcu_read_lock() depth
 * @killed: a fatal signal is pending
 * @bio_list: as current->bio_list
 * @plug: as current->plug
 * @unplugs: the thread sends plugged requests because it is about to sleep
 * @waits_for: the thing that the thread spins or sleeps for
 * @wake_ns: when it is woken at the latest; ~0: never
 * @held: the spin locks that it holds
 * @nr_held: number of @held
 * @flags: PF_KTHREAD of a thread of the kernel
 * @priority: strategy.c's: the thread with the highest goes on
 * @offers: of a device: return the @nr-th thing that it could do, or NULL
 * @offered: the thing that it was chosen for
 * @id: number, in the story
 * @name: name, in the story
 */
struct thread {
	enum thread_context context;
	enum thread_state state;
	int cpu;
	unsigned int preempt;
	bool irqs_off;
	unsigned int rcu;
	bool killed;
	void *bio_list;
	void *plug;
	bool unplugs;
	const void *waits_for;
	sim_u64 wake_ns;
	void *held[MACHINE_LOCKS];
	unsigned int nr_held;
	unsigned int nr_mutexes;
	unsigned int flags;
	unsigned int priority;
	const void *(*offers)(unsigned int nr);
	const void *offered;
	unsigned int id;
	const char *name;
	/* the machine's own */
	void *sp;
	char *stack;
	void (*run)(void *argument);
	void *argument;
	struct thread *below;
	unsigned int place;
};

extern struct thread *machine_current;

/* Chance. Each call takes part in the story of a seed. */
unsigned int machine_choose(unsigned int n);	/* 0 to @n - 1 */
bool machine_chance(unsigned int one_in);	/* never if 0 */

/*
 * A choice that a search of all orders makes, where the order matters; else the
 * search takes 0, and other strategies leave it to chance.
 */
unsigned int machine_decide(unsigned int n);	/* 0 to @n - 1 */
/* As machine_chance(); in a search once in a life at most, which @happened keeps. */
bool machine_once(unsigned int one_in, bool *happened);
/* From now on orders are searched, or not. */
void machine_explore(bool explore);
/* Whether this is a search, where all that is not searched is kept simple. */
extern bool machine_searches;
static inline bool machine_is_search(void)
{
	return machine_searches;
}

/* From now on time goes on only when no thread can: durations are judged. */
void machine_calm(void);
bool machine_is_calm(void);
/* A search may have other threads go on here. */
void machine_yield(void);
/* Something that steps of a search read or write, beside memory. */
void machine_note_searched(const void *what, bool write);
static inline void machine_note(const void *what, bool write)
{
	if (machine_searches)
		machine_note_searched(what, write);
}

/* Accesses of this memory commute. */
void machine_ignore(const void *from, size_t bytes);

/* A place where another thread may go on. */
extern int machine_budget;
void machine_switch(void);

/* A machine_point() that orders no access to memory. */
#ifdef SIM_WEAK
void machine_bare_point(void);
#else
static inline void machine_bare_point(void)
{
	if (--machine_budget <= 0)
		machine_switch();
}
#endif

static inline void machine_point(void)
{
#ifndef SIM_WEAK_CODE
	weak_mb();
#endif
	machine_bare_point();
#ifndef SIM_WEAK_CODE
	weak_mb();
#endif
}

/* Start a task, or a device. */
struct thread *machine_start(enum thread_context context, const char *name,
			     void (*run)(void *argument), void *argument);

/* Call @run in a hard or soft interrupt, on a CPU that can take one. */
void machine_interrupt(enum thread_context context, const char *name,
		       void (*run)(void *argument), void *argument);

/* Sleep until machine_wake(), or @until_ns (~0: no limit); a task or a device. */
void machine_sleep(const void *waits_for, sim_u64 until_ns);
void machine_wake(struct thread *thread);
/* Wake all threads that sleep for a thing. */
void machine_wake_for(const void *thing);

/* Spin until machine_unspin() for the same thing. */
void machine_spin(const void *waits_for);
void machine_unspin(const void *waits_for);

/* Return why the current thread may not sleep here; NULL if it may. */
const char *machine_atomic(void);

/* Whether CPUs see stores of each other late: weak.h. */
static inline bool machine_is_weak(void)
{
#ifdef SIM_WEAK
	return true;
#else
	return false;
#endif
}

/* Virtual time, ns; and a timer that raises an interrupt. */
sim_u64 machine_now(void);

/**
 * struct machine_timer - a timer
 * @at_ns: when; ~0: not set
 * @context: CONTEXT_SOFTIRQ or CONTEXT_HARDIRQ
 * @run: called in that context
 * @argument: its argument
 * @raised: its interrupt has been raised and has not begun; @run clears it
 * @running: the thread that runs it now, or NULL; @run's own
 * @again: the timer was raised while it ran; @run's own
 * @place: entry in the machine's list, plus 1; 0: in none
 */
struct machine_timer {
	sim_u64 at_ns;
	enum thread_context context;
	void (*run)(void *argument);
	void *argument;
	bool raised;
	const struct thread *running;
	bool again;
	unsigned int place;
};

void machine_timer_set(struct machine_timer *timer, sim_u64 at_ns);
void machine_timer_clear(struct machine_timer *timer);
/* Whether a timer that is set lies in some memory. Not in a search. */
bool machine_has_timer(const void *memory, size_t bytes);

/* The story: a line is its format, of %llu only, and up to four figures. */
void machine_say(const char *format, sim_u64 a, sim_u64 b, sim_u64 c,
		 sim_u64 d);

/* The first words of a run that ended though something was left to do. */
#define MACHINE_HANGS	"hang: no thread can go on"

/* A violation: the run ends here. */
void machine_fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* End the run from within, as planned; @why is given to machine_run()'s caller. */
void machine_stop(const char *why) __attribute__((noreturn));

/*
 * Memory of the simulated kernel, in one arena; all of it is dropped at the start of
 * a run.
 */
#define MACHINE_ARENA_AT	((void *)0x200000000000UL)
#define MACHINE_ARENA_BYTES	(1UL << 30)
void *machine_alloc(size_t bytes, size_t align);
void machine_free(void *memory);
size_t machine_size(const void *memory);

enum machine_strategy {
	STRATEGY_RANDOM,	/* each choice is by chance */
	STRATEGY_PCT,		/* by priorities that change a few times; strategy.c */
	STRATEGY_SEARCH,	/* as a search has it; no switch between waits */
};

enum machine_kind {
	MACHINE_TASK,
	MACHINE_HARD,
	MACHINE_SOFT,
	MACHINE_DEVICE,
	MACHINE_TIME,		/* time goes on to the next timer */
};

/**
 * struct machine_candidate - a candidate to go on next
 * @kind: the kind
 * @who: the thread, or the argument of the interrupt
 * @offer: the thing that a device would do, of several
 * @at: place in its list
 */
struct machine_candidate {
	enum machine_kind kind;
	const void *who;
	const void *offer;
	unsigned int at;
};

/**
 * struct machine_search - a search of all orders
 * @pick: choose one of @nr candidates
 * @decide: choose one of @n
 * @note: something was read or written
 * @ignore: accesses of memory commute
 * @stop: orders are no longer searched
 * @rest: the thread that ended the search waits or has ended
 * @early: how often time may go on while a thread could
 */
struct machine_search {
	unsigned int (*pick)(const struct machine_candidate *candidate,
			     unsigned int nr);
	unsigned int (*decide)(unsigned int n);
	void (*note)(const void *what, bool write);
	void (*ignore)(const void *from, size_t bytes);
	void (*stop)(void);
	void (*rest)(void);
	unsigned int early;
};

/**
 * struct machine_options - how a machine is run; the host's side asks for it
 * @seed: all random choices come from it
 * @cpus: CPUs in use
 * @strategy: how the next thread is chosen
 * @mean: mean number of points between two random choices
 * @depth: of PCT: order constraints of the faults that are looked for
 * @steps: of PCT: points that the run is expected to have
 * @most_choices: stop as "given up" behind so many choices; 0: never
 * @calm: time goes on only when no thread can run
 * @keep_story: machine_tell() will be asked for the story
 * @search: of STRATEGY_SEARCH
 */
struct machine_options {
	sim_u64 seed;
	unsigned int cpus;
	enum machine_strategy strategy;
	unsigned int mean;
	unsigned int depth;
	unsigned int steps;
	sim_u64 most_choices;
	bool calm;
	bool keep_story;
	const struct machine_search *search;
};

/**
 * struct machine_result - how a run ended
 * @failure: the violation, or NULL
 * @why: argument of machine_stop(), or NULL: nothing was left to do
 * @hash: hash of the story
 * @ns: virtual time
 * @choices: number of choices
 * @points: number of points, of PCT
 */
struct machine_result {
	const char *failure;
	const char *why;
	sim_u64 hash;
	sim_u64 ns;
	sim_u64 choices;
	sim_u64 points;
};

/* Drop all threads, timers and memory, and start afresh. */
void machine_reset(const struct machine_options *options);
/* Run @first as a task, and all that it starts, until the end. */
struct machine_result machine_run(void (*first)(void *argument),
				  void *argument);
/* Whether memory is on the current thread's stack; and whether it is the machine's. */
bool machine_is_on_stack(const void *at);
bool machine_is_shared(const void *at);
/* Memory that is still allocated, bytes. */
size_t machine_leaked(void);
/* Write the story; @last lines, or 0: all that was kept. */
void machine_tell(void *file, size_t last);

/**
 * struct machine_line - a line of the story
 * @ns: virtual time
 * @format: as machine_say() got it
 * @figure: its figures
 * @thread: number of the thread
 * @name: its name
 * @cpu: its CPU, or -1
 */
struct machine_line {
	sim_u64 ns;
	const char *format;
	sim_u64 figure[4];
	unsigned int thread;
	const char *name;
	int cpu;
};

/* The @nr-th line that was kept; NULL: there are not so many. */
const struct machine_line *machine_line(size_t nr);

#endif
