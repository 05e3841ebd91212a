# SPDX-License-Identifier: GPL-2.0
"""The required figures: the runs that each needs, and its verdict on a record.

Pure functions of a record. A figure whose runs are missing is not met; a figure whose
conditions did not hold is void.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Any

from align_reports.table import size_name

from . import duel, forecast, idle, overhead, rates, recording, smaller
from .arms import BLOCK, SECTOR
from .cases import DRIVES, STEPS, TABLE_DRIVES
from .record import Record, Run, Series
from .schedule import Need, table_needs

MET, NOT_MET, VOID, MISSING = "met", "NOT MET", "void", "not measured"
# Of what cannot be measured on this machine, and of what is only told.
SKIPPED, TOLD = "skipped", "told"
PASSING = (MET, SKIPPED, TOLD)

# Greatest load of the guest with which a figure about depth 32 counts.
BUSIEST = 0.80
# Memory that a block may use beside its content.
BLOCK_OVERHEAD = 512


@dataclass(frozen=True)
class Figure:
    """One line of the table. value: the compared number, if there is one."""

    row: str
    measure: str
    required: str
    measured: str
    verdict: str
    value: float | None = None


@dataclass(frozen=True)
class Row:
    """A group of figures: its name for --only, the runs that it needs, and its figures."""

    name: str
    about: str
    needs: tuple[Need, ...]
    figures: Callable[[Record], Iterator[Figure]]
    overhead: bool = False
    duel: bool = False
    open_loop: bool = False
    recording: bool = False
    rates: bool = False
    idle: bool = False
    made: bool = False
    smaller: bool = False
    forecast: bool = False


def _verdict(met: bool) -> str:
    return MET if met else NOT_MET


def _missing(row: str, measure: str, required: str, *wanted: str) -> Figure:
    return Figure(row, measure, required, f"no run of {', '.join(wanted)}", MISSING)


def _ms(us: float) -> str:
    return f"{us / 1000:.3g} ms"


def _with_spread(series: Series) -> str:
    """Describe the spread of a median, if there is more than one run."""
    if len(series.values) < 2:
        return "1 run"
    return f"{len(series.values)} runs, spread {series.spread:.0%}"


def _scale(run: Run, published: int) -> str:
    """Return the count of a run, with the published count if the run's is smaller."""
    return f"{run.count}" if run.count == published else f"{run.count} (published {published})"


def _worst(runs: list[Run], quantity: Callable[[Run], Any]) -> Run:
    """Return the run with the greatest quantity, as counts must hold in every repetition."""
    return max(runs, key=quantity)


STREAMS = (("w136k", 5000), ("w4k_132k", 5000), ("diskbenchi-existing", 4000),
           ("seq8k-shifted", 131072))


def _streams(record: Record) -> Iterator[Figure]:
    for case, published in STREAMS:
        runs = record.find("instant", case, "coalesce")
        measure = f"{case}, coalesce: touches at the drive / pad reads"
        if not runs:
            yield _missing("streams", measure, "0 / Rmin", f"{case} coalesce")
            continue
        run = _worst(runs, lambda r: (r.drive["touches"], r.pad_reads))
        yield Figure("streams", f"{measure}, {_scale(run, published)}",
                     f"0 / {run.replay['rmin']}",
                     f"{run.drive['touches']} / {run.pad_reads} "
                     f"({run.drive['reads']} reads and {run.drive['writes']} writes at the drive)",
                     _verdict(run.drive["touches"] == 0
                              and run.pad_reads <= run.replay["rmin"]))


def _fresh(record: Record) -> Iterator[Figure]:
    measure = "diskbenchi-fresh, coalesce: touches at the drive / pad reads"
    runs = record.find("instant", "diskbenchi-fresh", "coalesce")
    if not runs:
        yield _missing("fresh", measure, "0 / one a 2 MiB write", "diskbenchi-fresh coalesce")
        return
    run = _worst(runs, lambda r: (r.drive["touches"], r.pad_reads))
    yield Figure("fresh", f"{measure}, {_scale(run, 4000)}", f"0 / <= {run.count}",
                 f"{run.drive['touches']} / {run.pad_reads} (Rmin "
                 f"{run.replay['rmin']} would take a copy of the last whole block of each write)",
                 _verdict(run.drive["touches"] == 0 and run.pad_reads <= run.count))


