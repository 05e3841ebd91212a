# SPDX-License-Identifier: GPL-2.0
"""The soak: rounds of the sector model on random configurations, in User Mode Linux (KASAN, lockdep, failing allocations)
and on the run's stock kernels in QEMU (two processors), until the time is up or a round fails.

    scripts/soak [--minutes 30] [--seed N] [--kernel um|7.2|6.12|6.1|debug]... [--rounds N]
    scripts/soak --show SEED      print the plan of a round

Each round has a seed: the soak's seed plus the round's number. For a failed round the soak prints the command that
replays it. Half of the time goes to um and half to the others, unless --kernel says otherwise. out/soak/summary.json has
the numbers of rounds and operations and the configurations reached; the guests' logs are in out/uml/ and out/vm/.
"""

import argparse
import contextlib
import json
import os
import random
import shlex
import signal
import sys
import threading
import time
from collections import Counter, defaultdict

from soak.plan import derive, traits

from ..linux import kernels, modules
from ..machines import again, uml, vm
from ..paths import OUT, REPO, say

UM = "um"
# Longest run of a guest: keeps its log short, and unloads the module, which shows leaks.
LONGEST_TURN = 600
BOOT_SECONDS = 120
# Time of a round beyond its share; the guest's own watchdog ends the round before.
GRACE = 300
SUMMARY = OUT / "soak" / "summary.json"
# More rounds than any soak makes.
ALL = 1 << 32


class Failed(Exception):
    """A round has failed; has its seed, the kernel, and the reason."""

    def __init__(self, seed, kernel, why):
        super().__init__(f"{why.rstrip()}\nround {seed} on {kernel} failed (--show {seed} prints its plan)\n"
                         f"replay: {replay(seed, kernel)}")
        self.seed, self.kernel, self.why = seed, kernel, why


def replay(seed, kernel):
    """Return the command that replays a round, several times, as its threads may interleave differently."""
    return f"scripts/soak --kernel {kernel} --seed {seed} --rounds 1 --repeat 20"


def shown(seed):
    """Return a plan as text, one part a line and one step a line."""
    plan = derive(seed)
    parts = [f"{name}: {value}" for name, value in vars(plan).items() if name != "steps"]
    return "\n".join([*parts, "steps:", *(f"  {step}" for step in plan.steps)])


