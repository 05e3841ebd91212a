# SPDX-License-Identifier: GPL-2.0
"""Deliberate faults of the engine, each a change of a copy of its sources that a simulation must find.

FAULTS has, by name, the changes: (file of kmod/, the text that is there, and what takes its place). RARE are those that
show in one of a hundred lives or fewer, FOCUS those for which lives are about one thing (sim --focus). NOT_FOUND has the
faults that no life has shown, and why.
"""

FAULTS = {
    "flush-not-emptying": [("target.c", "return hold_map_flush(io);", "return DM_MAPIO_REMAPPED;")],
    "flush-sees-resting-only": [("hold.c", "waiter->left = blocks->nr_held;",
                                 "waiter->left = atomic_read(&blocks->nr_resting);")],
    "flush-ignores-failed": [("hold.c", "\t\tif (failed)\n\t\t\twaiter->failed = true;\n", "")],
    "range-overtakes-read": [("block.c", "\tdefault:\n\t\treturn true;\n", "\tdefault:\n\t\treturn false;\n")],
    "range-keeps-known": [("block.c", "} else if (block->state == BLOCK_IS_KNOWN) {\n\t\t\tblock_remove(block);\n",
                           "} else if (block->state == BLOCK_IS_KNOWN) {\n")],
    "range-keeps-valid": [("block.c", "\t\t\tblock->valid = false;\n\t\t\tblock->blockers++;", "\t\t\tblock->blockers++;")],
    "new-block-ignores-ranges": [("block.c", "block->blockers = block_count_ranges(blocks, shard, number);",
                                  "block->blockers = 0 * block_count_ranges(blocks, shard, number);")],
    "touch-overtakes-range": [("block.c", "\t\t\tif (!block->waiting) {\n", "\t\t\tif (true) {\n")],
    "range-overtakes-touch": [("block.c", "return !list_empty(&block->touches) || block->waiting ||",
                               "return block->waiting ||")],
    "range-passes-over": [("block.c", "\t\treturn !block->failed && hold_is_over(block);\n", "\t\treturn false;\n")],
    "touch-joins-write": [("block.c", "\t\tcase BLOCK_IS_READ:\n\t\t\tif (!block->waiting)",
                           "\t\tcase BLOCK_IS_READ:\n\t\tcase BLOCK_IS_WRITE:\n\t\t\tif (!block->waiting)"),
                          ("block.c", "\t\tcase BLOCK_IS_WRITE:\n\t\tcase BLOCK_IS_PASS:\n\t\t\tlist_add",
                           "\t\tcase BLOCK_IS_PASS:\n\t\t\tlist_add")],
    "touch-late-for-patch": [("block.c", "\t\t\tfallthrough;\n\t\tcase BLOCK_IS_WRITE:\n\t\tcase BLOCK_IS_PASS:\n",
                              "\t\t\tlist_add_tail(&touch->list, &block->next);\n\t\t\treturn TOUCH_TAKEN;\n"
                              "\t\tcase BLOCK_IS_WRITE:\n\t\t\tif (block->patched) {\n"
                              "\t\t\t\tblock_copy_touch(block, touch);\n\t\t\t\tblock_take_touch(block, touch);\n"
                              "\t\t\t\treturn TOUCH_TAKEN;\n\t\t\t}\n\t\t\tfallthrough;\n\t\tcase BLOCK_IS_PASS:\n")],
    "read-not-pinned": [("target.c", "return overlay_map_read(io);", "return DM_MAPIO_REMAPPED;")],
    "pin-not-kept": [("overlay.c", "bitmap_copy(pin->kept, block_for_reads(block),\n\t\t\t    ALIGN_MAX_BLOCK_SECTORS);",
                      "bitmap_fill(pin->kept, ALIGN_MAX_BLOCK_SECTORS);")],
    "read-into-held": [("run.c", "return block->held || smp_load_acquire", "return smp_load_acquire")],
    "merge-overwrites-kept": [("run.c", "for_each_clear_bit(sector, block->kept,\n\t\t\t   align_block_sectors(&at->geometry)) {",
                               "for (sector = 0; sector < align_block_sectors(&at->geometry); sector++) {")],
    "failed-range-ends-held": [("block.c", "if (ok && block->held)", "if (block->held)")],
    "part-discard-ends-held": [("hold.c", "(!block->failed || to - from < align_block_sectors(&at->geometry))",
                                "!block->failed")],
    "discard-ends-held": [("block.c", "return op == REQ_OP_DISCARD && block->held && !block->failed;", "return false;"),
                          ("hold.c", "if (bio_op(io->bio) == REQ_OP_DISCARD &&", "if (!io->bio &&")],
    "failed-write-forgotten": [("block.c", "if (block->held && status) {", "if (block->held && !at_all) {"),
                               ("block.c", "\tbool passed = block->state == BLOCK_IS_PASS;\n",
                                "\tbool passed = block->state == BLOCK_IS_PASS, at_all = true;\n")],
    "pass-writes-whole": [("run.c", "block_step_after_read(failed, block_is_whole(block));",
                           "block_step_after_read(false, block_is_whole(block));")],
    "fua-lost": [("run.c", "\t\topf |= touch->io->bio->bi_opf & REQ_FUA;\n", "")],
    "fua-held": [("hold.c", "!(bio->bi_opf & REQ_FUA) && ", "")],
    "ledger-twice": [("write.c", "\t\tif (io->touch[i].held)\n\t\t\tcontinue;\n", "")],
    "ledger-not-superseded": [("hold.c", "hold_resolve(block, RMW_SUPERSEDED, RMW_SUPERSEDED);", "hold_end(block);")],
    "overwritten-keeps-bytes": [("hold.c", "\tbitmap_clear(block->kept, from, to - from);\n", "")],
    "waiter-not-woken": [("hold.c", "\thold_settle(blocks, block->seq, false);\n", "")],
    "waiter-of-failed-not-woken": [("hold.c", "\thold_settle(blocks, block->seq, true);\n", "")],
    "range-not-let-through": [("block.c", "\t\tblock_let_through(block, &shard->ranges);\n",
                               "\t\tif (!shard)\n\t\t\tblock_let_through(block, &shard->ranges);\n")],
    "starved-not-woken": [("run.c", "\tblocks->reserve_busy = false;\n\tstarved_wake(blocks);\n",
                           "\tblocks->reserve_busy = false;\n")],
    "timer-not-armed": [("hold.c", "\telse\n\t\ttimer_reduce(&blocks->due, block->since +\n"
                         "\t\t\t     msecs_to_jiffies(READ_ONCE(blocks->hold_ms)));\n", "")],
    "delay-not-ended": [("start.c", "\tstart_end_delay(blocks);\n\tspin_unlock_irqrestore(&blocks->lock, flags);\n"
                         "\treturn HRTIMER_NORESTART;", "\tspin_unlock_irqrestore(&blocks->lock, flags);\n"
                         "\treturn HRTIMER_NORESTART;")],
    "drop-stays-idle": [("hold.c", "\tif (block->failed)\n\t\tatomic_dec(&block->single.at->blocks.nr_idle);\n\telse\n",
                         "\tif (!block->failed)\n")],
    "row-stays-resting": [("start.c", "\t\thold_leave(other);\n", "\t\tlist_del_init(&other->list);\n")],
    "mode-without-gate": [("target.c", "switch (gate_enter(&at->gate, io)) {",
                           "switch (at->gate.closed ? 0 : gate_enter(&at->gate, io)) {")],
    "mode-keeps-known": [("target.c", "\t\t\tblocks_forget(at);\n\t\t\tWRITE_ONCE(at->mode, mode);",
                          "\t\t\tWRITE_ONCE(at->mode, mode);")],
    "mode-keeps-held": [("target.c", "ret = hold_empty(at, MAX_SCHEDULE_TIMEOUT, TASK_KILLABLE);\n\t\tif (ret) {",
                         "ret = 0;\n\t\tif (ret) {")],
    "freeze-without-quiet": [("hold.c", "\t/* The work may be asleep below with blocks that it has taken. */\n"
                              "\thold_wait_quiet(at);\n", ""),
                             ("hold.c", "\t/* And it may have been about to take blocks. */\n\thold_wait_quiet(at);\n",
                              "\tif (!at->node)\n\t\thold_wait_quiet(at);\n")],
    "freeze-without-cancel": [("hold.c", "\tcancel_work_sync(&blocks->empty);\n\ttimer_delete_sync(&blocks->due);\n"
                               "\tcancel_work_sync(&blocks->empty);\n", "")],
    "empty-while-frozen": [("hold.c", "may = !hold_is_frozen(blocks) && ", "may = ")],
    "hold-after-stop": [("hold.c", "\tholding = blocks->holding;\n", "\tholding = true;\n")],
    "run-error-reaches-all": [("run.c", "if (status && run->nr > 1) {", "if (status && !run->nr) {")],
    "failed-not-retried": [("hold.c", "return hold_is_awaited(block) ||\n\t       time_after_eq(jiffies, block->since +\n"
                            "\t\t\t     msecs_to_jiffies(HOLD_RETRY_MS));", "return hold_is_awaited(block);")],
    "edges-are-padded": [("write.c", "if (align_is_edge", "if (false && align_is_edge")],
    "allocation-leaks": [("block.c", "\t\tkfree(block);\n\t\treturn NULL;\n\t}\n\tblock->number",
                          "\t\treturn NULL;\n\t}\n\tblock->number")],
    "class-counted-as-other": [("write.c", "ledger_inc(ledger, writes_tail_only);", "ledger_inc(ledger, writes_head_only);")],
    "latency-of-all-misaligned": [("write.c", "latency[!!io->nr_touches]", "latency[1]")],
    "status-mixed-up": [("target.c", "READ_ONCE(at->blocks.max), atomic_read(&at->blocks.nr),",
                         "atomic_read(&at->blocks.nr), READ_ONCE(at->blocks.max),")],
    "held-bytes-not-counted": [("hold.c", "s64 change = (s64)hold_sectors(block) - before;",
                                "s64 change = (s64)before - before;")],
    "first-touch-merged": [("block.c", "block_how(status, block->known, block->has_read, 0);",
                            "block_how(status, block->known, block->has_read, 1);")],
    "known-for-ever": [("block.c", "\tif (left < MAX_JIFFY_OFFSET)\n", "\tif (left > MAX_JIFFY_OFFSET)\n")],
    "flush-keeps-known": [("target.c", "TASK_KILLABLE);\n\t\tblocks_forget(at);\n\t} else if", "TASK_KILLABLE);\n\t} else if")],
    "message-with-more-words": [("target.c", "} else if (argc == 1 && !strcasecmp(argv[0], \"drop_failed\")) {",
                                    "} else if (!strcasecmp(argv[0], \"drop_failed\")) {")],
    "cache-gained-unseen": [("node.c", "if (cached && !node->cached)", "if (cached && node->cached)")],
    "one-sleep-ends-both": [("notify.c", "\tsleeps &= ~kind;\n", "\tsleeps = 0 * kind;\n")],
    "chunk-not-looked-at": [("target.c", "if (lim.chunk_sectors &&\n", "if (!lim.chunk_sectors &&\n")],
    "epoch-stays": [("node.c", "\t\t\tnode->epoch++;\n", "\t\t\tnode->epoch = 1;\n")],
    "target-begins-at-0": [("target.c", "dm_target_offset(ti, bio->bi_iter.bi_sector);", "bio->bi_iter.bi_sector;")],
    "files-outlive-node": [("sysfs.c", "\tsysfs_remove_group(node_kobj(node), &group);\n",
                            "\t(void)group;\n")],
    # Faults that the simulation has found, as they were.
    "drop-keeps-writes": [("write.c", "\t\tif (!io->status && hold_was_dropped(io))\n"
                           "\t\t\tio->status = BLK_STS_IOERR;\n", "")],
    "drop-does-not-wait": [("hold.c", "\tsynchronize_rcu();\n", "")],
    "read-shows-and-forgets": [("overlay.c", "\tblock->shown = true;\n\tatomic_inc(&io->at->blocks.nr_shown);\n", "")],
    "read-of-shown-not-mapped": [("target.c", " ||\n\t\t    atomic_read(&at->blocks.nr_shown))", ")")],
    "read-shows-too-early": [("overlay.c", "!block->patched || ", "")],
    "read-finds-range": [("overlay.c", "atomic_read(&io->at->blocks.nr_over)", "false")],
    "read-bytes-twice": [("overlay.c", "read_bytes, (stop - start) << SECTOR_SHIFT);",
                          "read_bytes, (end - start) << SECTOR_SHIFT);")],
    "read-counts-twice": [("overlay.c", "\telse\n\t\tledger_inc(at->ledger, reads);\n", "\tledger_inc(at->ledger, reads);\n")],
}

RARE = {"drop-does-not-wait"}

FOCUS = {
    "allocation-leaks": "allocations",
    "drop-does-not-wait": "drops",
    "drop-keeps-writes": "drops",
    "read-bytes-twice": "memory",
    "read-counts-twice": "memory",
    "read-finds-range": "reads",
    "read-of-shown-not-mapped": "reads",
    "read-shows-and-forgets": "reads",
    "read-shows-too-early": "reads",
    "cache-gained-unseen": "tables",
    "chunk-not-looked-at": "tables",
    "epoch-stays": "tables",
    "files-outlive-node": "files",
    "one-sleep-ends-both": "tables",
    "target-begins-at-0": "targets",
}

NOT_FOUND = {
    "empty-while-frozen": "what the drain takes then is put back before it is sent: hold_take_back()",
    "freeze-without-quiet": "device-mapper has waited for all requests before, and the drain is waited for a second time",
    "range-overtakes-touch": "the oracle judges content, which is lawful, and not the order of ranges and touches",
    "touch-overtakes-range": "the oracle judges content, which is lawful, and not the order of ranges and touches",
}
