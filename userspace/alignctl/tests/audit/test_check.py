# SPDX-License-Identifier: GPL-2.0
"""check: images that the usual tools have made, and machines made up in sysfs, beside what lsblk and parted say of them."""

import os
import re
import shutil
import struct
import subprocess
from types import SimpleNamespace

import pytest

from align_reports.probe import kept
from alignctl_program import alignctl
from audited import BRIDGE, DISK_BYTES, DISK_SECTORS, FINDINGS, FINE, KEPT, MIB, SECTOR, Machine, check, keep_probed, run, sparse
from lab.pace import patience
from lab.paths import REPO

USAGE, IO = 2, 3
START = 2048
PART_SECTORS = 16384
UNALIGNED = "partition-start"


def partitioned(path, parts, *, label="gpt"):
    """An image by sfdisk with partitions (start, size) in sectors."""
    sparse(path, DISK_SECTORS * SECTOR)
    run("sfdisk", "--quiet", path, input=f"label: {label}\n" + "".join(f"start={start}, size={size}\n"
                                                                      for start, size in parts))
    return path


def carry(image, start, content):
    """Puts the headers of a file, its first MiB, into a partition."""
    with open(content, "rb") as source, open(image, "r+b") as target:
        target.seek(start * SECTOR)
        target.write(source.read(MIB))


