# SPDX-License-Identifier: GPL-2.0
"""Run the stress in QEMU, with two processors, on the debug kernels.

    make debug-stress [DEBUG_STRESS_ARGS=...]
    scripts/python -m lab.proof.debug_stress [--seconds 300] [--skip 1000] [debug|debug-7.2|kcsan]...

debug   KASAN, lockdep, the atomic sleep check, debug objects, and kmemleak after the module is unloaded
kcsan   data races: KCSAN watches one access of --skip (the kernel's default is 4000) for a moment, and reports any
        unordered access to the same memory meanwhile. Races of other parts of the kernel are only counted.

Exit status 1 if the stress failed on a kernel, or the kernel found a fault of the target.
"""

import argparse
import shlex
import sys

from ..linux import debug_kernels
from ..machines import vm
from ..machines.uml import KMEMLEAK
from ..paths import OUT, REPO, fail, say
from ..plugins import extent
from .races import judge, other_faults

SCRIPT = REPO / "kmod/tests/tools/uml_stress.sh"

# What each kernel of the stress is told at boot. No other one looks for faults.
APPEND = {"debug": KMEMLEAK, "debug-7.2": KMEMLEAK, "kcsan": "kcsan.skip_watch={skip}"}


def command(module, seconds, lines=None):
    """Return the shell command of the stress: its seconds in all, and hostile table lines (None: those of `make check-all`)."""
    if lines is None:
        lines = extent.LENGTHS["DM_ALIGN_KMEMLEAK_LINES"][1]
    return shlex.join(["sh", str(SCRIPT), str(OUT / "bin"), str(module), str(seconds), str(lines)])


def stress(kernel, seconds, skip):
    """Run the stress on one kernel and print the findings; return whether there are none."""
    module = debug_kernels.build_part(vm.OWN[kernel], "kmod") / "dm-align.ko"
    # Generous, for a machine with other load.
    timeout = 900 + 15 * seconds
    name = f"stress-{kernel}"
    say(f"running the stress on the kernel {kernel}; its log: {OUT / 'vm' / name / 'console.log'}")
    run = vm.run(command(module, seconds), timeout=timeout, series=kernel, name=name, memory="3G",
                 append=APPEND[kernel].format(skip=skip))
    if run.status:
        print(vm.explain(run))
    ours, others = judge(run.console)
    for title, same in ours.items():
        print(f"{len(same)} x {title}")
        print("\n".join(f"    {line}" for line in same[0][1:]))
    unrelated = other_faults(run.console)
    print("\n".join([*unrelated, f"{kernel}: status {run.status} after {run.seconds:.0f} s; data races of the target: "
                     f"{len(ours)}, of other code: {others}; other faults: {len(unrelated)}"]), flush=True)
    return not (run.status or ours or unrelated)


def main(argv):
    parser = argparse.ArgumentParser(prog="make debug-stress", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--skip", type=int, default=1000)
    parser.add_argument("kernels", nargs="*")
    given = parser.parse_args(argv)
    wanted = given.kernels or ["debug", "kcsan"]
    unknown = [kernel for kernel in wanted if kernel not in APPEND]
    if unknown:
        parser.error(f"unknown kernel {unknown[0]!r}: one of {', '.join(APPEND)}")
    vm.begin()
    # Run all, even after a failure.
    bad = [kernel for kernel in wanted if not stress(kernel, given.seconds, given.skip)]
    if bad:
        fail(f"the stress is not clean on: {', '.join(bad)}", 1)


if __name__ == "__main__":
    main(sys.argv[1:])
