# SPDX-License-Identifier: GPL-2.0
"""A disk that lies about its blocks is measured, and check, attach and the counters go by the result."""

import json
from pathlib import Path

import pytest

from lab.paths import OUT
from rig.direct import Disk, pattern
from rig.dm import run

ALIGNCTL = OUT / "bin" / "alignctl"
KEPT = Path("/var/lib/alignctl/probed")
NAME = "honest"
SECTORS = 4096


def findings(drive):
    """Return the findings of check that are no notes, and of each the command that mends it."""
    document = json.loads(run(ALIGNCTL, "check", drive.path, "--json", ok=False).stdout)
    return {each["finding"]: each["command"] for each in document["findings"] if not each["note"]}


@pytest.fixture
def drive(rig):
    drive = rig.drive("liar")
    yield drive
    run(ALIGNCTL, "detach", NAME, "--force", ok=False)
    for file in KEPT.glob("*.json"):
        file.unlink()


@pytest.mark.check_all("block-size takes half a minute of the drive; on a virtual clock it has tests of its own")
@pytest.mark.timeout(900)
def test_a_disk_that_lies_is_measured_judged_and_attached_by_what_was_found(drive, tmp_path):
    before = bytes(Disk(drive.path).read(0, SECTORS))
    assert "probed" not in findings(drive)

    done = run(ALIGNCTL, "probe", "block-size", drive.path, "--write", "0+256M", "--save", tmp_path / "saved", "--json",
               timeout=600)
    found = json.loads(done.stdout)
    assert (found["block"]["bytes"], found["block"]["offset"], found["contradicts"]) == (4096, 3584, True), found
    assert bytes(Disk(drive.path).read(0, SECTORS)) == before and not (tmp_path / "saved").exists()

    way_out = findings(drive)["probed"]
    assert way_out == f"alignctl attach {drive.path} --physical 4096 --offset 3584"
    offered = run(ALIGNCTL, "attach", drive.path, "--name", NAME).stdout
    assert "was probed to have blocks of 4096" in offered and "--physical 4096 --offset 3584" in offered
    run(ALIGNCTL, "detach", NAME)
    run(*way_out.replace("alignctl", str(ALIGNCTL), 1).split(), "--name", NAME)
    # The finding is a note from now on: the device above has these blocks.
    assert "probed" not in findings(drive)

    # The ledger goes by the blocks that were measured, and the drive counts the same.
    drive.reset()
    with Disk(f"/dev/mapper/{NAME}") as disk:
        for at in range(64):
            disk.write(7 + 8 * at, pattern(1, at, 8))
            disk.write(2048 + 8 * at, pattern(2, at, 8))
    counted = json.loads(run(ALIGNCTL, "stats", NAME, "--json").stdout)["devices"][0]["raw"]
    assert counted["rmw_drive"] == drive.stats()["touches"] == 2 * 64
