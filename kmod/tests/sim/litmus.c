// SPDX-License-Identifier: GPL-2.0
/*
 * Litmus tests. The tests are compiled as the engine is, so that they show how weak
 * its memory is.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

#include "litmus.h"

static int x, y, z;
static int *pointer;
static atomic_t count;
static spinlock_t lock, other_lock;
/* Parts of the engine. */

void litmus_begin(void)
{
	x = 0;
	y = 0;
	z = 0;
	pointer = &z;
	atomic_set(&count, 0);
	spin_lock_init(&lock);
	spin_lock_init(&other_lock);
	smp_mb();
}

/* Stores and loads that several tests use, in this order. */
static void store_x_y(void)
{
	WRITE_ONCE(x, 1);
	WRITE_ONCE(y, 1);
}

static void store_x_wmb_y(void)
{
	WRITE_ONCE(x, 1);
	smp_wmb();
	WRITE_ONCE(y, 1);
}

static void store_x_release_y(void)
{
	WRITE_ONCE(x, 1);
	smp_store_release(&y, 1);
}

static void plain_x_release_y(void)
{
	x = 1;
	smp_store_release(&y, 1);
}

static void lock_x_y(void)
{
	spin_lock(&lock);
	WRITE_ONCE(x, 1);
	WRITE_ONCE(y, 1);
	spin_unlock(&lock);
}

static void store_x(void)
{
	WRITE_ONCE(x, 1);
}

static void store_y(void)
{
	WRITE_ONCE(y, 1);
}

static void load_y_x(void)
{
	R(1, 0) = READ_ONCE(y);
	R(1, 1) = READ_ONCE(x);
}

static void load_y_rmb_x(void)
{
	R(1, 0) = READ_ONCE(y);
	smp_rmb();
	R(1, 1) = READ_ONCE(x);
}

static void acquire_y_x(void)
{
	R(1, 0) = smp_load_acquire(&y);
	R(1, 1) = READ_ONCE(x);
}

static bool saw_flag_and_no_data(void)
{
	return IS(1, 0, 1) && IS(1, 1, 0);
}

/* A branch orders stores behind it, not loads. */
static void load_y_branch_x(void)
{
	R(1, 0) = READ_ONCE(y);
	if (R(1, 0))
		R(1, 1) = READ_ONCE(x);
	else
		R(1, 1) = 1;
}

static void lock_load_y_x(void)
{
	spin_lock(&lock);
	R(1, 0) = READ_ONCE(y);
	R(1, 1) = READ_ONCE(x);
	spin_unlock(&lock);
}

static void load_y_lock_x(void)
{
	R(1, 0) = READ_ONCE(y);
	spin_lock(&lock);
	R(1, 1) = READ_ONCE(x);
	spin_unlock(&lock);
}

static void lock_x_then_y(void)
{
	spin_lock(&lock);
	WRITE_ONCE(x, 1);
	spin_unlock(&lock);
	WRITE_ONCE(y, 1);
}

static void lock_x_lock_y(void)
{
	spin_lock(&lock);
	WRITE_ONCE(x, 1);
	spin_unlock(&lock);
	spin_lock(&other_lock);
	WRITE_ONCE(y, 1);
	spin_unlock(&other_lock);
}

/* Atomic operations in place of the flag. */
static void store_x_inc(void)
{
	WRITE_ONCE(x, 1);
	atomic_inc(&count);
}

static void store_x_mb_inc(void)
{
	WRITE_ONCE(x, 1);
	smp_mb__before_atomic();
	atomic_inc(&count);
}

static void store_x_inc_return(void)
{
	WRITE_ONCE(x, 1);
	atomic_add_return(1, &count);
}

static void store_x_inc_release(void)
{
	WRITE_ONCE(x, 1);
	atomic_add_return_release(1, &count);
}

static void store_x_inc_relaxed(void)
{
	WRITE_ONCE(x, 1);
	atomic_add_return_relaxed(1, &count);
}

static void load_count_rmb_x(void)
{
	R(1, 0) = atomic_read(&count);
	smp_rmb();
	R(1, 1) = READ_ONCE(x);
}

static void inc_acquire_x(void)
{
	R(1, 0) = atomic_add_return_acquire(0, &count);
	R(1, 1) = READ_ONCE(x);
}

static void inc_relaxed_x(void)
{
	R(1, 0) = atomic_add_return_relaxed(0, &count);
	R(1, 1) = READ_ONCE(x);
}

/* A pointer to the data in place of the flag. */
static void store_x_assign(void)
{
	WRITE_ONCE(x, 1);
	rcu_assign_pointer(pointer, &x);
}

