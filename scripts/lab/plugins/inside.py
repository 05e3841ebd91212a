# SPDX-License-Identifier: GPL-2.0
"""The guest's side of a batch: drives with their own counters, and the pytest plugin that runs the tests.

A test uses the drives through drive(name):

    drive("p4096").path        the guest's block device, "/dev/vda"
    drive("p4096").stats()     the drive's counters (dict), from its control socket
    drive("p4096").reset()     reset the counters, and mark the request log
    drive("p4096").log()       lines of the request log since reset()
    drive("p4096").control("power cut")   any other command of the control socket; OSError if the drive refuses

The plugin (`-p lab.plugins.inside`) writes a JSON line for each event to the batch's results file, checks the kernel's
log for faults after each test, and ends a guest in which a test hangs and no signal reaches it.
"""

import contextlib
import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from .. import pace
from ..machines.findings import excerpt, faults
from .relay import PORT

# In seconds of the reference machine: the limit of a test without @pytest.mark.timeout(n), and the time between that limit
# and the end of the guest.
DEFAULT_LIMIT = 120
GRACE = 20

_lock = threading.Lock()
_port = None
_config = None
_results = None
# The file with the serial number of each drive that was looked for: reading one asks a drive.
_files: dict = {}


def config():
    """Return the batch's description, as the host wrote it: see batch.py."""
    global _config
    if _config is None:
        _config = json.loads(Path(os.environ["DMALIGN_BATCH"]).read_text())
    return _config


def _ask(**question):
    global _port
    with _lock:
        if _port is None:
            name = next(path.parent.name for path in Path("/sys/class/virtio-ports").glob("*/name")
                        if path.read_text().strip() == PORT)
            _port = open(f"/dev/{name}", "r+b", buffering=0)  # noqa: SIM115 it stays open
        _port.write(json.dumps(question).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            piece = _port.read(65536)
            if not piece:
                raise OSError(5, "the host has closed the drives' channel")
            answer += piece
    answer = json.loads(answer)
    if answer.get("ok") is False:
        raise OSError(5, f"{question}: {answer.get('error')}")
    return answer


class Drive:
    """A drive of this guest, by its name in the batch."""

    def __init__(self, name):
        self.name = name
        self.path = f"/dev/{_serial_file(name).parent.name}"

    def control(self, command):
        return _ask(drive=self.name, command=command)

    def stats(self):
        return self.control("stats")

    def reset(self):
        return self.control("reset")

    def log(self):
        return _ask(drive=self.name, log=True)["lines"]


def _serial_file(name):
    """Find the file with a drive's serial number, first where it was, as a drive that went and came may be another disk."""
    serial = f"drive{config()['drives'].index(name)}"
    for file in (*filter(None, [_files.get(name)]), *_serials()):
        with contextlib.suppress(OSError):
            if file.read_text().strip() == serial:
                _files[name] = file
                return file
    raise FileNotFoundError(f"no disk has the serial number {serial}, of the drive {name}")


def _serials():
    """Return the files with disks' serial numbers; a SCSI disk has it in its vital product data."""
    yield from Path("/sys/block").glob("vd*/serial")
    for path in Path("/sys/block").glob("sd*/device/vpd_pg80"):
        yield _Vpd(path)


class _Vpd:
    def __init__(self, path):
        self._path = path
        self.parent = path.parents[1]

    def read_text(self):
        return self._path.read_bytes()[4:].decode(errors="replace")


def drive(name):
    stretched = config()["stretched"].get(name)
    if stretched:
        pace.keep(stretched)
    return Drive(name)


class Kmsg:
    """The kernel's log from the boot on, in pieces: a line logged between two tests belongs to the later one."""

    def __init__(self):
        self._fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)

    def more(self):
        lines = []
        while True:
            try:
                record = os.read(self._fd, 16384).decode(errors="replace")
            except BlockingIOError:
                break
            except BrokenPipeError:  # overwritten before it was read; read on
                continue
            lines.append(record.split(";", 1)[-1].split("\n", 1)[0])
        return "\n".join(lines)


def _tell(**event):
    global _results
    if _results is None:
        _results = open(config()["results"], "ab", buffering=0)  # noqa: SIM115 it stays open: opening takes longer
    _results.write(json.dumps(event).encode() + b"\n")


class Watchdog:
    """Ends the guest if a test exceeds its limit; a thread, since a task stuck in the kernel gets no signal."""

    def __init__(self):
        self._patience = None
        threading.Thread(target=self._watch, daemon=True).start()

    def begin(self, nodeid, limit):
        self._nodeid = nodeid
        self._patience = pace.Limit(limit + GRACE)

    def end(self):
        self._patience = None

    def _watch(self):
        while True:
            time.sleep(1)
            patience = self._patience
            if patience is None or not patience.over():
                continue
            stacks = []
            for task in sorted(Path("/proc").glob("[0-9]*/task/[0-9]*")):
                try:
                    state = (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
                    if state == "D":
                        stacks.append(f"{task.name} {(task / 'comm').read_text()}{(task / 'stack').read_text()}")
                except OSError:
                    continue
            _tell(test=self._nodeid, outcome="failed", seconds=round(patience.now()),
                  text=f"hung: no signal ended the test within {patience}. Blocked tasks:\n" + "\n".join(stacks))
            Path("/proc/sysrq-trigger").write_text("w")
            time.sleep(2)
            Path("/proc/sysrq-trigger").write_text("o")
            time.sleep(60)


def limit_of(item):
    """Return the time limit of a test, in seconds of the reference machine; 0: it watches its own time."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0] if marker and marker.args else DEFAULT_LIMIT)


class Plugin:
    """The guest's side of a batch."""

    def __init__(self):
        self._watchdog = Watchdog()
        self._kmsg = Kmsg()
        self._reports = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid):
        self._reports = {}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        Path("/dev/kmsg").write_text(f"dm-align test: {item.nodeid}\n")
        _tell(begin=item.nodeid, limit=limit_of(item))
        self._watchdog.begin(item.nodeid, limit_of(item))
        yield
        self._watchdog.end()
        log = self._kmsg.more()
        found = faults(log)
        failed = [report for report in self._reports.values() if report.failed]
        skipped = [report for report in self._reports.values() if report.skipped]
        text = "\n".join(f"{report.when}:\n{report.longreprtext}\n{report.capstdout}{report.capstderr}" for report in failed)
        if found:
            text += "\n  ".join(["\nthe kernel logged:", *found[:40], "from the first on:", *excerpt(log)])
        outcome = "failed" if failed or found else "skipped" if skipped else "passed"
        if outcome == "skipped":
            text = skipped[0].longrepr[2] if isinstance(skipped[0].longrepr, tuple) else skipped[0].longreprtext
        if outcome == "passed":
            text = "".join(report.capstdout for report in self._reports.values() if report.when == "call")
        _tell(test=item.nodeid, outcome=outcome, text=text,
              seconds=round(sum(report.duration for report in self._reports.values()), 3))

    def pytest_runtest_logreport(self, report):
        self._reports[report.when] = report


def pytest_configure(config):
    if os.environ.get("DMALIGN_BATCH"):
        config.pluginmanager.register(Plugin(), "lab-inside")


def pytest_sessionstart(session):
    """Load the target, built for this kernel."""
    if not os.environ.get("DMALIGN_BATCH"):
        return
    subprocess.run(["modprobe", "dm_mod"], check=True)
    if config()["module"] and not Path("/sys/module/dm_align").exists():
        subprocess.run(["insmod", config()["module"]], check=True)
