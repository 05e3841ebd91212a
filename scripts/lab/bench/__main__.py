# SPDX-License-Identifier: GPL-2.0
"""The benchmark: every way to a drive against every other, and the figures required of dm-align.

Compares the drive itself, dm-linear, dm-ebs and dm-align in its three modes on emulated
drives, counts the instructions of an aligned write, prints each required figure as met or
not, and writes the results as bench.json and bench.html.
Exit status: 0 every figure met, 1 some not or findings, 2 the benchmark could not run, 3 output
error.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from string import ascii_lowercase

from rich.console import Console

from align_reports import folder, output
from align_reports.output import clock

from ..demo.schedule import patience
from ..linux import kernels, modules, peer
from ..machines import drives, remote, vm
from ..paths import OUT
from . import checks, duel, forecast, idle, open_loop, overhead, races, rates, recording, report, schedule, smaller, trace
from .arms import MODES
from .figures import MET, NOT_MET, PASSING, QUICK_ROWS, ROWS, Row, figures
from .noise import Usage, host_load
from .record import Record
from .runner import Runner

FINE, UNMET, BROKEN = 0, 1, 2
FILES = ("bench.json", "bench.html", "bench.txt")
TABLE_WIDTH = 200
# Writes in a run that counts instructions, runs of each arm, and seconds of such a run: quick, full.
OVERHEAD_WRITES = (5000, 20000)
OVERHEAD_RUNS = (overhead.FEWEST_RUNS, 9)
OVERHEAD_RUN_S = (1.5, 2.5)
# Requests in a run of alignctl replay or of fio, rounds of both, and seconds of a run.
DUEL_REQUESTS = (20000, 60000)
DUEL_ROUNDS = (3, 7)
DUEL_RUN_S = (4, 8)
# Writes in a run beside a recorder: more than the recorder keeps in memory. Rounds of all
# recorders, and seconds of a run.
RECORDING_WRITES = (100_000, 200_000)
RECORDING_ROUNDS = (1, 3)
RECORDING_RUN_S = (10, 20)
# Rounds of all arms that count writes a second, and seconds of a boot with many processors.
RATES_ROUNDS = {rates.JOBS.row: (5, 15), rates.MIXED.row: (3, 9)}
RATES_BOOT_S = 30
# Devices that do nothing: for their memory; for their time, with rounds of all arms. Seconds for each.
IDLE_DEVICES = (200, 500)
MADE_DEVICES = (50, 1000)
MADE_ROUNDS = (3, 3)
IDLE_DEVICE_S = 0.1
# Requests of the long recording.
OPEN_LOOP_REQUESTS = (250_000, 10_000_000)
# Rounds of all cases and arms of smaller logical blocks, and seconds of a run.
SMALLER_ROUNDS, SMALLER_RUN_S = (1, 3), (5, 20)
# Requests whose instructions in alignctl plan are counted; those that are timed; and rounds of all programs.
FORECAST_REQUESTS, FORECAST_TIMED, FORECAST_ROUNDS = 100_000, (200_000, 1_000_000), (1, 5)
# Rounds of conform on each arm: four, or twenty, of each of its 312 kinds.
RACES_ROUNDS = (4 * 312, 20 * 312)


def arguments(argv: list[str]) -> argparse.Namespace:
    rows = "\n".join(f"  {row.name:<16} {row.about}" for row in ROWS.values())
    parser = argparse.ArgumentParser(prog="lab.bench", description=__doc__, epilog=f"rows:\n{rows}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="small counts, once; the tables only if named (under ten minutes)")
    parser.add_argument("--only", nargs="+", metavar="ROW", choices=tuple(ROWS), default=None,
                        help="only these rows")
    parser.add_argument("--repeat", type=int, metavar="N",
                        help="repetitions, of which the median counts (default: 3; --quick: 1)")
    parser.add_argument("--budget", type=float, metavar="MINUTES",
                        help="begin no repetition that will not end in this time")
    parser.add_argument("--overhead-runs", type=int, metavar="N",
                        help=f"runs of each arm that count instructions (default: {OVERHEAD_RUNS[1]}; "
                             f"--quick: {OVERHEAD_RUNS[0]})")
    parser.add_argument("--before", type=Path, metavar="KO",
                        help="an older dm-align.ko for the same kernel, which the row one-percent compares with")
    parser.add_argument("--out", type=Path, default=OUT / "bench", metavar="DIR",
                        help="folder for the results (default: out/bench)")
    given = parser.parse_args(argv)
    for name in ("repeat", "overhead_runs"):
        if getattr(given, name) is not None and getattr(given, name) < 1:
            parser.error(f"--{name.replace('_', '-')} {getattr(given, name)}: at least 1 is needed")
    given.rows = tuple(name for name in ROWS
                       if name in (given.only or (QUICK_ROWS if given.quick else ROWS)))
    given.repeat = given.repeat or (1 if given.quick else 3)
    given.overhead_runs = given.overhead_runs or OVERHEAD_RUNS[0 if given.quick else 1]
    return given


class Bench:
    """One benchmark: the request, and the results so far."""

    def __init__(self, given: argparse.Namespace, console: Console) -> None:
        self._given = given
        self._console = console
        self._log = given.out / "log"
        self._began = time.monotonic()
        self._series = kernels.main_series()
        self.record = Record()
        self.findings: list[str] = []

    def say(self, words: str) -> None:
        """Print a line with the time since the start."""
        elapsed = clock(time.monotonic() - self._began)
        self._console.print(f"[{elapsed}] {words}", markup=False, highlight=False, soft_wrap=True)

    def build(self) -> None:
        """Build the targets for the guest's kernel."""
        accelerator = vm.accelerator().upper()
        release = kernels.release(self._series)
        built, _ = modules.build_for(release)
        self._modules = [built / "dm-align.ko", peer.dm_ebs(self._series)]
        self.record.structures = idle.structures(self._modules[0])
        self.record.machine.update(machine(release, accelerator, self._given))

    def count_instructions(self) -> None:
        quick, runs = self._given.quick, self._given.overhead_runs
        writes = OVERHEAD_WRITES[0 if quick else 1]
        # For all arms, and one more round, which is discarded.
        expected = 6 * 2 * (runs + 1) * OVERHEAD_RUN_S[0 if quick else 1]
        self.say(f"overhead: {runs} runs of {writes} writes, about {clock(expected)}")
        with remote.boot(self._folder("overhead"), timeout=patience(expected), name=self._name("overhead"),
                        series=self._series, icount=True) as here:
            meter = overhead.Meter(here, writes)
            for arm, why in meter.set_up(self._modules).items():
                self.findings.append(f"overhead {arm}: {why}")
            meter.measure(runs, self.record.overhead, self._quarters("overhead"))

    def _quarters(self, what: str) -> Callable[[int, int], None]:
        """Return a function that says how many runs are done, at each quarter of them."""
        began = time.monotonic()
        def progress(done: int, total: int) -> None:
            if done % (total // 4 or 1) == 0:
                left = (time.monotonic() - began) / done * (total - done)
                self.say(f"{what}: {done} of {total} runs, ETA {clock(left)}")
        return progress

    def count_writes(self, load: rates.Load, module: Path, into: dict[str, dict[str, list[float]]], what: str) -> None:
        """Count the writes a second of each arm of a load, with a module of dm-align."""
        quick = 0 if self._given.quick else 1
        rounds, writes = RATES_ROUNDS[load.row][quick], load.writes[quick]
        expected = RATES_BOOT_S + (rounds + 1) * len(load.arms) * load.run_s[quick]
        self.say(f"{what}: {rounds} rounds of {writes} writes, about {clock(expected)}")
        log = self._folder(what)
        with remote.boot(log, timeout=patience(expected), name=self._name(what), series=self._series, icount=True,
                         cpus=load.processors) as here:
            counted = rates.Rates(here, load, self._alignctl, log, writes)
            for arm, why in counted.set_up([module]).items():
                self.findings.append(f"{what} {arm}: {why}")
            counted.measure(rounds, into.setdefault(load.row, {}), self._quarters(what))

    def weigh_idle(self, possible: int) -> None:
        """Weigh devices that do nothing in a guest that might have many processors."""
        devices, what = IDLE_DEVICES[0 if self._given.quick else 1], f"idle-{possible}"
        expected = RATES_BOOT_S + len(idle.ARMS) * devices * IDLE_DEVICE_S
        self.say(f"{what}: {devices} devices of each arm, about {clock(expected)}")
        with remote.boot(self._folder(what), timeout=patience(expected), name=self._name(what), series=self._series,
                         cpus=idle.ONLINE, offline_cpus=possible - idle.ONLINE, memory="2G") as here:
            idlers = idle.Idlers(here, devices)
            idlers.set_up(self._modules[:1])
            self.record.idle += idlers.weigh(possible)

    def time_devices(self) -> None:
        """Make and remove devices of each arm in turn."""
        quick, what = 0 if self._given.quick else 1, "devices"
        devices, rounds = MADE_DEVICES[quick], MADE_ROUNDS[quick]
        expected = RATES_BOOT_S + (rounds + 1) * len(idle.ARMS) * devices * IDLE_DEVICE_S
        self.say(f"{what}: {rounds} rounds of {devices} devices, about {clock(expected)}")
        with remote.boot(self._folder(what), timeout=patience(expected), name=self._name(what), series=self._series,
                         icount=True, cpus=idle.ONLINE, memory="2G") as here:
            idlers = idle.Idlers(here, devices)
            idlers.set_up(self._modules[:1])
            self.record.made += idlers.time(rounds, self._quarters(what))

    def counted(self, rows: list[Row]) -> Iterator[Callable[[], None]]:
        """Yield the measurements that count instructions or bytes, each in a guest of its own."""
        if any(row.overhead for row in rows):
            yield self.count_instructions
        if any(row.recording for row in rows):
            yield self.beside_recorders
        if any(row.smaller for row in rows):
            yield self.count_smaller
        for load in (rates.LOADS[row.name] for row in rows if row.rates):
            yield partial(self.count_writes, load, self._modules[0], self.record.rates, load.row)
            if load is rates.MIXED and self._given.before:
                yield partial(self.count_writes, load, self._given.before, self.record.before, f"{load.row}-before")
        if any(row.idle for row in rows):
            # The figure is that of most processors.
            weighed = idle.POSSIBLE[-1:] if self._given.quick and not self._given.only else idle.POSSIBLE
            yield from (partial(self.weigh_idle, possible) for possible in reversed(weighed))
        if any(row.made for row in rows):
            yield self.time_devices

    def against_fio(self) -> None:
        """Compare alignctl replay and fio in turn, in a separate guest."""
        quick = self._given.quick
        rounds, requests = (pair[0 if quick else 1] for pair in (DUEL_ROUNDS, DUEL_REQUESTS))
        expected = (rounds + 1) * 8 * DUEL_RUN_S[0 if quick else 1]
        self.say(f"replay-fio: {rounds} rounds of {requests} requests, about {clock(expected)}")
        with remote.boot(self._log, timeout=patience(expected), name=self._name("duel"),
                        series=self._series, memory="2G") as here:
            contest = duel.Duel(here, self._alignctl, self._log, requests)
            contest.set_up()
            with self._console.status("") as status:
                self.record.duel += contest.measure(rounds, lambda done, total: status.update(
                    f"replay-fio: {done} of {total} runs"))

    def long_recording(self) -> None:
        """Replay a long recording in an open loop, in a separate guest."""
        requests = OPEN_LOOP_REQUESTS[0 if self._given.quick else 1]
        expected = requests / open_loop.RATE
        self.say(f"replay-open: {requests} requests, about {clock(expected)}")
        trace = open_loop.make_trace(self._alignctl, self._log, requests)
        with (remote.boot(self._log, timeout=patience(expected), name=self._name("open"),
                         series=self._series, memory="2G") as here,
              self._console.status("replay-open")):
            self.record.open_loop.append(open_loop.measure(here, self._alignctl, trace, requests))
        trace.unlink()

    def count_smaller(self) -> None:
        """Make the cases of smaller logical blocks through all arms, in a guest that counts instructions."""
        quick, what = self._given.quick, "smaller"
        rounds = SMALLER_ROUNDS[0 if quick else 1]
        expected = RATES_BOOT_S + rounds * len(smaller.CASES) * len(smaller.ARMS) * SMALLER_RUN_S[0 if quick else 1]
        self.say(f"{what}: {rounds} rounds, about {clock(expected)}")
        log = self._folder(what)
        with remote.boot(log, timeout=patience(expected), name=self._name(what), series=self._series, icount=True,
                         memory="2G") as here:
            counted = smaller.Smaller(here, self._alignctl, log)
            counted.set_up(self._modules)
            counted.measure(rounds, quick, self.record.smaller, self._quarters(what))

    def race(self) -> None:
        """Send requests that meet in a block through each way to smaller logical blocks."""
        rounds = RACES_ROUNDS[0 if self._given.quick else 1]
        expected = len(smaller.ARMS) * rounds * races.ROUND_S
        self.say(f"races: {rounds} rounds of {len(smaller.ARMS)} arms, about {clock(expected)}")
        folder = self._folder("races")
        with (drives.serve({"races": races.SERVER}, folder) as served,
              remote.boot(folder, timeout=patience(expected + schedule.BOOT_S), name=self._name("races"), series=self._series,
                          memory="1G", drives=[served["races"].attached()]) as here):
            races.set_up(here, self._alignctl, self._modules)
            for arm in smaller.ARMS:
                found = races.examine(here, arm, rounds)
                if found.why and arm in MODES:
                    self.findings.append(f"races {arm}: {found.why}")
                self.record.races.append(found)
                self.say(f"races {arm}: {found.words}")

    def beside_recorders(self) -> None:
        """Measure the cost of recorders, in a guest that counts instructions."""
        rounds, writes, run_s = (pair[0 if self._given.quick else 1] for pair in (
            RECORDING_ROUNDS, RECORDING_WRITES, RECORDING_RUN_S))
        expected = (rounds + 1) * len(recording.RECORDERS) * run_s
        self.say(f"record: {rounds} rounds of {writes} writes, about {clock(expected)}")
        with remote.boot(self._folder("record"), timeout=patience(expected), name=self._name("record"),
                        series=self._series, icount=True) as here:
            beside = recording.Recording(here, self._alignctl, writes)
            beside.set_up()
            self.record.recording += beside.measure(rounds, self._quarters("record"))

    def _folder(self, what: str) -> Path:
        """Make a folder for the output of a guest that runs beside others; return it."""
        folder = self._log / what
        folder.mkdir(exist_ok=True)
        return folder

    def _name(self, what: str) -> str:
        return f"bench-{what}-{os.getpid()}"

    def trace_unmet(self) -> None:
        """Trace a few writes of every run behind an unmet figure, and write the requests to files."""
        unmet = {figure.row for figure in figures(self.record, self._given.rows)
                 if figure.verdict == NOT_MET}
        steps = schedule.steps([need for row in unmet for need in ROWS[row].needs], 0, True,
                           trace.COUNT)
        for on in dict.fromkeys(step.drive.name for step in steps):
            mine = [step for step in steps if step.drive.name == on]
            try:
                with self._on_drive(mine) as (runner, _):
                    for step in mine:
                        path = self._given.out / f"trace-{on}-{step.case.name}-{step.arm}.txt"
                        path.write_text(runner.trace(step))
                        self.say(f"not met: {path} shows the requests of some writes")
            except (remote.GuestError, OSError) as error:
                self.findings.append(f"{on}, trace: {error}")

    def repetition(self, repeat: int, steps: list[schedule.Step], progress: schedule.Progress) -> None:
        """Make every run once, with a guest and a new drive for each kind of drive."""
        for on in dict.fromkeys(step.drive.name for step in steps):
            mine = [step for step in steps if step.drive.name == on]
            try:
                with self._on_drive(mine) as (runner, here):
                    for step in mine:
                        self._make(runner, here, step, progress)
            except (remote.GuestError, OSError, ValueError) as error:
                self.findings.append(f"{on}, repetition {repeat + 1}: broke off: {error}")
                self.say(self.findings[-1])

    @contextlib.contextmanager
    def _on_drive(self, steps: list[schedule.Step]) -> Iterator[tuple[Runner, remote.Guest]]:
        """Start a new drive and a guest for steps on this drive."""
        drive = steps[0].drive
        limit = patience(sum(step.estimate_s for step in steps) + schedule.BOOT_S)
        with drives.serve({drive.name: drive.server}, self._log) as served:
            only = served[drive.name]
            with remote.boot(self._log, timeout=limit, name=self._name(drive.name), series=self._series,
                            memory="2G", drives=[only.attached()] * drive.connections) as here:
                disks = [f"vd{letter}" for letter in ascii_lowercase[:drive.connections]]
                runner = Runner(here, self._alignctl, only, disks)
                self.record.queues[drive.name] = runner.set_up(self._modules)
                yield runner, here

    def _make(self, runner: Runner, here: remote.Guest, step: schedule.Step,
              progress: schedule.Progress) -> None:
        began = time.monotonic()
        with self._console.status(f"{step.title}: {step.count} \u00d7 {step.case.summary}; "
                                  f"about {clock(progress.eta_s)} left"):
            try:
                run = runner.make(step)
            except remote.GuestError as error:
                # Go on after a failed command, but not without a guest.
                here.run("true", timeout=30)
                runner.clear()
                self.findings.append(f"{step.title}: {error}")
                self.say(self.findings[-1])
                return
            finally:
                progress.finished(step, time.monotonic() - began)
        self.record.runs.append(run)
        self.say(f"{step.title}: {run.requests} writes, mean {run.mean_us / 1000:.3f} ms, "
                 f"{run.iops:.0f}/s, drive {run.drive['touches']} touches {run.drive['reads']} "
                 f"reads {run.drive['writes']} writes, guest cpu {run.cpu:.0%}, "
                 f"data {run.replay['data_check']['status']}, ETA {clock(progress.eta_s)}")

    def go(self) -> None:
        """Make all requested measurements. Results before an exception stay."""
        rows = [ROWS[name] for name in self._given.rows]
        self._alignctl = OUT / "bin" / "alignctl"
        if not self._alignctl.exists():
            raise remote.GuestError(f"{self._alignctl} is missing: run make first")
        if any(row.forecast for row in rows):
            self.cost_forecast()
        if not all(row.forecast for row in rows):
            self.in_guests([row for row in rows if not row.forecast])
        self.record.machine["wall time"] = f"{clock(time.monotonic() - self._began)} minutes"

    def cost_forecast(self) -> None:
        """Measure alignctl plan, which needs no guest."""
        quick = 0 if self._given.quick else 1
        self.say(f"plan: {FORECAST_REQUESTS} requests under callgrind, {FORECAST_TIMED[quick]} in time")
        self.record.forecast = forecast.measure(self._alignctl, self._folder("plan"), FORECAST_REQUESTS,
                                                FORECAST_TIMED[quick], FORECAST_ROUNDS[quick])
        self.findings += self.record.forecast.wrong
        for what, why in self.record.forecast.skipped.items():
            self.say(f"plan: no {what}: {why}")

    def in_guests(self, rows: list[Row]) -> None:
        """Make the measurements that need a guest."""
        self.build()
        needs = [need for row in rows for need in row.needs]
        rounds = [schedule.steps(needs, repeat, self._given.quick)
                  for repeat in range(self._given.repeat)] if needs else []
        progress = schedule.Progress(step for steps in rounds for step in steps)
        if rounds:
            self.say(f"{sum(map(len, rounds))} runs, about {clock(progress.eta_s)}")
        host = Usage.of_host()
        for repeat, steps in enumerate(rounds):
            took = (time.monotonic() - self._began) / max(repeat, 1)
            if self._given.budget and repeat and \
                    time.monotonic() - self._began + took > self._given.budget * 60:
                self.say(f"no time left for repetition {repeat + 1} of {len(rounds)}")
                break
            self.repetition(repeat, steps, progress)
        # They do not depend on one another, nor on how busy the machine is.
        side_by_side(self.counted(rows), os.cpu_count() or 1)
        if any(row.duel for row in rows):
            self.against_fio()
        if any(row.open_loop for row in rows):
            self.long_recording()
        if any(row.smaller for row in rows):
            self.race()
        self.trace_unmet()
        spent = Usage.of_host() - host
        self.record.machine["noise"] = (
            f"machine busy {spent.busy_share:.0%} (guest and drive included), stolen "
            f"{spent.steal_share:.1%}, load {host_load():.1f} at the end; repeated raw runs differ "
            f"by {raw_spread(self.record)}")


def side_by_side(measures: Iterable[Callable[[], None]], most: int) -> None:
    """Call functions, `most` of them at once; raise the first exception of one, when all have ended.

    In daemon threads, so that a benchmark that is interrupted ends at once.
    """
    waiting: queue.SimpleQueue[tuple[Callable[[], None], Future[None]]] = queue.SimpleQueue()
    results = []
    for measure in measures:
        results.append(Future[None]())
        waiting.put((measure, results[-1]))

    def work() -> None:
        while True:
            try:
                measure, result = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                result.set_result(measure())
            except BaseException as error:
                result.set_exception(error)

    for _ in range(min(most, len(results))):
        threading.Thread(target=work, daemon=True).start()
    errors = [result.exception() for result in results]
    for error in filter(None, errors):
        raise error


def raw_spread(record: Record) -> str:
    """Return the spread of repetitions of the same raw run, which is the machine's own noise."""
    spreads = sorted(series.spread for on in record.drives for case in record.cases(on)
                     if (series := record.series(on, case, "raw", lambda run: run.wall_us))
                     and len(series.values) > 1)
    if not spreads:
        return "an unknown share (they were not repeated)"
    return f"{spreads[len(spreads) // 2]:.1%} in the middle, {spreads[-1]:.1%} at most"


def machine(release: str, accelerator: str, given: argparse.Namespace) -> dict[str, str]:
    """Describe the measurement, as the page shows it."""
    qemu = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True,
                          check=True).stdout.split("\n")[0]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "guest": f"Linux {release}, two processors under {accelerator}, on {platform.platform()}, "
                 f"{os.cpu_count()} processors",
        "emulator": qemu,
        "plan": f"{'quick' if given.quick else 'full'}: {', '.join(given.rows)}; "
                f"up to {given.repeat} repetitions",
        "drives": "drive512e, 512-byte logical and 4096-byte physical blocks, new for each "
                  "repetition; all arms of a repetition share one guest and one drive; fixed-10ms "
                  "is reached through four connections, as one carries no more than 16 requests",
        "devices": "made for each run and removed behind it; the range is prepared and read back "
                   "on the drive itself, so no device has seen a block before its run",
        "queue": "scheduler none, merging as the kernel does it, request-merging=off in QEMU",
        "times": "per write; wall from the first write to the last acknowledgement",
        "guest cpu": "share of both of the guest's processors; an emulated processor (TCG) adds "
                     "0.25 to 1 ms to every request",
        "instructions": "processors under TCG that take turns, one where nothing else is said, -icount "
                        "shift=0,sleep=off, null_blk",
    }


