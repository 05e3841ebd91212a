# SPDX-License-Identifier: GPL-2.0
"""What conform has found as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import shlex
from html import escape
from typing import Any

from ..charts import across
from ..page import Heading, definitions, document, key, panel, said, table
from ..svg import WIDTH, line, rect, svg, text
from ..table import duration, number, round_duration, size_name

COLOURS = """
svg .write, .key .write { fill: var(--pad); background: var(--pad); }
svg .read, .key .read { fill: var(--coalesce); background: var(--coalesce); }
svg .flush, .key .flush { fill: var(--report); background: var(--report); }
svg .clear, .key .clear { fill: var(--raw); background: var(--raw); }
svg .wrong, .key .wrong { fill: var(--bad); background: var(--bad); }
h1, th, td, td::before, dd, .verdict, .panel { overflow-wrap: anywhere; }
.panel code { font-size: .8rem; }
"""
# The colour of each request of a round; writes have the rest.
KINDS = {"read": "read", "flush": "flush", "discard": "clear", "zeroes": "clear"}
KEY = (("write", "a write"), ("read", "a read"), ("flush", "a flush"), ("clear", "a discard or zeroes"),
       ("wrong", "the logical block that is wrong"))
# Room for a request's name, height of its row, and of what is between the two drawings.
NAMES, ROW, GAP = 86, 18, 34
# A bar is at least so wide.
LEAST = 2


def _kind(request: dict[str, Any]) -> str:
    return KINDS.get(request["request"], "write")


def _name(index: int, request: dict[str, Any]) -> str:
    return f"{index + 1} {request['request']}"


def _times(requests: list[dict[str, Any]], top: float) -> list[str]:
    """Draw when each request was in flight."""
    most = max(request["ended_us"] for request in requests) or 1
    width = WIDTH - NAMES - LEAST
    bottom = top + ROW * len(requests)
    parts = []
    quarters = [most * quarter / 4 for quarter in range(5)]
    for value, centre, name in across([quarters, quarters[::2], quarters[::4]], lambda us: NAMES + us / most * width,
                                      lambda us: round_duration(float(f"{us:.3g}"))):
        x = NAMES + value / most * width
        parts += [line(x, top, x, bottom, "grid"), text(centre, bottom + 13, name, "tick", "middle")]
    for index, request in enumerate(requests):
        y = top + ROW * index
        begin, end = (NAMES + request[name] / most * width for name in ("sent_us", "ended_us"))
        tip = (f"{_name(index, request)}: from {duration(request['sent_us'])} to {duration(request['ended_us'])}")
        parts += [text(0, y + 13, _name(index, request), "name"),
                  rect(begin, y + 4, max(end - begin, LEAST), ROW - 8, _kind(request), tip)]
    return parts


def _places(fault: dict[str, Any], block: int, logical: int, top: float) -> list[str]:
    """Draw the physical blocks, what each request covers of them, and the block that is wrong."""
    covering = [(index, request) for index, request in enumerate(fault["requests"]) if request["bytes"]]
    starts = [fault["offset"], *(request["offset"] for _, request in covering)]
    ends = [fault["offset"] + logical, *(request["offset"] + request["bytes"] for _, request in covering)]
    # Boundaries lie where whole blocks are from the start of the area on.
    first = fault["start"] + (min(starts) - fault["start"]) // block * block
    blocks = -(-(max(ends) - first) // block)
    scale = (WIDTH - NAMES - LEAST) / (blocks * block)
    bottom = top + ROW * (len(covering) + 1)

    def x_of(byte: int) -> float:
        return NAMES + (byte - first) * scale

    parts = [line(x_of(first + number_ * block), top, x_of(first + number_ * block), bottom, "axis")
             for number_ in range(blocks + 1)]
    for row, (index, request) in enumerate(covering):
        y = top + ROW * row
        tip = f"{_name(index, request)}: {size_name(request['bytes'])} at byte {request['offset']}"
        parts += [text(0, y + 13, _name(index, request), "name"),
                  rect(x_of(request["offset"]), y + 4, max(request["bytes"] * scale, LEAST), ROW - 8, _kind(request), tip)]
    y = top + ROW * len(covering)
    return [*parts, text(0, y + 13, "wrong", "name"),
            rect(x_of(fault["offset"]), y + 4, max(logical * scale, LEAST), ROW - 8, "wrong", f"byte {fault['offset']}")]


def drawing(fault: dict[str, Any], block: int, logical: int) -> str:
    """Draw a faulty round: times of its requests, and below where they lie, a vertical line at each physical boundary."""
    requests = fault["requests"]
    places = 4 + ROW * len(requests) + GAP
    covering = sum(1 for request in requests if request["bytes"])
    words = "; ".join(f"{_name(index, request)} from {duration(request['sent_us'])} to {duration(request['ended_us'])}"
                      for index, request in enumerate(requests))
    return svg(places + ROW * (covering + 1) + 4, f"{fault['fault']} at byte {fault['offset']}: {words}",
               [*_times(requests, 4), *_places(fault, block, logical, places)])


def again(found: dict[str, Any], fault: dict[str, Any]) -> str:
    """Return the command that makes more rounds of a fault's kind."""
    return (f"alignctl conform {shlex.quote(found['device'])} --kind {fault['kind']} --method {fault['method']} "
            f"--seed {found['seed']}")


