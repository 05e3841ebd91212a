# SPDX-License-Identifier: GPL-2.0
"""Make the target as a patch series against Linux 7.2 in out/upstream/, and check it: `make upstream`.

    scripts/python -m lab.upstream [CHECK...]     without names, all checks; "none" makes the series only

The patches are from the person that git's user.name and user.email name, with the date of the checkout's last commit. Exit status
0 if no check has a finding, 1 if one has.
"""

import sys
import time

from ..paths import fail, say
from . import checks, series


def main(argv):
    wanted = list(checks.CHECKS) if not argv else [] if argv == ["none"] else argv
    unknown = [name for name in wanted if name not in checks.CHECKS]
    if unknown:
        fail(f"no check {unknown[0]!r}: name some of {' '.join(checks.CHECKS)}, or none")
    files = series.make()
    say(f"{len(files) - 1} patches and a cover letter in {series.FOLDER}")
    status = 0
    # The others look at the tree that this one makes.
    for name in [name for name in checks.CHECKS if name in wanted or name == "apply" and wanted]:
        began = time.monotonic()
        findings = checks.CHECKS[name](files)
        told = f"{len(findings)} finding{'s'[:len(findings) != 1]}" if findings else "ok"
        print(f"{name:12} {time.monotonic() - began:6.1f} s  {told}", flush=True)
        print("".join(f"  {line}\n" for line in findings), end="")
        if findings:
            status = 1
            if name == "apply":
                break
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
