# SPDX-License-Identifier: GPL-2.0
"""`alignctl fleet`: the documents of many hosts, merged into one ranked list.

Reads files only. Exit status: 0 no findings and no touches, 1 findings or touches, 2 usage, 3 a file could not be used,
which wins over 1; the other files are answered for all the same.
"""

from __future__ import annotations

import difflib
import gc
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from align_reports import interrupt
from align_reports.command import attempt, put, refused
from align_reports.document import rows_of, visible
from align_reports.exit_status import FINDINGS, FINE, IO, USAGE
from align_reports.fleet import layout, page, ranking, table
from align_reports.fleet.model import NOTHING
from align_reports.fleet.ranking import Entry, Fleet, Host, grade_of
from align_reports.given import member

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Given:
    """The arguments, see verbs/fleet.c. reader: of fleet.reader.lines()"""

    operands: list[str]
    by: str
    host: str | None = None
    reader: list[int] | None = None
    html: Path | None = member(Path, default=None)
    json: bool = False


def _rounded(value: Fraction | None, places: int) -> float | None:
    return None if value is None else float(round(value, places))


def _modelled(entry: Entry) -> dict[str, Any] | None:
    found = entry.modelled
    share = found.share if found.disks == 1 else None
    # of most devices: without touches
    return None if found == NOTHING else {"disk_seconds_per_day": _rounded(found.disk_seconds, 3), "disks": found.disks,
            "extra_bytes_per_day": None if found.extra is None else round(found.extra), "extra_bytes_at_most": found.at_most,
            "ssds": found.ssds, "confirmed_by_drives": found.confirmed,
            "not_known": found.unknown, "share_of_disk_time": _rounded(share, 6),
            "share_of_rated_writes_per_year": _rounded(found.worn, 6)}


def _figures(entry: Entry) -> dict[str, Any]:
    """Return the members that each host, device and model of the document has."""
    day = entry.cost
    return {"touches_per_day": None if day is None else round(day), "touches": entry.touches, "modelled": _modelled(entry),
            **entry.grades()}


def _host(host: Host) -> dict[str, Any]:
    return {"rank": host.rank, "host": host.name, "documents": host.documents, "touches_from": host.source,
            **_figures(host), "disks": host.disks,
            "writers": [{"comm": comm, "touches": touches}
                        for comm, touches in sorted(host.writers.items(), key=lambda row: (-row[1], row[0])) if touches],
            "devices": [{"device": each.name, "model": each.model, **_figures(each),
                         "modes": each.modes,
                         "findings": [{"finding": one.code, "device": one.device, "grade": grade_of(one), "text": one.text}
                                      for one in each.findings]}
                        for each in host.devices if each.wrong or each.findings]}


def document(fleet: Fleet) -> dict[str, Any]:
    """Return what --json prints."""
    whole = fleet.total
    return {
        "format": FORMAT,
        "hosts": [_host(host) for host in fleet.hosts],
        "models": [{"model": each.name, "disks": disks, "hosts": on, **_figures(each)} for each, disks, on in fleet.models()],
        "findings": [{"finding": finding.code, "grade": grade_of(finding), "hosts": len({host.name for host in on}),
                      "times": len(on)} for finding, on in fleet.findings()],
        "total": {"hosts": len(fleet.hosts), "hosts_wrong": sum(host.wrong for host in fleet.hosts),
                  "hosts_with_cost": sum(host.cost is not None for host in fleet.hosts),
                  "hosts_checked": sum(host.judged for host in fleet.hosts), **_figures(whole),
                  "disks": sum(host.disks for host in fleet.hosts)},
        "unused": [{"file": visible(path), "reason": reason} for path, reason in sorted(fleet.unusable.items())]}


def only(fleet: Fleet, name: str) -> Fleet | None:
    """Return the fleet with one host of that name; None, after reporting, if there is none."""
    hosts = [host for host in fleet.hosts if host.name == name]
    if hosts:
        return Fleet(hosts, fleet.unusable)
    near = difflib.get_close_matches(name, [host.name or "" for host in fleet.hosts], 1)
    hint = f"; did you mean '{near[0]}'?" if near else "; 'alignctl fleet' without --host lists them"
    print(f"alignctl fleet: no host '{visible(name)}' in the documents{hint}", file=sys.stderr)
    return None


def read(operands: list[str], reader: list[int] | None) -> Fleet:
    """Read all documents, by that reader if there is one; report the files that cannot be used."""
    # Documents have no cycles, and their many small objects make the collector slow.
    gc.disable()
    paths, unusable = layout.files(operands)
    fleet = ranking.gather(paths, unusable, reader)
    for path, reason in sorted(unusable.items()):
        print(f"alignctl fleet: {visible(path)}: {visible(reason)}", file=sys.stderr)
    return fleet


def main(given: Given) -> int:
    if refused("fleet", given.html, given.operands):
        return USAGE
    made: list[Fleet] = []
    _, status = attempt("fleet", lambda: made.append(read(given.operands, given.reader)))
    interrupt.release()
    if status or not made:
        return status
    [fleet] = made
    status = IO if fleet.unusable else FINE
    if not fleet.hosts and not given.json:
        return status
    if given.host is not None:
        chosen = only(fleet, visible(given.host))
        if chosen is None:
            return USAGE
        fleet = chosen
    if given.html:
        status = max(status, put("fleet", given.html, page.render(fleet, given.host and visible(given.host))))
    if given.json:
        print(rows_of(document(fleet)))
    else:
        view = table.VIEWS[given.by](fleet)
        print(table.text(fleet, view))
    return max(status, FINDINGS if any(host.wrong for host in fleet.hosts) else FINE)
