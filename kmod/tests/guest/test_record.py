# SPDX-License-Identifier: GPL-2.0
"""alignctl record, compared with the requests really sent: of a plan, one by one, and as the drive received them."""

import contextlib
import itertools
import json
import os
import signal
from pathlib import Path

import pytest

from lab.paths import OUT
from rig.direct import RWF_DSYNC, Disk, pattern
from rig.dm import Align, run
from rig.recording import EVENT, Recording
from rig.witness import TRACING, Request, Trace, eventually

pytestmark = pytest.mark.usefixtures("tracefs")

ALIGNCTL = OUT / "bin" / "alignctl"
FINDINGS = 1
SCSI_DEBUG_DELAY = Path("/sys/bus/pseudo/drivers/scsi_debug/ndelay")
# No character is special to the kernel, and all are special to a parser of text.
NAME = "a b]c [%\\,\"x"


def comm():
    return Path("/proc/self/comm").read_text().rstrip("\n")


@contextlib.contextmanager
def named(name):
    before = comm()
    Path("/proc/self/comm").write_text(name)
    try:
        yield
    finally:
        Path("/proc/self/comm").write_text(before)


def replay(workload, device, phase, state, *options):
    return [ALIGNCTL, "replay", workload, "--on", device, "--phase", phase, "--state", state, *options]


def as_logged(requests):
    """Convert requests to the form of the drive's log: without time and class, with write-zeroes as discards."""
    return [(("D" if request.op == "Z" else request.op), request.sector, request.sectors) for request in requests]


def test_a_workload_is_recorded_as_planned_and_as_the_drive_received_it(rig, tmp_path):
    count = 200
    drive = rig.drive("p4096")
    with Align(drive.path) as device:
        state = tmp_path / "state"
        run(*replay("w4096_512", device.path, "prepare", state, "--count", count))
        drive.reset()
        recording = Recording(device.path, tmp_path, command=replay("w4096_512", device.path, "run", state)).end()
        below = drive.log()
        assert recording.of("W") == [Request("W", 16 * k + 1, 8) for k in range(count)]
        assert recording.of("F") and not recording.of("D", "Z")
        assert as_logged(recording.requests) == as_logged(below)
        assert {row["comm"] for row in recording.rows} == {"alignctl"}
        times = [int(row["time_ns"]) for row in recording.rows]
        assert times == sorted(times) and times[0] > 0
        assert recording.summary["misaligned_writes"] == count and recording.summary["touches"] == 2 * count
        assert recording.summary["operations"]["write"] == {"count": count, "bytes": 4096 * count}
        assert recording.summary["requests"] == len(below) and recording.summary["lost"] == 0
        assert (recording.summary["stopped"], recording.summary["command_status"]) == ("command", 0)


def test_a_recording_is_planned_for_the_blocks_of_the_disk_that_it_was_made_on(rig, tmp_path):
    """On a partition where the page cache's blocks are misaligned with the disk's."""
    recording, drive = tmp_path / "recording", rig.drive("p4096")
    with rig.partition(drive.path, 63, 1 << 12) as path:
        drive.reset()
        said = run(ALIGNCTL, "record", path, "--output", recording, "--json", "--", "dd", "if=/dev/zero", f"of={path}",
                   "oflag=direct", "bs=4096", "seek=8", "count=6", "status=none").stdout
        recorded, planned = json.loads(said), json.loads(run(ALIGNCTL, "plan", recording, "--json").stdout)
        assert (recorded["format"], recorded["output_format"], planned["source_format"]) == (2, "recording", "recording")
        assert (planned["physical_block_size"], planned["alignment_offset"]) == (4096, 512)
        assert recorded["touches"] == planned["touches_expected"] == drive.stats()["touches"] == 12


