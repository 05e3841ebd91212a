# SPDX-License-Identifier: GPL-2.0
"""alignctl verify on a real device: its verdict agrees with the drive's counts."""

import json
from pathlib import Path

import pytest

from lab.paths import OUT
from lab.plugins.extent import only_all
from rig.direct import Disk
from rig.dm import Device, run
from rig.predictions import alignctl

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, USAGE, BUSY = 0, 2, 4
COUNT, REPEAT = 12, 2
SECTORS = 64 << 11
MODES = ("raw", "report", "pad", "coalesce")


def verify(drive, *arguments, status=FINE, count=COUNT, repeat=REPEAT):
    done = run(ALIGNCTL, "verify", *arguments, "--on", drive.path, "--count", str(count), "--repeat", str(repeat),
               ok=False)
    assert done.returncode == status, f"{arguments}: exit status {done.returncode}: {done.stdout}{done.stderr}"
    assert not list(Path("/dev/mapper").glob("alignctl-verify-*")), "a target was left behind"
    return done


@pytest.mark.timeout(300)
def test_the_verdict_is_what_the_drive_counted(rig, tmp_path):
    drive = rig.drive("p4096")
    page = tmp_path / "page.html"
    drive.reset()
    document = json.loads(verify(drive, "w4k_132k", "--json", "--html", page).stdout)
    found = {each["mode"]: each for each in document["verdicts"]}
    assert tuple(found) == MODES and not document["findings"] and not document["stopped"]
    touches = 4 * COUNT
    for mode, verdict in found.items():
        assert verdict["touches"] == touches and verdict["data_ok"] and verdict["runs"] == REPEAT
        if mode in ("pad", "coalesce"):
            assert verdict["at_drive"] == 0 and verdict["host"] + verdict["avoided"] == touches
    assert found["coalesce"]["host"] == 2
    # No other write of the experiment, with preparations and checks, was partial.
    assert drive.stats()["touches"] == 2 * REPEAT * touches
    assert "Nothing was lost" in page.read_text()


@pytest.mark.parametrize("workload, count, arguments, shift", [
    ("records-4000", 40, ("--span", "8M"), 5),
    *(only_all("alignctl/tests/replay/test_writers.py: threads; one shape runs shifted", *row) for row in (
        ("db-randwrite", 40, ("--span", "8M", "--threads", "4"), 5), ("records-4000", 40, ("--span", "8M"), 0),
        ("areasync", 4, (), 0), ("areasync", 4, (), 5),
        ("db-randwrite", 40, ("--span", "8M", "--threads", "4"), 0)))])
@pytest.mark.timeout(300)
def test_published_shapes_are_clean_also_through_the_page_cache(rig, tmp_path, workload, count, arguments, shift):
    """Aligned, and as on a partition 5 sectors off: the drive's counts are the ones planned for each mode."""
    drive = rig.drive("p4096")
    page = tmp_path / "page.html"
    with Device(f"0 {SECTORS} linear {drive.path} {shift}") as device:
        # A plan does not depend on threads.
        plan = alignctl("plan", workload, "--on", device.path, "--count", count, *arguments[:2])
        drive.reset()
        document = json.loads(verify(device, workload, *arguments, "--json", "--html", page, count=count,
                                     repeat=1).stdout)
        counted = drive.stats()["touches"]
    assert not document["findings"] and not document["stopped"]
    found = {each["mode"]: each for each in document["verdicts"]}
    buffered = workload != "db-randwrite"
    writes = plan["requests"]["write"]["requests"]
    # Each page, or write of two pages, has both ends inside blocks.
    touches = 2 * writes if shift else 0
    assert tuple(found) == MODES and plan["touches_expected"] == touches and writes >= (16 if buffered else 40)
    for mode, verdict in found.items():
        assert verdict["data_ok"] and (verdict["buffered"], verdict["written"]) == (buffered, writes)
        assert verdict["touches"] == touches
        if mode != "raw":
            assert verdict["at_drive"] == (touches if mode == "report" else 0)
    assert counted == 2 * touches
    assert document["machine"]["threads"] == (1 if buffered else 4)
    assert "Nothing was lost" in page.read_text() and f"<h3>{workload}</h3>" in page.read_text()


def test_a_device_in_use_is_left_alone(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as disk:
        before = disk.read(0, 64)
        run("mkfs.ext4", "-q", "-F", drive.path, "16M")
        signed = disk.read(0, 64)
        assert signed != before
        assert "refused" in verify(drive, "w512", status=BUSY).stderr
        assert disk.read(0, 64) == signed
        disk.write(0, bytes(64 * 512))


@pytest.mark.parametrize("arguments, words", [(["w512", "--modes", "padd"], "did you mean"),
                                              (["w512", "--html", "/no/such/page"], "No such file")])
def test_what_cannot_be_done_is_refused_before_anything_is_written(rig, arguments, words):
    drive = rig.drive("p4096")
    drive.reset()
    assert words in verify(drive, *arguments, status=USAGE).stderr
    assert drive.stats()["writes"] == 0
