# SPDX-License-Identifier: GPL-2.0
"""An orderly shutdown of User Mode Linux while the target holds writes; see kmod/tests/rig/uml_reboot.py."""

import shlex

from ..machines import uml
from ..paths import REPO
from ..plugins.batch import BOOT_SECONDS

# More than the target's wait for a stuck disk.
END_SECONDS = 90


def run(module, data, name, counts=None, folder=None):
    """
    Make the file `data` for the writable disk, and run the shutdown; return the run, which prints the held touches and has
    no status. Copies gcov's counts from the kernel's folder `counts` to `folder`.
    """
    with open(data, "wb") as disk:
        disk.truncate(64 << 20)
    rescued = [counts, folder] if counts else []
    command = ["env", f"PYTHONPATH={REPO / 'kmod/tests'}", REPO / "scripts/python", "-m", "rig.uml_reboot", module,
               "/dev/ubda", *rescued]
    return uml.run(shlex.join(map(str, command)), timeout=BOOT_SECONDS + END_SECONDS, name=name, rwdirs=rescued[1:],
                   append=f"ubda={data}")
