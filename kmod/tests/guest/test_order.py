# SPDX-License-Identifier: GPL-2.0
"""No lost update: every order of two overlapping requests, over a device whose delays make the windows wide."""

import contextlib
import itertools

import pytest

from lab.pace import scaled
from lab.plugins.extent import only_all
from rig.direct import SECTOR, Disk, Later, Together, check, describe, pattern
from rig.dm import Align, Device, sectors_of
from rig.rig import STRESS_LIMIT
from rig.stuck import Stuck
from rig.witness import eventually, reads, writes

BLOCK = 8		# sectors, P = 4096
APART = 8 * BLOCK	# sectors of one scenario, whose block is the fourth of the eight
GAP = 0.15		# seconds between two requests of a scenario

# Requests around the block [0, 8): operation, first sector and length.
KINDS = {
    "left": ("write", 0, 3),		# partial, from the block's start
    "right": ("write", 4, 4),		# partial, to its end; no sector in common with "left"
    "middle": ("write", 2, 4),		# partial, has sectors in common with both
    "whole": ("write", 0, 8),
    "run": ("write", -8, 24),		# whole blocks, this one in their middle
    "straddle": ("write", -3, 7),	# the tail of the block before and the head of this
    "long": ("write", -13, 30),		# both ends partial in other blocks, this one whole
    "discard": ("discard", 0, 8),
    "zero": ("zero", 0, 8),
    "zero part": ("zero", 1, 5),
    "zero straddle": ("zero", -3, 7),
    "zero long": ("zero", -13, 30),
}


WRITES = [kind for kind, (what, _, _) in KINDS.items() if what == "write"]
WRITE_PAIRS = list(itertools.product(WRITES, WRITES))


# A partial write, a request that has to wait for it, and a third that has to wait for the second: content read for the
# first must not serve the third.
CHAINS = list(itertools.product(("left", "middle"), ("whole", "run", "long"), ("right", "middle", "straddle"))) + \
    list(itertools.product(("left", "straddle"), ("whole", "long"), ("right", "middle"), ("whole", "run")))


def chains_with(other):
    """Return chains of a discard or write-zeroes before, after and between the writes that differ most."""
    partners = ("left", "whole", "straddle", "long")
    return [pair for partner in partners for pair in ((other, partner), (partner, other))] + [
        ("left", other, "right"), ("middle", other, "straddle"), ("left", other, "middle", other)]


class Slow:
    """`below` with its reads and its writes (discards and write-zeroes too) delayed, in scaled milliseconds."""

    def __init__(self, below, read, write):
        length = sectors_of(below)
        self.device = Device(f"0 {length} delay {below} 0 {round(scaled(read))} {below} 0 {round(scaled(write))}")

    def __enter__(self):
        return self.device.__enter__()

    def __exit__(self, *error):
        return self.device.__exit__(*error)


def has_other(chain):
    return any(kind not in WRITES for kind in chain)


@contextlib.contextmanager
def lanes(device, number):
    """
    Yield an iterator of `number` disks that all show the whole of `device`.

    The kernel runs one discard or write-zeroes of a block device at a time (under its page cache's lock), so scenarios
    with such requests need a device each to run simultaneously.
    """
    length = sectors_of(device.path)
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(Device(f"0 {length} linear {device.path} 0")) for _ in range(number)]
        yield iter([stack.enter_context(Disk(lane.path)) for lane in made])


class Done:
    """A completed request: its times, and the content of each sector if no other one follows."""

    def __init__(self, disk, base, kind, tag, after=0.0):
        what, first, self.count = KINDS[kind]
        self.kind, self.first = kind, base + first
        self.zeroes, self.optional = what != "write", what == "discard"
        self.data = bytes(self.count * SECTOR) if self.zeroes else pattern(tag, self.first, self.count)
        call = {"write": lambda: disk.write(self.first, self.data),
                "discard": lambda: disk.discard(self.first, self.count),
                "zero": lambda: disk.zero(self.first, self.count)}[what]
        self.later = Later(call, after=after)

    def covers(self, sector):
        return self.first <= sector < self.first + self.count

    def content(self, sector):
        return self.data[(sector - self.first) * SECTOR:][:SECTOR]


def lawful(before, requests, sector):
    """Return the lawful content of `sector`: of each covering request after whose end no other one began."""
    covering = [r for r in requests if r.covers(sector)]
    # A discard may leave the old content, so it supersedes none.
    settled = [r for r in covering if not r.optional]
    last = [r for r in covering if not any(s.later.began > r.later.ended for s in settled)]
    contents = {r.content(sector) for r in last}
    if not any(not r.optional for r in last):
        contents.add(before)
    return contents


