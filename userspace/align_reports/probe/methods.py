# SPDX-License-Identifier: GPL-2.0
"""The methods of measurement: which runs each makes, and its conclusions."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from ..intervals import Interval, compare, interval, words
from ..replays import Replays
from ..steps import steps
from ..table import NONE, SHOWN, duration, number, rate, size_name
from . import depth, fits
from .block_size_method import BlockSize
from .found import Curve, Found, Method, Say, Task
from .positions import Deltas, Random, Sequential
from .rotation import FullStroke, Rotation, TrackToTrack
from .traces import device_facts, trace

LARGEST = 16 << 20
# Limit of the bytes of one size; a count of requests limits the small ones.
MOST_BYTES = 1 << 30


def probe_options(task: Task, at: int) -> tuple[str, ...]:
    """Return the options of a run, with a seed of its own, so that no cache has its blocks from the last run."""
    start, span = task.area.inside if task.area else (None, task.span)
    return ("--count", str(task.requests), "--depth", str(at), "--seed", str(task.seed + at),
            *(("--start", str(start)) if start is not None else ()), *(("--span", str(span)) if span else ()))


class Depth:
    """cncread and cncwrite: the best depth for random requests."""

    def __init__(self, probe: str, writes: bool) -> None:
        self._probe, self.writes = probe, writes

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        """Return source and options of one run, for --dry-run and for the check of the device."""
        return self._probe, probe_options(task, 1)

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        def one(at: int) -> depth.Probe:
            document = replays.make(self._probe, task.device, *probe_options(task, at))
            latency = document["service_us"]
            found = depth.Probe(at, document["requests"], document["iops"], latency["mean"],
                                latency["p90"])
            results.append(found)
            say(f"depth {at}: {rate(found.iops)} IOPS, p90 {duration(found.p90_us)}")
            return found
        depth.search(one, task.depth or depth.MOST)

    def found(self, task: Task, probes: list[depth.Probe]) -> Found:
        best, ranked = depth.best(probes), depth.scores(probes)
        ratio = best.iops / probes[0].iops
        end = probes[-1].depth
        sure = end - best.depth >= depth.PAST
        words = [f"best depth {best.depth}: {rate(best.iops)} IOPS, {ratio:.2f} times those at "
                 "depth 1"]
        if not sure:
            words.append(f"the last depth that was tried is {end}: a greater one may be better")
        table = Table(title=f"{task.device}: {probes[0].requests} random "
                            f"{'writes' if self.writes else 'reads'} at each depth",
                      title_justify="left")
        for heading in ("depth", "IOPS", "to depth 1", "mean", "p90 \u2264", "score"):
            table.add_column(heading, justify="right")
        for each, score in zip(probes, ranked, strict=True):
            table.add_row(f"{each.depth}{' best' if each is best else ''}", rate(each.iops),
                          f"{each.iops / probes[0].iops:.2f}", duration(each.mean_us),
                          duration(each.p90_us), f"{score:.3f}",
                          style="bold" if each is best else None)
        document = {"best": {"depth": best.depth, "iops": best.iops, "p90_us": best.p90_us,
                             "ratio_to_depth_1": ratio, "sure": sure},
                    "probes": [{**asdict(each), "score": score}
                               for each, score in zip(probes, ranked, strict=True)]}
        return Found(words, table, document, [
            Curve("Requests a second", "1/s", "depth", [(p.depth, p.iops) for p in probes],
                  best.depth),
            Curve("90 % took no longer", "us", "depth", [(p.depth, p.p90_us) for p in probes],
                  best.depth)])


@dataclass(frozen=True)
class Chunk:
    """Rate and latencies of requests of one size."""

    bytes: int
    requests: int
    iops: float
    mb_per_s: float
    mean_us: float
    p99_us: float


def chunk_sizes(smallest: int, span: int) -> list[int]:
    """Return the powers of two from the smallest request on of which two fit into the span."""
    sizes = []
    size = smallest
    while size <= min(LARGEST, span // 2):
        sizes.append(size)
        size *= 2
    return sizes


def chunk_places(size: int, span: int, count: int, seed: int, start: int = 0) -> list[int]:
    """Return random offsets for requests of one size in `span` bytes from `start`: multiples of the size, none twice."""
    places = range(-(-start // size), (start + span) // size)
    drawn = random.Random(seed * 1000003 + size)
    return [place * size
            for place in drawn.sample(places, min(count, len(places), MOST_BYTES // size))]


def trace_options(task: Task) -> tuple[str, ...]:
    # --scan: open the device for reading only if the trace only reads
    return ("--scan", "--timing", "closed", "--depth", str(task.depth or 1))


class ChunkSize:
    """chunk-size and chunk-size-write: the rate by the size of random requests."""

    def __init__(self, writes: bool) -> None:
        self.writes = writes

    def _trace(self, replays: Replays, size: int, places: list[int]) -> str:
        return trace(replays, "write" if self.writes else "read", size, places)

    def _runs(self, replays: Replays, task: Task) -> list[tuple[int, list[int]]]:
        facts = device_facts(replays, task.device)
        start, span = (task.area.start, task.area.length) if task.area else \
            (0, min(task.span or facts["size_bytes"], facts["size_bytes"]))
        return [(size, chunk_places(size, span, task.requests, task.seed, start))
                for size in chunk_sizes(facts["logical_block_size"], span)]

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        size, places = self._runs(replays, task)[-1]
        return self._trace(replays, size, places), trace_options(task)

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        for size, places in self._runs(replays, task):
            document = replays.make(self._trace(replays, size, places), task.device,
                                    *trace_options(task))
            service = document["service_us"]
            results.append(Chunk(size, document["requests"], document["iops"], document["mb_per_s"],
                                 service["mean"], service["p99"]))
            say(f"{size_name(size)}: {document['mb_per_s']:.2f} MB/s")

    def found(self, task: Task, chunks: list[Chunk]) -> Found:
        fastest = max(chunks, key=lambda each: each.mb_per_s)
        enough = next(each for each in chunks if each.mb_per_s >= 0.9 * fastest.mb_per_s)
        words = [f"fastest with {size_name(fastest.bytes)}: {fastest.mb_per_s:.2f} MB/s; nine "
                 f"tenths of that from {size_name(enough.bytes)} on"]
        drive = fits.fit([(each.bytes, each.mean_us / 1000) for each in chunks]) \
            if (task.depth or 1) == 1 else None
        if drive:
            access, per_s = drive
            balanced = fits.balanced_chunk(access, per_s)
            words.append(f"as if each took {access:.3g} ms to reach its place and then "
                         f"{per_s / 1e6:.4g} MB/s: with {balanced / 1000:.0f} kB both take as "
                         f"long, {fits.rate(access, balanced, per_s) / 1e6:.4g} MB/s")
        kind = "writes" if self.writes else "reads"
        table = Table(title=f"{task.device}: random {kind} by size, {task.depth or 1} in flight",
                      title_justify="left")
        for heading in ("bytes", "requests", "MB/s", "IOPS", "mean", "p99 \u2264", "model"):
            table.add_column(heading, justify="right")
        for each in chunks:
            model = fits.response_ms(0, drive[0], each.bytes, drive[1]) * 1000 if drive else None
            table.add_row(size_name(each.bytes), number(each.requests), f"{each.mb_per_s:.2f}",
                          rate(each.iops), duration(each.mean_us), duration(each.p99_us),
                          NONE if model is None else duration(model),
                          style="bold" if each is fastest else None)
        document = {"fastest_bytes": fastest.bytes, "nine_tenths_from_bytes": enough.bytes,
                    "model": drive and {"access_ms": drive[0], "mb_per_s": drive[1] / 1e6,
                                        "balanced_bytes": fits.balanced_chunk(*drive)},
                    "chunks": [asdict(each) for each in chunks]}
        return Found(words, table, document, [
            Curve("Rate", "MB/s", "bytes", [(c.bytes, c.mb_per_s) for c in chunks], fastest.bytes),
            Curve("Requests a second", "1/s", "bytes", [(c.bytes, c.iops) for c in chunks])])


@dataclass(frozen=True)
class Sorted:
    """One run of random reads, sorted in windows."""

    round: int
    window: int
    requests: int
    wall_s: float


def sorted_in_windows(places: list[int], window: int) -> list[int]:
    """Sort each `window` consecutive offsets; return all of them."""
    return [place for start in range(0, len(places), window)
            for place in sorted(places[start:start + window])]


class SortedReads:
    """sorted-reads: the gain from sorting random reads, by the number sorted at once."""

    writes = False
    WINDOWS = ("1", "32", "1024")
    ROUNDS = 3
    SIZE = 4096
    # size of the published file
    SPAN = 70 * 10 ** 9

    def _trace(self, replays: Replays, task: Task, window: int, seed: int) -> str:
        span = min(task.span or self.SPAN, device_facts(replays, task.device)["size_bytes"])
        # A seed of its own: the drive's cache has no blocks of this run from another one.
        places = chunk_places(self.SIZE, span, task.requests, seed)
        return trace(replays, "read", self.SIZE, sorted_in_windows(places, window))

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        return self._trace(replays, task, 1, task.seed), trace_options(task)

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        for at, step in enumerate(steps(["sorted-reads"], list(self.WINDOWS), self.ROUNDS)):
            document = replays.make(
                self._trace(replays, task, int(step.mode), task.seed + at), task.device,
                *trace_options(task))
            results.append(Sorted(step.repetition, int(step.mode), document["requests"],
                                  document["wall_s"]))
            say(f"windows of {step.mode}, round {step.repetition}: {duration(document['wall_s'] * 1e6)}")

    def found(self, task: Task, runs: list[Sorted]) -> Found:
        table = Table(title=f"{task.device}: {runs[0].requests} random reads, sorted in windows",
                      title_justify="left")
        for heading in ("window", "wall", "ratio", "words"):
            table.add_column(heading, justify="left" if heading == "words" else "right")
        by_round = {(each.round, each.window): each.wall_s for each in runs}
        rows: list[dict[str, Any]] = []
        sentences = []
        for window in map(int, self.WINDOWS):
            walls = [each.wall_s for each in runs if each.window == window]
            if not walls:
                continue
            ratio = None if window == 1 else compare(
                [(wall, by_round[turn, 1]) for (turn, its), wall in by_round.items()
                 if its == window and (turn, 1) in by_round])
            said = words(ratio) if ratio else ""
            rows.append({"window": window, "wall_s": asdict(Interval.of(walls)),
                         "ratio": ratio and asdict(ratio), "words": said})
            table.add_row(str(window), interval(Interval.of(walls), SHOWN["s"]), interval(ratio), said)
            if ratio:
                sentences.append(f"windows of {window}, beside unsorted reads: {said}")
        return Found(sentences, table, {"windows": rows, "runs": [asdict(each) for each in runs]}, [
            Curve("Time of all reads", "s", "window",
                  [(row["window"], row["wall_s"]["mean"]) for row in rows])])


METHODS: dict[str, Method] = {
    "block-size": BlockSize(),
    "fullstroke": FullStroke(),
    "tracktotrack": TrackToTrack(),
    "rotation": Rotation(),
    "seqread": Sequential("seqread", False),
    "seqwrite": Sequential("seqwrite", True),
    "rndread": Random("rndread", False),
    "rndwrite": Random("rndwrite", True),
    "rnddeltaread": Deltas(),
    "cncread": Depth("rndread", False),
    "cncwrite": Depth("rndwrite", True),
    "chunk-size": ChunkSize(False),
    "chunk-size-write": ChunkSize(True),
    "sorted-reads": SortedReads(),
}
