# SPDX-License-Identifier: GPL-2.0
"""
Write-zeroes on a SCSI disk, the only one here that supports them: with failing allocations and requests, and cut inside a
block where no plug keeps the parts together.
"""

import time

import pytest

from lab.plugins.extent import only_all
from rig.direct import RWF_NOWAIT, SECTOR, Disk, Later, check, flush_fails, pattern
from rig.dm import Align, Device, queue, sectors_of
from rig.faults import FailingRequests, allocations_fail
from rig.rig import STRESS_LIMIT
from rig.witness import eventually

pytestmark = pytest.mark.timeout(STRESS_LIMIT)

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 3584}
LOAD = {"zeroes": 50, "alignment": 3584, "region": 512, "max_run": 40, "offset": 7, "flush": 3}
# Failing requests, enough for some write-zeroes.
ENOUGH = 60


@pytest.fixture
def disk(rig):
    with rig.scsi_debug(sector_size=512) as path:
        assert queue(path, "write_zeroes_max_bytes") != "0"
        yield path


@pytest.mark.parametrize("mode,percent,max_blocks", [
    *(only_all("sim/test_sim.py: lives in each mode", *row)
      for row in (("report", 0, None), ("pad", 0, None), ("pad", 40, None), ("coalesce", 0, None), ("coalesce", 0, 4),
                  ("pad", 0, 1))), ("coalesce", 40, None)])
def test_stress_with_write_zeroes_is_clean(rig, disk, mode, percent, max_blocks):
    """With all memory, with a percentage of failing allocations, and with few blocks."""
    options = {"hold_ms": 20, "write_cache": "on"} if mode == "coalesce" else {}
    with Align(disk, mode=mode, max_blocks=max_blocks, **GEOMETRY, **options) as device:
        with allocations_fail(percent):
            load = rig.stress(device.path, beneath=disk, torn_reads=True, seconds=rig.seconds / 2, **LOAD)
            load.finish()
        with Disk(device.path) as upper:
            upper.flush()
        ledger = device.balanced()
    assert ledger["write_zeroes"] == load.zeroes > 0
    assert ledger["rmw_expected_zeroes"] == load.zero_touches > 0
    assert ledger["rmw_expected"] == load.touches + load.zero_touches
    assert (ledger["rmw_drive_no_memory"] > 0) == (percent > 0)
    if mode == "report":
        assert ledger["rmw_drive"] == ledger["rmw_expected"]
    elif not percent and not max_blocks:
        assert ledger["rmw_drive"] == 0
    assert (ledger["touches_held"] > 0) == (mode == "coalesce")


@pytest.mark.parametrize("mode", [*(only_all("sim/test_sim.py: lives in each mode", mode) for mode in ("report", "pad")),
                                  "coalesce"])
def test_no_acknowledged_sector_is_lost_while_requests_fail_at_random(rig, disk, mode):
    options = {"hold_ms": 20, "write_cache": "on"} if mode == "coalesce" else {}
    with Device(f"0 {sectors_of(disk)} linear {disk} 0") as below, \
            Align(below.path, mode=mode, **GEOMETRY, **options) as device:
        with FailingRequests(below.path) as requests, \
                rig.stress(device.path, seconds=STRESS_LIMIT, beneath=disk, tolerate_errors=True, **LOAD) as load:
            # The stress retries its first and last requests until they succeed; fail the ones between.
            eventually(lambda: device.counter("write_zeroes") > 0, "the stress does not begin", timeout=60)
            requests.percent(10, times=ENOUGH)
            eventually(lambda: not requests.left, "too few requests fail", timeout=60)
            requests.percent(0)
            load.stop()
        assert load.write_errors > 0, "no request failed: the test proves nothing"
        with Disk(device.path) as upper:
            eventually(lambda: not flush_fails(upper), "the device stays degraded")
        ledger = device.balanced()
        assert ledger["degraded"] == 0


# With all its checks, and on a loaded machine, this kernel is often slower than a block's wait.
ROUNDS = 60


def test_parts_that_the_kernel_cuts_inside_a_block_complete_it_without_a_plug(rig):
    """
    A range longer than the limit, counted in blocks from sector 0: the block layer splits it where, because of
    alignment_offset, there is no boundary. Both parts wait for a change of the mode, and are mapped by workers.
    """
    with rig.scsi_debug(sector_size=512, write_same_length=16) as disk, Disk(disk) as lower, \
            Device(f"0 {sectors_of(disk)} linear {disk} 0") as below, \
            Align(below.path, mode="pad", **GEOMETRY) as device, Disk(device.path) as upper:
        limit = int(queue(device.path, "write_zeroes_max_bytes")) // SECTOR
        assert limit == 16

        def gate_is_closed():
            """Return whether the target itself sends back a NOWAIT write; before, the device below does."""
            sent_back = device.counter("nowait_again")
            with pytest.raises(BlockingIOError):
                upper.write(3007, pattern(2, 3007, 8), flags=RWF_NOWAIT)
            return device.counter("nowait_again") > sent_back

        for tag in range(ROUNDS):
            lower.write(0, pattern(tag + 1, 0, 1024))
            device.set_mode("report")
            before = device.balanced()
            below.suspend()
            stuck = Later(upper.write, 2007, pattern(1, 2007, 8))
            eventually(lambda writes=before["writes"]: device.counter("writes") > writes, "the write does not come")
            change = Later(device.set_mode, "pad")
            eventually(gate_is_closed, "the change of the mode closes no gate")
            zero = Later(upper.zero, 7, limit)
            time.sleep(0.1)		# until both parts are behind the gate
            below.resume()
            for later in (stuck, change, zero):
                later.result()
            after = device.balanced()
            grown = {name: after[name] - before[name] for name in after}
            assert grown["rmw_expected"] == grown["rmw_expected_zeroes"] == 2, "the kernel does not cut this range"
            assert grown["rmw_drive"] == 0
            want = pattern(tag + 1, 0, 7) + bytes(limit * SECTOR) + pattern(tag + 1, 7 + limit, 1024 - 7 - limit)
            check(0, want, lower.read(0, 1024), "beneath the target")
            if not grown["pad_reads"]:
                return
    raise AssertionError("the parts never completed their block")
