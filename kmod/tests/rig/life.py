# SPDX-License-Identifier: GPL-2.0
"""
The life of a device, again and again, in a kernel with KMEMLEAK; the part of test_leaks.py that runs there, where to
import pytest alone would take longer than many rounds.
"""

import contextlib
import re
import time
from pathlib import Path

from .control import Refused
from .direct import Disk, check, pattern
from .dm import Align, Device
from .faults import each_allocation
from .rig import Rig

WARM_UP = 10
KMEMLEAK = Path("/sys/kernel/debug/kmemleak")
WRITES = [(3, 2), (21, 30), (803, 1), (1607, 300)]
# KMEMLEAK does not track pages. A page lost in each of some hundred rounds exceeds these bytes together.
LEAK, NOISE = 2048, 1 << 20
# Of the allocations for a table and its files in sysfs, one in so many fails.
STEP = 7


def life(rig, disk, number):
    """Lead a device through its life: use, suspend, reload, change, loss of its drive, removal."""
    mode = ["pad", "coalesce"][number % 2]
    length = 8192
    linear = f"0 {length} linear {disk} 0"
    options = {"mode": mode, "hold_ms": 60000, "physical_block_size": 4096, "alignment_offset": 0}
    with Device(linear) as below, Align(below.path, **options) as device, Disk(device.path) as upper:
        for step in (lambda: (device.suspend(), device.resume()),
                     lambda: device.reload(device.linear()),
                     lambda: device.reload(device.line(**options)),
                     lambda: device.set_mode("report"),
                     lambda: device.set_mode(mode)):
            for sector, sectors in WRITES:
                upper.write(sector, pattern(number, sector, sectors))
            step()
        for sector, sectors in WRITES:
            check(sector, pattern(number, sector, sectors), upper.read(sector, sectors), f"round {number}")
        below.reload(f"0 {length} error")
        # Some of these writes fail, no matter which.
        for sector, sectors in WRITES:
            with contextlib.suppress(OSError):
                upper.write(sector + 8, pattern(number, sector + 8, sectors))
        try:
            upper.flush()
            upper.write(0, pattern(number, 0, 8))
        except OSError:
            pass
        else:
            raise AssertionError("an error target has accepted a write")
        # Held blocks cannot be written and stay; the errors ended the other known blocks.
        assert (device.counter("held_blocks") > 0) == (mode == "coalesce")
    if number % 5 == 0:
        rig.unload_module()
        rig.load_module()


def without_memory(disk):
    """Load tables and use devices of each mode while allocations fail, one after the other."""
    options = {"hold_ms": 60000, "physical_block_size": 4096, "alignment_offset": 0}

    def table(_):
        with contextlib.suppress(Refused), Align(disk, mode="pad", **options):
            pass

    tried = each_allocation(table, STEP)
    for mode in ("pad", "coalesce"):
        with Align(disk, mode=mode, **options) as device, Disk(device.path) as upper:
            def requests(nth, device=device, upper=upper):
                for sector, sectors in WRITES:
                    upper.write(sector, pattern(nth, sector, sectors))
                device.message("flush")

            tried += each_allocation(requests)
            assert device.counter("rmw_drive_no_memory") > 0, "no allocation of a request failed"
    return tried


def free():
    """Return the bytes of free and reclaimable memory."""
    Path("/proc/sys/vm/drop_caches").write_text("3")
    text = Path("/proc/meminfo").read_text()
    return 1024 * sum(int(re.search(rf"^{name}: +(\d+) kB", text, re.M)[1])
                      for name in ("MemFree", "Cached", "Buffers", "SReclaimable"))


def leaks():
    """Return KMEMLEAK's report; it suspects an object after some seconds without a reference."""
    for _ in range(2):
        time.sleep(6)
        KMEMLEAK.write_text("scan")
    return KMEMLEAK.read_text()


def run(module, rounds):
    rig = Rig(None, None, module)
    Path("/dev/mapper").mkdir(exist_ok=True)
    KMEMLEAK.write_text("scan=off")
    rig.load_module()
    with rig.scsi_debug(sector_size=512, physblk_exp=3) as disk:
        for number in range(WARM_UP):
            life(rig, disk, number)
        KMEMLEAK.write_text("clear")
        before = free()
        for number in range(rounds):
            life(rig, disk, number)
        lost = before - free()
        tried = without_memory(disk)
    rig.unload_module()
    said = leaks()
    assert not said, said
    assert lost < NOISE + rounds * LEAK, f"{lost} bytes are lost after {rounds} rounds"
    print(f"lifecycle: {rounds} rounds under KMEMLEAK, {lost} bytes fewer are free, {tried} allocations "
          "tried in turn, nothing unreferenced")
