# SPDX-License-Identifier: GPL-2.0
"""Mutants that were judged to do what the engine does, from its code, each with the reason; a run lets them live all the
same, and one that is killed fails it."""

EQUIVALENT: dict[str, str] = {
    "block.c: block_remove: WARN_ON_ONCE(!list_empty(&block->touches) || !list_empty(&block->next) || block->held); "
    "list_del(&block->list); => list_del(&block->list); WARN_ON_ONCE(!list_empty(&block->touches) || "
    "!list_empty(&block->next) || block->held);":
        "block->list is neither of the lists that the warning looks at",
    "block.c: blocks_make_room: while (block_evict(shard)) => if (block_evict(shard))":
        "the loop over all shards below goes on with this one, whose lock is held",
    "block.c: shard_add_range: } else if (block->state == BLOCK_IS_KNOWN) { => } else if (block->state >= "
    "BLOCK_IS_KNOWN) {":
        "no state comes behind BLOCK_IS_KNOWN",
    "block.c: blocks_forget_range: span = shard_span(at, first, last); => span = shard_span(at , last, first);":
        "the same shard, or all shards in place of two: more of them are looked through for blocks of the range",
    "hold.c: hold_wake: if (wq_has_sleeper(&blocks->quiet)) => /*if (wq_has_sleeper(&blocks->quiet))*/":
        "wake_up() of a queue without sleepers does nothing",
    "hold.c: hold_hurry: if (block->waiting == 1) => if (block->waiting <= 1)":
        "it is called behind block->waiting++, so that is never 0",
    "hold.c: hold_may_send: may = !hold_is_frozen(blocks) && blocks->spare_runs < HOLD_MAX_RUNS; => may = "
    "!hold_is_frozen(blocks) && blocks->spare_runs != HOLD_MAX_RUNS;":
        "spare_get() lets spare_runs never be more than HOLD_MAX_RUNS",
    "hold.c: hold_first: block = list_first_entry_or_null(&shard->held, struct align_block, list); => ;":
        "DRAIN_OLDEST takes the block: what is awaited is over, too, as hold_is_over_of() has it",
    "hold.c: hold_stop: spin_unlock_irq(&blocks->lock); hold_kick(at); => hold_kick(at); "
    "spin_unlock_irq(&blocks->lock);":
        "queue_work() may be called with the lock held, and the work takes it later",
    "hold.c: hold_exit: hold_freeze(at); hold_drop_all(at); => hold_drop_all(at); hold_freeze(at);":
        "a live table was frozen by its suspend, and stays so; one that never lived holds nothing",
    "notify.c: sleep_end: mutex_lock(&targets_lock); sleeps &= ~kind; => sleeps &= ~kind; mutex_lock(&targets_lock);":
        "only these notifiers look at @sleeps, and the kernel calls them one at a time (lock_system_sleep())",
    "overlay.c: block_copy_to_read: byte += bv.bv_len; => byte *= bv.bv_len;":
        "a sector lies in one piece of memory (dma_alignment), so that the loop runs once",
    "overlay.c: shard_pin: u64 first = align_block_of(&at->geometry, start); => u64 first = 0;":
        "next_held() goes past blocks in front of the read: align_overlap() starts behind their end",
    "overlay.c: overlay_map_read: if (sectors < stop - start) => if (sectors != stop - start)":
        "no more sectors can be pinned than the read has",
}
