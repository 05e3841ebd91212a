# SPDX-License-Identifier: GPL-2.0
"""
The requests of the page cache that `alignctl plan` predicts are the ones that the drive gets from `alignctl replay`, with
so few requests that no page is evicted or written early. The witnesses are the drive's log, request by request, and the
kernel's own counts of the device.
"""

from pathlib import Path

import pytest

from lab.plugins.extent import only_all
from rig.dm import Align, Device, sysfs_folder
from rig.predictions import alignctl

SECTORS = 64 << 11
# Behind the places where replay looks for signatures.
START = 9 << 20
CASES = {
    "records-4000": ("--count", 300, "--span", "8M"),
    "records-4096": ("--count", 300, "--span", "8M"),
    "areasync": ("--count", 4, "--areas", 5),
    "areasync-128k": ("--count", 4),
}
DIRECT = {"w4k_132k": ("--count", 8)}


@pytest.fixture(autouse=True)
def _no_page_is_old():
    """Let the kernel look for old pages each hour only: on a slow machine, pages of a run become old during it."""
    interval = Path("/proc/sys/vm/dirty_writeback_centisecs")
    before = interval.read_text()
    # With 0 the kernel would look at once, if only whether there are many.
    interval.write_text(str(3600 * 100))
    yield
    interval.write_text(before)


def run(path, name, *arguments):
    return alignctl("replay", name, "--on", path, "--start", START, *arguments)


def before_the_check(requests):
    """Return the drive's requests from the first data request up to the last flush, before the data check."""
    last = max(n for n, request in enumerate(requests) if request.op == "F")
    return [request for request in requests[:last + 1]
            if request.op == "F" or START <= request.sector * 512 < START + (16 << 20)]


def writes_counted(path):
    """Return requests and sectors written, of /sys/block/*/stat."""
    words = (sysfs_folder(path) / "stat").read_text().split()
    return [int(words[4]), int(words[6])]


@pytest.mark.parametrize("shift", [0, 5])
@pytest.mark.parametrize("name, arguments, buffered", [
    *((name, arguments, ()) for name, arguments in CASES.items()),
    *((name, arguments, ("--buffered",)) for name, arguments in DIRECT.items())])
def test_the_drive_gets_what_was_planned(rig, name, arguments, buffered, shift):
    drive = rig.drive("p4096")
    with Device(f"0 {SECTORS} linear {drive.path} {shift}") as device:
        plan = alignctl("plan", name, "--on", device.path, "--start", START, *arguments, *buffered)
        assert plan["assumed"]["cache_block_size"] == 4096
        drive.reset()
        before = writes_counted(device.path)
        done = run(device.path, name, *arguments, *buffered)
        counted = [b - a for a, b in zip(before, writes_counted(device.path))]
        sent = before_the_check(drive.log())
    assert (done["buffered"], done["data_check"]["status"]) == (True, "ok")
    wanted = plan["requests"]
    reads, writes, flushes = ([request for request in sent if request.op == op] for op in "RWF")
    said = f"{name} on sector {shift}: {len(reads)} reads, {len(writes)} writes, {len(flushes)} flushes of {wanted}"
    assert (len(reads), sum(r.sectors for r in reads) * 512) == \
        (wanted["read"]["requests"], wanted["read"]["bytes"]), said
    assert (len(writes), sum(w.sectors for w in writes) * 512) == \
        (wanted["write"]["requests"], wanted["write"]["bytes"]), said
    assert len(flushes) == wanted["flush"]["requests"] + 1, said
    assert sum(w.touches for w in writes) == plan["touches_expected"], said
    assert counted[1] * 512 == wanted["write"]["bytes"], said
    # As published: whole pages have no touch where they are aligned with the blocks, and two where they are not.
    assert plan["touches_expected"] == (2 * len(writes) if shift else 0)
    if name == "records-4000":
        assert len(reads) == len({r.sector for r in reads}) == len(writes) > 450
    if name == "records-4096":
        assert not reads
    if name == "areasync":
        assert (len(reads), len(writes), len(flushes), plan["rmin"]) == (5, 20, 21, 10 if shift else 0)


@pytest.mark.each_kernel
def test_small_blocks_of_the_cache_cost_touches(rig):
    """A device with an odd number of sectors: the page cache has blocks of 512 bytes there."""
    drive = rig.drive("p4096")
    with Device(f"0 {SECTORS + 1} linear {drive.path} 0") as device:
        plan = alignctl("plan", "areasync", "--on", device.path, "--start", START, "--count", 4)
        drive.reset()
        run(device.path, "areasync", "--count", 4)
        sent = before_the_check(drive.log())
    writes = [request for request in sent if request.op == "W"]
    assert plan["assumed"]["cache_block_size"] == 512
    assert (len(writes), {w.sectors for w in writes}) == (16, {1})
    assert sum(w.touches for w in writes) == plan["touches_expected"] == 16
    assert len([r for r in sent if r.op == "R"]) == plan["requests"]["read"]["requests"] == 4


@pytest.mark.parametrize("mode, touches", [
    *(only_all("such commits are compared with the engine on virtual time", *row) for row in (("report", 32), ("pad", 0))),
    ("coalesce", 0)])
def test_each_mode_does_to_commits_what_was_planned(rig, mode, touches):
    """Four areas on a device that is five sectors off: flushes prevent holding, so all reads but 8 are saved, not writes."""
    drive = rig.drive("p4096")
    with Align(drive.path, 5, SECTORS, write_cache="on", mode=mode, physical_block_size=4096,
               alignment_offset=1536) as device:
        plan = alignctl("plan", "areasync", "--on", device.path, "--start", START, "--count", 4,
                        "--physical", 4096, "--offset", 1536)
        before = device.balanced()
        run(device.path, "areasync", "--count", 4, "--physical", 4096, "--offset", 1536)
        after = device.balanced()
    counted = {key: after[key] - before[key] for key in ("rmw_expected", "rmw_host", "rmw_drive", "writes", "flushes")}
    assert (counted["rmw_expected"], counted["writes"], counted["flushes"]) == (32, 16, 17)
    assert counted["rmw_drive"] == plan["modes"][mode]["touches_left"] == touches
    wanted = plan["modes"][mode]["rmw_host"]
    assert wanted == (8 if mode != "report" else 0)
    # On a slow machine known blocks expire and are read again.
    assert wanted <= counted["rmw_host"] <= plan["modes"]["rmw_host_at_most"] * (mode != "report")
