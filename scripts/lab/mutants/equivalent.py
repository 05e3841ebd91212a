# SPDX-License-Identifier: GPL-2.0
"""Mutants that were judged to do what the engine does, from its code, each with the reason; a run lets them live all the
same, and one that is killed fails it."""

EQUIVALENT: dict[str, str] = {
    "block.c: blocks_evict_range: span = shard_span(at, first, last); => span = shard_span(at , last, first);":
        "the same shard, or all shards in place of two: more of them are looked through for blocks of the range",
    "held.c: hold_wake: if (wq_has_sleeper(&held->at_rest)) => /*if (wq_has_sleeper(&held->at_rest))*/":
        "wake_up() of a queue without sleepers does nothing",
    "held.c: hold_rest: smp_mb__before_atomic(); => ;":
        "where hold_freeze() looks nothing may be held any more, and so queue_work(), a full barrier, is in front of it",
    "held.c: hold_make_urgent: if (block->waiting == 1) => if (block->waiting <= 1)":
        "it is called behind block->waiting++, so that is never 0",
    "spare.c: spare_has_room: has = spare->runs < SPARE_MAX_RUNS; => has = spare->runs != SPARE_MAX_RUNS;":
        "spare_get() lets runs never be more than SPARE_MAX_RUNS",
    "drain.c: hold_first: block = block_rests_first(&shard->resting); => ;":
        "DRAIN_OLDEST takes the block: what is awaited is over, too, as hold_is_over() has it",
    "settle.c: hold_exit: hold_freeze(at); hold_drop_all(at); => hold_drop_all(at); hold_freeze(at);":
        "a live table was frozen by its suspend, and stays so; one that never lived holds nothing",
    "notify.c: sleep_end: mutex_lock(&targets_lock); sleeps &= ~kind; => sleeps &= ~kind; mutex_lock(&targets_lock);":
        "only these notifiers look at @sleeps, and the kernel calls them one at a time (lock_system_sleep())",
    "overlay.c: block_copy_to_read: byte += bv.bv_len; => byte *= bv.bv_len;":
        "a sector lies in one piece of memory (dma_alignment), so that the loop runs once",
    "overlay.c: shard_pin: u64 first = align_block_of(&at->geometry, start); => u64 first = 0;":
        "find_next_held() goes past blocks in front of the read: align_overlap() starts behind their end",
    "overlay.c: overlay_map_read: if (sectors < stop - start) => if (sectors != stop - start)":
        "no more sectors can be pinned than the read has",
    "run.c: run_single: list_add(&block->list, &run->blocks); => list_add ( &run->blocks,&block->list);":
        "block->list is empty, and a ring of two is the same from both ends",
    "spare.c: spare_put: spare_wake_first(spare); queue_work(spare->jobs->wq, spare->room); => "
    "queue_work(spare->jobs->wq, spare->room); spare_wake_first(spare);":
        "both only queue work, and the lock is held over both",
    "run.c: run_write_end: if (bio->bi_status && run->nr > 1) { => if (bio->bi_status && run->nr != 1) {":
        "a run has a block at least",
    "turn.c: turn_begin: block->has_read = step == BLOCK_READ; => block->has_read = step < BLOCK_READ;":
        "run_finish_read() sets it when the read has ended, and no code looks before",
    "run.c: block_pass_held: align_set_placement(bio, block_placement(block)); bio->bi_iter.bi_sector = "
    "align_block_start(&at->geometry, block->number) + start; => bio->bi_iter.bi_sector = "
    "align_block_start(&at->geometry, block->number) + start; align_set_placement(bio, block_placement(block));":
        "the two set fields of the bio that do not depend on each other",
    "run.c: run_finish_read: bio_uninit(&run->bio); => /*bio_uninit(&run->bio);*/":
        "bio_endio() of every kernel has put the cgroup, and a bio that was only submitted has nothing else",
    "sysfs.c: device_files: files_add(files, node, epoch_show, 0, \"epoch\"); => files_add(files, node, "
    "epoch_show, -1, \"epoch\");":
        "epoch_show() does not look at which",
    "start.c: start_now: while (nr > 1) { => while (nr > 0) {":
        "a block alone goes in a run with memory of its own then, or without memory as before: the same requests come of both",
    "target.c: align_ctr: ti->error = \"no memory for the target\"; ret = node_join(at); => ret = node_join(at); "
    "ti->error = \"no memory for the target\";":
        "node_join() does not look at ti->error",
    "target.c: align_map: bio_set_dev(bio, at->dev->bdev); bio->bi_iter.bi_sector = at->start + dm_target_offset(ti, "
    "bio->bi_iter.bi_sector); => bio->bi_iter.bi_sector = at->start + dm_target_offset(ti, bio->bi_iter.bi_sector); "
    "bio_set_dev(bio, at->dev->bdev);":
        "the two set fields of the bio that do not depend on each other",
    "write.c: remainder_uncut: ledger_inc(at->ledger, uncut); n = align_block_sectors(g) - align_sector_in_block(g, "
    "io->write.unsent.bi_sector); => n = align_block_sectors(g) - align_sector_in_block(g, io->write.unsent.bi_sector); "
    "ledger_inc(at->ledger, uncut);":
        "the counter has nothing to do with @n",
    "write.c: remainder_send: unsigned int pieces = 0; => unsigned int pieces = 1;":
        "one piece of 256 fewer is sent by map itself, and by a worker instead: how many is promised nowhere",
    "write.c: align_engine_map: bool zeroes = align_io_is_zeroes(io); struct align_split split; => struct "
    "align_split split; bool zeroes = align_io_is_zeroes(io);":
        "two declarations in another order",
}