def turns(named, seconds):
    """Return the guests to run and their times: [(kernel, seconds)]."""
    order = named or [kernel for series in reversed(kernels.chosen()) for kernel in (UM, series)]
    times = max(1, -(-int(seconds) // (LONGEST_TURN * len(order))))
    return [(kernel, seconds / (times * len(order))) for kernel in order] * times


class Progress:
    """The progress so far; on a terminal one line, updated in place, elsewhere no output."""

    def __init__(self, seconds):
        self._end = time.monotonic() + seconds
        self._terminal = sys.stderr.isatty()
        self.rounds = self.operations = 0

    def show(self, kernel, seed):
        if self._terminal:
            left = max(0, int(self._end - time.monotonic()))
            print(f"\rsoak: {self.rounds} rounds, {self.operations} operations, round {seed} on {kernel}, "
                  f"{left // 60}:{left % 60:02} left ", end="", file=sys.stderr, flush=True)

    def close(self):
        if self._terminal:
            print(file=sys.stderr)


class Turn:
    """Rounds in one guest."""

    def __init__(self, kernel, number):
        self.kernel = kernel
        self.name = f"soak-{kernel}-{number}"
        self._begin("")

    def _begin(self, suffix):
        """Prepare the run of a guest; `suffix`: of its name, where it is booted again."""
        self._results = OUT / ("uml" if self.kernel == UM else "vm") / (self.name + suffix) / "rounds"
        # Remove the results of an earlier soak.
        self._results.unlink(missing_ok=True)
        self.ended = []
        self._begun = None
        self._seen = 0

    def _command(self, module, first, seconds, count, repeat, results):
        python = f"PYTHONPATH={shlex.quote(str(REPO / 'kmod/tests'))} {shlex.quote(str(REPO / 'scripts/python'))}"
        return (f"{python} -m soak --first {first} --seconds {seconds} --count {count} --repeat {repeat} "
                f"--tools {shlex.quote(str(OUT / 'bin'))} --module {shlex.quote(str(module))} "
                f"--results {shlex.quote(str(results))}")

    def _boot(self, first, seconds, count, repeat):
        if self.kernel == UM:
            command = self._command(uml.module(), first, seconds, count, repeat, self._results)
            return uml.run(command, timeout=seconds + GRACE, name=self.name, cwd=REPO)
        if self.kernel == "debug":
            from ..linux.debug_kernels import build_part
            module = build_part("x86_64", "kmod") / "dm-align.ko"
        else:
            module = modules.build_for(kernels.release(self.kernel))[0] / "dm-align.ko"

        def boot(suffix):
            self._begin(suffix)
            command = self._command(module, first, seconds, count, repeat, self._results)
            with open(OUT / "vm" / f"{self.name}.output", "w") as output:
                return vm.run(command, timeout=seconds + GRACE + BOOT_SECONDS, series=self.kernel, stdout=output,
                              name=self.name + suffix, cwd=REPO)

        (OUT / "vm").mkdir(parents=True, exist_ok=True)
        return again.run(boot)

    def _read(self, progress):
        """Read the guest's new results. Raises Failed for a failed round."""
        with contextlib.suppress(FileNotFoundError):
            text = self._results.read_text()
            # The last line may be incomplete.
            lines = text[:text.rfind("\n") + 1].splitlines()
            for line in lines[self._seen:]:
                event = json.loads(line)
                if "begin" in event:
                    self._begun = event["begin"]
                    continue
                self.ended.append(event)
                if event["ok"]:
                    progress.rounds += 1
                    progress.operations += event["operations"]
            self._seen = len(lines)
        progress.show(self.kernel, self._begun)

    def run(self, first, seconds, count, repeat, progress):
        """Run rounds from `first` on. Raises Failed."""
        over = threading.Event()

        def watch():
            while not over.wait(1):
                self._read(progress)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            run = self._boot(first, seconds, count, repeat)
        finally:
            over.set()
            watcher.join()
        self._read(progress)
        why = vm.explain(run)
        wrong = next((event for event in self.ended if not event["ok"]), None)
        if wrong:
            raise Failed(wrong["seed"], self.kernel, f"{wrong['why']}\n{why}" if run.faults else wrong["why"])
        if not self.ended and not why:
            why = f"no round has run in {seconds:g} s; see {run.folder}"
        if why:
            raise Failed(first if self._begun is None else self._begun, self.kernel, why)


def reached(seeds):
    """Count how often the seeds reach each value of each dimension."""
    counts = defaultdict(Counter)
    for seed in seeds:
        for dimension, values in traits(derive(seed)).items():
            counts[dimension].update(str(value) for value in values)
    return {dimension: dict(sorted(values.items())) for dimension, values in counts.items()}


def soak(seconds, seed=None, named=(), rounds=ALL, repeat=1, prefix=""):
    """Run the soak; return the summary, and write it to SUMMARY. Raises Failed, which the summary records, too.

    prefix    prefix of the guests' names, for a run beside another soak
    """
    first = random.SystemRandom().randrange(1 << 48) if seed is None else seed
    say(f"soak: seed {first}, {seconds / 60:g} minutes")
    progress = Progress(seconds)
    parts, seeds, failed = [], [], None
    try:
        following = first
        for number, (kernel, share) in enumerate(turns(named, seconds), 1):
            turn = Turn(kernel, f"{prefix}{number}")
            began = time.monotonic()
            try:
                turn.run(following, share, rounds, repeat, progress)
            finally:
                done = [event for event in turn.ended if event["ok"]]
                following = max([following, *(event["seed"] + 1 for event in done)])
                seeds += [event["seed"] for event in done]
                parts.append({"kernel": kernel, "rounds": len(done), "seconds": round(time.monotonic() - began),
                              **{name: sum(event[name] for event in done) for name in
                                 ("operations", "touches", "steps", "memory_failed", "held", "left_to_drive")},
                              "slowest_ms": max([event["slowest_ms"] for event in done], default=0)})
                say(f"soak: {kernel}: {len(done)} rounds, {parts[-1]['operations']} operations, "
                    f"{parts[-1]['seconds']} s")
    except Failed as error:
        failed = {"seed": error.seed, "kernel": error.kernel, "why": error.why,
                  "replay": replay(error.seed, error.kernel)}
        raise
    finally:
        progress.close()
        summary = {"seed": first, "rounds": len(seeds), "operations": sum(part["operations"] for part in parts),
                   "minutes": round(sum(part["seconds"] for part in parts) / 60, 1), "failed": failed, "turns": parts,
                   "reached": reached(seeds)}
        SUMMARY.parent.mkdir(parents=True, exist_ok=True)
        SUMMARY.write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def main(argv):
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("DM_ALIGN_SOAK_MINUTES", "30")))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--kernel", action="append", choices=[UM, *kernels.SERIES, "debug"])
    parser.add_argument("--rounds", type=int, default=ALL)
    parser.add_argument("--repeat", type=int, default=1, help="times that each round is run")
    parser.add_argument("--show", type=int, metavar="SEED")
    given = parser.parse_args(argv)
    if given.show is not None:
        print(shown(given.show))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if given.kernel != [UM]:
        vm.begin()
    try:
        summary = soak(given.minutes * 60, given.seed, given.kernel or (), given.rounds, given.repeat)
    except Failed as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    print(f"soak: clean: {summary['rounds']} rounds, {summary['operations']} operations in {summary['minutes']} "
          f"minutes from seed {summary['seed']} on; configurations: {SUMMARY}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
