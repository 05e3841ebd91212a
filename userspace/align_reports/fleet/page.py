# SPDX-License-Identifier: GPL-2.0
"""A fleet as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from ..document import visible
from ..page import definitions, document, said, table
from .ranking import Fleet
from .table import MEANINGS, VIEWS, total

WRAP = "\nth, td, td::before, dt, dd, .verdict { overflow-wrap: anywhere; }\n"
# A browser can show no more in reasonable time; --json has all.
MOST_ROWS = 10000


def render(fleet: Fleet, only: str | None) -> str:
    """Return the page. only: the host that the page is about, or None for all."""
    wrong = any(host.wrong for host in fleet.hosts)
    parts = []
    for view in (make(fleet, MOST_ROWS) for make in VIEWS.values()):
        more = f"<p>{view.rest} more rows are left out; --json has all.</p>" if view.rest else ""
        if view.rows:
            parts.append(f"<h2>By {view.title[:-1]}</h2>\n"
                         f"{table(view.headings, [[('', row) for row in view.rows]])}{more}")
    unused = definitions("Files not used", [(visible(path), visible(reason)) for path, reason in
                                            sorted(fleet.unusable.items())]) if fleet.unusable else ""
    return document(f"Misaligned writes on {only}" if only else "Misaligned writes of a fleet", f"""\
{said([total(fleet)], None, wrong or bool(fleet.unusable))}
{"".join(parts)}
{unused}
{definitions("What the columns mean", MEANINGS.items())}""", WRAP)