def _panel(found: dict[str, Any], fault: dict[str, Any]) -> str:
    reader = "a read afterwards has found it" if fault["read_by"] is None else f"request {fault['read_by'] + 1} read it"
    where = {**fault, "start": found["start"]}
    return panel(f"{fault['fault']}, round {fault['round']}",
                 drawing(where, found["block_size"], found["logical_block_size"])
                 + f"<p><code>{escape(again(found, fault))}</code></p>",
                 f"Byte {fault['offset']} {fault['text']}; {reader}.")


def sentences(found: dict[str, Any]) -> list[str]:
    """Return what the box at the top says."""
    rounds, faulty = number(found["rounds"]), found["faulty"]
    if faulty:
        each = ", ".join(f"{name} {number(count)}" for name, count in found["faults"].items() if count)
        words = [f"{number(faulty)} of {rounds} rounds had a fault: {each}."]
    else:
        bound = found["fewer_than_one_in"]
        words = [f"None of {rounds} rounds had a fault"
                 + (f": fewer than 1 in {number(bound)} has one, at a confidence of 95 %." if bound else ".")]
    if found["physical_block_size"] == found["logical_block_size"]:
        words.append(f"The physical block is the logical one; blocks of {size_name(found['block_size'])} were tried as if they "
                     "were physical ones.")
    words += [f"Cannot tell: {name}: {why}." for name, why in found["cannot_tell"].items()]
    return words


def render(found: dict[str, Any], machine: dict[str, str]) -> str:
    """Return the page of a document."""
    pictures = ""
    if found["examples"]:
        more = found["faulty"] - len(found["examples"])
        left = f" {number(more)} more are counted only." if more > 0 else ""
        pictures = (f"<h2>Faulty rounds</h2><p>Above, when each request was in flight, from the first one sent on; below, what "
                    f"it covers, with a line at each boundary of physical blocks.{left}</p>{key(KEY)}"
                    f"<div class=\"panels\">{''.join(_panel(found, fault) for fault in found['examples'])}</div>")
    kinds = sorted(found["kinds"], key=lambda kind: (-kind["faulty"], kind["kind"]))
    of_kinds = table(
        [Heading("Kind", title=True), Heading("Rounds"), Heading("Faulty"), Heading("Fewer than 1 in")],
        [[("", [kind["kind"], number(kind["rounds"]), number(kind["faulty"]),
                "\u2013" if kind["fewer_than_one_in"] is None else number(kind["fewer_than_one_in"])]) for kind in kinds]])
    of_methods = table([Heading("Method", title=True), Heading("Rounds"), Heading("Faulty")],
                       [[("", [method["method"], number(method["rounds"]), number(method["faulty"])])
                         for method in found["methods"]]])
    how = {"device": found["device"], "logical block": size_name(found["logical_block_size"]),
           "block that was tried": size_name(found["block_size"]),
           "area": f"{size_name(found['length'])} from byte {found['start']} on"
                   + (", restored" if found["restored"] else ""),
           "memory": f"at any multiple of {size_name(found['memory_alignment'])}",
           "time": duration(found["seconds"] * 1e6), "seed": found["seed"], **machine}
    return document(f"Whether {found['device']} keeps its word", f"""\
{said(sentences(found), None, bool(found["faulty"]))}
{pictures}
<h2>By method</h2>
{of_methods}
<h2>By kind of round</h2>
{of_kinds}
{definitions("How it was measured", how.items())}""", COLOURS)
