# SPDX-License-Identifier: GPL-2.0
"""
alignctl top --format prometheus, compared with the real writes: the drive's own log, its counts of touches, and the
kernel's statistics of the disk. Counters only ever rise, also when disks come and go.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.pace import patience
from lab.paths import OUT, REPO
from rig.direct import Disk, pattern
from rig.dm import run
from rig.witness import eventually

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, USAGE, IO = 0, 2, 3
CGROUPS = Path("/sys/fs/cgroup")
PROBED = Path("/var/lib/alignctl/probed")
SERIES_OF_A_DISK = 8
# (sector, sectors) of writes: whole blocks, a head, a tail, both, inside a block, across blocks.
WRITES = [(8, 8), (16, 64), (33, 7), (40, 9), (65, 14), (82, 3), (87, 2), (96, 1), (1001, 256)]
ZEROES = [(2048, 8), (2057, 16), (2081, 3)]
SAMPLE = re.compile(r'alignctl_disk_(\w+)(?:\{(.*)\})? (\d+)')
WRITER = """
import mmap, os, sys
folder, path, writes = sys.argv[1], sys.argv[2], int(sys.argv[3])
open(folder + "/cgroup.procs", "w").write(str(os.getpid()))
fd = os.open(path, os.O_WRONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
for block in range(writes):
    os.pwritev(fd, [memoryview(page)[:1024]], block * 4096 + 512)
"""


def name_of(path):
    return Path(path).name


class Counting:
    """alignctl top as a service for the `with` block, which counts every disk."""

    def __init__(self, folder, *options):
        self.file = folder / "disks.prom"
        words = [ALIGNCTL, "top", "--format", "prometheus", "--interval", 1, "--output", self.file, *options]
        self.process = subprocess.Popen([str(word) for word in words], text=True, stderr=subprocess.PIPE)

    def __enter__(self):
        eventually(self.file.exists, "alignctl top writes no metrics", timeout=60)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=patience(60))
        assert (self.process.returncode, errors) == (FINE, "")

    def samples(self):
        """Return {(name, labels): value} of a reading that began after this call."""
        for _ in range(2):
            before = self.file.stat().st_ino, self.file.stat().st_mtime_ns
            eventually(lambda before=before: (self.file.stat().st_ino, self.file.stat().st_mtime_ns) != before,
                       "alignctl top writes no new metrics", timeout=60)
        found = {}
        for line in self.file.read_text().splitlines():
            if line.startswith("#"):
                continue
            name, labels, value = SAMPLE.fullmatch(line).groups()
            key = name, frozenset(re.findall(r'(\w+)="([^"]*)"', labels or ""))
            assert key not in found, line
            found[key] = int(value)
        return found

    def of(self, device):
        """Return {name: value} of a disk, and the source of its block as "source"."""
        found = {}
        for (name, labels), value in self.samples().items():
            if ("device", device) not in labels or "cgroup" in name:
                continue
            assert name not in found
            found[name] = value
            if name == "physical_block_bytes":
                found["source"] = dict(labels)["source"]
        return found


def touched_blocks(sector, sectors, physical=8):
    return Counter(at // physical for at in range(sector, sector + sectors))


@pytest.mark.each_kernel
def test_the_counters_of_a_disk_are_what_the_drive_and_the_kernel_count(rig, tmp_path):
    drive, other = rig.drive("p4096"), rig.drive("p16384")
    statistics = Path(f"/sys/block/{name_of(drive.path)}/stat")
    with Disk(drive.path) as disk, Disk(other.path) as beside, Counting(tmp_path) as counting:
        first = counting.of(name_of(drive.path))
        before = list(map(int, statistics.read_text().split()))
        drive.reset()
        for sector, sectors in WRITES:
            disk.write(sector, pattern(1, sector, sectors))
        for sector, sectors in ZEROES:
            disk.zero(sector, sectors)
        disk.read(0, 64)
        # The kernel counts a flush as a write.
        after = list(map(int, statistics.read_text().split()))
        disk.flush()
        beside.write(8, pattern(2, 8, 8))
        found, of_other = counting.of(name_of(drive.path)), counting.of(name_of(other.path))
    assert len(found) - len({"source"}) <= SERIES_OF_A_DISK
    grown = {name: value - first[name] for name, value in found.items() if name.endswith("_total")}
    stats = drive.stats()
    sent = [request for request in drive.log() if request.op in "WD"]
    blocks = [touched_blocks(request.sector, request.sectors) for request in sent]
    assert len(sent) == len(WRITES) + len(ZEROES)
    assert grown == {
        "writes_total": len(sent),
        "misaligned_writes_total": stats["writes_misaligned"] + stats["zeroes_misaligned"],
        "inside_writes_total": sum(request.sector % 8 > 0 for request in sent),
        "touches_total": stats["touches"],
        "written_bytes_total": 512 * sum(request.sectors for request in sent),
        "touched_bytes_total": 4096 * sum(map(len, blocks)),
    }
    assert stats["touches"] == sum(count < 8 for each in blocks for count in each.values())
    assert grown["writes_total"] == after[4] - before[4] and grown["written_bytes_total"] == 512 * (after[6] - before[6])
    assert (found["physical_block_bytes"], found["source"]) == (4096, "kernel")
    assert (of_other["physical_block_bytes"], of_other["writes_total"], of_other["touches_total"],
            of_other["touched_bytes_total"]) == (16384, 1, 1, 16384)


def keep_probed(path, block):
    """Keep the result that alignctl probe would keep of a disk; return the file."""
    folder = Path(f"/sys/block/{name_of(path)}")
    wwid = (folder / "device/wwid").read_text().strip()
    PROBED.mkdir(parents=True, exist_ok=True)
    file = PROBED / (re.sub(r"[^A-Za-z0-9._-]", "_", wwid) + ".json")
    file.write_text(json.dumps({"format": 1, "wwid": wwid, "size_bytes": int((folder / "size").read_text()) * 512,
                                "block_size": block, "offset": 0}))
    return file


def test_counters_go_on_when_the_physical_block_is_measured_and_when_that_is_forgotten(rig, tmp_path):
    with rig.scsi_debug(physblk_exp=0) as path, Disk(path) as disk, Counting(tmp_path) as counting:
        name = name_of(path)
        start = counting.of(name)
        assert (start["physical_block_bytes"], start["source"]) == (512, "kernel")
        disk.write(1, pattern(1, 1, 2))
        first = counting.of(name)
        file = keep_probed(path, 4096)
        try:
            counting.samples()
            disk.write(9, pattern(1, 9, 2))
            second = counting.of(name)
        finally:
            file.unlink()
        counting.samples()
        disk.write(17, pattern(1, 17, 2))
        third = counting.of(name)
    assert (second["physical_block_bytes"], second["source"]) == (4096, "measured")
    assert (third["physical_block_bytes"], third["source"]) == (512, "kernel")
    for counter, steps in {"writes_total": (1, 1, 1), "touches_total": (0, 1, 0), "inside_writes_total": (0, 1, 0),
                           "touched_bytes_total": (1024, 4096, 1024)}.items():
        values = [each[counter] for each in (start, first, second, third)]
        assert tuple(after - before for before, after in zip(values, values[1:], strict=False)) == steps, counter


def test_a_disk_that_is_removed_has_no_series_and_one_that_comes_begins_at_nothing(rig, tmp_path):
    with Counting(tmp_path) as counting:
        with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as disk:
            name = name_of(path)
            counting.samples()
            disk.write(1, pattern(1, 1, 2))
            assert counting.of(name)["touches_total"] == 1
        assert counting.of(name) == {}
        with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as disk:
            assert name_of(path) == name
            start = counting.of(name)
            disk.write(1, pattern(1, 1, 2))
            disk.write(17, pattern(1, 17, 2))
            assert counting.of(name)["touches_total"] - start["touches_total"] == 2
            assert start["touches_total"] == 0


@pytest.fixture
def cgroups():
    """Twelve cgroups whose writes the kernel tells apart."""
    if not (CGROUPS / "cgroup.controllers").exists():
        run("mount", "-t", "cgroup2", "cgroup2", CGROUPS)
    (CGROUPS / "cgroup.subtree_control").write_text("+io")
    folders = [CGROUPS / f"disks-{number}" for number in range(12)]
    for folder in folders:
        folder.mkdir()
    yield folders
    for folder in folders:
        eventually(lambda folder=folder: not (folder / "cgroup.procs").read_text(), "the cgroup is not empty")
        folder.rmdir()
    (CGROUPS / "cgroup.subtree_control").write_text("-io")


def test_the_ten_cgroups_with_most_touches_have_a_series_each(rig, tmp_path, cgroups):
    drive = rig.drive("p4096")
    with Counting(tmp_path, "--cgroups") as counting:
        for number, folder in enumerate(cgroups, 1):
            subprocess.run([sys.executable, "-c", WRITER, str(folder), drive.path, str(number)], check=True,
                           timeout=patience(60))
        samples = counting.samples()
        of_disk = counting.of(name_of(drive.path))
    found = {dict(labels)["cgroup"]: value for (name, labels), value in samples.items()
             if name == "cgroup_touches_total" and dict(labels)["device"] == name_of(drive.path)}
    assert found == {f"/{folder.name}": number for number, folder in enumerate(cgroups, 1) if number > 2}
    assert of_disk["touches_total"] == sum(range(1, 13)) and samples["cgroup_missed_writes_total", frozenset()] == 0


def test_writes_of_cgroups_without_room_are_counted_as_missed(rig, tmp_path, cgroups):
    """Each cgroup's writes are misaligned; the first cgroups have the room, and there may be some of the machine's own."""
    drive = rig.drive("p4096")
    with Counting(tmp_path, "--cgroups", "--rows", 4) as counting:
        first = counting.samples()
        for number, folder in enumerate(cgroups, 1):
            subprocess.run([sys.executable, "-c", WRITER, str(folder), drive.path, str(number)], check=True,
                           timeout=patience(60))
        samples = counting.samples()
    room = {dict(labels)["cgroup"]: value for (name, labels), value in samples.items() if name == "cgroup_touches_total"}
    missed, before = (each["cgroup_missed_writes_total", frozenset()] for each in (samples, first))
    assert len(room) == 4 and missed - before == sum(
        number for number, folder in enumerate(cgroups, 1) if f"/{folder.name}" not in room)


def test_an_ordinary_user_is_told_what_is_missing(rig, tmp_path):
    words = ["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", ALIGNCTL, "top", "--format", "prometheus", "--once"]
    done = run(*words, ok=False)
    assert done.returncode == IO and "CAP_BPF" in done.stderr and not done.stdout


def test_the_capabilities_of_the_service_are_enough(rig, tmp_path):
    unit = (REPO / "scripts/packaging/systemd/align-disk-metrics.service.in").read_text()
    [granted] = re.findall(r"^CapabilityBoundingSet=(.+)$", unit, re.M)
    kept = ",".join(f"+{name.lower().removeprefix('cap_')}" for name in granted.split())
    drive = rig.drive("p4096")
    words = ["setpriv", f"--bounding-set=-all,{kept}", "--inh-caps=-all", ALIGNCTL, "top", "--format", "prometheus", "--once"]
    done = run(*words)
    assert f'alignctl_disk_writes_total{{device="{name_of(drive.path)}"}} ' in done.stdout and not done.stderr


@pytest.mark.each_kernel
@pytest.mark.two_processors
def test_of_many_writers_none_is_counted_twice_and_one_that_is_missed_is_told(rig, tmp_path):
    """Kernels from 7.0 preempt tasks in programs; older ones miss nothing."""
    drive, writers, writes = rig.drive("p4096"), 8, 100

    def write(number):
        with Disk(drive.path) as disk:
            for turn in range(writes):
                sector = 8 * (number * writes + turn) + 3
                disk.write(sector, pattern(number, sector, 2))

    with Counting(tmp_path) as counting:
        first = counting.samples()
        drive.reset()
        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(write, range(writers)))
        last = counting.samples()
    device, host = frozenset({("device", name_of(drive.path))}), frozenset()
    counted, touched, missed = (last[key] - first[key] for key in (
        ("writes_total", device), ("touches_total", device), ("missed_completions_total", host)))
    assert counted == touched and drive.stats()["touches"] == writers * writes
    assert writers * writes - missed <= counted <= writers * writes
    if int(os.uname().release.split(".")[0]) < 7:
        assert (counted, missed) == (writers * writes, 0)


@contextlib.contextmanager
def foreign(path):
    path.write_text("another program's\n")
    yield
    assert path.read_text() == "another program's\n"


def test_a_file_of_somebody_else_is_not_replaced(rig, tmp_path):
    with foreign(tmp_path / "file"):
        done = run(ALIGNCTL, "top", "--format", "prometheus", "--interval", 1, "--output", tmp_path / "file", ok=False)
        assert done.returncode == USAGE and "file" in done.stderr
    assert os.listdir(tmp_path) == ["file"]
