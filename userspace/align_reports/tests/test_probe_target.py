# SPDX-License-Identifier: GPL-2.0
"""A target sends requests as it is told, and returns the time of each: a device, and a drive model on a virtual clock."""

import os

import pytest

from align_reports.probe.target import DeviceTarget, Request, Says
from align_reports.replays import Replays
from alignctl_program import ALIGNCTL
from lab.drive.target import ClockTarget

MS = 1000.0


def reads(count):
    return [Request(False, n * 4096, 4096) for n in range(count)]


def test_the_model_answers_each_request_and_batches_of_them():
    with ClockTarget(profile="fixed", latency_us=2000, depth=2, size="1G") as clock:
        assert clock.says == Says(1 << 30, 512, 4096, 0, False, True)
        assert clock.each([]) == clock.together([], 4) == []
        assert clock.each(reads(1500)) == [2 * MS] * 1500
        assert clock.each([Request(True, 512, 512)], flushed=True) == [4 * MS]
        assert clock.flush() == 2 * MS
        began = clock.elapsed_s()
        # two servers: four in flight wait for one another
        assert clock.together(reads(2500), 4)[4:] == [4 * MS] * 2496
        assert clock.elapsed_s() - began == pytest.approx(2.5)
        clock.pause(1.5)
        assert clock.elapsed_s() - began == pytest.approx(4)


@pytest.fixture
def device(tmp_path):
    """A file as the target; returns (its path, the target)."""
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(8 << 20)
    return path, DeviceTarget(Replays(str(ALIGNCTL), tmp_path), str(path))


def test_a_device_says_what_it_is(device):
    says = device[1].says
    assert (says.size, says.rotational, says.write_cache) == (8 << 20, False, None) and says.logical in (512, 4096)


def test_a_device_times_each_request(device):
    path, target = device
    writes = [Request(True, n * 8192, 4096) for n in range(10)]
    for flushed in (False, True):
        assert len([us for us in target.each(writes, flushed) if us > 0]) == 10
    content = path.read_bytes()
    assert [any(content[n * 4096:(n + 1) * 4096]) for n in range(20)] == [True, False] * 10
    assert not any(content[20 * 4096:])
    assert len([us for us in target.each(reads(7)) if us > 0]) == 7 and len(target.together(reads(9), 4)) == 9
    assert target.each([]) == target.together([], 4) == []
    assert target.flush() > 0
    before = target.elapsed_s()
    target.pause(0.02)
    assert target.elapsed_s() - before >= 0.02


def test_a_disk_that_is_full_is_not_taken_for_the_device(device, tmp_path):
    (tmp_path / "trace.csv").unlink()
    os.symlink("/dev/full", tmp_path / "trace.csv")
    with pytest.raises(OSError) as raised:
        device[1].each(reads(1))
    assert str(raised.value) == f"{tmp_path}/trace.csv: No space left on device; set TMPDIR to a folder with room"
