# SPDX-License-Identifier: GPL-2.0
"""`alignctl probe`: many runs of `alignctl replay` on one device, chosen by a method.

Prints one table and its conclusions. Exit status: 0 fine, 2 usage, 3 I/O error, 4 busy or unsafe.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from align_reports import interrupt
from align_reports.command import attempt, put, refused
from align_reports.document import text_of
from align_reports.exit_status import FINE, USAGE
from align_reports.given import member
from align_reports.machine import Refused
from align_reports.many import carry_out, machine
from align_reports.probe.area import Area, area_of, preserved, refusal
from align_reports.probe.found import Found, FromSamples, Task
from align_reports.probe.kept import NotKept, keep_rotation
from align_reports.probe.methods import METHODS
from align_reports.probe.samples import BadSamples, read_samples
from align_reports.probe.statistics import Estimate
from align_reports.progress import Progress, show, wide
from align_reports.replays import Replays

FORMAT = 2

@dataclass(frozen=True, kw_only=True)
class Given:
    """The arguments, see verbs/probe.c."""

    operands: list[str]
    seed: int
    samples: Path | None = member(Path, default=None)
    count: int | None = None
    span: int | None = None
    depth: int | None = None
    write: list[int] | None = None
    save: Path | None = member(Path, default=None)
    dry_run: bool = False
    force: str | None = None
    html: Path | None = member(Path, default=None)
    json: bool = False

    @property
    def method(self) -> str:
        return self.operands[0]

    @property
    def device(self) -> str:
        """Return the path of the device; not where there are samples."""
        return self.operands[1]


class Measuring:
    """The program behind probe METHOD DEV."""

    def __init__(self, given: Given, area: Area | None, replays: Replays) -> None:
        self._given, self._area, self._replays = given, area, replays
        self._method = METHODS[given.method]
        self._task = Task(given.device, given.count, given.span, given.seed, given.depth, area)
        self._results: list[Any] = []
        self._progress = Progress()

    @property
    def made(self) -> bool:
        return bool(self._results)

    def warnings(self) -> list[str]:
        return []

    def permit(self) -> None:
        source, options = self._method.dry(self._replays, self._task)
        self._replays.permit(source, [self._given.device], *options, ask=not self._given.dry_run,
                             restored=str(self._area) if self._area else None)

    def plan(self) -> str:
        source, options = self._method.dry(self._replays, self._task)
        kept = (f"; writes only in {self._area}, which is saved in {self._area.file} and restored"
                if self._area else "")
        return (f"{self._given.method} on {self._given.device}: many runs as of alignctl replay "
                f"{Path(source).name} {' '.join(options)}{kept}")

    def run(self) -> None:
        if not self._area:
            self._measure()
            return
        with preserved(self._area):
            self._progress.say(f"{self._area} of {self._area.device} is saved in {self._area.file} and will be restored; if this "
                      f"program is killed, wait until no alignctl runs, then: {self._area.way_back}")
            self._measure()
        self._progress.say(f"{self._area} of {self._area.device} is restored")

    def _measure(self) -> None:
        with self._progress.running(f"{self._given.method} on {self._given.device}", None):
            self._method.run(self._replays, self._task, self._progress.say, self._results)

    def report(self, stopped: str | None) -> int:
        found = self._method.found(self._task, self._results)
        if found.rotation and not stopped:
            found = rotation_kept(self._given.device, self._given.method, found.rotation, found)
        return shown(self._given, found, self._replays.facts, stopped)


def rotation_kept(device: str, method: str, rotation: Estimate, found: Found) -> Found:
    """Keep how fast a disk rotates; return what was found with where it is kept, or why not."""
    try:
        path, reason = str(keep_rotation(device, rotation, method)), None
    except NotKept as why:
        path, reason = None, str(why)
    return replace(found, words=[*found.words, f"not kept: {reason}" if reason else f"kept in {path}, for check and fleet"],
                   document={**found.document, "kept": path, "not_kept": reason})


def shown(given: Given, found: Found, facts: dict[str, Any] | None, stopped: str | None) -> int:
    """Write page, document or table of what was found; return the exit status."""
    status = FINE
    if given.html:
        from align_reports.probe import page
        status = put("probe", given.html, page.render(given.method, str(given.samples or given.device), found, machine(),
                                                      stopped))
    interrupt.release()
    if given.json:
        print(text_of({
            "format": FORMAT, "method": given.method, "device": None if given.samples else given.device,
            "samples": str(given.samples) if given.samples else None,
            "machine": machine(), "device_facts": facts, "stopped": stopped, **found.document}, indent=1))
    else:
        out = wide()
        show(out, found.table)
        for line in found.words:
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    return status


def from_samples(given: Given, samples: Path) -> int:
    """Report what recorded samples tell; return the exit status."""
    if refused("probe", given.html, [str(samples)]):
        return USAGE
    method = METHODS[given.method]
    assert isinstance(method, FromSamples)  # alignctl has checked that
    task = Task(samples.name, None, None, given.seed, None, recorded=True)
    found: list[Found] = []

    def read() -> None:
        with interrupt.allowed():
            try:
                found.append(METHODS[given.method].found(task, method.sampled(read_samples(samples, method.needed))))
            except BadSamples as error:
                raise Refused(f"--samples {error}", USAGE) from error
    stopped, status = attempt("probe", read)
    return status if stopped else shown(given, found[0], None, None)


def main(given: Given) -> int:
    if given.samples:
        return from_samples(given, given.samples)
    area = None
    if given.write:
        start, length = given.write
        area = area_of(given.device, start, length, given.save)
    if area and (reason := refusal(area, given.html)):
        print(f"alignctl probe: --save {area.file}: {reason}", file=sys.stderr)
        return USAGE
    return carry_out("probe", given.html, [given.device], [given.force] if given.force else [],
                     given.dry_run, given.json, FORMAT, lambda replays: Measuring(given, area, replays))