def parted_aligned(image, number, kind):
    done = subprocess.run(["parted", "--script", str(image), "align-check", kind, str(number)], capture_output=True,
                          timeout=patience(20), check=False)
    return done.returncode == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What a partition may carry: {name: a file that the usual tool has made}."""
    folder = tmp_path_factory.mktemp("made")
    size = PART_SECTORS * SECTOR
    commands = {
        "ext4": ["mkfs.ext4", "-q", "-F", "-b", "4096"], "ext4-1k": ["mkfs.ext4", "-q", "-F", "-b", "1024"],
        "ext2": ["mkfs.ext2", "-q", "-F", "-b", "4096"], "ext3-2k": ["mkfs.ext3", "-q", "-F", "-b", "2048"],
        "xfs": ["mkfs.xfs", "-q", "-s", "size=4096"], "xfs-512": ["mkfs.xfs", "-q", "-s", "size=512"],
        "btrfs": ["mkfs.btrfs", "-q", "-s", "4096"], "vfat": ["mkfs.vfat", "-s", "8"],
        "vfat-512": ["mkfs.vfat", "-F", "32", "-s", "1"], "vfat-shifted": ["mkfs.vfat", "-F", "12", "-s", "8", "-r", "160", "-a"],
        "minix": ["mkfs.minix"], "bfs": ["mkfs.bfs"], "exfat": ["mkfs.exfat", "--cluster-size=32768"],
        "exfat-512": ["mkfs.exfat", "--cluster-size=512"], "ntfs": ["mkntfs", "-F", "-q"],
        "ntfs-512": ["mkntfs", "-F", "-q", "--cluster-size", "512"], "f2fs": ["mkfs.f2fs", "-q"],
        "swap": ["mkswap", "--quiet"],
        "luks1": ["cryptsetup", "luksFormat", "--type", "luks1", "--pbkdf-force-iterations", "1000"],
        "luks2": ["cryptsetup", "luksFormat", "--type", "luks2", "--sector-size", "4096"],
        "luks2-512": ["cryptsetup", "luksFormat", "--type", "luks2", "--sector-size", "512"],
        # of LUKS 2 cryptsetup refuses an odd one
        "luks1-shifted": ["cryptsetup", "luksFormat", "--type", "luks1", "--pbkdf-force-iterations", "1000",
                          "--align-payload", "4099"],
    }
    for name, command in commands.items():
        file = sparse(folder / name, 320 * MIB if "xfs" in name else 128 * MIB if name in ("btrfs", "f2fs")
                      else 24 * MIB if "luks" in name else 48 * MIB if name == "vfat-512" else size)
        if command[0] == "cryptsetup":
            if "luks2" in name:
                command += ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"]
            run(*command, "--batch-mode", file, "-", input="a pass phrase")
        else:
            run(*command, file)
    return folder


# The table of the partition, its first sector, the drive; what must be found.
SHAPES = [(label, shift, physical, offset) for label in ("gpt", "dos") for shift in (0, 1, 5)
          for physical, offset in ((512, 0), (4096, 0), (4096, 3584))]


@pytest.mark.parametrize("label, shift, physical, offset", SHAPES)
def test_a_partition_of_sfdisk_is_judged_by_its_start(tmp_path, label, shift, physical, offset):
    image = partitioned(tmp_path / "disk", [(START + shift, PART_SECTORS)], label=label)
    faults, _, devices = check(image, "--physical", physical, "--offset", offset)
    into = ((START + shift) * SECTOR - offset) % physical
    part = devices[f"{image}:1"]
    assert (UNALIGNED in faults.get(f"{image}:1", {})) == (into != 0)
    assert (part["start_bytes"], part["end_bytes"], part["shift_bytes"]) == (
        (START + shift) * SECTOR, (START + shift + PART_SECTORS) * SECTOR, into)
    assert devices[str(image)]["content"]["partition_table"] == label


@pytest.mark.parametrize("label", ["gpt", "msdos"])
def test_what_parted_calls_unaligned_is_found(tmp_path, label):
    """Of an image it knows no geometry and demands whole MiB: what is aligned for it must be so here, and what it refuses
    is a fault unless it lies on a physical block, as sector 2056."""
    image = sparse(tmp_path / "disk", DISK_SECTORS * SECTOR)
    starts = [2048, 8193, 16389, 24584]
    run("parted", "--script", image, "mklabel", label)
    for number, start in enumerate(starts, 1):
        name = "primary" if label == "msdos" else f"p{number}"
        run("parted", "--script", "--align", "none", image, "mkpart", name, f"{start}s", f"{start + 4095}s")
    faults, _, _ = check(image)
    for number, start in enumerate(starts, 1):
        unaligned = UNALIGNED in faults.get(f"{image}:{number}", {})
        assert unaligned == (start % 8 != 0)
        assert unaligned <= (not parted_aligned(image, number, "optimal"))
    # parted, asked for whole blocks, has nothing to say against sector 24584
    assert not parted_aligned(image, 4, "optimal") and parted_aligned(image, 4, "minimal")


def test_the_command_that_it_gives_mends_a_partition(tmp_path, made):
    image = partitioned(tmp_path / "disk", [(4097, PART_SECTORS), (4097 + PART_SECTORS, PART_SECTORS)])
    carry(image, 4097, made / "ext4")
    faults, _, _ = check(image)
    assert faults[f"{image}:1"][UNALIGNED]["command"] == f"echo '-1,' | sfdisk --move-data {image} -N 1"
    for number in (1, 2):
        command = check(image)[0][f"{image}:{number}"][UNALIGNED]["command"]
        run("sh", "-c", command, cwd=tmp_path)
    faults, _, devices = check(image)
    assert not faults
    # with its content, which came along
    assert devices[f"{image}:1"]["content"]["type"] == "ext4" and devices[f"{image}:1"]["start_bytes"] == 2 * MIB


def test_a_hybrid_mbr_is_not_left_behind_by_a_command(tmp_path):
    """sfdisk would write the GPT only, and the entry in the MBR would lead to where the partition was."""
    image = partitioned(tmp_path / "disk", [(START + 1, PART_SECTORS)])
    assert check(image)[0][f"{image}:1"][UNALIGNED]["command"]
    with open(image, "r+b") as file:
        file.seek(446 + 16)
        file.write(struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x0c, b"\xff\xff\xff", START + 1, PART_SECTORS))
    row = check(image)[0][f"{image}:1"][UNALIGNED]
    assert row["command"] is None and row["not_in_place"].startswith("its disk has a hybrid MBR")


def test_an_end_inside_a_block_is_cut_by_its_command(tmp_path):
    image = partitioned(tmp_path / "disk", [(START, PART_SECTORS - 5)])
    faults, notes, _ = check(image)
    assert not faults and notes[f"{image}:1"].keys() == {"partition-end"}
    run("sh", "-c", notes[f"{image}:1"]["partition-end"]["command"])
    assert check(image)[:2] == ({}, {})


def test_a_drive_of_4096_byte_sectors_has_nothing_to_misalign(tmp_path):
    image = sparse(tmp_path / "disk", DISK_SECTORS * SECTOR)
    run("fdisk", "--sector-size", 4096, image, input="g\nn\n1\n257\n1281\nw\n")
    faults, notes, devices = check(image, "--logical", 4096)
    assert (faults, notes) == ({}, {})
    assert devices[f"{image}:1"]["start_bytes"] == 257 * 4096


# What each carries, as the tool that made it was told.
CONTENTS = {
    "ext4": ("ext4", {"block_size": 4096}, set()), "ext2": ("ext2", {"block_size": 4096}, set()),
    "ext4-1k": ("ext4", {"block_size": 1024}, {"fs-block"}), "ext3-2k": ("ext3", {"block_size": 2048}, {"fs-block"}),
    "xfs": ("xfs", {"sector_size": 4096, "block_size": 4096}, set()),
    "xfs-512": ("xfs", {"sector_size": 512, "block_size": 4096}, {"fs-sector"}),
    "btrfs": ("btrfs", {"block_size": 4096}, set()), "vfat": ("vfat", {"block_size": 4096}, set()),
    "vfat-512": ("vfat", {"block_size": 512}, {"fs-block"}), "vfat-shifted": ("vfat", {"block_size": 4096}, {"data-start"}),
    "minix": ("minix", {"block_size": 1024}, {"fs-block"}), "bfs": ("bfs", {"block_size": None}, set()),
    "exfat": ("exfat", {"block_size": 32768}, set()), "exfat-512": ("exfat", {"block_size": 512}, {"fs-block"}),
    "ntfs": ("ntfs", {"block_size": 4096}, set()), "ntfs-512": ("ntfs", {"block_size": 512}, {"fs-block"}),
    "f2fs": ("f2fs", {"block_size": 4096}, set()),
    "swap": ("swap", {"block_size": os.sysconf("SC_PAGE_SIZE")}, set()),
    "luks1": ("crypto_LUKS", {"data_start": 2 * MIB, "sector_size": 512}, set()),
    "luks2": ("crypto_LUKS", {"data_start": 16 * MIB, "sector_size": 4096}, set()),
    "luks2-512": ("crypto_LUKS", {"data_start": 16 * MIB, "sector_size": 512}, set()),
    "luks1-shifted": ("crypto_LUKS", {"sector_size": 512}, {"data-start"}),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_each_content_is_read_and_judged(made, name):
    image = made / name
    kind, figures, wanted = CONTENTS[name]
    faults, notes, devices = check(image)
    content = devices[str(image)]["content"]
    assert content["type"] == kind and {key: content[key] for key in figures} == figures
    assert set(faults.get(str(image), {})) == wanted
    assert set(notes.get(str(image), {})) == ({"luks-sector"} if figures.get("sector_size") == 512 and "luks" in name
                                              else {"unjudged"} if name == "bfs" else set())
    if name == "vfat-shifted":
        assert f"Data area starts at byte {content['data_start']} " in run("fsck.fat", "-vn", image)
    if name == "luks1-shifted":
        assert content["data_start"] % 4096
        dump = run("cryptsetup", "luksDump", image)
        assert f"Payload offset:\t{content['data_start'] // SECTOR}" in dump


def test_a_content_in_a_shifted_partition_is_read_and_not_blamed(tmp_path, made):
    image = partitioned(tmp_path / "disk", [(START + 1, 3 * PART_SECTORS)])
    carry(image, START + 1, made / "luks2")
    faults, _, devices = check(image)
    content = devices[f"{image}:1"]["content"]
    assert (content["type"], content["data_start"], content["sector_size"]) == ("crypto_LUKS", 16 * MIB, 4096)
    assert faults == {f"{image}:1": {UNALIGNED: faults[f"{image}:1"][UNALIGNED]}}
    assert devices[f"{image}:1"]["data_shift_bytes"] == SECTOR


@pytest.mark.parametrize("align, extent, wanted", [("1m", "4m", set()), ("1025s", "4m", {"data-start"}),
                                                   ("1m", "2k", {"extent"})])
def test_a_volume_of_lvm_is_read_as_it_was_made(tmp_path, align, extent, wanted):
    """LVM takes block devices only, so the image is behind a loop device while that is made."""
    image = sparse(tmp_path / "volume", 16 * MIB)
    attached = subprocess.run(["losetup", "--find", "--show", image], text=True, capture_output=True, check=False)
    if attached.returncode:
        pytest.skip(f"no loop devices here: {attached.stderr.strip()}")
    loop = attached.stdout.strip()
    # nothing of the machine's own configuration or devices
    lvm = {**os.environ, "LVM_SUPPRESS_FD_WARNINGS": "1", "LVM_SYSTEM_DIR": str(tmp_path / "lvm")}
    (tmp_path / "lvm").mkdir()
    config = f'devices {{ filter=["a|^{loop}$|","r|.*|"] use_devicesfile=0 }} global {{ locking_dir="{tmp_path}" }}'
    try:
        run("pvcreate", "-qq", "--config", config, "--dataalignment", align, loop, env=lvm)
        run("vgcreate", "-qq", "--config", config, "--physicalextentsize", extent, f"check{os.getpid()}", loop, env=lvm)
        start = run("pvs", "--config", config, "--noheadings", "--units", "b", "--nosuffix", "-o", "pe_start", loop, env=lvm)
    finally:
        run("losetup", "--detach", loop)
    faults, _, devices = check(image)
    content = devices[str(image)]["content"]
    assert content["type"] == "LVM2_member" and content["data_start"] == int(start)
    assert content["extent_size"] == int(extent[:-1]) << (20 if extent[-1] == "m" else 10)
    assert set(faults.get(str(image), {})) == wanted


@pytest.fixture
def stack(tmp_path, made):
    """sda with a shifted partition that carries LUKS, and vg-a on that; sdb and sdc below an md array."""
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0))
    machine.device("sda1", (8, 1), parent="pci0/sda", offset=3584, bytes_=PART_SECTORS * SECTOR * 3, partition=1,
                   start=START + 1)
    shutil.copyfile(made / "luks2", tmp_path / "dev/sda1")
    machine.disk("dm-0", (253, 0), parent="virtual/block", offset=3584, slaves=["sda1"], dm__name="vg-a",
                 dm__uuid="CRYPT-LUKS2-1")
    shutil.copyfile(made / "xfs-512", tmp_path / "dev/mapper/vg-a")
    machine.disk("sdb", (8, 16))
    machine.disk("sdc", (8, 32), offset=3584)
    machine.disk("md0", (9, 0), parent="virtual/block", offset=-1, slaves=["sdb", "sdc"], md__level="raid1")
    machine.disk("nvme0n1", (259, 0), logical=4096, io_min=16384, rotational=0)
    return machine


def test_a_machine_is_walked_from_the_disk_up(stack):
    faults, notes, devices = stack.check()
    assert {name: set(found) for name, found in faults.items()} == {
        "sda1": {UNALIGNED}, "dm-0": {"fs-sector"}, "sdc": {"split"}, "md0": {"misaligned"}}
    assert {name: set(found) for name, found in notes.items()} == {"nvme0n1": {"large-unit"}}
    assert devices["dm-0"]["lies_on"] == ["sda1"] and devices["dm-0"]["kind"] == "crypt"
    # what LUKS puts between passes the shift on
    assert (devices["sda1"]["shift_bytes"], devices["dm-0"]["shift_bytes"]) == (512, 512)
    assert devices["md0"]["lies_on"] == ["sdb", "sdc"] and devices["md0"]["shift_bytes"] is None


def test_figures_are_those_of_lsblk(stack):
    """It prints sysfs's own -1; libblkid would have 0."""
    _, _, devices = stack.check()
    told = stack.lsblk()
    keys = {"alignment": "alignment_offset", "min-io": "minimum_io_size", "phy-sec": "physical_block_size",
            "log-sec": "logical_block_size"}
    assert {"sda", "sda1", "md0", "sdb", "sdc", "nvme0n1"} <= told.keys()
    for name, row in told.items():
        ours = devices["dm-0" if name == "vg-a" else name]
        assert {key: row[key] for key in keys} == {key: ours[mine] for key, mine in keys.items()}, name
    assert told["md0"]["alignment"] == -1


