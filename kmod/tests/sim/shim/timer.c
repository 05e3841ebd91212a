// SPDX-License-Identifier: GPL-2.0
/* Timers, in soft interrupts, and hrtimers, in hard ones. */
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/timer.h>

/*
 * Begin to run a timer that was raised. Return: whether it may run; if another CPU
 * still runs it, it is raised once more at the end of that.
 */
static bool begin(struct machine_timer *timer)
{
	if (timer->running) {
		timer->again = true;
		return false;
	}
	timer->raised = false;
	timer->running = current;
	return true;
}

static void end(struct machine_timer *timer)
{
	timer->running = NULL;
	if (machine_is_search())
		machine_wake_for(timer);
	if (!timer->again)
		return;
	timer->again = false;
	timer->raised = true;
	machine_interrupt(timer->context, "timer", timer->run, timer->argument);
}

static void run_timer(void *argument)
{
	struct timer_list *timer = argument;

	if (!begin(&timer->timer))
		return;
	timer->function(timer);
	end(&timer->timer);
}

void timer_setup(struct timer_list *timer,
		 void (*function)(struct timer_list *timer),
		 unsigned int flags)
{
	if (flags & ~TIMER_INIT_FLAGS)
		machine_fail("a timer has the flags %#x", flags);
	timer->timer = (struct machine_timer) {
		.at_ns = ~0ULL, .context = CONTEXT_SOFTIRQ, .run = run_timer,
		.argument = timer,
	};
	timer->function = function;
}

int timer_reduce(struct timer_list *timer, unsigned long expires)
{
	u64 at_ns = (u64)expires * NSEC_PER_JIFFY;
	int was = !!timer->timer.place;

	machine_point();
	if (at_ns <= machine_now())
		at_ns = machine_now() + 1;
	if (!was || at_ns < timer->timer.at_ns)
		machine_timer_set(&timer->timer, at_ns);
	return was;
}

/* Wait until a timer that was raised, or runs, has ended. */
static int stop(struct machine_timer *timer)
{
	int was = !!timer->place;

	if (machine_atomic())
		machine_fail("a timer is deleted %s", machine_atomic());
	machine_timer_clear(timer);
	while (timer->running || timer->raised) {
		/* A search does not poll. */
		machine_sleep(timer, machine_is_search() ? ~0ULL :
					     machine_now() + 1000);
		/* The timer may have been set again. */
		was |= !!timer->place;
		machine_timer_clear(timer);
	}
	return was;
}

int timer_delete_sync(struct timer_list *timer)
{
	machine_point();
	return stop(&timer->timer);
}

static void run_hrtimer(void *argument)
{
	struct hrtimer *timer = argument;

	if (!begin(&timer->timer))
		return;
	if (timer->function(timer) != HRTIMER_NORESTART)
		machine_fail("an hrtimer asks for a restart, which the shim lacks");
	end(&timer->timer);
}

void hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode)
{
	timer->timer = (struct machine_timer) {
		.at_ns = ~0ULL, .context = CONTEXT_HARDIRQ, .run = run_hrtimer,
		.argument = timer,
	};
	timer->function = function;
}

void hrtimer_start(struct hrtimer *timer, ktime_t in, enum hrtimer_mode mode)
{
	machine_point();
	machine_timer_set(&timer->timer, machine_now() + in);
}

int hrtimer_cancel(struct hrtimer *timer)
{
	machine_point();
	return stop(&timer->timer);
}
