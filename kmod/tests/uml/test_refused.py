# SPDX-License-Identifier: GPL-2.0
"""Refusals of the fixing modes, on devices that the emulated drives cannot imitate; and report on these devices."""

from pathlib import Path

import pytest

from rig.control import Refused
from rig.direct import Disk, check, pattern
from rig.dm import Align, Device, alignment_offset, queue, sectors_of, sysfs_folder
from rig.memdisk import memory_disk

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}


def refusal(rig, make):
    """Return the log of a refused table or message."""
    with rig.log() as log, pytest.raises(Refused):
        with make():
            pass
    return log.text


class Message:
    def __init__(self, device, text):
        self._device, self._text = device, text

    def __enter__(self):
        self._device.message(self._text)

    def __exit__(self, *_):
        pass


def test_blocks_that_cross_chunks_are_refused(rig, disk):
    """dm-unstriped takes each second chunk of four sectors, and says so in chunk_sectors."""
    with Device(f"0 8192 unstriped 2 4 0 {disk.path} 0") as below:
        assert queue(below.path, "chunk_sectors") == "4"
        assert "chunk_sectors" in refusal(rig, lambda: Align(below.path, mode="pad", **GEOMETRY))
        with Align(below.path, mode="report", **GEOMETRY) as device:
            # The chunks are no multiple of the advertised blocks.
            assert queue(device.path, "chunk_sectors") == "0"
            with Disk(device.path) as upper:
                upper.write(1, pattern(1, 1, 20))
                check(1, pattern(1, 1, 20), upper.read(1, 20), "through the target")
        with Align(below.path, mode="pad", physical_block_size=2048, alignment_offset=0) as device, \
                Disk(device.path) as upper:
            upper.write(1, pattern(1, 1, 20))
            check(1, pattern(1, 1, 20), upper.read(1, 20), "in chunks of one block")
            assert device.balanced()["rmw_drive"] == 0


def test_a_block_that_is_no_single_request_is_refused(rig):
    with memory_disk(max_sectors=64) as disk:
        said = refusal(rig, lambda: Align(disk.path, mode="pad", physical_block_size=65536, alignment_offset=0))
        assert "max_sectors" in said


def test_limits_that_fall_later_send_a_touch_as_it_came(rig, disk):
    limit = sysfs_folder(disk.path) / "queue/max_sectors_kb"
    was = limit.read_text()
    with Align(disk.path, mode="pad", physical_block_size=65536, alignment_offset=0) as device, \
            Disk(device.path) as upper:
        upper.write(1, pattern(1, 1, 2))
        limit.write_text("32")
        upper.write(130, pattern(2, 130, 2))
        upper.write(256, pattern(3, 256, 128))		# one whole block, which the disk splits
        limit.write_text(was)
        ledger = device.balanced()
        assert (ledger["rmw_host"], ledger["rmw_drive_limits"], ledger["uncut"]) == (1, 1, 1)
        for tag, sector, sectors in ((1, 1, 2), (2, 130, 2), (3, 256, 128)):
            check(sector, pattern(tag, sector, sectors), upper.read(sector, sectors), "through the target")


def test_a_disk_that_takes_less_than_a_block_of_its_own_is_told_of(rig):
    """Writes that such a disk splits are counted in report; no request can reach the end of a block."""
    with rig.scsi_debug(physblk_exp=7) as path, Align(path, mode="report") as device, Disk(device.path) as upper:
        assert device.attribute("target0_physical_block_size") == "65536"
        upper.write(9, pattern(1, 9, 24))
        assert device.counter("writes_over_limits") == 0
        (sysfs_folder(path) / "queue/max_sectors_kb").write_text("4")
        upper.write(9, pattern(2, 9, 24))
        assert device.counter("writes_over_limits") == 1
        check(9, pattern(2, 9, 24), upper.read(9, 24), "through the target")
        device.balanced()


def test_report_counts_discards_apart_from_writes(rig, disk):
    with Align(disk.path, mode="report", **GEOMETRY) as device, Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 64))
        upper.discard(8, 8)
        ledger = device.balanced()
        assert (ledger["discards"], ledger["discard_bytes"]) == (1, 8 * 512)
        assert (ledger["writes"], ledger["write_bytes"]) == (1, 64 * 512)
        check(0, pattern(1, 0, 8) + bytes(8 * 512) + pattern(1, 16, 48), upper.read(0, 64), "through the target")


def test_coalesce_is_refused_without_a_volatile_write_cache(rig, disk):
    assert queue(disk.path, "write_cache") == "write through"
    said = refusal(rig, lambda: Align(disk.path, mode="coalesce", write_cache="off", **GEOMETRY))
    assert "write_cache off" in said
    with Align(disk.path, mode="pad", **GEOMETRY) as device:
        assert "write_cache on" in refusal(rig, lambda: Message(device, "mode coalesce"))
        device.message("mode report")
    with Align(disk.path, mode="pad", write_cache="on", **GEOMETRY) as device:
        device.message("mode coalesce")
        device.message("mode coalesce")
        # With the cache switched off no flush arrives, so no touch may be held any more.
        (sysfs_folder(device.path) / "queue/write_cache").write_text("write through")
        with Disk(device.path) as upper:
            upper.write(1, pattern(1, 1, 2))
        assert device.counter("touches_held") == 0


