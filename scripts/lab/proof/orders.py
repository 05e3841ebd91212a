# SPDX-License-Identifier: GPL-2.0
"""Search all orders of sets of operations (Documentation/develop/simulation.rst, "All orders in the small"), on all processors.

    python -m lab.proof.orders PROGRAM [--sets "3 4-few"] [--jobs N]

PROGRAM is the simulation. "3" has all sets of three operations, "4-few" those of four of the short list. What was
searched of the same sources (kmod/ and the simulation, without scenes and files in sysfs) is not searched again:
out/proof/orders.json keeps it, set by set. A break of a promise ends the run with its time line. Exit status: 0 every order
of every set was searched and breaks none, 1 not, 2 the program could not run.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from ..paths import OUT, fail, locked
from . import shares
from .lives import key_of_the_sources

FILE = OUT / "proof" / "orders.json"
# What a search does without: scenes, and the files of devices.
UNUSED = ("scenes*", "stage*", "sysfs*")
SETS = "3 4-few"
COUNTED = ("orders", "lived to the end", "states", "circles", "cut off", "sets not to the end")
LAST_LINE = re.compile(r"^exhaustive: 1 sets, (.*), reduction states, ([\d.]+) s$", re.MULTILINE)


def recorded():
    """Return {digest: {set: figures}} of earlier runs."""
    return shares.read(FILE)


def record(key, figures):
    """Keep what was searched; of other sources nothing is kept, as it takes much room."""
    shares.write(FILE, {key: figures})


def sets_of(program, words):
    """Return the sets that words such as "3 4-few" name, each once, as the program names them."""
    names = []
    for word in words.split():
        length, _, few = word.partition("-")
        if few not in ("", "few") or not length.isdigit():
            fail(f"sets {word!r}: must be a length, or a length and -few")
        done = subprocess.run([program, f"--exhaustive={length}", "--list", *(["--few"] if few else [])],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            fail(f"{program} --exhaustive={length} --list ends with status {done.returncode}: {done.stderr.strip()}")
        names += done.stdout.splitlines()
    return list(dict.fromkeys(names))


def search(program, name):
    """Search a set; return its figures, and the words on a violation."""
    operations, _, mode = name.rpartition(" in mode ")
    done = subprocess.run([program, "--exhaustive", "--mode", mode, "--set", operations], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    line = LAST_LINE.search(done.stdout)
    if done.returncode not in (0, 1) or not line:
        fail(f"{program} --set {operations!r} --mode {mode} ends with status {done.returncode}: {done.stdout[-500:]}")
    figures = {name: int(number) for number, name in re.findall(r"(\d+) ([a-z ]+)", line[1]) if name in COUNTED}
    return figures | {"seconds": float(line[2])}, done.stdout if done.returncode else ""


class Progress:
    """A line on a terminal, once a second."""

    def __init__(self, total):
        self.total, self.told, self.terminal = total, 0.0, sys.stderr.isatty()

    def tell(self, figures, running):
        if self.terminal and time.monotonic() - self.told > 1:
            self.told = time.monotonic()
            sys.stderr.write(f"\r\033[Korders: {len(figures)} of {self.total} sets, "
                             f"{sum(each['orders'] for each in figures.values())} orders; {', '.join(sorted(running))[:80]}")

    def end(self):
        if self.terminal:
            sys.stderr.write("\r\033[K")


def go_on(program, names, jobs, say=print):
    """Search what was not searched of sets; return whether that is all, and no order breaks a promise."""
    key = key_of_the_sources(UNUSED)
    kept = recorded().get(key, {})
    running, broken, progress = set(), "", Progress(len(names))
    stop = threading.Event()

    def work(name):
        if stop.is_set():
            return name, None, ""
        running.add(name)
        try:
            return name, *search(program, name)
        finally:
            running.discard(name)

    with ThreadPoolExecutor(jobs) as pool:
        left = {pool.submit(work, name) for name in names if name not in kept}
        while left:
            done, left = wait(left, timeout=1, return_when=FIRST_COMPLETED)
            for each in done:
                name, figures, words = each.result()
                if words and not broken:
                    broken = words
                    stop.set()
                elif figures and not words:
                    kept[name] = figures
            if done:
                record(key, kept)
            progress.tell({name: kept[name] for name in names if name in kept}, running)
    progress.end()
    if broken:
        say(broken)
    searched = [kept[name] for name in names if name in kept]
    total = {name: sum(each[name] for each in searched) for name in (*COUNTED, "seconds")}
    say(f"orders: {len(searched)} of {len(names)} sets, "
        + ", ".join(f"{total[name]} {name}" for name in COUNTED) + f", {total['seconds']:.0f} s")
    return not broken and len(searched) == len(names) and not total["cut off"] + total["sets not to the end"]


def main(argv):
    parser = argparse.ArgumentParser(prog="orders", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--sets", default=SETS, help=f"lengths, each with -few or without (default: {SETS!r})")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="sets at a time (default: one a processor)")
    given = parser.parse_args(argv)
    with locked("orders", OUT):
        return 0 if go_on(given.program, sets_of(given.program, given.sets), given.jobs) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