static void plain_x_assign(void)
{
	x = 1;
	rcu_assign_pointer(pointer, &x);
}

static void store_x_once_pointer(void)
{
	WRITE_ONCE(x, 1);
	WRITE_ONCE(pointer, &x);
}

static void dereference(void)
{
	const int *at;

	rcu_read_lock();
	at = rcu_dereference_raw(pointer);
	R(1, 1) = READ_ONCE(*at);
	R(1, 0) = at == &x;
	rcu_read_unlock();
}

static void dereference_plain(void)
{
	const int *at = READ_ONCE(pointer);

	R(1, 1) = *at;
	R(1, 0) = at == &x;
}

/* Store buffering. */
static void store_x_load_y(void)
{
	WRITE_ONCE(x, 1);
	R(0, 0) = READ_ONCE(y);
}

static void store_y_load_x(void)
{
	WRITE_ONCE(y, 1);
	R(1, 0) = READ_ONCE(x);
}

static void store_x_mb_load_y(void)
{
	WRITE_ONCE(x, 1);
	smp_mb();
	R(0, 0) = READ_ONCE(y);
}

static void store_y_mb_load_x(void)
{
	WRITE_ONCE(y, 1);
	smp_mb();
	R(1, 0) = READ_ONCE(x);
}

static void store_x_load_x_y(void)
{
	WRITE_ONCE(x, 1);
	R(0, 1) = READ_ONCE(x);
	R(0, 0) = READ_ONCE(y);
}

static void store_y_load_y_x(void)
{
	WRITE_ONCE(y, 1);
	R(1, 1) = READ_ONCE(y);
	R(1, 0) = READ_ONCE(x);
}

static bool saw_neither(void)
{
	return IS(0, 0, 0) && IS(1, 0, 0);
}

static void inc_load_y(void)
{
	atomic_inc(&count);
	R(0, 0) = READ_ONCE(y);
}

static void inc_return_load_y(void)
{
	atomic_add_return(1, &count);
	R(0, 0) = READ_ONCE(y);
}

static void store_y_mb_load_count(void)
{
	WRITE_ONCE(y, 1);
	smp_mb();
	R(1, 0) = atomic_read(&count);
}

static void lock_x_load_y(void)
{
	spin_lock(&lock);
	WRITE_ONCE(x, 1);
	spin_unlock(&lock);
	R(0, 0) = READ_ONCE(y);
}

/* Load buffering. */
static void load_x_store_y(void)
{
	R(0, 0) = READ_ONCE(x);
	WRITE_ONCE(y, 1);
}

static void load_y_store_x(void)
{
	R(1, 0) = READ_ONCE(y);
	WRITE_ONCE(x, 1);
}

static void load_x_release_y(void)
{
	R(0, 0) = READ_ONCE(x);
	smp_store_release(&y, 1);
}

static void acquire_y_store_x(void)
{
	R(1, 0) = smp_load_acquire(&y);
	WRITE_ONCE(x, 1);
}

static void load_x_branch_y(void)
{
	R(0, 0) = READ_ONCE(x);
	if (R(0, 0))
		WRITE_ONCE(y, 1);
}

static void load_y_mb_store_x(void)
{
	R(1, 0) = READ_ONCE(y);
	smp_mb();
	WRITE_ONCE(x, 1);
}

static void lock_load_x_lock_y(void)
{
	spin_lock(&lock);
	R(0, 0) = READ_ONCE(x);
	spin_unlock(&lock);
	spin_lock(&other_lock);
	WRITE_ONCE(y, 1);
	spin_unlock(&other_lock);
}

static bool saw_both(void)
{
	return IS(0, 0, 1) && IS(1, 0, 1);
}

/* Coherence: one variable. */
static void load_x_twice(void)
{
	R(1, 0) = READ_ONCE(x);
	R(1, 1) = READ_ONCE(x);
}

static bool went_back(void)
{
	return IS(1, 0, 1) && IS(1, 1, 0);
}

static void load_x_store_x(void)
{
	R(0, 0) = READ_ONCE(x);
	WRITE_ONCE(x, 1);
}

static void store_x_two(void)
{
	WRITE_ONCE(x, 2);
}

static bool read_what_it_overwrote(void)
{
	return IS(0, 0, 2) && x == 2;
}

static void store_x_load_x(void)
{
	WRITE_ONCE(x, 1);
	R(0, 0) = READ_ONCE(x);
}

static bool read_what_was_overwritten(void)
{
	return IS(0, 0, 2) && x == 1;
}

