# SPDX-License-Identifier: GPL-2.0
"""Live seeds of the engine on virtual time (kmod/tests/sim), and go on where the last run of the same sources has ended.

    python -m lab.proof.lives PROGRAM [--seconds 60] [--seed N]

PROGRAM is the simulation. Without --seed, lives go on behind the last one that these sources (kmod/ and the simulation)
have lived, and the last line has the figures of all their runs; out/proof/lives.json keeps them, with those of other
sources. publish() writes those of the present sources into Documentation/target/proof-lives.json, so that another checkout
and another machine live other lives. A break of a promise ends the run, and the next one begins with the life that showed
it. Exit status: 0 no violation, 1 one, 2 the program could not run.
"""

import argparse
import re
import subprocess
import sys
import time

from .. import kept, source_text
from ..paths import OUT, REPO, commit, fail, locked
from . import shares

FILE = OUT / "proof" / "lives.json"
PUBLISHED = REPO / "Documentation" / "target" / "proof-lives.json"
# Lives of a call of the program: what a run that is broken off loses, some seconds.
SLICE = 2000
FIRST = 1
# Sources of the other programs beside the simulation.
OTHER_PROGRAMS = ("litmus*", "forecast*", "traced*")
LAST_LINE = re.compile(r"^sim: (\d+) operations, (\d+) cuts, (\d+) violations, \d+ operations/s$", re.MULTILINE)


def key_of_the_sources(without=()):
    """Return a digest of all that decides what a life is, but the files whose names match one of @without, and comments."""
    folders = (REPO / "kmod", REPO / "kmod/tests/sim", REPO / "kmod/tests/sim/shim")
    files = [path for folder in folders for path in sorted(folder.glob("*.[ch]"))]
    files += sorted((REPO / "kmod/tests/sim/include").rglob("*.h"))
    left_out = (*OTHER_PROGRAMS, *without)
    return kept.digest(*(source_text.code(path) for path in files if not any(path.match(name) for name in left_out)))


def recorded():
    """Return {digest: figures} of earlier runs: of the published and this checkout's, those that have lived further."""
    everything = shares.read(PUBLISHED)
    for key, figures in shares.read(FILE).items():
        if figures["seed"] >= everything.get(key, figures)["seed"]:
            everything[key] = figures
    return everything


def record(key, figures):
    shares.write(FILE, shares.read(FILE) | {key: figures})


def publish():
    """Write the figures of the present sources, if there are some, in place of those that were published."""
    key = key_of_the_sources()
    if key in recorded():
        shares.write(PUBLISHED, {key: recorded()[key]})


def live(program, seed):
    """Live a slice from a seed on; return its operations, cuts, violations and the words on a violation."""
    done = subprocess.run([program, "--seed", str(seed), "--lives", str(SLICE)], stdout=subprocess.PIPE, text=True, check=False)
    words = LAST_LINE.search(done.stdout)
    if done.returncode not in (0, 1) or (done.returncode == 0 and not words):
        fail(f"{program} --seed {seed} ends with status {done.returncode}: {done.stdout.strip()[-500:]}")
    counted = [int(word) for word in words.groups()] if words else [0, 0, 1]
    return *counted, done.stdout.splitlines()[0] if done.returncode else ""


def go_on(program, seconds, say=print):
    """Live until the time is up or a promise is broken; return whether none was."""
    key = key_of_the_sources()
    figures = recorded().get(key, {"seed": FIRST, "operations": 0, "cuts": 0, "violations": 0, "seconds": 0})
    end = time.monotonic() + seconds
    why = ""
    while not why and time.monotonic() < end:
        began = time.monotonic()
        operations, cuts, violations, why = live(program, figures["seed"])
        figures["operations"] += operations
        figures["cuts"] += cuts
        figures["violations"] += violations
        figures["seconds"] += time.monotonic() - began
        figures["commit"] = commit()
        if not why:
            figures["seed"] += SLICE
        record(key, figures)
    if why:
        say(why)
    say(f"sim: {figures['operations']} operations, {figures['cuts']} cuts, {figures['violations']} violations, "
        f"{figures['operations'] / max(figures['seconds'], 1e-9):.0f} operations/s")
    return not why


def main(argv):
    parser = argparse.ArgumentParser(prog="lives", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", help="live from this one on, and record nothing")
    given = parser.parse_args(argv)
    if given.seed:
        return subprocess.run([given.program, "--seconds", f"{max(1, round(given.seconds))}", "--seed", given.seed],
                              check=False).returncode
    with locked("lives", OUT):
        return 0 if go_on(given.program, given.seconds) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
