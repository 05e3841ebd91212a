# SPDX-License-Identifier: GPL-2.0
"""An orderly end of User Mode Linux while the target holds writes; see kmod/tests/rig/uml_reboot.py."""

import shlex

from ..machines import uml
from ..paths import REPO
from ..plugins.batch import BOOT_SECONDS

# What the target waits for a disk that is stuck, and then some.
END_SECONDS = 90


def run(module, data, name, counts=None, folder=None):
    """
    Makes the file `data`, the disk that can be written, and returns the run: what was held is its output, it has no
    status. What gcov has counted, in the kernel's folder `counts`, goes to `folder`.
    """
    with open(data, "wb") as disk:
        disk.truncate(64 << 20)
    rescued = [counts, folder] if counts else []
    command = ["env", f"PYTHONPATH={REPO / 'kmod/tests'}", REPO / "scripts/python", "-m", "rig.uml_reboot", module,
               "/dev/ubda", *rescued]
    return uml.run(shlex.join(map(str, command)), timeout=BOOT_SECONDS + END_SECONDS, name=name, rwdirs=rescued[1:],
                   append=f"ubda={data}")
