// SPDX-License-Identifier: GPL-2.0
/*
 * Spin locks, and the rules of the kernel's lockdep: classes are taken in one order,
 * and a class that an interrupt takes is never held with interrupts on.
 */
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "../bounds.h"

#define MOST_CLASSES	64

static unsigned int nr_classes;
static const char *class_name[MOST_CLASSES];
/* Bit b of before[a]: a class b was taken while a class a was held. */
static u64 before[MOST_CLASSES];
static bool in_interrupt[MOST_CLASSES], interruptible[MOST_CLASSES];

void (*shim_unlocks)(void);

static unsigned int class_of(spinlock_t *lock)
{
	struct lock_class_key *key = lock->class;

	if (!key || !lock->name)
		machine_fail("a spin lock is taken that was not initialised");
	if (!key->number) {
		if (nr_classes == MOST_CLASSES - 1)
			machine_fail("more than %d classes of locks",
				     MOST_CLASSES);
		key->number = ++nr_classes;
		class_name[key->number] = lock->name;
	}
	return key->number;
}

/* Whether class @to was ever taken, directly or not, while @from was held. */
static bool leads(unsigned int from, unsigned int to)
{
	u64 seen = 0, look = 1ULL << from;

	while (look & ~seen) {
		unsigned int next = __builtin_ctzll(look & ~seen);

		seen |= 1ULL << next;
		look |= before[next];
	}
	return look & 1ULL << to;
}

/* Check order and interrupts of a lock that is about to be taken. */
static void check_class(spinlock_t *lock, bool tried)
{
	struct thread *me = machine_current;
	unsigned int class, i;

	/* Earlier locks make no two states of a search: lives judge their order. */
	if (machine_is_search())
		return;
	class = class_of(lock);
	if (me->context != CONTEXT_TASK)
		in_interrupt[class] = true;
	if (!me->irqs_off && me->context != CONTEXT_HARDIRQ)
		interruptible[class] = true;
	if (in_interrupt[class] && interruptible[class])
		machine_fail("lock %s is taken in an interrupt, and with interrupts on",
			     lock->name);
	for (i = 0; i < me->nr_held && !tried; i++) {
		unsigned int other = class_of(me->held[i]);

		if (other == class)
			machine_fail("lock %s is taken while one of its class is held",
				     lock->name);
		if (before[other] & 1ULL << class)
			continue;
		if (leads(class, other))
			machine_fail("locks %s and %s are taken in both orders",
				     lock->name, class_name[other]);
		before[other] |= 1ULL << class;
	}
}

/* Note that a lock is taken in the function around @place. */
static void note_held(spinlock_t *lock, const void *place)
{
	struct thread *me = machine_current;

	if (me->nr_held == MACHINE_LOCKS)
		machine_fail("more than %d locks are held", MACHINE_LOCKS);
	bounds_begin(place);
	me->held[me->nr_held++] = lock;
	lock->owner = me;
	weak_acquire();
}

void shim_lock_init(spinlock_t *lock, struct lock_class_key *class,
		    const char *name)
{
	lock->owner = NULL;
	lock->class = class;
	lock->name = name;
}

static void take(spinlock_t *lock, const void *place)
{
	struct thread *me = machine_current;

	if (me->context == CONTEXT_DEVICE)
		machine_fail("a device takes lock %s", lock->name);
	me->preempt++;
	check_class(lock, false);
	machine_bare_point();
	while (lock->owner) {
		const struct thread *below;

		for (below = me; below; below = below->below)
			if (lock->owner == below)
				machine_fail("deadlock: lock %s is taken twice on one CPU",
					     lock->name);
		machine_spin(lock);
	}
	note_held(lock, place);
}

void spin_lock(spinlock_t *lock)
{
	take(lock, __builtin_return_address(0));
}

bool spin_trylock(spinlock_t *lock)
{
	struct thread *me = machine_current;

	me->preempt++;
	check_class(lock, true);
	machine_bare_point();
	if (lock->owner) {
		me->preempt--;
		return false;
	}
	note_held(lock, __builtin_return_address(0));
	return true;
}

static void release(spinlock_t *lock)
{
	struct thread *me = machine_current;
	unsigned int i;

	if (lock->owner != me)
		machine_fail("lock %s is released by who does not hold it",
			     lock->name);
	for (i = me->nr_held; me->held[--i] != lock;)
		;
	for (me->nr_held--; i < me->nr_held; i++)
		me->held[i] = me->held[i + 1];
	if (!me->nr_held)
		bounds_end();
	if (shim_unlocks)
		shim_unlocks();
	weak_release();
	lock->owner = NULL;
	machine_unspin(lock);
	me->preempt--;
}

void spin_unlock(spinlock_t *lock)
{
	release(lock);
	machine_bare_point();
}

void spin_lock_irq(spinlock_t *lock)
{
	if (machine_current->irqs_off)
		machine_fail("spin_lock_irq(%s) with interrupts off: its unlock turns them on",
			     lock->name);
	machine_current->irqs_off = true;
	take(lock, __builtin_return_address(0));
}

void spin_unlock_irq(spinlock_t *lock)
{
	release(lock);
	machine_current->irqs_off = false;
	machine_bare_point();
}

unsigned long shim_lock_irqsave(spinlock_t *lock)
{
	unsigned long flags = machine_current->irqs_off;

	machine_current->irqs_off = true;
	take(lock, __builtin_return_address(0));
	return flags;
}

void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
	release(lock);
	machine_current->irqs_off = flags;
	machine_bare_point();
}

/* Neither is a point: an assertion changes nothing. */
void shim_assert_spin_held(const spinlock_t *lock, const char *expression,
			   const char *function)
{
	if (lock->owner != machine_current)
		machine_fail("%s() is called by %s, who does not hold lock %s",
			     function, machine_current->name, expression);
}

void shim_assert_mutex_held(const struct mutex *mutex, const char *expression,
			    const char *function)
{
	if (mutex->owner != machine_current)
		machine_fail("%s() is called by %s, who does not hold mutex %s",
			     function, machine_current->name, expression);
}

void might_sleep(void)
{
	const char *why = machine_atomic();

	if (why)
		machine_fail("BUG: sleeping function called %s, by %s", why,
			     machine_current->name);
}
