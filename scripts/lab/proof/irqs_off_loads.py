# SPDX-License-Identifier: GPL-2.0
"""Make one load on a device in mode coalesce, in the guest of irqs_off.py, and measure the sections with interrupts off.

    python3 irqs_off_loads.py MEASURE LOAD HELD FUNCTION...

MEASURE is one of

    all    the irqsoff tracer: the longest section of the kernel, with its trace, which has each FUNCTION of the module that was
           called there: where a request ends in an interrupt, what ends it has interrupts off, and begins no section
    own    the events that the tracer is made of, of sections that the module begins: how many there are of each begin and
           each power of two of nanoseconds, and the longest of them. Where the kernel is off for longer elsewhere, the
           tracer shows nothing of the module.

LOAD is a name in LOADS, or "control": a section of CONTROL_US in a module of the kernel's own. HELD is the number of blocks to
hold. What is made before a load is not measured. The answer, a line of JSON, has the text of the
kernel's files for the host to read. Uses only the standard library, because the guest has no virtual environment.
"""

import bisect
import contextlib
import fcntl
import json
import mmap
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")
NAME, DEVICE, MODULE = "irqs", "/dev/mapper/irqs", "dm_align"
SECTOR, BLOCK, SPAN = 512, 4096, 1 << 30
# The most that a table accepts, and of those at a time: of more than three quarters, the oldest are written.
MAX_BLOCKS = 262144
MOST_HELD = MAX_BLOCKS * 3 // 4
STREAMS, ROUNDS = 2000, 16
BLKDISCARD = 0x1277
CONTROL_US, CONTROL_MODULE = 300, "preemptirq_delay_test"


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Disk:
    """The device, and one buffer for all requests. blocks: how many are held for a load, from the first on."""

    def __init__(self, path, blocks, size=1 << 20):
        self.blocks = blocks
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.map = mmap.mmap(-1, size)
        self.map[:] = b"\xa5" * size
        self.view = memoryview(self.map)

    def write(self, at, size):
        if os.pwrite(self.fd, self.view[:size], at) != size:
            sys.exit(f"a write of {size} bytes at {at} is short")

    def read(self, at, size):
        if os.preadv(self.fd, [self.view[:size]], at) != size:
            sys.exit(f"a read of {size} bytes at {at} is short")

    def hold(self, blocks):
        """Write all of each block but a sector, so that as much as possible is held of it."""
        for number in range(blocks):
            self.write(number * BLOCK + SECTOR, BLOCK - SECTOR)

    def discard(self):
        fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("QQ", 0, SPAN))

    def flush(self):
        os.fsync(self.fd)

    def stream(self):
        """Go on with each of many streams in turn: writes of a block's size, a sector off."""
        each = SPAN // STREAMS // BLOCK * BLOCK
        for number in range(ROUNDS):
            for stream in range(STREAMS):
                self.write(stream * each + number * BLOCK + SECTOR, BLOCK)

    def overwrite(self):
        for at in range(0, self.blocks * BLOCK, len(self.map)):
            self.write(at, len(self.map))

    def look(self):
        for at in range(0, self.blocks * BLOCK, len(self.map)):
            self.read(at, len(self.map))


def suspend(_disk):
    run("dmsetup", "suspend", "--nolockfs", NAME)