def test_a_disk_has_its_model_without_what_fills_the_field(stack):
    stack.disk("sdd", (8, 48), device__model="ST4000LM024-2AN1   ")
    _, _, devices = stack.check()
    assert devices["sdd"]["model"] == "ST4000LM024-2AN1"
    assert [devices[name]["model"] for name in ("sda", "sda1", "md0")] == [None] * 3


def test_only_what_is_asked_about_is_shown(stack):
    assert set(stack.check("/dev/sda1")[2]) == {"sda", "sda1", "dm-0"}
    assert set(stack.check("sdb")[2]) == {"sdb", "sdc", "md0"}
    assert set(stack.check("nvme0n1", "/dev/sdb")[2]) == {"nvme0n1", "sdb", "sdc", "md0"}


def test_a_drive_that_contradicts_the_kernel_is_named(stack):
    page = bytearray(572)
    page[1] = 0x89
    page[60 + 212:60 + 214] = (0x6003).to_bytes(2, "little")
    disk = stack.disk("sdd", (8, 48), physical=512)
    (disk / "device").mkdir()
    (disk / "device/vpd_pg89").write_bytes(page)
    faults, _, devices = stack.check("sdd")
    assert devices["sdd"]["identify"]["physical_block_size"] == 4096
    row = faults["sdd"]["disagree"]
    assert row["text"] == "identify says physical_block_size 4096, sysfs 512"
    assert row["command"] == "alignctl attach /dev/sdd --physical 4096 --offset 0"


