# SPDX-License-Identifier: GPL-2.0
"""
Devices and the module are added and removed in a kernel with KMEMLEAK, KASAN and lockdep, without a leak.
DM_ALIGN_LIFECYCLE_ROUNDS: the number of rounds, at least FEWEST.
"""

import shlex

import pytest

from lab.machines import uml
from lab.machines.vm import explain
from lab.paths import REPO
from rig.rig import LIFECYCLE_ROUNDS

# In fewer rounds a leak of some pages a round is lost in the kernel's own variation of free memory.
FEWEST = 20
ROUNDS = max(FEWEST, LIFECYCLE_ROUNDS)
# KMEMLEAK, which tracks every object, makes the kernel slow.
TIMEOUT = 240 + 10 * ROUNDS


@pytest.mark.check_all("sim/test_sim.py: each life ends with all memory freed; tools/test_stress_kasan.py has kmemleak")
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
