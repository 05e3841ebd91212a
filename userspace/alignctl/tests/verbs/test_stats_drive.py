# SPDX-License-Identifier: GPL-2.0
"""stats --drive: the drives below a device and their own counts, on a made-up machine whose NVMe drives hooks/drivehook.c is."""

import errno
import json
import os

import pytest

from alignctl_program import BINS, alignctl, put, tables
from audited import Machine
from watched import Watched

FINE, FINDINGS, USAGE = 0, 1, 2
GUID = 0xAFD514C97C6F4F9CA4F2BFEA2810AFC5
DO_NOT_RETRY = 0x4000
HEADINGS = ["DRIVE", "KIND", "UNALIGNED", "MEDIA-WRITTEN", "PAGE", "REASON"]
SILENT = {"unaligned_io": None, "media_bytes_written": None, "log_page_version": None}


def page(unaligned=0, media=0, version=3, guid=GUID):
    """A log page C0h."""
    content = bytearray(512)
    content[:16] = media.to_bytes(16, "little")
    content[136:144] = unaligned.to_bytes(8, "little")
    content[494:496] = version.to_bytes(2, "little")
    content[496:] = guid.to_bytes(16, "little")
    return b"page\n" + content


def says(drive, unaligned, media, version=3):
    return {"drive": drive, "kind": "NVMe", "unaligned_io": unaligned, "media_bytes_written": media,
            "log_page_version": version, "reason": None, "explanation": None}


class Drives(Machine):
    """A machine with an align device on a partition of an NVMe drive."""

    def __init__(self, root, align, hook):
        super().__init__(root)
        self.align, self.hook, self.log = align, hook, root / "commands"
        self.drive("nvme0n1", (259, 0), "nvme", page(unaligned=12345, media=5 << 40))
        self.device("nvme0n1p1", (259, 1), parent="pci0/nvme0n1", partition=1, start=2048)
        self.put("dm-0", size=4096)
        (align.parent / "slaves/nvme0n1p1").mkdir(parents=True)

    def put(self, name, **files):
        self.write((self.root / "sys/class/block" / name).resolve(), **files)

    def drive(self, name, number, subsystem, answer=b"", **files):
        """A disk that is attached by a subsystem, and what it answers."""
        device = self.disk(name, number, **files) / "device"
        device.mkdir(exist_ok=True)
        place = self.root / "sys/class" / subsystem
        place.mkdir(parents=True, exist_ok=True)
        (device / "subsystem").symlink_to(place)
        (self.root / "dev" / name).write_bytes(answer)

    def stats(self, *arguments, status=FINE):
        done = alignctl("stats", *arguments, env={**os.environ, "ALIGNCTL_SYSROOT": str(self.root),
                                                  "LD_PRELOAD": str(self.hook), "DRIVEHOOK": str(self.log)})
        assert done.returncode == status, done.stderr
        return done

    def document(self, *names):
        done = self.stats("--drive", "--json", *names)
        assert not done.stderr
        return json.loads(done.stdout)

    def asked(self):
        """How many commands the drives got."""
        return len(self.log.read_bytes()) if self.log.exists() else 0


@pytest.fixture
def drives(machine, hook):
    return Drives(*machine, hook)


@pytest.fixture
def stack(drives):
    """md0 of nvme1n1, which has two paths, and sda; and a volume on md0 and a partition of nvme0n1."""
    drives.drive("nvme1n1", (259, 2), "nvme-subsystem", page(unaligned=(1 << 64) - 1, media=1 << 64, version=6))
    drives.drive("sdb", (8, 16), "scsi", device__vendor="ATA")
    drives.disk("md0", (9, 0), parent="virtual/block", slaves=["nvme1n1", "sdb"], md__level="raid1")
    drives.disk("dm-1", (253, 1), parent="virtual/block", slaves=["md0", "nvme0n1p1"], dm__name="vg-a", dm__uuid="LVM-1")
    return drives


def test_an_align_device_has_the_count_of_its_drive_in_its_document(drives):
    plain, document = json.loads(drives.stats("--json").stdout), drives.document()
    assert list(document) == ["format", "devices", "others"] and document["others"] == []
    [device], [before] = document["devices"], plain["devices"]
    assert device.pop("drives") == [says("nvme0n1", 12345, 5 << 40)]
    assert device == before and list(plain) == ["format", "devices"]


def test_people_have_it_below_the_ledger(drives):
    plain, shown = drives.stats("align-sda").stdout, drives.stats("--drive", "align-sda").stdout
    assert shown.startswith(plain) and plain.startswith("align-sda (dm-0), epoch 1\n")
    heading, row = shown.removeprefix(plain).splitlines()
    assert heading.split() == HEADINGS and row.split() == ["nvme0n1", "NVMe", "12345", "5", "TiB", "3", "-"]


def test_without_the_option_no_drive_is_asked(drives):
    for words in ([], ["--json"], ["--histograms"], ["--format", "prometheus"]):
        drives.stats(*words)
    assert not drives.asked()
    drives.stats("--drive")
    assert drives.asked() == 1


