# SPDX-License-Identifier: GPL-2.0
"""What KCSAN says in a kernel log: data races of the target, and those of the rest of the kernel."""

import re

from .findings import faults

RULE = "=" * 66
MODULE = "[dm_align]"
TIME = re.compile(r"^\[ *\d+\.\d+\](?:\[[^]]*\])? ?")


def reports(log):
    """KCSAN's reports in a kernel log, each as its lines without the time."""
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
    # The log may end in the middle of one.
    return found + ([current] if current else [])


def of_target(report):
    return any(MODULE in line for line in report)


def title(report):
    """What two reports of one race have in common: the first line, without addresses of instructions."""
    return re.sub(r"\+0x[0-9a-f]+/0x[0-9a-f]+", "", report[0])


def other_faults(log):
    """Faults in the log that are no race."""
    return [line for line in faults(log) if "BUG: KCSAN:" not in line]


def judge(log):
    """(the reports with a function of the target by their title, how many others there are)."""
    ours, others = {}, 0
    for report in reports(log):
        if of_target(report):
            ours.setdefault(title(report), []).append(report)
        else:
            others += 1
    return ours, others
