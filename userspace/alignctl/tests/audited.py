# SPDX-License-Identifier: GPL-2.0
"""What the tests of check share: running it, and machines made up in sysfs."""

import json
import os
import subprocess

from alignctl_program import alignctl
from lab.pace import patience

FINE, FINDINGS = 0, 1
SECTOR = 512
MIB = 1 << 20
DISK_SECTORS = 65536
DISK_BYTES = DISK_SECTORS * SECTOR
# A made-up USB bridge, and the file of what was probed of it.
BRIDGE = "t10.Made up bridge/1"
KEPT = "var/lib/alignctl/probed/t10.Made_up_bridge_1.json"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=patience(60), check=False,
                          **options)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def check(*arguments, by=alignctl, **options):
    """
    (The findings that count, those that are notes, the devices), as {device: {finding: its row}} and {device: row}; @by
    runs alignctl.
    """
    done = by("check", *arguments, "--json", **options)
    assert done.returncode in (FINE, FINDINGS), done.stderr
    document = json.loads(done.stdout)
    faults, notes = {}, {}
    for row in document["findings"]:
        (notes if row["note"] else faults).setdefault(row["device"], {})[row["finding"]] = row
    assert done.returncode == (FINDINGS if faults else FINE)
    return faults, notes, {row["name"]: row for row in document["devices"]}


def sparse(path, size):
    with open(path, "wb") as file:
        file.truncate(size)
    return path


class Machine:
    """A machine made up in sysfs, whose device nodes are files."""

    def __init__(self, root):
        self.root = root
        for folder in ("sys/block", "sys/class/block", "sys/dev/block", "proc/self", "dev/mapper"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "proc/self/mountinfo").write_text("")
        (root / "proc/swaps").write_text("Filename\tType\tSize\tUsed\tPriority\n")

    def write(self, path, **files):
        for name, value in files.items():
            file = path / name.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{value}\n")

    def device(self, name, number, *, parent="pci0", bytes_=DISK_SECTORS * SECTOR, offset=0, slaves=(), **files):
        path = self.root / "sys/devices" / parent / name
        path.mkdir(parents=True)
        self.write(path, dev=f"{number[0]}:{number[1]}", size=bytes_ // SECTOR, alignment_offset=offset, ro=0, removable=0,
                   **files)
        for link in ("sys/class/block", "sys/dev/block", *([] if "partition" in files else ["sys/block"])):
            link = self.root / link / (f"{number[0]}:{number[1]}" if "dev" in link else name)
            link.symlink_to(os.path.relpath(path, link.parent))
        (path / "holders").mkdir()
        (path / "slaves").mkdir()
        for slave in slaves:
            (path / "slaves" / slave).symlink_to(os.path.relpath((self.root / "sys/class/block" / slave).resolve(),
                                                                 path / "slaves"))
            (self.root / "sys/class/block" / slave / "holders" / name).symlink_to(
                os.path.relpath(path, (self.root / "sys/class/block" / slave).resolve() / "holders"))
        sparse(self.root / "dev" / files.get("dm__name", name).replace("vg-", "mapper/vg-"), bytes_)
        return path

    def disk(self, name, number, *, logical=512, physical=4096, io_min=None, rotational=1, max_kb=1280, **more):
        return self.device(name, number, queue__logical_block_size=logical, queue__physical_block_size=physical,
                           queue__minimum_io_size=io_min or physical, queue__optimal_io_size=0, queue__rotational=rotational,
                           queue__max_sectors_kb=max_kb, **more)

    def check(self, *arguments):
        return check(*arguments, env={**os.environ, "ALIGNCTL_SYSROOT": str(self.root)})

    def lsblk(self):
        """{name: what lsblk -t says}."""
        out = run("lsblk", "--sysroot", self.root, "--json", "--bytes", "--list", "-o",
                  "NAME,ALIGNMENT,MIN-IO,OPT-IO,PHY-SEC,LOG-SEC")
        return {row["name"]: row for row in json.loads(out)["blockdevices"]}


def keep_probed(root, **figures):
    """Keep a result of `alignctl probe block-size` for the bridge on a made-up machine."""
    file = root / KEPT
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"format": 1, "device": "/dev/sde", "wwid": BRIDGE, "size_bytes": DISK_BYTES,
                                "block_size": 4096, "offset": 3584, "method": "timed writes", "confidence": 0.95,
                                "time": "2026-11-26T10:00:00Z"} | figures))


def rates(disk, word=None, page=None):
    """Lay the pages with a drive's Identify data and with its rotation rate beside a disk of a made-up machine."""
    (disk / "device").mkdir(exist_ok=True)
    if word is not None:
        identify = bytearray(572)
        identify[1] = 0x89
        identify[60 + 434:60 + 436] = word.to_bytes(2, "little")
        (disk / "device/vpd_pg89").write_bytes(identify)
    if page is not None:
        (disk / "device/vpd_pgb1").write_bytes(bytes([0, 0xb1, 0, 60]) + page.to_bytes(2, "big") + bytes(58))
