# SPDX-License-Identifier: GPL-2.0
"""The methods of measurement: which runs each makes of alignctl replay, and what they say together."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from . import depth, models
from .comparison_table import figure
from .runs import Replays

LARGEST = 16 << 20
# Of one size: enough of the smallest for a p99, and of the largest no more than this.
MOST_BYTES = 1 << 30
SEED = 1


@dataclass(frozen=True)
class Task:
    """
    count    requests of each run; None: as published
    span     bytes of the device that they spread over; None: all
    seed     of their places
    depth    cnc: at most so deep; chunk-size: so many in flight
    """

    device: str
    count: int | None
    span: int | None
    seed: int
    depth: int | None


@dataclass(frozen=True)
class Found:
    """What a method found: one sentence, one table, one document, and for the page its pictures' lines."""

    words: list[str]
    table: Table
    document: dict[str, Any]
    curves: list[Curve]


@dataclass(frozen=True)
class Curve:
    """A picture's line: y over x, x on a logarithmic axis. mark: a point to point out, by x."""

    title: str
    unit: str
    x_unit: str
    points: list[tuple[float, float]]
    mark: float | None = None


Say = Callable[[str], None]


def probe_options(task: Task, probes: int, at: int) -> tuple[str, ...]:
    """Each run has places of its own, so that no cache knows them from the last one."""
    return ("--count", str(task.count or probes), "--depth", str(at), "--seed", str(task.seed + at),
            *(("--span", str(task.span)) if task.span else ()))


class Depth:
    """cncread and cncwrite: the best depth for random requests."""

    def __init__(self, probe: str, writes: bool) -> None:
        self._probe, self.writes = probe, writes

    PROBES = 5000

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        """The run that stands for all of them: source and options."""
        return self._probe, probe_options(task, self.PROBES, 1)

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        def one(at: int) -> depth.Probe:
            document = replays.make(self._probe, task.device, *probe_options(task, self.PROBES, at))
            latency = document["latency_us" if self.writes else "service_us"]
            found = depth.Probe(at, document["requests"], document["iops"], latency["mean"], latency["p90"])
            results.append(found)
            say(f"depth {at}: {found.iops:.0f} IOPS, p90 {found.p90_us:.1f} us")
            return found
        depth.search(one, task.depth or depth.MOST)

    def found(self, task: Task, probes: list[depth.Probe]) -> Found:
        best, ranked = depth.best(probes), depth.scores(probes)
        ratio = best.iops / probes[0].iops
        end = probes[-1].depth
        sure = end - best.depth >= depth.PAST
        words = [f"best depth {best.depth}: {best.iops:.0f} IOPS, {ratio:.2f} times those at depth 1"]
        if not sure:
            words.append(f"the last depth that was tried is {end}: a greater one may be better")
        table = Table(title=f"{task.device}: {probes[0].requests} random "
                            f"{'writes' if self.writes else 'reads'} at each depth", title_justify="left")
        for heading in ("depth", "IOPS", "\u00d7 depth 1", "mean us", "p90 us", "score"):
            table.add_column(heading, justify="right")
        for each, score in zip(probes, ranked, strict=True):
            table.add_row(f"{each.depth}{' best' if each is best else ''}", figure(each.iops),
                          f"{each.iops / probes[0].iops:.2f}", f"{each.mean_us:.1f}", f"{each.p90_us:.1f}",
                          f"{score:.3f}", style="bold" if each is best else None)
        document = {"best": {"depth": best.depth, "iops": best.iops, "p90_us": best.p90_us,
                             "ratio_to_depth_1": ratio, "sure": sure},
                    "probes": [{**asdict(each), "score": score}
                               for each, score in zip(probes, ranked, strict=True)]}
        return Found(words, table, document, [
            Curve("Requests a second", "1/s", "depth", [(p.depth, p.iops) for p in probes], best.depth),
            Curve("90 % took no longer", "us", "depth", [(p.depth, p.p90_us) for p in probes], best.depth)])


@dataclass(frozen=True)
class Chunk:
    """What requests of one size took."""

    bytes: int
    requests: int
    iops: float
    mb_per_s: float
    mean_us: float
    p99_us: float