@pytest.fixture
def bridge(tmp_path):
    """A USB bridge that claims 512/512 in front of a disk of 4096, 7 sectors off, with a partition at 1 MiB."""
    machine = Machine(tmp_path)
    machine.disk("sde", (8, 64), physical=512, device__wwid=BRIDGE)
    machine.device("sde1", (8, 65), parent="pci0/sde", bytes_=1024 * SECTOR, partition=1, start=START)
    return machine


def test_a_disk_is_judged_by_what_was_probed(bridge):
    faults, notes, devices = bridge.check("sde")
    assert (faults, devices["sde"]["probed"]) == ({}, None)
    keep_probed(bridge.root)
    faults, notes, devices = bridge.check("sde1")
    assert devices["sde"]["probed"] == {"logical_block_size": None, "physical_block_size": 4096, "minimum_io_size": None,
                                        "alignment_offset": 3584}
    assert devices["sde1"]["probed"] is None
    assert devices["sde"]["physical_block_size"] == 512 and devices["sde"]["disk_physical_block_size"] == 4096
    # bytes 3584, 7680, ... are boundaries, and 1 MiB is 512 behind one
    assert (devices["sde"]["shift_bytes"], devices["sde1"]["shift_bytes"]) == (512, 512)
    row = faults["sde"]["probed"]
    assert row["text"] == ("probe measured blocks of 4096 bytes from byte 3584, which check judges by; the kernel says 512 "
                           "from byte 0")
    assert "RMWs" in row["cost"] and row["command"] == "alignctl attach /dev/sde --physical 4096 --offset 3584"
    assert set(faults["sde1"]) == {UNALIGNED} and not notes


@pytest.mark.parametrize("minor", [64, 65])
def test_what_probe_keeps_of_a_disk_or_a_partition_is_what_check_reads(bridge, monkeypatch, minor):
    monkeypatch.setenv("ALIGNCTL_SYSROOT", str(bridge.root))
    monkeypatch.setattr(kept.os, "geteuid", lambda: 0)
    device = SimpleNamespace(st_rdev=os.makedev(8, minor))
    monkeypatch.setattr(kept.os, "stat", lambda path, stat=os.stat, **more:
                        device if path == "/dev/probed" else stat(path, **more))
    path = kept.keep("/dev/probed", 4096, 3584, "writes", 0.99)
    monkeypatch.undo()
    assert path == bridge.root / KEPT
    assert bridge.check("sde")[2]["sde"]["probed"] == {"logical_block_size": None, "physical_block_size": 4096,
                                                        "minimum_io_size": None, "alignment_offset": 3584}


def test_the_user_knows_better_than_a_probe(bridge):
    keep_probed(bridge.root)
    faults, _, devices = bridge.check("sde", "--physical", "512")
    assert (faults, devices["sde"]["disk_physical_block_size"]) == ({}, 512)
    faults, _, devices = bridge.check("sde", "--offset", "0")
    assert (devices["sde"]["disk_physical_block_size"], devices["sde1"]["shift_bytes"]) == (4096, 0)
    assert faults["sde"]["probed"]["command"] == "alignctl attach /dev/sde --physical 4096 --offset 0"


def test_what_is_mapped_is_not_placed_by_the_offset_that_the_user_corrects(tmp_path):
    """As by --offset of a drive whose jumper shifts its sectors by one: the kernel's figures above are for 0 then."""
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0))
    machine.device("sda1", (8, 1), parent="pci0/sda", offset=512, bytes_=PART_SECTORS * SECTOR, partition=1, start=63)
    machine.disk("dm-0", (253, 0), parent="virtual/block", offset=512, bytes_=PART_SECTORS * SECTOR, slaves=["sda1"],
                 dm__name="pool", dm__uuid="LVM-1")
    machine.disk("sdb", (8, 16))
    machine.disk("dm-1", (253, 1), parent="virtual/block", slaves=["sdb"], dm__name="all", dm__uuid="LVM-2")
    faults, _, devices = machine.check("--offset", "3584")
    assert {name: set(found) for name, found in faults.items()} == {"sda": {"split"}, "sdb": {"split"}}
    assert {name: row["shift_bytes"] for name, row in devices.items()} == {
        "sda": 512, "sda1": 0, "dm-0": 0, "sdb": 512, "dm-1": 512}
    faults, _, devices = machine.check()
    assert devices["dm-0"]["shift_bytes"] == devices["sda1"]["shift_bytes"] == 3584 and devices["dm-1"]["shift_bytes"] == 0


@pytest.mark.parametrize("figures, said", [
    ({"format": 2}, "format 2 is not known; this alignctl reads format 1"),
    ({"wwid": "naa.5\n"}, "is of another disk: naa.5\\x0a"),
    ({"size_bytes": 4096}, f"is of a disk of 4096 bytes, but this disk has {DISK_BYTES}"),
    ({"block_size": 5000, "offset": 0}, "block_size 5000, offset 0: physical_block_size must be a power of two"),
    ({"offset": 4096}, "block_size 4096, offset 4096: an offset is less than a block"),
    ({"offset": "a"}, "lacks wwid, size_bytes, block_size or offset"),
])
def test_a_probe_that_cannot_be_of_the_disk_is_not_used_and_said_so(bridge, figures, said):
    keep_probed(bridge.root, **figures)
    done = alignctl("check", "sde", env={**os.environ, "ALIGNCTL_SYSROOT": str(bridge.root)})
    assert done.stderr == f"alignctl: warning: {bridge.root / KEPT}: {said}; this result is not used\n"
    assert done.returncode == FINE and done.stdout.endswith("findings: 0, notes: 0\n")


