# SPDX-License-Identifier: GPL-2.0
"""The runner of guests tells success from every kind of failure; all tests in guests test the rest."""

import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from lab import machines, pace
from lab.linux import kernels, layers, matrix
from lab.machines import vm
from lab.machines.findings import faults
from lab.paths import REPO
from lab.plugins import batch, budget, extent, host_plugin, relay


@pytest.mark.parametrize("on_host, in_guest", [
    ("a.py::t[linux-6.12]", "a.py::t"),
    ("a.py::t[linux-6.1-4096-pad]", "a.py::t[4096-pad]"),
    ("a.py::t[4096-pad-linux-6.12]", "a.py::t[4096-pad]"),
    ("a.py::t[4096-linux-6.1-pad]", "a.py::t[4096-pad]"),
    ("a.py::t[linux-6.1-4096]@guest-6.1", "a.py::t[4096]"),
    ("a.py::t[linux-uml-4096-pad]@guest-uml", "a.py::t[4096-pad]"),
    ("a.py::t[4096-linux-uml7.2]@guest-uml7.2", "a.py::t[4096]"),
])
def test_a_test_of_the_host_knows_its_name_in_the_guest(on_host, in_guest):
    assert host_plugin.guest_nodeid(on_host) == in_guest


GUEST, IN_UML = host_plugin.TESTS / "test_order.py", host_plugin.UML_TESTS / "a.py"


@pytest.mark.parametrize("named, path, marks, in_check, in_check_all", [
    ("", GUEST, [], ["6.12"], ["6.1", "7.2"]),
    ("", GUEST, ["each_kernel"], ["6.1", "6.12", "7.2"], []),
    ("6.1 7.2", GUEST, [], ["7.2"], ["6.1"]),
    ("6.1", GUEST, [], ["6.1"], []),
    ("", GUEST, ["uml_too"], ["6.12", "uml"], ["6.1", "7.2"]),
    ("7.2", IN_UML, [], ["uml"], []),
    ("7.2", IN_UML, ["uml_7_2"], [], ["uml7.2"]),
])
def test_one_kernel_runs_all_tests_and_the_others_what_differs(monkeypatch, named, path, marks, in_check, in_check_all):
    monkeypatch.setenv(kernels.VARIABLE, named)
    definition = types.SimpleNamespace(path=path, get_closest_marker=lambda name: name in marks)
    given = host_plugin._kernels(definition)
    assert [series for series, *marked in given if not marked] == in_check
    assert [series for series, *marked in given if [mark.name for mark in marked] == ["check_all"]] == in_check_all


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("series, marks, in_check, in_check_all", [
    ("6.12", [], 1, 2), ("6.12", ["two_processors"], 2, 2), ("7.2", [], 1, 1), ("7.2", ["two_processors"], 1, 2)])
def test_a_test_whose_requests_need_it_has_a_second_processor(monkeypatch, series, marks, in_check, in_check_all, everything):
    """And most tests of the main series have two guests, side by side."""
    monkeypatch.setenv(kernels.VARIABLE, "")
    monkeypatch.setenv(extent.VARIABLE, str(int(everything)))
    expected = in_check_all if everything else in_check
    most = series == "6.12" and (everything or not marks)
    for file, second in ("test_a.py", False), ("test_z.py", True):
        definition = types.SimpleNamespace(path=Path(file), get_closest_marker=lambda name: name in marks)
        assert host_plugin._batch_of(definition, series) == batch.batch_name(series, expected, second and most)


@pytest.mark.parametrize("stats, layer, noted", [
    ({"passed": ["a.py::t[linux-6.12]", "a.py::t[linux-6.1-x]", "b.py::u[pad-linux-6.12]"], "skipped": ["a.py::u[linux-6.12]"],
      "failed": ["a.py::v[linux-6.1]"], "": ["a.py::t[linux-6.12]"]}, "", {"6.12": "2 passed, 1 skipped"}),
    ({"passed": ["a.py::t[linux-6.12]"], "error": ["a.py::u[linux-6.12]"]}, "", {}),
    ({"passed": ["a.py::t[linux-6.12]"], budget.WORDS: ["a.py::u[linux-6.12]"]}, "", {}),
    ({"skipped": ["a.py::t[linux-6.12]"]}, "", {}),
    ({"passed": ["a.py::t[linux-6.12]"]}, "report", {})])