def largest_request(queue: dict[str, int]) -> int:
    """Return the bytes of the largest request that a queue allows, made of single pages."""
    return min(queue["max_sectors_kb"] * 1024, queue["max_segments"] * BLOCK)


def _held(record: Record) -> Iterator[Figure]:
    measure = "w512, coalesce, held until the end: reads / writes at the drive"
    runs = record.find("instant", "w512-held", "coalesce")
    if not runs:
        yield _missing("w512-requests", measure, "ceil(n P / largest request) + 2 each",
                       "w512-held coalesce")
        return
    run = _worst(runs, lambda r: max(r.drive["reads"], r.drive["writes"]))
    queue = record.queues["instant"]
    largest = largest_request(queue)
    most = math.ceil(run.count * BLOCK / largest) + 2
    yield Figure("w512-requests", f"{measure}, {_scale(run, 20000)}",
                 f"<= {most} each (largest request {largest // 1024} KiB: max_sectors_kb "
                 f"{queue['max_sectors_kb']}, max_segments {queue['max_segments']})",
                 f"{run.drive['reads']} / {run.drive['writes']}",
                 _verdict(max(run.drive["reads"], run.drive["writes"]) <= most))


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a quantity of a run."""

    on: str
    case: str
    arm: str
    quantity: Callable[[Run], float]

    def of(self, record: Record) -> Series | None:
        return record.series(self.on, self.case, self.arm, self.quantity)

    @property
    def title(self) -> str:
        return f"{self.case} {self.arm}"


def _compare(record: Record, row: str, measure: str, over: Side, under: Side,
             limit: float, at_least: bool, unit: Callable[[float], str],
             note: Callable[[], str] = str) -> Figure:
    """Compare a ratio of two medians with its limit."""
    required = f"{'>=' if at_least else '<='} {limit:g}"
    top, bottom = over.of(record), under.of(record)
    if not top or not bottom:
        lacking = [side.title for side, found in ((over, top), (under, bottom)) if not found]
        return _missing(row, measure, required, *lacking)
    value = top.median / bottom.median
    text = (f"{value:.3g} = {over.title} {unit(top.median)} ({_with_spread(top)}) / "
            f"{under.title} {unit(bottom.median)} ({_with_spread(bottom)})")
    extra = note()
    met = value >= limit if at_least else value <= limit
    return Figure(row, measure, required, f"{text}; {extra}" if extra else text, _verdict(met),
                  value)


def _mean(run: Run) -> float:
    return run.mean_us


def _wall(run: Run) -> float:
    """Return the time per count, so that a pair of writes is compared with the one write that covers it."""
    return run.wall_us * STEPS.get(run.case, 1)


def _settled(run: Run) -> float:
    return run.settled_us * STEPS.get(run.case, 1)


def _busy(run: Run) -> float:
    return run.busy_us * STEPS.get(run.case, 1)


def _iops(run: Run) -> float:
    return run.iops


def _cpu_note(record: Record, on: str, case: str, *arms: str) -> str:
    found = {arm: record.series(on, case, arm, lambda r: r.cpu) for arm in arms}
    return "guest's processors busy: " + ", ".join(
        f"{arm} {series.median:.0%}" for arm, series in found.items() if series)


def _reads_note(record: Record, on: str, case: str, *arms: str) -> str:
    """Note the reads: dm-ebs also reads whole blocks, unless the pages of a write happen to be neighbours."""
    found = {arm: record.series(on, case, arm, lambda r: r.drive["reads"] / r.requests)
             for arm in arms}
    return "reads a write: " + ", ".join(
        f"{arm} {series.median:.1f}" for arm, series in found.items() if series)


def _latency(record: Record) -> Iterator[Figure]:
    yield _compare(record, "w136k-latency",
                   "w136k, coalesce against the same at offset 0 raw, mean latency, fixed 2 ms",
                   Side("fixed-2ms", "w136k", "coalesce", _mean),
                   Side("fixed-2ms", "w136k-aligned", "raw", _mean), 1.15, False, _ms)


def _converge(record: Record) -> Iterator[Figure]:
    yield _compare(record, "w4k-wall", "w4k_132k against w136k, coalesce, wall, fixed 2 ms",
                   Side("fixed-2ms", "w4k_132k", "coalesce", _wall),
                   Side("fixed-2ms", "w136k", "coalesce", _wall), 1.25, False, _ms)


def _aligned_note(record: Record, on: str) -> str:
    """Note the drive's time for the same bytes when aligned and written to the drive itself."""
    series = record.series(on, "w136k-aligned", "raw", _busy)
    return f"aligned raw, the same bytes: busy {_ms(series.median)}" if series else ""


