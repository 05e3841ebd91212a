// SPDX-License-Identifier: GPL-2.0
/* The kernel's side of the conformance suite: a case is the first task of a machine. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>

#include "conform.h"
#include "../shim.h"

#define MOST_TASKS	16
#define MOST_WORKERS	8

static struct {
	int (*function)(void *data);
	void *data;
} tasks[MOST_TASKS];
static unsigned int nr_tasks, running_tasks;
static wait_queue_head_t over;

void *kunit_kzalloc(struct kunit *test, size_t bytes, gfp_t gfp)
{
	if (test->nr_memory == KUNIT_MOST_MEMORY)
		machine_fail("a case has more than %d pieces of memory",
			     KUNIT_MOST_MEMORY);
	test->memory[test->nr_memory] = kzalloc(bytes, gfp);
	return test->memory[test->nr_memory++];
}

static void task_main(void *argument)
{
	const unsigned int *number = argument;

	tasks[*number].function(tasks[*number].data);
	running_tasks--;
	wake_up_all(&over);
}

struct thread *conform_task(int (*function)(void *data), void *data)
{
	static unsigned int numbers[MOST_TASKS];

	if (nr_tasks == MOST_TASKS)
		machine_fail("a case has more than %d tasks", MOST_TASKS);
	numbers[nr_tasks] = nr_tasks;
	tasks[nr_tasks].function = function;
	tasks[nr_tasks].data = data;
	running_tasks++;
	machine_point();
	return machine_start(CONTEXT_TASK, "task", task_main,
			     &numbers[nr_tasks++]);
}

void lacks_memory(struct bio_set *set, bool lacks)
{
	shim_faults.nowait_one_in = lacks;
}

void world_lost(dev_t dev, u64 block)
{
	machine_fail("the suite has no target");
}

/* Suites that are linked into the program; kunit_test_suite(). */
extern struct kunit_suite *const __start_conform_suites[],
				 *const __stop_conform_suites[];

/* The @number-th case of all suites; the last of each has no name. */
static const struct kunit_case *find_case(unsigned int number)
{
	struct kunit_suite *const *suite;
	const struct kunit_case *at = NULL;

	for (suite = __start_conform_suites; suite < __stop_conform_suites;
	     suite++)
		for (at = (*suite)->test_cases; at->name; at++)
			if (!number--)
				return at;
	return at;
}

const char *conform_case(unsigned int number)
{
	return find_case(number)->name;
}

void conform_run(void *argument)
{
	const unsigned int *number = argument;
	struct kunit test = { .nr_memory = 0 };

	shim_work_start(1 + machine_choose(MOST_WORKERS));
	find_case(*number)->run_case(&test);
	wait_event(over, !running_tasks);
	shim_work_stop();
	while (test.nr_memory)
		kfree(test.memory[--test.nr_memory]);
	if (machine_leaked())
		machine_fail("%zu bytes of memory are left behind",
			     machine_leaked());
	machine_stop("done");
}
