# SPDX-License-Identifier: GPL-2.0
"""What a misaligned write costs a drive model, in revolutions: the figures of fleet.rst, and that fleet's model is near them."""

import random

import pytest

from align_reports.probe.target import Request
from lab.drive.target import ClockTarget
from lab.paths import REPO

BLOCK, WRITES, TURN_S = 4096, 1024, 1 / 120


def seconds(profile, places, offset, parameters):
    """The time of a write of a block at each place, so many bytes into a physical block, all of them on the media."""
    with ClockTarget(profile=profile, size="64G", **parameters) as target:
        target.each([Request(True, place + offset, BLOCK) for place in places])
        target.flush()
        return target.elapsed_s() / len(places)


STREAM = [BLOCK * at for at in range(1, WRITES + 1)]
# No two in neighbouring blocks.
RANDOM = [8 * BLOCK * random.Random(at).randrange(1 << 20) for at in range(WRITES)]


@pytest.mark.parametrize("profile, parameters, places, revolutions", [
    ("hdd7200", {}, RANDOM, 1.1), ("hdd7200", {"cache": "off"}, RANDOM, 2.0), ("hdd-nocache", {}, RANDOM, 1.0),
    ("hdd7200", {}, STREAM, 0.2)])
def test_a_write_with_two_touches_takes_so_many_revolutions_longer(profile, parameters, places, revolutions):
    longer = seconds(profile, places, 512, parameters) - seconds(profile, places, 0, parameters)
    assert longer / TURN_S == pytest.approx(revolutions, abs=0.05)
    assert f"{revolutions}" in (REPO / "Documentation/admin/fleet.rst").read_text().partition("That is a model.")[2][:600]