def _published(record: Record) -> Iterator[Figure]:
    """Compare with the published case. The busy time has a floor: with a slow guest the drive misses revolutions."""
    on, case = "st1000dm003", "w4k_132k"
    for what, quantity, limit in (("drive's busy time", _busy, 5.0), ("wall", _wall, 2.0)):
        yield _compare(record, "w4k-st1000dm003",
                       f"{case} on {on}, raw against coalesce, {what}",
                       Side(on, case, "raw", quantity), Side(on, case, "coalesce", quantity),
                       limit, True, _ms,
                       lambda: "; ".join(filter(None, (
                           _cpu_note(record, on, case, "raw", "coalesce"),
                           _aligned_note(record, on)))))


def _nocache(record: Record) -> Iterator[Figure]:
    on, case = "hdd-nocache", "w512"
    for what, quantity in (("wall", _wall), ("wall and the flush behind it", _settled)):
        yield _compare(record, "w512-nocache", f"{case} on {on}, raw against coalesce, {what}",
                       Side(on, case, "raw", quantity), Side(on, case, "coalesce", quantity),
                       20, True, _ms, lambda: _cpu_note(record, on, case, "raw", "coalesce"))


def _void_if_busy(record: Record, figure: Figure, on: str, case: str, *arms: str) -> Figure:
    """Make a figure void if the guest's processors were full, as it then measures the guest."""
    busiest = max((series.median for arm in arms
                   if (series := record.series(on, case, arm, lambda r: r.cpu))), default=0.0)
    if figure.verdict == MISSING or busiest <= BUSIEST:
        return figure
    return Figure(figure.row, figure.measure, figure.required, figure.measured, VOID,
                  figure.value)


def _in_flight(record: Record, on: str, case: str, *arms: str) -> str:
    """Note the mean requests at the drive: with a fixed latency, its busy time over the wall time."""
    found = {arm: record.series(on, case, arm,
                                lambda r: r.drive["busy_ns"] / 1e9 / r.replay["wall_s"])
             for arm in arms}
    most = DRIVES[on].depth / (DRIVES[on].request_ms / 1000)
    return "in flight at the drive: " + ", ".join(
        f"{arm} {series.median:.1f}" for arm, series in found.items() if series) + (
        f" of the {DRIVES[on].depth} that QEMU carries, which allow {most:.0f} requests a second")


def _rand512(record: Record, row: str, peer: str, limit: float) -> Iterator[Figure]:
    on, case = "fixed-10ms", "rand512-32"
    figure = _compare(
        record, row, f"512 B random, depth 32, pad against {peer}, writes a second, fixed 10 ms",
        Side(on, case, "pad", _iops), Side(on, case, peer, _iops), limit, True,
        lambda iops: f"{iops:.0f}/s",
        lambda: f"{_cpu_note(record, on, case, 'pad', peer)}; "
                f"{_in_flight(record, on, case, 'pad', peer)}")
    yield _void_if_busy(record, figure, on, case, "pad", peer)


def _rand512_raw(record: Record) -> Iterator[Figure]:
    return _rand512(record, "rand512-raw", "raw", 0.45)


def _rand512_ebs(record: Record) -> Iterator[Figure]:
    return _rand512(record, "rand512-ebs", "ebs", 3)


def _w136k_ebs(record: Record) -> Iterator[Figure]:
    yield _compare(record, "w136k-ebs", "w136k, dm-ebs (cold) against pad, wall, fixed 2 ms",
                   Side("fixed-2ms", "w136k", "ebs", _wall),
                   Side("fixed-2ms", "w136k", "pad", _wall), 14, True, _ms,
                   lambda: _reads_note(record, "fixed-2ms", "w136k", "ebs", "pad"))


