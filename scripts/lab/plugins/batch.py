# SPDX-License-Identifier: GPL-2.0
"""Run pytest tests inside guests, and report each as a separate test on the host.

The tests lie in kmod/tests/guest. The host collects them, too, once for each kernel series, but runs none of their code:
the first test of a series boots a guest in which pytest runs all tests that the host selected, and each host test passes,
fails or skips as soon as its counterpart does. A test without a result fails and names the console log. A guest that dies
or hangs is booted again for the tests after the fatal one. If the end of a guest is not a finding (see again.py), it is
booted again for all tests without a result.

A guest has one processor: of two emulated ones, on a host that has two itself, one often spins for a lock whose holder
the host does not run. The tests with the mark two_processors run in another guest, with two; in make check-all all tests
of the main series do. These are so many that they have two guests, side by side, each with half of the files.

The guest as a whole has no time limit: it is killed if a test exceeds its own limit (see Progress), and when the
session's time is over (see budget.py). Results until then count.

The tests of kmod/tests/uml run in the same way, once, without emulated drives, in User Mode Linux, whose kernel can make
allocations fail: in 6.12, which is the faster one, or, with the mark uml_7_2, in 7.2, for features of newer kernels. A
test of kmod/tests/guest with the mark uml_too runs there as well.
"""

import json
import os
import re
import shlex
import subprocess
import threading
from pathlib import Path

from .. import machines, pace
from ..linux import gates, kernels, matrix
from ..machines import again, drives, uml, vm
from ..paths import OUT, REPO, locked
from . import budget
from .inside import DEFAULT_LIMIT, GRACE
from .relay import Relay

TESTS = REPO / "kmod" / "tests" / "guest"
UML_TESTS = REPO / "kmod" / "tests" / "uml"
# User Mode Linux as a series, and the kernel's name in debug_kernels.py.
UML, UML_7_2 = "uml", "uml7.2"
UML_KERNELS = {UML: "um", UML_7_2: "um-7.2"}
# The file with which the second half of the tests of the main series begins, by the time that they take.
SECOND_HALF = "test_or"
MAX_BOOTS = 4
# In seconds of the reference machine: until a guest's command begins; until its pytest begins the first test; between
# two tests, and from the last one to the end; the greatest delay of the guest's own watchdog.
BOOT_SECONDS = 120
COLLECT_SECONDS = 120
PAUSE_SECONDS = 120
LATE_SECONDS = 30
# Time for the host's side to end its guests and drives.
END_SECONDS = 60
ALIGNCTL = OUT / "bin" / "alignctl"
# A folder of a guest, in its memory.
MEMORY = "/run/memory"

# Plugins of pytest that no test in a guest uses; one of them collects all garbage five times at the end.
NEEDLESS = ("cacheprovider", "legacypath", "pastebin", "junitxml", "doctest", "stepwise", "setuponly", "setupplan", "unittest",
            "unraisableexception")


def prepare(folder, module, nodeids, servers=()):
    """Write the description of a batch into `folder`; return the shell line that runs the batch in a guest."""
    folder.mkdir(parents=True, exist_ok=True)
    batch = folder / "batch.json"
    stretched = {name: server.stretched for name, server in dict(servers).items() if server.stretched}
    batch.write_text(json.dumps({"drives": list(servers), "stretched": stretched, "results": str(folder / "results.jsonl"),
                                 "module": str(module)}))
    (folder / "results.jsonl").write_text("")
    (folder / "tests").write_text("\n".join(nodeids) + "\n")
    pace.write(folder / "pace", pace.slowness())
    passed_on = [f"{name}={shlex.quote(value)}" for name, value in os.environ.items() if name.startswith("DM_ALIGN_")]
    return " ".join([
        *passed_on, "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1",
        f"DMALIGN_BATCH={shlex.quote(str(batch))}", f"{pace.FILE}={shlex.quote(str(folder / 'pace'))}",
        shlex.quote(str(REPO / "scripts" / "python")), "-m", "pytest",
        "-p", "lab.plugins.inside", "-p", "pytest_timeout", *(f"-p no:{name}" for name in NEEDLESS),
        "-q", "--no-header", "--tb=short",
        f"--timeout={DEFAULT_LIMIT}", f"--rootdir={REPO}", "-c", str(REPO / "pytest.ini"), f"@{folder / 'tests'}"])


def keep_programs():
    """Return the shell line that copies alignctl, its loader and its libraries into a guest's memory, and has them used.

    Tests start programs thousands of times, and each start opens all of these files: over 9p that takes half of its time.
    """
    listed = subprocess.run(["ldd", ALIGNCTL], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"=> (/\S+) \(", listed)
    programs = [ALIGNCTL, *(Path(loader).resolve() for loader in re.findall(r"^\t(/\S+) \(", listed, re.M))]
    return " && ".join([f"mkdir {MEMORY}", f"cp -L {shlex.join(map(str, [*libraries, *programs]))} {MEMORY}",
                        *(f"mount --bind {MEMORY}/{program.name} {shlex.quote(str(program))}" for program in programs),
                        f"export LD_LIBRARY_PATH={MEMORY}"])


