# SPDX-License-Identifier: GPL-2.0
"""An orderly reboot does not suspend devices, so a reboot notifier empties them."""

import errno
import json
import re
import shlex
import subprocess

import pytest

from lab.linux import gates
from lab.machines import drives, uml, vm
from lab.paths import REPO
from lab.plugins.batch import BOOT_SECONDS
from lab.plugins.extent import everything, one_kernel
from lab.proof import reboot
from rig.direct import Disk, pattern
from rig.dm import Align
from rig.uml_reboot import MANY, PLACES


def in_guest():
    """
    Hold touches on a disk, on an array and beneath the members of another array, which must be on the drives later, and
    reboot without a flush.
    """
    import ctypes
    from pathlib import Path

    from rig.dm import run

    def array(name, *members):
        run("mdadm", "--create", f"/dev/{name}", "--run", "--metadata=1.2", "--level=1", "--raid-devices=2",
            "--assume-clean", "--bitmap=none", *members)
        return f"/dev/{name}"

    options = {"mode": "coalesce", "hold_ms": 600000}
    members = [Align(disk, **options) for disk in ("/dev/vdc", "/dev/vdd")]
    for member in members:
        member.__enter__()
    above = array("md1", *(member.path for member in members))
    # md would mark an idle array as clean on the members, with a flush that empties the device: prevent that.
    Path("/sys/block/md1/md/safe_mode_delay").write_text("0")
    on_array, on_disk = Align(array("md0", "/dev/vda", "/dev/vdb"), **options), Align("/dev/vde", **options)
    on_array.__enter__()
    on_disk.__enter__()
    for path in (on_array.path, above, on_disk.path):
        with Disk(path) as upper:
            for tag, (sector, sectors) in enumerate(PLACES, 1):
                upper.write(sector, pattern(tag, sector, sectors))
    print(json.dumps([device.ledger()["held_blocks"] for device in (on_array, *members, on_disk)]), flush=True)
    ctypes.CDLL(None).reboot(0x01234567)


def assert_written(path, start=0):
    """Assert that the held touches are on the drive. `start`: first sector of the mapped range on the drive."""
    with open(path, "rb") as data:
        for tag, (sector, sectors) in enumerate(PLACES, 1):
            data.seek((start + sector) * 512)
            assert data.read(sectors * 512) == pattern(tag, sector, sectors), f"sector {sector} is not on the drive"


def reboot_of_guest(series, folder, disks, first):
    """
    Boot a guest with `disks` drives, whose data are files in `folder`, load the modules `first` and then the target's, and
    call in_guest() there. Return its output, parsed as JSON.
    """
    module = gates.module(series)
    program = f"import sys; sys.path[:0] = {[str(REPO / 'kmod/tests'), str(REPO / 'scripts')]}; " \
        "from rig.test_reboot import in_guest; in_guest()"
    command = f"modprobe -a dm_mod {first} && insmod {shlex.quote(str(module))} && modprobe -a raid1 && " \
        f"exec {shlex.quote(str(REPO / 'scripts/python'))} -c {shlex.quote(program)}"
    served = {f"disk{i}": drives.Server(size="64M", options=(f"file={folder}/data{i}",)) for i in range(disks)}
    with drives.serve(served, folder) as served, open(folder / "said", "w") as said:
        run = vm.run(command, timeout=BOOT_SECONDS, series=series, name=f"reboot-{series}", stdout=said,
                     cpus=2 if everything() else 1, quick=True,
                     drives=[served[name].attached() for name in sorted(served)])
    assert not run.faults
    text = (folder / "said").read_text().splitlines()
    assert text, (run.folder / "console.log").read_text()[-3000:]
    try:
        return json.loads(text[-1])
    except ValueError:
        raise AssertionError(f"{text}\n{(run.folder / 'console.log').read_text()[-3000:]}") from None


