# SPDX-License-Identifier: GPL-2.0
"""How fast a disk rotates, as check has it of a made-up machine: who is believed, and what is no rate."""

import pytest

from audited import Machine, rates


@pytest.mark.parametrize("said, rotational, rotation", [
    ({"page": 7200}, 1, (7200, "drive", "VPD page B1h")),
    ({"word": 5400}, 1, (5400, "drive", "IDENTIFY word 217")),
    # a bridge makes the page; it may not know what the drive says
    ({"word": 5400, "page": 7200}, 1, (5400, "drive", "IDENTIFY word 217")),
    ({"word": 0, "page": 7200}, 1, (7200, "drive", "VPD page B1h")),
    ({"word": 0xffff, "page": 0x0400}, 1, None),
    ({"page": 1}, 1, (0, "drive", "VPD page B1h")),
    # of a disk that says nothing the kernel knows only that it does not rotate
    ({}, 0, (0, "kernel", "rotational")),
    ({"page": 0}, 1, None),
    ({}, 1, None),
])
def test_a_disk_rotates_as_fast_as_the_first_says_that_knows(tmp_path, said, rotational, rotation):
    machine = Machine(tmp_path)
    rates(machine.disk("sdd", (8, 48), rotational=rotational), **said)
    found = machine.check("sdd")[2]["sdd"]["unit"]["rotation"]
    assert found == (rotation and dict(zip(("rpm", "source", "figure"), rotation, strict=True)))
