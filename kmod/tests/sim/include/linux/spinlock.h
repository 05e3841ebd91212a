/* SPDX-License-Identifier: GPL-2.0 */
/* Spin locks; lock.c. */
#ifndef SHIM_SPINLOCK_H
#define SHIM_SPINLOCK_H

#include <linux/atomic.h>

struct lock_class_key {
	unsigned int number;	/* 0: no lock of it has been taken */
};

/**
 * struct spinlock - a spin lock
 * @owner: the thread that has it, or NULL
 * @class: locks of one class keep one order, and one rule about interrupts
 * @name: its name
 */
typedef struct spinlock {
	struct thread *owner;
	struct lock_class_key *class;
	const char *name;
} spinlock_t;

/* Outside functions, where a compound literal is there for ever. */
#define DEFINE_SPINLOCK(l) \
	spinlock_t l = { NULL, &(struct lock_class_key){ 0 }, #l }
#define spin_lock_init(l) \
	do { \
		static struct lock_class_key _key; \
		shim_lock_init(l, &_key, #l); \
	} while (0)
#define lockdep_set_class(l, key) ((l)->class = (key))

void shim_lock_init(spinlock_t *lock, struct lock_class_key *class,
		    const char *name);
void spin_lock(spinlock_t *lock);
bool spin_trylock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
void spin_lock_irq(spinlock_t *lock);
void spin_unlock_irq(spinlock_t *lock);
unsigned long shim_lock_irqsave(spinlock_t *lock);
void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags);

#define spin_lock_irqsave(lock, flags) ((flags) = shim_lock_irqsave(lock))

#define smp_mb__after_spinlock()	smp_mb()

struct mutex;

/*
 * End the machine if its current thread does not hold a lock. The hooks of an
 * instrumented engine see its accesses, but are not shown those of an assertion.
 */
void shim_assert_spin_held(const spinlock_t *lock, const char *expression,
			   const char *function);
void shim_assert_mutex_held(const struct mutex *mutex, const char *expression,
			    const char *function);
#ifdef __SANITIZE_THREAD__
#define lockdep_assert_held(l)	((void)sizeof(l))
#else
#define lockdep_assert_held(l) \
	_Generic((l), \
		 spinlock_t *: shim_assert_spin_held, \
		 const spinlock_t *: shim_assert_spin_held, \
		 struct mutex *: shim_assert_mutex_held)(l, #l, __func__)
#endif

void might_sleep(void);

/* The simulation's: called where a lock is about to be released; or NULL. */
extern void (*shim_unlocks)(void);

#endif
