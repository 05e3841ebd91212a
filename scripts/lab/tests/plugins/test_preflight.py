# SPDX-License-Identifier: GPL-2.0
"""A session reports in one line, before the tests, that User Mode Linux or QEMU cannot run; and both can be left out."""

import os
import signal
import subprocess
import sys
import types

import pytest

from lab import machines, pace, remembered
from lab.linux import kernels
from lab.machines import accel, uml, vm
from lab.paths import REPO
from lab.plugins import budget, preflight

# The end of User Mode Linux 6.12 on a processor with AMX.
NO_FP = """\
Core dump limits :
Checking that ptrace can change system call numbers...OK
Checking PROT_EXEC mmap in /dev/shm...OK
[    0.000000] Linux version 6.12.117 (root@host)
[    0.500000] Run /init as init process
[    0.500000] ptrace set fp regs failed, errno = 14
[    0.510000] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b
[    0.510000] CPU: 0 PID: 1 Comm: init Not tainted 6.12.117
"""


@pytest.mark.parametrize("console, line", [
    (NO_FP, "ptrace set fp regs failed, errno = 14"),
    ("Checking that ptrace can change system call numbers...check_ptrace : expected SIGSTOP, got status = 256\n",
     "Checking that ptrace can change system call numbers...check_ptrace : expected SIGSTOP, got status = 256"),
    ("Core dump limits :\nChecking PROT_EXEC mmap in /dev/shm...Operation not permitted\n"
     "/dev/shm must be not mounted noexec\n", "Checking PROT_EXEC mmap in /dev/shm...Operation not permitted"),
    ("qemu-system-x86_64: could not load PC BIOS 'bios-256k.bin'\n",
     "qemu-system-x86_64: could not load PC BIOS 'bios-256k.bin'"),
    ("[    1.0] Run /init\n[    2.0] BUG: kernel NULL pointer dereference\n[    2.1] Call Trace:\n",
     "BUG: kernel NULL pointer dereference"),
    ("[    0.5] Failed to initialize ubd device 0 :Couldn't determine size of device's file\n"
     "[    0.6] epollctl add err fd 1, Operation not permitted\n"
     "mount: /run/x: fsconfig() failed: hostfs: Unknown parameter '/x'.\n",
     "mount: /run/x: fsconfig() failed: hostfs: Unknown parameter '/x'."),
    ("one\n\ntwo\n\n", "two"),
    ("", "no output")])
def test_the_line_that_tells_most_is_found(console, line):
    assert machines.telling(console) == line


@pytest.fixture
def fake_uml(tmp_path, monkeypatch):
    """Return a function that makes User Mode Linux of a shell script."""
    monkeypatch.setattr(uml.debug_kernels, "base", lambda name: tmp_path)
    monkeypatch.setattr(uml, "OUT", tmp_path / "out")
    monkeypatch.setattr(remembered, "FILE", tmp_path / "preflight.json")
    monkeypatch.delenv(machines.VARIABLE, raising=False)
    monkeypatch.setenv(pace.VARIABLE, "1")
    monkeypatch.delenv(pace.FILE, raising=False)

    def make(script):
        (tmp_path / "linux").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "linux").chmod(0o755)
    return make


def dies(text, status=134):
    return f"cat <<'END'\n{text}END\nexit {status}"


def test_user_mode_linux_that_dies_is_told_in_one_line(fake_uml):
    fake_uml(dies(NO_FP))
    with pytest.raises(preflight.Cannot) as told:
        preflight.check("uml")
    line = str(told.value)
    assert line.startswith("User Mode Linux cannot run on this machine: ptrace set fp regs failed, errno = 14 (console: ")
    assert line.endswith("; make check DM_ALIGN_WITHOUT=uml leaves its tests out") and "\n" not in line


def test_user_mode_linux_that_hangs_is_told_too(fake_uml, monkeypatch):
    monkeypatch.setattr(preflight, "BOOT_SECONDS", 0.3)
    fake_uml("echo Checking for tmpfs mount on /dev/shm; exec sleep 600")
    with pytest.raises(preflight.Cannot, match="cannot run on this machine: Checking for tmpfs mount on /dev/shm"):
        preflight.check("uml")


def test_user_mode_linux_that_is_no_program_is_told_too(fake_uml, tmp_path):
    fake_uml("")
    (tmp_path / "linux").chmod(0o644)
    with pytest.raises(preflight.Cannot, match="User Mode Linux cannot run on this machine: .*Permission denied"):
        preflight.check("uml")


def test_one_that_runs_says_how_long_it_took(fake_uml, tmp_path, capsys):
    fake_uml(f"touch {tmp_path}/out/uml/preflight/begun; echo 0 >{tmp_path}/out/uml/preflight/status")
    preflight.run(["uml"])
    assert "User Mode Linux runs here: booted and ended in" in capsys.readouterr().err
    assert remembered.recall("uml") is not None


