# SPDX-License-Identifier: GPL-2.0
"""alignctl beside LVM and other makers of devices, and above a drive that goes: what it leaves alone, and what it says."""

import contextlib
import json
from pathlib import Path

import pytest

from dmalign.paths import OUT
from rig.dm import number_of, run
from rig.witness import eventually

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, FINDINGS, USAGE, IO, BUSY = range(5)


def alignctl(*arguments, status=FINE):
    done = run(ALIGNCTL, *arguments, ok=False)
    assert done.returncode == status, f"alignctl {arguments}: exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done


@contextlib.contextmanager
def attached(path, *options):
    """What attach says; the device is gone when the block ends."""
    made = alignctl("attach", path, "--name", "above", *options)
    try:
        yield made
    finally:
        alignctl("detach", "above", "--force")


# A drive that goes

ADD_HOST = Path("/sys/bus/pseudo/drivers/scsi_debug/add_host")


def disks():
    return {path.name: (path / "dev").read_text().strip() for path in Path("/sys/block").glob("sd*")}


@pytest.mark.parametrize("mode", ["report", "coalesce"])
def test_a_drive_that_is_gone_is_told_at_once(lab, mode):
    with lab.scsi_debug(physblk_exp=3) as path:
        number = number_of(path)
        with attached(path, "--mode", mode):
            listed = json.loads(alignctl("list", "--json").stdout)["devices"]
            assert [target["device_gone"] for target in listed[0]["targets"]] == [False]
            (Path("/sys/block") / Path(path).name / "device/delete").write_text("1")
            # nothing is written before it is asked for
            listed = json.loads(alignctl("list", "--json").stdout)["devices"]
            assert [target["device_gone"] for target in listed[0]["targets"]] == [True]
            assert alignctl("list").stdout.splitlines()[1].split()[-1] == "gone"
            said = alignctl("stats", "above", status=FINDINGS)
            assert f"above: the device below, {number}, is gone" in said.stderr and "gone: " in said.stdout
            stats = json.loads(alignctl("stats", "--json", status=FINDINGS).stdout)["devices"]
            assert [target["device_gone"] for target in stats[0]["targets"]] == [True]


def test_no_other_disk_gets_the_number_of_one_that_is_gone_while_it_is_open(lab):
    """What telling a gone drive rests on."""
    with lab.scsi_debug(physblk_exp=3) as path:
        number = number_of(path)
        with attached(path):
            (Path("/sys/block") / Path(path).name / "device/delete").write_text("1")
            for count in range(1, 4):
                ADD_HOST.write_text("1")
                eventually(lambda: len(disks()) == count, "no other disk comes")
                assert number not in disks().values()
                assert alignctl("list").stdout.splitlines()[1].split()[-1] == "gone"
        ADD_HOST.write_text("1")
        eventually(lambda: number in disks().values(), "the number is not given again")