def test_write_zeroes_are_recorded_and_planned_as_the_drive_counts_them(rig, tmp_path):
    """Aligned or not, beside writes, on a partition whose blocks are misaligned with the disk's."""
    trace, recording, drive = tmp_path / "trace.csv", tmp_path / "recording", rig.drive("p4096")
    rows = [("write-zeroes", 81, 16), ("write-zeroes", 160, 16), ("write-zeroes", 243, 3), ("write", 246, 4),
            ("write-zeroes", 321, 12), ("write", 400, 8), ("write", 401, 64), ("discard", 513, 64)]
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"{op},{at},{count}\n" for op, at, count in rows))
    with rig.partition(drive.path, 63, 1 << 12) as path:
        drive.reset()
        said = run(ALIGNCTL, "record", path, "--output", recording, "--json", "--", *replayed(trace, path)).stdout
        counted = drive.stats()
        recorded = json.loads(said[said.index('{\n  "format"'):])
        before = json.loads(run(ALIGNCTL, "plan", trace, "--on", path, "--json").stdout)
        after = json.loads(run(ALIGNCTL, "plan", recording, "--json").stdout)
    assert (recorded["operations"]["write-zeroes"]["count"], recorded["not_recorded"]) == (4, 0)
    for name, want in (("touches", 8), ("write_touches", 4), ("zero_touches", 4)):
        assert recorded[name] == counted[name] == want, name
        planned = {"touches": "touches_expected"}.get(name, name)
        assert before[planned] == after[planned] == want, name
    assert counted["rmws"] == 8
    assert (recorded["misaligned_writes"], recorded["misaligned_write_zeroes"]) == \
        (counted["writes_misaligned"], counted["zeroes_misaligned"]) == (2, 3)
    assert (after["writes_misaligned"], after["write_zeroes_misaligned"]) == (2, 3)
    assert sum(request.touches for request in drive.log()) == 8


@pytest.mark.two_processors
def test_what_is_sent_is_recorded_whatever_the_target_makes_of_it(rig, tmp_path):
    """In mode pad the drive receives other requests; with several in flight, from any processor."""
    count = 300
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device:
        state = tmp_path / "state"
        run(*replay("w4096_512", device.path, "prepare", state, "--count", count))
        drive.reset()
        recording = Recording(device.path, tmp_path,
                              command=replay("w4096_512", device.path, "run", state, "--depth", 16)).end()
        assert sorted(recording.of("W")) == [Request("W", 16 * k + 1, 8) for k in range(count)]
        # The target sends back requests that must not wait, and io_uring retries them.
        assert recording.summary["sent_back"] > 0 and recording.summary["sent_back_late"] == 0
        assert as_logged(recording.of("W")) != as_logged(request for request in drive.log() if request.op == "W")


def send_one_of_each(disk, end, start=0):
    """
    Send one request of each kind, and return the expected recording; `end`: sectors of the device, `start`: its first sector
    on the disk. The kernel cuts a discard at the disk's limit, but this discard is within it.
    """
    discarded = 128 - start % 64
    disk.write(9, pattern(1, 9, 3))
    disk.write(16, pattern(2, 16, 8), flags=RWF_DSYNC)
    disk.read(5, 11)
    disk.flush()
    disk.discard(discarded, 64)
    disk.zero(256, 16)
    disk.write(end - 1, pattern(3, end - 1, 1))
    return [Request("W", 9, 3), Request("W", 16, 8), Request("F", 0, 0), Request("R", 5, 11), Request("F", 0, 0),
            Request("D", discarded, 64), Request("Z", 256, 16), Request("W", end - 1, 1)]


def check_each(recording, sent):
    assert recording.requests == sent
    assert {(row["comm"], row["pid"]) for row in recording.rows} == {(NAME, str(os.getpid()))}
    assert [row["flags"] for row in recording.rows].count("") == len(sent) - 1, "one write is FUA"
    assert recording.rows[1]["flags"]


@pytest.mark.each_kernel
def test_each_kind_of_request_on_a_disk_and_an_align_device(rig, tmp_path):
    with rig.scsi_debug(lbpu=1, lbpws=1, physblk_exp=3) as path:
        with Recording(path, tmp_path) as recording, Disk(path) as disk, named(NAME):
            sent = send_one_of_each(disk, disk.sectors)
        check_each(recording, sent)
        with Align(path) as device:
            with Recording(device.path, tmp_path) as recording, Disk(device.path) as disk, named(NAME):
                sent = send_one_of_each(disk, disk.sectors)
            check_each(recording, sent)