def test_a_device_that_may_not_be_opened_is_said_so(stack):
    """As for a user without privileges; what sysfs says is judged."""
    (stack.root / "dev/sda1").unlink()
    faults, notes, _ = stack.check("sda1")
    assert UNALIGNED in faults["sda1"] and "No such file" in notes["sda1"]["unread"]["text"]


def test_a_mounted_file_system_that_may_not_be_read_is_no_finding(stack):
    """The table of mounts shows its type to every user, and to none the sectors that it was made with."""
    (stack.root / "proc/self/mountinfo").write_text("22 1 253:0 / /srv rw - xfs /dev/mapper/vg-a rw\n")
    (stack.root / "dev/mapper/vg-a").unlink()
    faults, notes, devices = stack.check("dm-0")
    assert "dm-0" not in faults and set(notes["dm-0"]) == {"unread"}
    content = devices["dm-0"]["content"]
    assert (content["type"], content["sector_size"], content["block_size"]) == ("xfs", None, None)


def test_a_suspended_device_is_not_waited_for(stack):
    (stack.root / "sys/class/block/dm-0/dm/suspended").write_text("1\n")
    stack.disk("dm-1", (253, 1), parent="virtual/block", slaves=["dm-0"], dm__name="vg-b", dm__uuid="LVM-1")
    notes = stack.check()[1]
    assert {name: notes[name]["unread"]["text"] for name in ("dm-0", "dm-1")} == dict.fromkeys(
        ("dm-0", "dm-1"), "its headers were not read: the device is suspended")


@pytest.mark.parametrize("kind, start, size", [("21686148-6449-6E6F-744E-656564454649", 34, 2014),
                                              ("E3C9E316-0B5C-4DB8-817D-F92DF00215AE", 34, 32734 - 2048)])
def test_a_partition_that_nothing_writes_is_a_note(tmp_path, kind, start, size):
    """As installers make one in the gap behind the table."""
    image = sparse(tmp_path / "disk", 2 * DISK_SECTORS * SECTOR)
    run("sfdisk", "--quiet", image, input=f"label: gpt\nfirst-lba: 34\nstart={start}, size={size}, type={kind}\n"
        f"start=65536, size={PART_SECTORS}\n")
    faults, notes, devices = check(image)
    assert not faults and set(notes) == {f"{image}:1"}
    assert notes[f"{image}:1"][UNALIGNED]["command"] is None
    assert devices[f"{image}:1"]["partition_type"].upper() == kind
    # the same of a device, whose table says the type
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), bytes_=2 * DISK_SECTORS * SECTOR)
    machine.device("sda1", (8, 1), parent="pci0/sda", bytes_=size * SECTOR, partition=1, start=start)
    shutil.copyfile(image, tmp_path / "dev/sda")
    faults, notes, _ = machine.check("sda")
    assert not faults and UNALIGNED in notes["sda1"]
    sparse(tmp_path / "dev/sda", 2 * DISK_SECTORS * SECTOR)
    assert UNALIGNED in machine.check("sda")[0]["sda1"]


def test_partitions_that_the_kernel_does_not_show_are_a_note(tmp_path):
    """As on a volume that is the disk of a guest, and on a loop device that was not scanned."""
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0))
    machine.disk("dm-0", (253, 0), parent="virtual/block", slaves=["sda"], dm__name="vg-guest", dm__uuid="LVM-1")
    partitioned(tmp_path / "dev/mapper/vg-guest", [(63, 100), (START, PART_SECTORS)], label="dos")
    faults, notes, _ = machine.check("dm-0")
    assert not faults and notes["dm-0"]["unjudged"]["text"] == (
        "has a dos table with 2 partitions that the kernel does not show")
    # as kpartx maps the first one
    machine.disk("dm-1", (253, 1), parent="virtual/block", offset=512, bytes_=100 * SECTOR, slaves=["dm-0"], dm__name="vg-guest1",
                 dm__uuid="part1-LVM-1")
    faults, notes, _ = machine.check("dm-0")
    assert set(faults["dm-1"]) == {UNALIGNED} and "dm-0" not in notes
    # nor is an empty table a note
    partitioned(tmp_path / "dev/sda", [], label="dos")
    (tmp_path / "sys/class/block/dm-0/slaves/sda").unlink()
    assert machine.check("sda")[:2] == ({}, {})


@pytest.mark.parametrize("made_for, read_with", [(4096, 512), (512, 4096), (2048, 512)])
def test_a_table_for_sectors_of_another_size_is_named(tmp_path, made_for, read_with):
    image = sparse(tmp_path / "disk", 128 * MIB)
    run("fdisk", "--sector-size", made_for, image, input="g\nn\n1\n2048\n4095\nw\n")
    faults, notes, devices = check(image, "--logical", read_with)
    assert not faults and list(devices) == [str(image)]
    row = notes[str(image)]["table-sector"]
    assert row["text"] == f"its GPT is for {made_for}-byte sectors, and the device has sectors of {read_with}"
    assert row["not_in_place"] == f"check the image with --logical {made_for}"
    assert devices[str(image)]["content"]["table_sector_size"] == made_for
    faults, notes, devices = check(image, "--logical", made_for)
    assert (faults, notes, len(devices)) == ({}, {}, 2)