def _append(record: Record) -> Iterator[Figure]:
    for arm in ("pad", "coalesce"):
        measure = f"512 B appended, each durable, {arm}: pad reads per 4096 B"
        runs = record.find("instant", "append-512-dsync", arm)
        if not runs:
            yield _missing("append", measure, "<= 1", f"append-512-dsync {arm}")
            continue
        # The drive's other reads are replay's look for signatures before the writes.
        run = _worst(runs, lambda r: r.pad_reads)
        value = run.pad_reads / (run.requests * SECTOR / BLOCK)
        yield Figure("append", measure, "<= 1",
                     f"{value:.3g} ({run.pad_reads} pad reads for {run.requests} "
                     f"writes; {run.drive['reads']} reads at the drive)",
                     _verdict(value <= 1), value)


def _overhead(record: Record) -> Iterator[Figure]:
    for engine in overhead.ENGINES:
        figures = record.overhead.get(engine, {})
        for arm, limit in (("report", 1.2), ("pad", 1.25), ("coalesce", 1.25)):
            measure = f"instructions above raw, aligned 4 KiB, {arm} (dm-linear = 1), {engine}"
            value = overhead.ratio(figures, arm)
            if value is None:
                yield _missing("overhead", measure, f"<= {limit:g}", f"overhead {engine} {arm}")
                continue
            runs = len(figures[arm])
            least, most = overhead.ratio_spread(figures, arm)
            verdict = _verdict(value <= limit) if runs >= overhead.FEWEST_RUNS else VOID
            yield Figure("overhead", measure, f"<= {limit:g}",
                         f"{value:.3f} ({least:.3f} to {most:.3f} in {runs} runs)", verdict, value)


# Least rate of alignctl replay as a share of fio's, and least requests in flight as a share of the
# depth.
DUEL_LEAST = 0.95
# Limits of a long recording in an open loop: start in s, memory in MiB, drift.
OPEN_LOOP_START_S, OPEN_LOOP_MIB, OPEN_LOOP_DRIFT = 1, 64, 0.001
# Greatest cost of recording a write, as a multiple of blktrace's.
RECORDING_MOST = 1


def _duel(record: Record) -> Iterator[Figure]:
    for place in duel.PLACES:
        what = f"alignctl replay against fio, io_uring, depth {duel.DEPTH}, {place}"
        if not record.duel:
            yield _missing("replay-fio", f"{what}: requests a second", f">= {DUEL_LEAST}",
                           "alignctl and fio")
            continue
        ratio = duel.rate_ratio(record.duel, place)
        rates = {program: duel.of(record.duel, place, duel.FULL, program, lambda r: r.iops)
                 for program in duel.PROGRAMS}
        yield Figure("replay-fio", f"{what}: requests a second", f">= {DUEL_LEAST}",
                     f"{ratio:.3g}, median of {len(rates['fio'])} pairs: " + ", ".join(
                         f"{program} {median(rates[program]):.0f} ({min(rates[program]):.0f} to "
                         f"{max(rates[program]):.0f})"
                         for program in reversed(duel.PROGRAMS)),
                     _verdict(ratio >= DUEL_LEAST), ratio)
        own, theirs, _ = duel.agreement(record.duel, place, duel.FULL, lambda r: r.in_flight)
        least = DUEL_LEAST * duel.DEPTH
        yield Figure("replay-fio", f"{what}: in flight, rate x mean latency", f">= {least:g}",
                     f"{own:.3g} (fio {theirs:.3g})", _verdict(own >= least), own)
        yield from _duel_latencies(record, what, place)


