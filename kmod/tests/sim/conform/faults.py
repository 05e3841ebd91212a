# SPDX-License-Identifier: GPL-2.0
"""Deliberate faults of the shim, each a change of a copy of its sources with which the conformance suite must fail.

FAULTS has, by name, the case that must fail, and the changes: (file of kmod/tests/sim, its text, the replacement).
"""

FAULTS = {
    # Work items.
    "work-runs-beside-itself": ("work_queued_while_it_runs_runs_once_more", [
        ("shim/work.c", "running[i].work == work && running[i].func == func)\n\t\t\treturn true;",
         "running[i].work == work && !running[i].func)\n\t\t\treturn true;")]),
    "work-is-known-by-its-flag": ("recycled_work_waits_for_the_one_that_runs", [
        ("shim/work.c", "running[i].work == work && running[i].func == func)\n\t\t\treturn true;",
         "running[i].work == work && running[i].func == func)\n\t\t\treturn work->disabled;")]),
    "work-is-known-by-its-address": ("work_of_another_function_does_not_wait", [
        ("shim/work.c", "running[i].work == work && running[i].func == func)\n\t\t\treturn true;",
         "running[i].work == work && func)\n\t\t\treturn true;")]),
    "work-pending-while-it-runs": ("work_queued_while_it_runs_runs_once_more", [
        ("shim/work.c", "\twork->pending = false;\n\tmachine_point();\n\tfunc(work);\n",
         "\tmachine_point();\n\tfunc(work);\n\twork->pending = false;\n")]),
    "work-is-queued-twice": ("work_queued_while_it_runs_runs_once_more", [
        ("shim/work.c", "\tmachine_point();\n\tif (work->pending || work->disabled)\n",
         "\tmachine_point();\n\tif (work->disabled)\n")]),
    "no-rescuer": ("queue_for_reclaim_goes_on_while_workers_sleep", [
        ("shim/work.c", "wq->rescuer = flags & WQ_MEM_RECLAIM;", "wq->rescuer = false;")]),
    "rescuer-comes-once": ("requeued_work_goes_on_while_workers_sleep", [
        ("shim/work.c", "\t\t\tkick_others();\n\t\t\trun_item(wq, work);\n\t\t\tcontinue;\n",
         "\t\t\tif (!wq)\n\t\t\t\tkick_others();\n\t\t\trun_item(wq, work);\n\t\t\tcontinue;\n")]),
    "one-worker": ("work_that_sleeps_holds_up_no_other", [
        ("shim/work.c", "\t} else if (nr_workers < most_workers) {", "\t} else if (!nr_workers) {"),
        ("shim/work.c", "wq->rescuer = flags & WQ_MEM_RECLAIM;", "wq->rescuer = false;")]),
    "no-limit": ("queue_runs_no_more_than_its_limit", [
        ("shim/work.c", "if (wq->running >= wq->limit)", "if (wq->running >= WQ_MAX_ACTIVE)")]),
    "destroy-does-not-wait": ("queue_runs_no_more_than_its_limit", [
        ("shim/work.c", "\twait_event(ended, list_empty(&wq->items) && !wq->running &&\n\t\t   !wq->rescues);\n", "")]),
    "cancel-does-not-wait": ("cancel_work_sync_waits_for_the_one_that_runs", [
        ("shim/work.c", "\twait_event(ended, !runs(work, work->func));\n", "")]),
    "cancel-leaves-the-item": ("cancel_work_sync_takes_an_item_off_its_queue", [
        ("shim/work.c", "\tif (was) {\n\t\tlist_del(&work->entry);\n\t\twork->pending = false;\n\t}\n", "")]),
    "cancelled-work-queues-itself": ("work_that_queues_itself_can_be_cancelled", [
        ("shim/work.c", "if (work->pending || work->disabled)", "if (work->pending)")]),
    "cancelled-delayed-work-queues-itself": ("delayed_work_that_queues_itself_can_be_cancelled", [
        ("shim/work.c", "if (work->work.pending || work->work.disabled)", "if (work->work.pending)")]),
    "delayed-work-comes-at-once": ("delayed_work_comes_when_its_time_is_over", [
        ("shim/work.c", "(jiffies + delay) * NSEC_PER_JIFFY", "jiffies * NSEC_PER_JIFFY")]),
    "moved-delayed-work-stays": ("delayed_work_can_be_moved", [
        ("shim/work.c", "\twas = work->work.pending;\n\tif (timer->place)", "\twas = work->work.pending;\n\tif (was)\n"
         "\t\treturn true;\n\tif (timer->place)")]),
    # Completions, wait queues and sleeping locks.
    "completion-is-a-flag": ("completion_counts", [
        ("shim/wait.c", "\tcompletion->done++;\n", "\tcompletion->done = 1;\n")]),
    "completion-stays-done": ("completion_counts", [
        ("shim/wait.c", "\tcompletion->done--;\n\treturn 0;", "\treturn 0;")]),
    "complete-lets-all-pass": ("completion_lets_one_pass", [
        ("shim/wait.c", "\tcompletion->done++;\n\twake_queued(&completion->wait, false);\n",
         "\tcompletion->done += 100;\n\twake_queued(&completion->wait, true);\n")]),
    "completion-ends-early": ("completion_counts", [
        ("shim/wait.c", "if (until_ns <= machine_now())\n", "if (until_ns != ~0ULL)\n")]),
    "try-takes-a-held-mutex": ("mutex_is_held_by_one", [
        ("shim/wait.c", "\tif (mutex->owner)\n\t\treturn 0;\n\tmutex->owner = current;", "\tmutex->owner = current;"),
        ("shim/wait.c", "\tif (mutex->owner != current)\n", "\tif (!current)\n")]),
    "signal-ends-no-wait": ("fatal_signal_ends_killable_waits_only", [
        ("shim/wait.c", "if (killable && current->killed)\n\t\t\treturn -ERESTARTSYS;",
         "if (killable && until_ns != ~0ULL && current->killed)\n\t\t\treturn -ERESTARTSYS;")]),
    "signal-ends-each-wait": ("fatal_signal_ends_killable_waits_only", [
        ("shim/wait.c", "if (killable && current->killed)\n\t\t\treturn -ERESTARTSYS;",
         "if (current->killed)\n\t\t\treturn -ERESTARTSYS;")]),
    "mutex-restarts": ("fatal_signal_ends_killable_waits_only", [("shim/wait.c", "return -EINTR;", "return -ERESTARTSYS;")]),
    "wake-up-wakes-one": ("wake_up_wakes_each", [
        ("shim/wait.c", "void wake_up(wait_queue_head_t *queue)\n{\n\twake(queue, true);",
         "void wake_up(wait_queue_head_t *queue)\n{\n\twake(queue, false);")]),
    "wake-up-all-wakes-one": ("wake_up_all_wakes_each", [
        ("shim/wait.c", "void wake_up_all(wait_queue_head_t *queue)\n{\n\twake(queue, true);",
         "void wake_up_all(wait_queue_head_t *queue)\n{\n\twake(queue, false);")]),
    "sleeper-is-not-seen": ("wake_up_wakes_each", [
        ("shim/wait.c", "\treturn queue->nr;\n", "\treturn queue->nr > SHIM_MOST_WAITERS;\n")]),
    "wait-leaves-no-time": ("wait_with_a_limit_says_what_was_left", [
        ("include/linux/wait.h", "\t\t\t\tif (_done && !_left) \\\n\t\t\t\t\t_left = 1; \\\n",
         "\t\t\t\tif (!_done || _left) \\\n\t\t\t\t\t_left = !_done; \\\n")]),
    "sleep-is-short": ("wait_with_a_limit_says_what_was_left", [
        ("shim/wait.c", "\twhile (machine_now() < until)\n\t\tsleep_on(\"a while\", until);\n",
         "\tsleep_on(\"a while\", until - NSEC_PER_JIFFY);\n")]),
    "mutex-is-held-by-two": ("mutex_is_held_by_one", [
        ("shim/wait.c", "\twhile (mutex->owner) {", "\tif (mutex->owner) {"),
        ("shim/wait.c", "\tif (mutex->owner != current)\n", "\tif (!current)\n")]),
    "held-mutex-is-not-known": ("mutex_is_held_by_one", [
        ("shim/lock.c", "if (mutex->owner != machine_current)", "if (mutex->owner == machine_current)")]),
    # Spin locks.
    "held-lock-is-not-known": ("spin_lock_is_held_by_one", [
        ("shim/lock.c", "if (lock->owner != machine_current)", "if (lock->owner == machine_current)")]),
    "spin-lock-is-held-by-two": ("spin_lock_is_held_by_one", [
        ("shim/lock.c", "\twhile (lock->owner) {", "\tif (lock->owner) {"),
        ("shim/lock.c", "\tif (lock->owner != me)\n", "\tif (!me)\n")]),
    "inner-lock-turns-interrupts-on": ("locks_turn_interrupts_off_and_on", [
        ("shim/lock.c", "\tmachine_current->irqs_off = flags;\n", "\tmachine_current->irqs_off = false;\n")]),
    "lock-leaves-interrupts-off": ("locks_turn_interrupts_off_and_on", [
        ("shim/lock.c", "\trelease(lock);\n\tmachine_current->irqs_off = false;\n", "\trelease(lock);\n")]),
    "interrupt-holds-nothing-off": ("spin_lock_is_held_by_one", [
        ("shim/lock.c", "\tmachine_current->irqs_off = true;\n\ttake(lock, __builtin_return_address(0));\n}\n",
         "\ttake(lock, __builtin_return_address(0));\n}\n")]),
    # Timers.
    "timer-in-a-hard-interrupt": ("timer_fires_in_a_soft_interrupt", [
        ("shim/timer.c", ".context = CONTEXT_SOFTIRQ", ".context = CONTEXT_HARDIRQ")]),
    "timer-fires-early": ("timer_fires_in_a_soft_interrupt", [
        ("shim/timer.c", "machine_timer_set(&timer->timer, at_ns);", "machine_timer_set(&timer->timer, machine_now() + 1);")]),
    "timer-reduce-makes-it-later": ("timer_reduce_makes_it_earlier_only", [
        ("shim/timer.c", "\tif (!was || at_ns < timer->timer.at_ns)\n", "\tif (!was || at_ns)\n")]),
    "timer-reduce-knows-no-pending": ("timer_reduce_makes_it_earlier_only", [
        ("shim/timer.c", "\t\tmachine_timer_set(&timer->timer, at_ns);\n\treturn was;",
         "\t\tmachine_timer_set(&timer->timer, at_ns);\n\treturn 0;")]),
    "delete-does-not-wait": ("timer_delete_sync_waits_for_the_one_that_runs", [
        ("shim/timer.c", "\twhile (timer->running || timer->raised) {", "\twhile (timer->raised) {")]),
    "timer-runs-twice-at-once": ("timer_never_runs_twice_at_once", [
        ("shim/timer.c", "\tif (timer->running) {\n", "\tif (timer->running == current) {\n")]),
    "spin-lock-holds-off-timers": ("timer_fires_while_a_spin_lock_is_held", [
        ("machine_pick.c", "return (top->context == CONTEXT_TASK) & !top->irqs_off;",
         "return (top->context == CONTEXT_TASK) & !top->irqs_off & !top->preempt;")]),
    "hrtimer-in-a-soft-interrupt": ("hrtimer_fires_in_a_hard_interrupt", [
        ("shim/timer.c", ".context = CONTEXT_HARDIRQ", ".context = CONTEXT_SOFTIRQ")]),
    "hrtimer-fires-early": ("hrtimer_fires_in_a_hard_interrupt", [("shim/timer.c", "machine_now() + in)", "machine_now() + 1)")]),
    "hrtimer-keeps-its-time": ("hrtimer_start_replaces_the_time", [
        ("shim/timer.c", "\tmachine_timer_set(&timer->timer, machine_now() + in);\n",
         "\tif (!timer->timer.place)\n\t\tmachine_timer_set(&timer->timer, machine_now() + in);\n")]),
    "hrtimer-cancel-does-not-wait": ("hrtimer_cancel_waits_for_the_one_that_runs", [
        ("shim/timer.c", "\twhile (timer->running || timer->raised) {", "\twhile (timer->raised) {")]),
    "hrtimer-runs-twice-at-once": ("hrtimer_never_runs_twice_at_once", [
        ("shim/timer.c", "\tif (timer->running) {\n", "\tif (timer->running == current) {\n")]),
    # RCU.
    "synchronize-rcu-does-not-wait": ("synchronize_rcu_waits_for_who_reads", [
        ("shim/wait.c", "\twait_event(left, is_over(mine));\n", "\twait_event(left, is_over(mine) || mine != generation);\n")]),
    "inner-reader-ends-the-outer": ("synchronize_rcu_waits_for_who_reads", [
        ("shim/wait.c", "\tif (--current->rcu)\n\t\treturn;\n\tfor (i = 0; reader[i].thread != current; i++)\n\t\t;\n",
         "\t--current->rcu;\n\tfor (i = 0; i < nr_readers && reader[i].thread != current; i++)\n\t\t;\n"
         "\tif (i == nr_readers)\n\t\treturn;\n")]),
    "synchronize-rcu-waits-for-all": ("synchronize_rcu_does_not_wait_for_later_readers", [
        ("shim/wait.c", "if (reader[i].generation <= of)", "if (of != generation)")]),
    "call-rcu-in-a-task": ("call_rcu_calls_when_readers_have_left", [
        ("shim/wait.c", "\tmachine_interrupt(CONTEXT_SOFTIRQ, \"rcu\", call_back, head);\n", "\tcall_back(head);\n")]),
    "call-rcu-does-not-wait": ("call_rcu_calls_when_readers_have_left", [
        ("shim/wait.c", "\tsynchronize_rcu();\n\tmachine_interrupt(", "\tmachine_interrupt(")]),
    # Data of each CPU, and references.
    "counts-of-one-cpu": ("counts_of_cpus_add_up", [
        ("include/linux/percpu.h", "machine_current->cpu * SHIM_PERCPU_BYTES",
         "(machine_current->cpu + 1) * SHIM_PERCPU_BYTES")]),
    "memory-of-the-first-cpu": ("counts_in_memory_of_cpus_add_up", [
        ("include/linux/percpu.h", "per_cpu_ptr(p, machine_current->cpu)", "per_cpu_ptr(p, 0)")]),
    "preemption-stays-on": ("a_task_keeps_its_cpu_while_preemption_is_off", [
        ("include/linux/preempt.h", "\tcurrent->preempt++;\n", ""), ("include/linux/preempt.h", "\tcurrent->preempt--;\n", "")]),
    "dead-ref-is-had": ("killed_ref_is_released_by_its_last_user", [
        ("shim/percpu_ref.c", "\tif (ref->dead)\n\t\tlive = false;\n\telse if", "\tif")]),
    "ref-is-released-at-once": ("killed_ref_is_released_by_its_last_user", [
        ("shim/percpu_ref.c", "\tcall_rcu(&ref->rcu, fold);\n", "\tcall_rcu(&ref->rcu, fold);\n\tref->release(ref);\n")]),
    "ref-forgets-other-cpus": ("ref_is_released_behind_all_users", [
        ("shim/percpu_ref.c", "\t\tref->count += *per_cpu_ptr(ref->cpu, cpu);\n",
         "\t\tif (cpu == current->cpu)\n\t\t\tref->count += *per_cpu_ptr(ref->cpu, cpu);\n")]),
    "resurrected-ref-stays-dead": ("resurrected_ref_is_not_released", [
        ("shim/percpu_ref.c", "\tref->dead = false;\n", "")]),
    "resurrected-ref-lacks-its-own-count": ("resurrected_ref_is_not_released", [
        ("shim/percpu_ref.c", "\tref->count++;\n\tref->dead = false;\n", "\tref->dead = false;\n")]),
    # Bios and plugs.
    "set-has-no-reserve": ("empty_set_has_who_may_sleep_wait", [
        ("shim/bio.c", "\treturn set->nr ? set->reserve[--set->nr] : NULL;", "\treturn NULL;")]),
    "set-does-not-wait": ("empty_set_has_who_may_sleep_wait", [
        ("shim/bio.c", "\t\twait_event(set->wait, set->nr);\n", "\t\tmight_sleep();\n")]),
    "set-gets-nothing-back": ("empty_set_has_who_may_sleep_wait", [
        ("shim/bio.c", "\t\twake_up(&set->wait);\n", "")]),
    "clone-is-the-whole": ("clone_is_a_bio_of_its_own", [
        ("include/linux/bio.h", "\titer->bi_sector += bytes >> SECTOR_SHIFT;\n\tif", "\tif")]),
    "clone-keeps-no-place": ("bios_of_the_caller_are_cloned_and_left", [
        ("shim/bio.c", "\tbio->bi_iter = from->bi_iter;\n", "")]),
    "reset-forgets-the-table": ("clone_is_a_bio_of_its_own", [
        ("shim/bio.c", "bio_init(bio, bdev, bio->bi_io_vec, bio->bi_max_vecs, opf);\n\tbio->bi_pool = pool;",
         "bio_init(bio, bdev, bio->bi_io_vec, 0, opf);\n\tbio->bi_pool = pool;")]),
    "list-is-a-stack": ("list_of_bios_keeps_their_order", [
        ("include/linux/bio.h", "\tlist->tail = more->tail;\n", "")]),
    "plug-is-kept": ("plug_is_flushed_when_its_task_sleeps", [
        ("shim/wait.c", "\tmight_sleep();\n\tshim_flush_plug(true);\n\tshim_work", "\tmight_sleep();\n\tshim_work")]),
    "plug-is-kept-in-a-wait": ("plug_is_flushed_when_its_task_sleeps", [
        ("shim/wait.c", "\tshim_flush_plug(true);\n\tfor (i = 0;", "\tfor (i = 0;"),
        ("shim/wait.c", "\t\t\tsleep_on(queue, until_ns);\n", "\t\t\tmachine_sleep(queue, until_ns);\n")]),
    "inner-plug-flushes": ("plug_is_flushed_at_its_end", [
        ("shim/submit.c", "\tif (current->plug != plug)\n\t\treturn;\n", "")]),
    # Submission to disks.
    "submission-stays-open": ("bio_goes_to_its_disk", [
        ("shim/submit.c", "\t} while (bio);\n\tcurrent->bio_list = NULL;\n", "\t} while (bio);\n")]),
    "bio-is-sent-at-once": ("bios_sent_on_the_way_down_wait_and_go_lowest_first", [
        ("shim/submit.c", "\tif (current->bio_list) {\n", "\tif (!current) {\n")]),
    "first-come-first-sent": ("bios_sent_on_the_way_down_wait_and_go_lowest_first", [
        ("shim/submit.c", "bd_disk->depth == least)", "bd_disk->depth >= least)")]),
    "bio-ends-in-a-soft-interrupt": ("bio_ends_in_the_interrupt_of_its_drive", [
        ("shim/bio.c", "\t\tbio->bi_end_io(bio);\n",
         "\t\tmachine_interrupt(CONTEXT_SOFTIRQ, \"end\", (void (*)(void *))bio->bi_end_io, bio);\n")]),
    "plug-keeps-no-requests": ("requests_of_a_plug_are_sent_at_its_end", [
        ("shim/submit.c", "if (plug && disk->queue->mq)", "if (!plug && !disk)")]),
    "sleeper-keeps-its-requests": ("requests_of_a_plug_are_sent_when_its_task_sleeps", [
        ("shim/submit.c", "\twhile ((bio = bio_list_pop(&plug->requests)))\n",
         "\twhile (!from_schedule && (bio = bio_list_pop(&plug->requests)))\n")]),
    "callbacks-have-no-plug": ("bios_of_a_callback_go_with_its_plug", [
        ("shim/submit.c", "\tif (!plug)\n\t\treturn;\n\twhile (",
         "\tif (!plug)\n\t\treturn;\n\tcurrent->plug = NULL;\n\twhile (")]),
    "each-disk-has-requests": ("disk_without_requests_gets_bios_at_once", [
        ("shim/submit.c", "if (plug && disk->queue->mq)", "if (plug && disk)")]),
    "each-disk-is-flushed": ("disk_without_a_cache_gets_no_flush", [
        ("shim/submit.c", "\treturn !bio_sectors(bio);\n", "\treturn false;\n")]),
    "each-disk-has-fua": ("disk_without_a_cache_gets_no_flush", [
        ("shim/submit.c", "\tbio->bi_opf &= ~(REQ_PREFLUSH | REQ_FUA);\n", "")]),
    "no-disk-is-flushed": ("disk_with_a_cache_gets_flushes", [
        ("shim/submit.c", "\t    bio->bi_bdev->bd_disk->write_cache)\n", "\t    !bio->bi_bdev->bd_disk)\n")]),
    # Atomic operations, memory, text.
    "cmpxchg-forgets": ("atomic_operations_are_one_step", [
        ("include/linux/atomic.h", "\tint was;\n\n\tmachine_point();\n\twas = shim_cmpxchg(&v->counter, *old, new);\n"
         "\tif (was == *old)\n\t\treturn true;\n\t*old = was;\n",
         "\tint was;\n\n\tmachine_point();\n\twas = shim_cmpxchg(&v->counter, *old, new);\n"
         "\tif (was == *old)\n\t\treturn true;\n")]),
    "add-is-two-steps": ("atomic_operations_are_one_step", [
        ("include/linux/atomic.h",
         "static inline void atomic_add(int change, atomic_t *v)\n{\n\tmachine_point();\n\tshim_add(&v->counter, change);\n",
         "static inline void atomic_add(int change, atomic_t *v)\n{\n\tint was = v->counter;\n\n\tmachine_point();\n"
         "\tv->counter = was + change;\n")]),
    "memory-is-aligned-to-a-page": ("memory_is_as_large_and_aligned_as_asked", [
        ("machine_memory.c", "\t\tsize_t step = 32UL << class;\n", "\t\tsize_t step = class > 7 ? 4096 : 32UL << class;\n")]),
    "number-with-a-line-end": ("numbers_are_read_from_text", [
        ("shim/text.c", "\tif (*text == '\\n')\n\t\ttext++;\n", "")]),
    "text-has-its-whole-length": ("numbers_are_read_from_text", [
        ("shim/text.c", "return length < (int)size ? length : size ? (int)size - 1 : 0;", "return length;")]),
}
