# SPDX-License-Identifier: GPL-2.0
"""The methods that measure all over a device: long sequential probes, random ones, and pairs at random distances."""

from __future__ import annotations

import math
import statistics as plain
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.table import Table

from ..intervals import Interval, interval
from ..replays import Replays
from ..table import NONE, duration, number, rate, size_name
from . import fits, statistics
from .found import Found, Say, Scatter, Task
from .rotation import MOST_POINTS, Read, Told, tell
from .samples import BASE, LENGTH, Sample
from .statistics import Estimate


def run_options(task: Task, seed: int | None = None) -> tuple[str, ...]:
    """Return the options of the one run of a workload; with a seed if its places are random."""
    start, span = task.area.inside if task.area else (None, task.span)
    values = {"count": task.count, "start": start, "span": span, "depth": task.depth, "seed": seed}
    return tuple(word for name, value in values.items() if value is not None for word in (f"--{name}", str(value)))


@dataclass(frozen=True)
class Stretch:
    """The rate of a probe of many consecutive requests, from a place on."""

    offset: int
    mb_per_s: float


class Sequential:
    """seqread and seqwrite: the rate of long probes, evenly spread over the device."""

    needed = (LENGTH,)

    def __init__(self, workload: str, writes: bool) -> None:
        self._workload, self.writes = workload, writes

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        """Return source and options of the run."""
        return self._workload, run_options(task)

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        source, options = self.dry(replays, task)
        document = replays.make(source, task.device, *options)
        results += [Stretch(each["offset"], each["mb_per_s"]) for each in document["probes"]["each"]]
        say(f"{len(results)} probes of {size_name(document['probes']['probe_bytes'])} in {duration(document['wall_s'] * 1e6)}")

    def sampled(self, samples: Sequence[Sample]) -> list[Any]:
        """Return recorded samples as results of the method."""
        return [Stretch(each.offset, (each.length or 0) / each.us) for each in samples]

    def found(self, task: Task, probes: list[Stretch]) -> Found:
        ordered = sorted(probes, key=lambda probe: probe.offset)
        mean = Interval.of([probe.mb_per_s for probe in ordered])
        least, most = (end(ordered, key=lambda probe: probe.mb_per_s) for end in (min, max))
        words = [f"mean {interval(mean, rate)} MB/s, from {rate(least.mb_per_s)} at byte {least.offset} to "
                 f"{rate(most.mb_per_s)} at byte {most.offset}"]
        kind = "writes" if self.writes else "reads"
        table = Table(title=f"{task.device}: sequential {kind}, by position", title_justify="left")
        for heading in ("from", "to", "probes", "min", "mean", "max"):
            table.add_column(heading if heading in ("from", "to", "probes") else f"{heading} MB/s", justify="right")
        tenths = []
        for tenth in range(10):
            part = ordered[len(ordered) * tenth // 10:len(ordered) * (tenth + 1) // 10]
            if part:
                rates = [probe.mb_per_s for probe in part]
                tenths.append({"from_bytes": part[0].offset, "to_bytes": part[-1].offset, "probes": len(part),
                               "mb_per_s": asdict(Interval.of(rates))})
                table.add_row(size_name(part[0].offset), size_name(part[-1].offset), number(len(part)), rate(min(rates)),
                              interval(Interval.of(rates), rate), rate(max(rates)))
        return Found(words, table, {"mb_per_s": asdict(mean), "slowest": asdict(least), "fastest": asdict(most),
                                    "tenths": tenths, "each": [asdict(probe) for probe in ordered]},
                     [Scatter("Rate by position", "MB/s", "bytes from the start",
                              [(probe.offset, probe.mb_per_s) for probe in ordered])])


class Random:
    """rndread and rndwrite: the times of random requests of one block."""

    needed: tuple[str, ...] = ()
    PERCENTS = (50, 90, 98)

    def __init__(self, workload: str, writes: bool) -> None:
        self._workload, self.writes = workload, writes

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        """Return source and options of the run."""
        return self._workload, run_options(task, task.seed)

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        source, options = self.dry(replays, task)
        document = replays.make(source, task.device, *options, "--each")
        results += [us for us in document["each_us"] if us is not None]
        say(f"{len(results)} requests in {duration(document['wall_s'] * 1e6)}")

    def sampled(self, samples: Sequence[Sample]) -> list[Any]:
        """Return recorded samples as results of the method."""
        return [each.us for each in samples]

    def found(self, task: Task, times: list[float]) -> Found:
        mean = Interval.of(times)
        depth = task.depth or 1
        iops = Interval(depth * 1e6 / mean.mean, None, None, mean.values)
        if mean.low and mean.high:
            iops = Interval(iops.mean, depth * 1e6 / mean.high, depth * 1e6 / mean.low, mean.values)
        rows: list[tuple[str, float, tuple[float, float] | None]] = [("mean", mean.mean, mean.bounds)]
        for percent in self.PERCENTS:
            rows.append((f"p{percent}", fits.percentile(times, percent),
                         statistics.percentile_interval(times, percent)))
        kind = "writes" if self.writes else "reads"
        table = Table(title=f"{task.device}: {len(times)} random {kind}, {depth} in flight", title_justify="left")
        for heading in ("", "value", "from", "to"):
            table.add_column(heading, justify="right" if heading else "left")
        for name, value, bounds in rows:
            table.add_row(name, duration(value), *(map(duration, bounds) if bounds else (NONE, NONE)))
        deviation = plain.stdev(times) if len(times) > 1 else None
        table.add_row("sd", NONE if deviation is None else duration(deviation), NONE, NONE)
        table.add_row("IOPS", rate(iops.mean), *(map(rate, iops.bounds) if iops.bounds else (NONE, NONE)))
        (_, mean_us, _), *percentiles = rows
        words = [f"mean {duration(mean_us)}, {rate(iops.mean)} IOPS; "
                 + ", ".join(f"{name} {duration(value)}" for name, value, _ in percentiles)]
        ordered = sorted(times)
        step = math.ceil(len(ordered) / MOST_POINTS)
        return Found(words, table, {
            "requests": len(times), "mean_us": asdict(mean), "sd_us": deviation, "iops": asdict(iops),
            "percentiles": [{"percent": percent, "us": value, "low": bounds and bounds[0], "high": bounds and bounds[1]}
                            for percent, (_, value, bounds) in zip(self.PERCENTS, percentiles, strict=True)]}, [
            Scatter("Times in order", "us", "requests", [(at, ordered[at]) for at in range(0, len(ordered), step)])])


@dataclass(frozen=True)
class Pair:
    """The time of the second of two reads, `distance` bytes from the first."""

    distance: int
    us: float


Curve = tuple[float, float, float]


@dataclass(frozen=True)
class SeekCurve:
    """
    Times a + b x + c x\u00b2 by x, the root of a distance as a share of the longest one: half a turn, and a disk's seeks.

    at       a, b, c
    error    standard error at the longest distance
    """

    at: Curve
    error: float

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> SeekCurve | None:
        """Fit by least squares, and once more without the outliers of the first fit; None if distances are too few."""
        longest = max(pair.distance for pair in pairs)
        points = [(math.sqrt(pair.distance / longest), pair.us) for pair in pairs] if longest else []
        for again in (False, True):
            power = [sum(x ** n for x, _ in points) for n in range(5)]
            matrix = [power[row:row + 3] for row in range(3)]
            at = solved(matrix, [sum(us * x ** n for x, us in points) for n in range(3)])
            leverage = solved(matrix, [1, 1, 1])
            # Of distances that are nearly the same, rounding alone may decide whether the equations are independent.
            if len(points) <= 3 or not at or not leverage or sum(leverage) < 0:
                return None
            curve = cls(at, math.sqrt(sum(leverage) * plain.fmean((us - height(at, x)) ** 2 for x, us in points)))
            if again:
                return curve
            left = [us - height(at, x) for x, us in points]
            reach = statistics.FAR_MADS * statistics.mad(left)
            points = [point for point, off in zip(points, left, strict=True) if abs(off) <= reach]
        return None


def height(curve: Curve, x: float) -> float:
    return curve[0] + curve[1] * x + curve[2] * x * x


def solved(matrix: list[list[float]], right: Sequence[float]) -> Curve | None:
    """Solve three linear equations by Cramer's rule; None if they are not independent."""
    def determinant(m: list[list[float]]) -> float:
        return sum(m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3])
                   for i in range(3))
    whole = determinant(matrix)
    if whole <= 0:
        return None
    a, b, c = (determinant([[right[row] if column == at else matrix[row][column] for column in range(3)]
                            for row in range(3)]) / whole for at in range(3))
    return a, b, c