def _duel_latencies(record: Record, what: str, place: str) -> Iterator[Figure]:
    """
    Compare the latencies with fio's: equal at an equal rate, not longer at full load, where the mean
    is requests in flight / rate, so shorter for the faster program.
    """
    quantities = ("mean", lambda r: r.mean_us), ("p99", lambda r: r.p99_us)
    for load, (name, quantity) in product(duel.LOADS, quantities):
        if not duel.of(record.duel, place, load, "fio", quantity):
            continue    # a record without a paced load
        own, theirs, spread = duel.agreement(record.duel, place, load, quantity)
        paced = load == duel.PACED
        yield Figure("replay-fio", f"{what}, " + (f"both at {duel.PACE}/s" if paced else "full load")
                     + f": {name} latency, us",
                     f"fio's {theirs:.4g} {'+-' if paced else 'and at most +'} {spread:.3g}, "
                     "as far as its own runs lie apart",
                     f"{own:.4g}",
                     _verdict((abs(own - theirs) if paced else own - theirs) <= spread), own)


def _open_loop(record: Record) -> Iterator[Figure]:
    what = "alignctl replay of a recording in an open loop on null_blk"
    wanted = (("from the program's start to the first request, and its end, s",
               OPEN_LOOP_START_S, "< {:g}", lambda run: run.start_s),
              ("most memory, MiB", OPEN_LOOP_MIB, "< {:g}", lambda run: run.max_rss_kib / 1024),
              ("drift", OPEN_LOOP_DRIFT, "< {:.1%}", lambda run: run.drift))
    for measure, most, required, quantity in wanted:
        if not record.open_loop:
            yield _missing("replay-open", f"{what}: {measure}", required.format(most),
                           "alignctl")
            continue
        run = max(record.open_loop, key=quantity)
        value = quantity(run)
        words = f"{value:.5%}" if "%" in required else f"{value:.3g}"
        yield Figure("replay-open", f"{what}: {measure}", required.format(most),
                     f"{words}; {run.requests} requests in {run.wall_s:.1f} s",
                     _verdict(value < most), value)


def _recording(record: Record) -> Iterator[Figure]:
    measure = "instructions that recording adds to a write: alignctl record against blktrace"
    required = f"<= {RECORDING_MOST:g}"
    if not record.recording:
        yield _missing("record", measure, required, "alignctl record")
        return
    own, theirs = (median(recording.added(record.recording, name))
                   for name in (recording.ALIGNCTL, recording.BLKTRACE))
    lacking = recording.incomplete(record.recording)
    value = own / theirs
    others = "; ".join(f"{name} {median(added):.0f}"
                       for name in (recording.REQUESTS, recording.TOP, recording.TOP_DRIVE, recording.METRICS)
                       if (added := recording.added(record.recording, name)))
    yield Figure("record", measure, required,
                 "; ".join([f"{value:.3g} = {own:.0f} / {theirs:.0f}, beside the "
                            f"{recording.instructions(record.recording, recording.NONE):.0f} of a "
                            "write that is not recorded, medians", *([others] if others else []), *lacking]),
                 VOID if lacking else _verdict(value <= RECORDING_MOST), value)
    counting, writers = (recording.added(record.recording, name) for name in (recording.METRICS, recording.TOP))
    if not counting or not writers:
        return
    value = median(counting) / median(writers)
    yield Figure("record", "instructions that counting every disk adds to a write: against alignctl top", "<= 1",
                 "; ".join([f"{value:.3g} = {median(counting):.0f} / {median(writers):.0f}, medians", *lacking]),
                 VOID if lacking else _verdict(value <= 1), value)


def _memory(record: Record) -> Iterator[Figure]:
    queue = record.queues.get("instant")
    for case in ("w512-64-blocks", "w512-1-block"):
        for arm in ("pad", "coalesce"):
            measure = f"memory, {case}, {arm}: most bytes allocated"
            used = [(run, run.memory) for run in record.find("instant", case, arm) if run.memory]
            if not used or not queue:
                yield _missing("memory", measure, "max_blocks (P + 512) + run buffers",
                               f"{case} {arm}")
                continue
            run, memory = max(used, key=lambda each: each[1]["memory_high_water_bytes"])
            blocks = memory["max_blocks"] * (BLOCK + BLOCK_OVERHEAD)
            buffers = min(run.pad_reads, DRIVES["instant"].depth)
            # A run of blocks is at most max_blocks long.
            buffer = min(largest_request(queue), memory["max_blocks"] * BLOCK)
            most = blocks + buffers * buffer
            high = memory["memory_high_water_bytes"]
            yield Figure("memory", measure,
                         f"<= {size_name(most)} = {memory['max_blocks']} x {size_name(BLOCK + BLOCK_OVERHEAD)} + "
                         f"{buffers} x {size_name(buffer)}",
                         f"{size_name(high)}, beside {size_name(blocks)} of the blocks alone",
                         _verdict(high <= most), high)


