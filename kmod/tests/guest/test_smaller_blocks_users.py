# SPDX-License-Identifier: GPL-2.0
"""
Content that was made for sectors of 512 bytes and is used on a disk of 4096 through `alignctl attach --logical 512`: a disk image
with partitions, NTFS, LUKS, LVM, a machine of QEMU, and the direct I/O of a loop device. Afterwards the disk is copied back
to where the content came from, and must be right there as well.
"""

import contextlib
import random
import subprocess
from pathlib import Path

import pytest

from followed import obey
from lab.paths import OUT
from lab.plugins.extent import only_all
from rig.direct import SECTOR, Disk, check, pattern
from rig.dm import Align, block_name, queue, run, sectors_of
from rig.filesystem import fsck, make, mounted
from rig.memdisk import memory_disk
from rig.stacks import LAYERS

ALIGNCTL = OUT / "bin" / "alignctl"
MODES = ["pad", "coalesce"]
SIZES = [1, 511, 512, 3000, 4097, 70000]


def copy(source, target):
    run("dd", f"if={source}", f"of={target}", "bs=1M", "oflag=direct", "status=none")


def elsewhere(megabytes):
    """A disk of 512-byte sectors."""
    return memory_disk(megabytes, blocksize=SECTOR, irqmode=0)


@contextlib.contextmanager
def moved(rig, origin, mode="pad"):
    """
    Copy a disk of 512-byte sectors to one of 4096 and attach that; yield its align device, and the output of attach. Then detach
    it and copy all back; fail unless every touch was fixed.
    """
    with rig.scsi_debug(megabytes=sectors_of(origin) * SECTOR >> 20, sector_size=4096) as disk:
        copy(origin, disk)
        message = run(ALIGNCTL, "attach", disk, "--logical", 512, "--mode", mode, "--name", "moved").stdout
        device = Align(disk, name="moved")
        try:
            assert (queue(disk, "logical_block_size"), queue(device.path, "logical_block_size")) == ("4096", "512")
            yield device, message
            fixed(device)
            run(ALIGNCTL, "detach", "moved")
        finally:
            device.remove()
        copy(disk, origin)


def fixed(device):
    """Write held blocks, and fail unless the device has fixed touches, all of them; return its ledger."""
    device.message("flush")
    ledger = device.balanced()
    assert ledger["rmw_drive"] == ledger["rmw_lost"] == 0 < ledger["rmw_host"], ledger
    return ledger


def content(tag, size):
    return random.Random(f"{tag} {size}").randbytes(size)


def fill(folder, tag):
    for size in SIZES:
        (folder / f"{tag}-{size}").write_bytes(content(tag, size))


def compare(folder, *tags):
    for tag in tags:
        for size in SIZES:
            assert (folder / f"{tag}-{size}").read_bytes() == content(tag, size), f"{tag}-{size}"


# A partition for GRUB as the first one, as in images of clouds; the root begins inside a block of 4096 bytes.
CLOUD = """\
label: gpt
start=2048, size=6144, type=21686148-6449-6E6F-744E-656564454649
start=8192, size=32768, type=U
start=40961, size=49152, type=L
"""


@pytest.mark.parametrize(("mode", "finder"), [("pad", "kpartx"), ("coalesce", "partprobe")])
def test_an_image_of_a_cloud_is_used_and_written_with_its_partitions(rig, mode, finder):
    """ESP and root; the partition table is written as well, as the programs do that let the root grow."""
    with elsewhere(48) as origin:
        def each(disk):
            return [("vfat", f"{disk}2"), ("ext4", f"{disk}3")]

        run("sh", "-c", f"echo '{CLOUD}' | sfdisk --quiet {origin.path}")
        parts = each(f"{origin.path}p")
        run("mkfs.vfat", "-S", SECTOR, parts[0][1])
        make("ext4", parts[1][1])
        for kind, part in parts:
            with mounted(kind, part) as folder:
                fill(folder, "old")
        with moved(rig, origin.path, mode) as (device, message):
            if finder == "kpartx":
                obey("map-partitions", message)
            else:
                run(finder, device.path)
            try:
                for kind, part in each(device.path):
                    assert queue(part, "logical_block_size") == "512"
                    with mounted(kind, part) as folder:
                        compare(folder, "old")
                        fill(folder, "new")
                run("e2fsck", "-fn", each(device.path)[1][1])
            finally:
                run("kpartx", "-d", device.path)
            run("sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", "--part-label", device.path, 3, "cloud")
        assert "No errors detected." in run("sfdisk", "--verify", origin.path).stdout
        assert 'name="cloud"' in run("sfdisk", "--dump", origin.path).stdout
        run("fsck.vfat", "-n", parts[0][1])
        fsck("ext4", parts[1][1])
        for kind, part in parts:
            with mounted(kind, part) as folder:
                compare(folder, "old", "new")


