# SPDX-License-Identifier: GPL-2.0
"""`alignctl verify`: the effect of dm-align on a device, each workload raw and in each mode, compared.

Writes to the device. Prints one table with a verdict for each workload and mode.
Exit status: 0 all agrees, 1 findings, 2 usage, 3 I/O error, 4 busy or unsafe.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from align_reports import interrupt
from align_reports.command import attempt, put, refused
from align_reports.document import text_of
from align_reports.drive import Control
from align_reports.exit_status import FINDINGS, FINE, USAGE
from align_reports.given import member
from align_reports.machine import Here
from align_reports.progress import Progress, show, wide
from align_reports.results import Results
from align_reports.steps import steps
from align_reports.table import duration
from align_reports.verify.experiment import Experiment, all_runs
from align_reports.verify.verdict import Verdict, findings, verdicts

# Format of the --json document; in 2, replays had latency_us; in 1, machine had numbers as text.
FORMAT = 3
# The way of the writes to the device, as the page describes it.
ACCESS = {
    None: "each workload as it was published: by O_DIRECT, or through the page cache",
    "--direct": "by O_DIRECT",
    "--buffered": "through the page cache",
}


@dataclass(frozen=True, kw_only=True)
class Given:
    """The arguments, see verbs/verify.c. Of buffered and direct at most one is so."""

    operands: list[str]
    on: str
    repeat: int
    modes: list[str]
    count: int | None = None
    span: int | None = None
    threads: int | None = None
    physical: int | None = None
    offset: int | None = None
    buffered: bool = False
    direct: bool = False
    hold_ms: int | None = None
    max_blocks: int | None = None
    write_cache: str | None = None
    drive_control: str | None = None
    force: list[str] | None = None
    html: Path | None = member(Path, default=None)
    json: bool = False

    @property
    def access(self) -> str | None:
        return "--direct" if self.direct else "--buffered" if self.buffered else None


def options_of(given: Given, *names: str) -> tuple[str, ...]:
    """Return the named options that were given, as arguments for alignctl."""
    values = {f"--{name}": getattr(given, name.replace("-", "_")) for name in names}
    return tuple(word for name, value in values.items() if value is not None for word in (name, str(value)))


def machine(given: Given) -> dict[str, str | int]:
    """Describe the measurement, as the page shows it."""
    return {
        "device": given.on,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "kernel": f"{platform.release()} on {platform.node()}",
        "repetitions": given.repeat,
        "threads": given.threads or 1,
        "access": ACCESS[given.access],
        "order": "the modes of one workload directly after one another; each repetition begins "
                 "with another mode; before each run its range is written and flushed",
        "data check": "every sector carries its address and sequence; the whole range is read "
                      "back through the target, and from the device when the target is gone",
    }


def measure(given: Given, folder: Path, results: Results, progress: Progress) -> None:
    """Make all runs and append each to `results`, which keeps the runs made before an exception."""
    geometry = options_of(given, "physical", "offset")
    experiment = Experiment(
        Here(), os.environ["ALIGNCTL"], given.on, folder, given.count,
        (*geometry, *options_of(given, "hold-ms", "max-blocks", "write-cache")),
        (*geometry, *options_of(given, "span", "threads"), *((given.access,) if given.access else ())),
        given.force is not None, Control(given.drive_control) if given.drive_control else None)
    wanted = steps(given.operands, given.modes, given.repeat)
    for made, (step, run) in enumerate(all_runs(experiment, wanted), 1):
        results.runs.append(run)
        progress.say(f"[{made}/{len(wanted)}] {step.title}, repetition {step.repetition}: "
                     f"{run.requests} writes in {duration(run.seconds * 1e6)}")


def report(given: Given, results: Results, found: list[Verdict], wrong: list[str],
           stopped: str | None) -> None:
    if given.json:
        print(text_of({"format": FORMAT, "machine": results.machine, "stopped": stopped,
                          "findings": wrong, "verdicts": [each.document() for each in found],
                          "runs": [vars(run) for run in results.runs]}, indent=1))
        return
    from align_reports.verify import table
    console = wide()
    show(console, table.render(found, f"{given.on}: before and after"))
    for finding in wrong:
        console.print(f"FINDING: {finding}", soft_wrap=True)


def main(given: Given) -> int:
    # Progress goes to standard error: standard output has the table or the JSON alone.
    progress = Progress()
    results = Results(machine(given))
    if refused("verify", given.html, [given.on]):
        return USAGE
    folder = Path(tempfile.mkdtemp(prefix="alignctl-verify-"))
    try:
        stopped, status = attempt("verify", lambda: measure(given, folder, results, progress))
    finally:
        shutil.rmtree(folder)
    if not results.runs:
        return status
    wrong, found = findings(results), verdicts(results, given.modes)
    if given.html:
        from align_reports.verify import page
        saved = put("verify", given.html, page.render(results, found, wrong, stopped))
        status = status or saved
    interrupt.release()
    report(given, results, found, wrong, stopped)
    return status or (FINDINGS if wrong else FINE)