def replayed(path, device):
    """Return the command that replays a recording on a device, one request after the other, without a check."""
    return [ALIGNCTL, "replay", path, "--on", device, "--timing", "closed", "--no-check", "--force", device]


def test_what_was_recorded_is_replayed_request_by_request(rig, tmp_path):
    """
    All operations and both flags. Replay reads the disk for signatures first, and flushes at the end; and a program can
    request FUA only with O_DSYNC, after which the kernel flushes.
    """
    with rig.scsi_debug(lbpu=1, lbpws=1, physblk_exp=3) as path:
        with Recording(path, tmp_path) as recording, Disk(path) as disk:
            send_one_of_each(disk, disk.sectors)
        again = Recording(path, tmp_path, command=replayed(recording.path, path)).end()
        first, second = ([(row["op"], row["offset"], row["bytes"], row["flags"]) for row in rows]
                         for rows in (recording.rows, again.rows))
        flush = next(row for row in first if row[0] == "flush")
        first = [*(each for row in first for each in ([row, flush] if "fua" in row[3] else [row])), flush]
        assert second[-len(first):] == first
        assert {op for op, *_ in second[:-len(first)]} <= {"read"}


def test_discards_of_a_replay_are_in_flight_together_and_are_those_of_the_trace(rig, tmp_path):
    """Since Linux 6.12 io_uring can discard; before, the kernel does one at a time. Each discard takes 0.3 s here."""
    discards = [Request("D", 128 * k, 64) for k in range(16)]
    depth, taken_ns = 8, 300_000_000
    trace = tmp_path / "discards.csv"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"discard,{d.sector},{d.sectors}\n" for d in discards))
    together = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 12)
    with rig.scsi_debug(lbpu=1, lbpws=1, physblk_exp=3) as path:
        SCSI_DEBUG_DELAY.write_text(f"{taken_ns}\n")

        def in_flight_as_asked():
            recording = Recording(path, tmp_path, command=[ALIGNCTL, "replay", trace, "--on", path, "--timing", "fast",
                                                           "--depth", depth, "--no-check", "--force", path]).end()
            assert sorted(recording.of("D")) == discards and not recording.of("W", "Z")
            began = sorted(int(row["time_ns"]) for row in recording.rows if row["op"] == "discard")
            if not together:
                assert all(later - earlier >= taken_ns for earlier, later in itertools.pairwise(began))
                return True
            assert taken_ns <= began[depth] - began[0], "more than `depth` requests are in flight"
            # On a busy machine the first one may end before so many are sent: then again.
            return began[depth - 1] - began[0] < taken_ns

        eventually(in_flight_as_asked, "not `depth` requests are in flight", timeout=60)


def test_a_replayed_flag_is_a_flush_of_the_drive_at_its_place(rig, tmp_path):
    """On a drive without FUA, which the kernel flushes after such a write; and once more because of O_DSYNC."""
    drive = rig.drive("p4096")
    trace = tmp_path / "flags.csv"
    trace.write_text("op,offset,bytes,flags\nwrite,0,512,\nwrite,4096,512,fua\nwrite,8192,512,preflush\n"
                     "write,12288,512,preflush+fua\nwrite,16384,512,\n")
    drive.reset()
    run(*replayed(trace, drive.path))
    write = [Request("W", 8 * k, 1) for k in range(5)]
    flush = Request("F", 0, 0)
    assert as_logged(request for request in drive.log() if request.op != "R") == as_logged(
        [write[0], write[1], flush, flush, flush, write[2], flush, write[3], flush, flush, write[4], flush])