@pytest.mark.parametrize("name, below", [
    ("nvme0n1", ["nvme0n1"]), ("/dev/nvme0n1p1", ["nvme0n1"]), ("md0", ["nvme1n1", "sdb"]), ("sdb", ["sdb"]),
    ("dm-1", ["nvme0n1", "nvme1n1", "sdb"])])
def test_the_drives_below_any_block_device_are_found(stack, name, below):
    document = stack.document(name)
    [device] = document["others"]
    assert document["devices"] == [] and device["name"] == name.removeprefix("/dev/")
    assert sorted(drive["drive"] for drive in device["drives"]) == below


def test_each_drive_is_asked_once_and_nothing_is_written(stack):
    """That no other command is sent, and no node opened for writing, the hook sees to."""
    before = {path: path.read_bytes() for path in (stack.root / "dev").glob("nvme*")}
    document = stack.document("align-sda", "nvme0n1", "dm-1", "md0")
    assert len(document["devices"]) == 1 and len(document["others"]) == 3 and stack.asked() == 2
    assert {path: path.read_bytes() for path in before} == before


def test_a_count_of_64_bits_is_whole_and_one_that_has_more_is_null(stack):
    [device] = stack.document("nvme1n1")["others"]
    assert device["drives"] == [says("nvme1n1", (1 << 64) - 1, None, 6)]


NOT_NVME = "only NVMe drives have such a count"
SILENCES = [
    ("ATA", "scsi", {"device__vendor": "ATA     "}, b"", "not-nvme", NOT_NVME),
    ("SCSI", "scsi", {"device__vendor": "QEMU"}, b"", "not-nvme", NOT_NVME),
    ("virtio", "virtio", {}, b"", "not-nvme", NOT_NVME),
    ("NVMe", "nvme", {}, b"status %d\n" % (0x109 | DO_NOT_RETRY), "not-supported", "log page C0h is not supported"),
    ("NVMe", "nvme", {}, b"status %d\n" % (0x002 | DO_NOT_RETRY), "not-supported", "log page C0h is not supported"),
    ("NVMe", "nvme", {}, b"status %d\n" % 0x006, "failed", "{node}: NVMe status 006h"),
    ("NVMe", "nvme", {}, b"errno %d\n" % errno.EACCES, "not-permitted", "not permitted, needs root"),
    ("NVMe", "nvme", {}, b"errno %d\n" % errno.EPERM, "not-permitted", "not permitted, needs root"),
    ("NVMe", "nvme", {}, b"errno %d\n" % errno.EIO, "failed", "{node}: Input/output error"),
    ("NVMe", "nvme", {}, None, "failed", "{node}: No such file or directory"),
    ("NVMe", "nvme", {}, b"page\n", "empty-page", "its log page C0h is empty"),
    ("NVMe", "nvme", {}, page(7, 7, guid=GUID ^ 1), "other-page", "its log page C0h is not that of OCP"),
    ("NVMe", "nvme", {}, page(7, 7)[:300], "other-page", "its log page C0h is not that of OCP"),
    ("NVMe", "nvme", {}, page(7, 7, version=7), "unknown-version", "its log page C0h has the unknown version 7"),
]


@pytest.mark.parametrize("kind, subsystem, files, answer, reason, words", SILENCES,
                         ids=[f"{case[0]}-{case[4]}-{number}" for number, case in enumerate(SILENCES)])
def test_a_drive_that_does_not_say_is_no_error_and_has_the_reason(drives, kind, subsystem, files, answer, reason, words):
    drives.drive("new", (259, 9), subsystem, answer or b"", **files)
    if answer is None:
        (drives.root / "dev/new").unlink()
    words = f"this drive does not say: {words.format(node=drives.root / 'dev/new')}"
    [device] = drives.document("new")["others"]
    version = {"log_page_version": 7} if reason == "unknown-version" else {}
    assert device == {"name": "new", "drives": [
        {"drive": "new", "kind": kind, **SILENT, **version, "reason": reason, "explanation": words}]}
    done = drives.stats("new", "--drive")
    [row] = tables(done.stdout, "DRIVE")
    assert not done.stderr and (row["UNALIGNED"], row["MEDIA-WRITTEN"], row["REASON"]) == ("-", "-", words)


def test_a_stack_that_ends_on_no_drive_says_so(drives):
    drives.disk("dm-2", (253, 2), parent="virtual/block", dm__name="zeroes", dm__uuid="")
    drives.disk("ram0", (1, 0), parent="virtual/block")
    found = {device["name"]: (device["drives"][0]["kind"], device["drives"][0]["reason"])
             for device in drives.document("dm-2", "ram0")["others"]}
    assert found == {"dm-2": ("dm", "no-drive"), "ram0": ("virtual", "not-nvme")}


def test_a_finding_stays_one_and_a_silent_drive_is_none(drives):
    (drives.root / "dev/nvme0n1").write_bytes(b"errno 13\n")
    drives.stats("--drive", status=FINE)
    drives.put("dm-0", align__rmw_expected=3)
    assert "does not balance" in drives.stats("--drive", status=FINDINGS).stderr


