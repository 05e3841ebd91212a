# SPDX-License-Identifier: GPL-2.0
"""Each wait for held blocks ends within a bound in requests of the drive, beside any load of other writers."""

import contextlib
import time

import pytest

from lab.pace import Limit
from lab.plugins.extent import only_all
from rig.direct import Disk, Later, flush_fails, pattern
from rig.dm import Align, Device
from rig.memdisk import memory_disk
from rig.witness import TRACING, FlushTrace, Trace, completed, eventually

BLOCK = 8
MIB = 2048		# sectors
APART = 256		# sectors between the blocks that the tool "flood" writes
# A drive that takes long for a request, so that requests wait for one another.
SLOW = {"completion_nsec": 10_000_000, "megabytes": 1024}
GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}
# Queue and in-flight requests of the disk.
DEPTH = 64
# Runs of held blocks that may read at a time (HOLD_MAX_RUNS).
RUNS = 16
# The cost of a held block, at most: a read, a write, and one request that waited for the block; and the drain work takes a block
# of each of three kinds in turn.
PER_BLOCK, TURNS = 3, 3
# So many times the bound may pass until this program notices an end, as the processors are busy.
MANY = 16

pytestmark = pytest.mark.timeout(300)


def bound(held):
    """Return the most requests that a flush may last if so many blocks are held: those, and the requests in flight meanwhile."""
    return TURNS * PER_BLOCK * (held + RUNS) + 2 * DEPTH


def requests_of_flush(flush, mapped, disk, most):
    """Call flush() and return its result and how many requests the disk was sent meanwhile, which are at most `most`."""
    with FlushTrace(mapped, disk) as trace:
        before, limit = completed(disk), Limit(120)
        later = Later(flush)
        while not later.done():
            done = completed(disk) - before
            assert done <= MANY * most or trace.ended(), \
                f"the flush has not ended after {done} requests of the disk; {most} are enough"
            assert not limit.over(), f"the flush has not ended after {limit} and {done} requests"
            with contextlib.suppress(TimeoutError):
                later.wait(0.02)
    print(f"the disk was sent {trace.requests} requests during the flush; at most {most}")
    assert trace.requests <= most, f"the flush lasted {trace.requests} requests of the disk; {most} are enough"
    return later.result()


@contextlib.contextmanager
def regions(path, number, apart):
    """Make linear devices, each on a block of the first 64 MiB of `path`, as the kernel orders the discards of a device."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Device(f"0 {BLOCK} linear {path} {i * apart}")).path for i in range(number)]


@pytest.mark.parametrize("threads", [8, only_all("sim/test_sim.py: floods of up to 176 writes against a flush", 128)])
def test_a_flush_ends_beside_threads_that_discard_what_they_have_written(rig, threads):
    """The discards want their blocks written first, which are in another shard than the one that the flush waits for."""
    rig.load_module()
    with memory_disk(**SLOW) as disk, Align(disk.path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, \
            regions(device.path, threads, 64 * MIB // 128) as parts, Disk(device.path) as upper, \
            rig.beside("flood", threads, "discard", *parts):
        eventually(lambda: completed(disk.path) > 20 * threads, "the flood does not begin", timeout=120)
        upper.write(512 * MIB + 1, pattern(1, 1, 1))
        requests_of_flush(upper.flush, device.path, disk.path, bound(threads + 1))


@pytest.mark.check_all("a flush ends beside fewer threads, and a message waits for the same")
@pytest.mark.parametrize("text", ["flush", "mode pad"])
def test_messages_end_beside_threads_that_discard_what_they_have_written(rig, text):
    """No event of the kernel tells when a message begins and ends, so the count is that at this thread's next look."""
    rig.load_module()
    threads = 128
    with memory_disk(**SLOW) as disk, Align(disk.path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, \
            regions(device.path, threads, 64 * MIB // 128) as parts, Disk(device.path) as upper, \
            rig.beside("flood", threads, "discard", *parts):
        eventually(lambda: completed(disk.path) > 20 * threads, "the flood does not begin", timeout=120)
        upper.write(512 * MIB + 1, pattern(1, 1, 1))
        before, most = completed(disk.path), bound(threads + 1)
        later = Later(device.message, text)
        while not later.done():
            done = completed(disk.path) - before
            assert done <= MANY * most, f"the message has not ended after {done} requests of the disk; {most} are enough"
            with contextlib.suppress(TimeoutError):
                later.wait(0.02)
        later.result()
        print(f"the message ended after {completed(disk.path) - before} requests; {most} are enough")


@pytest.mark.check_all("sim/test_sim.py: nothing is held long after hold_ms")
def test_a_block_is_written_after_hold_ms_beside_threads_that_discard_what_they_have_written(rig):
    """Within the same bound of requests, from when it is due."""
    rig.load_module()
    threads, hold_ms, place = 128, 200, 512 * MIB
    with memory_disk(**SLOW) as disk, Align(disk.path, mode="coalesce", hold_ms=hold_ms, **GEOMETRY) as device, \
            regions(device.path, threads, 64 * MIB // 128) as parts, Disk(device.path) as upper, Disk(disk.path) as lower, \
            rig.beside("flood", threads, "discard", *parts):
        eventually(lambda: completed(disk.path) > 20 * threads, "the flood does not begin", timeout=120)
        with Trace(disk.path) as trace:
            upper.write(place + 1, pattern(1, place + 1, 1))
            time.sleep(2 * hold_ms / 1000)
            (TRACING / "trace").write_text("")
            before, most = completed(disk.path), bound(threads + 1)
            while lower.read(place + 1, 1) != pattern(1, place + 1, 1):
                done = completed(disk.path) - before
                assert done <= MANY * most, f"a block that is due is not written after {done} requests; {most} are enough"
        sent = [number for number, request in enumerate(trace.requests) if request.op == "W" and request.sector == place]
        print(f"the block was written {f'behind {sent[0]} requests' if sent else 'before it was looked for'}; at most {most}")
        assert not sent or sent[0] <= most, f"the block was written behind {sent[0]} requests; {most} are enough"


def test_a_flush_fails_beside_a_flood_of_writes_if_a_block_cannot_be_written(rig):
    """The block has failed before, and has to be retried for the flush, however much else is to be written."""
    rig.load_module()
    blocks = 256
    with memory_disk(**SLOW) as disk, Align(disk.path, mode="coalesce", hold_ms=1, **GEOMETRY) as device, \
            Device(f"0 {blocks * APART} linear {device.path} 0") as elsewhere, Disk(device.path) as upper:
        # Bad first: hold_ms may pass, and the block be written, before this thread has a processor again.
        disk.bad(512 * MIB, BLOCK)
        upper.write(512 * MIB + 1, pattern(1, 1, 1))
        assert flush_fails(upper), "the block can be written: the test proves nothing"
        with rig.beside("flood", 256, "write", elsewhere.path):
            before = completed(disk.path)
            eventually(lambda: completed(disk.path) > before + 2 * blocks, "the flood does not begin", timeout=120)
            assert requests_of_flush(lambda: flush_fails(upper), device.path, disk.path, bound(blocks + 1)), \
                "a flush succeeds though a block cannot be written"
        assert device.counter("degraded") == 1
        disk.heal()
        eventually(lambda: not flush_fails(upper), "the device stays degraded")