# What lies below: brd ends a request when it is submitted, null_blk in the interrupt of a timer.
BRD, NULL_BLK = "/dev/ram0", "/dev/nullb0"
# {name: (device below, whether blocks are held before, the load)}. A load's `disk` is the device's.
LOADS = {
    # A third more than are held at a time.
    "hold": (BRD, False, lambda disk: disk.hold(disk.blocks * 4 // 3)),
    "discard": (BRD, True, lambda disk: disk.discard()),
    "suspend": (BRD, True, suspend),
    "streams": (BRD, False, lambda disk: disk.stream()),
    "overwrite": (BRD, True, lambda disk: disk.overwrite()),
    "read": (BRD, True, lambda disk: disk.look()),
    "flush": (BRD, True, lambda disk: disk.flush()),
    "read-irq": (NULL_BLK, True, lambda disk: disk.look()),
    "flush-irq": (NULL_BLK, True, lambda disk: disk.flush()),
}


def status():
    """Return the counters of the device."""
    words = run("dmsetup", "status", NAME).split()
    return {name: int(value) for name, _, value in (word.partition(":") for word in words) if value.isdigit()}


@contextlib.contextmanager
def device(lower, most):
    """Make the device for a load. Behind a failure nothing is removed: the guest ends."""
    sectors = int(run("blockdev", "--getsz", lower))
    if lower == BRD:
        # What an earlier load wrote takes memory.
        run("blkdiscard", lower)
    run("dmsetup", "create", NAME, "--table",
        f"0 {sectors} align {lower} 0 12 mode coalesce physical_block_size {BLOCK} alignment_offset 0 write_cache on "
        f"max_blocks {most} hold_ms 600000")
    yield
    run("dmsetup", "resume", NAME)
    run("dmsetup", "remove", NAME)


def put(path, text):
    (TRACING / path).write_text(text)


def module_text(module):
    """Return where the code of a module lies and where the kernel's begins: first address, behind the last, the kernel's."""
    places = {}
    for line in Path("/proc/modules").read_text().splitlines():
        name, size, _, _, _, base, *_ = line.split()
        places[name] = int(base, 16), int(size)
    begin, size = places[module]
    # The size is that of code and data, which lie apart.
    behind = min([begin + size, *(base for base, _ in places.values() if base > begin)])
    with Path("/proc/kallsyms").open() as symbols:
        return begin, behind, next(int(line.split()[0], 16) for line in symbols if line.endswith(" _stext\n"))


class All:
    """The longest section of the kernel, by the irqsoff tracer."""

    def __init__(self, module, traced):
        self.module = module
        put("tracing_on", "0")
        # Each traced call counts for longer, so only some functions are.
        known = (TRACING / "available_filter_functions").read_text().splitlines()
        traced = [line.split()[0] for line in known if line.endswith(f" [{module}]") and line.split(".")[0].split()[0] in traced]
        if traced:
            put("set_ftrace_filter", "".join(f"{name}:mod:{module}\n" for name in traced))
        put("options/function-trace", "1" if traced else "0")
        put("current_tracer", "irqsoff")

    @contextlib.contextmanager
    def __call__(self):
        put("tracing_max_latency", "0")
        put("tracing_on", "1")
        yield
        put("tracing_on", "0")

    def result(self):
        found = {"us": int((TRACING / "tracing_max_latency").read_text()), "trace": (TRACING / "trace").read_text(),
                 "functions": functions(self.module)}
        put("current_tracer", "nop")
        put("set_ftrace_filter", "")
        return found


class Own:
    """The longest sections that begin in a module, by the same hooks as the tracer's.

    An event has the function that switches interrupts off or on, a lock's as a rule, and the one that called it, as offsets
    from the kernel's start.
    """

    EVENT = "irqs_off_section"

    def __init__(self, module, _traced):
        put("tracing_on", "0")
        put("current_tracer", "nop")
        first, behind, self.kernel = module_text(module)
        inside = " || ".join(f"({field} >= {first - self.kernel} && {field} < {behind - self.kernel})"
                             for field in ("parent_offs", "caller_offs"))
        put("synthetic_events", f"{self.EVENT} u64 lat; s32 by; s32 start; s32 end\n")
        put("events/preemptirq/irq_disable/trigger",
            f"hist:keys=common_cpu:ts0=common_timestamp,by=caller_offs,s=parent_offs if {inside}\n")
        put("events/preemptirq/irq_enable/trigger",
            "hist:keys=common_cpu:lat=common_timestamp-$ts0:onmatch(preemptirq.irq_disable)"
            f".trace({self.EVENT},$lat,$by,$s,parent_offs)\n")
        put(f"events/synthetic/{self.EVENT}/trigger", "hist:keys=by,start,lat.log2:l=lat:onmax($l).save(end)\n")

    @contextlib.contextmanager
    def __call__(self):
        put("tracing_on", "1")
        yield
        put("tracing_on", "0")

    def result(self):
        found = (TRACING / f"events/synthetic/{self.EVENT}/hist").read_text()
        offsets = set(re.findall(r"\b(?:by|start|end): +(\d+)", found))
        # What is opened to be written anew loses its content; a variable must outlive those who read it.
        for event in (f"synthetic/{self.EVENT}", "preemptirq/irq_enable", "preemptirq/irq_disable"):
            put(f"events/{event}/trigger", "")
        put("synthetic_events", "")
        return {"hist": found, "names": names(self.kernel, offsets)}


def functions(module):
    """Return the names of a module's functions."""
    with Path("/proc/kallsyms").open() as symbols:
        return [words[2] for words in map(str.split, symbols) if words[3:] == [f"[{module}]"] and words[1] in "tT"]


def names(kernel, offsets):
    """Return {offset: name of the function there}, offsets as the histogram prints them: negative ones without a sign."""
    with Path("/proc/kallsyms").open() as symbols:
        lines = sorted((int(words[0], 16), " ".join(words[2:])) for words in map(str.split, symbols) if words[1] in "tTwW")
    places = [place for place, _ in lines]
    return {offset: lines[bisect.bisect_right(places, (int(offset) + kernel) % (1 << 64)) - 1][1] for offset in offsets}


MEASURES = {"all": All, "own": Own}


def main(measure, load, held, *traced):
    if load == "control":
        run("modprobe", CONTROL_MODULE, "test_mode=irq", f"delay={CONTROL_US}", "burst_size=1")
        measuring = MEASURES[measure](CONTROL_MODULE, traced)
        with measuring():
            Path(f"/sys/kernel/{CONTROL_MODULE}/trigger").write_text("1")
        print(json.dumps({"held": 0, **measuring.result()}))
        return
    lower, holds, act = LOADS[load]
    with device(lower, int(held) * 4 // 3):
        disk = Disk(DEVICE, int(held))
        if holds:
            disk.hold(disk.blocks)
        before = status()
        measuring = MEASURES[measure](MODULE, traced)
        with measuring():
            act(disk)
        after = status()
        os.close(disk.fd)
        print(json.dumps({"held": before["held_blocks"], "held_after": after["held_blocks"], **measuring.result()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
