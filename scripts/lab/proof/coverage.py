# SPDX-License-Identifier: GPL-2.0
"""Measure with gcov which lines and branches of kmod/ the tests run.

    make coverage [COVERAGE_ARGS=...]
    scripts/python -m lab.proof.coverage [--seconds 60] [--lives 40] [--least 90] [--json]

The module is built with gcov. In User Mode Linux the stress runs in every mode (--seconds in all), then the tests of
kmod/tests/uml, which make allocations and requests fail; then a kernel ends while writes are held. In QEMU the stress
runs on two processors, and the simulation lives --lives lives of each focus, which adds lines reached only there. The table,
and each unreached line with its reason (unreached.py), go to out/coverage/report.txt and, for programs, to report.json.

A line of a header counts once, however many files include it. Branches are counted in gcc's machine code for User Mode
Linux, so every check that a debug kernel adds (list corruption, WARN_ON, lockdep) is a branch that should never be taken.

Exit status 1 if a test failed, fewer than --least per cent of the lines were reached, or unreached.py has no reason for
an unreached line.
"""

import argparse
import collections
import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from ..linux import debug_kernels, kernels
from ..machines import uml, vm
from ..paths import OUT, REPO, fail, say
from ..plugins import batch
from . import debug_stress, reboot, unreached

KMOD = REPO / "kmod"
FOLDER = OUT / "coverage"
DEBUGFS = Path("/sys/kernel/debug/gcov")
# The tests of kmod/tests/uml for the kernel that runs them here, as pytest's marks say it.
OF_THIS_KERNEL = "not uml_7_2"


@dataclasses.dataclass
class Source:
    """The counts of one file: runs of each line, and of each branch by (line, function, number, of)."""
    lines: dict = dataclasses.field(default_factory=collections.Counter)
    branches: dict = dataclasses.field(default_factory=collections.Counter)

    @property
    def reached(self):
        return sum(count > 0 for count in self.lines.values())

    @property
    def taken(self):
        return sum(count > 0 for count in self.branches.values())

    @property
    def unreached(self):
        return sorted(line for line, count in self.lines.items() if not count)


def add(sources, text, folder):
    """Add gcov's JSON text about one object file to `sources` ({name: Source}), for files in `folder` only."""
    told = json.loads(text)
    for found in told["files"]:
        # The sources in out/build/ are links into the checkout.
        path = Path(told["current_working_directory"], found["file"]).resolve()
        if path.parent != folder:
            continue
        source = sources.setdefault(path.name, Source())
        for line in found["lines"]:
            number, branches = line["line_number"], line["branches"]
            source.lines[number] += line["count"]
            for at, branch in enumerate(branches):
                source.branches[number, line.get("function_name"), at, len(branches)] += branch["count"]


def read(data, folder=KMOD, sources=None):
    """
    Return {name: Source} of the files in `folder`, from the .gcda files in `data` and the .gcno files beside them, added to
    `sources` of the same objects.
    """
    sources = {} if sources is None else sources
    found = sorted(data.glob("*.gcda"))
    if not found:
        fail(f"{data} has no .gcda file: the run has written no counts", 1)
    for path in found:
        done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", path.name], cwd=data,
                              capture_output=True, text=True)
        if done.returncode or not done.stdout.strip():
            fail(f"gcov {path}: {done.stderr.strip() or 'no output'}", 1)
        for line in done.stdout.splitlines():
            add(sources, line, folder)
    return sources


def add_lines(sources, others):
    """Add the line counts of other objects made of the same files; their branches differ."""
    for name, source in sources.items():
        for number in source.lines:
            source.lines[number] += others.get(name, Source()).lines[number]


def percent(part, whole):
    return 100 * part / whole if whole else 100.0


def summary(sources):
    """Return the figures of all files together."""
    lines = sum(len(source.lines) for source in sources.values())
    branches = sum(len(source.branches) for source in sources.values())
    reached = sum(source.reached for source in sources.values())
    taken = sum(source.taken for source in sources.values())
    return {"lines": lines, "lines_reached": reached, "lines_percent": round(percent(reached, lines), 2),
            "branches": branches, "branches_taken": taken, "branches_percent": round(percent(taken, branches), 2)}