# Least rate on eight processors as a share of another arm's, and of the same arm's with an older module.
JOBS_LEAST = {"report": 0.97, "linear": 0.85}
BEFORE_LEAST = 0.95
# Most memory of an idle device beside dm-linear's, and its time to make and remove as a multiple of
# dm-linear's.
IDLE_BYTES, IDLE_TIMES = 160 << 10, 1.5
# Devices of the published figure.
IDLE_DEVICES = 1000


def _jobs(record: Record) -> Iterator[Figure]:
    found = record.rates.get(rates.JOBS.row, {})
    for arm, (other, least) in product(("pad", "coalesce"), JOBS_LEAST.items()):
        measure = f"{rates.JOBS.about}: {arm} against {other}, writes for each 10^9 instructions"
        rounds = rates.ratios(found, arm, other)
        if not rounds:
            yield _missing(rates.JOBS.row, measure, f">= {least:g}", f"{arm} and {other}")
            continue
        value = median(found[arm]) / median(found[other])
        yield Figure(rates.JOBS.row, measure, f">= {least:g}",
                     f"{value:.3f} = {median(found[arm]):.0f} / {median(found[other]):.0f} ({min(rounds):.3f} to "
                     f"{max(rounds):.3f} in {len(rounds)} rounds)", _verdict(value >= least), value)


def _mixed(record: Record) -> Iterator[Figure]:
    """Compare with an older module, if one was measured: without one there is no figure."""
    row = rates.MIXED.row
    now, before = record.rates.get(row, {}), record.before.get(row, {})
    for arm in rates.MIXED.arms if before else ():
        value = rates.change(now, before, arm)
        measure = f"{rates.MIXED.about}: {arm}, writes for each 10^9 instructions, against the module of --before"
        if value is None:
            yield _missing(row, measure, f">= {BEFORE_LEAST:g}", arm)
            continue
        yield Figure(row, measure, f">= {BEFORE_LEAST:g}",
                     f"{value:.3f} = {_rate(now[arm])} / {_rate(before[arm])}", _verdict(value >= BEFORE_LEAST), value)


def _rate(values: list[float]) -> str:
    return f"{median(values):.0f} ({min(values):.0f} to {max(values):.0f} in {len(values)} runs)"


def _idle(record: Record) -> Iterator[Figure]:
    possible = idle.POSSIBLE[-1]
    measure = f"memory of an idle device beside dm-linear's, {possible} possible processors"
    required = f"<= {size_name(IDLE_BYTES)}"
    own, other = (idle.memory(record.idle, possible, arm) for arm in reversed(idle.ARMS))
    if not own or not other:
        yield _missing("idle", measure, required, f"{possible} processors")
        return
    more = idle.beyond(own, other)
    value = sum(more.values())
    parts = ", ".join(f"{part} {size / 1024:.1f}" for part, size in more.items() if size >= IDLE_BYTES / 100)
    yield Figure("idle", measure, required, f"{value / 1024:.1f} KiB: {parts}", _verdict(value <= IDLE_BYTES), value)


def _made(record: Record) -> Iterator[Figure]:
    measure, required = "devices made and removed, coalesce against linear, time", f"<= {IDLE_TIMES:g}"
    own, other = (idle.times(record.made, arm) for arm in reversed(idle.ARMS))
    if not own or not other:
        yield _missing("devices", measure, required, "devices")
        return
    ratios = [one.seconds / another.seconds for one, another in zip(own, other)]
    value = median(each.seconds for each in own) / median(each.seconds for each in other)
    count = own[0].devices
    yield Figure("devices", f"{count} {measure}" + ("" if count == IDLE_DEVICES else f" (published {IDLE_DEVICES})"), required,
                 f"{value:.3g} = {_each(own)} / {_each(other)} ({min(ratios):.3g} to {max(ratios):.3g} in {len(ratios)} rounds)",
                 _verdict(value <= IDLE_TIMES), value)


