# SPDX-License-Identifier: GPL-2.0
"""
alignctl record --requests, compared with the requests that the emulated drive received: its own log of requests, and its count of
touches.
"""

import contextlib
import ctypes
import mmap
import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.paths import OUT
from rig.direct import Disk, Together, pattern
from rig.dm import Align, run, sysfs_folder
from rig.filesystem import make, mounted
from rig.recording import Recording
from rig.witness import Trace, writes

pytestmark = pytest.mark.usefixtures("tracefs")

ALIGNCTL = OUT / "bin" / "alignctl"
FINDINGS, USAGE = 1, 2
SCSI_DEBUG_DELAY = Path("/sys/bus/pseudo/drivers/scsi_debug/ndelay")
MIB2 = 2 << 20
# The largest request of the controller in the field report: 168 segments of 4 KiB.
PUBLISHED_KB, PUBLISHED = 672, 688128
# Writes that one recording has room for: --buffer 4 is 4 KiB, and each write in flight has 64 bytes of it.
ROOM = 64


@contextlib.contextmanager
def queue_setting(path, **values):
    """Change settings of a disk's queue for the `with` block."""
    folder = sysfs_folder(path) / "queue"
    before = {name: (folder / name).read_text() for name in values}
    for name, value in values.items():
        (folder / name).write_text(f"{value}\n")
    try:
        yield
    finally:
        for name, value in before.items():
            (folder / name).write_text(value)


