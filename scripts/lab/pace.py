# SPDX-License-Identifier: GPL-2.0
"""The current slowness of this machine, and time limits stretched by it.

Limits in the tests are written for the reference machine: two idle processors. patience() and Limit stretch such a limit
by slowness(), which is at least 1. The slowness is the first of these that is found:

- the file that DMALIGN_PACE names: a process of a test session measures every quarter of a minute and writes the figure
  (watching()), and batch.py passes the figure on to its guests, since load varies;
- DM_ALIGN_SLOWNESS: the user's own figure, which a test session takes in place of measuring, or in a guest the host's
  figure at the guest's boot;
- a measurement by this process.

Growing load stretches running limits, too.

    scripts/python -m lab.pace              prints the slowness
    scripts/python -m lab.pace watch FILE   keeps FILE up to date
"""

import contextlib
import os
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

from .paths import write_whole
from .processes import die_with_parent, killed_at_end

VARIABLE = "DM_ALIGN_SLOWNESS"
FILE = "DMALIGN_PACE"
# Slowness of emulation on this machine, relative to its native slowness, by preflight.py.
EMULATION = "DMALIGN_EMULATION"
# Greatest slowness: a slower machine is stuck, and a hanging test must end on it eventually.
CEILING = 20.0

# Times on the reference machine: of work(), and of a boot in QEMU until the command begins.
REFERENCE_SECONDS = 0.1
REFERENCE_BOOT_SECONDS = 4.0
_STEPS = 1_500_000

INTERVAL = 15
# Number of measurements of which the highest counts, as load may pause for a moment.
REMEMBERED = 4
# Seconds after which the file is read again, and after which this process measures again.
READ_AGAIN, MEASURE_AGAIN = 1, 60

_known = (None, 0.0)  # figure and its time of expiry


def work():
    """Do the work to measure: arithmetic in Python, as in the tests, without special instructions of a processor."""
    total = 0
    for step in range(_STEPS):
        total = (total * 31 + step) & 0xffffffff
    return total


def measure():
    """Measure how many times longer work() takes now than on the reference machine; less than 1 on a faster one."""
    began = time.monotonic()
    work()
    return (time.monotonic() - began) / REFERENCE_SECONDS


def clamp(figure):
    return min(max(figure, 1.0), CEILING)


def emulation(boot_seconds, native):
    """Return this machine's slowness of emulation relative to its native one: from a boot and a simultaneous measure()."""
    return clamp(boot_seconds / REFERENCE_BOOT_SECONDS / max(native, 1.0))


def _read(file):
    with contextlib.suppress(OSError, ValueError):
        return float(Path(file).read_text())
    return None


def slowness():
    """Return the current factor of all time limits."""
    global _known
    if FILE not in os.environ and VARIABLE in os.environ:
        return max(1.0, float(os.environ[VARIABLE]))
    figure, until = _known
    if time.monotonic() >= until:
        if FILE in os.environ:
            # If the file is gone, keep the last figure.
            figure, valid = _read(os.environ[FILE]) or figure or measure(), READ_AGAIN
        else:
            figure, valid = measure(), MEASURE_AGAIN
        _known = figure, time.monotonic() + valid
    return clamp(clamp(figure) * float(os.environ.get(EMULATION, "1")))


def patience(seconds):
    """Convert a time limit of the reference machine to this machine's current speed."""
    return seconds * slowness()


_steady = None


def begin_test():
    """Fix the figure of scaled() at the begin of a test, until the next test begins."""
    global _steady
    _steady = slowness()


def scaled(seconds):
    """Scale a delay that a test makes, so that all delays of the test keep their ratio."""
    if _steady is None:
        begin_test()
    return seconds * _steady


def keep(figure):
    """Fix scaled() at `figure` until the next test begins, the figure of a delay that cannot change any more."""
    global _steady
    _steady = figure


class Limit:
    """A time limit that begins now and grows with slowness(), unless `exact`, as for a user's own limit."""

    def __init__(self, seconds, exact=False):
        self.seconds, self._exact = seconds, exact
        self._began = time.monotonic()

    def now(self):
        """Return the current limit, in seconds from its begin."""
        return self.seconds if self._exact else patience(self.seconds)

    def left(self):
        return self._began + self.now() - time.monotonic()

    def over(self):
        """Return why the limit is over, in words, or None."""
        # slowness() may take a moment: check first that the limit could be over at all.
        if time.monotonic() - self._began < self.seconds or self.left() > 0:
            return None
        return f"after its time limit of {self}"

    def __str__(self):
        now = self.now()
        slow = f" ({self.seconds:g} s on a machine {now / self.seconds:.1f} times as fast)" if now > self.seconds else ""
        return f"{now:.0f} s{slow}" if now >= 10 else f"{now:g} s{slow}"


def tries(why, seconds=60):
    """Yield until the loop ends by a try that counts, or fail because of `why`: for what a busy machine may not be fast enough
    for at once."""
    limit = Limit(seconds)
    while not limit.over():
        yield
    raise AssertionError(f"{why}, in each try of {limit}")


def write(file, figure):
    """Replace the file atomically, so that no reader sees half a figure."""
    write_whole(Path(file), f"{figure:.3f}\n")


@contextlib.contextmanager
def watching(file):
    """Keep `file` up to date during the `with` block, by a process: a thread would wait for the tests' interpreter lock."""
    write(file, measure())
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    with killed_at_end(subprocess.Popen([sys.executable, "-m", "lab.pace", "watch", str(file)], env=environment,
                                        stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)):
        yield


def watch(file):
    figures = deque(maxlen=REMEMBERED)
    while True:
        figures.append(measure())
        write(file, max(figures))
        time.sleep(INTERVAL)


def main(argv):
    if len(argv) == 2 and argv[0] == "watch":
        watch(argv[1])
    if argv:
        sys.exit(__doc__.strip())
    print(f"{slowness():.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
