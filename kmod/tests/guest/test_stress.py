# SPDX-License-Identifier: GPL-2.0
"""Sixteen threads of random runs on one small region, with a model of every sector; alone and while things change."""

import contextlib
import itertools

import pytest

from lab.plugins.extent import only_all
from rig.control import NOFLUSH_FLAG, SKIP_LOCKFS_FLAG, Refused
from rig.direct import Later
from rig.dm import Align
from rig.rig import STRESS_LIMIT
from rig.witness import eventually

pytestmark = [pytest.mark.timeout(STRESS_LIMIT), pytest.mark.two_processors]

MODES = ["report", "pad", "coalesce"]
# A load of one mode in make check.
HARDEST = [*(only_all("sim/test_sim.py: lives in each mode", mode) for mode in MODES[:2]), "coalesce"]


@contextlib.contextmanager
def quick(rig, mode):
    """
    Yield a disk that answers at once, on the submitter's own CPU; for coalesce a drive with a write cache, because a table
    of linear on a disk without one removes the flag.
    """
    if mode == "coalesce":
        yield rig.drive("p4096").path
        return
    with rig.brd() as path:
        yield path


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode,physical", [
    only_all("coalesce and pad make requests of their own", "report", 4096), ("pad", 4096),
    only_all("of the block's size the kernel knows nothing", "pad", 16384), ("coalesce", 4096)])
def test_stress_on_the_drive_is_clean_and_the_drive_agrees(rig, mode, physical):
    drive = rig.drive(f"p{physical}")
    drive.reset()
    with Align(drive.path, mode=mode) as device:
        load = rig.stress(device.path, beneath=drive.path, physical=physical, flush=1, fua=5)
        load.finish()
        ledger, stats = device.balanced(), drive.stats()
        assert ledger["rmw_expected"] == load.touches
        assert stats["touches"] == ledger["rmw_drive"] == (load.touches if mode == "report" else 0)
        assert stats["rmws"] + stats["rmws_saved_by_cache"] >= stats["touches"]


@pytest.mark.parametrize("mode", HARDEST)
def test_stress_with_the_first_boundary_at_3584_is_clean(rig, mode):
    drive = rig.drive("offset3584")
    drive.reset()
    with Align(drive.path, mode=mode, physical_block_size=4096, alignment_offset=3584) as device:
        load = rig.stress(device.path, beneath=drive.path, alignment=3584, seconds=rig.seconds / 2)
        load.finish()
        # The region starts inside block 0, which starts before the device: an edge.
        ledger = device.balanced()
        assert ledger["rmw_expected"] == load.touches
        assert drive.stats()["touches"] == ledger["rmw_drive"]
        if mode != "report":
            assert ledger["rmw_drive"] == ledger["rmw_drive_edge"]


@pytest.mark.parametrize("mode", HARDEST)
def test_stress_on_memory_is_clean(rig, mode):
    """A RAM disk answers at once and on the submitter's own CPU: the other extreme of timing."""
    with rig.brd() as path, Align(path, mode=mode) as device:
        load = rig.stress(device.path, beneath=path, zeroes=5, flush=1, fua=2, torn_reads=True)
        load.finish()
        ledger = device.balanced()
        if mode != "report":
            assert ledger["rmw_drive"] == 0
        assert (ledger["touches_held"] > 0) == (mode == "coalesce")


@pytest.mark.parametrize("mode", HARDEST[1:])
def test_stress_with_discards_and_write_zeroes_on_a_slow_drive_is_clean(rig, mode):
    """With four milliseconds a request, every race between requests of different kinds is possible."""
    drive = rig.drive("slow4ms")
    with Align(drive.path, mode=mode) as device:
        def waited():
            rig.stress(device.path, beneath=drive.path, zeroes=10, discard=10, region=512, max_run=40).finish()
            ledger = device.balanced()
            assert ledger["discards"] > 0 and ledger["write_zeroes"] > 0
            return ledger["waits"] > 0

        # On a busy host few requests are in flight together.
        eventually(waited, "nothing waits for a block", timeout=STRESS_LIMIT / 2)


@pytest.mark.parametrize("mode", HARDEST[1:])
def test_one_block_of_memory_is_enough(rig, mode):
    """max_blocks 1: writes wait or go down unmodified, but all of them end and none is wrong."""
    with rig.brd() as path, Align(path, mode=mode, max_blocks=1) as device:
        load = rig.stress(device.path, beneath=path, torn_reads=True, seconds=rig.seconds / 2)
        load.finish()
        ledger = device.balanced()
        assert ledger["rmw_drive_max_blocks"] > 0, "the ceiling was never reached"
        assert ledger["rmw_host"] + ledger["rmw_avoided"] > 0, "no touch was padded"