static void store_x_one_two(void)
{
	WRITE_ONCE(x, 1);
	WRITE_ONCE(x, 2);
}

static bool last_was_first(void)
{
	return x == 1;
}

/* R, S and 2+2W. */
static void store_y_two_load_x(void)
{
	WRITE_ONCE(y, 2);
	R(1, 0) = READ_ONCE(x);
}

static void store_y_two_mb_load_x(void)
{
	WRITE_ONCE(y, 2);
	smp_mb();
	R(1, 0) = READ_ONCE(x);
}

static void store_x_mb_y(void)
{
	WRITE_ONCE(x, 1);
	smp_mb();
	WRITE_ONCE(y, 1);
}

static bool r_seen(void)
{
	return y == 2 && IS(1, 0, 0);
}

static void store_x_two_y(void)
{
	WRITE_ONCE(x, 2);
	WRITE_ONCE(y, 1);
}

static void store_x_two_wmb_y(void)
{
	WRITE_ONCE(x, 2);
	smp_wmb();
	WRITE_ONCE(y, 1);
}

static bool s_seen(void)
{
	return x == 2 && IS(1, 0, 1);
}

static void store_x_y_two(void)
{
	WRITE_ONCE(x, 1);
	WRITE_ONCE(y, 2);
}

static void store_y_x_two(void)
{
	WRITE_ONCE(y, 1);
	WRITE_ONCE(x, 2);
}

static void store_x_wmb_y_two(void)
{
	WRITE_ONCE(x, 1);
	smp_wmb();
	WRITE_ONCE(y, 2);
}

static void store_y_wmb_x_two(void)
{
	WRITE_ONCE(y, 1);
	smp_wmb();
	WRITE_ONCE(x, 2);
}

static bool both_first_won(void)
{
	return x == 1 && y == 1;
}

/* Three and four threads. */
static void load_x_release_y_1(void)
{
	R(1, 0) = READ_ONCE(x);
	smp_store_release(&y, 1);
}

static void load_x_store_y_1(void)
{
	R(1, 0) = READ_ONCE(x);
	WRITE_ONCE(y, 1);
}

static void load_y_rmb_x_2(void)
{
	R(2, 0) = READ_ONCE(y);
	smp_rmb();
	R(2, 1) = READ_ONCE(x);
}

static void load_y_x_2(void)
{
	R(2, 0) = READ_ONCE(y);
	R(2, 1) = READ_ONCE(x);
}

static bool chain_lost(void)
{
	return IS(1, 0, 1) && IS(2, 0, 1) && IS(2, 1, 0);
}

static void acquire_y_release_z(void)
{
	R(1, 0) = smp_load_acquire(&y);
	smp_store_release(&z, 1);
}

static void load_y_store_z(void)
{
	R(1, 0) = READ_ONCE(y);
	WRITE_ONCE(z, 1);
}

static void lock_load_y_store_z(void)
{
	spin_lock(&lock);
	R(1, 0) = READ_ONCE(y);
	WRITE_ONCE(z, 1);
	spin_unlock(&lock);
}

static void lock_mb_load_y_store_z(void)
{
	spin_lock(&lock);
	smp_mb__after_spinlock();
	R(1, 0) = READ_ONCE(y);
	WRITE_ONCE(z, 1);
	spin_unlock(&lock);
}

static void acquire_z_x(void)
{
	R(2, 0) = smp_load_acquire(&z);
	R(2, 1) = READ_ONCE(x);
}

static void load_z_x(void)
{
	R(2, 0) = READ_ONCE(z);
	R(2, 1) = READ_ONCE(x);
}

static void load_z_mb_x(void)
{
	R(2, 0) = READ_ONCE(z);
	smp_mb();
	R(2, 1) = READ_ONCE(x);
}

static void store_z_two_mb_x(void)
{
	WRITE_ONCE(z, 2);
	smp_mb();
	R(2, 1) = READ_ONCE(x);
}

static bool z6_seen(void)
{
	return IS(1, 0, 1) && z == 2 && IS(2, 1, 0);
}

static void load_x_y_2(void)
{
	R(2, 0) = READ_ONCE(x);
	R(2, 1) = READ_ONCE(y);
}

static void load_y_x_3(void)
{
	R(3, 0) = READ_ONCE(y);
	R(3, 1) = READ_ONCE(x);
}

static void load_x_mb_y_2(void)
{
	R(2, 0) = READ_ONCE(x);
	smp_mb();
	R(2, 1) = READ_ONCE(y);
}

static void load_y_mb_x_3(void)
{
	R(3, 0) = READ_ONCE(y);
	smp_mb();
	R(3, 1) = READ_ONCE(x);
}

