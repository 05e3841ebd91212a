# SPDX-License-Identifier: GPL-2.0
"""One round: carries out a plan in a machine, and checks the result. Raises AssertionError or OSError."""

import contextlib
import itertools
import re
import time
from pathlib import Path

from rig.control import NOFLUSH_FLAG, SKIP_LOCKFS_FLAG
from rig.dm import Align

from . import disks

FLAGS = {"flush": 0, "noflush": NOFLUSH_FLAG, "skip_lockfs": SKIP_LOCKFS_FLAG}
FAULT_KNOBS = [Path("/sys/kernel/debug", name) for name in ("failslab", "fail_page_alloc")]
# In a plan only allocations fail, so neither the target nor the block layer may complain.
COMPLAINT = re.compile(r"device-mapper: align: |I/O error")
# Counters that must be 0 without a failure.
NEVER = ("rmw_lost", "times_degraded", "degraded", "held_blocks", "held_bytes", "flushes_failed", "rmw_drive_read_error",
         "rmw_drive_limits", "rmw_drive_atomic")


@contextlib.contextmanager
def failing_memory(percent):
    """Let allocations fail that may not wait, as the engine's; yield whether this kernel supports it."""
    can = bool(percent) and all(path.exists() for path in FAULT_KNOBS)
    if not can:
        yield False
        return
    for knobs in FAULT_KNOBS:
        for name, value in (("ignore-gfp-wait", "Y"), ("verbose", 0), ("times", -1), ("probability", percent)):
            (knobs / name).write_text(str(value))
    (FAULT_KNOBS[1] / "min-order").write_text("0")
    try:
        yield True
    finally:
        for knobs in FAULT_KNOBS:
            (knobs / "probability").write_text("0")


@contextlib.contextmanager
def _enough_memory():
    """Suspend the failures: a table may rightly be refused without memory, which is not the subject of a round."""
    before = {path: path.read_text() for path in (knobs / "probability" for knobs in FAULT_KNOBS) if path.exists()}
    for path in before:
        path.write_text("0")
    try:
        yield
    finally:
        for path, text in before.items():
            path.write_text(text)


def _swap(device, lines, how, pause):
    """Replace the table; `pause` ms between suspend and resume."""
    with _enough_memory():
        device.load(*lines)
    device.suspend(FLAGS[how])
    time.sleep(pause / 1000)
    device.resume()


def _read_all(device):
    device.status()
    device.table()
    for path in device.sysfs.iterdir():
        path.read_text()


def _step(device, beneath, step):
    name, value, pause, how = step
    if name in ("mode", "hold_ms", "max_blocks"):
        device.message(f"{name} {value}")
    elif name in ("flush", "reset_stats", "drop_failed"):
        device.message(name)
    elif name == "suspend":
        device.suspend(FLAGS[how])
        time.sleep(pause / 1000)
        device.resume()
        return
    elif name in ("reload", "resize", "geometry"):
        _swap(device, value.lines(beneath.path), how, pause)
    elif name == "linear":
        _swap(device, value.linear(beneath.path), how, pause)
        time.sleep(pause / 1000)
        _swap(device, value.lines(beneath.path), how, pause)
    elif name == "delay":
        _swap(beneath.delayed, [beneath.delay_line(value)], how, pause)
    elif name == "drop_caches":
        Path("/proc/sys/vm/drop_caches").write_text("3")
    elif name == "read_all":
        _read_all(device)
    else:
        raise ValueError(f"a plan has the unknown step {name}")
    time.sleep(pause / 1000)


def _change(device, beneath, plan, load):
    """Go through the plan's steps until the load ends; return their number."""
    done = 0
    for step in itertools.cycle(plan.steps):
        if not load.running():
            break
        _step(device, beneath, step)
        done += 1
    return done


def _options(plan, device, disk):
    """Return the options of sectorstress for a plan."""
    load, table = plan.load, plan.table
    return {
        "seed": plan.seed, "beneath": disk, "beneath_offset": table.start, "torn_reads": True, "stall": 60,
        "physical": table.physical, "alignment": table.alignment, "threads": load.threads, "offset": load.offset,
        "region": load.region, "max_run": load.max_run, "reads": load.reads, "zeroes": load.zeroes,
        "discard": load.discard if disks.can(device.path, "discard") else 0, "flush": load.flush, "fua": load.fua,
        "memory_align": load.memory_align, "border": table.border or False}


def _check_counts(plan, load, ledger):
    """Check the ledger against sectorstress's own counts."""
    for name in NEVER:
        assert ledger[name] == 0, f"{name} is {ledger[name]}, although no request has failed"
    if not plan.counted:
        return
    # For a device without write-zeroes, the kernel writes zeroes instead, each time as one request.
    as_writes = ledger["write_zeroes"] == 0
    touches = load.touches + load.zero_touches
    assert ledger["rmw_expected"] == touches, f"rmw_expected is {ledger['rmw_expected']}, sectorstress counts {touches}"
    if not plan.table.border:
        writes = load.writes + load.zeroes * as_writes
        assert ledger["writes"] == writes, f"writes is {ledger['writes']}, sectorstress counts {writes}"


def _check_memory(device, plan):
    """Check that no block is in use after a flush, and no memory after a suspend."""
    device.message("flush")
    assert device.counter("target0_blocks") == 0, "blocks are in use after the message flush, and nothing is in flight"
    device.suspend()
    device.resume()
    for index in range(2 if plan.table.border else 1):
        for name in ("blocks", "memory_bytes"):
            value = device.counter(f"target{index}_{name}")
            assert value == 0, f"target{index}_{name} is {value} after a suspend, and nothing is in flight"


def carry_out(rig, plan):
    """Carry out the plan; return the figures of the round, as a dict."""
    with disks.made(rig, plan.disk) as beneath, rig.log() as log:
        device = Align(beneath.path, plan.table.start, plan.table.length)
        device.lines = plan.table.lines(beneath.path)
        with device, failing_memory(plan.memory_fails) as fails:
            with rig.stress(device.path, seconds=plan.load.seconds, **_options(plan, device, beneath.disk)) as load:
                steps = _change(device, beneath, plan, load)
                load.finish()
            ledger = device.balanced()
            _check_counts(plan, load, ledger)
            _check_memory(device, plan)
    complaints = [line for line in log.text.splitlines() if COMPLAINT.search(line)]
    assert not complaints, "the kernel log complains:\n  " + "\n  ".join(complaints[:20])
    return {"operations": load.operations, "touches": load.touches, "steps": steps, "memory_failed": fails,
            "held": ledger["touches_held"], "left_to_drive": ledger["rmw_drive"], "slowest_ms": load.slowest_ms}