@contextlib.contextmanager
def huge_page():
    """Yield 2 MiB of memory in one piece, so that the kernel does not have to split for its segments."""
    with mmap.mmap(-1, 2 * MIB2, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        start = ctypes.c_char.from_buffer(memory)
        skip = -ctypes.addressof(start) % MIB2
        del start
        view = memoryview(memory)[skip:skip + MIB2]
        view[:] = pattern(1, 0, MIB2 // 512)
        try:
            yield view
        finally:
            view.release()


def whole(recording):
    """Return the fate of the writes, if no part of it is missing, after a check that it agrees with itself."""
    found = recording.summary["followed"]
    for name in ("lost", "untied", "in_flight", "unfinished", "incomplete", "other_shapes"):
        assert found[name] == 0, f"{name}: {found}"
    shapes = found["shapes"]
    assert found["writes"] == sum(shape["count"] for shape in shapes) == len(recording.of("W", "Z"))
    for name in ("touches_before", "touches_after"):
        assert found[name] == sum(shape["count"] * shape[name] for shape in shapes), name
    assert found["touches_before"] == recording.summary["touches"]
    for shape in shapes:
        assert shape["requests"] == len(shape["became"]) and shape["bytes"] == sum(part["bytes"] for part in shape["became"])
    for name in ("writes", "requests"):
        assert found[name] == sum(row[name] for row in found["starts"]), name
    return found


def starts_of(requests, physical=4096):
    return Counter(request.sector * 512 % physical for request in requests)


def as_the_drive_received(found, drive, log):
    """Compare the figures of requests as such with the drive's log and counts."""
    assert found["requests"] == len(log)
    assert {row["start"]: row["requests"] for row in found["starts"] if row["requests"]} == starts_of(log)
    assert found["touches_after"] == sum(request.touches for request in log) == drive.stats()["touches"]


def sizes(shape):
    return [part["bytes"] for part in shape["became"]]


def nodes(found, kind):
    """Return the nodes of a kind in the tree: [(sector, sectors)]."""
    return [(node["sector"], node["bytes"] // 512) for node in found["tree"]["nodes"] if node["kind"] == kind]


@pytest.mark.each_kernel
def test_a_write_became_the_requests_that_the_drive_received(rig, tmp_path):
    """At a boundary, and where each of the drive's blocks has a start of the write in it."""
    drive = rig.drive("p4096")
    with queue_setting(drive.path, max_sectors_kb=PUBLISHED_KB), huge_page() as memory, Disk(drive.path) as disk:
        for sector in (0, 7):
            with Recording(drive.path, tmp_path, "--requests") as recording:
                drive.reset()
                disk.write_from(sector, [memory])
                # Linux 6.1 issues the last request before the other ones.
                log = sorted(writes(drive.log()), key=lambda request: request.sector)
            assert [(each.sector, each.sectors) for each in recording.of("W")] == [(sector, MIB2 // 512)]
            found = whole(recording)
            as_the_drive_received(found, drive, log)
            [shape] = found["shapes"]
            sent = [512 * request.sectors for request in log]
            assert sizes(shape) == sent and sent.count(PUBLISHED) == (2 if sector else 3) and len(sent) == 4
            if not sector:
                assert sent == [PUBLISHED] * 3 + [32768]
            assert (shape["operation"], shape["bytes"], shape["start"], shape["count"], shape["touches_before"]) == \
                ("write", MIB2, 512 * sector, 1, 2 if sector else 0)
            tree = found["tree"]
            assert (tree["process"], tree["pid"]) == (Path("/proc/self/comm").read_text().strip(), os.getpid())
            assert nodes(found, "write") == [(sector, MIB2 // 512)]
            assert nodes(found, "request") == [(request.sector, request.sectors) for request in log]
            # The last request is the rest that nothing was split off.
            assert nodes(found, "split") == nodes(found, "request")[:-1]
            assert [node["touches"] for node in tree["nodes"] if node["kind"] == "request"] == [each.touches for each in log]


def test_a_cut_inside_a_physical_block_adds_the_touches_that_the_drive_counts(rig, tmp_path):
    """The controller takes 126 pieces of memory, of which the first one is no whole page; the write itself has no touch."""
    drive, pages = rig.drive("segments126"), 200
    with huge_page() as memory, Disk(drive.path) as disk:
        # Every second page, so that no two are one piece.
        page = [memory[2 * 4096 * n:][:4096] for n in range(pages + 2)]
        pieces = [page[0][512:], *page[1:-1], page[-1][:512]]
        with Recording(drive.path, tmp_path, "--requests") as recording:
            drive.reset()
            disk.write_from(0, pieces)
            log = sorted(writes(drive.log()), key=lambda request: request.sector)
        for piece in (*pieces, *page):
            piece.release()
    found = whole(recording)
    as_the_drive_received(found, drive, log)
    [shape] = found["shapes"]
    assert sizes(shape) == [512 * request.sectors for request in log] == [3584 + 125 * 4096, 75 * 4096 + 512]
    assert (shape["touches_before"], shape["touches_after"]) == (0, 2)
    assert [(row["start"], row["writes"], row["requests"]) for row in found["starts"]] == [(0, 1, 1), (3584, 0, 1)]


def test_each_request_is_tied_to_its_write_where_several_are_to_the_same_sectors(rig, tmp_path):
    """
    Sixteen writers at one time write over each other's sectors. Each writer has a length of its own, and each fourth the same
    start: a range of sectors may be of any of them, and a write is whole only with its own requests.
    """
    writers, rounds, drive = 16, 3, rig.drive("slow4ms")
    lengths = {writer: 256 + 8 * writer + 1 for writer in range(writers)}

    data = {writer: pattern(writer, 0, length) for writer, length in lengths.items()}
    together = threading.Barrier(writers)

    def write(writer):
        together.wait()
        for _ in range(rounds):
            disk.write(8 * (writer % 4), data[writer])

    with queue_setting(drive.path, max_sectors_kb=64), Disk(drive.path) as disk:
        with Recording(drive.path, tmp_path, "--requests") as recording:
            drive.reset()
            with ThreadPoolExecutor(writers) as pool:
                list(pool.map(write, range(writers)))
            log = writes(drive.log())
    found = whole(recording)
    as_the_drive_received(found, drive, log)
    assert {shape["bytes"]: shape["count"] for shape in found["shapes"]} == \
        {512 * length: rounds for length in lengths.values()}
    assert Counter(size for shape in found["shapes"] for size in sizes(shape) * shape["count"]) == \
        Counter(512 * request.sectors for request in log)
    for shape in found["shapes"]:
        assert sizes(shape) == [65536, 65536, shape["bytes"] - 131072]
    # The writes were in flight together: one after the other, these would be of no more than four sizes.
    assert len({request.sectors for request in recording.of("W")[:3 * rounds]}) > 4


def test_what_is_made_of_others_has_no_requests(rig, tmp_path):
    with Align(rig.drive("p4096").path) as device:
        done = run(ALIGNCTL, "record", "--requests", device.path, "--output", tmp_path / "none", ok=False)
    assert done.returncode == USAGE and "has no requests of its own" in done.stderr and "leave out --requests" in done.stderr
    assert not (tmp_path / "none").exists()


def test_writes_without_room_are_counted_as_lost_and_their_requests_are_of_no_write(rig, tmp_path):
    """The writes are sent by and by, so that only the room for those in flight is short, not the buffer. Each takes 0.9 s."""
    each, groups, taken = 12, 7, 0.9
    count = each * groups
    with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as disk:
        late = True
        # On a busy machine the first ones may end before the last ones are sent: then again.
        while late:
            with Recording(path, tmp_path, "--requests", "--buffer", 4) as recording:
                SCSI_DEBUG_DELAY.write_text(f"{round(taken * 1e9)}\n")
                sent, began = [], time.monotonic()
                for first in range(0, count, each):
                    sent.append(Together(disk, [(8 * block + 1, bytes(512)) for block in range(first, first + each)]))
                    time.sleep(0.03)
                late = time.monotonic() - began >= taken
                assert not any(error for group in sent for error in group.results())
                SCSI_DEBUG_DELAY.write_text("0\n")
                recording.process.send_signal(signal.SIGINT)
                recording.end(FINDINGS, *([0] if late else []))
    found = recording.summary["followed"]
    lost = found["lost"]
    assert 0 < lost <= count - ROOM
    assert found["lost_by_kind"] == {"writes": lost, "requests": 0, "ends": 0, "long_requests": 0, "skipped": 0}
    assert (found["writes"], found["requests"]) == (count - lost, count)
    assert (found["untied"], found["untied_bytes"]) == (lost, 512 * lost)
    assert found["in_flight"] == found["incomplete"] == 0
    assert f"{lost} writes are not followed: there is room for {ROOM} in flight; record with more than --buffer 4" \
        in recording.errors


@pytest.mark.check_all("the room for those in flight is short in the test above")
def test_events_that_come_too_fast_are_counted_as_lost(rig, tmp_path):
    count = 300
    with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as disk:
        with Recording(path, tmp_path, "--requests", "--buffer", 4) as recording:
            recording.process.send_signal(signal.SIGSTOP)
            for block in range(count):
                disk.write(8 * block + 1, bytes(512))
            recording.process.send_signal(signal.SIGCONT)
            recording.process.send_signal(signal.SIGINT)
            recording.end(FINDINGS)
    found = recording.summary["followed"]
    lost = found["lost_by_kind"]
    assert lost["writes"] > 0 and found["writes"] + lost["writes"] == count
    assert lost["requests"] > 0 and found["requests"] + lost["requests"] == count
    assert found["lost"] == sum(lost.values()) and lost["skipped"] == 0
    assert f"{found['lost']} events of --requests are lost, because the buffer was full" in recording.errors
    # Recorded writes are whole, and incomplete ones are counted as such.
    assert found["writes"] == sum(shape["count"] for shape in found["shapes"]) + found["incomplete"] + found["unfinished"]
    assert all((sizes(shape), shape["start"]) == ([512], 512) for shape in found["shapes"])


@pytest.mark.check_all("a write of a file is one of a disk, which the tests above follow")
@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_write_through_a_file_system_became_what_the_drive_received(rig, tmp_path, kind):
    """The field report: 2 MiB at byte 3584 of a file, one after the other."""
    count, drive = 3, rig.drive("p4096")
    make(kind, drive.path)
    # ext4 would write tables of inodes in the background.
    options = "noinit_itable" if kind == "ext4" else None
    with queue_setting(drive.path, max_sectors_kb=PUBLISHED_KB), huge_page() as memory, \
            mounted(kind, drive.path, options=options) as folder:
        with (folder / "file").open("wb") as file:
            file.write(bytes((count + 1) * MIB2))
        os.sync()
        file = os.open(folder / "file", os.O_WRONLY | os.O_DIRECT)
        with Recording(drive.path, tmp_path, "--requests") as recording:
            drive.reset()
            for n in range(count):
                assert os.pwrite(file, memory, 3584 + n * MIB2) == MIB2
            os.close(file)
            log, stats = writes(drive.log()), drive.stats()
    with Disk(drive.path) as disk:
        # Without its signature: replay leaves alone a disk that others may need.
        disk.zero(0, 256)
    found = whole(recording)
    assert (found["requests"], found["touches_after"]) == (len(log), stats["touches"])
    assert Counter(size for shape in found["shapes"] for size in sizes(shape) * shape["count"]) == \
        Counter(512 * request.sectors for request in log)
    assert sum(shape["count"] * shape["bytes"] for shape in found["shapes"]) >= count * MIB2
    # How many writes one call becomes depends on the file system and the kernel: one of 2 MiB, two of 1 MiB.
    assert any(shape["start"] == 3584 and shape["requests"] > 1 and shape["count"] >= count for shape in found["shapes"])


@pytest.mark.check_all("requests of one write each are compared with the drive's log in the tests above")
def test_a_merged_request_is_of_several_writes(rig, tmp_path):
    """Blocks of the page cache, sent one by one. Their touches are those of the requests at whose ends they are."""
    drive, blocks = rig.drive("p4096"), 64
    with queue_setting(drive.path, nomerges=0), rig.partition(drive.path, 63, 1 << 17) as path:
        with Recording(path, tmp_path, "--requests") as recording:
            drive.reset()
            run("dd", "if=/dev/zero", f"of={path}", "bs=4096", f"count={blocks}", "conv=fsync", "status=none")
            log, stats = writes(drive.log()), drive.stats()
    found = whole(recording)
    assert (found["requests"], found["touches_after"]) == (len(log), stats["touches"])
    assert len(log) < found["writes"] and 0 < found["merged"] <= len(log) and found["touches_after"] < found["touches_before"]
    assert any(part["merged"] for shape in found["shapes"] for part in shape["became"])
    assert sum(shape["count"] * shape["bytes"] for shape in found["shapes"]) == \
        sum(512 * request.sectors for request in log) == 4096 * blocks
    # On the partition the blocks are misaligned with those of the drive.
    assert {row["start"] for row in found["starts"]} == {starts % 4096 for starts in (63 * 512,)}


@pytest.mark.check_all("issues are counted once in test_top.py, whose program sees the same event")
def test_a_request_that_the_driver_gives_back_is_the_same_one(rig, tmp_path):
    """scsi_debug is busy at every fourth command, which is issued again."""
    with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as disk:
        with Recording(path, tmp_path, "--requests") as recording, Trace(path) as issued, rig.scsi_debug_busy(every=4):
            for block in range(40):
                disk.write(8 * block + 1, bytes(512))
    found = whole(recording)
    assert (found["writes"], found["requests"], found["touches_after"]) == (40, 40, 40)
    assert found["issued_again"] == len(writes(issued.requests)) - 40 > 5
    [shape] = found["shapes"]
    assert (shape["count"], sizes(shape)) == (40, [512])


@pytest.mark.check_all("the programs have the range of the device, which those of top have")
def test_of_a_partition_what_falls_on_it_is_followed(rig, tmp_path):
    start, sectors = 61, 1000
    with rig.scsi_debug(physblk_exp=3) as path, rig.partition(path, start, sectors) as part:
        with Recording(part, tmp_path, "--requests") as recording, Disk(part) as inside, Disk(path) as disk:
            inside.write(3, bytes(4096))
            disk.write(start - 2, bytes(4 * 512))
            disk.write(start + sectors - 1, bytes(3 * 512))
            disk.write(start + sectors, bytes(512))
            disk.write(start - 1, bytes(512))
    found = whole(recording)
    assert sorted((shape["bytes"], sizes(shape)) for shape in found["shapes"]) == \
        [(512, [512]), (1024, [1024]), (4096, [4096])]
    assert found["requests"] == 3