def test_a_series_whose_tests_were_all_run_without_a_failure_is_noted(monkeypatch, stats, layer, noted):
    found = {}
    monkeypatch.setenv(kernels.VARIABLE, "6.1 6.12")
    monkeypatch.setenv(layers.VARIABLE, layer)
    monkeypatch.setattr(extent, "everything", lambda: True)
    monkeypatch.setattr(extent, "chosen_by_name", lambda config: False)
    monkeypatch.setattr(kernels, "release", lambda series: series)
    monkeypatch.setattr(matrix, "note", lambda release, level, words: found.update({release: words}))
    reports = {outcome: [types.SimpleNamespace(nodeid=name) for name in names] for outcome, names in stats.items()}
    host_plugin._note_whole_series(types.SimpleNamespace(config=None, stats=reports))
    assert found == noted


def test_a_run_without_7_2_says_so_of_the_tests_that_need_it(monkeypatch):
    monkeypatch.setenv(kernels.VARIABLE, "6.1 6.12")
    [(_, mark)] = host_plugin._kernels(types.SimpleNamespace(path=IN_UML, get_closest_marker=lambda name: True))
    assert mark.name == "skip" and "7.2" in mark.kwargs["reason"]


@pytest.mark.parametrize("line", [
    "[    5.0] BUG: kernel NULL pointer dereference, address: 0000000000000000",
    "[    5.0] kernel BUG at drivers/md/dm.c:1!",
    "[    5.0] WARNING: CPU: 1 PID: 2 at block/bio.c:1 bio_put+0x1/0x2",
    "[    5.0] WARNING: possible circular locking dependency detected",
    "[    5.0] INFO: task kworker/0:1:7 blocked for more than 60 seconds.",
    "[    5.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "[    5.0] Oops: 0000 [#1] PREEMPT SMP",
    "[    5.0] BUG: KASAN: slab-use-after-free in align_map+0x1/0x2",
    "[    5.0] watchdog: BUG: soft lockup - CPU#0 stuck for 26s!",
    "[    5.0] BUG: sleeping function called from invalid context at mm/slab.h:1",
    "[    5.0] general protection fault, probably for non-canonical address",
    "[    5.0] Kernel panic - not syncing: Fatal exception",
])
def test_a_fault_of_the_kernel_is_seen(line):
    assert faults(f"[    4.0] sd 0:0:0:0: fine\n{line}\n") == [line]


@pytest.mark.parametrize("line", [
    "PCI: Using host bridge windows from ACPI; if necessary, use \"pci=nocrs\" and report a bug",
    "AMD-Vi: AMD IOMMUv2 functionality not available on this system - This is not a bug.",
    "kasan: KernelAddressSanitizer initialized",
    "RCU Tasks: Setting shift to 0 and lim to 1",
    "device-mapper: align: 253:0: a block cannot be read",
])
def test_what_is_no_fault_is_not_taken_for_one(line):
    assert not faults(line)


OWN_WARNING = "[    5.0] WARNING: CPU: 0 PID: 0 at /a/kmod/turn.c:665 blocks_end_range+0x271/0x510 [dm_align]"


def test_only_a_module_that_is_broken_on_purpose_may_warn():
    assert faults(OWN_WARNING) == faults(OWN_WARNING, "dm_mod") == [OWN_WARNING]
    assert not faults(OWN_WARNING, "dm_align")


@pytest.mark.parametrize("line", [
    "[    5.0] WARNING: CPU: 0 PID: 7 at drivers/md/dm.c:1 dm_io_dec_pending+0x1/0x2 [dm_mod]",
    "[    5.0] WARNING: CPU: 0 PID: 7 at block/bio.c:1 bio_put+0x1/0x2",
    "[    5.0] WARNING: possible circular locking dependency detected: align_map+0x1/0x2 [dm_align]",
    "[    5.0] BUG: KASAN: slab-use-after-free in blocks_end_range+0x271/0x510 [dm_align]",
    "[    5.0] RIP: 0010:blocks_end_range+0x271/0x510 [dm_align] Oops: 0000 [#1]",
    "[    5.0] refcount_t: underflow; use-after-free.",
    "[    5.0] Kernel panic - not syncing: Fatal exception",
])
def test_beside_a_module_that_is_broken_on_purpose_every_other_fault_is_seen(line):
    assert faults(f"{OWN_WARNING}\n{line}\n", "dm_align") == [line]


# A user's own limit is not stretched.
LIMIT = str(120 * pace.CEILING)


def scripts_vm(*arguments):
    machines.require("qemu")
    return subprocess.run([REPO / "scripts" / "vm", *arguments], capture_output=True, text=True)


def test_a_guest_gives_the_commands_output_and_status():
    done = scripts_vm("--timeout", LIMIT, "--name", "self-status", "--", "echo $((6 * 7)); exit 9")
    assert (done.returncode, done.stdout) == (9, "42\n"), done.stderr
    assert "status 9" in done.stderr


def test_a_fault_in_the_kernel_log_fails_a_command_that_succeeds():
    done = scripts_vm("--timeout", LIMIT, "--cpus", "1", "--name", "self-fault", "--", "echo 'BUG: on purpose' >/dev/kmsg")
    assert done.returncode == vm.FAULTY
    assert "BUG: on purpose" in done.stderr


def test_a_guest_that_dies_is_told_from_one_that_ends():
    done = scripts_vm("--timeout", LIMIT, "--cpus", "1", "--name", "self-death", "--", "echo c >/proc/sysrq-trigger; sleep 60")
    assert done.returncode == vm.DIED
    assert "sysrq triggered crash" in done.stderr


def test_the_time_limit_ends_a_guest():
    began = time.monotonic()
    done = scripts_vm("--timeout", "1", "--name", "self-limit", "--", "sleep 600")
    assert done.returncode == vm.TIMED_OUT
    assert time.monotonic() - began < pace.patience(60)


GROUPED = """
import os
import pytest

@pytest.mark.parametrize("number", range(8))
@pytest.mark.xdist_group("one")
def test_grouped(number):
    with open("workers", "a") as workers:
        print(os.environ["PYTEST_XDIST_WORKER"], file=workers)

@pytest.mark.parametrize("number", range(8))
def test_alone(number):
    pass
"""


def test_one_worker_has_all_tests_of_a_guest(tmp_path):
    """Without a group every worker would boot the guest, for all of its tests."""
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    workers = (tmp_path / "workers").read_text().split()
    assert len(workers) == 8 and len(set(workers)) == 1


class Served:
    """A stand-in for a drive of the relay."""
    name = "d0"

    def __init__(self, folder):
        self.log_file = folder / "log"
        self.log_file.write_text("1 W 0 512 0 1\n")

    def control(self, command):
        return {"ok": True, "asked": command}


def test_the_relay_answers_for_its_drives_and_their_logs(tmp_path):
    served = Served(tmp_path)
    with relay.Relay({"d0": served}) as listening:
        answer = listening._answer
        assert answer('{"drive": "d0", "log": true}') == {"lines": ["1 W 0 512 0 1"]}
        assert answer('{"drive": "d0", "command": "reset"}') == {"ok": True, "asked": "reset"}
        served.log_file.write_text(served.log_file.read_text() + "2 R 0 512 0 0\n")
        assert answer('{"drive": "d0", "log": true}') == {"lines": ["2 R 0 512 0 0"]}
        assert answer('{"drive": "d1", "command": "stats"}')["ok"] is False
        assert answer("nonsense")["ok"] is False