@pytest.fixture
def own_sigterm():
    """Restore what SIGTERM did, behind a program that runs in this process."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("own_sigterm")
def test_scripts_uml_says_it_first(fake_uml, monkeypatch, capsys):
    fake_uml(dies(NO_FP))
    monkeypatch.setattr(uml, "module", lambda: "dm-align.ko")
    with pytest.raises(SystemExit) as ended:
        uml.main(["--timeout", "60", "--name", "fake", "--", "true"])
    assert ended.value.code == vm.DIED
    assert capsys.readouterr().err.startswith("uml: User Mode Linux cannot run on this machine: ptrace set fp regs failed")


def test_a_command_that_dies_in_a_machine_that_runs_says_nothing_of_the_machine(fake_uml, tmp_path):
    fake_uml(f"touch {tmp_path}/out/uml/fake/begun\n{dies(NO_FP)}")
    result = uml.run("true", timeout=60, name="fake")
    assert result.status == vm.DIED and machines.cannot_run("uml", result) is None


# ---- whole sessions ----

@pytest.fixture
def fake_qemu(tmp_path):
    """Return the environment of a session for 6.12 whose QEMU dies with a message, and whose logs have a separate folder."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "qemu-system-x86_64"
    program.write_text("#!/bin/sh\necho \"qemu-system-x86_64: failed to map memory\" >&2\nexit 1\n")
    program.chmod(0o755)
    environment = {name: value for name, value in os.environ.items()
                   if name not in (budget.DEADLINE, pace.EMULATION, pace.FILE, machines.VARIABLE)
                   and not name.startswith(("PYTEST_", "DMALIGN_"))}
    return {**environment, "PATH": f"{tmp_path / 'bin'}:{environment['PATH']}", "OUT": str(tmp_path / "out"),
            pace.VARIABLE: "1", accel.VARIABLE: accel.TCG, kernels.VARIABLE: "6.12"}


GUESTS = "dm-align: guests: TCG: DM_ALIGN_ACCEL=tcg\n"


def pytest_in(environment, *arguments):
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *arguments], cwd=REPO,
                          capture_output=True, text=True, env=environment, timeout=pace.patience(120))


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "loadgroup")])
def test_a_session_ends_at_once_with_the_line(fake_qemu, workers):
    done = pytest_in({**fake_qemu, machines.VARIABLE: "uml"}, "kmod/tests/guest", "-k", "linux-6.12", *workers)
    told = [line for line in (done.stdout + done.stderr).splitlines() if "cannot run" in line]
    assert done.returncode == preflight.EXIT_STATUS and len(told) == 1, done.stdout + done.stderr
    assert "QEMU cannot run on this machine: qemu-system-x86_64: failed to map memory" in told[0]
    assert "make check DM_ALIGN_WITHOUT=qemu leaves its tests out" in told[0]
    assert "passed" not in done.stdout and "failed," not in done.stdout
    assert (done.stderr + done.stdout).count(GUESTS) == 1 and (not workers or done.stderr.startswith(GUESTS))


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "loadgroup")])
def test_what_is_left_out_is_skipped_with_the_reason(fake_qemu, workers):
    done = pytest_in({**fake_qemu, machines.VARIABLE: "uml qemu"}, "kmod/tests/uml/test_unload.py",
                     "kmod/tests/guest/test_hold.py", "scripts/lab/tests/machines/test_guests.py",
                     # of the last one a fixture boots
                     "kmod/tests/rig/test_reboot.py",
                     "-k", "unload or hold_ms_bounds or time_limit_ends_a_guest or after_the_deadline", *workers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "QEMU is left out (DM_ALIGN_WITHOUT=uml qemu)" in done.stdout
    assert "User Mode Linux is left out (DM_ALIGN_WITHOUT=uml qemu)" in done.stdout
    assert "passed" not in done.stdout.splitlines()[-1], done.stdout


def test_a_word_that_is_no_machine_is_refused(fake_qemu):
    done = pytest_in({**fake_qemu, machines.VARIABLE: "kvm"}, "kmod/tests/guest", "-n", "2")
    assert done.returncode == 2 and "DM_ALIGN_WITHOUT=kvm: unknown machine kvm; name uml or qemu" in done.stdout + done.stderr


def test_tests_that_need_no_machine_wait_for_none(fake_qemu):
    done = pytest_in(fake_qemu, "scripts/lab/tests/demo/test_demo_schedule.py", "-n", "1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_scripts_vm_says_it_first(fake_qemu):
    done = subprocess.run([REPO / "scripts" / "vm", "--timeout", "60", "--name", "fake", "--", "true"], env=fake_qemu,
                          capture_output=True, text=True)
    assert done.returncode == vm.DIED
    assert done.stderr.startswith(f"{GUESTS}vm: QEMU cannot run on this machine: qemu-system-x86_64: failed to map memory")


@pytest.mark.parametrize("given, wanted", [
    (["scripts", "kmod", "userspace", "Documentation"], ["uml", "qemu"]), (["."], ["uml", "qemu"]),
    (["kmod/tests/guest/test_hold.py::test_x"], ["uml", "qemu"]), (["Documentation"], ["qemu"]),
    (["userspace"], []), (["userspace/alignctl/tests/verbs/test_help.py"], [])])
def test_only_machines_that_the_given_tests_may_need_are_tried(given, wanted):
    assert preflight.wanted_by(given, REPO) == wanted


def test_tests_are_compiled_once_and_before_the_workers_begin(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    config = types.SimpleNamespace(args=["kmod/tests/sim/test_lines.py"], invocation_params=types.SimpleNamespace(dir=REPO))
    folder = tmp_path / str(REPO / "kmod/tests/sim").lstrip("/")
    with preflight.compiling(config) as compiled:
        compiled()
    assert [*folder.glob("test_lines.*-pytest-*.pyc")]
    config.args = ["kmod/tests/sim/test_bounds.py"]
    with preflight.compiling(config) as compiled:
        compiled()
    assert not [*folder.glob("test_bounds.*")]
