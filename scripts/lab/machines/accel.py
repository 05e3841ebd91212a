# SPDX-License-Identifier: GPL-2.0
"""The accelerator of guests: KVM where a guest really boots with it, else TCG, QEMU's emulation.

/dev/kvm proves nothing: it may open and create a machine whose guest then spins for ever, or needs a minute to boot, as
in nested virtual machines. So a guest that ends at once is booted, and has to end within the time of such a boot without
KVM. The outcome is remembered until this machine's next boot.

DM_ALIGN_ACCEL=kvm or tcg is the user's own choice, without a trial.
"""

import os

from .. import machines, pace, remembered
from ..paths import OUT, locked, say

VARIABLE = "DM_ALIGN_ACCEL"
KVM, TCG = "kvm", "tcg"
# A process's choice, for its children.
CHOSEN = "DMALIGN_ACCEL"
DEVICE = "/dev/kvm"
# Longest trial of KVM, however slow the machine is.
MOST_SECONDS = 30
# The name under which the probe's outcome is remembered: "" or why not KVM.
OUTCOME = "kvm"


def choose(boot):
    """Choose KVM or TCG, and print the choice with the reason, unless this process or its parent has done so.

    boot   boots a guest with KVM that ends at once: takes its time limit in seconds, returns a vm.Result
    Raises ValueError if DM_ALIGN_ACCEL is neither.
    """
    with locked("accel", OUT):
        if CHOSEN not in os.environ:
            asked = override()
            why = f"{VARIABLE}={asked}" if asked else _why_not(boot)
            chosen = asked or (TCG if why else KVM)
            say(f"guests: {chosen.upper()}{f': {why}' if why else ''}")
            os.environ[CHOSEN] = chosen
    return os.environ[CHOSEN]


def override():
    """Return the user's own choice, or None."""
    asked = os.environ.get(VARIABLE)
    if asked and asked not in (KVM, TCG):
        raise ValueError(f"{VARIABLE}={asked}: set it to {KVM} or {TCG}, or leave it out")
    return asked or None


def _why_not(boot):
    """Return why guests cannot use KVM, in words, or ""."""
    try:
        os.close(os.open(DEVICE, os.O_RDWR))
    except OSError as error:
        return f"{DEVICE}: {error.strerror}"
    why = remembered.recall(OUTCOME)
    if why is None:
        why = _probe(boot)
        remembered.remember(OUTCOME, why)
    return why


def _probe(boot):
    result = boot(min(pace.patience(pace.REFERENCE_BOOT_SECONDS), MOST_SECONDS))
    if result.killed:
        return f"a guest that uses KVM was killed {result.killed}"
    if result.status or result.faults:
        return f"a guest that uses KVM failed: {machines.telling(result.complaint or result.console)}"
    return ""