class Progress(pace.Limit):
    """The time limit of a guest that runs a batch; begins anew with every event from the guest.

    folder   folder of the run, in which inits/init makes "begun"
    events   file into which the guest writes a JSON line for each event; the host's slowness lies beside the file
    take     called for each event
    stop     a threading.Event that ends the guest
    collect  seconds until the first test begins (COLLECT_SECONDS)
    """

    def __init__(self, folder, events, take, stop, collect=None):
        super().__init__(BOOT_SECONDS)
        self._collect, self._pace = collect or COLLECT_SECONDS, None
        self._begun, self._events, self._take, self._stop = folder / "begun", events, take, stop
        self._at = 0
        self._doing = "the guest did not boot"

    def _allow(self, seconds, doing):
        super().__init__(seconds)
        self._doing = doing

    def read(self):
        """Take the guest's new events."""
        try:
            with open(self._events, "rb") as file:
                file.seek(self._at)
                told = file.read()
        except FileNotFoundError:
            return
        # The last line may be incomplete.
        told = told[:told.rfind(b"\n") + 1]
        self._at += len(told)
        for line in told.splitlines():
            event = json.loads(line)
            self._take(event)
            if "begin" in event:
                self._allow(event["limit"] + GRACE + LATE_SECONDS, f"{event['begin']} did not end")
            else:
                self._allow(PAUSE_SECONDS, f"no event followed {event['test']}")

    def over(self):
        self.read()
        if self._begun and self._begun.exists():
            self._begun = None
            if not self._at:
                self._allow(self._collect, "the guest's pytest began no test")
        slowness = pace.slowness()
        if slowness != self._pace:
            self._pace = slowness
            pace.write(self._events.with_name("pace"), slowness)
        if self._stop.is_set():
            return "with the test session"
        if budget.over():
            return f"at the end of the session's time ({budget.WORDS})"
        return super().over() and f"since {self._doing} within {self}"


def batch_name(series, cpus, second=False):
    """Return the name of the batch of a series in guests with that number of processors, or of its second half."""
    return series + (f"-{cpus}cpus" if cpus > 1 else "") + ("-second" if second else "")


