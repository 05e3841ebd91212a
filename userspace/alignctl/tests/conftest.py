# SPDX-License-Identifier: GPL-2.0
"""A disk that every test of the program may write to, and a made-up machine for it to look at."""

import contextlib
import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from alignctl_program import COUNTERS, DISK_BYTES, HISTOGRAMS, LOOP_CTL_REMOVE
from lab.pace import patience


@pytest.fixture
def disk(tmp_path):
    """A sparse file, on a file system that can do direct I/O."""
    path = tmp_path / "disk"
    with open(path, "wb") as file:
        file.truncate(DISK_BYTES)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_DIRECT))
    except OSError:
        pytest.skip(f"the file system of {tmp_path} has no O_DIRECT")
    return path


@pytest.fixture
def memory():
    """A folder that is not on the disk of other files."""
    with tempfile.TemporaryDirectory(prefix="alignctl-", dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture
def loops():
    """Skip where loop devices cannot be made, which commands for images need: a container, or not root."""
    if not os.path.exists("/dev/loop-control") or os.geteuid():
        pytest.skip("loop devices need root and /dev/loop-control")


@pytest.fixture
def loop(disk):
    """A loop device of the disk."""
    made = subprocess.run(["losetup", "-f", "--show", disk], text=True, capture_output=True, timeout=patience(20), check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    yield Path(made.stdout.strip())
    subprocess.run(["losetup", "-d", made.stdout.strip()], timeout=patience(20), check=True)


@pytest.fixture
def own_loop(disk):
    """
    A loop device of the disk, for a test that detaches it and attaches it again (another_medium()).

    `losetup -f` of another test takes the lowest number that is free, so it takes this one only while all lower ones are in
    use; attaching it then waits until that test has ended.
    """
    number = 500000 + os.getpid() % 100000
    made = Path(f"/dev/loop{number}")
    done = subprocess.run(["losetup", made, disk], text=True, capture_output=True, timeout=patience(20), check=False)
    if done.returncode:
        pytest.skip(f"no loop device: {done.stderr.strip()}")
    yield made
    subprocess.run(["losetup", "-d", made], timeout=patience(20), check=True)
    with contextlib.suppress(OSError), open("/dev/loop-control", "rb") as control:
        fcntl.ioctl(control, LOOP_CTL_REMOVE, number)   # fails while udev looks at the device, which does no harm


def preloaded(folder, name):
    """The library of verbs/hooks/NAME.c, for LD_PRELOAD."""
    library = folder / f"{name}.so"
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library,
                    Path(__file__).with_name("verbs") / f"hooks/{name}.c"], check=True)
    return library


@pytest.fixture(scope="session")
def hook(tmp_path_factory):
    """The library that answers in place of a drive."""
    return preloaded(tmp_path_factory.mktemp("hook"), "drivehook")


@pytest.fixture(scope="session")
def mapper(tmp_path_factory):
    """The library that stands for libdevmapper."""
    return preloaded(tmp_path_factory.mktemp("mapper"), "mapperhook")


@pytest.fixture(scope="session")
def swapper(tmp_path_factory):
    """The library that stands for libdevmapper where a table is replaced."""
    return preloaded(tmp_path_factory.mktemp("swapper"), "swaphook")


@pytest.fixture(scope="session")
def requests_hook(tmp_path_factory):
    """The library that lets requests end as they may on a drive."""
    return preloaded(tmp_path_factory.mktemp("requests"), "requesthook")


@pytest.fixture(scope="session")
def syncs(tmp_path_factory):
    """The library that notes what is written to the disk, in their order."""
    return preloaded(tmp_path_factory.mktemp("syncs"), "synchook")


@pytest.fixture
def machine(tmp_path):
    """A machine with one align device, all of whose counters are 0; returns (its root, the folder align/)."""
    device = tmp_path / "sys/devices/virtual/block/dm-0"
    below = tmp_path / "sys/devices/pci0/block/sda"
    align = device / "align"
    for folder in (align, below, device / "dm", device / "queue", tmp_path / "sys/class/block",
                   tmp_path / "sys/dev/block"):
        folder.mkdir(parents=True)
    (tmp_path / "sys/class/block/dm-0").symlink_to(device)
    (tmp_path / "sys/dev/block/253:0").symlink_to(device)
    (tmp_path / "sys/dev/block/8:0").symlink_to(below)
    files = {device / "dev": "253:0", device / "dm/name": "align-sda", device / "inflight": "0 0",
             device / "queue/logical_block_size": 512, align / "epoch": 1,
             align / "suggested_physical_block_size": 0, align / "held_oldest_ms": 0, align / "target0_mode": "pad",
             align / "target0_physical_block_size": 4096, align / "target0_alignment_offset": 0,
             align / "target0_device": "8:0", align / "target0_max_blocks": 64, align / "target0_blocks": 0,
             align / "target0_memory_bytes": 0, align / "target0_hold_ms": 500,
             align / "target0_memory_high_water_bytes": 0}
    for name, kind in COUNTERS:
        files[align / name] = 0
        if kind == "COUNTER":
            files[align / f"baseline_{name}"] = 0
    for name, bins in HISTOGRAMS.items():
        files[align / f"{name}_histogram"] = files[align / f"baseline_{name}_histogram"] = " ".join(["0"] * bins)
    for path, value in files.items():
        path.write_text(f"{value}\n")
    return tmp_path, align
