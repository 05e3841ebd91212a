# SPDX-License-Identifier: GPL-2.0
"""KCSAN's reports in a kernel log: data races of the target, and of the rest of the kernel."""

import re

from ..machines.findings import faults

RULE = "=" * 66
MODULE = "[dm_align]"
ACCESS = re.compile(r"(?:race at unknown origin|assert no accesses|read|write|read-write)\b.* 0x")
TIME = re.compile(r"^\[ *\d+\.\d+\](?:\[[^]]*\])? ?")


def reports(log):
    """Return KCSAN's reports in a kernel log, each as its lines without the time."""
    found, current = [], None
    for line in log.splitlines():
        text = TIME.sub("", line)
        if "BUG: KCSAN:" in text:
            current = [text]
        elif current is not None:
            if text.startswith(RULE):
                found.append(current)
                current = None
            else:
                current.append(text)
    # The log may end in the middle of a report.
    return found + ([current] if current else [])


def accesses(report):
    """Return the stacks of the two accesses, each as its frames from the innermost on."""
    stacks = []
    for line in report[1:]:
        if ACCESS.match(line):
            stacks.append([])
        elif stacks and line.startswith(" "):
            stacks[-1].append(line.strip())
    return stacks


def of_target(report):
    """
    Return whether the target made one of the accesses: directly, or in a helper that it called (memcpy(), rb_erase()). A
    frame of the target further out only sent a request.
    """
    return any(MODULE in frame for stack in accesses(report) for frame in stack[:2])


def title(report):
    """Return the key of a race: the report's first line, without addresses of instructions."""
    return re.sub(r"\+0x[0-9a-f]+/0x[0-9a-f]+", "", report[0])


def other_faults(log):
    """Return the faults in the log other than races."""
    return [line for line in faults(log) if "BUG: KCSAN:" not in line]


def judge(log):
    """Return ({title: reports} of the target's races, the number of other reports)."""
    ours, others = {}, 0
    for report in reports(log):
        if of_target(report):
            ours.setdefault(title(report), []).append(report)
        else:
            others += 1
    return ours, others
