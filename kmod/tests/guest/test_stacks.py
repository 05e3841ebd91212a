# SPDX-License-Identifier: GPL-2.0
"""
File systems, LVM, LUKS, md and databases on partitions that start 5 sectors behind a boundary, through power cuts: the
drive loses its volatile cache at a random request, the stack is torn down while the power is off, and set up again
afterwards. As many cuts as in the proof, with the raw drive for comparison:

    DM_ALIGN_STACK_CUTS=25 scripts/python -m pytest kmod/tests/guest -k "stacks"
"""

import contextlib
import math
import os
import random
import shutil
import sqlite3

import pytest

from lab.plugins.extent import only_all
from rig import postgres
from rig.control import SKIP_LOCKFS_FLAG
from rig.direct import Disk
from rig.dm import Device
from rig.filesystem import fsck, make, mounted, replay_journal
from rig.rig import STACK_CUTS, STACKS_LIMIT
from rig.stacks import Stack, mirrored
from rig.writers import Files, Sqlite, Writer, lives

pytestmark = pytest.mark.timeout(STACKS_LIMIT)

# name: (layers, file system, sectors of a partition). mkfs.xfs refuses less than 300 MB.
STACKS = {
    "ext4": ("plain", "ext4", 1 << 18),
    "xfs": ("plain", "xfs", 5 << 17),
    "lvm": ("lvm", "ext4", 1 << 18),
    "luks": ("luks", "xfs", 6 << 17),
    "raid1": ("raid1", "ext4", 1 << 17),
}
# The raw drive, where time allows, proves that the requirements can be met.
THROUGH = ["pad", "coalesce", *(["raw"] if STACK_CUTS > 1 else [])]
# In make check each stack runs through one mode.
SLICE = {"ext4": "coalesce", "xfs": "pad", "lvm": "coalesce", "luks": "coalesce", "raid1": "pad"}
# Stacks on a drive that tears blocks; one in the slice. Fewer cuts cannot show that damages are too many for chance.
TORN = ["ext4", *(["xfs", "lvm", "luks", "raid1"] if STACK_CUTS > 1 else [])]
TORN_CUTS = max(7, STACK_CUTS)
# Exceptions of a damaged stack at set-up, check or use.
DAMAGE = (AssertionError, OSError, sqlite3.Error)
# A cut comes within so many requests.
REQUESTS = 600


class Cuts:
    """A stack that is written to while the power goes, and checked afterwards."""

    def __init__(self, rig, name, through, tear, seed):
        print(f"DM_ALIGN_SEED={seed}")
        layer, self._kind, sectors = STACKS[name]
        self._name, self._through, self._tear = name, through, tear
        self._drive = rig.drive("p4096")
        self._stack = Stack(rig, self._drive, layer, through, sectors)
        self._choose = random.Random(f"{seed} {name} {through} {tear}")
        self._fresh = True
        self._written = []
        self.acknowledged = self.cuts = self.torn_commits = 0

    def write_and_cut(self):
        """Let two processes sync files and commit transactions until the drive has no power."""
        workloads = [Files(self._choose.random()), Sqlite(self._choose.random())]
        self.cuts += 1
        # A stack that the set-up finds damaged since the last cut, where the check did not look, is not used again.
        fresh, self._fresh = self._fresh, True
        with self._stack.assembled(fresh) as path:
            if fresh:
                make(self._kind, path)
                self._written = []
            with mounted(self._kind, path) as root, contextlib.ExitStack() as processes:
                # The folders of the last two cuts stay.
                for _, _, old in self._written[:-4]:
                    shutil.rmtree(root / old)
                del self._written[:-4]
                writing = []
                for workload in workloads:
                    name = f"{self.cuts}-{type(workload).__name__}"
                    workload.setup(root / name)
                    writing.append((workload, processes.enter_context(Writer(workload, root / name)), name))
                self._drive.reset()
                self._drive.cut_power(at=self._choose.randint(1, REQUESTS), tear=self._tear,
                                      seed=self._choose.randrange(1 << 31))
                for _, writer, _ in writing:
                    writer.wait()
        self._fresh = False
        self._written += writing
        self.acknowledged += sum(writer.acknowledged for _, writer, _ in writing)

    def recover(self):
        """Fail unless the layers start, the file system is clean, and all acknowledged operations are in it."""
        self._drive.power_on()
        try:
            with self._stack.assembled() as path:
                self.torn_commits += replay_journal(self._kind, path)
                fsck(self._kind, path)
                with mounted(self._kind, path) as root:
                    for workload, writer, name in self._written:
                        self._check(workload, writer, root / name)
                # Writes that the checks caused behind their backs may have met a block that cannot be read since the cut.
                with mounted(self._kind, path):
                    pass
                if self._name == "raid1":
                    mirrored()
        except DAMAGE:
            self._fresh = True
            raise

    def _check(self, workload, writer, folder):
        """
        Check a writer's folder. md answers an empty flush with success although its members failed it (md_end_flush() in
        drivers/md/md.c, 6.1 and 6.12): the last operation of a writer may have been acknowledged by a flush without power.
        Only one may, since the next one would have to write.
        """
        try:
            workload.check(folder, writer.acknowledged, writer.begun)
        except AssertionError:
            if self._name != "raid1" or not writer.acknowledged:
                raise
            workload.check(folder, writer.acknowledged - 1, writer.acknowledged)
            print(f"raid1: md acknowledged operation {writer.acknowledged} of {folder.name} without power")


