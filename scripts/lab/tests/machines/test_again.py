# SPDX-License-Identifier: GPL-2.0
"""A guest is booted again only if its console proves a fault of the emulator, or if no code under test can have run."""

import subprocess
import sys

import pytest

from lab.machines import again, vm
from lab.machines.findings import emulator_fault, excerpt, faults

# Printed by Linux 6.12 in a guest with two processors that switched static keys back and forth.
STALE = """\
[    9.744191] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI
[    9.744544] CPU: 1 UID: 0 PID: 200 Comm: true Not tainted 6.12.117+deb12-amd64 #1  Debian 6.12.117-1~deb12u1
[    9.744654] Hardware name: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16.2-debian-1.16.2-1 04/01/2014
[    9.744753] RIP: 0010:try_to_wake_up+0xdf/0x680
[    9.745054] Code: 80 bf d1 00 00 00 00 0f 85 6b 03 00 00 8b 43 18 85 e8 0f 85 05 02 00 00 8b 43 1c 85 c5 74 ab c7 43 1c 00 00 00 00 8b 6b 14 e9 <8d> 01 00 00 b8 01 00 00 00 eb 97 0f 1f 44 00 00 8b 43 68 85 c0 0f
[    9.745121] RSP: 0018:ffffd17980100ee0 EFLAGS: 00000082
[    9.745461] Call Trace:
[    9.746054]  <IRQ>
[    9.746182]  swake_up_one+0x39/0x70
[    9.746515]  </IRQ>
[    9.746533]  asm_sysvec_apic_timer_interrupt+0x1a/0x20
[    9.746644] RIP: 0010:__srcu_read_lock+0x0/0x30
[    9.746660] Code: 00 e8 d4 8a 00 00 8b 03 85 c0 74 de 0f 0b eb da 0f 0b eb ad 0f 0b eb bc 66 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 90 cc <f3> 0f 1e fa 0f 1f 44 00 00 8b 07 48 8b 57 08 83 e0 01 89 c1 65 48
[    9.747311]  </TASK>
[    9.747791] ---[ end trace 0000000000000000 ]---
"""  # noqa: E501 as the kernel printed it
PANIC = "[    9.748169] Kernel panic - not syncing: Fatal exception in interrupt\n"
BOOT = "[    0.000000] Linux version 6.12\n[    3.200000] Run /init as init process\n"
SECOND = STALE.replace("[#1]", "[#2]")

CODE = next(line for line in STALE.splitlines() if "Code:" in line)
RIP = next(line for line in STALE.splitlines() if "RIP:" in line)


def holding(*bytes_, of=STALE):
    """Return the oops with these bytes in front of the instruction pointer."""
    words = CODE.split(" ")
    mark = next(number for number, word in enumerate(words) if word.startswith("<"))
    return of.replace(CODE, " ".join([*words[:mark - len(bytes_)], *bytes_, *words[mark:]]))


@pytest.mark.parametrize("console", [
    BOOT + STALE + PANIC,
    # Two processors executed the breakpoint; the first one's panic cuts off the second one's report.
    BOOT + STALE + SECOND.split("[    9.744753]")[0] + PANIC,
    BOOT + STALE + SECOND + PANIC,
    # In the format of 6.1, and with a module loaded.
    BOOT + STALE.replace("Oops: int3", "int3") + PANIC,
    BOOT + STALE.replace(RIP, f"[    9.7446] Tainted: [O]=OOT_MODULE\n[    9.7447] Workqueue: kblockd run\n{RIP}") + PANIC,
    # A breakpoint further in front is another one.
    BOOT + holding("cc", "66") + PANIC,
])
def test_a_breakpoint_that_memory_does_not_hold_is_the_emulators_fault(console):
    assert "before try_to_wake_up+0xdf/0x680, where memory holds " in emulator_fault(console)


@pytest.mark.parametrize("console", [
    "",
    BOOT,
    BOOT + PANIC,
    BOOT + "[    5.0] BUG: kernel NULL pointer dereference, address: 0000000000000000\n"
           "[    5.0] Oops: Oops: 0002 [#1] PREEMPT SMP NOPTI\n" + RIP + "\n" + CODE + "\n" + PANIC,
    BOOT + "[    5.0] WARNING: possible circular locking dependency detected\n" + PANIC,
    BOOT + STALE.replace("int3: 0000", "invalid opcode: 0000") + PANIC,
    # Memory has the breakpoint, in either encoding: a stray jump.
    BOOT + holding("cc") + PANIC,
    BOOT + holding("cd", "03") + PANIC,
    # The report lacks the bytes in memory, or some of them.
    BOOT + STALE.replace(CODE + "\n", "") + PANIC,
    BOOT + STALE.replace(CODE, "[    9.745054] Code: Unable to access opcode bytes at 0xffffffffc0000000.") + PANIC,
    BOOT + STALE.replace(CODE, CODE[:-3]) + PANIC,
    BOOT + STALE.replace(CODE, CODE.replace("Code: 80 ", "Code: ")) + PANIC,
    BOOT + STALE.splitlines()[0] + "\n" + PANIC,
    # A module's memory may have changed since, and an address without a symbol is no kernel text.
    BOOT + STALE.replace(RIP, RIP.replace("try_to_wake_up+0xdf/0x680", "align_map+0xdf/0x680 [dm_align]")) + PANIC,
    BOOT + STALE.replace(RIP, "[    9.744753] RIP: 0010:0xffffffffc0123456") + PANIC,
    # An earlier fault, of any kind.
    BOOT + "[    5.0] BUG: kernel NULL pointer dereference, address: 0000000000000000\n" + STALE + PANIC,
    BOOT + "[    5.0] WARNING: CPU: 1 PID: 2 at block/bio.c:1 bio_put+0x1/0x2\n" + STALE + PANIC,
    # A consequence other than the panic.
    BOOT + STALE + "[    9.8] BUG: KASAN: slab-use-after-free in align_map+0x1/0x2\n" + PANIC,
    BOOT + STALE + SECOND.replace("int3: 0000", "Oops: 0002") + PANIC,
    # The second processor hit a real breakpoint.
    BOOT + STALE + holding("cc", of=SECOND) + PANIC,
    BOOT + holding("cc") + SECOND + PANIC,
])
def test_any_other_death_is_a_finding(console):
    assert emulator_fault(console) is None