def of_sector(i):
    return slice(i * SECTOR, (i + 1) * SECTOR)


def judge(scenario, before, base, requests, places):
    """Fail if a sector of a scenario is unlawful; `places` has each content found, and where."""
    start = base - 4 * BLOCK
    reached = range(min(r.first for r in requests) - start, max(r.first + r.count for r in requests) - start)
    for got, where in places:
        for part in (slice(0, reached.start * SECTOR), slice(reached.stop * SECTOR, None)):
            assert got[part] == before[part], f"{scenario}, {where}: sectors that no request reaches have changed"
    for i in reached:
        allowed = lawful(before[of_sector(i)], requests, start + i)
        for got, where in places:
            found = got[of_sector(i)]
            assert found in allowed, (f"{scenario}, {where}: sector {i - 4 * BLOCK} from the block holds "
                                      f"{describe(found)}, lawful: {', '.join(map(describe, allowed))}")


def play(device, lower, chains):
    """
    Play each chain of kinds, every request begun while the earlier ones are in flight; a read of the block between the
    first two; after all have ended, one more partial write, which would put back content kept too long. All chains run
    simultaneously, each in separate blocks. Fail if a sector then has unlawful content, through `device` or in `lower`
    beneath.
    """
    total = len(chains) * APART
    original = pattern(1000, 0, total)
    for at in range(0, total, 1024):
        lower.write(at, original[at * SECTOR:(at + 1024) * SECTOR])
    with Disk(device.path) as upper, lanes(device, sum(has_other(chain) for chain in chains)) as lane:
        scenarios = []
        for i, chain in enumerate(chains):
            base = i * APART + 4 * BLOCK
            disk = next(lane) if has_other(chain) else upper
            requests = [Done(disk, base, kind, 8 * i + place, after=GAP * place) for place, kind in enumerate(chain)]
            between = Later(upper.read, base, BLOCK, after=GAP / 2)
            scenarios.append((" then ".join(chain), base, requests, between))
        for _, _, requests, between in scenarios:
            for request in requests:
                request.later.result()
            between.result()
        for i, (_, base, requests, _) in enumerate(scenarios):
            requests.append(Done(upper, base, "middle" if i % 2 else "left", 8 * i + 7))
        for _, _, requests, _ in scenarios:
            requests[-1].later.result()
        upper.flush()
        through, beneath = upper.read(0, total), lower.read(0, total)
        for scenario, base, requests, _ in scenarios:
            own = slice((base - 4 * BLOCK) * SECTOR, (base + 4 * BLOCK) * SECTOR)
            judge(scenario, original[own], base, requests,
                  [(through[own], "through the target"), (beneath[own], "beneath it")])
    ledger = device.balanced()
    mode = device.attribute("target0_mode")
    if mode == "pad":
        assert ledger["waits"] > 0, "no request waited for another: the windows were not open"
    if mode != "report":
        assert ledger["rmw_drive"] == 0
    assert (ledger["touches_held"] > 0) == (mode == "coalesce")
    return ledger


@pytest.mark.parametrize("mode,read_ms,write_ms,hold_ms", [
    only_all("report makes no request of its own", "report", 0, 600, None),
    ("pad", 0, 600, None), only_all("sim/test_sim.py: drives that take any time for each", "pad", 600, 0, None),
    only_all("between the two before it", "pad", 300, 300, None),
    only_all("sim/test_sim.py: all lengths of hold_ms", "coalesce", 0, 600, 1),
    only_all("sim/test_sim.py: discard-ends-held, range-overtakes-read, touch-overtakes-range", "coalesce", 300, 300, 200)])
def test_no_order_of_requests_loses_a_later_one(rig, mode, read_ms, write_ms, hold_ms):
    """
    With slow writes the chains include both races of an aligned write with an RMW around it, and their mirror images
    (discards in place of either); slow reads widen the other half. With a short hold_ms, a held block is being written
    when the next request comes.
    """
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, Slow(drive.path, read_ms, write_ms) as slow, \
            Align(slow.path, mode=mode, hold_ms=hold_ms) as device:
        play(device, lower, WRITE_PAIRS + CHAINS + chains_with("discard"))


@pytest.mark.parametrize("other,mode,hold_ms", [
    ("zero straddle", "coalesce", 200),
    *(only_all("sim/test_sim.py: write-zeroes and discards of any sectors", other, "coalesce", 200)
      for other in ("zero", "zero long", "discard")),
    only_all("its blocks are those of a straddle", "zero part", "coalesce", 200),
    *(only_all("sim/test_sim.py: write-zeroes and discards of any sectors", other, "pad", None)
      for other in ("discard", "zero", "zero straddle", "zero part", "zero long"))])
