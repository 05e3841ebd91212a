# SPDX-License-Identifier: GPL-2.0
"""Make the target as patch series against Linux 7.2 in out/upstream/, one for each mode, and check them: `make upstream`.

    scripts/python -m lab.upstream [CHECK...]     without names, all checks; "none" makes the series only

The patches are from the person that git's user.name and user.email name, with the date of the checkout's last commit. Exit status
0 if no check has a finding, 1 if one has.
"""

import sys
import time

from ..paths import fail, say
from . import checks, series

# A series does not apply.
BROKEN = 2


def main(argv):
    wanted = list(checks.CHECKS) if not argv else [] if argv == ["none"] else argv
    unknown = [name for name in wanted if name not in checks.CHECKS]
    if unknown:
        fail(f"no check {unknown[0]!r}: name some of {' '.join(checks.CHECKS)}, or none")
    made = series.make()
    status = 0
    for layer, files in made.items():
        added, code = series.lines(layer)
        say(f"{len(files) - 1} patches and a cover letter in {files[0].parent}: {added} lines of the driver, {code} without "
            "comments and blank lines")
        status |= check(layer, files, wanted)
        # The next series lies on this one.
        if status & BROKEN:
            break
    return bool(status)


def check(layer, files, wanted):
    """Check a series; return 0, 1 for findings, with BROKEN if it does not apply."""
    status = 0
    # The others look at the tree that this one makes.
    for name in [name for name in checks.CHECKS if name in wanted or name == "apply" and wanted]:
        began = time.monotonic()
        findings = checks.CHECKS[name](layer, files)
        told = f"{len(findings)} finding{'s'[:len(findings) != 1]}" if findings else "ok"
        print(f"{layer:9} {name:12} {time.monotonic() - began:6.1f} s  {told}", flush=True)
        print("".join(f"  {line}\n" for line in findings), end="")
        if findings:
            status = 1
            if name == "apply":
                return status | BROKEN
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
