# SPDX-License-Identifier: GPL-2.0
"""Where the engine visits more than 64 blocks, or requests, under one holding of a lock with interrupts off.

The contract allows 64 blocks for any max_blocks, so each place here is a known fault of the engine, and its row goes when
the place is mended. KNOWN has, for each function that takes the lock and for what is visited there, the functions that visit
the 65th, and the most that a section has visited then: of some thousand lives, on a medium of 2048 blocks and with 400
requests, which bound the figures. RARE are those that show in a few of a thousand lives.
"""

KNOWN = {
    # A range registers with each block that it meets; rows go as one; a limit that was lowered evicts all that is known.
    ("align_engine_map", "blocks"): {"block_holds_up": 766, "block_remove": 526, "hold_before": 131, "hold_rest": 157},
    # All touches of a block are copied where a read may look.
    ("block_patch", "requests"): {"block_patch_alone": 141},
    ("block_patch", "bios"): {"buffer_copy_touch": 141},
    # The turn of a block ends: touches of the next one, ranges that waited.
    ("block_served", "requests"): {"block_take_next": 299, "range_tree_iter_next": 344,
                                   "range_tree_subtree_search": 294},
    # A range ends at each block; a block goes back into its place in the list of held ones; waiters of overwritten blocks.
    ("blocks_end_range", "blocks"): {"shard_end_range": 765, "hold_rest": 761},
    ("blocks_end_range", "requests"): {"waiter_of": 65, "block_take_next": 128,
                                       "range_tree_iter_next": 228},
    # Runs have more than 64 blocks: where they are gathered, begun, and go on.
    ("hold_take_next", "blocks"): {"hold_is_neighbour": 130},
    ("run_go_on", "blocks"): {"turn_after_read": 128},
    ("start_now", "blocks"): {"start_now": 128, "hold_rest": 114},
    # Reads: what they pin, and what lies between held blocks where a range is in flight over one.
    ("overlay_held", "blocks"): {"next_held": 761},
    ("overlay_map_read", "blocks"): {"next_held": 764},
}

RARE = {
    ("align_engine_map", "hold_rest", "blocks"),
    ("block_patch", "buffer_copy_touch", "bios"),
    ("block_patch", "block_patch_alone", "requests"),
    ("blocks_end_range", "block_take_next", "requests"),
    ("blocks_end_range", "hold_rest", "blocks"),
    ("blocks_end_range", "range_tree_iter_next", "requests"),
    ("blocks_end_range", "waiter_of", "requests"),
    ("start_now", "hold_rest", "blocks"),
}
