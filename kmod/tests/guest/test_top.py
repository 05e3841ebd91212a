# SPDX-License-Identifier: GPL-2.0
"""
alignctl top, compared with the real writes: those planted here, the emulated drive's own log and counts of
touches, and the ledger of an align device.
"""

import contextlib
import json
import os
import signal
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.pace import patience
from lab.paths import OUT
from lab.plugins.extent import only_all
from rig.direct import Disk, pattern
from rig.dm import Align, run, sysfs_folder
from rig.filesystem import frozen, mounted
from rig.recording import Recording
from rig.witness import Trace, eventually, writes

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, FINDINGS, USAGE, IO = 0, 1, 2, 3
CGROUPS = Path("/sys/fs/cgroup")
# Of x86_64: in it the programs are attached, and an interval is under way.
CLOCK_NANOSLEEP = "230 "
# Longer than any test.
LONG = 3600
# Of the histogram in steps of 500 us: it has all requests that took as long or longer.
LAST_BIN_US = 63500
# (sector, sectors) of writes: whole blocks, a head, a tail, both, inside a block, across blocks.
WRITES = [(8, 8), (16, 64), (33, 7), (40, 9), (65, 14), (82, 3), (87, 2), (96, 1), (1001, 256)]
ZEROES = [(2048, 8), (2057, 16), (2081, 3)]
# Shift of a partition whose 4 KiB blocks are misaligned, in sectors.
START, SECTORS = 63, 1 << 17