def publish(bench: Bench, rows: tuple[str, ...], out: Path, console: Console) -> list[str]:
    """Print the tables, and write all files; return the unmet figures and findings."""
    record = bench.record
    found = figures(record, rows)
    findings = bench.findings + checks.check(record) + list(smaller.check(record.smaller))
    as_json, web, words = (out / name for name in FILES)
    record.save(as_json, found, findings)
    web.write_text(report.page(record, found, findings))
    with words.open("w") as file:
        for target in (console, Console(file=file, width=TABLE_WIDTH)):
            for on in record.drives:
                target.print(report.drive_table(record, on))
            if record.overhead:
                target.print(report.overhead_table(record))
            if record.rates:
                target.print(report.rates_table(record))
            if record.idle:
                target.print(report.idle_table(record))
            if record.smaller:
                target.print(report.smaller_table(record))
            if record.races:
                target.print(report.races_table(record))
            target.print(report.figures_table(found))
            for finding in findings:
                target.print(f"FINDING: {finding}", markup=False, highlight=False)
            target.print(f"noise: {record.machine.get('noise', 'unknown')}", highlight=False)
    unmet = [figure for figure in found if figure.verdict not in PASSING]
    met = sum(figure.verdict == MET for figure in found)
    console.print(f"{met} of {met + len(unmet)} figures met, {len(findings)} "
                  f"findings; {web}, {as_json}", highlight=False, soft_wrap=True)
    return [figure.measure for figure in unmet] + findings


