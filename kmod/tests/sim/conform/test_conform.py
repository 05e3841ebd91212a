# SPDX-License-Identifier: GPL-2.0
"""The shim keeps the kernel's promises: suites of kunit/, which KUnit runs in a real kernel, run in simulated machines,
too; with a deliberate fault of the shim they fail."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.linux import kernels
from lab.pace import patience
from lab.paths import REPO
from lab.plugins import extent
from lab.proof import kunit
from sim.conform.faults import FAULTS

SIM = Path(__file__).resolve().parent.parent
KUNIT = REPO / "kunit"
SUITES = [KUNIT / "interfaces_test.c", KUNIT / "disks_test.c"]
LIMIT = 300
SEEDS = 400
# Functions of the shim that the suite does not call, and why.
NOT_CALLED = {
    "bio_blkcg_css": "a suite has no cgroup that is not the root",
    "might_sleep": "a violation ends the simulation, where the kernel warns",
    "spin_trylock": "a kernel for one CPU takes a lock that is held for a bug",
    "trace_align_rmw": "an event of the engine's own",
    "trace_align_write": "an event of the engine's own",
}
# Files of the shim whose functions take part in no case: device-mapper, which worlds use as an administrator does, and sysfs,
# which they read.
WITHOUT_CASES = {"dm", "sysfs"}


def make(out, sim=SIM):
    """Build the suites with the shim and the machine of a folder."""
    linux = kernels.fetch_source(kernels.USUAL)
    return subprocess.run(["make", "-s", "-C", sim, "conform", f"OUT={out}", f"LINUX={linux}", f"KUNIT={KUNIT}",
                           f"KMOD={REPO / 'kmod'}"], capture_output=True, text=True, timeout=patience(LIMIT), check=False)


def run(out, *arguments):
    """Return the status and the output of a run."""
    done = subprocess.run([out / "bin" / "sim-conform", *map(str, arguments)], capture_output=True, text=True,
                          timeout=patience(LIMIT), check=False)
    return done.returncode, done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Return the folder of a build."""
    out = tmp_path_factory.mktemp("conform")
    done = make(out)
    assert done.returncode == 0, done.stderr[-8000:]
    return out


def cases_of_the_suites():
    return [case for suite in SUITES for cases in kunit.suites(suite).values() for case in cases]


def test_each_expectation_of_the_kernel_holds_in_the_simulation(built):
    status, output = run(built, SEEDS)
    assert status == 0, output
    cases = cases_of_the_suites()
    assert re.findall(r"^ok (\w+)$", output, re.M) == cases
    assert output.splitlines()[-1] == f"sim-conform: {len(cases)} cases, 0 failed, {SEEDS} seeds each"


def copy_of_the_simulation(folder):
    """Return a folder with all sources of the simulation as they are, for changes."""
    for path in sorted(SIM.rglob("*")):
        if path.suffix in (".c", ".h") or path.name == "Makefile":
            at = folder / path.relative_to(SIM)
            at.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, at)
    return folder


def faults():
    """Return the faults: in make check one of each family, which is enough to show that the suite can fail."""
    usual = {"work-runs-beside-itself", "signal-ends-each-wait", "spin-lock-is-held-by-two", "timer-runs-twice-at-once",
             "call-rcu-in-a-task", "ref-forgets-other-cpus", "set-does-not-wait", "plug-is-kept", "plug-keeps-no-requests"}
    return [fault if fault in usual else extent.only_all("a fault of each family fails", fault) for fault in sorted(FAULTS)]


@pytest.mark.parametrize("fault", faults())
def test_a_fault_of_the_shim_fails(built, tmp_path, fault):
    case, changes = FAULTS[fault]
    sim = copy_of_the_simulation(tmp_path / "sim")
    for file, old, new in changes:
        text = (sim / file).read_text()
        assert text.count(old) == 1, f"{file} has {text.count(old)} times: {old}"
        (sim / file).write_text(text.replace(old, new))
    shutil.copytree(built, tmp_path / "out", symlinks=True)
    done = make(tmp_path / "out", sim)
    assert done.returncode == 0, done.stderr[-8000:]
    status, output = run(tmp_path / "out", SEEDS, 1, case)
    assert status == 1 and f"not ok {case}: seed " in output, output


def defined():
    """Return the functions that the shim defines for the kernel's side, in its files with cases."""
    found = set()
    for path in sorted((SIM / "shim").glob("*.c")):
        if path.stem not in WITHOUT_CASES:
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            found |= set(re.findall(r"^(?!static)[a-z][\w \t]*[ *](\w+)\([^;{}]*\)\n?\{", text, re.M))
    return found


def test_each_function_of_the_shim_is_called_by_a_suite_or_named(built):
    objects = [built / "sim" / "conform" / f"{suite.stem}.o" for suite in SUITES]
    symbols = subprocess.run(["nm", "-u", *objects], capture_output=True, text=True, check=True)
    called = set(re.findall(r" U (\w+)$", symbols.stdout, re.M))
    names = defined()
    # Functions that macros of the shim's headers call are called by the suites as well; the rest is for the simulation itself.
    own = {name for name in names if name.startswith("shim_")} - called
    assert len(names) > 60
    assert names - called - own == NOT_CALLED.keys()


def test_each_case_has_a_fault_that_fails_it():
    assert {case for case, _ in FAULTS.values()} == set(cases_of_the_suites())


@pytest.mark.parametrize("arguments", [["x"], ["-1"], ["1", "x"], ["1", "1", "no_such_case"]])
def test_bad_arguments_end_with_status_2(built, arguments):
    assert run(built, *arguments)[0] == 2
