# SPDX-License-Identifier: GPL-2.0
"""
File systems on the target, on a device that logs every write: the content at each flush of the log is mounted, which
replays the file system's journal, searched for the files synced by then, and checked.

Runs in User Mode Linux. DM_ALIGN_POWER_CUTS scales the test: one file is synced for each twelve, in each of the four cases.
"""

import contextlib
import os
import random
import shlex
import tempfile
import time
from pathlib import Path

import pytest

from lab.machines import uml
from lab.machines.vm import explain
from lab.paths import REPO
from lab.plugins.extent import only_all
from rig import filesystem, log_writes
from rig.control import message
from rig.direct import SECTOR, Later
from rig.dm import Align, Device, run, sectors_of
from rig.rig import POWER_CUTS, POWER_FIRST

CASES = [("ext4", "coalesce"), *(only_all("guest/test_stacks.py: each kind at power cuts", *both)
                                 for both in (("xfs", "pad"), ("ext4", "pad"), ("xfs", "coalesce")))]
FILES = max(4, POWER_CUTS // 12)
TIMEOUT = 120 + 10 * FILES

MAKERS = {"ext4": ["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
          "xfs": ["mkfs.xfs", "-q", "-f", "-K"]}
# mkfs.xfs refuses less than 300 MB.
MEGABYTES = {"ext4": 64, "xfs": 320}
# Blocks of 4096 bytes straddle two of the drive's. The superblock of ext4, which no journal protects, lies inside one, as
# the target, like any drive, promises whole writes within a block, but not across two.
START = 1
THREADS = 3


@contextlib.contextmanager
def loop(file, offset=0):
    path = run("losetup", "--show", "-f", "-o", offset, file).stdout.strip()
    try:
        yield path
    finally:
        run("losetup", "-d", path)


def content(name):
    choose = random.Random(name)
    return choose.randbytes(choose.choice([100, 700, 3000, 4096, 9000, choose.randint(1, 40000)]))


def live(folder, logger, thread, share):
    """Make permanent files, each marked in the log once it is synced, and temporary files in between."""
    choose = random.Random(thread)
    for i in range(share):
        for j in range(choose.randrange(4)):
            (folder / f"unsynced {thread} {j}").write_bytes(choose.randbytes(choose.randint(1, 9000)))
        if choose.random() < 0.3:
            (folder / f"unsynced {thread} 0").unlink(missing_ok=True)
        name = f"f{thread}.{i}"
        with open(folder / name, "wb") as file:
            file.write(content(name))
            file.flush()
            os.fsync(file.fileno())
        message(logger.name, f"mark {name}")


def look_at(kind, image, scratch):
    """Mount and check a copy of the file system at one moment of the log; return the names of correct files."""
    run("cp", "--sparse=always", image, scratch)
    with loop(scratch, START * SECTOR) as disk:
        with filesystem.mounted(kind, disk) as folder:
            right = {path.name for path in folder.glob("f*") if path.read_bytes() == content(path.name)}
        filesystem.fsck(kind, disk)
    return right


def play_back(kind, log, image, scratch):
    """
    Check the file system at every moment of the log at which a write has become durable, and that each file is there from
    its sync on. Return (number of moments, number of synced files).
    """
    looks, changed, right, synced = 0, False, set(), set()
    for number, entry in enumerate(log_writes.entries(log)):
        log_writes.play(entry, image)
        changed = changed or entry.length > 0
        try:
            if entry.mark.startswith("f"):
                assert entry.mark in right, f"{entry.mark} was synced, and is not there as it was written"
                synced.add(entry.mark)
            elif entry.is_safe_point and changed:
                looks, changed = looks + 1, False
                right = look_at(kind, image.name, scratch)
                assert synced <= right, f"{sorted(synced - right)} were synced, and are lost or damaged"
        except AssertionError as error:
            raise AssertionError(f"at entry {number} of the log: {error}") from error
    return looks, len(synced)


def in_guest(kind, mode, files, seed):
    """Run the test in the guest, and print a line of figures."""
    began, share = time.monotonic(), -(-files // THREADS)
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        folder = Path(temporary)
        data, log, image = folder / "data", folder / "log", folder / "image"
        for file, megabytes in ((data, MEGABYTES[kind]), (log, 2048)):
            file.touch()
            os.truncate(file, megabytes << 20)
        with loop(data, START * SECTOR) as disk:
            run(*MAKERS[kind], disk)
        # With holes, as each look copies it.
        run("cp", "--sparse=always", data, image)
        with loop(data) as disk, loop(log) as journal, \
                Device(f"0 {sectors_of(disk)} log-writes {disk} {journal}") as logger:
            options = {"hold_ms": 200} if mode == "coalesce" else {}
            with Align(logger.path, START, mode=mode, physical_block_size=4096, alignment_offset=0,
                       **options) as device:
                with filesystem.mounted(kind, device.path) as top:
                    for writer in [Later(live, top, logger, f"{seed}.{thread}", share) for thread in range(THREADS)]:
                        writer.result(TIMEOUT)
                device.message("flush")
                ledger = device.balanced()
                assert ledger["rmw_drive"] == ledger["rmw_drive_edge"] and ledger["rmw_expected"] > 0, ledger
                assert (ledger["touches_held"] > 0) == (mode == "coalesce"), ledger
        looks, synced = play_back(kind, stack.enter_context(open(log, "rb")),
                                  stack.enter_context(open(image, "r+b", buffering=0)), folder / "scratch")
    assert synced == THREADS * share and looks >= synced // THREADS, \
        f"{looks} moments, {synced} files: the test proves nothing"
    print(f"log-writes: {kind:4} on {mode:8} {looks:5} flushes, {synced} files synced, "
          f"{ledger['rmw_expected']} touches; {time.monotonic() - began:.1f} s")


@pytest.mark.parametrize("kind,mode", CASES)
@pytest.mark.timeout(0)
def test_a_file_system_is_whole_at_every_flush(kind, mode):
    program = f"import sys; sys.path[:0] = {[str(REPO / 'kmod/tests'), str(REPO / 'scripts')]}; " \
        f"from rig.test_whole_at_flush import in_guest; in_guest({kind!r}, {mode!r}, {FILES}, {POWER_FIRST})"
    command = f"insmod {shlex.quote(str(uml.module()))} && exec {shlex.quote(str(REPO / 'scripts/python'))} " \
        f"-c {shlex.quote(program)}"
    guest = uml.run(command, timeout=TIMEOUT, name=f"log-writes-{kind}-{mode}", memory="2G")
    said = (guest.folder / "output").read_text(errors="replace")
    print(said)
    assert guest.ok, f"{explain(guest)}\n{said[-3000:]}"