def main(argv: list[str]) -> int:
    given = arguments(argv)
    console = Console(width=None if sys.stdout.isatty() else TABLE_WIDTH)
    try:
        with folder.exclusive(given.out):
            return benchmark(given, console)
    except folder.InUse as error:
        print(f"bench: {error}", file=sys.stderr)
        return BROKEN


def benchmark(given: argparse.Namespace, console: Console) -> int:
    # Remove an older benchmark's page, which could pass for the result of a failed one.
    for path in (*(given.out / name for name in FILES), *given.out.glob("trace-*.txt")):
        path.unlink(missing_ok=True)
    bench, broken = Bench(given, console), None
    try:
        bench.go()
    except (remote.GuestError, modules.BuildFailed, RuntimeError, OSError, ValueError) as error:
        broken = f"the benchmark could not go on: {error}"
    except KeyboardInterrupt:
        broken = "the benchmark was interrupted"
    if broken and not (bench.record.runs or bench.record.overhead or bench.record.duel
                       or bench.record.open_loop or bench.record.recording or bench.record.rates
                       or bench.record.idle or bench.record.made or bench.record.smaller or bench.record.races
                       or bench.record.forecast):
        print(f"bench: {broken}", file=sys.stderr)
        return BROKEN
    if broken:
        bench.findings.append(broken)
    wrong = publish(bench, given.rows, given.out, console)
    return BROKEN if broken else UNMET if wrong else FINE


if __name__ == "__main__":
    output.run("bench", main)