def test_what_is_no_block_device_is_refused(drives):
    done = drives.stats("--drive", "align-sda", "align-sdb", status=USAGE)
    assert not done.stdout and not drives.asked()
    assert done.stderr == ("alignctl: align-sdb: neither an align device nor a block device; see 'alignctl list' and lsblk\n")


def test_a_saved_document_can_be_compared(drives, tmp_path):
    before = tmp_path / "before.json"
    before.write_text(drives.stats("--drive", "--json").stdout)
    [compared] = json.loads(drives.stats("--compare", before, "--json").stdout)["comparisons"]
    assert compared["name"] == "align-sda"


def phases(**counts):
    """Writes that begin at 0, 512, ... in their block."""
    return " ".join(str(counts.get(f"at{512 * bin}", 0)) for bin in range(BINS["phase"]))


def witnessed(drives, *readings, json_=True):
    """What is printed of intervals between readings, of (page, ledger)."""
    with Watched(drives.root, drives.align, "--drive", "--interval", "1", str(len(readings) - 1), *(["--json"] if json_ else []),
                 LD_PRELOAD=str(drives.hook), DRIVEHOOK=str(drives.log)) as watched:
        for answer, ledger in readings:
            with watched.before_reading():
                put(drives.align, **ledger)
                (drives.root / "dev/nvme0n1").write_bytes(answer)
        out, _ = watched.end()
    if not json_:
        return out
    return [json.loads(line)["devices"][0] for line in out.splitlines()]


BEGUN = {"phase_histogram": phases(at0=7, at512=100, at2048=50), "target0_mode": "report"}
GROWN = {"phase_histogram": phases(at0=99, at512=500, at2048=650)}


@pytest.mark.parametrize("counted, confirmed", [(1000, True), (1010, True), (990, True), (1011, None), (0, None)])
def test_a_drive_that_counts_the_same_writes_confirms_the_ledger(drives, counted, confirmed):
    [device] = witnessed(drives, (page(700, 4 << 20), BEGUN), (page(700 + counted, 9 << 20), GROWN))
    assert device["interval"] and device["drives"] == [
        {"drive": "nvme0n1", "kind": "NVMe", "unaligned_io": counted, "inside_writes": 1000, "media_bytes_written": 5 << 20,
         "confirmed": confirmed, "reason": None if confirmed else "short",
         "explanation": None if confirmed else
         "the counts differ, but the drive's may be ten minutes old: count for longer"}]


def test_each_interval_has_what_was_counted_in_it(drives):
    more = {"phase_histogram": phases(at0=99, at512=600, at2048=650)}
    first, second = witnessed(drives, (page(0), BEGUN), (page(1000), GROWN), (page(1100), more))
    assert [device["drives"][0]["unaligned_io"] for device in (first, second)] == [1000, 100]
    assert [device["drives"][0]["confirmed"] for device in (first, second)] == [True, True]


@pytest.mark.parametrize("before, now, ledger, reason", [
    (page(9000), page(3), GROWN, "restarted"), (b"errno 13\n", page(1000), GROWN, "not-asked-before"),
    (page(0), b"errno 13\n", GROWN, "not-permitted"), (page(0), page(1000), GROWN | {"target0_mode": "pad"}, "mode"),
    (page(5), page(5), BEGUN, "nothing-counted")],
    ids=["restarted", "not-asked-before", "not-permitted", "mode", "nothing-counted"])
def test_counts_that_cannot_be_compared_confirm_nothing_and_have_the_reason(drives, before, now, ledger, reason):
    [device] = witnessed(drives, (before, BEGUN), (now, ledger))
    [row] = device["drives"]
    assert (row["confirmed"], row["reason"]) == (None, reason) and row["explanation"]
    known = reason in ("mode", "nothing-counted")
    assert (row["unaligned_io"] is not None) == (row["media_bytes_written"] is not None) == known


def test_of_several_drives_none_confirms(drives):
    drives.drive("nvme1n1", (259, 2), "nvme", page(unaligned=1))
    (drives.align.parent / "slaves/nvme1n1").mkdir()
    [device] = witnessed(drives, (page(0), BEGUN), (page(1000), GROWN))
    assert [row["reason"] for row in device["drives"]] == ["several-drives", "several-drives"]


def test_people_have_the_witness_below_the_interval(drives):
    shown = witnessed(drives, (page(700, 0), BEGUN), (page(1700, 5 << 20), GROWN), json_=False)
    assert len(tables(shown, "TIME")) == 1
    [row] = tables(shown, "DRIVE")
    assert {key: row[key] for key in ("DRIVE", "UNALIGNED", "LEDGER", "MEDIA-WRITTEN", "CONFIRMED", "REASON")} == {
        "DRIVE": "nvme0n1", "UNALIGNED": "1000", "LEDGER": "1000", "MEDIA-WRITTEN": "5 MiB", "CONFIRMED": "yes", "REASON": "-"}