class Batch:
    """The tests of one series and number of processors, or the second half of them: boots the guest on first use, in a
    thread, and has each result as soon as it is final."""

    machine = "qemu"

    def __init__(self, series, servers, memory="2G", cpus=1, second=False):
        self.series, self.servers = series, servers
        self.memory, self.cpus = memory, cpus
        self.name = batch_name(series, cpus, second)
        self.nodeids = []
        self.results = {}
        self.logs = []
        self._ended = {}
        self._told = set()
        self._news = threading.Condition()
        self._thread = None
        self._error = None
        self._stop = threading.Event()
        # The latest result: until the next test begins, the kernel may still log a fault of this one.
        self._last = None
        self._begun = set()

    def result(self, nodeid):
        """Wait for the result of a test; return None if the guest has ended without it, or the time is over."""
        machines.require(self.machine)
        if self._thread is None and not budget.over():
            self._thread = threading.Thread(target=self._work, name=f"guest-{self.name}", daemon=True)
            self._thread.start()
        with self._news:
            while nodeid not in self.results and self._thread and self._thread.is_alive():
                # At the end of the time the thread ends its guest; do not wait for anything else of the thread.
                if budget.left() < -END_SECONDS:
                    break
                self._news.wait(0.5)
        if self._error and nodeid not in self.results:
            raise self._error
        return self.results.get(nodeid)

    def end(self):
        """End a running guest, with its drives."""
        self._stop.set()
        if self._thread:
            self._thread.join(END_SECONDS)

    def _work(self):
        try:
            with locked(f"tests-{self.name}", OUT):
                self._recall()
                self._run()
        except BaseException as error:  # raised again by every test without a result
            self._error = error

    def _run(self):
        module = self._module()
        remaining = self._without_result(self.nodeids)
        for boot in range(1, MAX_BOOTS + 1):
            if not remaining or self._stop.is_set() or budget.over():
                break
            run = again.run(lambda suffix, boot=boot, remaining=remaining:
                            self._begin(f"tests-{self.name}-{boot}{suffix}", module, remaining))
            why = vm.explain(run) or "the guest's pytest did not run this test"
            self._blame(run)
            self._publish()
            self._ended.update({nodeid: why for nodeid in self._without_result(remaining)})
            left = [nodeid for nodeid in self._without_result(remaining) if nodeid not in self._begun]
            # Without any progress in this boot, the next one would not have any, either.
            if len(left) == len(remaining):
                break
            remaining = left

    def _begin(self, name, module, nodeids):
        """Boot a guest for the tests without a result; return its vm.Result. Earlier results stay."""
        self._publish()
        self._begun = set()
        return self._boot(name, module, self._without_result(nodeids))

    def _without_result(self, nodeids):
        return [nodeid for nodeid in nodeids if nodeid not in self.results]

    def _module(self):
        return gates.module(self.series)

    def _boot(self, name, module, nodeids):
        folder = OUT / "vm" / f"{name}.batch"
        command = f"{keep_programs()}; {prepare(folder, module, nodeids, self.servers)}"
        progress = Progress(OUT / "vm" / name, folder / "results.jsonl", self._take, self._stop)
        with drives.serve(self.servers, folder) as served, Relay(served) as relay, \
                open(folder / "output", "w") as output:
            self.logs.append(f"{OUT / 'vm' / name / 'console.log'} and {folder / 'output'}")
            run = vm.run(command, timeout=progress, series=self.series, memory=self.memory, cpus=self.cpus,
                         drives=[drive.attached() for drive in served.values()], rwdirs=[folder],
                         channels=[relay.channel], name=name, stdout=output, cwd=REPO, quick=True)
        progress.read()
        # A guest that has reported an event has loaded the module.
        if self._begun or self.results:
            matrix.note(kernels.release(self.series), matrix.BOOTED)
        return run

    def _take(self, event):
        """Take an event from the guest."""
        self._publish()
        if "begin" in event:
            self._begun.add(event["begin"])
        else:
            self._last = event

    def _publish(self):
        """Make the latest result final: wake its waiters, and write the record."""
        if self._last:
            with open(self._record, "a") as record:
                record.write(json.dumps(self._last) + "\n")
            with self._news:
                self.results[self._last["test"]] = self._last
                self._last = None
                self._news.notify_all()

    @property
    def _record(self):
        """Return the file with the results of the batch in this test session."""
        return OUT / f"tests-{self.name}.results.jsonl"

    def _recall(self):
        """Take over the results of a worker of this session that died; else begin the record."""
        session = os.environ.get("PYTEST_XDIST_TESTRUNUID")
        lines = self._record.read_text().splitlines() if self._record.exists() else []
        if session and lines and json.loads(lines[0]).get("session") == session:
            with self._news:
                self.results.update({event["test"]: event for event in map(json.loads, lines[1:])})
        else:
            self._record.parent.mkdir(parents=True, exist_ok=True)
            self._record.write_text(json.dumps({"session": session}) + "\n")

    def out_of_time(self, nodeid):
        """Return whether a test has no result only because the session's time is over."""
        return budget.over() and budget.WORDS in self._ended.get(nodeid, budget.WORDS)

    def why_nothing(self, nodeid):
        """Return why a test has no result: the end of its guest, in full for the first caller and briefly for the others."""
        why = self._ended.get(nodeid, "the guest did not boot")
        if why in self._told:
            return f"{why.splitlines()[0]} (details: see the first test without a result)"
        self._told.add(why)
        return why

    def _blame(self, run):
        """Fail the latest test for faults that the kernel logged after it, or too late for it to see."""
        if not self._last:
            return  # the test that had begun fails without a result, and reports the faults
        told = "".join(result["text"] for result in [*self.results.values(), self._last])
        # Lines of the console begin with a time, lines of a test's report do not.
        untold = [line for line in run.faults if line.split("] ", 1)[-1] not in told]
        if untold:
            self._last["outcome"] = "failed"
            self._last["text"] += "\nthe kernel logged, after this test or too late to see:\n  " + "\n  ".join(untold[:40])


class UmlBatch(Batch):
    """The tests of a User Mode Linux. `kmemleak`: it tracks all memory, which makes every test slow."""

    machine = "uml"

    def __init__(self, series=UML):
        super().__init__(series, {}, cpus=1)
        self.kmemleak = False

    def _module(self):
        return uml.module(kernel=UML_KERNELS[self.series])

    def _boot(self, name, module, nodeids):
        folder = OUT / "uml" / f"{name}.batch"
        command = prepare(folder, module, nodeids)
        progress = Progress(OUT / "uml" / name, folder / "results.jsonl", self._take, self._stop)
        self.logs.append(f"{OUT / 'uml' / name / 'console.log'} and {OUT / 'uml' / name / 'output'}")
        run = uml.run(command, timeout=progress, rwdirs=[folder], kernel=UML_KERNELS[self.series], name=name, cwd=REPO,
                      append=uml.KMEMLEAK if self.kmemleak else "")
        progress.read()
        return run