def texts_of(sources):
    """Return {name: [line]} of the files."""
    return {name: (KMOD / name).read_text().splitlines() for name in sources}


def complaints(sources):
    """Return the unreached lines without a reason in unreached.py, and its superfluous entries."""
    texts = texts_of(sources)
    return [f"{name}:{line} was never reached; add a test, or a reason to unreached.py: {texts[name][line - 1].strip()}"
            for name, source in sorted(sources.items()) for line in source.unreached
            if not unreached.reason(name, texts[name], line)] + \
        [f"unreached.py: {what}" for what in unreached.stale(sources, texts)]


def table(sources):
    """Return lines of a table: a row for each file, every unreached line with its text and reason, and a summary."""
    out = [f"{'file':<18}{'lines':>7}{'reached':>9}{'%':>8}{'branches':>11}{'taken':>8}{'%':>8}"]
    for name, source in sorted(sources.items()):
        lines, branches = len(source.lines), len(source.branches)
        out.append(f"{name:<18}{lines:>7}{source.reached:>9}{percent(source.reached, lines):>8.1f}"
                   f"{branches:>11}{source.taken:>8}{percent(source.taken, branches):>8.1f}")
    never = [(name, line) for name, source in sorted(sources.items()) for line in source.unreached]
    if never:
        out += ["", f"{len(never)} lines were never reached:"]
    texts = texts_of({name for name, _ in never})
    for name, line in never:
        out += [f"{name}:{line}: {texts[name][line - 1].strip()}",
                f"    {unreached.reason(name, texts[name], line) or 'NO REASON GIVEN'}"]
    total = summary(sources)
    return [*out, "", f"kmod/: {total['lines_reached']} of {total['lines']} lines ({total['lines_percent']} %), "
            f"{total['branches_taken']} of {total['branches']} branches ({total['branches_percent']} %)"]


def as_json(sources):
    return {"total": summary(sources),
            "files": {name: {**summary({name: source}), "unreached": source.unreached}
                      for name, source in sorted(sources.items())}}


def prepare(name, module):
    """Make the folder for the counts of a run, with the .gcno files; return its path."""
    data = FOLDER / name
    data.mkdir(parents=True)
    for notes in module.parent.glob("*.gcno"):
        shutil.copy(notes, data)
    return data


def copy_command(module, data):
    """Return the shell lines that copy the kernel's counts, which outlive the module, to `data`."""
    return f"for counts in {DEBUGFS}{shlex.quote(str(module.parent))}/*.gcda; do\n" \
        f"\tcat $counts >{shlex.quote(str(data))}/$(basename $counts) || exit 1\ndone"


def run_tests(module, seconds):
    """Run the stress and the tests in User Mode Linux; return the folder with the counts, and why the run failed or None."""
    data = prepare("tests", module)
    tests = f"{batch.prepare(FOLDER / 'batch', module, [str(batch.UML_TESTS.relative_to(REPO))])} -m '{OF_THIS_KERNEL}'"
    command = f"{debug_stress.command(module, seconds)}; stress=$?\n{tests}; tests=$?\n{copy_command(module, data)}\n" \
        "[ $stress = 0 ] || exit $stress\nexit $tests"
    progress = batch.Progress(OUT / "uml" / "coverage", FOLDER / "batch" / "results.jsonl", lambda event: None,
                              threading.Event(), collect=batch.COLLECT_SECONDS + 10 * seconds)
    say(f"running the stress and the tests in User Mode Linux; their output: {OUT / 'uml/coverage/output'}")
    run = uml.run(command, timeout=progress, rwdirs=[FOLDER], name="coverage", cwd=REPO, append=uml.KMEMLEAK)
    results = [json.loads(line) for line in (FOLDER / "batch/results.jsonl").read_text().splitlines()]
    failed = [f"{result['test']}: {result['text']}" for result in results if result.get("outcome") == "failed"]
    why = "\n".join(failed) or vm.explain(run)
    return data, why or (None if results else "no test was run")