class Deltas:
    """rnddeltaread: the time of a read by its distance from the one before."""

    writes = False
    needed = (BASE,)

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        """Return source and options of the run."""
        return "rnddeltaread", run_options(task, task.seed)

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        source, options = self.dry(replays, task)
        document = replays.make(source, task.device, *options)
        results += [Pair(each["distance"], each["us"]) for each in document["probes"]["each"]]
        say(f"{len(results)} pairs in {duration(document['wall_s'] * 1e6)}")

    def sampled(self, samples: Sequence[Sample]) -> list[Any]:
        """Return recorded samples as results of the method."""
        return [Pair(abs(each.offset - (each.base or 0)), each.us) for each in samples]

    def found(self, task: Task, pairs: list[Pair]) -> Found:
        ordered = sorted(pairs, key=lambda pair: pair.distance)
        table = Table(title=f"{task.device}: the second read of {len(pairs)} pairs, by distance",
                      title_justify="left")
        for heading in ("from", "to", "pairs", "p10", "p50", "p90"):
            table.add_column(heading, justify="right")
        rows = []
        for tenth in range(10):
            part = ordered[len(ordered) * tenth // 10:len(ordered) * (tenth + 1) // 10]
            if not part:
                continue
            times = [fits.percentile([pair.us for pair in part], p) for p in (10, 50, 90)]
            rows.append({"from_bytes": part[0].distance, "to_bytes": part[-1].distance,
                         "pairs": len(part), **dict(zip(("p10_us", "p50_us", "p90_us"), times,
                                                        strict=True))})
            table.add_row(size_name(part[0].distance), size_name(part[-1].distance), number(len(part)),
                          *map(duration, times))
        near, far = rows[0]["p50_us"], rows[-1]["p50_us"]
        told = self._told(ordered)
        return Found([f"half of the nearest tenth took {duration(near)} at most, of the farthest "
                      f"{duration(far)}", *told.words("seek over the longest distance")], table,
                     {**told.document, "tenths": rows, "pairs": [asdict(pair) for pair in pairs]},
                     [Scatter("Time of the second read", "us", "bytes apart",
                              [(pair.distance, pair.us) for pair in ordered])], told.rotation)

    @staticmethod
    def _told(pairs: list[Pair]) -> Told:
        """Return what the times tell once the seek of each, by the fitted curve, is made that of the longest distance."""
        curve = SeekCurve.of(pairs)
        if not curve:
            return Told(against="too few distances", unknown="too few distances", study=False)
        longest, end = pairs[-1].distance, height(curve.at, 1)
        told = tell([Read(None, pair.distance, pair.us - height(curve.at, math.sqrt(pair.distance / longest)) + end)
                     for pair in pairs], one_way=True)
        if not told.mechanics:
            return replace(told, study=False)
        # the mean of times is that of the seek and half a revolution
        half, error = told.mechanics.revolution, statistics.NORMAL_95 * curve.error
        seek = Estimate(end - half.value / 2, end - half.high / 2 - error, end - half.low / 2 + error)
        return replace(told, mechanics=replace(told.mechanics, seek=seek), study=False)