def test_the_report_of_a_fault_goes_on_behind_it():
    log = BOOT + STALE + PANIC
    assert excerpt(log) == (STALE + PANIC).splitlines()
    assert excerpt(log, 5)[-1] == CODE
    assert excerpt(BOOT, 1) == ["[    3.200000] Run /init as init process"]
    assert faults(STALE.replace("Oops: int3", "int3"))


@pytest.fixture
def record(tmp_path, monkeypatch):
    """Return the file that again.run() writes to, in place of this session's own record."""
    path = tmp_path / "record"
    monkeypatch.setenv(again.RECORD, str(path))
    return path


@pytest.fixture
def ends(tmp_path, record):
    """Return a function that calls again.run() for guests with given ends, and returns (the last Result, their names)."""
    def run(*endings):
        names = []

        def boot(suffix):
            console, status, begun, complaint = endings[len(names)]
            folder = tmp_path / f"guest{suffix}"
            folder.mkdir()
            names.append(folder.name)
            (folder / "console.log").write_text(console)
            (folder / "qemu.log").write_text(complaint)
            return vm.Result(status, faults(console), folder, 1.0, begun)
        return again.run(boot), names
    return run


FINE = (BOOT, 0, True, "")
KILLED = (BOOT + STALE + PANIC, vm.DIED, True, "")
STUCK_AFTER_IT = (BOOT + STALE + PANIC, vm.TIMED_OUT, True, "")
DEAD = (BOOT + PANIC, vm.DIED, True, "")
STILLBORN = (BOOT, vm.DIED, False, "")


def test_a_proven_fault_of_the_emulator_boots_again_at_most_twice(ends):
    result, names = ends(KILLED, STUCK_AFTER_IT, KILLED)
    assert result.status == vm.DIED
    assert names == ["guest", "guest-again1", "guest-again2"]


def test_the_guest_that_was_booted_again_has_the_last_word(ends):
    result, names = ends(KILLED, DEAD)
    assert (result.faults, len(names)) == (faults(PANIC), 2)


def test_a_death_before_the_command_began_boots_again_once(ends):
    assert len(ends(STILLBORN, STILLBORN)[1]) == 2


@pytest.mark.parametrize("ending", [
    FINE,
    DEAD,
    (BOOT, vm.TIMED_OUT, True, ""),
    # A drive that does not answer makes a boot hang.
    (BOOT, vm.TIMED_OUT, False, ""),
    (BOOT, vm.DIED, False, "qemu-system-x86_64: Failed to connect to 'drive': Connection refused"),
    # The command has reported its status; a later death of the guest does not matter.
    (BOOT + STALE + PANIC, 0, True, ""),
    (BOOT, 3, True, ""),
])
def test_no_other_guest_is_booted_again(ends, ending):
    assert len(ends(ending)[1]) == 1


def test_it_is_told_and_counted(ends, record, capsys):
    assert again.summary(record) == [f"guests booted again {why}: 0" for why in (again.PROVEN, again.UNBEGUN)]
    ends(KILLED, STILLBORN, FINE)
    assert again.summary(record) == [
        f"guests booted again {again.PROVEN}: 1",
        f"  guest: {emulator_fault(KILLED[0])}",
        f"guests booted again {again.UNBEGUN}: 1",
        "  guest-again1: no fault in its console"]
    assert capsys.readouterr().err.count("BOOTING THE GUEST AGAIN") == 2


COUNTING = """
import pytest
from lab.machines import again

@pytest.mark.parametrize("number", range(4))
def test_one(number):
    again._record(f"{again.PROVEN}\\tguest{number}: why")
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_summary_of_a_test_session_has_the_sum_over_its_workers(workers, tmp_path, monkeypatch):
    monkeypatch.delenv(again.RECORD)
    (tmp_path / "test_counting.py").write_text(COUNTING)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-n", workers, "-p", "lab.plugins.host_plugin", "-p",
                           "no:cacheprovider"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert f"guests booted again {again.PROVEN}: 4\n" in done.stdout
    assert done.stdout.count("  guest") == 4