class Counting:
    """alignctl top of a device for the `with` block: one interval, and its result after the end."""

    def __init__(self, device, *options, json=True):
        words = [ALIGNCTL, "top", device, "--interval", LONG, *(["--json"] if json else []), *options]
        self.json = json
        self.process = subprocess.Popen([str(word) for word in words], text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def __enter__(self):
        def counts():
            assert self.process.poll() is None, self.process.communicate()[1]
            with contextlib.suppress(OSError):
                return Path(f"/proc/{self.process.pid}/syscall").read_text().startswith(CLOCK_NANOSLEEP)
        eventually(counts, "alignctl top does not begin", timeout=30)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.said, self.errors = self.process.communicate(timeout=patience(60))
        self.status = self.process.returncode
        if self.json and self.said:
            [self.found] = map(json.loads, self.said.splitlines())

    def fine(self):
        assert self.status == FINE, f"{self.status}: {self.said}{self.errors}"
        found = self.found
        assert (found["lost"], found["counted_twice"], found["files_lost"]) == (0, 0, 0)
        for name in ("writes", "misaligned_writes", "write_zeroes", "touches", "write_touches", "zero_touches", "bytes"):
            assert found[name] == sum(row[name] for row in found["writers"]), name
        touches = [row["touches"] for row in found["writers"]]
        assert touches == sorted(touches, reverse=True)
        return found


def of_file(found, path):
    """Return the rows of a file, by its device and inode."""
    stat = os.stat(path)
    device = f"{os.major(stat.st_dev)}:{os.minor(stat.st_dev)}"
    return [row for row in found["writers"] if (row["file_device"], row["inode"]) == (device, stat.st_ino)]


def touches(sector, sectors, physical=8):
    """Return the touches of a write, by their definition: blocks that it covers in part."""
    covered = Counter(at // physical for at in range(sector, sector + sectors))
    return sum(count < physical for count in covered.values())


def class_of(request, physical=8):
    """Return the class of a request in the document: least bytes of its size, start in its block, misaligned."""
    return 512 << request.sectors.bit_length() - 1, request.sector % physical * 512, bool(request.touches)


@contextlib.contextmanager
def named(name):
    comm = Path("/proc/self/comm")
    before = comm.read_text()
    comm.write_text(name)
    try:
        yield
    finally:
        comm.write_text(before)


@pytest.mark.each_kernel
def test_each_write_and_each_request_is_counted_as_the_drive_received_it(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as disk:
        with Counting(drive.path, "--drive") as counting, named("a b]c\""):
            drive.reset()
            for sector, sectors in WRITES:
                disk.write(sector, pattern(1, sector, sectors))
            for sector, sectors in ZEROES:
                disk.zero(sector, sectors)
            disk.read(0, 64)
            disk.flush()
    found, stats = counting.fine(), drive.stats()
    sent = [request for request in drive.log() if request.op in "WD"]
    assert len(sent) == len(WRITES) + len(ZEROES)
    wanted = [sum(touches(*each) for each in kind) for kind in (WRITES, ZEROES)]
    assert [found["write_touches"], found["zero_touches"]] == wanted
    assert wanted == [stats["write_touches"], stats["zero_touches"]] and found["touches"] == stats["touches"]
    assert (found["writes"], found["misaligned_writes"]) == (len(WRITES), stats["writes_misaligned"])
    assert (found["write_zeroes"], found["misaligned_write_zeroes"]) == (len(ZEROES), stats["zeroes_misaligned"])
    assert found["bytes"] == 512 * sum(request.sectors for request in sent)
    [row] = found["writers"]
    assert (row["process"], row["pid"], row["file"], row["inode"]) == ("a b]c\"", os.getpid(), None, None)

    requests = found["drive"]
    assert (requests["requests"], requests["touches"], requests["lost"]) == (len(sent), stats["touches"], 0)
    classes = {(each["size"], each["start"], each["misaligned"]): each for each in requests["classes"]}
    assert {name: each["requests"] for name, each in classes.items()} == Counter(map(class_of, sent))
    for each in classes.values():
        assert sum(count for _, count in each["histogram"]) == each["requests"]
        assert sum(count for _, count in each["histogram_500us"]) == each["requests"]
        # A mean lies between the ends of the bins; the last one has no end.
        ends = [low for low, _ in each["histogram_500us"]]
        assert ends[0] <= each["mean_us"] and (ends[-1] == LAST_BIN_US or each["mean_us"] < ends[-1] + 500)
        assert not any(end % 500 for end in ends)


@pytest.fixture
def cgroup():
    """A cgroup whose write-back is told from that of others; removed at the end."""
    if not (CGROUPS / "cgroup.controllers").exists():
        run("mount", "-t", "cgroup2", "cgroup2", CGROUPS)
    (CGROUPS / "cgroup.subtree_control").write_text("+io +memory")
    folder = CGROUPS / "top-test"
    folder.mkdir()
    yield folder
    eventually(lambda: not (folder / "cgroup.procs").read_text(), "the cgroup is not empty")
    folder.rmdir()
    (CGROUPS / "cgroup.subtree_control").write_text("-io -memory")


# Run in a cgroup: writes to some pages of a file in the page cache. The file belongs to the cgroup that made it.
IN_CGROUP = """
import os, sys
folder, path, *pages = sys.argv[1:]
open(folder + "/cgroup.procs", "w").write(str(os.getpid()))
fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
for page in map(int, pages):
    os.pwrite(fd, b"x" * 4096, page * 4096)
"""


# The least that mkfs.xfs takes is 300 MB. The default of a small ext4 is blocks of 1024, whose files may lie in pieces.
MAKERS = {"ext4": (SECTORS, ["mkfs.ext4", "-q", "-F", "-b", 4096]), "xfs": (5 << 17, ["mkfs.xfs", "-q", "-f"])}


@pytest.mark.parametrize("kind", ["ext4", only_all("the same programs see both", "xfs")])
def test_writers_are_told_by_file_and_write_back_by_its_cgroup(rig, cgroup, kind):
    """On a partition where each block of the file system has two touches; the journal's writes count, too."""
    drive, pages, direct = rig.drive("p4096"), 8, 20
    sectors, make = MAKERS[kind]
    with rig.partition(drive.path, START, sectors) as path:
        run(*make, path)
        with mounted(kind, path) as folder:
            files = [folder / "direct", folder / "cached"]
            files[0].write_bytes(bytes(direct * 4096))
            run("python3", "-c", IN_CGROUP, cgroup, files[1], *range(2 * pages))
            os.sync()
            with contextlib.ExitStack() as stack:
                # The file system writes of its own accord, such as inode tables that mkfs has left out, and top and the
                # drive begin and end to count at different moments.
                with frozen(folder):
                    counting = stack.enter_context(Counting(path))
                    drive.reset()
                for file in files:
                    stack.enter_context(file.open("rb"))
                run("dd", "if=/dev/zero", f"of={files[0]}", "oflag=direct", "conv=notrunc", "bs=4096", f"count={direct}",
                    "status=none")
                # Neighbouring pages would be one write.
                run("python3", "-c", IN_CGROUP, cgroup, files[1], *range(0, 2 * pages, 2))
                with frozen(folder):
                    counting.__exit__()
                    drive_saw = drive.stats(), drive.log()
            found = counting.fine()
            assert found["writeback_by_cgroup"] and found["direct_files"] and not counting.errors
            [by_dd], cached = (of_file(found, file) for file in files)
    stats, log = drive_saw
    assert (by_dd["process"], by_dd["file"]) == ("dd", str(files[0]))
    assert (by_dd["writes"], by_dd["touches"], by_dd["bytes"]) == (direct, 2 * direct, direct * 4096)
    assert {(row["cgroup"], row["file"]) for row in cached} == {("/top-test", str(files[1]))}
    assert all(row["process"].startswith("kworker/") for row in cached)
    assert sum(row["writes"] for row in cached) == pages and sum(row["touches"] for row in cached) == 2 * pages
    assert found["touches"] == stats["touches"]
    assert found["writes"] == sum(request.op == "W" for request in log)
    assert found["alignment_offset"] == 4096 - START % 8 * 512


def test_an_align_device_counts_the_same_and_what_it_sends_back_is_counted_once(rig, tmp_path):
    count, drive = 100, rig.drive("p4096")
    with Align(drive.path, mode="pad") as device:
        def replay(phase, *options):
            run(ALIGNCTL, "replay", "w4096_512", "--on", device.path, "--phase", phase, "--state", tmp_path / "state", *options)
        replay("prepare", "--count", count)
        with Counting(device.path) as counting:
            before = device.ledger()
            replay("run", "--depth", 16)
            after = device.ledger()
        found = counting.fine()
        # The target sends back requests that must not wait, and io_uring retries them.
        assert found["sent_back"] > 0
        for name, counter in (("writes", "writes"), ("misaligned_writes", "writes_misaligned"), ("bytes", "write_bytes"),
                              ("touches", "rmw_expected"), ("sent_back", "nowait_again")):
            assert found[name] == after[counter] - before[counter], name
        assert found["touches"] == 2 * count
        done = run(ALIGNCTL, "top", device.path, "--once", "--drive", ok=False)
        assert done.returncode == USAGE and "has no requests of its own" in done.stderr


@pytest.mark.check_all("each request is compared with the drive's log where nothing is merged")
def test_requests_are_counted_behind_merges(rig):
    """Blocks of the page cache are sent one by one, and merged; --drive sees the requests that the drive gets."""
    drive, blocks = rig.drive("p4096"), 64
    (sysfs_folder(drive.path) / "queue/nomerges").write_text("0")
    with rig.partition(drive.path, START, SECTORS) as path:
        with Counting(path, "--drive") as counting:
            drive.reset()
            run("dd", "if=/dev/zero", f"of={path}", "bs=4096", f"count={blocks}", "conv=fsync", "status=none")
            stats, log = drive.stats(), drive.log()
    found = counting.fine()
    sent = [request for request in log if request.op == "W"]
    assert found["bytes"] == blocks * 4096 and found["touches"] >= stats["touches"]
    assert (found["drive"]["requests"], found["drive"]["touches"]) == (len(sent), stats["touches"])
    assert len(sent) < found["writes"]


@pytest.mark.check_all("each request is compared with the drive's log where none is given back")
def test_a_request_that_the_driver_gives_back_is_counted_once(rig):
    """scsi_debug is busy at every fourth command, which is issued again."""
    with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as disk:
        with Counting(path, "--drive") as counting, Trace(path) as issued, rig.scsi_debug_busy(every=4):
            for block in range(40):
                disk.write(8 * block + 1, bytes(512))
    requests = counting.fine()["drive"]
    assert requests["requeued"] == len(writes(issued.requests)) - 40 > 5
    assert (requests["requests"], requests["touches"], requests["lost"]) == (40, 40, 0)


def test_writers_without_room_are_counted_as_lost(rig):
    names, each = [f"writer {n}" for n in range(5)], 3
    with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as disk:
        with Counting(path, "--rows", 2) as counting:
            for name in names:
                with named(name):
                    for block in range(each):
                        disk.write(8 * block + 1, bytes(512))
        assert counting.status == FINDINGS
        assert counting.found["lost"] == 3 * each and counting.found["writes"] == 2 * each
        assert [row["process"] for row in counting.found["writers"]] == names[:2]
        assert f"{3 * each} writes are in no row: there is room for 2; ask for more than --rows 2" in counting.errors


@pytest.mark.check_all("the map of rows, in the same code, is full in the test above")
def test_a_write_without_room_that_is_sent_back_is_counted_twice_and_said_so(rig, tmp_path):
    count, drive = 50, rig.drive("p4096")
    with Align(drive.path, mode="pad") as device:
        words = [ALIGNCTL, "replay", "w4096_512", "--on", device.path, "--count", count, "--state", tmp_path / "state"]
        run(*words, "--phase", "prepare")
        with Counting(device.path, "--rows", 1) as counting:
            with Disk(device.path) as disk:
                disk.write(0, bytes(4096))
            before = device.ledger()
            run(*words, "--phase", "run", "--depth", 16)
            after = device.ledger()
    sent_back = after["nowait_again"] - before["nowait_again"]
    assert counting.status == FINDINGS and counting.found["writes"] == 1
    assert counting.found["sent_back"] == counting.found["counted_twice"] == sent_back > 0
    assert counting.found["lost"] == after["writes"] - before["writes"] + sent_back


@pytest.mark.check_all("the map of rows, in the same code, is full in a test above")
def test_requests_without_room_are_counted_as_lost(rig, tmp_path):
    """A slow disk has sixteen requests at one time, and there is room for four."""
    with rig.scsi_debug(physblk_exp=3, delay=5) as path:
        words = [ALIGNCTL, "replay", "w4096_512", "--on", path, "--count", 64, "--state", tmp_path / "state"]
        run(*words, "--phase", "prepare")
        with Counting(path, "--drive", "--rows", 1) as counting, Trace(path) as issued:
            run(*words, "--phase", "run", "--depth", 16)
    requests = counting.found["drive"]
    assert counting.status == FINDINGS and counting.found["lost"] == 0
    assert requests["lost"] > 0 and requests["requests"] + requests["lost"] == len(writes(issued.requests))
    assert f"{requests['lost']} requests are not counted: there is room for 4 at one time" in counting.errors


@pytest.mark.check_all("the map of rows, in the same code, is full in a test above")
def test_direct_writes_without_room_have_no_file_and_are_counted(rig):
    """Threads wait in their writes for the only request that a slow disk takes at one time; there is room for four files."""
    threads, each = 8, 4
    with rig.scsi_debug(physblk_exp=3, delay=5, max_queue=1) as path:
        (sysfs_folder(path) / "queue/scheduler").write_text("none")
        run("mkfs.ext4", "-q", "-F", "-b", 4096, "-O", "^has_journal", path)
        with mounted("ext4", path) as folder:
            file = folder / "file"
            file.write_bytes(bytes(threads * each * 4096))
            os.sync()
            with Disk(file) as disk, Counting(path, "--rows", 4) as counting:
                def write(thread):
                    for block in range(thread, threads * each, threads):
                        disk.write(8 * block, bytes(4096))
                with ThreadPoolExecutor(threads) as pool:
                    list(pool.map(write, range(threads)))
            counted = [row["writes"] for row in of_file(counting.found, file)]
    assert (counting.status, counting.found["lost"]) == (FINE, 0)
    mine = [row["writes"] for row in counting.found["writers"] if row["pid"] == os.getpid()]
    assert sum(mine) == threads * each
    assert counting.found["files_lost"] == sum(mine) - sum(counted) > 0


def watch_busy_writers(rig, tmp_path):
    """Let threads write on busy processors, beneath the programs of top and of record --requests; return both and the number."""
    count = 1500
    with rig.scsi_debug(physblk_exp=3) as path, contextlib.ExitStack() as busy:
        words = [ALIGNCTL, "replay", "w4096_512", "--on", path, "--count", count, "--state", tmp_path / "state"]
        run(*words, "--phase", "prepare")
        for _ in range(2 * os.cpu_count()):
            process = busy.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
            busy.callback(process.kill)
        with Counting(path, "--drive") as counting, Recording(path, tmp_path, "--requests", "--buffer", 16384) as recording:
            run(*words, "--phase", "run", "--threads", 16)
            recording.process.send_signal(signal.SIGINT)
            recording.end(FINE, FINDINGS)
    assert recording.summary["operations"]["write"]["count"] == count
    assert counting.status == (FINDINGS if counting.found["lost"] or counting.found["drive"]["lost"] else FINE)
    return counting.found, recording.summary, count


@pytest.mark.check_all("each request of few is compared with the drive's log; since Linux 7.0 tasks are preempted in programs")
def test_nothing_is_missed_where_tasks_are_preempted(rig, tmp_path, tracefs):
    found, summary, count = watch_busy_writers(rig, tmp_path)
    followed = summary["followed"]
    assert found["writes"] == found["drive"]["requests"] == followed["writes"] == followed["requests"] == count
    assert found["lost"] == found["drive"]["lost"] == followed["lost"] == 0
    assert followed["untied"] == followed["in_flight"] == followed["incomplete"] == 0


@pytest.mark.check_all("the kernel's kprobes are off; with them nothing is missed")
def test_what_is_missed_without_kprobes_is_told(rig, tmp_path, tracefs):
    """Only programs at tracepoints are left, which tasks are preempted in since Linux 7.0."""
    switch = Path("/sys/kernel/debug/kprobes/enabled")
    switch.write_text("0")
    try:
        found, summary, count = watch_busy_writers(rig, tmp_path)
    finally:
        switch.write_text("1")
    followed = summary["followed"]
    # Events of other requests are missed, too: the trace, which misses nothing, has them.
    others = summary["requests"] - count
    missed = count - found["writes"]
    assert 0 <= missed <= found["skipped"] == found["lost"] <= missed + others
    assert 0 <= count - found["drive"]["requests"] <= found["drive"]["skipped"]
    missed_of_both = 2 * count - followed["writes"] - followed["requests"]
    assert 0 <= missed_of_both <= followed["lost_by_kind"]["skipped"] == followed["lost"] <= missed_of_both + 2 * others
    if int(os.uname().release.split(".")[0]) < 7:
        assert (found["lost"], found["drive"]["lost"], followed["lost"]) == (0, 0, 0)


@pytest.mark.check_all("unit tests print the same report")
def test_people_see_the_same_and_intervals_follow_each_other(rig):
    with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as disk:
        with Counting(path, "--drive", json=False) as counting:
            disk.write(1, bytes(512))
            disk.zero(17, 3)
        assert counting.status == FINE
        for word in ("PROCESS", "PID", "CGROUP", "FILE", "WRITES", "MISALIGNED", "ZEROES", "TOUCHES", "BYTES", "SIZE", "START",
                     "REQUESTS", "MEAN", "P50", "P99", "LATENCY", "ALIGNED"):
            assert word in counting.said.replace("\n", " ").split(), word
        assert "2 partial touches; lost nothing" in counting.said
        said = run(ALIGNCTL, "top", path, "--interval", 1, 2, "--json").stdout
        first, second = map(json.loads, said.splitlines())
        assert first["writes"] == second["writes"] == 0
        # The second one ends two seconds after the start, or later on a machine with much to do.
        assert first["seconds"] >= 0.9 and first["seconds"] + second["seconds"] >= 1.9


@pytest.mark.check_all("the checks come first and are few; the other tests pass them")
def test_what_is_missing_is_named(rig):
    """Without BTF, without rights, and where write-back cannot be told by cgroup."""
    with rig.scsi_debug() as path:
        hidden = run("unshare", "-m", "sh", "-c", f"mount -t tmpfs none /sys/kernel/btf && exec {ALIGNCTL} top {path} --once",
                     ok=False)
        assert hidden.returncode == IO and not hidden.stdout
        assert "CONFIG_DEBUG_INFO_BTF" in hidden.stderr and "alignctl record" in hidden.stderr
        nobody = run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
                     ALIGNCTL, "top", path, "--once", ok=False)
        assert nobody.returncode == IO and "CAP_BPF is missing" in nobody.stderr
        alone = run(ALIGNCTL, "top", path, "--once", "--json")
        assert "write-back is not counted by cgroup" in alone.stderr
        assert json.loads(alone.stdout)["writeback_by_cgroup"] is False
