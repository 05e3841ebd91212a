# SPDX-License-Identifier: GPL-2.0
"""
Requests to the device below that the kernel itself lets fail (fail_make_request), at any place: at random under the
stress, and each one of a sequence in turn. An error reaches only the writers of the failed request, no acknowledged data
is lost, and the ledger accounts for other losses.
"""

import time

import pytest

from lab.plugins.extent import only_all
from rig.direct import RWF_DSYNC, SECTOR, Disk, Together, check, flush_fails, pattern
from rig.dm import Align, Device, sectors_of
from rig.faults import FailingRequests
from rig.rig import STRESS_LIMIT
from rig.witness import eventually

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}
# Failing requests of all kinds, enough for some of each kind.
ENOUGH = 40
# Sectors of the sequence.
SECTORS = 96
# Step between the failures of two attempts in bytes, less than a block, so that no request of a block is skipped.
STEP = 2048

pytestmark = pytest.mark.timeout(STRESS_LIMIT)


@pytest.fixture
def below(disk):
    """Yield the device below the target, which may fail; `disk` beneath it never fails."""
    with Device(f"0 {sectors_of(disk.path)} linear {disk.path} 0") as below:
        yield below.path


@pytest.mark.parametrize("mode", [*(only_all("sim/test_sim.py: lives in each mode", mode) for mode in ("report", "pad")),
                                  "coalesce"])
def test_no_acknowledged_sector_is_lost_while_requests_fail_at_random(rig, disk, below, mode):
    """One of ten requests fails, for a while during the stress, until enough reads and writes have failed."""
    options = {"hold_ms": 20} if mode == "coalesce" else {}
    with Align(below, mode=mode, **GEOMETRY, **options) as device:
        with FailingRequests(below) as requests, \
                rig.stress(device.path, seconds=STRESS_LIMIT, beneath=disk.path, region=1024, flush=2, fua=2, zeroes=1,
                           tolerate_errors=True) as load:
            # The stress retries its first and last requests until they succeed; fail the ones between.
            eventually(lambda: device.counter("writes_misaligned") > 0, "the stress does not begin", timeout=60)
            requests.percent(10)
            time.sleep(rig.seconds / 2)
            requests.percent(10, times=ENOUGH)
            eventually(lambda: not requests.left, "too few requests fail", timeout=60)
            requests.percent(0)
            load.stop()
        assert load.read_errors > 0 and load.write_errors > 0, "no request failed: the test proves nothing"
        with Disk(device.path) as upper:
            eventually(lambda: not flush_fails(upper), "the device stays degraded")
        ledger = device.balanced()
        print({name: ledger[name] for name in ("rmw_lost", "rmw_drive_read_error", "times_degraded", "flushes_failed")})
        assert ledger["degraded"] == 0
        if mode == "report":
            assert ledger["rmw_lost"] == 0, "report has lost a touch"
        else:
            assert ledger["rmw_drive_read_error"] > 0, "no pad read failed"
            assert (ledger["times_degraded"] if mode == "coalesce" else ledger["rmw_lost"]) > 0, "no whole block failed"


class Model:
    """The lawful content of each sector during a sequence of requests of which some fail."""

    def __init__(self, upper, tag):
        self._upper, self._tag = upper, tag
        self.failed = 0
        self.failed_touches = 0
        self._may = [{pattern(1, sector, 1)} for sector in range(SECTORS)]
        upper.write(0, pattern(1, 0, SECTORS))

    def _ended(self, error, sector, data):
        """Record a request's end: each sector of a failed request is old or new."""
        for at in range(len(data) // SECTOR):
            new = {data[at * SECTOR:(at + 1) * SECTOR]}
            self._may[sector + at] = new | self._may[sector + at] if error else new
        if error:
            assert error == 5, error
            self.failed += 1
            blocks = {sector // 8, (sector + len(data) // SECTOR - 1) // 8}
            covered = range(-(-sector // 8), (sector + len(data) // SECTOR) // 8)
            self.failed_touches += len(blocks - set(covered))

    def _data(self, sector, sectors):
        self._tag += 1
        return pattern(self._tag, sector, sectors)

    @staticmethod
    def _error(call, *arguments, **options):
        try:
            call(*arguments, **options)
        except OSError as error:
            return error.errno
        return 0

    def write(self, sector, sectors, flags=0):
        data = self._data(sector, sectors)
        self._ended(self._error(self._upper.write, sector, data, flags=flags), sector, data)

    def together(self, *ranges):
        writes = [(sector, self._data(sector, sectors)) for sector, sectors in ranges]
        for error, (sector, data) in zip(Together(self._upper, writes).results(), writes, strict=True):
            self._ended(error, sector, data)

    def zero(self, sector, sectors):
        self._ended(self._error(self._upper.zero, sector, sectors), sector, bytes(sectors * SECTOR))

    def flush(self):
        self.failed += flush_fails(self._upper)

    def check(self, disk, where):
        got = disk.read(0, SECTORS)
        for at, may in enumerate(self._may):
            found = got[at * SECTOR:(at + 1) * SECTOR]
            if found not in may:
                check(at, next(iter(may)), found, where)
        return got

    def read(self):
        """Read all sectors; the read may fail, or must find lawful content."""
        try:
            self.check(self._upper, "read between")
        except OSError as error:
            self._ended(error.errno, 0, b"")


@pytest.mark.parametrize("mode,times", [
    ("coalesce", 2),
    *(only_all("sim/test_sim.py: which requests an error reaches", *row) for row in (("coalesce", 1), ("pad", 1), ("pad", 2)))])
def test_whichever_request_fails_only_its_own_writes_do(rig, disk, below, mode, times):
    """One request fails, or also the next one, which is often the retry."""
    failed = lost = attempts = 0
    with Align(below, mode=mode, **GEOMETRY) as device, Disk(device.path) as upper, Disk(disk.path) as lower, \
            FailingRequests(below) as requests:
        for size in range(0, 1 << 20, STEP):
            model = Model(upper, 100 * (size // STEP) + 2)
            upper.flush()
            device.message("flush")		# so that no block is cached
            was = device.balanced()["rmw_lost"]
            requests.after(size, times)
            model.write(3, 10)
            model.write(20, 2)
            model.write(22, 26)
            model.read()
            model.write(50, 3, flags=RWF_DSYNC)
            model.together((57, 2), (65, 2), (73, 2), (81, 2))
            model.zero(88, 3)
            model.flush()
            left = requests.left
            requests.after(0, 0)
            assert model.failed <= times - left, "an error reached a request that it does not concern"
            model.check(upper, f"{times} requests failed after {size} bytes")
            assert not flush_fails(upper), "held blocks can be written now"
            got = model.check(upper, "flushed")
            check(0, got, lower.read(0, SECTORS), "beneath the target")
            ledger = device.balanced()
            assert ledger["rmw_lost"] - was <= model.failed_touches, "touches of a successful write are lost"
            failed += model.failed
            lost += ledger["rmw_lost"] - was
            attempts += 1
            if left == times:
                break
        else:
            raise AssertionError("the requests never ended without a failure")
    print(f"{attempts} attempts, {failed} requests failed above, {lost} touches lost")
    assert failed > 5 and lost > 0 and attempts > 20
