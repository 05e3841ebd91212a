# SPDX-License-Identifier: GPL-2.0
"""Guests use KVM only where a trial guest boots with it, unless the user chooses."""

import os
import shlex
import subprocess
import sys

import pytest

from lab import machines, pace, remembered
from lab.machines import accel, vm
from lab.paths import REPO
from lab.plugins import preflight

# Behaviours of a fake QEMU, as shell scripts.
RUN = 'run=$(echo "$*" | sed "s/.*lab\\.run=\\([^ ]*\\).*/\\1/")'
BOOTS = f'{RUN}; touch "$run/begun"; echo 0 >"$run/status"'
LOGS_A_FAULT = f'{BOOTS}; echo "[    0.1] BUG: unable to handle page fault" >"$run/console.log"'
DIES = 'echo "qemu-system-x86_64: failed to initialize kvm: Permission denied" >&2; exit 1'
HANGS = "exec sleep 600"
IS_STUCK = 'printf "KVM internal error. Suberror: 1\\nextra data[0]: 0x1\\nemulation failure\\n" >&2; exec sleep 600'


@pytest.fixture
def fake_qemu(tmp_path, monkeypatch):
    """Return a function that makes QEMU of a shell script, on a machine with KVM and without a remembered outcome; it returns
    a function that counts the starts of QEMU."""
    for name in (accel.VARIABLE, accel.CHOSEN, machines.VARIABLE, pace.FILE, pace.EMULATION):
        # Set first, so that monkeypatch also undoes the changes of choose().
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv(pace.VARIABLE, "1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "kvm").touch()
    monkeypatch.setattr(accel, "DEVICE", str(tmp_path / "kvm"))
    monkeypatch.setattr(accel, "OUT", tmp_path)
    monkeypatch.setattr(vm, "OUT", tmp_path)
    monkeypatch.setattr(remembered, "FILE", tmp_path / "preflight.json")
    monkeypatch.setattr(vm, "kernel", lambda series: vm.Kernel("1", tmp_path / "bzImage", tmp_path, ()))
    monkeypatch.setattr(vm, "initramfs", lambda booted: tmp_path / "initramfs")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/qemu-system-x86_64"

    def make(script):
        program.write_text(f"#!/bin/sh\necho started >>{tmp_path / 'starts'}\n{script}\n")
        program.chmod(0o755)
        return lambda: (tmp_path / "starts").read_text().count("started") if (tmp_path / "starts").exists() else 0
    return make


def test_a_guest_that_boots_proves_kvm_and_guests_use_it(fake_qemu, capsys, tmp_path):
    fake_qemu(BOOTS)
    assert vm.accelerator() == accel.KVM
    assert capsys.readouterr().err == "dm-align: guests: KVM\n"
    assert vm.run("true", timeout=60, name="later").ok
    command = (tmp_path / "vm/later/qemu").read_text()
    assert "accel=kvm" in command and "maxcpus" not in command
    assert not capsys.readouterr().err


@pytest.mark.parametrize("script, why", [
    (HANGS, "a guest that uses KVM was killed after its time limit of 0.5 s"),
    (DIES, "a guest that uses KVM failed: qemu-system-x86_64: failed to initialize kvm: Permission denied"),
    (LOGS_A_FAULT, "a guest that uses KVM failed: BUG: unable to handle page fault"),
    ("exit 0", "a guest that uses KVM failed: no output")])
def test_one_that_does_not_is_told_with_the_reason_and_guests_are_emulated(fake_qemu, capsys, monkeypatch, tmp_path, script, why):
    monkeypatch.setattr(pace, "REFERENCE_BOOT_SECONDS", 0.5)
    fake_qemu(script)
    assert vm.accelerator() == accel.TCG
    assert capsys.readouterr().err == f"dm-align: guests: TCG: {why}\n"
    fake_qemu(BOOTS)
    vm.run("true", timeout=60, name="later")
    command = (tmp_path / "vm/later/qemu").read_text()
    assert "accel=tcg" in command and "maxcpus=1" in command


def test_a_guest_that_qemu_has_stopped_is_not_waited_for(fake_qemu, capsys):
    fake_qemu(IS_STUCK)
    assert vm.accelerator() == accel.TCG
    assert capsys.readouterr().err == "dm-align: guests: TCG: a guest that uses KVM failed: KVM internal error. Suberror: 1\n"


def test_on_a_slow_machine_nobody_waits_long(fake_qemu, monkeypatch):
    fake_qemu(BOOTS)
    given = []
    monkeypatch.setenv(pace.VARIABLE, "2")
    accel.choose(lambda seconds: given.append(seconds) or vm.Result(1, [], vm.OUT, 0))
    monkeypatch.setenv(pace.VARIABLE, "20")
    del os.environ[accel.CHOSEN]
    remembered.FILE.unlink()
    accel.choose(lambda seconds: given.append(seconds) or vm.Result(1, [], vm.OUT, 0))
    assert given == [2 * pace.REFERENCE_BOOT_SECONDS, accel.MOST_SECONDS]


def test_without_kvm_nothing_is_tried(fake_qemu, capsys, monkeypatch, tmp_path):
    starts = fake_qemu(BOOTS)
    monkeypatch.setattr(accel, "DEVICE", str(tmp_path / "none"))
    assert vm.accelerator() == accel.TCG and starts() == 0
    assert capsys.readouterr().err == f"dm-align: guests: TCG: {tmp_path / 'none'}: No such file or directory\n"


def test_it_is_tried_once_a_boot_of_the_machine(fake_qemu, capsys, monkeypatch):
    starts = fake_qemu(DIES)
    assert vm.accelerator() == vm.accelerator() == accel.TCG and starts() == 1
    # Another process, later.
    del os.environ[accel.CHOSEN]
    assert vm.accelerator() == accel.TCG and starts() == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == second
    # The machine has booted.
    del os.environ[accel.CHOSEN]
    fake_qemu(BOOTS)
    monkeypatch.setattr(remembered, "_boot_id", lambda: "another")
    assert vm.accelerator() == accel.KVM and starts() == 2


@pytest.mark.parametrize("asked", [accel.KVM, accel.TCG])
def test_a_user_who_knows_better_is_believed(fake_qemu, capsys, monkeypatch, asked):
    starts = fake_qemu(DIES)
    monkeypatch.setenv(accel.VARIABLE, asked)
    assert vm.accelerator() == asked and starts() == 0
    assert capsys.readouterr().err == f"dm-align: guests: {asked.upper()}: DM_ALIGN_ACCEL={asked}\n"


def test_a_run_that_counts_instructions_never_uses_kvm(fake_qemu, monkeypatch, tmp_path):
    starts = fake_qemu(BOOTS)
    monkeypatch.setenv(accel.VARIABLE, accel.KVM)
    assert vm.run("true", timeout=60, name="counted", icount=True).ok
    command = (tmp_path / "vm/counted/qemu").read_text()
    assert "accel=tcg" in command and "-icount" in command and starts() == 1


def test_that_qemu_runs_with_one_accelerator_says_nothing_of_the_other(fake_qemu, monkeypatch):
    starts = fake_qemu(BOOTS)
    for asked in (accel.TCG, accel.TCG, accel.KVM):
        monkeypatch.setenv(accel.VARIABLE, asked)
        monkeypatch.delenv(accel.CHOSEN, raising=False)
        assert preflight._why_not(["qemu"]) is None
    assert starts() == 2


def test_a_later_session_has_the_slowness_that_the_first_one_measured(fake_qemu, monkeypatch):
    starts = fake_qemu(f"sleep 0.5\n{BOOTS}")
    monkeypatch.setenv(accel.VARIABLE, accel.TCG)
    monkeypatch.setattr(pace, "REFERENCE_BOOT_SECONDS", 0.01)
    monkeypatch.setattr(pace, "measure", lambda: 1.0)
    assert preflight._why_not(["qemu"]) is None and starts() == 1
    measured = os.environ.pop(pace.EMULATION)
    assert float(measured) > 1
    del os.environ[accel.CHOSEN]
    assert preflight._why_not(["qemu"]) is None and starts() == 1
    assert os.environ[pace.EMULATION] == measured


REFUSED = "dm-align: DM_ALIGN_ACCEL=xen: set it to kvm or tcg, or leave it out\n"


@pytest.mark.parametrize("command", [
    ["scripts/vm", "--timeout", "60", "--", "true"], ["scripts/kunit", "x86_64"], ["scripts/soak", "--minutes", "1"],
    [sys.executable, "-m", "lab.proof.debug_stress"], [sys.executable, "-m", "lab.proof.coverage"],
    [sys.executable, "-m", "pytest", "-n", "1", "kmod/tests/guest"]], ids=lambda command: " ".join(command[-2:]))
def test_any_other_word_is_refused_in_one_line(command, tmp_path):
    environment = {name: value for name, value in os.environ.items()
                   if name not in (accel.CHOSEN, pace.EMULATION, machines.VARIABLE)}
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True,
                          env={**environment, accel.VARIABLE: "xen", "OUT": str(tmp_path)})
    assert (done.returncode, done.stdout + done.stderr) == (2, REFUSED)