@pytest.mark.check_all("sim/test_sim.py looks at the number of blocks all the time")
def test_the_memory_ceiling_holds_under_load(rig):
    with rig.brd() as path, Align(path, mode="pad", max_blocks=4) as device:
        load = rig.stress(device.path, beneath=path, torn_reads=True, seconds=rig.seconds / 2)
        most = 0
        while load.running():
            most = max(most, device.counter("target0_blocks"))
            assert device.counter("target0_memory_bytes") <= 4 * 8192
        load.finish()
        assert 1 <= most <= 4, f"{most} blocks were in use, the ceiling is 4"


@pytest.mark.check_all("sim/test_sim.py: no request waits for 20000 of the drive")
@pytest.mark.parametrize("mode", ["pad", "coalesce"])
def test_a_flood_of_writes_to_one_block_starves_nobody(rig, mode):
    """Sixteen writers of a single block; a request that waits for 20 seconds fails the run."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode=mode) as device:
        load = rig.stress(device.path, beneath=drive.path, region=8, max_run=8, stall=20, flush=2, fua=2,
                          seconds=rig.seconds / 2)
        load.finish()
        device.balanced()


def lasting(rig, device, beneath, **options):
    """Start a stress that shake() ends."""
    return rig.stress(device.path, beneath=beneath, seconds=STRESS_LIMIT, **options)


@pytest.mark.parametrize("mode", HARDEST)
def test_suspend_and_resume_under_load(rig, mode):
    with quick(rig, mode) as path, Align(path, mode=mode) as device:
        load = lasting(rig, device, path, torn_reads=True, flush=1)
        load.shake([device.suspend, device.resume,
                    lambda: device.suspend(NOFLUSH_FLAG), device.resume,
                    lambda: device.suspend(SKIP_LOCKFS_FLAG), device.resume])
        device.resume()
        load.finish()
        assert device.balanced()["rmw_expected"] == load.touches


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", [only_all("coalesce has more to end", mode) if mode != "coalesce" else mode for mode in MODES])
def test_reload_between_linear_and_align_under_load(rig, mode):
    with quick(rig, mode) as path, Align(path, mode=mode) as device:
        seen = []

        def to_linear():
            seen.append(device.counter("writes"))
            device.reload(device.linear())

        load = lasting(rig, device, path, torn_reads=True, flush=1)
        load.shake([to_linear, lambda: device.reload(device.line(mode=mode))])
        load.finish()
        device.reload(device.line(mode=mode))
        device.balanced()
        assert max(seen) > 0, "no write went through the target"


def test_reload_with_another_block_size_and_mode_change_under_load(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device:
        load = lasting(rig, device, drive.path)
        load.shake([
            lambda: device.reload(device.line(mode="pad", physical_block_size=16384, alignment_offset=512)),
            lambda: device.set_mode("report"),
            lambda: device.reload(device.line(mode="report")),
            lambda: device.set_mode("pad"),
            lambda: device.message("max_blocks 2"),
            lambda: device.reload(device.line(mode="pad", physical_block_size=65536, alignment_offset=0)),
            lambda: device.message("reset_stats"),
            lambda: device.message("flush"),
        ])
        load.finish()
        device.balanced()


@pytest.mark.check_all("sim/test_sim.py changes them in most lives")
def test_holding_while_its_bounds_change_under_load(rig):
    """Touches are held for a moment or for good, in much or in little memory, and released for any reason."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="coalesce", hold_ms=60000) as device:
        load = lasting(rig, device, drive.path, flush=1, fua=2, zeroes=2, discard=2, region=512, max_run=24)
        load.shake([lambda text=text: device.message(text) for text in (
            "hold_ms 1", "max_blocks 2", "hold_ms 60000", "max_blocks 1024", "flush", "hold_ms 20", "mode pad",
            "max_blocks 16", "mode coalesce", "drop_failed", "mode report", "mode coalesce", "hold_ms 60000")] + [
            device.suspend, device.resume, lambda: device.reload(device.line(mode="coalesce", hold_ms=60000))])
        device.resume()
        load.finish()
        ledger = device.balanced()
        assert ledger["touches_held"] > 0 and ledger["rmw_lost"] == ledger["times_degraded"] == 0
        assert ledger["rmw_expected"] == load.touches + load.zero_touches


def test_changes_from_several_sides_at_once_under_load(rig):
    """The mode, the table, the suspended state and the readers, none of which waits for the others."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device:
        load = lasting(rig, device, drive.path, flush=1)

        def modes():
            for mode in itertools.cycle(("report", "pad", "coalesce")):
                if not load.running():
                    return
                # A suspended device takes no message.
                with contextlib.suppress(Refused):
                    device.set_mode(mode)

        def readers():
            while load.running():
                device.status()
                device.table()
                for path in device.sysfs.iterdir():
                    path.read_text()

        others = [Later(modes), Later(readers)]
        load.shake([device.suspend, device.resume, lambda: device.reload(device.line(mode="pad")),
                    lambda: device.message("reset_stats")])
        device.resume()
        for other in others:
            other.result()
        load.finish()
        assert device.balanced()["rmw_expected"] == load.touches
