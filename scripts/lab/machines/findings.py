# SPDX-License-Identifier: GPL-2.0
"""Faults that a kernel reports in its log, and the proof where the emulator caused one."""

import re

# md's warning about two halves on one disk is advice.
_FAULT = re.compile(r"""
    \bBUG: | \bkernel\ BUG\b | (?<!md\d:\ )\bWARNING: | \bOops\b | \bKASAN:\ | \bUBSAN: | \bKFENCE:\ | \bODEBUG:
  | \bRCU\ (detected|stall) | \bhard\ LOCKUP | :\ [0-9a-f]{4}\ \[\#\d+\]
  | (?i: kernel\ panic | general\ protection\ fault | possible\ (circular|recursive)\ locking
      | inconsistent\ lock\ state | possible\ irq\ lock\ inversion | suspicious\ rcu\ usage | rcu.*detected.*stalls
      | self-detected\ stall | soft\ lockup | workqueue\ lockup | blocked\ for\ more\ than | sleeping\ function\ called
      | scheduling\ while\ atomic | bad\ page\ state | refcount_t: | list_(add|del)\ corruption | double\ free
      | use-after-free | unreferenced\ object | objects\ remaining | held\ lock\ freed | lock\ held\ when\ returning
      | unable\ to\ handle | page\ allocation\ failure | trying\ to\ register\ non-static\ key )
    """, re.X)

# Since 6.2 with "Oops: " in front.
_BREAKPOINT = re.compile(r"(?:^|\] )(?:Oops: )?int3: 0000 \[#\d+\]")
_PANIC = re.compile(r"Kernel panic - not syncing: Fatal exception")
# A module's text may be freed and rewritten, so only the kernel's own counts: no "[module]" at the end.
_AT = re.compile(r"\bRIP: 0010:([\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+)$")
# The oops report's dump of memory around the instruction pointer: see show_opcodes().
_CODE = re.compile(r"\bCode: ((?:[0-9a-f]{2} ){42})<[0-9a-f]{2}>(?: [0-9a-f]{2}){21}$")


def faults(log, broken=None):
    """
    Return the lines of a kernel log that report a fault, in order. A module that is `broken` on purpose may warn: a warning
    that its own code raises is left out, and nothing else.
    """
    own = broken and re.compile(rf"\bWARNING: .* at .* \w\S*\+0x\S+ \[{broken}\]")
    return [line for line in log.splitlines() if _FAULT.search(line) and not (own and own.search(line))]


def excerpt(log, count=40):
    """Return `count` lines from the first fault on; without a fault, the last `count` lines."""
    lines = log.splitlines()
    first = next((number for number, line in enumerate(lines) if _FAULT.search(line)), max(0, len(lines) - count))
    return lines[first:first + count]


def emulator_fault(log):
    """Return the proof that the emulator killed a guest, as a sentence, or None if its console has no proof.

    While Linux patches its own code (static keys, static calls, ftrace), the code contains a breakpoint, the byte cc, for
    a moment. QEMU before 8.1 reads code for translation before it locks the page: a simultaneous write of another
    processor does not undo the translation, which keeps the breakpoint for good. The next processor there executes it
    when no handler expects it any more, and the kernel dies of an int3.

    A breakpoint trap leaves the instruction pointer behind the instruction. If memory in front of the pointer has neither
    cc nor cd 03, the two encodings of the breakpoint, the processor executed an instruction that is not in memory. No
    fault of the guest's software looks like that: a stray jump onto a breakpoint leaves it in memory. An earlier fault
    could have another cause, so this must be the first fault, followed only by its consequences.
    """
    lines = log.splitlines()
    numbers = [number for number, line in enumerate(lines) if _FAULT.search(line)]
    oopses = [number for number in numbers if _BREAKPOINT.search(lines[number])]
    if not oopses or oopses[0] != numbers[0]:
        return None
    if not all(number in oopses or _PANIC.search(lines[number]) for number in numbers):
        return None
    first, *later = [_breakpoint(lines[number + 1:]) for number in oopses]
    # The panic may cut off another processor's report, but no report may show a real breakpoint.
    if first is None or first[0] is None or first[1] or any(found and found[1] for found in later):
        return None
    return f"a breakpoint was executed right before {first[0]}, where memory holds {first[2]}"


def _breakpoint(report):
    """Parse an int3 oops (its lines behind the first): return the place in the kernel's own text, or None; whether memory
    has a breakpoint in front of it; and the byte there. Return None if the report lacks these."""
    at = next((number for number, line in enumerate(report[:10]) if "RIP: " in line), None)
    code = _CODE.search(report[at + 1]) if at is not None and at + 1 < len(report) else None
    if not code:
        return None
    before = code[1].split()
    place = _AT.search(report[at])
    return place and place[1], before[-1] == "cc" or before[-2:] == ["cd", "03"], before[-1]