def test_md_acknowledges_a_flush_that_its_members_failed(rig):
    """The fault of md that Cuts._check() allows, on the drive itself. If this test fails, md is fixed: stop allowing it."""
    drive = rig.drive("p4096")
    stack = Stack(rig, drive, "raid1", "raw", 1 << 17)
    with stack.assembled(fresh=True) as path, Disk(path) as disk:
        disk.write(2048, b"\1" * 4096)
        disk.flush()
        disk.write(2048, b"\2" * 4096)
        drive.cut_power(tear="none", seed=1)
        disk.flush()
    drive.power_on()
    with stack.assembled() as path, Disk(path) as disk:
        assert disk.read(2048, 8) == b"\1" * 4096


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_file_system_acknowledges_what_a_commit_of_another_one_has_lost(rig, kind):
    """
    The fault of ext4 and XFS that rig.writers.lives() guards from, without the target: a folder's fsync succeeds, although
    the commit of its change has failed, if the fsync of another file was told. If this test fails, they are fixed.
    """
    length = STACKS[kind][2]
    # In a partition: a signature on the drive itself would stop other tests.
    with rig.partition(rig.drive("p4096").path, 2048, length) as path, Device(f"0 {length} linear {path} 0") as disk:
        make(kind, disk.path)
        with mounted(kind, disk.path) as root, contextlib.ExitStack() as files:
            (root / "old").touch()
            (root / "other").touch()
            folder, other = (os.open(path, os.O_RDONLY) for path in (root, root / "other"))
            for fd in (folder, other):
                files.callback(os.close, fd)
                os.fsync(fd)
            disk.reload(f"0 {length} error", flags=SKIP_LOCKFS_FLAG)
            os.rename(root / "old", root / "new")
            os.fchmod(other, 0o600)
            with pytest.raises(OSError):
                os.fsync(other)
            os.fsync(folder)
            with pytest.raises(OSError):
                lives(root)
        disk.reload(f"0 {length} linear {path} 0")
        with mounted(kind, disk.path) as root:
            assert (root / "old").exists() and not (root / "new").exists()


def say(rig, name, through, tear, cuts, acknowledged, torn_commits, damaged=()):
    """Print the figures of a stack, for promises.rst."""
    print(f"stacks: {name} through {through}, tear={tear}: {cuts} cuts on {rig.where}, {acknowledged} operations "
          f"acknowledged, {torn_commits} mounted after e2fsck -p, {len(damaged)} damaged", *dict.fromkeys(damaged))


@pytest.mark.parametrize("name,through", [
    (name, through) if through == SLICE.get(name, through) else only_all("each stack runs through one mode", name, through)
    for through in THROUGH for name in STACKS])
