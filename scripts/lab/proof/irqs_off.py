# SPDX-License-Identifier: GPL-2.0
"""Measure the longest sections with interrupts off under loads of a device in mode coalesce.

    make irqs-off [IRQS_OFF_ARGS="hold flush --json"]
    scripts/python -m lab.proof.irqs_off [--held 196608] [--json] [LOAD...]

Without names, all loads:

hold       writes that are each held, a third more than can be at a time: the oldest are written meanwhile
discard    a discard of 1 GiB over held blocks
suspend    the suspend that writes them
streams    2000 streams of misaligned writes, one write of each in turn
overwrite  whole writes of 1 MiB over held blocks
read       reads of 1 MiB over held blocks
flush      a flush of held blocks
read-irq   reads as above, of a drive whose requests end in interrupts
flush-irq  the flush of held blocks to such a drive

Each load runs twice, in a guest with one processor whose clock counts instructions (-icount shift=0): a microsecond is 1000
instructions, however busy this machine is, and the tracer's own count as well. "all" is what the kernel's irqsoff tracer
has as the longest section of the whole kernel, with the functions where it began and ended. "own" is the longest section that
began in a function of dm-align, by the events that this tracer is made of: the tracer keeps only the longest of all. "times" is
how many sections of that begin were as long, up to the same power of two of instructions. The row "control" is a section of a
known length in another module; what it has beyond that is the tracer's own. Memory that is allocated under a lock counts, as
all that the kernel does there: out/irqs-off/<load>-own.txt has the sections that are shorter and come more often, too.

The device below is brd, which ends a request when it is submitted; for the last two, null_blk, whose timer ends it in an
interrupt. There dm-align has interrupts off without a lock of its own, so "all" has it: "inside" are the functions that end
requests and ran in that section. The traces go to out/irqs-off/, and what the table shows to report.json there. Exit status:
0, 1 if a load did not hold what it should or the control was not seen, 2 if the guest failed.
"""

import argparse
import dataclasses
import json
import re
import sys
import time

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..linux import debug_kernels
from ..machines import remote, vm
from ..pace import patience
from ..paths import OUT, REPO, fail, locked, say
from . import irqs_off_loads as loads

FOLDER = OUT / "irqs-off"
KERNEL = "irqsoff"
MODULE = "dm_align"
HELD = loads.MOST_HELD
BRD = ("rd_nr=1", f"rd_size={2 << 20}")
# Requests as large as those of a fast drive.
NULL_BLK = ("nr_devices=1", "gb=2", "bs=512", "queue_mode=2", "irqmode=2", "completion_nsec=20000", "submit_queues=1",
            "max_sectors=2560")
MEMORY = "6G"
# The clock of a guest that counts instructions is exact. A string instruction counts once for each step, so the kernel had
# better clear and copy memory with those that step by eight bytes than by single ones.
WORDS = "tsc=reliable clearcpuid=erms,fsrm"
# Seconds of a run on the reference machine.
RUN_S = 400
FORMAT = 1


@dataclasses.dataclass(frozen=True)
class Section:
    """
    A section with interrupts off.

    us           its length on the guest's clock
    start, end   functions that switched interrupts off and on, "name [module]"
    stack        functions where it ended, the innermost first
    by           function that start called for it, a lock's as a rule
    inside       functions of the module that ran in it, of those that the tracer looked for
    count        sections of the same begin, and of as many nanoseconds up to the next power of two
    """
    us: float
    start: str
    end: str
    stack: tuple = ()
    by: str = ""
    count: int = 1
    inside: tuple = ()

    def touches(self, module):
        """Return whether a function of a module began or ended it, had called the one that did, or ran in it."""
        return any(name.endswith(f" [{module}]") for name in (self.start, self.end, *self.stack, *self.inside))

    def is_of(self, module):
        """Return whether a function of a module had interrupts off: itself, or by a function of the locks."""
        inside = f" [{module}]"
        return self.by.endswith(inside) or self.start.endswith(inside) and self.by.startswith("_raw_")


