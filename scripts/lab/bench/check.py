# SPDX-License-Identifier: GPL-2.0
"""How much processor time `alignctl check --format prometheus` takes on a host with many devices: `make bench-check`.

    scripts/python -m lab.bench.check [--disks N] [--volumes N] [--runs N]

The host is made up in a folder that is laid out as sysfs and /dev are: SCSI disks with a DOS table and a partition each, and
volumes of LVM on them, of which each carries an ext4. Nodes of devices are files, so the time has the reading of headers in
it, but not the ioctls of block devices. Every eighth disk has its partition shifted. Prints the median of the runs, with the
spread and the number of series, once with the nodes there and once without, where each device has a finding.
Exit status: 0 all medians within SECONDS, 1 not, 2 it could not run.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from ..paths import OUT, fail

ALIGNCTL = OUT / "bin/alignctl"
DISKS, VOLUMES, RUNS, SECONDS = 24, 200, 9, 0.3
SECTOR, MIB = 512, 1 << 20
DISK_BYTES, VOLUME_BYTES = 64 * MIB, 16 * MIB
ALIGNED, SHIFTED = 2048, 63
PART_SECTORS = 65536


def write(folder: Path, **files: object) -> Path:
    """Write files of one line; two underscores part a folder from the name."""
    for name, value in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    return folder


def device(root: Path, place: str, number: str, size: int, **files: object) -> Path:
    """Make a device of sysfs, at that place below devices/, with links as the kernel has them; return its folder."""
    folder = write(root / "sys/devices" / place, dev=number, size=size // SECTOR, alignment_offset=0, ro=0, **files)
    for name in ("holders", "slaves"):
        (folder / name).mkdir()
    for link in (root / "sys/class/block" / folder.name, root / "sys/dev/block" / number):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(folder, link.parent))
    return folder


def queue(**files: object) -> dict[str, object]:
    return {f"queue__{name}": value for name, value in
            {"logical_block_size": 512, "physical_block_size": 4096, "minimum_io_size": 4096, "optimal_io_size": 0,
             "rotational": 1, "max_sectors_kb": 1280, **files}.items()}


def node(root: Path, name: str, size: int, head: bytes) -> None:
    """Make the file that stands for a device's node; behind its head it is empty."""
    path = root / "dev" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


def table(start: int) -> bytes:
    """Return a DOS table with one partition of Linux."""
    entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + start.to_bytes(4, "little") + PART_SECTORS.to_bytes(4, "little")
    return bytes(446) + entry + bytes(48) + b"\x55\xaa"


def disk_name(index: int) -> str:
    return f"sd{chr(ord('a') + index // 26 - 1) if index >= 26 else ''}{chr(ord('a') + index % 26)}"


def make(root: Path, disks: int, volumes: int, content: bytes) -> None:
    """Make a host up; each volume begins with that content."""
    for index in range(disks):
        name, start = disk_name(index), SHIFTED if index % 8 == 7 else ALIGNED
        folder = device(root, f"pci0/host{index}/{name}", f"8:{16 * index}", DISK_BYTES, **queue(),
                        device__model="ST16000NM001G", device__rev="SN03", device__wwid=f"naa.5000c500{index:08x}",
                        device__scsi_level=5)
        (root / "sys/class/scsi").mkdir(parents=True, exist_ok=True)
        (folder / "device/subsystem").symlink_to(root / "sys/class/scsi")
        device(root, f"pci0/host{index}/{name}/{name}1", f"8:{16 * index + 1}", PART_SECTORS * SECTOR, partition=1, start=start)
        node(root, name, DISK_BYTES, table(start))
        node(root, f"{name}1", PART_SECTORS * SECTOR, b"")
    for index in range(volumes):
        folder = device(root, f"virtual/block/dm-{index}", f"253:{index}", VOLUME_BYTES, **queue(), dm__name=f"vg-lv{index:03}",
                        dm__uuid=f"LVM-{index:064}", dm__suspended=0)
        below = f"{disk_name(index % disks)}1"
        (folder / "slaves" / below).symlink_to(os.path.relpath((root / "sys/class/block" / below).resolve(), folder / "slaves"))
        node(root, f"mapper/vg-lv{index:03}", VOLUME_BYTES, content)
    write(root / "proc", swaps="Filename\tType\tSize\tUsed\tPriority", self__mountinfo="")


def file_system(folder: Path) -> bytes:
    """Return the first MiB of an ext4."""
    path = folder / "ext4"
    with path.open("wb") as file:
        file.truncate(VOLUME_BYTES)
    done = subprocess.run(["mkfs.ext4", "-q", "-F", "-b", "4096", path], capture_output=True, text=True)
    if done.returncode:
        fail(f"mkfs.ext4: {done.stderr.strip()}")
    return path.read_bytes()[:MIB]


def run(root: Path) -> tuple[float, int]:
    """Return the seconds of processor time of a run, and its number of series."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([ALIGNCTL, "check", "--format", "prometheus"], capture_output=True, text=True,
                          env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        fail(f"alignctl check: {done.stderr.strip()}")
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            sum(not line.startswith("#") for line in done.stdout.splitlines()))


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-check", description="Measure alignctl check on a host with many devices.")
    parser.add_argument("--disks", type=int, default=DISKS)
    parser.add_argument("--volumes", type=int, default=VOLUMES)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory(prefix="bench-check-") as name:
        root = Path(name) / "host"
        make(root, given.disks, given.volumes, file_system(Path(name)))
        print(f"{given.disks} disks, {given.volumes} volumes")
        for headers in ("read", "unread"):
            if headers == "unread":
                for path in sorted((root / "dev").rglob("*")):
                    path.unlink() if path.is_file() else None
            runs = [run(root) for _ in range(given.runs)]
            times = [seconds for seconds, _ in runs]
            median = statistics.median(times)
            print(f"  headers {headers:<6} {median:6.3f} s of processor time ({min(times):.3f} to {max(times):.3f}), "
                  f"{runs[0][1]} series{'' if median <= SECONDS else '  NOT MET'}")
            status = status if median <= SECONDS else 1
    return status


if __name__ == "__main__":
    sys.exit(main())
