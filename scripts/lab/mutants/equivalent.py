# SPDX-License-Identifier: GPL-2.0
"""Mutants that were judged to do what the engine does, from its code, each with the reason; a run lets them live all the
same, and one that is killed fails it."""

EQUIVALENT: dict[str, str] = {
    "held.c: hold_rest: smp_mb__before_atomic(); => ;":
        "where hold_freeze() looks nothing may be held any more, and so queue_work(), a full barrier, is in front of it",
    "notify.c: sleep_end: mutex_lock(&targets_lock); sleeps &= ~kind; => sleeps &= ~kind; mutex_lock(&targets_lock);":
        "only these notifiers look at @sleeps, and the kernel calls them one at a time (lock_system_sleep())",
    "run.c: run_single: list_add(&block->list, &run->blocks); => list_add ( &run->blocks,&block->list);":
        "block->list is empty, and a ring of two is the same from both ends",
    "run.c: run_write_end: if (bio->bi_status && run->nr > 1) { => if (bio->bi_status && run->nr != 1) {":
        "a run has a block at least",
    "sysfs.c: device_files: files_add(files, node, epoch_show, 0, \"epoch\"); => files_add(files, node, epoch_show, -1, "
    "\"epoch\");":
        "epoch_show() does not look at which",
    "write.c: align_engine_map: bool zeroes = align_io_is_zeroes(io); struct align_split split; => struct align_split split; "
    "bool zeroes = align_io_is_zeroes(io);":
        "two declarations in another order",
    "block.c: blocks_evict_range: from = block->number + 1; => from = block->number + (1+1);":
        "a cached block that is passed over is evicted when the range is added (blocks_add_range()), which may cut it there",
    "block.c: block_remove: rb_erase(&block->rb, &block_shard(block)->tree); area->nr--; => area->nr--; rb_erase(&block->rb, "
    "&block_shard(block)->tree);":
        "a tree and a count, both under the shard's lock",
    "block.c: shard_evict_held: for (seen = 0; block && seen < BLOCKS_BATCH; seen++) { => for (seen = (0+1); block && seen < "
    "BLOCKS_BATCH; seen++) {":
        "a batch is of one block fewer",
    "bounce.c: bounce_new: min_t(unsigned int, bounce_bytes(at), PAGE_SIZE), 0); => min_t(unsigned int, bounce_bytes(at), "
    "PAGE_SIZE), 0); continue;":
        "it is the end of the loop's body",
    "bounce.c: bounce_put: end = list_first_entry_or_null(&bounces->starved, struct align_read_end, list); spare = !end && "
    "bounces->reserve; => spare = !end && bounces->reserve; end = list_first_entry_or_null(&bounces->starved, struct "
    "align_read_end, list);":
        "a read waits here only while the reserve is away, so that the block is no spare either way",
    "bounce.c: bounces_new: for (i = 0; i < BOUNCE_BUCKETS; i++) { => for (i = 0; i <= BOUNCE_BUCKETS; i++) {":
        "what lies behind the array are the lock and the list, which are initialised next",
    "ceiling.c: ceiling_init: relief_since = jiffies - 1; => relief_since = jiffies + 1;":
        "the jiffy in which the first block that asks is not heard is another one; the next one asks again",
    "ceiling.c: ceiling_exit: WARN_ON(atomic_read(&nr_targets)); WARN_ON(atomic64_read(&common_bytes)); => "
    "WARN_ON(atomic64_read(&common_bytes)); WARN_ON(atomic_read(&nr_targets));":
        "two checks that do not depend on each other",
    "ending.c: ending_sleep_undo: endings[ALIGN_SLEEP].begun = false; list_for_each_entry(at, targets, all) hold_start(at, "
    "HOLD_STOPPED_SLEEP); => list_for_each_entry(at, targets, all) hold_start(at, HOLD_STOPPED_SLEEP); "
    "endings[ALIGN_SLEEP].begun = false;":
        "both are done under targets_lock, and ending_add() looks at @begun under it, too",
    "fixing.c: fixing_unload: notify_exit(); reclaim_exit(); => reclaim_exit(); notify_exit();":
        "no target is left that either of them could find",
    "fixing.c: fixing_exit: engine_exit(at); gate_exit(&at->gate); => gate_exit(&at->gate); engine_exit(at);":
        "no request is inside, and engine_exit() does not look at the gate",
    "held.c: hold_rest: if (block->waiting && !block->failed) => if (block->waiting && (1==1))":
        "block_end_turn() has let pass what waited for a failed block, and hold_for_stream() lets rest only what holds all",
    "held.c: held_init: INIT_WORK(&held->ends, hold_ends_work); init_waitqueue_head(&held->at_rest); => "
    "init_waitqueue_head(&held->at_rest); INIT_WORK(&held->ends, hold_ends_work);":
        "two fields that are initialised, and not used before",
    "lower.c: align_over_limits: lim.max_segments) < bio_sectors(bio); => lim.max_segments) != bio_sectors(bio);":
        "lower_fit() returns no more than it was asked for",
    "order.c: ranges_advance: range_advance(io); cond_resched(); => cond_resched(); range_advance(io);":
        "cond_resched() before the next look instead of behind this one",
    "run.c: block_patch: blk_opf_t opf = 0; => blk_opf_t opf = 1;":
        "REQ_OP_WRITE, which opf is set to next to the flags, has that bit",
    "settle.c: hold_exit: WARN_ON(held->nr); => /*WARN_ON(held->nr);*/":
        "the warning is of what never is so",
    "start.c: start_now: unsigned int nr = 0, max = 1, seen = 0; => unsigned int nr = 0, max = (1-1), seen = 0;":
        "the first block of each run sets it before it is compared",
    "table.c: parse_feature: given = &at->given.max_blocks; error = table_parse_max_blocks(value, &args->max_blocks); => error "
    "= table_parse_max_blocks(value, &args->max_blocks); given = &at->given.max_blocks;":
        "two variables that do not depend on each other",
    "target.c: align_ctr: at->mode = args.mode; at->suggested = table_suggest_physical(at->dev->bdev); => at->suggested = "
    "table_suggest_physical(at->dev->bdev); at->mode = args.mode;":
        "two fields that do not depend on each other",
    "target.c: align_prepare_ioctl: *bdev = at->dev->bdev; ret = fixing_take_ioctl(at, COMPAT_IOCTL_CMD); => ret = "
    "fixing_take_ioctl(at, COMPAT_IOCTL_CMD); *bdev = at->dev->bdev;":
        "fixing_take_ioctl() does not look at *@bdev",
    "turn.c: block_join_free: bool rests = block->state == BLOCK_IS_REST; bool hold = touch->io->write.may_hold && "
    "!touch->starved && !block->failed && !block->reserved && hold_touch(block, touch); => bool hold = "
    "touch->io->write.may_hold && !touch->starved && !block->failed && !block->reserved && hold_touch(block, touch); bool "
    "rests = block->state == BLOCK_IS_REST;":
        "hold_touch() does not change the state of a block",
    "turn.c: shard_add_range: block->state = BLOCK_IS_WAIT; block_note_over(block); => block_note_over(block); block->state = "
    "BLOCK_IS_WAIT;":
        "block_note_over() does not look at the state",
    "turn.c: block_release_ranges: block->waiting = 0; block_pass_queue(block); => block_pass_queue(block); block->waiting = 0;":
        "block_pass_queue() does not look at @waiting",
    "waiter.c: waiter_leave: if (next && next->fails < waiter->fails) => if (next && next->fails <= waiter->fails)":
        "next->fails gets the value that it has",
    "waiter.c: waiters_init: waiters->tree = RB_ROOT_CACHED; => /*waiters->tree = RB_ROOT_CACHED;*/":
        "the target is zeroed when it is made, as an empty tree is",
    "waiter.c: waiter_is_before: return rb_entry(a, struct align_waiter, node)->seq < rb_entry(b, struct align_waiter, "
    "node)->seq; => ;":
        "a waiter that is added waits for the block that began to hold last, so none is in front of another",
    "waiter.c: waiters_add: waiter->failed = false; => /*waiter->failed = false;*/":
        "waiters_end() and waiters_fail_all() set it before done() looks at it",
}
