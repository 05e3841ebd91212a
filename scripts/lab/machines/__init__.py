# SPDX-License-Identifier: GPL-2.0
"""The two kinds of machines that tests run in, User Mode Linux and QEMU: which of them cannot run here, why, and which
are left out.

DM_ALIGN_WITHOUT names machines whose tests are to be skipped: "uml", "qemu" or "uml qemu".
"""

import os
import re

from .findings import faults

VARIABLE = "DM_ALIGN_WITHOUT"
NAMES = {"uml": "User Mode Linux", "qemu": "QEMU"}

# QEMU's word that KVM could not go on with a guest. QEMU then stops the guest and waits for ever.
STUCK = r"(?m)^(?:KVM internal error|KVM: entry failed|KVM: unknown exit|error: kvm run failed).*"
# What User Mode Linux says whenever it boots here: its console is a file, and it has no disk.
_ALWAYS = r"^epollctl add err fd|^Failed to initialize ubd device"
# What in a console tells why a kernel or its machine gave up, the most telling first.
_TELLING = (STUCK, r"errno = -?\d+", r"^qemu-system\S*: ",
            r"(?i)not permitted|permission denied|no such file|not found|must be|expected SIGSTOP",
            r"(?i)\bcannot\b|\bfailed\b|\bunable\b")


class LeftOut(Exception):
    """A machine that the user leaves out is asked for; a test that meets this is skipped."""


def left_out():
    words = os.environ.get(VARIABLE, "").replace(",", " ").split()
    unknown = [word for word in words if word not in NAMES]
    if unknown:
        raise ValueError(f"{VARIABLE}={os.environ[VARIABLE]}: there is no {unknown[0]}; name {' or '.join(NAMES)}")
    return words


def require(machine):
    """Raises LeftOut if the user leaves this kind of machine out."""
    if machine in left_out():
        raise LeftOut(f"{NAMES[machine]} is left out ({VARIABLE}={os.environ[VARIABLE]})")


def telling(console):
    """The line of a console that tells best why a machine died before its command began."""
    lines = [re.sub(r"^\[ *\d+\.\d+\] ", "", line).strip() for line in console.splitlines()]
    lines = [line for line in lines if line and not re.search(_ALWAYS, line)]
    for pattern in _TELLING:
        found = next((line for line in lines if re.search(pattern, line)), None)
        if found:
            return found
    return next(iter(faults("\n".join(lines))), lines[-1] if lines else "it said nothing")


def cannot_run(machine, result):
    """One line that says that a machine cannot run here, why, and the way out; None if its command began."""
    if result.begun or not result.status:
        return None
    return line(machine, f"{telling(result.complaint or result.console)} (console: {result.folder / 'console.log'})")


def line(machine, why):
    return f"{NAMES[machine]} cannot run on this machine: {why}; make check {VARIABLE}={machine} leaves its tests out"