def test_nothing_acknowledged_goes_with_the_power_and_all_is_consistent(rig, name, through):
    """On a drive that writes blocks atomically."""
    cuts = Cuts(rig, name, through, "none", rig.seed)
    for _ in range(rig.cuts):
        cuts.write_and_cut()
        cuts.recover()
    assert cuts.acknowledged > 0, "no operation was acknowledged before the cuts: the test proves nothing"
    say(rig, name, through, "none", cuts.cuts, cuts.acknowledged, cuts.torn_commits)


@pytest.mark.skipif(STACK_CUTS == 1, reason="making a PostgreSQL takes minutes: DM_ALIGN_STACK_CUTS=2 or more")
@pytest.mark.skipif(not postgres.FOLDERS, reason="PostgreSQL is not installed: scripts/setup proof")
@pytest.mark.timeout(900 + STACKS_LIMIT)
@pytest.mark.parametrize("through", THROUGH)
def test_postgresql_keeps_what_it_acknowledged_when_the_power_goes(rig, through):
    """Four clients of pgbench; indexes are compared with heaps, and the balances of pgbench's tables."""
    drive = rig.drive("p4096")
    stack = Stack(rig, drive, "plain", through, 1 << 19)
    print(f"DM_ALIGN_SEED={rig.seed}")
    choose = random.Random(f"{rig.seed} postgresql {through}")
    acknowledged = {}
    torn_commits = 0
    with stack.assembled(fresh=True) as path:
        make("ext4", path)
        with mounted("ext4", path) as root, postgres.Postgres(root) as server:
            server.make()
            server.stop()
    for cut in range(rig.cuts):
        with stack.assembled() as path, mounted("ext4", path) as root, postgres.Postgres(root) as server:
            server.start()
            drive.reset()
            load = server.load(cut)
            drive.cut_power(at=choose.randint(20, 20 * REQUESTS), tear="none", seed=choose.randrange(1 << 31))
            acknowledged |= {(cut, client): count for client, count in load.wait().items()}
        drive.power_on()
        with stack.assembled() as path:
            torn_commits += replay_journal("ext4", path)
            with mounted("ext4", path) as root, postgres.Postgres(root) as server:
                server.start()
                server.check(acknowledged)
                server.stop()
            fsck("ext4", path)
    total = sum(acknowledged.values())
    assert total > 0, "no line was acknowledged before the cuts: the test proves nothing"
    say(rig, "postgresql", through, "none", rig.cuts, total, torn_commits)


# As many cuts of the raw drive as through each mode.
@pytest.mark.check_all("in the time that make check has no number of damages is too many")
@pytest.mark.timeout(3 * STACKS_LIMIT * TORN_CUTS / STACK_CUTS)
@pytest.mark.parametrize("tear", ["sector", "block"])
@pytest.mark.parametrize("name", TORN)
def test_a_drive_that_tears_damages_no_more_than_without_the_target(rig, name, tear):
    """
    A block in flight is then mixed, or unreadable, with the sectors beside the written ones. No stack need survive this, but
    with the target it must survive as often as on the drive itself.
    """
    damaged = {}
    for through in ("raw", "pad", "coalesce"):
        cuts = Cuts(rig, name, through, tear, rig.seed)
        said = []
        for _ in range(TORN_CUTS):
            try:
                cuts.write_and_cut()
                cuts.recover()
            except DAMAGE as error:
                said.append(f"{type(error).__name__}: {error}".splitlines()[0])
        damaged[through] = len(said)
        say(rig, name, through, tear, cuts.cuts, cuts.acknowledged, cuts.torn_commits, said)
    for through in ("pad", "coalesce"):
        chance = as_many_by_chance(damaged["raw"], damaged[through], TORN_CUTS)
        assert chance > 0.001, f"{TORN_CUTS} cuts damaged the stack {damaged[through]} times through {through} and " \
            f"{damaged['raw']} times without; so many more come by chance with probability {chance:.1g} only"


def as_many_by_chance(raw, through, cuts):
    """
    Return the probability that at least `through` of raw + through damages among twice `cuts` are on one side, if the sides
    do not differ (Fisher's exact test).
    """
    total = raw + through
    return sum(math.comb(cuts, k) * math.comb(cuts, total - k) for k in range(through, min(total, cuts) + 1)) \
        / math.comb(2 * cuts, total)
