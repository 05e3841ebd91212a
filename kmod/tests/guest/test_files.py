# SPDX-License-Identifier: GPL-2.0
"""
Test tools of other projects, and a model of a file, in file systems on a partition that starts 5 sectors behind a
boundary. (xfstests is not packaged.) Longer:

    DM_ALIGN_FILES_SECONDS=60 scripts/python -m pytest kmod/tests/guest -k "test_files"
"""

import contextlib
import re

import pytest

from lab.plugins.extent import only_all
from rig.direct import Later
from rig.dm import run
from rig.exerciser import Exerciser
from rig.filesystem import fsck, make, mounted
from rig.rig import FILES_LIMIT
from rig.stacks import Stack

pytestmark = pytest.mark.timeout(FILES_LIMIT)

SECTORS = 6 << 17
# A slice of stress-ng's class: the stressors that write and check data.
SLICE = ["copy-file", "fallocate", "fpunch", "hdd"]
# stress-ng: "disabled as it may hang or reboot the machine".
PATHOLOGICAL = {"bind-mount"}


@contextlib.contextmanager
def on_a_shifted_partition(rig, kind, through):
    """Yield the stack and its device, with an empty file system, which must be clean at the end."""
    drive = rig.drive("p4096")
    stack = Stack(rig, drive, "plain", through, SECTORS)
    drive.reset()
    with stack.assembled(fresh=True) as path:
        make(kind, path)
        yield path
        assert drive.stats()["writes"] > 0
        fsck(kind, path)


@pytest.mark.two_processors
@pytest.mark.parametrize("kind,through", [("ext4", "coalesce"),
                                          *(only_all("coalesce pads, too, and test_stacks.py has XFS", *both)
                                            for both in (("xfs", "pad"), ("ext4", "pad"), ("xfs", "coalesce")))])
def test_files_are_what_a_model_says_however_they_are_written(rig, kind, through):
    """Files are written, truncated, punched, zeroed and mapped, by three threads, and checked at the end and after a mount."""
    with on_a_shifted_partition(rig, kind, through) as path:
        with mounted(kind, path) as root:
            files = [Exerciser(root / f"{i}", f"{rig.seed} {i}") for i in range(3)]
            print(f"DM_ALIGN_SEED={rig.seed}")
            done = [each.result(FILES_LIMIT) for each in [Later(file.run, rig.files_seconds) for file in files]]
            assert all(done), f"operations: {done}"
            for i, file in enumerate(files):
                file.check(root / f"{i}")
        with mounted(kind, path, read_only=True) as root:
            for i, file in enumerate(files):
                file.check(root / f"{i}")


@pytest.mark.parametrize("through", [only_all("coalesce pads, too", "pad"), "coalesce"])
def test_fio_verifies_what_it_wrote_to_files(rig, through):
    with on_a_shifted_partition(rig, "ext4", through) as path, mounted("ext4", path) as root:
        for direct, shape in ((1, ["--bsrange=512-64k", "--blockalign=512", "--fsync=32"]),
                              (0, ["--bsrange=100-40000", "--bs_unaligned=1", "--fsync=32"])):
            run("fio", f"--directory={root}", "--name=verified", "--ioengine=libaio" if direct else "--ioengine=psync",
                f"--direct={direct}", "--rw=randwrite", *shape, "--size=8m", "--iodepth=8", "--numjobs=2",
                f"--runtime={rig.files_seconds}", "--norandommap=0", "--verify=crc32c", "--verify_fatal=1",
                "--verify_state_save=0", "--do_verify=1", f"--randseed={rig.seed}", timeout=FILES_LIMIT)


def stressors():
    """Return the names of all stressors of the class, without the pathological ones."""
    said = run("stress-ng", "--class", "filesystem?", ok=False)
    names = re.search(r"class 'filesystem' stressors: (.*)", said.stdout + said.stderr)[1].split()
    assert set(SLICE) <= set(names)
    return [name for name in names if name not in PATHOLOGICAL]


def fails(name, root):
    """Return why stress-ng's stressor fails in this folder, or None, also if it is not supported."""
    folder = root / name
    folder.mkdir()
    done = run("stress-ng", f"--{name}", 1, "--timeout", "1s", "--verify", "--temp-path", folder, "--oomable",
               *(["--hdd-bytes", "8m"] if name == "hdd" else []), ok=False)
    return f"{done.stdout}{done.stderr}" if done.returncode == 2 else None


@pytest.mark.parametrize("through", [only_all("coalesce pads, too", "pad"), "coalesce"])
def test_stress_ng_fails_in_nothing_that_succeeds_on_the_drive(rig, through):
    names = SLICE if rig.files_seconds < 30 else stressors()
    with on_a_shifted_partition(rig, "ext4", through) as path, mounted("ext4", path) as root:
        failed = {name: why for name in names if (why := fails(name, root))}
    if failed:
        with on_a_shifted_partition(rig, "ext4", "raw") as path, mounted("ext4", path) as root:
            guilty = {name: why for name, why in failed.items() if not fails(name, root)}
        assert not guilty, f"stressors fail here but not on the drive: {guilty}"
    print(f"{len(names)} stressors, failing on the drive as well: {sorted(failed)}")
