# SPDX-License-Identifier: GPL-2.0
"""The unit of a drive by its own words, on a made-up machine whose drives hooks/drivehook.c answers for."""

import errno
import os

import pytest

from alignctl_program import alignctl
from audited import Machine, check

DRIVE = {"source": "drive", "origin": None, "unread": None}


def namespace(features=0x10, npwg=7, npdg=15, nows=255, nawupf=0):
    """Identify Namespace with LBAs of 512 bytes; counts are less one."""
    content = bytearray(4096)
    content[24] = features
    for at, count in ((36, nawupf), (64, npwg), (68, npdg), (72, nows)):
        content[at:at + 2] = count.to_bytes(2, "little")
    content[130] = 9
    return b"page\n" + content


def controller(awupf):
    content = bytearray(4096)
    content[528:530] = awupf.to_bytes(2, "little")
    return b"page\n" + content


def capacity(exponent):
    content = bytearray(32)
    content[8:12] = (512).to_bytes(4, "big")
    content[13] = exponent
    return b"page\n" + content


class Drive:
    """A machine with one disk, attached by a subsystem."""

    def __init__(self, root, hook):
        self.machine, self.hook, self.answers = Machine(root), hook, root / "answers"
        self.answers.mkdir()

    def disk(self, name, subsystem, **files):
        path = self.machine.disk(name, (8, 0), **files)
        (path / "device").mkdir(exist_ok=True)
        place = self.machine.root / "sys/class" / subsystem
        place.mkdir(parents=True)
        (path / "device/subsystem").symlink_to(place)

    def unit(self, **answers):
        """The only disk's notes and unit, as check has them."""
        for name, answer in answers.items():
            (self.answers / name.replace("_", "-")).write_bytes(answer)
        faults, notes, devices = check(by=lambda *words, **_: alignctl(*words, env={
            **os.environ, "ALIGNCTL_SYSROOT": str(self.machine.root), "LD_PRELOAD": str(self.hook),
            "DRIVEHOOK_ANSWERS": str(self.answers)}))
        assert not faults
        (device,) = devices.values()
        return next(iter(notes.values()), {}), device["unit"]


@pytest.fixture
def drive(tmp_path, hook):
    return Drive(tmp_path, hook)


def claims(unit):
    return [(claim["figure"], claim["bytes"], claim["confidence"], claim["states"], claim["unread"])
            for claim in unit["claims"] if claim["source"] == "drive"]


def test_a_namespace_states_npwg_and_hints_at_the_rest(drive):
    drive.disk("nvme0n1", "nvme", rotational=0, nsid=1)
    notes, unit = drive.unit(identify_0=namespace(), identify_1=controller(7))
    assert claims(unit) == [("NPWG", 4096, "medium", True, None), ("NPDG", 8192, "low", False, None),
                            ("NOWS", 131072, "low", False, None), ("AWUPF", 4096, "low", False, None)]
    assert (unit["bytes"], unit["source"], unit["contradicted"], notes) == (4096, "drive", False, {})
    assert [claim["origin"] for claim in unit["claims"] if claim["source"] == "kernel"] == \
        ["NPWG, but at most what is written atomically", "NPWG"]


def test_an_indirection_unit_that_the_kernel_passes_on_is_no_contradiction(drive):
    drive.disk("nvme0n1", "nvme-subsystem", rotational=0, nsid=1, io_min=65536)
    notes, unit = drive.unit(identify_0=namespace(features=0x12, npwg=127, nawupf=7))
    assert claims(unit)[-1] == ("NAWUPF", 4096, "low", False, None)
    assert (unit["bytes"], unit["contradicted"], set(notes)) == (65536, False, {"large-unit"})


def test_one_that_the_kernel_does_not_know_is(drive):
    drive.disk("nvme0n1", "nvme", rotational=0, nsid=1)
    notes, unit = drive.unit(identify_0=namespace(npwg=31), identify_1=controller(0))
    assert (unit["bytes"], unit["source"], unit["contradicted"]) == (16384, "drive", True)
    assert notes["unit"]["text"] == ("sources disagree about its unit: drive (NPWG) 16384, kernel (physical_block_size) 4096; "
                                     "check judges by 4096")


@pytest.mark.parametrize("answer, said", [
    (f"errno {errno.EACCES}", "not permitted, needs root"),
    ("status 2", "the drive does not support the page"),
    ("status 6", "NVMe status 006h"),
    ("page\n", "Identify Namespace gives no possible logical block"),
])
def test_what_could_not_be_read_is_said(drive, answer, said):
    drive.disk("nvme0n1", "nvme", rotational=0, nsid=1)
    _, unit = drive.unit(identify_0=answer.encode())
    ((figure, size, _, states, unread),) = claims(unit)
    assert (figure, size, states) == ("NPWG", None, False) and unread.endswith(said)
    assert (unit["bytes"], unit["source"]) == (4096, "kernel")


def test_a_scsi_disk_is_asked_for_its_capacity(drive):
    drive.disk("sda", "scsi", physical=512, device__scsi_level=7)
    notes, unit = drive.unit(capacity=capacity(3))
    assert claims(unit) == [("READ CAPACITY(16)", 4096, "medium", True, None)]
    assert (unit["bytes"], set(notes)) == (4096, {"unit"})
    _, unit = drive.unit(capacity=b"status 2")
    assert claims(unit)[0][1] is None and claims(unit)[0][4].endswith("READ CAPACITY(16) failed with SCSI status 02h")


@pytest.mark.parametrize("parent, level, said", [
    ("pci0", 5, "not asked, as the disk is older than the command"),
    ("pci0/usb1", 7, "not asked, as some USB bridges hang then"),
])
def test_a_disk_that_might_not_bear_the_question_is_not_asked(drive, parent, level, said):
    drive.disk("sda", "scsi", parent=parent, physical=512, device__scsi_level=level)
    _, unit = drive.unit()
    assert claims(unit) == [("READ CAPACITY(16)", None, "low", False, said)] and unit["bytes"] == 512
