# SPDX-License-Identifier: GPL-2.0
"""The demo: five published workloads on an emulated 512e drive, raw and in each mode.

Boots one guest with seven drives (two profiles, and for each of them one drive for each of
raw, report, pad and, above a write cache, coalesce), makes the runs as `alignctl verify` does,
prints its tables, and writes the results as demo.json and as a page, demo.html.
Exit status: 0 everything agrees, 1 findings, 2 the demo could not run, 3 output error.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from string import ascii_lowercase

from rich.console import Console

from align_reports import folder, output
from align_reports.intervals import FEWEST
from align_reports.results import MODES, PROFILES, Results
from align_reports.table import duration
from align_reports.verify import page, table
from align_reports.verify.verdict import verdicts

from ..linux import kernels, modules
from ..machines import drives, remote, vm
from ..paths import OUT
from . import checks
from .runner import MAX_BLOCKS, Arm, Runner
from .schedule import MODES_ON, Schedule, patience
from .workloads import WORKLOADS

FINE, FINDINGS, BROKEN = 0, 1, 2
FILES = ("demo.json", "demo.html", "demo.txt")
# About five minutes with the boot, on two emulated processors.
BUDGET_S = 290
REPEAT = FEWEST
DRIVE_SIZE = "1G"  # the widest workload spans 697 MB
TABLE_WIDTH = 190
WRITE_CACHE = {"st1000dm003": "on", "hdd-nocache": "off"}


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lab.demo", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true",
                        help="the published counts (some hours) instead of what fits --budget")
    parser.add_argument("--budget", type=float, default=BUDGET_S, metavar="SECONDS",
                        help=f"time for all the runs, without boot and build (default: {BUDGET_S})")
    parser.add_argument("--repeat", type=int, default=REPEAT, metavar="N",
                        help=f"runs of each workload in each mode (default: {REPEAT}; no time is judged from "
                             f"fewer than {FEWEST})")
    parser.add_argument("--profile", choices=PROFILES, action="append", dest="profiles",
                        help="only this drive; may be given again (default: both)")
    parser.add_argument("--out", type=Path, default=OUT / "demo", metavar="DIR",
                        help="folder for the results (default: out/demo)")
    given = parser.parse_args(argv)
    given.profiles = tuple(given.profiles or PROFILES)
    return given


def servers(profiles: tuple[str, ...]) -> dict[tuple[str, str], drives.Server]:
    """Return a drive for each profile and mode, in the guest's order of names."""
    return {(profile, mode): drives.Server(size=DRIVE_SIZE, profile=profile,
                                           cache=WRITE_CACHE[profile])
            for profile in profiles for mode in MODES_ON[profile]}


def make_runs(runner: Runner, schedule: Schedule, results: Results,
              console: Console) -> None:
    """Make every run of the schedule, with a line for each and an ETA."""
    total = len(schedule)
    began = time.monotonic()
    with console.status("") as status:
        while schedule:
            step = schedule.next()
            status.update(f"{step.title}: {step.count} \u00d7 {step.workload.summary} "
                          f"(about {output.clock(schedule.eta_s)} left)")
            at = time.monotonic()
            run = runner.make(step)
            results.runs.append(run)
            schedule.finished(time.monotonic() - at)
            console.print(
                f"[{total - len(schedule):2}/{total}] {output.clock(time.monotonic() - began)} "
                f"{step.title}: {run.requests} writes, "
                f"mean {duration(run.latency['mean'])}, "
                f"ETA {output.clock(schedule.eta_s)}", markup=False, highlight=False)


def machine(given: argparse.Namespace, release: str, accelerator: str) -> dict[str, str]:
    """Describe the measurement, as the page shows it."""
    qemu = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True,
                          check=True).stdout.split("\n")[0]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "guest": f"Linux {release}, two processors under {accelerator}, on {platform.platform()}",
        "emulator": qemu,
        "counts": "as published" if given.full else "chosen to fit the time budget",
        "repetitions": str(given.repeat),
        "drives": f"drive512e, {DRIVE_SIZE}, 512-byte logical and 4096-byte physical blocks; "
                  "one drive for each profile and mode, so that no run finds what another left "
                  "in a cache",
        "order": "all repetitions of one workload after one another, in each all modes directly "
                 "after one another, and each begins with another mode; before each run its range "
                 "is written and flushed, the drive's read buffer is filled with other places, "
                 "and both counts are set to 0",
        "memory": f"max_blocks {MAX_BLOCKS}, so that all of a run may be held",
        "queue": "no merging above or below: nomerges=2, scheduler none, request-merging=off",
        "latency": "from submission to completion in the guest, so with what the guest adds to "
                   "every request: 0.25 to 1 ms if its processors are emulated (TCG)",
        "data check": "every sector carries its address and sequence; the whole range is read "
                      "back through the target, and from the drive when the target is gone",
    }