def test_luks_that_is_being_encrypted_is_read(tmp_path):
    image = sparse(tmp_path / "disk", 64 * MIB)
    run("mkfs.ext4", "-q", "-F", "-b", "4096", image, "24M")
    run("cryptsetup", "reencrypt", "--encrypt", "--init-only", "--reduce-device-size", "32M", "--batch-mode", "--pbkdf", "pbkdf2",
        "--pbkdf-force-iterations", "1000", "--sector-size", "4096", "--key-file", "-", image, input="a pass phrase")
    faults, notes, devices = check(image)
    content = devices[str(image)]["content"]
    assert (faults, notes) == ({}, {})
    assert (content["type"], content["data_start"], content["sector_size"], content["unread"]) == (
        "crypto_LUKS", 16 * MIB, 4096, None)


def test_an_array_of_linux_6_19_is_a_note(tmp_path):
    """Its superblock has the logical block in a place where earlier kernels demand 0; checked with what mdadm writes."""
    image = sparse(tmp_path / "member", 64 * MIB)
    superblock = bytearray(4096)
    superblock[0:8] = struct.pack("<II", 0xa92b4efc, 1)
    superblock[72:76] = struct.pack("<I", 1)
    superblock[128:144] = struct.pack("<QQ", 2048, 2048)
    superblock[144:152] = struct.pack("<Q", 8)
    superblock[220:224] = struct.pack("<I", 128)
    for logical, wanted in ((0, False), (512, True)):
        superblock[224:228] = struct.pack("<I", logical)
        superblock[216:220] = bytes(4)
        words = struct.unpack("<128I", superblock[:512])
        total = sum(words)
        superblock[216:220] = struct.pack("<I", ((total & 0xffffffff) + (total >> 32)) & 0xffffffff)
        with open(image, "r+b") as file:
            file.seek(4096)
            file.write(superblock)
        faults, notes, devices = check(image)
        content = devices[str(image)]["content"]
        assert content["type"] == "linux_raid_member" and content["array_logical_block_size"] == (logical or None)
        assert not faults
        assert ("md-logical" in notes.get(str(image), {})) == wanted


def test_every_type_that_libblkid_names_has_a_row():
    """By which figure each is judged, or that its blocks are not read; what a row does is in test_judge.c."""
    rows = re.findall(r'^\t{ \.name = "(\w+)", CONTENT_(\w+)', (REPO / "userspace/alignctl/audit/content.c").read_text(), re.M)
    known = run("blkid", "-k").split()
    assert len(known) > 60 and not set(known) - {name for name, _ in rows}
    assert len(dict(rows)) == len(rows)


def cut(path):
    os.truncate(partitioned(path, [(START, PART_SECTORS)], label="dos"), (START + 1) * SECTOR)
    return f"{path}:1"


def cut_in_extended(path):
    """Behind the first of two logical partitions; the extended one, which begins inside a block, is no fault."""
    sparse(path, DISK_BYTES)
    run("sfdisk", "--quiet", path, input=f"label: dos\nstart={START + 1}, size=40000, type=5\nstart={START + 8}, size=4096\n"
        f"start={START + 8192}, size=4096\n")
    os.truncate(path, (START + 8192) * SECTOR)
    assert not check(path)[0]
    return str(path)


def cut_behind_gpt(path):
    """By less than what the partitions need: libblkid finds no table then, and no partition."""
    os.truncate(partitioned(path, [(START + 1, PART_SECTORS)]), DISK_BYTES - MIB)
    return str(path)


def without_gpt(path):
    """A protective MBR alone, as a tool leaves it that clears a GPT and its copy."""
    partitioned(path, [(START + 1, PART_SECTORS)])
    with open(path, "r+b") as file:
        for sector in (1, DISK_SECTORS - 1):
            file.seek(sector * SECTOR)
            file.write(bytes(SECTOR))
    return str(path)


def damaged(path):
    """LUKS whose JSON is no object any more, though libblkid still knows it by its magic."""
    run("cryptsetup", "luksFormat", "--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "--batch-mode",
        sparse(path, 24 * MIB), "-", input="a pass phrase")
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(b"[" * 64)
    return str(path)


def without_block(path):
    """A minix of version 3 with blocks of 0 bytes, which libblkid passes on."""
    run("mkfs.minix", "-3", sparse(path, 8 * MIB))
    with open(path, "r+b") as file:
        file.seek(1024 + 28)
        file.write(bytes(2))
    return str(path)


def several(path):
    """An ext4 in front of which the superblock of an XFS was left."""
    other = sparse(path.with_name("other"), 320 * MIB)
    run("mkfs.xfs", "-q", other)
    run("mkfs.ext4", "-q", "-F", sparse(path, 24 * MIB))
    with open(other, "rb") as old, open(path, "r+b") as file:
        file.write(old.read(SECTOR))
    return str(path)


@pytest.mark.parametrize("make, text, way_out", [
    (cut, "the partition reaches beyond the end of the image", "the image is shorter"),
    (cut_in_extended, "the extended partition reaches beyond the end of the image", "the image is shorter"),
    (cut_behind_gpt, f"its GPT is for at least {(DISK_SECTORS - 33) * SECTOR} bytes, and there are {DISK_BYTES - MIB}",
     "the image is shorter"),
    (without_gpt, "no valid GPT behind the protective MBR", "with the tools of its type"),
    (damaged, "no valid header of crypto_LUKS", "with the tools of its type"),
    (without_block, "no valid header of minix", "with the tools of its type"),
    (several, "libblkid finds several signatures", "left from earlier content"),
])
def test_an_image_that_is_not_read_says_why_and_what_to_do(tmp_path, make, text, way_out):
    name = make(tmp_path / "disk")
    row = check(tmp_path / "disk")[1][name]["unread"]
    assert row["text"] == f"its headers were not read: {text}"
    assert way_out in row["not_in_place"] and "root" not in row["not_in_place"]


