# SPDX-License-Identifier: GPL-2.0
"""The block of a disk, and its rotation, are kept by the disk's own name, by root only, and complete at any time."""

import json
import os
from datetime import datetime
from types import SimpleNamespace

import pytest

from align_reports.probe import kept
from align_reports.probe.command import rotation_kept
from align_reports.probe.found import Task
from align_reports.probe.kept import NotKept, keep, keep_rotation
from align_reports.probe.rotation import Read, Rotation
from align_reports.probe.statistics import Estimate

DEVICE = "/dev/test"
DEVNO = os.makedev(8, 3)


class Machine:
    """A made-up machine with one disk, of which the device is all or a partition."""

    def __init__(self, root):
        self.root = root
        self.usb = root / "sys/devices/usb1/1-2"
        self.disk = self.usb / "host0/block/sdx"
        self.kept = root / kept.FOLDER
        self.write(self.disk, size=8192)
        self.name(self.disk)

    def write(self, folder, **files):
        for name, value in files.items():
            path = folder / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{value}\n")

    def name(self, folder):
        """Let the device be that folder."""
        link = self.root / "sys/dev/block/8:3"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(folder)

    def documents(self):
        return {path.name: json.loads(path.read_text()) for path in self.kept.iterdir()} if self.kept.exists() else {}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("ALIGNCTL_SYSROOT", str(tmp_path))
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: SimpleNamespace(st_rdev=DEVNO) if path == DEVICE
                        else stat(path, **more))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return Machine(tmp_path)


@pytest.fixture
def task():
    return Task(DEVICE, None, None, 1, None)


def test_what_is_kept_is_what_was_found(machine):
    machine.write(machine.disk, device__wwid="naa.5000c500")
    path = keep(DEVICE, 4096, 3584, "writes, each with a flush", 0.999999)
    assert path == machine.kept / "naa.5000c500.json"
    document = machine.documents()["naa.5000c500.json"]
    assert abs((datetime.now().astimezone() - datetime.fromisoformat(document.pop("time"))).total_seconds()) < 3600
    assert document == {"format": 1, "device": DEVICE, "wwid": "naa.5000c500", "size_bytes": 8192 * 512, "block_size": 4096,
                        "offset": 3584, "method": "writes, each with a flush", "confidence": 0.999999}
    assert path.stat().st_mode & 0o777 == 0o644
    # a later result takes its place, and no draft stays
    keep(DEVICE, 16384, 0, "writes", 0.999999)
    assert [(name, found["block_size"]) for name, found in machine.documents().items()] == [("naa.5000c500.json", 16384)]


def test_a_rotation_is_kept_beside_the_block_as_whole_revolutions(machine):
    machine.write(machine.disk, device__wwid="naa.5000c500")
    keep(DEVICE, 4096, 0, "writes", 0.99)
    path = keep_rotation(DEVICE, Estimate(7178.6, 7160.4, 7269.6), "fullstroke")
    assert path == machine.kept / "rotation/naa.5000c500.json"
    document = json.loads(path.read_text())
    assert datetime.fromisoformat(document.pop("time"))
    assert document == {"format": 1, "device": DEVICE, "wwid": "naa.5000c500", "size_bytes": 8192 * 512, "rpm": 7179,
                        "rpm_least": 7160, "rpm_most": 7270, "method": "fullstroke"}
    assert (machine.kept / "naa.5000c500.json").exists()


# Turns of 8333 us from one place to another and back, of a disk and of an SSD.
TURNS = [Read(at << 24, at + way << 24, 4000 + (way * at * 997) % 8333) for way in (1, -1) for at in range(1, 400)]
STILL = [Read(None, at << 24, 100.0 + at % 7) for at in range(1, 400)]


@pytest.mark.parametrize("reads, rpm", [(TURNS, 7200), (STILL, 0)])
def test_what_a_method_tells_of_the_rotation_is_kept_and_said_so(machine, task, reads, rpm):
    machine.write(machine.disk, wwid="w")
    found = Rotation().found(task, reads)
    assert (found.document["kept"], found.document["not_kept"]) == (None, None)
    told = rotation_kept(DEVICE, "rotation", found.rotation, found)
    path = machine.kept / "rotation/w.json"
    assert abs(json.loads(path.read_text())["rpm"] - rpm) <= rpm / 100
    assert (told.document["kept"], told.document["not_kept"]) == (str(path), None)
    assert told.words == [*found.words, f"kept in {path}, for check and fleet"]