def parse_trace(us, text, module, functions):
    """Return the Section of the irqsoff tracer's trace, which has names without modules. functions: the names of the module's.
    Raises ValueError if the text has none."""
    def name(text):
        return f"{text} [{module}]" if text in functions else text

    found = [re.search(rf"^#  => {what} +(\S+)$", text, re.MULTILINE) for what in ("started at:", "ended at:")]
    if not all(found):
        raise ValueError(f"no section in the trace of the tracer: {text[:300]!r}")
    traced = re.findall(r"^[^#].*us.: (\S+) <-", text, re.MULTILINE)
    return Section(us, *(name(each[1]) for each in found), stack=tuple(map(name, re.findall(r"^ => (\S+)$", text, re.MULTILINE))),
                   inside=tuple(name(each) for each in dict.fromkeys(traced) if each in functions))


def parse_hist(text, names):
    """Return the Sections of a histogram, the longest of each begin and power of two. names: {offset: function}, as printed."""
    return [Section(int(ns) / 1000, names[start], names[end], by=names[by], count=int(count)) for by, start, count, ns, end in
            re.findall(r"\{ by: +(\d+), start: +(\d+), lat: [^}]*\} hitcount: +(\d+)\s+max: +(\d+)\s+end: +(\d+)", text)]


def dropped(text):
    """Return how many sections a histogram had no room for."""
    return int(re.search(r"Dropped: (\d+)", text)[1])


def enders():
    """Return the names of the target's functions that end requests."""
    found = re.findall(r"^static void (\w+)\(struct bio \*\w+\)$|^\t\.end_io\s*= (\w+),$",
                       "".join(path.read_text() for path in sorted((REPO / "kmod").glob("*.c"))), re.MULTILINE)
    return sorted({name for names in found for name in names if name})


def longest(sections):
    return max(sections, key=lambda section: section.us, default=None)


@dataclasses.dataclass
class Row:
    """
    A load and its sections.

    all     longest of the kernel
    own     longest that a function of the module began, or None
    called  longest that a function of the kernel had when the module called it, or None
    held    blocks held when the measurement began
    wrong   why the row does not count, or ""
    """
    load: str
    all: Section
    own: Section
    called: Section
    held: int
    wrong: str = ""


def judge(load, answers, held):
    """Return the Row of a load. answers: {measure: the guest's answer}; held: blocks that it should have held."""
    module = MODULE if load != "control" else loads.CONTROL_MODULE
    sections = parse_hist(answers["own"]["hist"], answers["own"]["names"])
    every = answers["all"]
    row = Row(load, parse_trace(every["us"], every["trace"], module, every["functions"]),
              longest(section for section in sections if section.is_of(module)),
              longest(section for section in sections if not section.is_of(module)),
              min(each["held"] for each in answers.values()))
    wrong = [] if dropped(answers["own"]["hist"]) == 0 else ["the histogram had too little room"]
    if row.own is None:
        wrong.append(f"no section of {module} was seen")
    if load == "control":
        wrong += [f"its {loads.CONTROL_US} us were not seen: {what} {section.us} us in {section.start}"
                  for what, section in (("all", row.all), ("own", row.own))
                  if section and (section.us < loads.CONTROL_US or not section.touches(module))]
    elif loads.LOADS[load][1] and row.held != held:
        wrong.append(f"{row.held} blocks were held, not {held}")
    row.wrong = "; ".join(wrong)
    return row


class Meter:
    """A guest with the module loaded, and the disks for the device below."""

    def __init__(self, guest):
        self._guest = guest

    def set_up(self, module):
        self._guest.run("insmod", str(module))
        self._guest.run("modprobe", "brd", *BRD)
        self._guest.run("modprobe", "null_blk", *NULL_BLK)

    def run(self, measure, load, held):
        """Make one run; return the answer of irqs_off_loads.py."""
        answer = self._guest.json("python3", loads.__file__, measure, load, str(held), *enders(), timeout=patience(RUN_S))
        (FOLDER / f"{load}-{measure}.txt").write_text(answer.get("trace") or listing(answer))
        return answer