@pytest.mark.parametrize("node, text, way_out", [
    (None, "No such file or directory", "check again when both are there"),
    ("/proc/self/mem", "libblkid cannot read the device: Input/output error", "the kernel log"),
])
def test_a_device_that_is_not_read_says_why_and_what_to_do(stack, node, text, way_out):
    (stack.root / "dev/sda1").unlink()
    if node:
        (stack.root / "dev/sda1").symlink_to(node)
    row = stack.check("sda1")[1]["sda1"]["unread"]
    assert text in row["text"]
    assert way_out in row["not_in_place"] and "root" not in row["not_in_place"]


@pytest.mark.parametrize("physical, io_min, said", [
    (131072, 131072, {"zd0p1": "starts 32256 bytes into a physical block of 131072"}),
    (262144, 262144, {"zd0p1": "starts 32256 bytes into a physical block of 262144"}),
    (1048576, 1048576, {"zd0p1": "starts 32256 bytes into a physical block of 1048576"}),
    (0, 512, {"zd0": "says physical_block_size 0, which is no power of two from 512 to 1048576"}),
    (3072, 3072, {"zd0": "says physical_block_size 3072, which is no power of two from 512 to 1048576"}),
    (512, 262144, {"zd0": "minimum I/O size 262144, above the physical block (512)"}),
    (512, 524288, {"zd0": "minimum I/O size 524288, above the physical block (512)"}),
    (512, 196608, {"zd0": "says minimum_io_size 196608, which is no power of two from 512 to 1048576"}),
])
def test_a_block_of_any_size_is_judged_or_said_not_to_be(tmp_path, physical, io_min, said):
    machine = Machine(tmp_path)
    machine.disk("zd0", (230, 0), physical=physical, io_min=io_min, rotational=0)
    machine.device("zd0p1", (230, 1), parent="pci0/zd0", bytes_=131072 * 64, partition=1, start=63)
    faults, notes, _ = machine.check("zd0")
    rows = {name: row for found in (faults, notes) for name, some in found.items() for row in some.values()
            if row["finding"] != "partition-end"}
    assert {name: row["text"] for name, row in rows.items()} == said
    assert any("attach" in (row["command"] or "") for row in rows.values()) == (io_min == 262144 > physical)
    for row in rows.values():
        if io_min == 524288:
            assert "an align device fixes blocks of at most 262144 bytes" in row["not_in_place"]


def test_mounts_and_swap_areas_are_shown(stack):
    (stack.root / "proc/self/mountinfo").write_text("22 1 253:0 / /srv rw - xfs /dev/mapper/vg-a rw\n")
    (stack.root / "proc/swaps").write_text("Filename\tType\tSize\tUsed\tPriority\n/dev/sdb partition 1 0 -2\n")
    devices = stack.check()[2]
    assert devices["dm-0"]["mounted_on"] == ["/srv"] and devices["sdb"]["swap"] and not devices["sdc"]["swap"]


def test_people_see_the_tree_and_each_finding_with_its_way_out(stack):
    run("sfdisk", "--quiet", "--no-tell-kernel", stack.root / "dev/sda", input="label: gpt\nstart=2049, size=16384\n")
    done = alignctl("check", "sda", env={**os.environ, "ALIGNCTL_SYSROOT": str(stack.root)})
    assert done.returncode == FINDINGS
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines[:4]] == [["DEVICE", "KIND"], ["sda", "disk"], ["sda1", "part"],
                                                        ["vg-a", "crypt"]]
    assert lines[2].startswith("  sda1") and lines[3].startswith("    vg-a")
    at = lines.index("sda1: starts 512 bytes into a physical block of 4096")
    assert lines[at + 1].startswith("  cost: ") and lines[at + 2] == (
        "  fix (unmount and back up first): echo '+7,' | sfdisk --move-data /dev/sda -N 1")
    assert lines[at + 3] == "  destroys: nothing; unmount first"
    assert lines[-1] == "findings: 2, notes: 0"


@pytest.mark.parametrize("arguments, said", [
    (["/nonexistent"], "/nonexistent: No such file or directory"),
    (["/"], "/: neither a block device nor a disk image"),
    (["--physical", "1000"], "--physical 1000: must be a power of two from 512 to 1048576"),
    (["--logical", "131072"], "--logical 131072: must be a power of two from 512 to 65536"),
    (["--offset", "5"], "--offset 5: must be a multiple of 512 from 0 to 4294967295"),
])
def test_refusals(arguments, said):
    done = alignctl("check", *arguments)
    assert (done.returncode, done.stdout) == (USAGE, "") and done.stderr == f"alignctl: {said}\n"


def test_an_image_that_is_cut_is_no_crash(tmp_path):
    image = partitioned(tmp_path / "disk", [(START, PART_SECTORS)], label="dos")
    os.truncate(image, (START + 1) * SECTOR)
    notes = check(image)[1]
    assert "beyond the end" in notes[f"{image}:1"]["unread"]["text"]


@pytest.mark.parametrize("size", [0, SECTOR - 1])
def test_an_image_without_a_sector_is_refused_and_not_free_of_findings(tmp_path, size):
    done = alignctl("check", sparse(tmp_path / "empty", size))
    assert (done.returncode, done.stdout) == (USAGE, "")
    assert done.stderr == f"alignctl: {tmp_path}/empty: has {size} bytes, less than a sector; give the image of a disk\n"


def test_a_drive_without_its_medium_is_no_crash_and_not_free_of_findings(tmp_path):
    """The kernel keeps the partitions of a card that was pulled out while one is mounted; the disk has no size then."""
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), rotational=0)
    machine.disk("sdb", (8, 16), bytes_=0)
    machine.device("sdb1", (8, 17), parent="pci0/sdb", bytes_=MIB, partition=1, start=63)
    assert machine.check()[2].keys() == {"sda"}
    for name in ("sdb", "sdb1"):
        done = alignctl("check", "sda", name, env={**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)})
        assert (done.returncode, done.stdout) == (IO, "")
        assert done.stderr == f"alignctl: {name}: has no size; is it connected, and a medium in the drive?\n"