def demonstrate(given: argparse.Namespace, results: Results, console: Console) -> None:
    """Make all runs and append each to `results`, which keeps the runs made before an exception."""
    accelerator = vm.accelerator().upper()
    log = given.out / "log"
    alignctl = OUT / "bin" / "alignctl"
    if not alignctl.exists():
        raise remote.GuestError(f"{alignctl} is missing: run make first")
    release = kernels.release(kernels.USUAL)
    console.print(f"building dm-align.ko for {release}", highlight=False)
    built, _ = modules.build_for(release)
    schedule = Schedule(given.profiles, given.repeat, None if given.full else given.budget)
    results.machine.update(machine(given, release, accelerator))
    # Two simultaneous demos, with separate --out folders, need two machines.
    name = f"demo-{sha256(str(given.out.resolve()).encode()).hexdigest()[:8]}"
    wanted = servers(given.profiles)
    named = {"-".join(key): server for key, server in wanted.items()}
    with drives.serve(named, log) as served:
        console.print(f"booting Linux {release}; then {len(schedule)} runs in about "
                      f"{output.clock(schedule.eta_s)}", highlight=False)
        arms = [Arm(profile, mode, served[f"{profile}-{mode}"], f"vd{letter}")
                for (profile, mode), letter in zip(wanted, ascii_lowercase)]
        with remote.boot(log, timeout=patience(schedule.eta_s), name=name, series=kernels.USUAL,
                        drives=[arm.drive.attached() for arm in arms]) as here:
            runner = Runner(here, alignctl, arms)
            runner.set_up(built / "dm-align.ko")
            make_runs(runner, schedule, results, console)


def report(results: Results, findings: list[str], out: Path, console: Console) -> None:
    """Print the tables, and write tables, figures and page as files."""
    figures, web, text = (out / name for name in FILES)
    results.save(figures, findings)
    found = verdicts(results, list(MODES))
    web.write_text(page.render(results, found, findings, None))
    with text.open("w") as file:
        for target in (console, Console(file=file, width=TABLE_WIDTH)):
            for profile in results.profiles:
                target.print(table.render([each for each in found if each.device == profile], profile))
            target.print(table.legend(), highlight=False)
            for finding in findings:
                target.print(f"FINDING: {finding}", markup=False, highlight=False)
    console.print(f"{len(results.runs)} runs, {len(findings)} findings; "
                  f"{web}, {figures}", highlight=False, soft_wrap=True)


def main(argv: list[str]) -> int:
    given = arguments(argv)
    console = Console(width=None if sys.stdout.isatty() else TABLE_WIDTH)
    try:
        with folder.exclusive(given.out):
            return demo(given, console)
    except folder.InUse as error:
        print(f"demo: {error}", file=sys.stderr)
        return BROKEN


def demo(given: argparse.Namespace, console: Console) -> int:
    # Remove an older demo's page, which could pass for the result of a failed demo.
    for name in FILES:
        (given.out / name).unlink(missing_ok=True)
    results, broken = Results({"device": f"emulated drives: {' and '.join(given.profiles)}"}), []
    began = time.monotonic()
    try:
        demonstrate(given, results, console)
    except (remote.GuestError, modules.BuildFailed, RuntimeError, OSError, ValueError) as error:
        broken = [f"the demo could not go on: {error}"]
    except KeyboardInterrupt:
        broken = ["the demo was interrupted"]
    results.machine["wall time"] = f"{output.clock(time.monotonic() - began)} minutes"
    if broken and not results.runs:
        print(f"demo: {broken[0]}", file=sys.stderr)
        return BROKEN
    findings = broken + checks.check(results, given.profiles,
                                     tuple(w.name for w in WORKLOADS), given.repeat)
    report(results, findings, given.out, console)
    return BROKEN if broken else FINDINGS if findings else FINE


if __name__ == "__main__":
    output.run("demo", main)