def listing(answer):
    """Return all sections of a histogram as text, the longest first."""
    found = sorted(parse_hist(answer["hist"], answer["names"]), key=lambda section: -section.us)
    return "".join(f"{section.us:10.3f} us, {section.count:7} times  {section.start} to {section.end}, by {section.by}\n"
                   for section in found)


def shown(section, module=MODULE):
    """Return a section's cells: length and place, with the function of a module that called what had interrupts off."""
    if section is None:
        return "-", "-"
    place = section.start if section.start == section.end else f"{section.start} to {section.end}"
    if section.by and not section.by.startswith("_raw_"):
        place = f"{section.by}, called by {place}"
    callers = [name for name in section.stack if name.endswith(f" [{module}]")]
    if callers and not section.start.endswith(f" [{module}]"):
        place = f"{place}, below {callers[0]}"
    if section.inside:
        place = f"{place}; inside: {', '.join(section.inside)}"
    return f"{section.us:.1f}", escape(place)


def table(rows):
    made = Table(title="longest sections with interrupts off; 1 us: 1000 instructions, the tracer's included")
    for name in ("load", "held", "all, us", "in", "own, us", "times", "in"):
        made.add_column(name, justify="right" if name in ("held", "all, us", "own, us", "times") else "left", overflow="fold")
    for row in rows:
        length, place = shown(row.own)
        made.add_row(row.load, str(row.held), *shown(row.all), length, str(row.own.count) if row.own else "-", place)
    return made


def document(rows, held):
    return {"format": FORMAT, "unit": "1000 instructions", "held": held,
            "loads": {row.load: {key: value for key, value in dataclasses.asdict(row).items() if key != "load"} for row in rows}}


def measure(names, held):
    """Boot the guest and make all runs; yield a Row for each load, the control first."""
    module = debug_kernels.build_part(vm.OWN[KERNEL], "kmod") / "dm-align.ko"
    runs = [("control", what) for what in loads.MEASURES] + [(name, what) for name in names for what in loads.MEASURES]
    with remote.boot(FOLDER, timeout=patience(RUN_S * (len(runs) + 1)), name="irqs-off", series=KERNEL, icount=True,
                     memory=MEMORY, append=WORDS) as guest:
        meter = Meter(guest)
        meter.set_up(module)
        for name in ("control", *names):
            answers = {}
            for what in loads.MEASURES:
                began = time.monotonic()
                answers[what] = meter.run(what, name, held)
                say(f"{runs.index((name, what)) + 1} of {len(runs)} runs: {name}, {what}; {time.monotonic() - began:.0f} s")
            yield judge(name, answers, held)


def main(argv):
    parser = argparse.ArgumentParser(prog="make irqs-off", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held", type=int, default=HELD, help=f"blocks to hold before a load (default: {HELD})")
    parser.add_argument("--json", action="store_true", help="print a document instead of the table")
    parser.add_argument("loads", nargs="*")
    given = parser.parse_args(argv)
    unknown = [name for name in given.loads if name not in loads.LOADS]
    if unknown:
        parser.error(f"unknown load {unknown[0]!r}: one of {', '.join(loads.LOADS)}")
    if not 0 < given.held <= HELD:
        parser.error(f"--held {given.held}: must be from 1 to {HELD}")
    vm.begin()
    rows, broken = [], ""
    with locked("irqs-off", OUT):
        FOLDER.mkdir(parents=True, exist_ok=True)
        for path in FOLDER.glob("*.*"):
            path.unlink()
        try:
            rows.extend(measure(given.loads or list(loads.LOADS), given.held))
        except (remote.GuestError, ValueError) as error:
            broken = str(error)
        text = json.dumps(document(rows, given.held), indent=1)
        (FOLDER / "report.json").write_text(text + "\n")
    if given.json:
        print(text)
    else:
        Console(width=None if sys.stdout.isatty() else 130).print(table(rows))
    for row in rows:
        if row.wrong:
            say(f"{row.load}: {row.wrong}")
    if broken:
        fail(f"the measurement cannot go on: {broken}")
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
