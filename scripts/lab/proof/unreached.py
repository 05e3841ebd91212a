# SPDX-License-Identifier: GPL-2.0
"""The lines of kmod/ that `make coverage` does not reach, each with a reason; there is no other such list.

An unreached line that is not listed here fails the run, and so does an entry that matches no line any more, or only
reached ones: so a test has run every other line, error paths included.
"""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Known:
    """Lines of a function that contain `text`; rest: and all lines behind; chance: a run may reach them."""
    file: str
    function: str
    text: str
    why: str
    rest: bool = False
    chance: bool = False


# Of lines of which the compiler of the simulation, which runs them, makes one with others.
JOINED = "the simulation runs it, where the compiler has made one of it and another line"
# The kernel's fault injection tells from the words on the stack, of which it reads 32, whose allocation is to fail.
MISSED = "kmod/tests/uml/test_allocations.py has each allocation of such a table fail that the kernel takes for the target's"

KNOWN = (
    Known("block.c", "shard_free_some", "continue;", "a read copies from the cached block at this moment", chance=True),
    Known("block.c", "blocks_init", "kfree(blocks->area);", MISSED, chance=True),
    Known("block.c", "blocks_init", "return -ENOMEM;", MISSED, chance=True),
    Known("bounce.c", "middle_job", "read_put(io, BLK_STS_RESOURCE);",
          "without memory for the cgroup of a clone, which a kernel with CONFIG_BLK_CGROUP may lack"),
    Known("bounce.c", "bounces_new", "kfree(bounces);", MISSED, chance=True),
    Known("bounce.c", "bounces_new", "return NULL;", MISSED, chance=True),
    Known("cache.c", "node_is_flushed", "WRITE_ONCE(node->unflushed, true);",
          "a program opens the disk between two looks at its openers", chance=True),
    Known("cut.h", "align_cut_zeroes", "zeroes.max_sectors = ALIGN_MAX_BIO_SECTORS;",
          "of devices with a larger limit than a bio has sectors"),
    Known("ending.h", "ending_sleep_begin", "}", JOINED),
    Known("engine.c", "engine_init", "goto bad_blocks;", MISSED, chance=True),
    Known("engine.c", "engine_init", "blocks_exit(at);", MISSED, chance=True),
    Known("fixing.c", "fixing_load", "reclaim_exit();", "the kernel's notifiers can always be registered"),
    Known("flush.c", "hold_map_flush", "return DM_MAPIO_REMAPPED;",
          "the last held block is written between two looks at how many there are", chance=True),
    Known("flush.c", "hold_map_flush", "io->flush.waiter.failed = true;", "a flush meets a target that is just frozen",
          chance=True),
    Known("flush.c", "hold_map_flush", "flush_queue_job(&io->flush.waiter);", "a flush meets a target that is just frozen",
          chance=True),
    Known("held.c", "hold_rest", "list_add_tail(&block->list, &shard->urgent);",
          "a write comes to wait for a block that goes back to rest at this moment", chance=True),
    Known("held.c", "hold_withdraw", "cond_resched();", "the blocks of many waiters are settled while one of them withdraws",
          chance=True),
    Known("node.c", "node_join", "node_free(fresh);", "two tables of one device are loaded at once", chance=True),
    Known("notify.c", "notify_init", "reboot_exit();", "the kernel's notifiers can always be registered"),
    Known("run.c", "block_patch_some", "return touch;", JOINED),
    Known("settle.c", "hold_freeze", "hold_say_waiting(at);",
          "of a flush that takes half a minute; a test would have to wait as long", chance=True),
    Known("shard.h", "shard_trylock", "return false;",
          "another processor has the lock at this moment; one alone never finds it taken", chance=True),
    Known("starved.c", "starved_retry_touch", "list_add_tail(&touch->list,",
          "a large block gets a crowd of ranges while a touch of it waits for memory", chance=True),
    Known("starved.c", "starved_serve", "container_of(", JOINED),
    Known("turn.c", "range_cut", "return min(cut - into + granule, end);",
          "of secure erases, which no disk of these kernels takes; the simulation has their orders, without granules"),
    Known("turn.c", "blocks_resume", "container_of(", JOINED),
    Known("turn.c", "blocks_resume", "cond_resched();", "more blocks go on in an area than one lock is held over", chance=True),
)


def function_at(lines, number):
    """
    Return the function that contains line `number`, and the number of its first line: in the kernel's style only a
    definition starts a line with a word.
    """
    for first in range(number, 0, -1):
        found = re.match(r"[A-Za-z_].*?(\w+)\(", lines[first - 1])
        if found:
            return found[1], first
    return None, 0


def _of(known, lines, number):
    function, first = function_at(lines, number)
    behind = lines[first - 1 if known.rest else number - 1:number]
    return function == known.function and any(known.text in line for line in behind)


def reason(file, lines, number):
    """Return why a line is not reached, or None; `lines`: the file's lines."""
    return next((known.why for known in KNOWN if known.file == file and _of(known, lines, number)), None)


def stale(sources, texts):
    """Return complaints about entries for files {name: Source} with lines {name: [line]}."""
    out = []
    for known in KNOWN:
        source, lines = sources.get(known.file), texts.get(known.file, [])
        found = [number for number in source.lines if _of(known, lines, number)] if source else []
        what = f"{known.file}, {known.function}(){f', {known.text!r}' if known.text else ''}"
        if not found:
            out.append(f"{what}: no such line is left")
        elif not known.chance and all(source.lines[number] for number in found):
            out.append(f"{what}: is reached")
    return out