def _each(made: list[idle.Made]) -> str:
    """Return the time of a device, and the part of it for removing it."""
    return (f"{median(each.seconds / each.devices for each in made) * 1000:.3g} ms each "
            f"({median(each.removed_s / each.devices for each in made) * 1000:.3g} to remove)")


# Least rate beside dm-ebs': of the faster mode in small random writes, and of each mode in every case.
SMALLER_RANDOM, SMALLER_LEAST = 5, 1
FIXING = ("pad", "coalesce")


def _spread_of(found: list[float]) -> str:
    """Describe rates, of which some are a few requests a second."""
    runs = f"{min(found):.3g} to {max(found):.3g} in {len(found)} runs" if len(found) > 1 else "1 run"
    return f"{median(found):.3g}/s ({runs})"


def _smaller_rates(record: Record, case: str, arm: str) -> list[float]:
    return [each.rate for each in smaller.of(record.smaller, case, arm)]


def _against_ebs(record: Record, case: smaller.Case, arm: str, limit: float, which: str) -> Figure:
    measure = f"{case.name}, {which} against ebs, requests a second until all is flushed"
    own, other, loops = (_smaller_rates(record, case.name, name) for name in (arm, "ebs", smaller.LOOP))
    if not own or not other:
        return _missing("smaller", measure, f">= {limit:g}", f"{case.name} {arm} and ebs")
    value = median(own) / median(other)
    text = f"{value:.4g} = {arm} {_spread_of(own)} / ebs {_spread_of(other)}"
    if loops:
        direct = all(each.direct for each in smaller.of(record.smaller, case.name, smaller.LOOP))
        text += f"; loop, {'direct' if direct else 'through the page cache'}: {_spread_of(loops)}"
    return Figure("smaller", measure, f">= {limit:g}", text, _verdict(value >= limit), value)


def _smaller(record: Record) -> Iterator[Figure]:
    """Compare the ways to logical blocks of 512 bytes on a drive of 4096."""
    medians = {arm: median(found) for arm in FIXING if (found := _smaller_rates(record, smaller.RANDOM.name, arm))}
    faster = max(medians, key=lambda arm: medians[arm], default=FIXING[0])
    yield _against_ebs(record, smaller.RANDOM, faster, SMALLER_RANDOM, "the faster mode")
    for case, arm in product(smaller.CASES, FIXING):
        yield _against_ebs(record, case, arm, SMALLER_LEAST, arm)
    yield from _races(record)


def _races(record: Record) -> Iterator[Figure]:
    """Judge what conform found; void if dm-ebs has no fault, as then no requests have met in the way that it loses."""
    found = {each.arm: each for each in record.races}
    for arm in FIXING:
        measure = f"requests that meet in a block: faults that conform finds, {arm}"
        if arm not in found or "ebs" not in found:
            yield _missing("smaller", measure, "none", f"conform on {arm} and ebs")
            continue
        beside = [f"{other}: {found[other].words}" for other in smaller.ARMS if other not in FIXING and other in found]
        verdict = _verdict(not found[arm].faulty and found[arm].rounds > 0)
        if verdict == MET and not found["ebs"].faulty:
            verdict = VOID
        yield Figure("smaller", measure, "none", "; ".join([found[arm].words, *beside]), verdict, found[arm].faulty)


def _plan(record: Record) -> Iterator[Figure]:
    """Judge the instructions of alignctl plan, and tell its seconds."""
    found = record.forecast or forecast.Forecast()
    for answer, most in forecast.MOST.items():
        measure, required = f"alignctl plan, {answer}: instructions a request", f"<= {most}"
        value = found.instructions.get(answer)
        if value is None:
            why = found.skipped.get("instructions")
            yield Figure("plan", measure, required, why, SKIPPED) if why else _missing("plan", measure, required, answer)
            continue
        yield Figure("plan", measure, required, f"{value:.0f}, {found.rows} requests", _verdict(value <= most), value)
    for answer, asked in forecast.ASKED.items():
        measure = f"alignctl plan, {answer}, beside DuckDB's {asked}: seconds"
        seconds = found.seconds.get(answer)
        if not seconds:
            why = found.skipped.get("seconds")
            yield Figure("plan", measure, "", why, SKIPPED) if why else _missing("plan", measure, "", answer)
            continue
        own = median(seconds[forecast.ALIGNCTL])
        yield Figure("plan", measure, "", "; ".join(
            f"{name} {median(taken):.3g} ({min(taken):.3g} to {max(taken):.3g} in {len(taken)} rounds)"
            for name, taken in seconds.items()) + f"; {found.timed_rows} requests", TOLD, own)


