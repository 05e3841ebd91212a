# SPDX-License-Identifier: GPL-2.0
"""Hostile users of the target under KASAN, lockdep and the atomic sleep check: see kmod/tests/tools/uml_hostile.sh.

DM_ALIGN_HOSTILE_SECONDS: total time of reading sysfs while the device changes; see lab/plugins/extent.py.
Hostile table lines and messages are a part of test_stress_kasan.py, where kmemleak looks at them as well.
"""

import re
import shlex

import pytest

from lab.machines import uml
from lab.machines.vm import explain
from lab.paths import OUT, REPO
from lab.plugins import extent

SECONDS = extent.count("DM_ALIGN_HOSTILE_SECONDS")
# Mostly for the search for the secret, and for a loaded machine.
TIMEOUT = 600 + 3 * SECONDS


@pytest.mark.check_all("guest/test_interface.py: hostile lines and readers; tools/test_stress_kasan.py: the lines under KASAN")
@pytest.mark.timeout(0)
def test_hostile_users_find_no_fault_no_control_and_no_data(subtests):
    command = shlex.join(["sh", str(REPO / "kmod/tests/tools/uml_hostile.sh"), str(OUT / "bin"), str(uml.module()),
                          str(SECONDS)])
    run = uml.run(command, timeout=TIMEOUT, name="hostile")
    said = (run.folder / "output").read_text(errors="replace")
    steps = re.findall(r"^uml_hostile: (.*)$", said, re.M)
    assert steps, said
    for step in steps[:-1]:
        with subtests.test(step):
            assert run.ok or step != steps[-2], said[-3000:]
    assert run.ok, f"{explain(run)}\n{said[-3000:]}"
    assert steps[-1] == "clean"
