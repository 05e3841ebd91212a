# SPDX-License-Identifier: GPL-2.0
"""A mutant built over a finished build of the engine on virtual time, and its lives there."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..linux import kernels
from ..paths import OUT, REPO, fail
from .choose import Mutant, mutated

KMOD = REPO / "kmod"
SIM = KMOD / "tests" / "sim"
# Processor time of a mutant, seconds; the lives below take the engine as it is less.
LIMIT = 20
# A life takes some hundredths of a second. One that is not over after so many seconds never ends.
ENDLESS = 3
# Focus and strategy of sim, the first seed, and lives, one after the other; those come first that kill most in least time.
Slice = tuple[str, str, int, int]
SLICES: tuple[Slice, ...] = (
    ("scenes", "random", 1, 8), ("tables", "random", 1, 30), ("none", "random", 1, 250), ("none", "pct", 1, 100),
    ("drops", "pct", 1, 400), ("memory", "random", 1, 60), ("reads", "random", 1, 80), ("reads", "pct", 1, 80),
    ("gate", "random", 1, 100), ("quiet", "random", 1, 15), ("flood", "random", 1, 8), ("allocations", "random", 1, 100),
    ("logical", "random", 1, 250), ("logical", "pct", 1, 60), ("bounds", "random", 1, 20), ("reclaim", "random", 1, 60),
    ("files", "random", 1, 30), ("targets", "random", 1, 30), ("layer", "random", 1, 60), ("changes", "random", 1, 30),
    ("scenes", "pct", 1, 8))
# Of what kind a violation is: the first pattern that its words match.
VIOLATIONS = (
    ("scenes", r"^scene "),
    ("content of sectors", r"a read found|after a cut, what|torn sector|which is not the target's"),
    ("never ends", r"^hang|waited for|are held for|is not over|never|waits for"),
    ("ledger and status", r"ledger|status|counts|table line"),
    ("memory", r"leak|memory|freed|allocat"),
    ("locks and sleep", r"lock|sleep|interrupt|preempt|irq|context|rcu"),
    ("requests to the drive", r"drive|device|suspended|request"),
    ("refusals", r"refused|is not resumed|fails|cannot be"),
)


@dataclass(frozen=True)
class Verdict:
    """
    What came of a mutant.

    outcome    broken: it does not compile; same: its object code is the engine's, or another mutant's; killed; survived
    how        the kind of violation, or a crash or a life that does not end
    words      what the run said
    seconds    processor time
    code       digest of its object code
    """
    outcome: str
    how: str = ""
    words: str = ""
    seconds: float = 0
    code: str = ""

    @property
    def counts(self) -> bool:
        return self.outcome in ("killed", "survived")


def engine() -> list[Path]:
    """Return the engine's files."""
    found = re.search(r"^ENGINE = (.*)$", (SIM / "Makefile").read_text(), re.M)
    assert found
    return [KMOD / f"{name}.c" for name in found[1].split()]