def test_no_order_of_a_write_and_a_write_zeroes_loses_the_later_one(rig, other, mode, hold_ms):
    """On a drive that takes 300 ms for every request, as dm-delay does not support write-zeroes, which would become writes."""
    drive = rig.drive("slow300ms")
    with Disk(drive.path) as lower, Align(drive.path, mode=mode, hold_ms=hold_ms) as device:
        ledger = play(device, lower, chains_with(other))
        assert ledger["discards" if other == "discard" else "write_zeroes"] > 0
        assert (ledger["rmw_expected_zeroes"] > 0) == (other in ("zero part", "zero straddle", "zero long"))


@pytest.mark.check_all("sim/test_exhaustive.py: write-then-cached-read")
def test_a_read_beside_an_aligned_write_leaves_nothing_behind(rig):
    """
    An aligned write is in flight; a read of its block runs beside it; the write is acknowledged; a partial write then must
    not put back the content of the read.
    """
    drive = rig.drive("p4096")
    with Slow(drive.path, 0, 600) as slow, Align(slow.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 8))
        whole = Later(upper.write, 0, pattern(2, 0, 8))
        Later(upper.read, 0, 8, after=GAP, behind=whole).result()
        assert not whole.done(), "the read must run beside the write"
        whole.result()
        upper.write(3, pattern(3, 3, 1))
        want = pattern(2, 0, 3) + pattern(3, 3, 1) + pattern(2, 4, 4)
        check(0, want, upper.read(0, 8), "through the target")
        with Disk(drive.path) as lower:
            check(0, want, lower.read(0, 8), "beneath it")


@pytest.mark.check_all("sim/test_exhaustive.py: write-under-rmw, range-overtakes-read")
@pytest.mark.parametrize("read_ms,write_ms", [(0, 600), (600, 0)])
def test_an_aligned_write_waits_for_the_rmw_of_its_block(rig, read_ms, write_ms):
    """The mirror image: the RMW reads, or has read and writes, when the aligned write arrives; the aligned write wins."""
    drive = rig.drive("p4096")
    with Slow(drive.path, read_ms, write_ms) as slow, Align(slow.path, mode="pad") as device, \
            Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 8))
        drive.reset()
        part = Later(upper.write, 3, pattern(2, 3, 1))
        whole = Later(upper.write, 0, pattern(3, 0, 8), after=GAP, behind=part)
        part.result()
        whole.result()
        # The order in which the two threads wake proves nothing; the duration of the aligned write does.
        assert whole.ended >= part.began + scaled(read_ms + 2 * write_ms) / 1000 - 0.01, "the aligned write has not waited"
        check(0, pattern(3, 0, 8), upper.read(0, 8), "through the target")
        with Disk(drive.path) as lower:
            check(0, pattern(3, 0, 8), lower.read(0, 8), "beneath it")
        assert [(r.sector, r.sectors) for r in writes(drive.log())] == [(0, 8), (0, 8)]


def while_read(stuck, device, upper, first, others):
    """Make the write `first`, which has its block read, and the writes `others` before the read ends."""
    reads_before = device.counter("pad_reads")
    stuck.stop()
    together = [Together(upper, [first])]
    eventually(lambda: device.counter("pad_reads") > reads_before, "the block is not read")
    together.append(Together(upper, others))
    stuck.flow()
    for each in together:
        assert not any(each.results())


def test_partial_writes_in_flight_together_share_one_read_and_one_write(rig):
    drive = rig.drive("p4096")
    with Stuck(drive.path) as stuck, Align(stuck.path, mode="pad") as device, Disk(device.path) as upper:
        before = upper.read(0, 8)
        drive.reset()
        first, *others = ((at, pattern(at, at, 1)) for at in (0, 2, 4, 6))
        while_read(stuck, device, upper, first, others)
        ledger, stats = device.balanced(), drive.stats()
        assert (stats["reads"], stats["writes"], stats["touches"]) == (1, 1, 0)
        assert (ledger["rmw_host"], ledger["rmw_avoided_merged"]) == (1, 3)
        want = bytearray(before)
        for at in (0, 2, 4, 6):
            want[at * SECTOR:(at + 1) * SECTOR] = pattern(at, at, 1)
        check(0, bytes(want), upper.read(0, 8), "through the target")


def test_halves_that_waited_for_a_whole_write_need_no_read(rig):
    """Both halves wait for the write in flight; afterwards they cover the block together."""
    drive = rig.drive("p4096")
    with Stuck(drive.path) as stuck, Align(stuck.path, mode="pad") as device, Disk(device.path) as upper:
        drive.reset()
        stuck.stop()
        together = Together(upper, [(0, pattern(1, 0, 8)), (0, pattern(2, 0, 4)), (4, pattern(3, 4, 4))])
        stuck.flow()
        assert not any(together.results())
        stats, ledger = drive.stats(), device.balanced()
        assert (stats["reads"], stats["writes"], stats["touches"]) == (0, 2, 0)
        assert ledger["rmw_avoided_complete"] == ledger["rmw_expected"] == 2
        check(0, pattern(2, 0, 4) + pattern(3, 4, 4), upper.read(0, 8), "through the target")


