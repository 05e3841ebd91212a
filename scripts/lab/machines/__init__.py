# SPDX-License-Identifier: GPL-2.0
"""The two kinds of machines for tests, User Mode Linux and QEMU: which of them cannot run here, why, and which to skip.

DM_ALIGN_WITHOUT names machines whose tests are to be skipped: "uml", "qemu" or "uml qemu".
"""

import os
import re

from .findings import faults

VARIABLE = "DM_ALIGN_WITHOUT"
NAMES = {"uml": "User Mode Linux", "qemu": "QEMU"}

# QEMU's messages when KVM fails in a guest. QEMU then stops the guest and waits for ever.
STUCK = r"(?m)^(?:KVM internal error|KVM: entry failed|KVM: unknown exit|error: kvm run failed).*"
# Messages of every boot of User Mode Linux here: its console is a file, and it has no disk.
_ALWAYS = r"^epollctl add err fd|^Failed to initialize ubd device"
# Lines of a console with the reason why a kernel or its machine gave up, the most specific first.
_TELLING = (STUCK, r"errno = -?\d+", r"^qemu-system\S*: ",
            r"(?i)not permitted|permission denied|no such file|not found|must be|expected SIGSTOP",
            r"(?i)\bcannot\b|\bfailed\b|\bunable\b")


class LeftOut(Exception):
    """A test needs a machine that the user leaves out; the test is skipped."""


def left_out():
    words = os.environ.get(VARIABLE, "").replace(",", " ").split()
    unknown = [word for word in words if word not in NAMES]
    if unknown:
        raise ValueError(f"{VARIABLE}={os.environ[VARIABLE]}: unknown machine {unknown[0]}; name {' or '.join(NAMES)}")
    return words


def require(machine):
    """Check that the user does not leave this kind of machine out. Raises LeftOut."""
    if machine in left_out():
        raise LeftOut(f"{NAMES[machine]} is left out ({VARIABLE}={os.environ[VARIABLE]})")


def telling(console):
    """Return the line of a console that best explains why a machine died before its command began."""
    lines = [re.sub(r"^\[ *\d+\.\d+\] ", "", line).strip() for line in console.splitlines()]
    lines = [line for line in lines if line and not re.search(_ALWAYS, line)]
    for pattern in _TELLING:
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found:
            return found
    return next(iter(faults("\n".join(lines))), lines[-1] if lines else "no output")


def cannot_run(machine, result):
    """Return a line that says why a machine cannot run here, and what to do; None if its command began."""
    if result.begun or not result.status:
        return None
    return line(machine, f"{telling(result.complaint or result.console)} (console: {result.folder / 'console.log'})")


def line(machine, why):
    return f"{NAMES[machine]} cannot run on this machine: {why}; make check {VARIABLE}={machine} leaves its tests out"