def superblock(path):
    """Return md's superblock of a member, by the names that mdadm prints."""
    shown = subprocess.run(["mdadm", "--examine", path], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^ *(.+?) : (.*)$", shown, re.M))


@pytest.mark.parametrize("first", [
    pytest.param("md_mod", id="md-first"),
    pytest.param("", id="align-first", marks=pytest.mark.check_all("md-first: the other order of both"))])
@pytest.mark.parametrize("series", one_kernel("the notifier is the same on each kernel"))
@pytest.mark.timeout(0)
def test_an_orderly_reboot_writes_what_is_held_and_leaves_arrays_clean(series, first, tmp_path):
    """On a disk, on an array and below one, with md's reboot notifier before the target's and behind it."""
    held = reboot_of_guest(series, tmp_path, 5, first)
    assert held == [len(PLACES)] * 4, "not all was held: the test proves nothing"
    assert_written(tmp_path / "data4")
    for array in ((0, 1), (2, 3)):
        members = [superblock(tmp_path / f"data{i}") for i in array]
        for i, member in zip(array, members):
            print(f"member {i}: {member['State']}, {member['Events']} events")
            assert_written(tmp_path / f"data{i}", int(member["Data Offset"].split()[0]))
        assert [member["State"] for member in members] == ["clean"] * 2, "the array will be resynced"
        assert members[0]["Events"] == members[1]["Events"], "a member is out of date"


# The target's deadline for a disk that does not answer, in seconds.
DEADLINE = 30
# One worker: another one would reboot once more, under the same name, and overwrite the first run's console.
one_reboot = pytest.mark.xdist_group("reboot")


@pytest.fixture(scope="module")
def end(tmp_path_factory):
    """Shut down with two disks that do not answer, one that works, and one that fails; return the run with its output."""
    data = tmp_path_factory.mktemp("reboot") / "data"
    run = reboot.run(uml.module(), data, "reboot")
    run.said = {}
    for line in (run.folder / "output").read_text().splitlines():
        run.said.update(json.loads(line))
    held = [len(PLACES), len(MANY), len(PLACES), len(PLACES)]
    assert run.said.get("held") == held, f"not all was held: {run.said}\n{run.console[-3000:]}"
    assert not run.faults
    run.data = data
    return run


def given_up(run):
    """Return (seconds, blocks, error) of each line of the kernel log about unwritten blocks."""
    line = r"\[ *([\d.]+)\] .*: (\d+) held blocks were not written before the reboot: error -(\d+)"
    return [(float(at), int(blocks), int(error)) for at, blocks, error in re.findall(line, run.console)]


@pytest.mark.timeout(0)
@one_reboot
def test_an_orderly_reboot_tells_what_is_left_on_disks_that_fail_or_do_not_answer(end):
    """And all blocks that could be written are."""
    left = [(blocks, error) for _, blocks, error in given_up(end)]
    blocks = len({sector // 8 for sector, _ in PLACES})
    assert left == [(blocks, errno.ETIMEDOUT), (len(MANY), errno.ETIMEDOUT), (blocks, errno.EIO)], end.console[-3000:]
    assert_written(end.data)


@pytest.mark.timeout(0)
@one_reboot
def test_a_disk_that_does_not_answer_keeps_no_other_from_being_written_at_a_reboot(end):
    assert end.said["seconds_to_written"] < DEADLINE / 3, "the target waited for the disks that do not answer"


@pytest.mark.timeout(0)
@one_reboot
def test_a_reboot_that_waits_keeps_no_device_from_being_removed(end):
    assert end.said["seconds_to_removed"] < DEADLINE / 3, "the target waited for the disks that do not answer"


@pytest.mark.timeout(0)
@one_reboot
def test_all_disks_that_do_not_answer_have_one_deadline_at_a_reboot(end):
    """The target gives up all devices at the same moment, not one after the other."""
    times = [at for at, _, _ in given_up(end)]
    assert len(times) > 1, end.console[-3000:]
    assert max(times) - min(times) < DEADLINE / 3, f"given up after one another: {times}"


@pytest.mark.timeout(0)
@one_reboot
def test_nothing_more_is_drained_after_the_deadline_of_a_reboot(end):
    """Blocks in flight at the deadline are written if the disk answers after all; the others stay held."""
    late = end.said["written_too_late"]
    assert 0 < late < len(MANY), f"{late} of {len(MANY)} blocks were written after the deadline"


@pytest.mark.timeout(0)
@one_reboot
@pytest.mark.parametrize("request_over", ["write", "discard", "part"])
def test_requests_over_blocks_that_stay_held_end_after_the_deadline_of_a_reboot(end, request_over):
    """
    A write of the whole block supersedes the held data when it is on the disk, a write of a part goes down with them. A discard
    may be ignored by the disk, so the held data stay.
    """
    said = end.said["over_held"]
    print(said)
    assert said[request_over]["ended"], "the request waits for a block that will not be written"
    assert all(said[request_over].get("there", [])), "the content is not on the device, or not on the disk"
    assert said["settled"] == 2, "not the blocks of the two writes, and only those, are settled"