@pytest.fixture
def paths(tmp_path):
    """A machine with a LUN that has two paths, of which the second only stands by and cannot be read."""
    machine = Machine(tmp_path)
    for number, name in enumerate(("sda", "sdb")):
        machine.disk(name, (8, 16 * number), io_min=16384, rotational=0)
    machine.disk("dm-0", (253, 0), parent="virtual/block", io_min=16384, rotational=0, slaves=["sda", "sdb"], dm__name="vg-lun",
                 dm__uuid="mpath-3600")
    run("sfdisk", "--quiet", "--no-tell-kernel", tmp_path / "dev/sda", input="label: gpt\nstart=2049, size=16384\n")
    shutil.copy(tmp_path / "dev/sda", tmp_path / "dev/mapper/vg-lun")
    (tmp_path / "dev/sdb").unlink()
    return machine


def test_what_mends_a_path_is_done_to_its_multipath_device(paths):
    """The path is in use by that device; align devices on two paths would be two writers of the same blocks."""
    paths.device("sda1", (8, 1), parent="pci0/sda", bytes_=16384 * SECTOR, partition=1, start=2049)
    faults, notes, _ = paths.check()
    assert notes["sda"]["large-unit"]["command"] == notes["sdb"]["large-unit"]["command"] == (
        "alignctl attach /dev/mapper/vg-lun --physical auto")
    assert not faults["sda1"][UNALIGNED]["command"] and "multipath" in faults["sda1"][UNALIGNED]["not_in_place"]
    # the content of a path is the multipath device's
    assert "unread" not in notes["sdb"]


def test_an_align_device_on_a_multipath_device_is_one_on_each_path(paths):
    paths.disk("dm-1", (253, 1), parent="virtual/block", io_min=16384, rotational=0, slaves=["dm-0"], dm__name="vg-align",
               dm__uuid="ALIGN-1", align__target0_mode="report", align__target0_physical_block_size=16384)
    _, notes, _ = paths.check()
    assert not any("large-unit" in notes.get(name, {}) for name in ("sda", "sdb"))


def test_layouts_are_for_a_multipath_device_and_not_for_its_paths(paths):
    done = alignctl("check", "--layout", env={**os.environ, "ALIGNCTL_SYSROOT": str(paths.root)})
    assert done.returncode == FINE
    assert "/dev/mapper/vg-lun" in done.stdout and "mkfs.ext4 -b 16384 /dev/sd" not in done.stdout


def test_a_cd_drive_is_judged_only_if_it_is_named(tmp_path):
    """The kernel gives one without a disc the size of 1 GiB, and does not read it: no host with one is without notes then."""
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0))
    machine.disk("sr0", (11, 0), logical=2048, physical=2048, device__type=5)
    (tmp_path / "dev/sr0").unlink()
    faults, notes, devices = machine.check()
    assert (faults, notes, devices.keys()) == ({}, {}, {"sda"})
    assert machine.check("sr0")[2].keys() == {"sr0"}


@pytest.mark.parametrize("zoned", ["none", "host-managed", "host-aware"])
def test_smaller_logical_blocks_are_not_proposed_for_a_zoned_disk(tmp_path, zoned):
    """attach refuses them there."""
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), logical=4096, queue__zoned=zoned)
    run("mkfs.ext4", "-q", "-F", "-b", "1024", tmp_path / "dev/sda")
    command = machine.check()[0]["sda"]["fs-block"]["command"]
    assert command == ("alignctl attach /dev/sda --logical 512" if zoned == "none" else None)


def unreached(machine):
    """The devices that are not read, as nothing reaches their disk."""
    return [name for name, rows in machine.check()[1].items() if "no path" in rows.get("unread", {}).get("text", "")]


@pytest.mark.parametrize("states, read", [(["running", "transport-offline"], True), (["offline", "blocked"], False),
                                          (["live", "dead"], True), ([], False)])
def test_a_multipath_device_without_a_path_is_not_read(tmp_path, states, read):
    """It may queue a read for ever, and so would what lies on it."""
    machine = Machine(tmp_path)
    names = [f"sd{letter}" for letter, _ in zip("ab", states, strict=False)]
    for number, (name, state) in enumerate(zip(names, states, strict=True)):
        machine.disk(name, (8, 16 * number), device__state=state)
    machine.disk("dm-0", (253, 0), parent="virtual/block", slaves=names, dm__name="vg-lun", dm__uuid="mpath-3600")
    machine.disk("dm-1", (253, 1), parent="virtual/block", slaves=["dm-0"], dm__name="vg-a", dm__uuid="LVM-1")
    assert [name for name in unreached(machine) if "dm" in name] == ([] if read else ["dm-0", "dm-1"])


@pytest.mark.parametrize("states, read", [({"device__state": "running"}, True), ({"device__state": "blocked"}, False),
                                          ({"device__state": "connecting"}, False), ({"device__state": "Connected"}, True),
                                          ({"device__nvme0__state": "connecting", "device__nvme1__state": "live"}, True),
                                          ({"device__nvme0__state": "connecting", "device__nvme1__state": "dead"}, False)])
def test_a_disk_that_its_transport_has_lost_is_not_read(tmp_path, states, read):
    """A read waits for it to come back. Of an NVMe namespace of several paths, the controllers have the states."""
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), **states)
    machine.device("sda1", (8, 1), parent="pci0/sda", bytes_=MIB, partition=1, start=2048)
    assert unreached(machine) == ([] if read else ["sda", "sda1"])
