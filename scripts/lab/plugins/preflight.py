# SPDX-License-Identifier: GPL-2.0
"""Check that User Mode Linux and QEMU run on this machine, by a trivial command in each, before the tests that need them.
If one does not run, the session ends with one line that says why, and exit status 2.

A pytest plugin: a session with several workers checks before they start, for the folders on the command line; a session
with one process checks after the collection, for the chosen tests in guests. A checkout checks once per boot of this
machine. The plugin first finds out whether QEMU's guests use KVM (see accel.py). The boot in QEMU also measures how fast
this machine runs guests (see pace.py).

In a checkout whose tests were never compiled, a process compiles them meanwhile.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .. import machines, pace, remembered
from ..machines import uml, vm
from ..paths import REPO, say
from ..processes import killed_at_end

# The folders whose tests need a machine.
_LAB = tuple(f"scripts/lab/tests/{room}" for room in ("machines", "plugins", "proof"))
_IMAGES, _DASHBOARD = "scripts/lab/tests/images", "scripts/lab/tests/dashboard"
FOLDERS = {"uml": ("kmod/tests", *_LAB),
           "qemu": ("kmod/tests", *_LAB, _IMAGES, _DASHBOARD, "Documentation/tests")}
BOOT_SECONDS = 120
EXIT_STATUS = 2


class Cannot(Exception):
    """A machine cannot run here; the text is a line with the reason."""


def check(machine):
    """Run a trivial command in a machine; return the seconds of boot, command and end. Raises Cannot."""
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


def choose_accelerator():
    """Find out whether guests use KVM. Raises Cannot if there is no QEMU."""
    try:
        vm.accelerator()
    except OSError as error:
        raise Cannot(machines.line("qemu", error)) from error


def run(wanted):
    """Check the wanted machines, and remember the success; of QEMU, the slowness of its guests."""
    for machine in wanted:
        native = pace.measure()
        found = seconds = check(machine)
        if machine == "qemu":
            found = f"{pace.emulation(seconds, max(native, pace.measure())):.2f}"
        remembered.remember(_known_as(machine), found)
        say(f"{machines.NAMES[machine]} runs here: booted and ended in {seconds:.1f} s")


def _known_as(machine):
    """Return the name under which a machine's success is remembered, with QEMU's accelerator, as the other may not work."""
    return f"slowness with {vm.accelerator()}" if machine == "qemu" else machine


def wanted_by(arguments, where):
    """Return the machines that tests may need in files or folders given as pytest's arguments."""
    given = [Path(where, argument.split("::")[0]).resolve() for argument in arguments]
    return [machine for machine, folders in FOLDERS.items()
            if any(folder == path or folder in path.parents or path in folder.parents
                   for folder in (REPO / name for name in folders) for path in given)]


def _why_not(wanted):
    """Check the wanted machines that are not left out and were not checked before; return the line that says why the
    session ends, or None. Pass the slowness of QEMU's emulation on to this process's children."""
    try:
        wanted = [machine for machine in wanted if machine not in machines.left_out()]
        if "qemu" in wanted:
            choose_accelerator()
        run([machine for machine in wanted if remembered.recall(_known_as(machine)) is None])
    except (Cannot, ValueError) as why:
        return str(why)
    if "qemu" in wanted:
        os.environ[pace.EMULATION] = remembered.recall(_known_as("qemu"))
    return None


@contextlib.contextmanager
def compiling(config):
    """Compile the tests beside the `with` block, unless they were: the workers, which begin at once, would each compile all.
    Give the function that waits for the end."""
    if not sys.pycache_prefix or Path(f"{sys.pycache_prefix}{REPO}/kmod/tests").exists():
        yield lambda: None
        return
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *config.args]
    with killed_at_end(subprocess.Popen(command, cwd=config.invocation_params.dir, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)) as collecting:
        # What is wrong with a test, the session itself tells.
        yield collecting.wait


def _concerns(config):
    return not (hasattr(config, "workerinput") or "DMALIGN_BATCH" in os.environ or config.option.collectonly
                or pace.EMULATION in os.environ)


def _has_workers(config):
    return bool(getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Check before there is a session, of which pytest would print more than the one line."""
    if _concerns(config) and _has_workers(config):
        with compiling(config) as compiled:
            why = _why_not(wanted_by(config.args, config.invocation_params.dir))
            if not why:
                compiled()
        if why:
            say(why)
            return EXIT_STATUS
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    if not _concerns(session.config) or _has_workers(session.config):
        return
    needed = {item.dm_align_batch.machine for item in session.items if hasattr(item, "dm_align_batch")}
    why = _why_not([machine for machine in machines.NAMES if machine in needed])
    if why:
        pytest.exit(why, EXIT_STATUS)
