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


KNOWN = (
    Known("geometry.h", "align_latency_bin", "return v;",
          "of a request that ends within 1024 ns, as none does; the KUnit suite and the programs' tests call it"),
    Known("target.c", "align_status", "case STATUSTYPE_IMA:",
          "asked for by kernels with CONFIG_IMA, as Debian's are: kmod/tests/guest/test_measured.py", rest=True),
    Known("flush.c", "hold_map_flush", "return DM_MAPIO_REMAPPED;",
          "the last held block is written between two looks at how many there are", chance=True),
    Known("shard.h", "shard_trylock", "return false;",
          "another processor has the lock at this moment; one alone never finds it taken", chance=True),
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