def test_the_demo_refuses_it_too(tmp_path):
    (tmp_path / "bin").mkdir()
    environment = {name: value for name, value in os.environ.items() if name not in (accel.CHOSEN, machines.VARIABLE)}
    done = subprocess.run([sys.executable, "-m", "lab.demo", "--out", str(tmp_path / "demo")], cwd=REPO,
                          capture_output=True, text=True, env={**environment, accel.VARIABLE: "xen", "OUT": str(tmp_path)})
    assert done.returncode and done.stderr == f"demo: the demo could not go on: {REFUSED.removeprefix('dm-align: ')}"


@pytest.mark.parametrize("options, smp, online", [({}, "1", None), ({"cpus": 8}, "8", "8"),
                                                  ({"cpus": 2, "offline_cpus": 62}, "64", "2")])
def test_a_run_that_counts_instructions_has_one_processor_or_as_many_as_it_asks_for(fake_qemu, tmp_path, options, smp, online):
    fake_qemu(BOOTS)
    assert vm.run("true", timeout=60, name="counted", icount=True, **options).ok
    words = shlex.split((tmp_path / "vm/counted/qemu").read_text())
    assert words[words.index("-smp") + 1] == smp
    assert [word for word in words[-1].split() if word.startswith("lab.cpus=")] == ([f"lab.cpus={online}"] if online else [])
