# SPDX-License-Identifier: GPL-2.0
"""
Devices and the module come and go in a kernel that looks for leaks (KMEMLEAK, under KASAN and lockdep besides), and
nothing of them stays. DM_ALIGN_LIFECYCLE_ROUNDS: how often, but FEWEST at least.
"""

import shlex

import pytest

from lab.machines import uml
from lab.machines.vm import explain
from lab.paths import REPO
from rig.rig import LIFECYCLE_ROUNDS

# In fewer rounds a leak of some pages a round does not show beside what the kernel itself takes and gives meanwhile.
FEWEST = 20
ROUNDS = max(FEWEST, LIFECYCLE_ROUNDS)
# A kernel that keeps a record of every object takes its time.
TIMEOUT = 240 + 10 * ROUNDS


@pytest.mark.timeout(0)
def test_nothing_is_left_of_devices_and_module():
    program = f"import sys; sys.path[:0] = {[str(REPO / 'kmod/tests')]}; " \
        f"from rig import life; life.run({str(uml.module())!r}, {ROUNDS})"
    command = shlex.join([str(REPO / "scripts/python"), "-c", program])
    run = uml.run(command, timeout=TIMEOUT, name="leaks", append="kmemleak=on")
    said = (run.folder / "output").read_text(errors="replace")
    assert run.ok, f"{explain(run)}\n{said[-3000:]}"
    assert f"{ROUNDS} rounds" in said
    print(said)