@pytest.mark.each_kernel
def test_a_partition_is_recorded_from_its_own_start(rig, tmp_path):
    """Requests through the whole disk are recorded, too, cut at the partition's edges, and no others."""
    start, sectors = 61, 1000
    with rig.scsi_debug(lbpu=1, lbpws=1, physblk_exp=3) as path, rig.partition(path, start, sectors) as part:
        with Recording(part, tmp_path) as recording, Disk(part) as disk, named(NAME):
            sent = send_one_of_each(disk, sectors, start)
        check_each(recording, sent)
        assert recording.summary["alignment_offset"] == 4096 - 61 % 8 * 512
        with Recording(part, tmp_path) as recording, Disk(path) as disk:
            disk.write(start - 2, pattern(1, 0, 4))
            disk.write(start + sectors - 1, pattern(1, 0, 3))
            disk.write(start - 1, pattern(1, 0, 1))
            disk.write(start + sectors, pattern(1, 0, 1))
            disk.flush()
        assert recording.requests == [Request("W", 0, 2), Request("W", sectors - 1, 1), Request("F", 0, 0)]


@pytest.mark.two_processors
def test_what_is_lost_is_counted_to_the_last_request(rig, tmp_path):
    count = 1500
    with rig.scsi_debug() as path, Disk(path) as disk:
        recording = Recording(path, tmp_path, "--buffer", 8)
        with recording:
            recording.process.send_signal(signal.SIGSTOP)
            for k in range(count):
                disk.write(k, bytes(512))
            recording.process.send_signal(signal.SIGCONT)
            recording.process.send_signal(signal.SIGINT)
            recording.end(FINDINGS)
        lost = recording.summary["lost"]
        assert lost > 0 and len(recording.rows) + lost == count
        assert sum(row["count"] for row in recording.summary["lost_by_cpu"]) == lost
        assert f"{lost} requests are missing" in recording.errors
        sectors = [request.sector for request in recording.requests]
        assert sectors == sorted(set(sectors)) and sectors[0] == 0, "the recorded requests are not complete or not in order"


def test_another_tracer_sees_the_same_as_without(rig, tmp_path):
    drive = rig.drive("p4096")
    watched = ("trace_clock", "buffer_size_kb", "options/overwrite", str(EVENT / "enable"), str(EVENT / "filter"))
    with Disk(drive.path) as disk:
        before = [(TRACING / name).read_text() for name in watched]
        with Trace(drive.path) as trace:
            changed = [(TRACING / name).read_text() for name in watched]
            with Recording(drive.path, tmp_path) as recording:
                assert [(TRACING / name).read_text() for name in watched] == changed
                for k in range(20):
                    disk.write(8 * k + 1, pattern(k, 0, 3))
            disk.write(1000, pattern(1, 0, 1))
        assert before[0] == (TRACING / watched[0]).read_text()
        assert recording.requests == [Request("W", 8 * k + 1, 3) for k in range(20)]
        # A virtio disk is asked for its serial number by a request of its driver: by that number measurements are found.
        seen = [request for request in trace.requests if request.op != "?"]
        assert as_logged(seen) == as_logged([*recording.requests, Request("W", 1000, 1)])


def test_limits_end_it_and_what_a_killed_one_leaves_is_removed(rig, tmp_path):
    with rig.scsi_debug() as path, Disk(path) as disk:
        killed = Recording(path, tmp_path)
        killed.__enter__()
        killed.process.kill()
        killed.process.communicate()
        assert killed.instance.exists() and not killed.path.exists()
        with Recording(path, tmp_path, "--count", 7) as recording:
            assert not killed.instance.exists()
            for k in range(20):
                disk.write(k, bytes(512))
            recording.process.wait(60)
        assert recording.requests == [Request("W", k, 1) for k in range(7)]
        assert recording.summary["stopped"] == "requests"
        with Recording(path, tmp_path, "--size", 600) as recording:
            for k in range(60):
                disk.write(k, bytes(512))
            recording.process.wait(60)
        assert recording.summary["stopped"] == "size" and 600 <= recording.path.stat().st_size < 700
        assert Recording(path, tmp_path, "--seconds", 1).end().summary["stopped"] == "seconds"
        failed = Recording(path, tmp_path, command=["sh", "-c", "kill -9 $$"]).end(FINDINGS)
        assert failed.summary["command_status"] == 137
