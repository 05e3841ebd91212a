# SPDX-License-Identifier: GPL-2.0
"""Runs the KUnit suites of kunit/ and reads their results.

    scripts/kunit [um|x86_64]      User Mode Linux (default), or QEMU with two processors

The suites are modules, built against a kernel that stays in the cache; each is loaded in turn, and its results are
read from debugfs.
"""

import dataclasses
import re
import shlex
import shutil
import sys

from . import again, debug_kernels, machines, uml, vm
from .paths import OUT, REPO, fail, locked

SOURCES = REPO / "kunit"
TIMEOUT = {"um": 180, "x86_64": 300}

# insmod ends with an error if the module's suite cannot even start; the results say what failed in it.
SCRIPT = """
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
for module in {modules}; do
	insmod $module || exit 3
done
for results in /sys/kernel/debug/kunit/*/results; do
	cp $results {folder}/$(basename $(dirname $results)).ktap
done
"""


@dataclasses.dataclass
class Case:
    """status: "ok", "not ok" or "skip"; detail: what the suite said about it."""
    status: str
    detail: str


def expected():
    """(suite, case) pairs that the sources hold, in order: a case that never ran must not go unnoticed."""
    pairs = []
    for path in sorted(SOURCES.glob("*_test.c")):
        text = path.read_text()
        lists = {name: re.findall(r"KUNIT_CASE\w*\(\s*(\w+)", body)
                 for name, body in re.findall(r"struct kunit_case (\w+)\[\] = \{(.*?)\n\};", text, re.S)}
        for body in re.findall(r"struct kunit_suite \w+ = \{(.*?)\n\};", text, re.S):
            suite = re.search(r'\.name = "([^"]+)"', body)[1]
            cases = re.search(r"\.test_cases = (\w+)", body)[1]
            pairs += [(suite, case) for case in lists[cases]]
    return pairs


def parse(ktap):
    """{case: Case} of one suite's KTAP text: cases stand one level below the suite, their parameters two."""
    cases, pending = {}, []
    for line in ktap.splitlines():
        found = re.match(r"( *)(not ok|ok) \d+ (?:- )?(.*?)(?: # SKIP ?(.*))?$", line)
        if found and len(found[1]) == 4:
            status = "skip" if found[4] is not None else found[2]
            cases[found[3].strip()] = Case(status, found[4] if status == "skip" else "\n".join(pending))
            pending = []
        else:
            pending.append(line)
    return cases


def run(arch):
    """Builds and runs all suites; returns ({suite: {case: Case}}, why the run itself is at fault or None)."""
    with locked(f"kunit-{arch}", OUT):
        return _run(arch)


def _run(arch):
    machine = "uml" if arch == "um" else "qemu"
    machines.require(machine)
    built = debug_kernels.build_part(arch, "kunit")
    folder = OUT / "kunit" / arch
    modules = " ".join(shlex.quote(str(path)) for path in sorted(built.glob("*.ko")))
    script = SCRIPT.format(modules=modules, folder=shlex.quote(str(folder)))

    def boot(suffix):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if arch == "um":
            return uml.run(script, timeout=TIMEOUT[arch], rwdirs=[folder], name="kunit")
        with open(folder / "output", "w") as output:
            return vm.run(script, timeout=TIMEOUT[arch], series="debug", rwdirs=[folder], name=f"kunit{suffix}",
                          stdout=output)

    result = again.run(boot)
    results = {path.stem: parse(path.read_text()) for path in folder.glob("*.ktap")}
    why = [machines.cannot_run(machine, result), vm.explain(result)]
    return results, "\n".join(filter(None, why)) or None


def main(argv):
    arch = argv[0] if argv else "um"
    if arch not in TIMEOUT or len(argv) > 1:
        fail(__doc__.strip())
    if arch != "um":
        vm.begin()
    try:
        results, why = run(arch)
    except machines.LeftOut as reason:
        fail(reason)
    except OSError as error:
        fail(machines.line("uml" if arch == "um" else "qemu", error))
    failed = skipped = passed = 0
    for suite, case in expected():
        found = results.get(suite, {}).get(case, Case("not ok", "it never ran"))
        print(f"{found.status:7} {suite}: {case}{': ' + found.detail if found.status == 'skip' else ''}")
        if found.status == "not ok":
            print(found.detail)
        failed += found.status == "not ok"
        skipped += found.status == "skip"
        passed += found.status == "ok"
    print(f"{passed} passed, {failed} failed, {skipped} skipped ({arch})")
    if why:
        print(why)
    sys.exit(1 if failed or why or not passed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
