# SPDX-License-Identifier: GPL-2.0
"""alignctl conform finds out the target itself, where a rule of its order is broken in a copy of its sources."""

import os

import pytest

from lab.conform import mutants
from lab.conform.mutants import MUTANTS
from lab.linux import kernels
from lab.machines import drives, remote
from lab.pace import patience
from lab.paths import OUT

FINE, FINDINGS = 0, 1
DRIVE = "/dev/vda"
# Twenty of each kind.
ROUNDS = 6240
BOOT_S, EACH_S = 120, 90

pytestmark = pytest.mark.xdist_group("conform-mutants")


@pytest.fixture(scope="module")
def guest():
    folder = OUT / "conform" / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    with (drives.serve({"d0": drives.Server(size="256M")}, folder) as served,
          remote.boot(folder, timeout=patience(BOOT_S + (len(MUTANTS) + 1) * EACH_S), name=f"conform-mutants-{os.getpid()}",
                      series=kernels.USUAL, memory="1G", drives=[served["d0"].attached()], broken=mutants.MODULE) as running):
        running.run("modprobe", "dm-mod")
        running.run("cp", str(OUT / "bin" / "alignctl"), "/run/alignctl")
        yield running


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_can_be_made_in_the_sources_as_they_are(tmp_path, mutant):
    mutants.copy(tmp_path / "sources")
    assert mutants.change(mutant, tmp_path / "sources") is None


def test_every_patch_is_one_of_a_fault():
    assert {path.stem for path in mutants.PATCHES.iterdir()} == {mutant.name for mutant in MUTANTS}


@pytest.mark.check_all("test_conform.py of the guests finds out servers that break their word in each way")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_target_with_a_fault_in_its_order_is_found_out(guest, mutant):
    module = mutants.build(mutant, kernels.release(kernels.USUAL))
    guest.run("insmod", str(module))
    guest.run("dmsetup", "create", "subject", "--table", mutant.table(DRIVE))
    try:
        found = guest.json("/run/alignctl", "conform", "/dev/mapper/subject", "--rounds", str(ROUNDS), "--force",
                           "/dev/mapper/subject", "--json", timeout=patience(EACH_S), ok=(FINE, FINDINGS))
    finally:
        guest.run("dmsetup", "remove", "--retry", "subject")
        guest.run("rmmod", mutants.MODULE)
    faults = {name: count for name, count in found["faults"].items() if count}
    print(f"{mutant.name}: {found['faulty']} of {found['rounds']} rounds in {found['seconds']:.0f} s: {faults}")
    # Also in a block that no request of the round covers, and by a read before the loss; but no block is torn or foreign.
    assert faults and set(faults) <= {"lost-update", "stale-read", "neighbour"}
    assert all("must have" in example["text"] for example in found["examples"])