def test_a_misaligned_device_is_reported_with_an_unknown_offset(rig, disk):
    """An optimal size that is no multiple of the other part's physical block."""
    with rig.scsi_debug(sector_size=512, physblk_exp=0, opt_blks=1025) as other, \
            memory_disk(blocksize=4096) as large, \
            Device(f"0 8192 linear {large.path} 0", f"8192 8192 linear {other} 0") as torn:
        assert alignment_offset(torn.path) == -1, "the kernel does not report a contradiction: the test proves nothing"
        with Align(torn.path, mode="report") as device:
            assert device.attribute("target0_alignment_offset") == "unknown"
            assert device.pairs()[1]["alignment_offset"] == "unknown"
            assert "alignment_offset" in refusal(rig, lambda: Message(device, "mode pad"))


def test_an_overridden_size_needs_the_offset_unless_the_device_is_a_disk(rig, disk):
    assert "alignment_offset" in refusal(rig, lambda: Align(disk.path, physical_block_size=16384))
    with rig.scsi_debug(physblk_exp=3, lowest_aligned=7) as path:
        assert alignment_offset(path) == 3584
        with Align(path) as device:
            assert device.attribute("target0_alignment_offset") == "3584"
        with Align(path, start=1) as device:
            assert device.attribute("target0_alignment_offset") == "3584", "it counts from the start of the disk"
        with Align(path, physical_block_size=16384) as device:
            assert device.attribute("target0_alignment_offset") == "3584"


def test_a_larger_minimum_is_suggested(rig, disk):
    with Device(f"0 {sectors_of(disk.path)} striped 1 32 {disk.path} 0") as below, Align(below.path) as device:
        assert queue(below.path, "minimum_io_size") == "16384"
        assert device.attribute("suggested_physical_block_size") == "16384"


def test_more_targets_than_have_files_of_their_own(rig, disk):
    features = "8 mode pad physical_block_size 4096 alignment_offset 0 write_cache on"
    lines = [f"{64 * i} 64 align {disk.path} {64 * i} {features}" for i in range(66)]
    with Device(*lines) as device:
        folder = Path("/sys/block", device.block, "align")
        assert (folder / "target63_mode").read_text() == "pad\n" and not (folder / "target64_mode").exists()
        with Disk(device.path) as upper:
            upper.write(64 * 65 + 1, pattern(1, 64 * 65 + 1, 2))
            check(64 * 65 + 1, pattern(1, 64 * 65 + 1, 2), upper.read(64 * 65 + 1, 2), "the last target")
            upper.flush()
        assert (folder / "flushes").read_text() == "1\n"
        with rig.log() as log:
            device.reload(*lines[:-1], lines[-1].replace("4096", "2048"))
        assert "sysfs" not in log.text
        assert (folder / "epoch").read_text() == "1\n", "a target without files has no epoch"


@pytest.mark.parametrize("text", ["mode", "mode pad twice", "mode sideways", "hold_ms 0", "hold_ms -1",
                                  "max_blocks 0", "max_blocks 262145", "flush now", "nonsense", "drop_failed 1"])
def test_a_wrong_message_is_refused_and_changes_nothing(rig, disk, text):
    with Align(disk.path, mode="pad", **GEOMETRY) as device:
        was = device.table()
        with pytest.raises(Refused):
            device.message(text)
        assert device.table() == was


def test_every_file_in_sysfs_can_be_read_before_and_after_a_reset(rig, disk):
    with Align(disk.path, mode="coalesce", **GEOMETRY) as device, Disk(device.path) as upper:
        for sector in (1, 9, 30):
            upper.write(sector, pattern(1, sector, 3))
        upper.flush()
        now = {path.name: path.read_text() for path in device.sysfs.iterdir()}
        assert len(now) > 100 and all(text.endswith("\n") for text in now.values())
        device.message("reset_stats")
        for path in device.sysfs.glob("baseline_*"):
            name = path.name.removeprefix("baseline_")
            assert path.read_text() == now[name], name
        # Another block size begins a new epoch, but not before its table is resumed.
        device.load(device.line(mode="pad", physical_block_size=8192, alignment_offset=0))
        assert device.attribute("target0_physical_block_size") == "4096"
        device.suspend()
        device.resume()
        assert (device.attribute("target0_physical_block_size"), device.attribute("epoch")) == ("8192", "2")
        for path in device.sysfs.iterdir():
            path.read_text()
