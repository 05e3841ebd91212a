# SPDX-License-Identifier: GPL-2.0
"""The same requests on two devices, in turn, and the comparison of the two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from .. import devices
from ..charts import bounded
from ..checks import check_data
from ..intervals import Interval, compare, span, times, words
from ..machine import Refused
from ..replays import Replays
from ..results import Run
from ..steps import Step

# The counters of the target's ledger to which a run adds.
LEDGER = ("rmw_expected", "rmw_avoided", "rmw_host", "rmw_drive", "pad_reads")
DRIVE = ("touches", "rmws", "reads", "writes")


@dataclass(frozen=True)
class Sample:
    """One run.

    replay    alignctl's document
    phased    True for a workload that writes, False for the others, whose documents have another form
    requests  reads and writes that the kernel counted at the device during the run; None: a file
    ledger    the counts that the run added to the target's ledger; None: no align device
    drive     the emulated drive's own counts of the run; None: not asked for
    times     bins of the latencies: (upper bound in us, count); empty: not asked for
    """

    repetition: int
    device: str
    replay: dict[str, Any]
    phased: bool
    requests: tuple[int, int] | None
    ledger: dict[str, int] | None
    drive: dict[str, int] | None
    times: tuple[tuple[float, int], ...] = ()

    @property
    def clocked(self) -> bool:
        """Return whether a clock starts the requests, rather than the end of the one before."""
        return self.replay.get("timing") == "open"

    @property
    def latency(self) -> dict[str, float]:
        """Return the latencies: from each request's issue or, where a clock starts it, its intended start.

        Without a clock no request is late, and its service time is all there is.
        """
        return self.replay["response_us" if self.clocked else "service_us"]

    @property
    def only_reads(self) -> bool:
        return not self.phased and {each["kind"] for each in self.replay["by_kind"]} == {"read"}

    @property
    def seconds(self) -> float:
        """Return the seconds until all was durable, with the final flush (reads need none), without the warm-up."""
        if self.only_reads:
            return self.replay["wall_s"]
        return self.replay["wall_s"] + self.replay["flush_s"]

    @property
    def warmup_requests(self) -> int:
        return self.replay.get("warmup_requests", 0)

    @property
    def traffic(self) -> dict[str, int]:
        """Return requests and bytes asked of the device; the bytes of a warm-up are not known, and left out."""
        asked = {"requests": self.replay["requests"] + self.warmup_requests}
        return asked if self.warmup_requests else {**asked, "bytes": self.replay["bytes"]}


@dataclass(frozen=True)
class Quantity:
    name: str
    unit: str
    of: Callable[[Sample], float]
    less: str    # word for the device with less, and with more
    more: str


QUANTITIES = (
    Quantity("wall", "s", lambda s: s.seconds, "faster", "slower"),
    Quantity("mean", "us", lambda s: s.latency["mean"], "lower", "higher"),
    Quantity("p50", "us", lambda s: s.latency["p50"], "lower", "higher"),
    Quantity("p99", "us", lambda s: s.latency["p99"], "lower", "higher"),
    Quantity("p99.9", "us", lambda s: s.latency["p99_9"], "lower", "higher"),
    Quantity("IOPS", "1/s", lambda s: s.replay["iops"], "lower", "higher"),
)


@dataclass(frozen=True)
class Line:
    """One quantity on both devices."""

    name: str
    unit: str
    on: Interval
    vs: Interval
    ratio: Interval | None
    words: str


def pairs(samples: list[Sample], on: str, vs: str) -> list[tuple[Sample, Sample]]:
    """Return the two runs of each repetition made on both devices."""
    of = {(sample.repetition, sample.device): sample for sample in samples}
    return [(of[n, on], of[n, vs]) for n in sorted({sample.repetition for sample in samples})
            if (n, on) in of and (n, vs) in of]


def lines(samples: list[Sample], on: str, vs: str) -> list[Line]:
    """Compare every quantity, over the repetitions made on both devices; empty if there are none."""
    both = pairs(samples, on, vs)
    made = []
    for quantity in QUANTITIES if both else ():
        values = [(quantity.of(a), quantity.of(b)) for a, b in both]
        ratio = compare(values)
        made.append(Line(quantity.name, quantity.unit, Interval.of([a for a, _ in values]),
                         Interval.of([b for _, b in values]), ratio,
                         words(ratio, quantity.less, quantity.more)))
    return made


def verdict(found: list[Line], samples: list[Sample], on: str, vs: str) -> str:
    """Return the verdict as a sentence, on the total time, or on the mean response time if a clock starts the requests.

    After a warm-up it is on the mean latency: how many requests are left then depends on the device.
    """
    if not found:
        return "nothing can be said: no repetition was made on both"
    clocked = samples[0].clocked
    timed = clocked or any(each.warmup_requests for each in samples)
    [line] = [each for each in found if each.name == ("mean" if timed else "wall")]
    done = "read" if samples[0].only_reads else "durable"
    mean = "the mean response time" if clocked else "the mean latency"
    what = mean if timed else f"the time until all was {done}"
    if line.ratio is None:
        return line.words
    if line.ratio.low is None:
        return f"{line.words}; --repeat 5 or more would show what chance does"
    if not line.ratio.differs:
        return (f"no difference shown between {on} and {vs}: {what} on {on} is {span(line.ratio)} times that "
                f"on {vs}, with 95 % confidence")
    faster, slower, ratio = (on, vs, line.ratio.inverse) if line.ratio.mean < 1 else (vs, on, line.ratio)
    return (f"{faster} is {times(ratio.mean)} times faster [{span(ratio)}] than {slower}: by {what}, with 95 % "
            "confidence")


def findings(samples: list[Sample], on: str, vs: str) -> list[str]:
    """Return the findings, a sentence each."""
    found: list[str] = []
    for sample in samples:
        if sample.replay["data_check"]["status"] != "skipped":
            run = Run(sample.device, sample.replay.get("workload", sample.replay.get("source", "")),
                      f"repetition {sample.repetition}", 0, 0, sample.replay, None, None)
            found += check_data(run)
        if sample.replay["stopped"]:
            found.append(f"{sample.device}, repetition {sample.repetition}: stopped by "
                         f"{sample.replay['stopped']}")
    for one, other in pairs(samples, on, vs):
        for key, asked in one.traffic.items():
            if asked != other.traffic.get(key, asked):
                found.append(f"repetition {one.repetition}: not the same requests: {key} "
                             f"{asked} on {on}, {other.traffic[key]} on {vs}")
    return found


def saved_times(path: Path, clocked: bool) -> tuple[tuple[float, int], ...]:
    """Read the bins of Sample.latency from a histogram file of alignctl: (upper bound in us, count).

    The file has service times by kind of request, so one upper bound may occur several times.
    """
    wanted = "response" if clocked else "service-"
    rows = (row.split() for row in path.read_text().splitlines() if not row.startswith("#"))
    return tuple((int(high) / 1000, int(count)) for name, _, high, count in rows
                 if name.startswith(wanted))


@dataclass(frozen=True)
class Comparison:
    """
    options    options of each replay
    phased     whether the run is separate from its preparation and check
    control    control socket of the emulated drive beneath, if there is one
    times      whether to keep the latencies of all requests
    """

    replays: Replays
    source: str
    options: tuple[str, ...]
    phased: bool
    control: Callable[[str], dict[str, Any]] | None = None
    times: bool = False

    def make(self, step: Step) -> Sample:
        """Make one run; prepare a workload that writes before, and check its data afterwards."""
        device = step.mode
        state = str(self.replays.folder / "state.json")
        if not self.phased:
            saved = self.replays.folder / "times"
            more = ("--histogram", str(saved)) if self.times else ()
            replay, counts = self._counted(device, lambda: self._replay(device, *more, ok=(0, 1)))
            made = Sample(step.repetition, device, replay, False, *counts)
            return replace(made, times=saved_times(saved, made.clocked)) if self.times else made
        self._replay(device, "--phase", "prepare", "--state", state)
        replay, counts = self._counted(
            device, lambda: self._replay(device, "--phase", "run", "--state", state))
        # Status 1 means that data differs, which becomes a finding.
        checked = self._replay(device, "--phase", "check", "--state", state, ok=(0, 1))
        replay["data_check"] = checked["data_check"]
        return Sample(step.repetition, device, replay, True, *counts,
                      tuple(bounded(replay["service_us"])) if self.times else ())

    def _replay(self, device: str, *more: str, ok: tuple[int, ...] = (0,)) -> dict[str, Any]:
        return self.replays.make(self.source, device, *self.options, *more, ok=ok)

    def _counted(self, device: str,
                 make: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], tuple[Any, Any, Any]]:
        """Call `make`; return its result, and the counts of device, target and drive meanwhile."""
        if self.control:
            self.control("reset")
        ledger, requests = self._ledger(device), devices.requests(device)
        replay = make()
        after, ended = self._ledger(device), devices.requests(device)
        drive = self.control("stats") if self.control else None
        return replay, (
            requests and ended and (ended[0] - requests[0], ended[1] - requests[1]),
            ledger and after and {name: after[name] - ledger[name] for name in LEDGER},
            drive and {name: drive[name] for name in DRIVE})

    def _ledger(self, device: str) -> dict[str, int] | None:
        """Return the counters of an align device since its creation; None for another device."""
        kernel_name = devices.block_device(device)
        if not (kernel_name or "").startswith("dm-"):
            return None
        try:
            listed = self.replays.here.json(self.replays.alignctl, "list", "--json")
            for each in listed["devices"]:
                if each["dm"] == kernel_name:
                    stats = self.replays.here.json(self.replays.alignctl, "stats", each["name"],
                                                   "--json", ok=(0, 1))
                    return stats["devices"][0]["raw"]
        except Refused:
            pass   # no right to use device-mapper; alignctl has reported it
        return None


def document(samples: list[Sample], on: str, vs: str) -> dict[str, Any]:
    found = lines(samples, on, vs)
    time = "response" if samples and samples[0].clocked else "service"
    return {"time": time, "figures": [asdict(line) for line in found],
            "verdict": verdict(found, samples, on, vs),
            "findings": findings(samples, on, vs),
            "runs": [{key: value for key, value in asdict(sample).items()
                      if key not in ("phased", "times")}
                     for sample in samples]}