static bool orders_differ(void)
{
	return IS(2, 0, 1) && IS(2, 1, 0) && IS(3, 0, 1) && IS(3, 1, 0);
}

/* RCU: no reader sees a store behind a grace period and not the store before it. */
static void rcu_load_x_y(void)
{
	rcu_read_lock();
	R(1, 1) = READ_ONCE(x);
	R(1, 0) = READ_ONCE(y);
	rcu_read_unlock();
}

static void store_x_sync_y(void)
{
	WRITE_ONCE(x, 1);
	synchronize_rcu();
	WRITE_ONCE(y, 1);
}

static void rcu_store_y_load_x(void)
{
	rcu_read_lock();
	WRITE_ONCE(y, 1);
	R(1, 0) = READ_ONCE(x);
	rcu_read_unlock();
}

static void store_x_sync_load_y(void)
{
	WRITE_ONCE(x, 1);
	synchronize_rcu();
	R(0, 0) = READ_ONCE(y);
}

static bool grace_period_broken(void)
{
	return IS(0, 0, 0) && IS(1, 0, 0);
}

const struct litmus litmus_tests[] = {
	NEVER("CoRR+poonceonce+Once", went_back, store_x, load_x_twice),
	NEVER("CoRW+poonceonce+Once", read_what_it_overwrote, load_x_store_x,
	      store_x_two),
	NEVER("CoWR+poonceonce+Once", read_what_was_overwritten, store_x_load_x,
	      store_x_two),
	NEVER("CoWW+poonceonce", last_was_first, store_x_one_two),

	SOMETIMES("SB+poonceonces", saw_neither, store_x_load_y, store_y_load_x),
	NEVER("SB+fencembonceonces", saw_neither, store_x_mb_load_y,
	      store_y_mb_load_x),
	SOMETIMES("SB+rfionceonce-poonceonces", saw_neither, store_x_load_x_y,
		  store_y_load_y_x),
	SOMETIMES("SB+fencembonceonce+poonceonce", saw_neither, store_x_mb_load_y,
		  store_y_load_x),
	SOMETIMES("SB+unlockonceonce+fencembonceonce", saw_neither, lock_x_load_y,
		  store_y_mb_load_x),
	SOMETIMES("SB+atomicinc+fencembonceonce", saw_neither, inc_load_y,
		  store_y_mb_load_count),
	NEVER("SB+atomicincreturn+fencembonceonce", saw_neither,
	      inc_return_load_y, store_y_mb_load_count),

	SOMETIMES("MP+poonceonces", saw_flag_and_no_data, store_x_y, load_y_x),
	NEVER("MP+fencewmbonceonce+fencermbonceonce", saw_flag_and_no_data,
	      store_x_wmb_y, load_y_rmb_x),
	SOMETIMES("MP+poonceonce+fencermbonceonce", saw_flag_and_no_data,
		  store_x_y, load_y_rmb_x),
	SOMETIMES("MP+fencewmbonceonce+poonceonce", saw_flag_and_no_data,
		  store_x_wmb_y, load_y_x),
	NEVER("MP+pooncerelease+poacquireonce", saw_flag_and_no_data,
	      store_x_release_y, acquire_y_x),
	NEVER("MP+porelease+poacquireonce", saw_flag_and_no_data,
	      plain_x_release_y, acquire_y_x),
	SOMETIMES("MP+pooncerelease+poonceonce", saw_flag_and_no_data,
		  store_x_release_y, load_y_x),
	SOMETIMES("MP+poonceonce+poacquireonce", saw_flag_and_no_data, store_x_y,
		  acquire_y_x),
	SOMETIMES("MP+fencewmbonceonce+ctrlonceonce", saw_flag_and_no_data,
		  store_x_wmb_y, load_y_branch_x),
	NEVER("MP+polocks", saw_flag_and_no_data, lock_x_y, lock_load_y_x),
	SOMETIMES("MP+polock+poonceonce", saw_flag_and_no_data, lock_x_y,
		  load_y_rmb_x),
	NEVER("MP+porevlocks", saw_flag_and_no_data, lock_x_then_y,
	      load_y_lock_x),
	NEVER("MP+unlocklockonceonce+fencermbonceonce", saw_flag_and_no_data,
	      lock_x_lock_y, load_y_rmb_x),
	SOMETIMES("MP+unlockonce+fencermbonceonce", saw_flag_and_no_data,
		  lock_x_then_y, load_y_rmb_x),
	SOMETIMES("MP+atomicinc+fencermbonceonce", saw_flag_and_no_data,
		  store_x_inc, load_count_rmb_x),
	NEVER("MP+mbbeforeatomic+fencermbonceonce", saw_flag_and_no_data,
	      store_x_mb_inc, load_count_rmb_x),
	NEVER("MP+atomicincreturn+fencermbonceonce", saw_flag_and_no_data,
	      store_x_inc_return, load_count_rmb_x),
	NEVER("MP+atomicincrelease+atomicincacquire", saw_flag_and_no_data,
	      store_x_inc_release, inc_acquire_x),
	SOMETIMES("MP+atomicincrelaxed+fencermbonceonce", saw_flag_and_no_data,
		  store_x_inc_relaxed, load_count_rmb_x),
	SOMETIMES("MP+atomicincrelease+atomicincrelaxed", saw_flag_and_no_data,
		  store_x_inc_release, inc_relaxed_x),
	NEVER("MP+onceassign+derefonce", saw_flag_and_no_data, store_x_assign,
	      dereference),
	NEVER("MP+assign+deref", saw_flag_and_no_data, plain_x_assign,
	      dereference_plain),
	SOMETIMES("MP+poonceonce+derefonce", saw_flag_and_no_data,
		  store_x_once_pointer, dereference),

	LEFT_OUT("LB+poonceonces", saw_both, load_x_store_y, load_y_store_x),
	NEVER("LB+poacquireonce+pooncerelease", saw_both, load_x_release_y,
	      acquire_y_store_x),
	NEVER("LB+fencembonceonce+ctrlonceonce", saw_both, load_x_branch_y,
	      load_y_mb_store_x),
	NEVER("LB+unlocklockonceonce+poacquireonce", saw_both,
	      lock_load_x_lock_y, acquire_y_store_x),

	SOMETIMES("R+poonceonces", r_seen, store_x_y, store_y_two_load_x),
	NEVER("R+fencembonceonces", r_seen, store_x_mb_y, store_y_two_mb_load_x),
	SOMETIMES("S+poonceonces", s_seen, store_x_two_y, load_y_store_x),
	NEVER("S+fencewmbonceonce+poacquireonce", s_seen, store_x_two_wmb_y,
	      acquire_y_store_x),
	SOMETIMES("2+2W+poonceonces", both_first_won, store_x_y_two,
		  store_y_x_two),
	NEVER("2+2W+fencewmbonceonces", both_first_won, store_x_wmb_y_two,
	      store_y_wmb_x_two),

	SOMETIMES("WRC+poonceonces+Once", chain_lost, store_x, load_x_store_y_1,
		  load_y_x_2),
	NEVER("WRC+pooncerelease+fencermbonceonce+Once", chain_lost, store_x,
	      load_x_release_y_1, load_y_rmb_x_2),
	SOMETIMES("ISA2+poonceonces", chain_lost, store_x_y, load_y_store_z,
		  load_z_x),
	NEVER("ISA2+pooncerelease+poacquirerelease+poacquireonce", chain_lost,
	      store_x_release_y, acquire_y_release_z, acquire_z_x),
	NEVER("ISA2+pooncelock+pooncelock+pombonce", chain_lost, lock_x_y,
	      lock_load_y_store_z, load_z_mb_x),
	LEFT_OUT("Z6.0+pooncelock+pooncelock+pombonce", z6_seen, lock_x_y,
		 lock_load_y_store_z, store_z_two_mb_x),
	NEVER("Z6.0+pooncelock+poonceLock+pombonce", z6_seen, lock_x_y,
	      lock_mb_load_y_store_z, store_z_two_mb_x),
	LEFT_OUT("Z6.0+pooncerelease+poacquirerelease+fencembonceonce", z6_seen,
		 store_x_release_y, acquire_y_release_z, store_z_two_mb_x),
	SOMETIMES("IRIW+poonceonces+OnceOnce", orders_differ, store_x, store_y,
		  load_x_y_2, load_y_x_3),
	NEVER("IRIW+fencembonceonces+OnceOnce", orders_differ, store_x, store_y,
	      load_x_mb_y_2, load_y_mb_x_3),

	NEVER("RCU+sync+read", saw_flag_and_no_data, store_x_sync_y,
	      rcu_load_x_y),
	SOMETIMES("RCU+nosync+read", saw_flag_and_no_data, store_x_wmb_y,
		  rcu_load_x_y),
	NEVER("SB+rcusync+rcuread", grace_period_broken, store_x_sync_load_y,
	      rcu_store_y_load_x),
};

const unsigned int litmus_nr = ARRAY_SIZE(litmus_tests);
