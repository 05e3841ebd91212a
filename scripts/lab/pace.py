# SPDX-License-Identifier: GPL-2.0
"""How slow this machine is now, and the time limits that follow from it.

Limits in the tests are written for the reference machine: two processors with nothing else to do. patience() and Limit
stretch such a limit by slowness(), which is at least 1. It comes from, first found:

- the file that DMALIGN_PACE names: a test session has a process that measures every quarter of a minute and writes it
  (watching()), and batch.py hands the figure on to its guests, since load comes and goes;
- DM_ALIGN_SLOWNESS: the user's own figure, which a test session takes in place of measuring, or in a guest what it was
  on the host when the guest booted;
- a measurement by this process.

A limit that runs already is stretched as well when load comes up.

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

VARIABLE = "DM_ALIGN_SLOWNESS"
FILE = "DMALIGN_PACE"
# How much slower than its own native speed says this machine emulates, by preflight.py.
EMULATION = "DMALIGN_EMULATION"
# A machine slower than that is stuck, and a test that hangs on it must end some day.
CEILING = 20.0

# Of work() and of a boot in QEMU until the command begins, on the reference machine.
REFERENCE_SECONDS = 0.1
REFERENCE_BOOT_SECONDS = 4.0
_STEPS = 1_500_000

INTERVAL = 15
# The highest of the last measurements counts: load that pauses for a moment is still there.
REMEMBERED = 4
# How old a figure may be before the file is read again, and before this process measures again.
READ_AGAIN, MEASURE_AGAIN = 1, 60

_known = (None, 0.0)  # figure and the time at which it is too old


def work():
    """What is measured: arithmetic in Python, of which the tests do much; no instruction of a special processor."""
    total = 0
    for step in range(_STEPS):
        total = (total * 31 + step) & 0xffffffff
    return total


def measure():
    """How many times longer work() takes now than on the reference machine; less than 1 on a faster one."""
    began = time.monotonic()
    work()
    return (time.monotonic() - began) / REFERENCE_SECONDS


def clamp(figure):
    return min(max(figure, 1.0), CEILING)


def emulation(boot_seconds, native):
    """How much slower than its native speed this machine emulates: from a boot, and measure() at the same time."""
    return clamp(boot_seconds / REFERENCE_BOOT_SECONDS / max(native, 1.0))


def _read(file):
    with contextlib.suppress(OSError, ValueError):
        return float(Path(file).read_text())
    return None


def slowness():
    """The factor of all time limits, now."""
    global _known
    if FILE not in os.environ and VARIABLE in os.environ:
        return max(1.0, float(os.environ[VARIABLE]))
    figure, until = _known
    if time.monotonic() >= until:
        if FILE in os.environ:
            # What was known before stays if the file is gone.
            figure, valid = _read(os.environ[FILE]) or figure or measure(), READ_AGAIN
        else:
            figure, valid = measure(), MEASURE_AGAIN
        _known = figure, time.monotonic() + valid
    return clamp(clamp(figure) * float(os.environ.get(EMULATION, "1")))


def patience(seconds):
    """A time limit of the reference machine, for this one, now."""
    return seconds * slowness()


_steady = None


def begin_test():
    """A test begins: scaled() keeps to the figure of now until the next one does."""
    global _steady
    _steady = slowness()


def scaled(seconds):
    """A delay that a test makes, in the ratio of the reference machine to the test's other delays."""
    if _steady is None:
        begin_test()
    return seconds * _steady


def keep(figure):
    """scaled() keeps to `figure` until the next test begins: that of a delay which cannot be changed any more."""
    global _steady
    _steady = figure


class Limit:
    """A time limit that begins now and is stretched with slowness(), unless it is `exact`: a user's own."""

    def __init__(self, seconds, exact=False):
        self.seconds, self._exact = seconds, exact
        self._began = time.monotonic()

    def now(self):
        """The limit as it is now, in seconds from its begin."""
        return self.seconds if self._exact else patience(self.seconds)

    def left(self):
        return self._began + self.now() - time.monotonic()

    def over(self):
        """Why it is over, in words, or None."""
        # Asking how slow the machine is may take a moment: first whether the limit could be over at all.
        if time.monotonic() - self._began < self.seconds or self.left() > 0:
            return None
        return f"after its time limit of {self}"

    def __str__(self):
        now = self.now()
        slow = f" ({self.seconds:g} s on a machine {now / self.seconds:.1f} times as fast)" if now > self.seconds else ""
        return f"{now:.0f} s{slow}" if now >= 10 else f"{now:g} s{slow}"


def write(file, figure):
    """Replaces the file, so that nobody reads half a figure."""
    scratch = Path(f"{file}.new")
    scratch.write_text(f"{figure:.3f}\n")
    scratch.replace(file)


@contextlib.contextmanager
def watching(file):
    """A process of its own keeps `file` up to date during the `with` block: a thread would wait for the tests' Python."""
    from .machines.vm import die_with_parent, killed_at_end
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