@pytest.mark.parametrize("mode", ["coalesce", only_all("mode pad serves the file systems of a cloud's image", "pad")])
def test_ntfs_of_512_byte_sectors_and_clusters_is_used(rig, mode):
    """The kernel writes to it, and ntfs-3g's own program reads those files on the disk that it came from."""
    # The newer of the two is "ntfs" again.
    kind = next((name for name in ("ntfs3", "ntfs") if not run("modprobe", name, ok=False).returncode), None)
    if not kind:
        pytest.skip("this kernel has no NTFS")
    with elsewhere(16) as origin:
        run("mkntfs", "-F", "-Q", "-q", "-s", SECTOR, "-c", SECTOR, origin.path)
        with mounted(kind, origin.path) as folder:
            fill(folder, "old")
        with moved(rig, origin.path, mode) as (device, _), mounted(kind, device.path) as folder:
            compare(folder, "old")
            fill(folder, "new")
        for tag in ("old", "new"):
            for size in SIZES:
                # Linux 7.2 leaves the volume marked for a check, on any disk; -f reads it all the same.
                read = subprocess.run(["ntfscat", "-f", origin.path, f"{tag}-{size}"], capture_output=True, check=True).stdout
                assert read == content(tag, size), f"{tag}-{size}"
        with mounted(kind, origin.path) as folder:
            compare(folder, "old", "new")


@pytest.mark.parametrize("layer", ["luks", "lvm"])
def test_a_layer_made_on_sectors_of_512_bytes_is_used(rig, layer):
    """LUKS encrypts each 512 bytes by themselves, and takes them from the layers above it."""
    assemble, _ = LAYERS[layer]
    model = bytearray(pattern(1, 0, 256))
    with elsewhere(32) as origin:
        with assemble([origin.path], True) as top, Disk(top) as upper:
            upper.write(0, model)
        with moved(rig, origin.path, "coalesce") as (device, _), assemble([device.path], False) as top, Disk(top) as upper:
            assert queue(top, "logical_block_size") == "512"
            check(0, bytes(model), upper.read(0, 256), "what was there")
            for sector, sectors in ((1, 1), (8, 3), (30, 1), (31, 1), (101, 90), (255, 1)):
                data = pattern(2, sector, sectors)
                upper.write(sector, data)
                model[sector * SECTOR:(sector + sectors) * SECTOR] = data
                check(sector, data, upper.read(sector, sectors), "after the write")
        with assemble([origin.path], False) as top, Disk(top) as upper:
            check(0, bytes(model), upper.read(0, 256), "back again")


# Loaded by the BIOS to 0x7c00, with the disk's number in dl. 24 times: reads a sector, the first time 101, inverts its bytes
# and writes it 1000 sectors further; the next one is 3 sectors on. Ends QEMU by its port isa-debug-exit.
BOOT_SECTOR = bytes.fromhex(
    "31c0 8ed8 8ec0 8ed0 bc007c"  # ds = es = ss = ax = 0; sp = 0x7c00
    "bd1800 be417c"               # bp = 24; si = the packet
    "b442 cd13 7225"              # next: ah = 0x42, int 0x13: read; jc failed
    "b90002 bf0080 f615 47 e2fb"  # for cx = 512 bytes from di = 0x8000 on: not byte [di]
    "8106497ce803"                # add word [packet.sector], 1000
    "b80043 cd13 720d"            # ax = 0x4300, int 0x13: write; jc failed
    "812e497ce503"                # sub word [packet.sector], 997
    "4d 75d6 b02a eb02"           # dec bp; jnz next; al = 42; jmp end
    "b001 e6f4 f4"                # failed: al = 1; end: out 0xf4, al; hlt
    "1000 0100 0080 0000 6500000000000000"  # packet: 16 bytes; 1 sector; at 0:0x8000; sector 101
).ljust(510, b"\0") + b"\x55\xaa"
DONE = 42 << 1 | 1