def run_reboot(module):
    """End a kernel while writes are held, as kmod/tests/rig/test_reboot.py does; return as run_tests()."""
    data = prepare("reboot", module)
    say(f"ending User Mode Linux while writes are held; its log: {OUT / 'uml/coverage-reboot/console.log'}")
    run = reboot.run(module, FOLDER / "disk", "coverage-reboot", f"{DEBUGFS}{module.parent}", data)
    if (data / "rescued").exists() and not run.faults:
        return data, None
    return data, f"the kernel has ended before its counts were copied\n{run.console[-3000:]}"


def run_two_processors(seconds):
    """Run the stress in QEMU, on the kernel for data races with KCSAN off; return as run_tests()."""
    module = debug_kernels.build_part("kcsan", "kmod", gcov=True) / "dm-align.ko"
    data = prepare("two-processors", module)
    timeout = 600 + 10 * seconds
    say(f"running the stress in QEMU on two processors; its log: {OUT / 'vm/coverage/console.log'}")
    run = vm.run(f"{debug_stress.command(module, seconds)}; stress=$?\n{copy_command(module, data)}\nexit $stress",
                 timeout=timeout, series="kcsan", rwdirs=[data], name="coverage", memory="3G",
                 append="kcsan.early_enable=0", stdout=sys.stderr)
    return data, vm.explain(run)


def build_simulation():
    """Build the simulation with gcov; return the folder. It is compiled with less effort, so that few lines are merged."""
    built = FOLDER / "simulation"
    done = subprocess.run(["make", "-s", "-C", KMOD / "tests/sim", f"OUT={built}", "WERROR=", "CFLAGS=-O1 -g --coverage",
                           f"LINUX={kernels.fetch_source(kernels.USUAL)}"], capture_output=True, text=True)
    if done.returncode:
        fail(f"the simulation cannot be built with gcov: {done.stderr[-3000:]}", 1)
    return built


def focuses(program):
    """Return what lives of the simulation may be about, as its usage names it."""
    said = subprocess.run([program, "--help"], stderr=subprocess.PIPE, text=True).stderr
    return re.search(r"--focus ([\w|]+)", said)[1].split("|")


def run_lives(built, number):
    """
    Live so many lives of each focus in the simulation; return as run_tests(). Each life is a process, as a new world resets all
    static data of the engine, the counts among them.
    """
    program, failed = built / "bin/sim", []
    for focus in focuses(program):
        say(f"living {number} lives of the simulation, focus {focus}")
        for seed in range(1, number + 1):
            words = ["--focus", focus, "--seed", str(seed), "--lives", "1"]
            if subprocess.run([program, *words], stdout=subprocess.DEVNULL).returncode:
                failed.append(" ".join(words))
    return built / "sim/engine", f"the simulation failed: {'; '.join(failed)}" if failed else None


def collect(seconds, number):
    """Make all runs, `number` lives among them; return {name: Source}, and why runs failed."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    simulation = build_simulation()
    module = uml.module(gcov=True)
    tests, why = run_tests(module, seconds)
    sources = read(tests)
    whys = [why]
    # A run that ends too early has no counts, or incomplete ones.
    end, why = run_reboot(module)
    if not why:
        read(end, sources=sources)
    whys.append(why)
    two, why = run_two_processors(seconds)
    if not why:
        add_lines(sources, read(two))
    whys.append(why)
    lived, why = run_lives(simulation, number)
    add_lines(sources, read(lived))
    whys.append(why)
    return sources, [why for why in whys if why]


def main(argv):
    parser = argparse.ArgumentParser(prog="make coverage", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--lives", type=int, default=40)
    parser.add_argument("--least", type=float, default=90)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(argv)
    vm.begin()
    sources, why = collect(given.seconds, given.lives)
    text = "\n".join(table(sources)) + "\n"
    (FOLDER / "report.txt").write_text(text)
    (FOLDER / "report.json").write_text(json.dumps(as_json(sources), indent=1) + "\n")
    sys.stdout.write((FOLDER / "report.json").read_text() if given.json else text)
    if why:
        fail("a measured run failed: " + "\n".join(why), 1)
    if summary(sources)["lines_percent"] < given.least:
        fail(f"fewer than {given.least} % of the lines were reached", 1)
    if complaints(sources):
        fail("\n".join(complaints(sources)), 1)


if __name__ == "__main__":
    main(sys.argv[1:])
