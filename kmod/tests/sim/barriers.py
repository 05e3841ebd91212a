# SPDX-License-Identifier: GPL-2.0
"""Barriers of the engine taken away, each as a change of a copy of its sources, that simulated weak memory must show.

BARRIERS has, by name, the changes as in faults.py. IN_LITMUS has those that tests of sim-litmus show, which use that part of the
engine alone. NOT_FOUND has the rest, each with the reason: another barrier orders the same accesses, or the simulation does not
weaken that order.
"""

BARRIERS = {
    # A writer behind the gate sees the mode that was set while it was closed.
    "gate-rmb": [("gate.h", "\tsmp_rmb();\n", "")],
    # An opener that has seen @unflushed set, and so did not set it, is seen by the context that clears it.
    "node-mb": [("cache.c", "\t\tsmp_mb();\n", "")],
    # The context that counts a write and the one that makes its area busy do not both miss the other.
    "quiet-enter-mb": [("quiet.c", "\tsmp_mb();\n\tbusy = ", "\tbusy = ")],
    "quiet-end-mb": [("quiet.c", "\tsmp_mb();\n\treturn !quiet_is_empty", "\treturn !quiet_is_empty")],
    # A context that sees that all counted writes have ended sees their data, in a device that is memory.
    "quiet-leave-wmb": [("quiet.c", "\tsmp_wmb();\n", "")],
    "quiet-empty-rmb": [("quiet.c", "\tsmp_rmb();\n", "")],
    # The context that ends a counted write and the one that makes its area busy do not both miss the other.
    "quiet-leave-mb": [("quiet.c", "\tsmp_mb();\n\treturn quiet_is_over", "\treturn quiet_is_over")],
    # The context that ends the last part of a write sees how the other parts were resolved, and owns the write.
    "parts-relaxed": [("parts.c", "if (atomic_dec_and_test(&io->write.parts))",
                       "if (!atomic_add_return_relaxed(-1, &io->write.parts))")],
    # The context that ends the last piece of a run sees the errors of the others.
    "pieces-relaxed": [("write.c", "if (!atomic_dec_and_test(&io->write.pieces))",
                        "if (atomic_add_return_relaxed(-1, &io->write.pieces))")],
    # The context that ends the last part of a read sees the errors of the others.
    "read-parts-relaxed": [("bounce.c", "if (!atomic_dec_and_test(&io->read.parts))",
                            "if (atomic_add_return_relaxed(-1, &io->read.parts))")],
    # A block is counted as resting behind all that its rest does with work and timer.
    "rest-mb": [("held.c", "\tsmp_mb__before_atomic();\n", "")],
    # A block is no longer counted as resting before it holds nothing any more.
    "leave-mb": [("held.c", "\tsmp_mb__after_atomic();\n", "")],
    # The counts of held, failed and resting blocks are read in the order in which blocks leave them.
    "quiet-rmb-held": [("held.c", "\tsmp_rmb();\n\trest = ", "\trest = ")],
    "quiet-rmb-idle": [("held.c", "\tsmp_rmb();\n\trest += ", "\trest += ")],
    "quiet-rmb-after": [("held.c", "\tsmp_rmb();\n\treturn nr", "\treturn nr")],
    # A read is done with the buffer of a block before it is seen to unpin that.
    "unpin-release": [("overlay.c", "smp_store_release(&block->pins, block->pins - 1)",
                       "WRITE_ONCE(block->pins, block->pins - 1)")],
    "spare-acquire": [("run.c", "smp_load_acquire(&block->pins)", "READ_ONCE(block->pins)")],
}

IN_LITMUS = {
    "gate-rmb": ["engine: gate and mode"],
    "leave-mb": ["engine: a failed block ends"],
    "node-mb": ["engine: node and opener"],
    "parts-relaxed": ["engine: the parts of a write"],
    "pieces-relaxed": ["engine: the pieces of a write"],
    "read-parts-relaxed": ["engine: the parts of a read"],
    "quiet-end-mb": ["engine: a write is counted", "engine: a counted write ends"],
    "quiet-empty-rmb": ["engine: what a counted write wrote"],
    "quiet-enter-mb": ["engine: a write is counted"],
    "quiet-leave-mb": ["engine: a counted write ends"],
    "quiet-leave-wmb": ["engine: what a counted write wrote"],
    "quiet-rmb-held": ["engine: a failed block ends"],
    "quiet-rmb-idle": ["engine: a block fails"],
    "unpin-release": ["engine: the buffer of a pinned block"],
}

NOT_FOUND = {
    "rest-mb": "queue_work() is a full barrier, and a timer is set at once here, in a freeze not at all",
    "quiet-rmb-after": "cancel_work_sync(), which comes next, is a full barrier",
    "spare-acquire": "only stores and requests follow, and a branch orders those behind the load that it looks at",
}