@pytest.mark.parametrize("model", ["virtio-blk-pci", only_all("one model of a disk shows it", "ide-hd")])
def test_a_machine_of_qemu_boots_from_the_device_and_writes_sectors_under_direct_io(rig, model):
    """A boot sector calls the BIOS, and QEMU passes on each request of 512 bytes, as the device takes it."""
    want = bytearray(BOOT_SECTOR + pattern(1, 1, 4095))
    with elsewhere(2) as origin:
        with Disk(origin.path) as disk:
            disk.write(0, want)
        with moved(rig, origin.path) as (device, _):
            device.message("reset_stats")
            done = run("qemu-system-x86_64", "-machine", "pc,accel=tcg", "-m", 8, "-nodefaults", "-no-user-config", "-no-reboot",
                       "-display", "none", "-net", "none", "-device", "isa-debug-exit,iobase=0xf4,iosize=1",
                       "-drive", f"file={device.path},if=none,id=disk,format=raw,cache=none",
                       "-device", f"{model},drive=disk,logical_block_size=512", ok=False)
            assert done.returncode == DONE, f"{done.returncode}: {done.stdout}{done.stderr}"
            ledger = device.balanced()
            assert ledger["rmw_expected"] == ledger["writes"] == 24 < ledger["reads_bounced"]
            for sector in range(101, 101 + 24 * 3, 3):
                want[(sector + 1000) * SECTOR:(sector + 1001) * SECTOR] = \
                    bytes(byte ^ 0xff for byte in want[sector * SECTOR:(sector + 1) * SECTOR])
            with Disk(device.path) as disk:
                check(0, bytes(want), disk.read(0, 4096), "on the device")
        with Disk(origin.path) as disk:
            check(0, bytes(want), disk.read(0, 4096), "back again")


def direct(loop):
    return Path(f"/sys/block/{block_name(loop)}/loop/dio").read_text().strip()


@pytest.mark.parametrize("mode", MODES)
def test_a_loop_device_keeps_its_direct_io_beneath_requests_of_512_bytes(rig, tmp_path, mode):
    """A loop device over a file on such a disk has sectors of 512 bytes, or direct I/O."""
    run("modprobe", "loop")
    with rig.scsi_debug(megabytes=32, sector_size=4096) as disk:
        run("mkfs.ext4", "-q", "-b", 4096, disk)
        with mounted("ext4", disk) as folder:
            file = folder / "file"
            file.write_bytes(bytes(8 << 20))
            small = run("losetup", "--show", "--find", "--sector-size", SECTOR, "--direct-io=on", file, ok=False)
            if not small.returncode:
                small_direct = direct(small.stdout.strip())
                run("losetup", "--detach", small.stdout.strip())
                assert small_direct == "0", "without the target there is direct I/O of 512 bytes: the test proves nothing"
            loop = run("losetup", "--show", "--find", "--sector-size", 4096, "--direct-io=on", file).stdout.strip()
            try:
                assert (queue(loop, "logical_block_size"), direct(loop)) == ("4096", "1")
                with Align(loop, mode=mode, logical_block_size=512) as device:
                    load = rig.stress(device.path, beneath=loop, physical=4096, torn_reads=True, memory_align=512,
                                      seconds=rig.seconds / 4)
                    load.finish()
                    assert fixed(device)["rmw_expected"] == load.touches > 0
                    with Disk(device.path) as upper:
                        upper.write(4097, pattern(1, 4097, 1))
                        check(4097, pattern(1, 4097, 1), upper.read(4097, 1), "one sector")
                        fixed(device)
                    assert direct(loop) == "1"
            finally:
                run("losetup", "--detach", loop)
            check(4097, pattern(1, 4097, 1), file.read_bytes()[4097 * SECTOR:4098 * SECTOR], "in the file")