def test_partial_writes_that_complete_a_block_need_no_second_request(rig):
    """Eight sectors are written separately while the block is being read: one write, which replaces all read content."""
    drive = rig.drive("p4096")
    with Stuck(drive.path) as stuck, Align(stuck.path, mode="pad") as device, Disk(device.path) as upper:
        drive.reset()
        first, *others = ((at, pattern(at + 1, at, 1)) for at in range(8))
        while_read(stuck, device, upper, first, others)
        stats, ledger = drive.stats(), device.balanced()
        assert (stats["reads"], stats["writes"], stats["touches"]) == (1, 1, 0)
        assert ledger["rmw_expected"] == 8
        want = b"".join(pattern(at + 1, at, 1) for at in range(8))
        check(0, want, upper.read(0, 8), "through the target")


@pytest.mark.parametrize("overwrite", ["whole", "discard", "zero"])
def test_known_content_ends_when_something_writes_over_it(rig, overwrite):
    """A partial write leaves its block known; after a request that covers the block, the next partial write reads again."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 8))
        upper.write(3, pattern(2, 3, 1))
        request = Done(upper, 0, overwrite, 3)
        request.later.result()
        rest = upper.read(0, 8)
        upper.write(5, pattern(4, 5, 1))
        want = bytearray(rest)
        want[5 * SECTOR:6 * SECTOR] = pattern(4, 5, 1)
        check(0, bytes(want), upper.read(0, 8), "through the target")
        with Disk(drive.path) as lower:
            check(0, bytes(want), lower.read(0, 8), "beneath it")


def test_known_content_ends_after_a_short_time(rig):
    """Another program may write beneath, so known content expires soon after the activity."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 8))

        def kept():
            """Return whether the block was known soon enough after the write, on a loaded machine."""
            upper.write(3, pattern(2, 3, 1))
            return device.counter("target0_blocks") >= 1

        eventually(kept, "the block is never known")
        eventually(lambda: device.counter("target0_blocks") == 0, "a block is still known", timeout=2)
        reads_before = device.counter("pad_reads")
        upper.write(4, pattern(3, 4, 1))
        assert device.counter("pad_reads") == reads_before + 1


@pytest.mark.check_all("sim/test_sim.py: mode-without-gate")
def test_report_to_pad_reads_nothing_before_the_report_writes_have_ended(rig):
    """
    Writes mapped in report are not registered, so a concurrent pad read could see the content that they replace. The
    drive's log has the order of service.
    """
    drive = rig.drive("p4096")
    with Slow(drive.path, 0, 600) as slow, Align(slow.path, mode="report") as device, Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 128))
        drive.reset()
        early = [Later(upper.write, block * 8, pattern(2, block * 8, 8)) for block in range(8)]
        change = Later(device.set_mode, "pad", after=GAP, behind=early[-1])
        late = [Later(upper.write, block * 8 + 2, pattern(3, block * 8 + 2, 3), after=GAP, behind=change) for block in range(16)]
        change.result()
        for write in early + late:
            write.result()
        slowest = max(write.began for write in early) + scaled(0.6)
        assert change.ended >= slowest, "the change must wait for the writes of report"
        log = drive.log()
        first_read = log.index(reads(log)[0])
        assert len([r for r in log[:first_read] if r.op == "W"]) == 8, f"a pad read came too early: {log[:24]}"
        assert device.balanced()["rmw_drive_report"] == 0
        for block in range(16):
            old = 2 if block < 8 else 1
            at = block * 8
            check(at, pattern(old, at, 2) + pattern(3, at + 2, 3) + pattern(old, at + 5, 3), upper.read(at, 8),
                  "through the target")


@pytest.mark.two_processors
@pytest.mark.timeout(STRESS_LIMIT)
def test_report_to_pad_and_back_under_load(rig):
    drive = rig.drive("p4096")
    length = sectors_of(drive.path)
    with Device(f"0 {length} delay {drive.path} 0 1 {drive.path} 0 5") as slow, \
            Align(slow.path, mode="report") as device:
        load = rig.stress(device.path, beneath=drive.path, seconds=STRESS_LIMIT)
        load.shake([lambda: device.set_mode("pad"), lambda: device.set_mode("report")])
        load.finish()
        assert load.touches == device.balanced()["rmw_expected"]