def chunk_sizes(smallest: int, span: int) -> list[int]:
    """Every power of two from the smallest request on, at least two of which have room."""
    sizes = []
    size = smallest
    while size <= min(LARGEST, span // 2):
        sizes.append(size)
        size *= 2
    return sizes


def chunk_places(size: int, span: int, count: int, seed: int) -> list[int]:
    """Where the requests of one size go: multiples of it, none twice."""
    room = span // size
    return [place * size for place in
            random.Random(seed * 1000003 + size).sample(range(room), min(count, room, MOST_BYTES // size))]


class ChunkSize:
    """chunk-size and chunk-size-write: the rate by the size of random requests."""

    COUNT = 1000

    def __init__(self, writes: bool) -> None:
        self.writes = writes

    def _trace(self, replays: Replays, size: int, places: list[int]) -> Path:
        kind = "write" if self.writes else "read"
        path = replays.folder / f"chunk-{size}.csv"
        with path.open("w") as file:
            file.write("op,offset,bytes\n")
            file.writelines(f"{kind},{place},{size}\n" for place in places)
        return path

    def _options(self, task: Task) -> tuple[str, ...]:
        # --scan: what only reads is known to, and opened for nothing else
        return ("--scan", "--timing", "closed", "--depth", str(task.depth or 1))

    def _facts(self, replays: Replays, task: Task) -> dict[str, Any]:
        """What alignctl knows of the device: it tells with any run, here one of one read."""
        one = self._trace_of_one(replays)
        return replays.make(str(one), task.device, "--scan", "--no-check")["device_facts"]

    @staticmethod
    def _trace_of_one(replays: Replays) -> Path:
        path = replays.folder / "one.csv"
        path.write_text("op,offset,bytes\nread,0,65536\n")
        return path

    def _runs(self, replays: Replays, task: Task) -> list[tuple[int, list[int]]]:
        facts = self._facts(replays, task)
        span = min(task.span or facts["size_bytes"], facts["size_bytes"])
        return [(size, chunk_places(size, span, task.count or self.COUNT, task.seed))
                for size in chunk_sizes(facts["logical_block_size"], span)]

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        size, places = self._runs(replays, task)[-1]
        return str(self._trace(replays, size, places)), self._options(task)

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        for size, places in self._runs(replays, task):
            trace = self._trace(replays, size, places)
            document = replays.make(str(trace), task.device, *self._options(task))
            trace.unlink()
            service = document["service_us"]
            results.append(Chunk(size, document["requests"], document["iops"], document["mb_per_s"],
                                 service["mean"], service["p99"]))
            say(f"{size_name(size)}: {document['mb_per_s']:.2f} MB/s")

    def found(self, task: Task, chunks: list[Chunk]) -> Found:
        fastest = max(chunks, key=lambda each: each.mb_per_s)
        enough = next(each for each in chunks if each.mb_per_s >= 0.9 * fastest.mb_per_s)
        words = [f"fastest with {size_name(fastest.bytes)}: {fastest.mb_per_s:.2f} MB/s; nine tenths of that "
                 f"from {size_name(enough.bytes)} on"]
        drive = models.fit([(each.bytes, each.mean_us / 1000) for each in chunks]) \
            if (task.depth or 1) == 1 else None
        if drive:
            access, per_s = drive
            balanced = models.balanced_chunk(access, per_s)
            words.append(f"as if each took {access:.3g} ms to reach its place and then {per_s / 1e6:.4g} MB/s: "
                         f"with {balanced / 1000:.0f} kB both take as long, "
                         f"{models.rate(access, balanced, per_s) / 1e6:.4g} MB/s")
        table = Table(title=f"{task.device}: random {'writes' if self.writes else 'reads'} by size, "
                            f"{task.depth or 1} in flight", title_justify="left")
        for heading in ("size", "requests", "MB/s", "IOPS", "mean us", "p99 us", "model us"):
            table.add_column(heading, justify="right")
        for each in chunks:
            model = f"{models.response_ms(0, drive[0], each.bytes, drive[1]) * 1000:.1f}" if drive else "\u2013"
            table.add_row(size_name(each.bytes), str(each.requests), f"{each.mb_per_s:.2f}", figure(each.iops),
                          f"{each.mean_us:.1f}", f"{each.p99_us:.1f}", model,
                          style="bold" if each is fastest else None)
        document = {"fastest_bytes": fastest.bytes, "nine_tenths_from_bytes": enough.bytes,
                    "model": drive and {"access_ms": drive[0], "mb_per_s": drive[1] / 1e6,
                                        "balanced_bytes": models.balanced_chunk(*drive)},
                    "chunks": [asdict(each) for each in chunks]}
        return Found(words, table, document, [
            Curve("Rate", "MB/s", "bytes", [(c.bytes, c.mb_per_s) for c in chunks], fastest.bytes),
            Curve("Requests a second", "1/s", "bytes", [(c.bytes, c.iops) for c in chunks])])


def size_name(size: int) -> str:
    for unit, power in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << power and not size % (1 << power):
            return f"{size >> power} {unit}"
    return f"{size} B"


METHODS: dict[str, Depth | ChunkSize] = {
    "cncread": Depth("rndread", False),
    "cncwrite": Depth("rndwrite", True),
    "chunk-size": ChunkSize(False),
    "chunk-size-write": ChunkSize(True),
}
