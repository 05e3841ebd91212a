# SPDX-License-Identifier: GPL-2.0
"""The target's memory beside its blocks, and its full use by a batch of writes."""

import time

from lab.pace import Limit, scaled
from rig.direct import SECTOR, Disk, Later, Together, check, pattern
from rig.dm import Align, Device, sectors_of
from rig.faults import allocations_fail
from rig.memdisk import memory_disk
from rig.stuck import Stuck

BLOCK = 8
GAP = 0.3		# scaled seconds in which a request reaches its waiting place
GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}
PHYSICAL = 4096
SPARE_RUNS = 16 + 1		# HOLD_MAX_RUNS, and the reserve


def test_a_discard_over_held_neighbours_has_them_read_in_runs(rig, disk):
    with Align(disk.path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, Disk(device.path) as upper:
        for block in range(32):
            upper.write(block * BLOCK + 2, pattern(1, block * BLOCK + 2, 3))
        upper.discard(0, 32 * BLOCK)
        ledger = device.balanced()
        assert ledger["rmw_host"] == 32, "held blocks are written before a discard, which may do nothing"
        assert ledger["pad_reads"] <= 4, "blocks were read separately"


def test_a_discard_over_held_blocks_keeps_the_limit_of_reads_beside_them(rig, disk):
    with Stuck(disk.path) as stuck, Align(stuck.path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, \
            Disk(device.path) as upper:
        for block in range(0, 160, 2):
            upper.write(block * BLOCK + 2, pattern(1, block * BLOCK + 2, 3))
        before = int(device.attribute("target0_memory_bytes"))
        stuck.stop()
        discard = Later(upper.discard, 0, 160 * BLOCK)
        time.sleep(scaled(GAP))
        spare = int(device.attribute("target0_memory_bytes")) - before
        assert not discard.done()
        assert 0 < spare <= SPARE_RUNS * PHYSICAL, f"{spare / PHYSICAL} blocks are read into memory of their own"
        stuck.flow()
        discard.result()
        device.balanced()


def test_what_is_tried_again_after_a_suspend_keeps_the_limit(rig, disk):
    length = sectors_of(disk.path)
    with Device(f"0 {length} linear {disk.path} 0") as below, \
            Align(below.path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, Disk(device.path) as upper:
        places = [block * BLOCK + 2 for block in range(0, 160, 2)]
        for sector in places:
            upper.write(sector, pattern(1, sector, 3))
        below.reload(f"0 {length} error")
        device.suspend()
        assert device.counter("degraded") == len(places)
        before = int(device.attribute("target0_memory_bytes"))
        below.load(f"0 {length} delay {disk.path} 0 700 {disk.path} 0 0")
        below.suspend()
        below.resume()
        time.sleep(5.5)		# HOLD_RETRY_MS: all are due
        device.resume()
        spare = 0
        limit = Limit(60)
        while device.counter("held_blocks") and not limit.over():
            spare = max(spare, int(device.attribute("target0_memory_bytes")) - before)
            time.sleep(0.02)
        assert 0 < spare <= SPARE_RUNS * PHYSICAL, f"{spare / PHYSICAL} blocks are read into memory of their own"
        upper.flush()
        with Disk(disk.path) as lower:
            for sector in places:
                check(sector, pattern(1, sector, 3), lower.read(sector, 3), "beneath")
        device.balanced()


def test_a_batch_of_more_blocks_than_there_may_be_is_served_while_it_is_sent(rig):
    """One task sends all writes before it sleeps or ends its plug."""
    with memory_disk(irqmode=0) as disk, \
            Align(disk.path, mode="pad", max_blocks=64, **GEOMETRY) as device, Disk(device.path) as upper:
        together = Together(upper, [(block * 2 * BLOCK + 1, pattern(1, block * 2 * BLOCK + 1, 1)) for block in range(1024)])
        assert not any(together.results())
        ledger = device.balanced()
        assert ledger["rmw_expected"] == 1024
        assert ledger["rmw_host"] > 64, f"no block was served before the end: {ledger['rmw_drive_max_blocks']} went by"


def test_a_table_is_loaded_where_memory_can_be_had_by_waiting_only(rig, disk):
    with allocations_fail(100), Align(disk.path, mode="pad", **GEOMETRY) as device:
        assert device.attribute("target0_mode") == "pad"


def test_discards_end_at_granules_of_the_disk_where_they_are_cut(rig):
    """A granule has more held blocks than one lock is held over, and scsi_debug discards none in part."""
    granule, blocks = 2048, 96
    first = granule // 2
    with rig.scsi_debug(megabytes=8, physblk_exp=3, lbpu=1, unmap_granularity=granule) as path, \
            Align(path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, Disk(device.path) as upper:
        data = bytearray(pattern(1, 0, 4 * granule))
        upper.write(0, bytes(data))

        def touch_blocks():
            for sector in range(first + 2, first + BLOCK * blocks, BLOCK):
                upper.write(sector, pattern(2, sector, 3))
                data[sector * SECTOR:(sector + 3) * SECTOR] = pattern(2, sector, 3)
            assert device.counter("held_blocks") == blocks

        touch_blocks()
        upper.discard(first, BLOCK * blocks)
        check(0, bytes(data), upper.read(0, 4 * granule), "behind a discard inside a granule")
        touch_blocks()
        upper.discard(first, 2 * granule)
        data[granule * SECTOR:2 * granule * SECTOR] = bytes(granule * SECTOR)
        check(0, bytes(data), upper.read(0, 4 * granule), "behind the discard of one granule and parts of two")
        device.balanced()


def test_more_reads_of_a_smaller_block_than_an_interrupt_serves_have_their_data(rig):
    """The first one's request is stuck; one more serves all others, which came meanwhile."""
    content, asked = pattern(1, 0, 2 * BLOCK), [(BLOCK + number % BLOCK, 1) for number in range(24)]
    with memory_disk(blocksize=4096) as disk:
        with Disk(disk.path) as lower:
            lower.write(0, content)
        with Stuck(disk.path) as stuck, Align(stuck.path, mode="pad", logical_block_size=512) as device, \
                Disk(device.path) as upper:
            stuck.stop()
            together = Together(upper, asked, in_step=True)
            stuck.flow()
            assert together.results() == [0] * len(asked)
            for (sector, sectors), got in zip(asked, together.contents(), strict=True):
                check(sector, content[sector * SECTOR:(sector + sectors) * SECTOR], got, "read")
            ledger = device.balanced()
            assert (ledger["reads_bounced"], ledger["bounce_reads"]) == (len(asked), 2)
