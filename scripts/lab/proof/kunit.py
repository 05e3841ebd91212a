# SPDX-License-Identifier: GPL-2.0
"""Run the KUnit suites of kunit/ and read their results.

    scripts/kunit [um|um-7.2|x86_64|x86_64-7.2]
        User Mode Linux 6.12 (default) or 7.2, or QEMU with two processors and 6.12 or 7.2

The suites are modules, built against a kernel that stays in the cache. They are loaded one by one; the results come from
debugfs.
"""

import dataclasses
import re
import shlex
import shutil
import sys

from .. import machines
from ..linux import debug_kernels, kernels
from ..machines import again, uml, vm
from ..paths import OUT, REPO, fail, locked
from ..plugins import extent

SOURCES = REPO / "kunit"
# Time limit by kernel, named as in debug_kernels.py.
TIMEOUT = {"um": 180, "um-7.2": 180, "x86_64": 300, "x86_64-7.2": 300}

# insmod fails if the module's suite cannot even start; failures of cases are in the results.
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
    """A test case. status: "ok", "not ok" or "skip"; detail: the suite's message about it."""
    status: str
    detail: str


def suites(path):
    """Return {suite: [case]} of a source file, in order."""
    text = path.read_text()
    lists = {name: re.findall(r"KUNIT_CASE\w*\(\s*(\w+)", body)
             for name, body in re.findall(r"struct kunit_case (\w+)\[\] = \{(.*?)\n\};", text, re.S)}
    return {re.search(r'\.name = "([^"]+)"', body)[1]: lists[re.search(r"\.test_cases = (\w+)", body)[1]]
            for body in re.findall(r"struct kunit_suite \w+ = \{(.*?)\n\};", text, re.S)}


def expected():
    """Return the (suite, case) pairs of the sources, in order, so that a case without a result is noticed."""
    return [(suite, case) for path in sorted(SOURCES.glob("*_test.c")) for suite, cases in suites(path).items() for case in cases]


def parse(ktap):
    """Parse one suite's KTAP text into {case: Case}; cases are one level below the suite, their parameters two."""
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


def of_this_run():
    """Return the kernels to run the suites on: User Mode Linux of the usual series, which the run needs anyhow; in make
    check-all the kernels of the run's series, too, each of which takes minutes to build."""
    return [kernel for kernel in TIMEOUT if kernel == "um" or
            extent.everything() and debug_kernels.series_of(kernel) in kernels.chosen()]


def _machine(kernel):
    return "uml" if debug_kernels.arch_of(kernel) == "um" else "qemu"


def run(kernel):
    """Build and run all suites; return ({suite: {case: Case}}, why the run itself failed or None)."""
    with locked(f"kunit-{kernel}", OUT):
        return _run(kernel)


def _run(kernel):
    machine = _machine(kernel)
    machines.require(machine)
    built = debug_kernels.build_part(kernel, "kunit")
    folder = OUT / "kunit" / kernel
    modules = " ".join(shlex.quote(str(path)) for path in sorted(built.glob("*.ko")))
    script = SCRIPT.format(modules=modules, folder=shlex.quote(str(folder)))

    def boot(suffix):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if machine == "uml":
            return uml.run(script, timeout=TIMEOUT[kernel], kernel=kernel, rwdirs=[folder], name=f"kunit-{kernel}")
        series = next(name for name, own in vm.OWN.items() if own == kernel)
        with open(folder / "output", "w") as output:
            return vm.run(script, timeout=TIMEOUT[kernel], series=series, rwdirs=[folder], name=f"kunit-{kernel}{suffix}",
                          stdout=output)

    result = again.run(boot)
    results = {path.stem: parse(path.read_text()) for path in folder.glob("*.ktap")}
    why = [machines.cannot_run(machine, result), vm.explain(result)]
    return results, "\n".join(filter(None, why)) or None


def main(argv):
    kernel = argv[0] if argv else "um"
    if kernel not in TIMEOUT or len(argv) > 1:
        fail(__doc__.strip())
    if _machine(kernel) == "qemu":
        vm.begin()
    try:
        results, why = run(kernel)
    except machines.LeftOut as reason:
        fail(reason)
    except OSError as error:
        fail(machines.line(_machine(kernel), error))
    failed = skipped = passed = 0
    for suite, case in expected():
        found = results.get(suite, {}).get(case, Case("not ok", "never ran"))
        print(f"{found.status:7} {suite}: {case}{': ' + found.detail if found.status == 'skip' else ''}")
        if found.status == "not ok":
            print(found.detail)
        failed += found.status == "not ok"
        skipped += found.status == "skip"
        passed += found.status == "ok"
    print(f"{passed} passed, {failed} failed, {skipped} skipped ({kernel})")
    if why:
        print(why)
    sys.exit(1 if failed or why or not passed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