def _none(_: Record) -> Iterator[Figure]:
    return iter(())


ROWS = {row.name: row for row in (
    Row("overhead", "instructions of an aligned write", (), _overhead, overhead=True),
    Row("streams", "sequential streams without RMWs or reads",
        tuple(Need("instant", case, ("coalesce",)) for case, _ in STREAMS), _streams),
    Row("fresh", "a fresh file", (Need("instant", "diskbenchi-fresh", ("coalesce",)),), _fresh),
    Row("w512-requests", "held neighbours leave in runs",
        (Need("instant", "w512-held", ("coalesce",)),), _held),
    Row("w136k-latency", "a misaligned stream against an aligned one",
        (Need("fixed-2ms", "w136k", ("coalesce",)), Need("fixed-2ms", "w136k-aligned", ("raw",))),
        _latency),
    Row("w4k-wall", "two ways to write the same bytes",
        (Need("fixed-2ms", "w4k_132k", ("coalesce",)), Need("fixed-2ms", "w136k", ("coalesce",))),
        _converge),
    Row("w4k-st1000dm003", "the published stream on a disk with a cache",
        (Need("st1000dm003", "w4k_132k", ("raw", "coalesce")),
         Need("st1000dm003", "w136k-aligned", ("raw",))), _published),
    Row("w512-nocache", "small writes on a disk without one",
        (Need("hdd-nocache", "w512", ("raw", "coalesce")),), _nocache),
    Row("rand512-raw", "small random writes, many in flight",
        (Need("fixed-10ms", "rand512-32", ("raw", "pad")),), _rand512_raw),
    Row("rand512-ebs", "the same against dm-ebs",
        (Need("fixed-10ms", "rand512-32", ("ebs", "pad")),), _rand512_ebs),
    Row("w136k-ebs", "a misaligned stream against dm-ebs",
        (Need("fixed-2ms", "w136k", ("raw", "linear", "ebs", "pad")),), _w136k_ebs),
    Row("smaller", "logical blocks of 512 bytes on a drive of 4096, against dm-ebs", (), _smaller, smaller=True),
    Row("append", "a log that makes every record durable",
        (Need("instant", "append-512-dsync", ("pad", "coalesce")),), _append),
    Row("memory", "the ceiling of memory",
        tuple(Need("instant", case, ("pad", "coalesce"))
              for case in ("w512-64-blocks", "w512-1-block")), _memory),
    Row("replay-fio", "alignctl replay against fio", (), _duel, duel=True),
    Row("replay-open", "a long recording in an open loop", (), _open_loop, open_loop=True),
    Row("record", "what recording costs, against blktrace", (), _recording, recording=True),
    Row("plan", "what alignctl plan costs, beside DuckDB", (), _plan, forecast=True),
    Row(rates.JOBS.row, "aligned writes from many processors", (), _jobs, rates=True),
    Row("idle", "memory of an idle device", (), _idle, idle=True),
    Row("devices", "making and removing devices", (), _made, made=True),
    # Tables for reading, without required figures.
    Row(rates.MIXED.row, "a few misaligned writes among aligned ones; --before compares", (), _mixed, rates=True),
    *(Row(f"tables-{on}", f"every case through every arm on {on}", table_needs(on), _none)
      for on in TABLE_DRIVES),
)}

QUICK_ROWS = tuple(name for name, row in ROWS.items() if row.figures not in (_none, _mixed))


def figures(record: Record, rows: tuple[str, ...]) -> list[Figure]:
    """Return every figure of the rows, in order."""
    return [figure for name in rows for figure in ROWS[name].figures(record)]
