# SPDX-License-Identifier: GPL-2.0
"""What the tests of the program share: running it, and looking at what it prints."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections import Counter
from pathlib import Path

import pytest

from lab.pace import Limit, patience
from lab.paths import OUT, REPO

ALIGNCTL = OUT / "bin" / "alignctl"
VERBS = ("check", "attach", "detach", "list", "set", "stats", "top", "replay", "verify", "probe", "conform", "record", "convert",
         "workloads", "plan", "fleet")
# Of <linux/loop.h>.
LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4c80, 0x4c81
# Of the disk that each test has (conftest.py).
DISK_BYTES = 24 << 20
# Of probe: whether each writes.
METHODS = {"block-size": False, "fullstroke": False, "tracktotrack": False, "seqread": False, "seqwrite": True,
           "rndread": False, "rndwrite": True, "rnddeltaread": False, "cncread": False, "cncwrite": True,
           "chunk-size": False, "chunk-size-write": True, "sorted-reads": False, "rotation": False}
# Names of a workload, too, which the verbs that take workloads mean by them.
WORKLOADS_TOO = ("seqread", "seqwrite", "rndread", "rndwrite", "rnddeltaread")
# What a method that writes may be let write to.
AREA = ["--write", "0+8M"]
# Workloads whose requests must follow each other.
AREAS = ("areasync-512", "areasync-512-128k", "areasync-4k", "areasync-4k-shifted")
ONE_AT_A_TIME = ("diskbenchi-fresh", "append-512-dsync", "dd-512-sync", *AREAS)
# Of the ledger: (name, kind) of each counter, and the bins of each histogram.
COUNTERS = re.findall(r"^LEDGER_COUNTER\((\w+), (\w+)", (REPO / "kmod/ledger_table.h").read_text(), re.M)
BINS = {name.lower(): int(count) for name, count in
        re.findall(r"^#define ALIGN_(\w+)_BINS\s+(\d+)", (REPO / "kmod/geometry.h").read_text(), re.M)}
HISTOGRAMS = {"phase": BINS["phase"], "size": BINS["size"], "latency_aligned": BINS["latency"],
              "latency_misaligned": BINS["latency"], "hold_time": BINS["latency"]}


def alignctl(*arguments, under=(), **options):
    """Run alignctl, under another command if there is one."""
    return subprocess.run([*under, ALIGNCTL, *map(str, arguments)], text=True, capture_output=True, timeout=patience(60),
                          check=False, **options)


def stats(root, *arguments):
    """Run alignctl stats on a made-up machine."""
    return alignctl("stats", *arguments, env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})


def put(folder, **values):
    """Write values into files of sysfs, such as the counters of an align device."""
    for name, value in values.items():
        (folder / name).write_text(f"{value}\n")


def few(method):
    """Options for a few requests of a method of probe; block-size decides that itself."""
    return [] if method == "block-size" else ["--count", "9"]


def man_page(name="alignctl.8"):
    """The text of a man page; the page of a verb is alignctl-VERB.8."""
    return (REPO / "Documentation/man" / name).read_text().replace("\\-", "-")


def man_section(name, heading):
    """The text of one section of a man page."""
    return re.search(rf"^\.SH {re.escape(heading)}\n(.*?)(?=^\.SH )", man_page(name), re.M | re.S)[1]


def tables(text, heading):
    """The rows of all tables whose first column has that heading, as {heading: cell}; two blanks or more part columns."""
    found, headings = [], None
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if cells[0] == heading:
            headings = cells
        elif headings and len(cells) == len(headings):
            found.append(dict(zip(headings, cells, strict=True)))
        else:
            headings = None
    return found


def human(n, units="", step=1000):
    """A number as tables show it: in the largest of the units of which there is one, with three significant digits; a
    number of things is exact below a million."""
    if not units:
        return str(n) if n < 10**6 else human(n / 10**6, "MGTPE")
    index = 0
    while float(f"{n:.3g}") >= step and index + 1 < len(units):
        n, index = n / step, index + 1
    return f"{n:.3g} {units[index]}"


def human_time(us):
    """A time in microseconds, as tables show it."""
    return human(us, ("us", "ms", "s"))


def spoil(path):
    """Puts data at the start of a disk, which a guard must find."""
    with open(path, "r+b") as file:
        file.write(b"precious")


def needs_io_uring(done):
    """Skips a test of what a kernel without it, or a sysctl against it, does not allow."""
    if "needs io_uring" in done.stderr:
        pytest.skip(f"io_uring is forbidden here: {done.stderr.strip()}")


def keys(value):
    """Every key in a JSON document, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


def wait_for_run(process, seconds=60):
    """Until the program has written to its disk, as the kernel counts it; and then a moment, for some more."""
    counts = Path(f"/proc/{process.pid}/io")
    limit = Limit(seconds)
    while "\nwrite_bytes: 0\n" in counts.read_text():
        assert not limit.over(), f"{process.args} has written nothing after {limit}"
        time.sleep(0.01)
    time.sleep(0.2)


@contextlib.contextmanager
def terminal(columns=80):
    """A new pseudo-terminal: the end of its reader, and the end of programs."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def shown(process, ours, theirs):
    """
    Return what a process shows at a terminal until it has ended.

    A kernel may report the end of a terminal while the last bytes before it are still under way, so this reader keeps the
    programs' end open, and writes a mark of its own behind them.
    """
    said, limit = b"", Limit(60)
    while not said.endswith(b"\0"):
        if select.select([ours], [], [], 0.02)[0]:
            said += os.read(ours, 4096)
        elif process.poll() is not None:
            os.write(theirs, b"\0")
        if limit.over():
            process.kill()
            raise AssertionError(f"{process.args} did not end within {limit}, and showed {said[-2000:]!r}")
    return said.rstrip(b"\0").decode()


def at_a_terminal(*arguments, answer, meanwhile=lambda: None, prompt="to go on:", columns=80):
    """Run the program at a terminal where `answer` is typed at the prompt, if it is not empty, after `meanwhile` was called;
    return its output, and its exit status."""
    with terminal(columns) as (ours, theirs), \
            subprocess.Popen([ALIGNCTL, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as running:
        said = b""
        while prompt.encode() not in said and select.select([ours], [], [], patience(30))[0]:
            said += os.read(ours, 4096)
        meanwhile()
        # A terminal echoes it, maybe between two lines of the program.
        if answer:
            os.write(ours, answer.encode() + b"\n")
        said = said.decode() + shown(running, ours, theirs)
    return said, running.returncode


def another_medium(loop, disk):
    """A command of the shell that detaches a loop device, and attaches a disk to it as soon as it has none: a process that
    holds it open, as udev does for a moment, delays this."""
    return f"losetup -d {loop} && until losetup {loop} {disk} 2> /dev/null; do sleep 0.01; done"


def interrupted(*arguments):
    """The document of a run that Ctrl-C has ended after it had written something."""
    with subprocess.Popen([ALIGNCTL, *map(str, arguments), "--json"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as running:
        wait_for_run(running)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=patience(30))
    assert running.returncode == -signal.SIGINT, err
    return json.loads(out)


def histogram_counts(path):
    """{(name, low, high): count} of a histogram file, which has the form that the manual says."""
    counts = Counter()
    lines = path.read_text().splitlines()
    assert lines[0] == "# alignctl histogram 1"
    for line in lines:
        if not line.startswith("#"):
            name, low, high, count = line.split()
            assert int(low) <= int(high) <= int(low) * 129 // 128
            counts[name, int(low), int(high)] += int(count)
    return counts
