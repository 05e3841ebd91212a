# SPDX-License-Identifier: GPL-2.0
"""alignctl verify --live on a device with a load of its own: its figures are the drive's, and the mode is put back."""

import contextlib
import json
import subprocess
import threading

import pytest

from lab.pace import Limit, patience
from lab.paths import OUT
from rig.direct import Disk, pattern
from rig.dm import run

ALIGNCTL = OUT / "bin" / "alignctl"
USAGE, BUSY = 2, 4
NAME = "lively"
# Short periods suffice to show that the counts are right.
SHORT = ("--period", "1", "--warmup", "0.2")


def stats():
    return json.loads(run(ALIGNCTL, "stats", NAME, "--json").stdout)["devices"][0]


def mode():
    return stats()["targets"][0]["mode"]


@contextlib.contextmanager
def busy(path):
    """Write to the device meanwhile, a misaligned write and an aligned one in turn, 100 a second at most."""
    done = threading.Event()

    def write():
        with Disk(path) as disk:
            at = 0
            while not done.wait(0.02):
                at = (at + 64) % 32768
                disk.write(at + 3, pattern(1, at + 3, 2))
                disk.write(at + 16, pattern(2, at + 16, 8))
    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()


@contextlib.contextmanager
def align(drive):
    """Attach a device in coalesce, which no experiment here has as its last mode."""
    run(ALIGNCTL, "attach", drive.path, "--name", NAME, "--mode", "coalesce")
    try:
        yield f"/dev/mapper/{NAME}"
    finally:
        run(ALIGNCTL, "detach", NAME, "--force", ok=False)


class Running:
    """An experiment that goes on; `until` waits for a word that it prints."""

    def __init__(self, *options):
        self.process = subprocess.Popen([ALIGNCTL, "verify", NAME, "--live", *SHORT, *options], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def until(self, word):
        limit = Limit(60)
        while not limit.over():
            line = self.process.stderr.readline()
            assert line, "it has ended"
            if word in line:
                return
        raise AssertionError(f"it does not say {word}")

    def end(self):
        # The keeper has both open, too, so that this waits for its end.
        err, out = self.process.stderr.read(), self.process.stdout.read()
        return self.process.wait(patience(60)), out, err


def test_each_mode_is_counted_as_the_drive_counts_it_and_the_mode_is_put_back(rig):
    drive = rig.drive("p4096")
    drive.reset()
    with align(drive) as path:
        with busy(path):
            done = run(ALIGNCTL, "verify", path, "--live", *SHORT, "--repeat", "3", "--json")
        run(ALIGNCTL, "set", NAME, "--flush")
        after = stats()
    counted = after["raw"]
    assert after["targets"][0]["mode"] == "coalesce"
    document = json.loads(done.stdout)
    assert (document["stopped"], document["findings"], document["mode_before"]) == (None, [], "coalesce")
    periods = document["periods"]
    assert len(periods) == 6 and all(each["writes"] for each in periods)
    left = {name: [each["at_drive"] for each in periods if each["mode"] == name] for name in ("report", "pad")}
    assert left == {"report": [1.0] * 3, "pad": [0.0] * 3}
    [change] = [each for each in document["changes"] if each["name"] == "at_drive"]
    assert change["words"] == "1.00 fewer [1.00 to 1.00]"
    # The drive, too, received the touches that report left to it, and no others.
    assert counted["rmw_drive"] == counted["rmw_drive_report"] == drive.stats()["touches"]
    assert 0 < sum(each["counters"]["rmw_drive"] for each in periods) <= counted["rmw_drive"]


@pytest.mark.check_all("the keeper of a made-up device, in test_mode_keeper.c, and the program, in test_live.py of the reports")
def test_the_mode_is_put_back_after_kill_9_and_left_where_it_is_not_ours(rig):
    drive = rig.drive("p4096")
    with align(drive):
        running = Running("--repeat", "100")
        running.until("[1/200]")
        second = run(ALIGNCTL, "verify", NAME, "--live", ok=False)
        assert second.returncode == BUSY and "another 'alignctl verify --live'" in second.stderr
        assert mode() in ("report", "pad")
        running.process.kill()
        assert "mode coalesce is put back" in running.end()[2]
        assert mode() == "coalesce"

        # The lock ends with the keeper.
        running = Running("--repeat", "100", "--json")
        running.until("[1/200]")
        run(ALIGNCTL, "set", NAME, "--mode", "coalesce", "--hold-ms", "700")
        status, out, err = running.end()
        assert status == BUSY and "another program changed its mode meanwhile, to coalesce" in err
        assert mode() == "coalesce" and json.loads(out)["periods"]

        running = Running("--repeat", "100")
        running.until("[1/200]")
        run("dmsetup", "suspend", NAME)
        status, _, err = running.end()
        run("dmsetup", "resume", NAME)
        assert status == BUSY and "was suspended meanwhile" in err
        assert mode() == "coalesce"

        running = Running("--repeat", "100")
        running.until("[1/200]")
        run(ALIGNCTL, "detach", NAME)
        status, _, err = running.end()
        assert status == BUSY and "is no align device any more" in err


@pytest.mark.check_all("the words, which are those of set")
def test_what_has_no_modes_to_compare_is_refused_before_anything_changes(rig):
    drive = rig.drive("p4096")
    refused = run(ALIGNCTL, "verify", drive.path, "--live", ok=False)
    assert refused.returncode == USAGE and "not an align device" in refused.stderr
    assert f"'alignctl attach --online {drive.path}'" in refused.stderr
    with rig.brd() as ram:
        run(ALIGNCTL, "attach", ram, "--name", NAME)
        try:
            refused = run(ALIGNCTL, "verify", NAME, "--live", "--modes", "pad,coalesce", ok=False)
            assert refused.returncode == USAGE and "has no volatile write cache" in refused.stderr
            assert "nothing was done" in run(ALIGNCTL, "verify", NAME, "--live", "--dry-run").stdout
            assert stats()["targets"][0]["mode"] == "report"
        finally:
            run(ALIGNCTL, "detach", NAME)