def test_a_rotation_that_cannot_be_kept_has_the_reason(machine, task):
    found = Rotation().found(task, TURNS)
    told = rotation_kept(DEVICE, "rotation", found.rotation, found)
    assert told.document["kept"] is None and "neither a wwid nor a serial" in told.document["not_kept"]
    assert told.words[-1] == f"not kept: {told.document['not_kept']}"


def test_times_that_tell_no_rotation_leave_nothing_to_keep(task):
    assert Rotation().found(task, TURNS[:20]).rotation is None


@pytest.mark.parametrize("files, name", [
    ({"wwid": "eui.0025 38", "device__wwid": "other"}, "eui.0025 38"), ({"device__wwid": "t10.ATA  A/b"}, "t10.ATA  A/b"),
    ({"wwid": "", "serial": "S-1"}, "serial-S-1"), ({"device__serial": "QM_7"}, "serial-QM_7")])
def test_a_disk_is_known_by_its_wwid_or_else_by_its_serial_number(machine, files, name):
    machine.write(machine.disk, **files)
    machine.write(machine.usb, idVendor="1058", serial="of the bridge")
    keep(DEVICE, 4096, 0, "writes", 0.99)
    [(file, document)] = machine.documents().items()
    assert document["wwid"] == name and file == name.translate({ord(" "): "_", ord("/"): "_"}) + ".json"


def test_a_disk_behind_usb_has_the_serial_number_of_its_bridge_and_not_of_the_hub(machine):
    machine.write(machine.usb.parent, idVendor="1d6b", serial="hub")
    machine.write(machine.usb, idVendor="1058")
    with pytest.raises(NotKept, match="neither a wwid nor a serial"):
        keep(DEVICE, 4096, 0, "writes", 0.99)
    machine.write(machine.usb, serial="WX61")
    keep(DEVICE, 4096, 0, "writes", 0.99)
    assert list(machine.documents()) == ["serial-WX61.json"]


def test_the_offset_of_a_partition_is_told_of_its_disk(machine):
    machine.write(machine.disk, wwid="w")
    machine.write(machine.disk / "sdx1", partition=1, start=63, size=100)
    machine.name(machine.disk / "sdx1")
    keep(DEVICE, 4096, 512, "writes", 0.99)
    document = machine.documents()["w.json"]
    assert document["offset"] == (63 * 512 + 512) % 4096 == 0 and document["size_bytes"] == 8192 * 512


@pytest.mark.parametrize("size, user, why", [(2097152, 0, "at most 1048576 bytes"), (4096, 1000, "only root")])
def test_what_cannot_be_used_or_was_not_found_by_root_is_not_kept(machine, monkeypatch, size, user, why):
    machine.write(machine.disk, wwid="w")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with pytest.raises(NotKept, match=why):
        keep(DEVICE, size, 0, "writes", 0.99)
    assert not machine.documents()


@pytest.mark.parametrize("keeps", [lambda path: keep(path, 4096, 0, "writes", 0.9),
                                   lambda path: keep_rotation(path, Estimate(7200, 7190, 7210), "rotation")])
def test_a_disk_that_has_gone_meanwhile_is_not_kept(machine, tmp_path, keeps):
    with pytest.raises(NotKept, match="gone: No such file or directory"):
        keeps(f"{tmp_path}/gone")
    assert not machine.documents()


def test_a_file_is_no_disk(machine, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotKept, match="disk that it lies on"):
        keep(str(tmp_path / "file"), 4096, 0, "writes", 0.99)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_earlier_result_and_says_why(machine, monkeypatch, step):
    machine.write(machine.disk, wwid="w")
    keep(DEVICE, 4096, 0, "writes", 0.99)

    def fail(*_):
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(NotKept, match="w.json: No space left on device"):
        keep(DEVICE, 16384, 0, "writes", 0.99)
    assert {name: found["block_size"] for name, found in machine.documents().items()} == {"w.json": 4096}