def digest(files: list[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()[:16]


def engine_state() -> str:
    """Return a digest of the target's sources, which the mutants are made of."""
    return digest([*KMOD.glob("*.[ch]")])


def sources() -> str:
    """Return a digest of what the object code of a mutant depends on."""
    return digest([*KMOD.glob("*.[ch]"), *SIM.glob("include/**/*.h"), SIM / "Makefile"])


def state() -> str:
    """Return a digest of all that a verdict depends on."""
    return digest([*KMOD.glob("*.[ch]"), *SIM.rglob("*.[ch]"), SIM / "Makefile", Path(__file__)])


def make(out: Path, kmod: Path, linux: str, *targets: str, compared: bool = False) -> subprocess.CompletedProcess[str]:
    """
    Build targets. Where their code is compared, it must not name the folder, as WARN_ON() does, nor come from a cache, which
    may have it from another folder.
    """
    environment = {**os.environ, "CCACHE_BASEDIR": str(REPO), "CCACHE_NOHASHDIR": "1",
                   "PATH": f"/usr/lib/ccache:{os.environ['PATH']}", **({"CCACHE_DISABLE": "1"} if compared else {})}
    variables = [f"OUT={out}", f"KMOD={kmod}", f"LINUX={linux}", "WERROR=",
                 f"CFLAGS=-O2 -fmacro-prefix-map={kmod}/=" if compared else "CFLAGS=-O2"]
    return subprocess.run(["make", "-s", "-C", str(SIM), *variables, *targets], env=environment, capture_output=True, text=True)


def code(path: Path) -> str:
    """Return a digest of an object file's code, without what is for debuggers."""
    plain = path.with_suffix(".plain")
    subprocess.run(["objcopy", "--strip-debug", str(path), str(plain)], check=True)
    return hashlib.sha256(plain.read_bytes()).hexdigest()


def kind_of_violation(words: str) -> str:
    return next((kind for kind, pattern in VIOLATIONS if re.search(pattern, words)), "other")


@dataclass(frozen=True)
class Run:
    """A run of sim. status: negative, the signal that ended it; seed: of the last life that was over, or 0."""
    status: int
    seconds: float
    output: str

    @property
    def seed(self) -> int:
        seeds = re.findall(r"^(\d+) [0-9a-f]{16}$", self.output, re.M)
        return int(seeds[-1]) if seeds else 0


def live(program: Path, focus: str, strategy: str, seed: int, lives: int, limit: int) -> Run:
    """Run lives for at most `limit` seconds of processor time."""
    command = ["prlimit", f"--cpu={limit}", "--as=4294967296", "--core=0", "stdbuf", "-oL", str(program), "--hash", "--seed",
               str(seed), "--lives", str(lives), "--focus", focus, "--strategy", strategy]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    assert running.stdout
    output = running.stdout.read()
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    return Run(running.returncode, used.ru_utime + used.ru_stime, output)


def judge(run: Run, endless: Callable[[], bool]) -> tuple[str, str] | None:
    """
    Return kind and words of the violation that a run has found, or None. endless: asked where its time was over, whether
    the life that was going on ends by itself.
    """
    if run.status == 0:
        return None
    if run.status in (-9, -24):
        return ("never ends", "a life is not over") if endless() else None
    if run.status < 0:
        return "crash", f"signal {-run.status}"
    found = re.search(r"^seed \d+: (.*)", run.output, re.M)
    said = found[1] if found else ""
    if run.status != 1 or not said:
        fail(f"sim ended with status {run.status} and no violation: {run.output[-500:]}", 1)
    return kind_of_violation(said), said


def trial(program: Path, slices: tuple[Slice, ...] = SLICES, limit: int = LIMIT) -> Verdict:
    """Let a program live until it is killed, its lives are over, or its time is."""
    seconds = 0.0
    for focus, strategy, seed, lives in slices:
        run = live(program, focus, strategy, seed, lives, max(1, round(limit - seconds)))
        seconds += run.seconds

        def endless(run: Run = run, focus: str = focus, strategy: str = strategy, seed: int = seed) -> bool:
            return live(program, focus, strategy, (run.seed or seed - 1) + 1, 1, ENDLESS).status in (-9, -24)

        found = judge(run, endless)
        if found:
            return Verdict("killed", found[0], found[1], seconds)
        if seconds >= limit - 0.5:
            break
    return Verdict("survived", seconds=seconds)


class Bench:
    """A build of the engine in which one file at a time is a mutant's. seen: digests of code, of all benches; like: another
    bench, of which the build is taken."""

    def __init__(self, folder: Path, linux: str, seen: set[str], like: Bench | None = None):
        self.out, self.kmod, self.linux, self.seen = folder / "out", folder / "kmod", linux, seen
        self.kept: dict[str, bytes] = {}
        self.changed = ""
        self.kmod.mkdir(parents=True, exist_ok=True)
        for path in KMOD.glob("*.[ch]"):
            link = self.kmod / path.name
            link.unlink(missing_ok=True)
            link.symlink_to(path)
        if like:
            shutil.rmtree(self.out, ignore_errors=True)
            shutil.copytree(like.out, self.out, symlinks=True)
            return
        # A run that was ended has left a mutant here.
        for path in engine():
            self.object(path.name).unlink(missing_ok=True)
        done = make(self.out, self.kmod, linux, *(str(self.object(path.name)) for path in engine()), compared=True)
        if done.returncode or make(self.out, self.kmod, linux).returncode:
            fail(f"the engine on virtual time does not build:\n{done.stderr}", 1)

    @property
    def program(self) -> Path:
        return self.out / "bin" / "sim"

    def object(self, file: str) -> Path:
        return self.out / "sim" / "engine" / f"{Path(file).stem}.o"

    def restore(self) -> None:
        """Put the engine's own file and object in the place of the mutant's."""
        if self.changed:
            link = self.kmod / self.changed
            link.unlink()
            link.symlink_to(KMOD / self.changed)
            self.object(self.changed).write_bytes(self.kept[self.changed])
            self.changed = ""

    def change(self, mutant: Mutant) -> None:
        if self.changed != mutant.file:
            self.restore()
            self.kept[mutant.file] = self.object(mutant.file).read_bytes()
            self.seen.add(code(self.object(mutant.file)))
            self.changed = mutant.file
        path = self.kmod / mutant.file
        path.unlink()
        path.write_text(mutated((KMOD / mutant.file).read_text().splitlines(keepends=True), mutant))

    def judge(self, mutant: Mutant, limit: int = LIMIT) -> Verdict:
        self.change(mutant)
        target = self.object(mutant.file)
        # Also of a mutant that does not compile, nothing must be left for the next one.
        target.unlink(missing_ok=True)
        if make(self.out, self.kmod, self.linux, str(target), compared=True).returncode:
            return Verdict("broken")
        made = code(target)
        if made in self.seen:
            return Verdict("same", code=made)
        self.seen.add(made)
        if make(self.out, self.kmod, self.linux).returncode:
            return Verdict("broken", code=made)
        return replace(trial(self.program, limit=limit), code=made)


def benches(number: int) -> list[Bench]:
    """Return benches for several that work at a time."""
    linux, seen = str(kernels.fetch_source(kernels.USUAL)), set[str]()
    first = Bench(OUT / "mutants" / "bench-0", linux, seen)
    return [first, *(Bench(OUT / "mutants" / f"bench-{each}", linux, seen, first) for each in range(1, number))]
