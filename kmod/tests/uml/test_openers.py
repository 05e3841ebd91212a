# SPDX-License-Identifier: GPL-2.0
"""A layer that opened a device before it had a write cache sends no flushes, so no touch may be held."""

import pytest

from rig import control
from rig.direct import Disk, check, pattern
from rig.dm import Align, Device, queue, sectors_of

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}
LONG = 60000


class Inactive(Align):
    """A device that has an inactive table only."""

    def __enter__(self):
        control.create(self.name)
        self.load(*self.lines)
        return self


def written_is_beneath(disk, upper, sector, tag):
    upper.write(sector, pattern(tag, sector, 1))
    upper.flush()
    with Disk(disk.path) as lower:
        check(sector, pattern(tag, sector, 1), lower.read(sector, 1), "beneath the target after a flush")


def test_nothing_is_held_below_a_device_that_was_stacked_on_an_inactive_table(rig, disk):
    length = sectors_of(disk.path)
    with Inactive(disk.path, mode="pad", **GEOMETRY) as low:
        with Device(f"0 {length} linear {low.path} 0") as up, Disk(up.path) as upper, rig.log() as log:
            assert queue(up.path, "write_cache") == "write through"
            low.load(low.line(mode="coalesce", hold_ms=LONG, **GEOMETRY))
            low.resume()
            assert low.attribute("target0_mode") == "coalesce"
            written_is_beneath(disk, upper, 1, 1)
            assert low.attribute("target0_holding") == "0"
            assert low.counter("touches_held") == 0
            # Neither another table nor a suspend changes the belief of the layer above.
            low.reload(low.line(mode="coalesce", hold_ms=LONG, **GEOMETRY))
            written_is_beneath(disk, upper, 9, 2)
            low.set_mode("pad")
            with pytest.raises(control.Refused):
                low.set_mode("coalesce")
            written_is_beneath(disk, upper, 17, 3)
        assert "coalesce holds nothing" in log.text
        assert "coalesce: the device was open without a write cache" in log.text
        low.set_mode("coalesce")
        with Device(f"0 {length} linear {low.path} 0") as up, Disk(up.path) as upper:
            assert queue(up.path, "write_cache") == "write back"
            upper.write(25, pattern(4, 25, 1))
            assert low.counter("held_blocks") == 1
            written_is_beneath(disk, upper, 33, 5)


def test_nothing_is_held_on_a_device_that_gains_its_cache_while_it_is_open(rig, disk):
    with Device(f"0 {sectors_of(disk.path)} linear {disk.path} 0") as device:
        align = Align(disk.path, write_cache="on", mode="report", **GEOMETRY)
        with Disk(device.path) as upper:
            device.reload(align.lines[0])
            with pytest.raises(control.Refused):
                device.message("mode coalesce")
            written_is_beneath(disk, upper, 1, 1)
        device.message("mode coalesce")
        with Disk(device.path) as upper:
            upper.write(9, pattern(2, 9, 1))
            assert " held_blocks:1 " in device.status()


def test_a_device_that_has_a_cache_holds_whoever_has_it_open(rig):
    with rig.scsi_debug(physblk_exp=3) as path, Device(f"0 {sectors_of(path)} linear {path} 0") as device, \
            Disk(device.path) as upper:
        assert queue(device.path, "write_cache") == "write back"
        device.reload(Align(path, mode="coalesce", hold_ms=LONG).lines[0])
        upper.write(1, pattern(1, 1, 1))
        assert " held_blocks:1 " in device.status()
