# SPDX-License-Identifier: GPL-2.0
"""Whether User Mode Linux and QEMU run on this machine, found out before the tests that need them: a trivial command in
each. If one does not, the session ends with one line that says why, and exit status 2.

As a pytest plugin: in a session with several workers before they start, for the folders that are given; in a session
with one process after the collection, for the guests' tests among those chosen, and once a boot of this machine. Whether
QEMU's guests use KVM is found out first (see accel.py). The boot in QEMU also tells how fast this machine runs guests
(see pace.py).
"""

import os
from pathlib import Path

import pytest

from .. import machines, pace, remembered
from ..machines import uml, vm
from ..paths import REPO, say

# The folders whose tests need a machine.
_LAB = tuple(f"scripts/lab/tests/{room}" for room in ("machines", "plugins", "proof"))
FOLDERS = {"uml": ("kmod/tests", *_LAB),
           "qemu": ("kmod/tests", *_LAB, "Documentation/tests")}
BOOT_SECONDS = 120
EXIT_STATUS = 2


class Cannot(Exception):
    """A machine cannot run here; the text is the line that says so."""


def check(machine):
    """Runs a trivial command in a machine and returns the seconds until it had begun and ended; raises Cannot."""
    try:
        if machine == "uml":
            result = uml.run("true", timeout=BOOT_SECONDS, name="preflight")
        else:
            result = vm.run("true", timeout=BOOT_SECONDS, name="preflight")
    except OSError as error:
        raise Cannot(machines.line(machine, error)) from error
    why = machines.cannot_run(machine, result) or (result.status and machines.line(machine, vm.explain(result).splitlines()[0]))
    if why:
        raise Cannot(why)
    return result.seconds


def choose_accelerator(anew):
    """Finds out whether guests use KVM; raises Cannot if there is no QEMU."""
    try:
        vm.accelerator(anew)
    except OSError as error:
        raise Cannot(machines.line("qemu", error)) from error


def run(wanted):
    """Checks the machines that are wanted; what QEMU's takes is known to this process's children."""
    for machine in wanted:
        native = pace.measure()
        seconds = check(machine)
        if machine == "qemu":
            native = max(native, pace.measure())
            os.environ[pace.EMULATION] = f"{pace.emulation(seconds, native):.2f}"
        remembered.remember(_known_as(machine), round(seconds, 1))
        say(f"{machines.NAMES[machine]} runs here: booted and ended in {seconds:.1f} s")


def _known_as(machine):
    """The name under which it is remembered that a machine runs here: QEMU may run with one accelerator only."""
    return f"{machine} {vm.accelerator()}" if machine == "qemu" else machine


def wanted_by(arguments, where):
    """The machines that the tests in files or folders, given as pytest's arguments, may need."""
    given = [Path(where, argument.split("::")[0]).resolve() for argument in arguments]
    return [machine for machine, folders in FOLDERS.items()
            if any(folder == path or folder in path.parents or path in folder.parents
                   for folder in (REPO / name for name in folders) for path in given)]


def _why_not(wanted, anew):
    """Runs the machines that are wanted and not left out, without `anew` those of which nothing is known; the line that
    says why the session ends, or None."""
    try:
        wanted = [machine for machine in wanted if machine not in machines.left_out()]
        if "qemu" in wanted:
            choose_accelerator(anew)
        run([machine for machine in wanted if anew or remembered.recall(_known_as(machine)) is None])
    except (Cannot, ValueError) as why:
        return str(why)
    return None


def _concerns(config):
    return not (hasattr(config, "workerinput") or "DMALIGN_BATCH" in os.environ or config.option.collectonly
                or pace.EMULATION in os.environ)


def _has_workers(config):
    return bool(getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Before there is a session, of which pytest would say more than the one line."""
    if _concerns(config) and _has_workers(config):
        why = _why_not(wanted_by(config.args, config.invocation_params.dir), anew=True)
        if why:
            say(why)
            return EXIT_STATUS
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    if not _concerns(session.config) or _has_workers(session.config):
        return
    needed = {item.dm_align_batch.machine for item in session.items if hasattr(item, "dm_align_batch")}
    why = _why_not([machine for machine in machines.NAMES if machine in needed], anew=False)
    if why:
        pytest.exit(why, EXIT_STATUS)
