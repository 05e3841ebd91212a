# SPDX-License-Identifier: GPL-2.0
"""The host takes each result of a guest at once, and ends a guest only if it makes no progress."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lab import machines, pace
from lab.machines import vm
from lab.plugins import batch, budget


class Guest:
    """A stand-in for vm.run(): each boot calls the next function of `boots`, with this object."""

    def __init__(self, folder):
        self.out, self.boots, self.asked = folder, [], []

    def run(self, command, *, timeout, name, rwdirs, **_):
        self.folder, self.events, self._limit = self.out / "vm" / name, rwdirs[0] / "results.jsonl", timeout
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        (self.folder / "console.log").write_text("")
        self.asked.append((rwdirs[0] / "tests").read_text().split())
        status, console, killed = vm.DIED, "", ""
        (self.folder / "begun").touch()
        try:
            status, console = self.boots[len(self.asked) - 1](self) or (0, "")
        except TimeoutError as why:
            status, killed = vm.TIMED_OUT, str(why)
        (self.folder / "console.log").write_text(console)
        return vm.Result(status, vm.faults(console), self.folder, 1.0, True, killed)

    def tell(self, text):
        with open(self.events, "a") as events:
            events.write(text)
        self.wait(0)

    def begin(self, test, limit=60):
        self.tell(json.dumps({"begin": test, "limit": limit}) + "\n")

    def end(self, test, outcome="passed"):
        self.tell(json.dumps({"test": test, "outcome": outcome, "text": "", "seconds": 0.1}) + "\n")

    def do(self, *tests):
        for test in tests:
            self.begin(test)
            self.end(test)

    def wait(self, seconds, event=None):
        """Wait as vm.wait() does."""
        end = time.monotonic() + seconds
        while True:
            why = self._limit.over()
            if why:
                raise TimeoutError(why)
            if time.monotonic() >= end or (event and event.is_set()):
                return
            time.sleep(0.02)


@pytest.fixture
def guest(tmp_path, monkeypatch):
    guest = Guest(tmp_path)
    monkeypatch.setattr(batch, "OUT", tmp_path)
    monkeypatch.setattr(batch.vm, "run", guest.run)
    monkeypatch.setattr(batch.gates, "module", lambda series: tmp_path / "dm-align.ko")
    monkeypatch.setattr(batch.kernels, "release", lambda series: series)
    monkeypatch.setattr(batch.matrix, "FOUND", tmp_path / "matrix")
    monkeypatch.setenv(pace.VARIABLE, "1")
    monkeypatch.delenv(pace.FILE, raising=False)
    return guest


@pytest.fixture
def tests(guest):
    made = batch.Batch("6.12", {})
    made.nodeids = ["a", "b", "c", "d"]
    yield made
    made.end()


def outcome(tests, name):
    result = tests.result(name)
    return result and result["outcome"]


def test_a_result_is_there_while_the_guest_goes_on(guest, tests):
    go_on = threading.Event()

    def boot(guest):
        guest.do("a")
        guest.begin("b")
        guest.wait(60, go_on)
        assert go_on.is_set()
        guest.end("b", "failed")
        guest.do("c", "d")

    guest.boots = [boot]
    assert outcome(tests, "a") == "passed" and not go_on.is_set()
    go_on.set()
    assert [outcome(tests, name) for name in "bcd"] == ["failed", "passed", "passed"]


def test_a_guest_that_makes_progress_may_take_as_long_as_it_needs(guest, tests, monkeypatch):
    """The guest runs longer than each of its limits: by many short tests, as a busy machine may stop for a moment."""
    limit, pause, took = 2, 0.05, []
    tests.nodeids = [f"t{number}" for number in range(24)]
    monkeypatch.setattr(batch, "PAUSE_SECONDS", limit)
    monkeypatch.setattr(batch, "GRACE", 0)
    monkeypatch.setattr(batch, "LATE_SECONDS", 0)

    def boot(guest):
        began = time.monotonic()
        for test in tests.nodeids:
            guest.begin(test, limit=limit)
            guest.wait(pause)
            took.append(time.monotonic() - began)
            guest.end(test)
            guest.wait(pause)

    guest.boots = [boot]
    assert [outcome(tests, name) for name in tests.nodeids] == 24 * ["passed"]
    assert len(guest.asked) == 1 and took[-1] > limit


def test_a_guest_without_progress_is_killed_and_what_it_told_before_counts(guest, tests, monkeypatch):
    monkeypatch.setattr(batch, "GRACE", 0)
    monkeypatch.setattr(batch, "LATE_SECONDS", 0)

    def hangs(guest):
        guest.do("a", "b")
        guest.begin("c", limit=0.3)
        guest.wait(60)

    guest.boots = [hangs, lambda guest: guest.do("d")]
    assert [outcome(tests, name) for name in "abcd"] == ["passed", "passed", None, "passed"]
    assert "c did not end within 0.3 s" in tests.why_nothing("c")
    assert guest.asked == [["a", "b", "c", "d"], ["d"]]


@pytest.mark.parametrize("limit, tell, why", [
    ("BOOT_SECONDS", lambda guest: (guest.folder / "begun").unlink(), "the guest did not boot within"),
    ("COLLECT_SECONDS", lambda guest: None, "the guest's pytest began no test within"),
    ("PAUSE_SECONDS", lambda guest: guest.do("a"), "no event followed a within")])
def test_a_guest_that_hangs_outside_of_its_tests_is_killed(guest, tests, monkeypatch, limit, tell, why):
    monkeypatch.setattr(batch, limit, 0.3)

    def hangs(guest):
        tell(guest)
        guest.wait(60)

    guest.boots = [hangs] * batch.MAX_BOOTS
    assert outcome(tests, "d") is None
    assert why in tests.why_nothing("d")


def test_a_slow_machine_has_more_patience(guest, tests, monkeypatch):
    monkeypatch.setenv(pace.VARIABLE, "20")
    monkeypatch.setattr(batch, "COLLECT_SECONDS", 0.1)

    def late(guest):
        guest.wait(0.5)
        guest.do("a", "b", "c", "d")

    guest.boots = [late]
    assert outcome(tests, "d") == "passed"


def test_the_guest_is_told_how_slow_the_machine_is(guest, tests, tmp_path, monkeypatch):
    monkeypatch.setenv(pace.FILE, str(tmp_path / "host"))
    # Another factor, which the session has measured on this machine.
    monkeypatch.delenv(pace.EMULATION, raising=False)
    monkeypatch.setattr(pace, "READ_AGAIN", 0)
    monkeypatch.setattr(pace, "_known", (None, 0.0))
    pace.write(tmp_path / "host", 3)
    told = []

    def boot(guest):
        for slow in (3, 7):
            pace.write(tmp_path / "host", slow)
            guest.wait(0.1)
            told.append(float(guest.events.with_name("pace").read_text()))
        guest.do("a", "b", "c", "d")

    guest.boots = [boot]
    assert outcome(tests, "a") == "passed" and told == [3, 7]


def test_half_a_line_is_waited_for(guest, tests):
    def boot(guest):
        guest.tell('{"begin": "a", ')
        guest.wait(0.1)
        guest.tell('"limit": 60}\n')
        guest.end("a")
        guest.do("b", "c")
        guest.tell('{"begin": "d", "limit": 60}\n{"test": "d", "outc')
        return vm.DIED, ""

    guest.boots = [boot]
    assert [outcome(tests, name) for name in "abcd"] == 3 * ["passed"] + [None]


def test_a_fault_after_the_last_test_fails_it(guest, tests):
    def boot(guest):
        guest.do("a", "b", "c", "d")
        return 0, "[    9.0] WARNING: CPU: 0 PID: 1 at block/bio.c:1 bio_put+0x1/0x2\n"

    guest.boots = [boot]
    assert [outcome(tests, name) for name in "abcd"] == ["passed", "passed", "passed", "failed"]
    assert "bio_put" in tests.result("d")["text"]


def test_a_death_that_says_nothing_is_booted_again_for_what_has_no_result(guest, tests, monkeypatch):
    monkeypatch.setattr(batch.again, "void", lambda result: ("for fun", "dead") if result.status == vm.DIED else None)
    monkeypatch.setattr(batch.again, "LIMITS", {"for fun": 1})
    monkeypatch.delenv(batch.again.RECORD, raising=False)

    def dies(guest):
        guest.do("a")
        guest.begin("b")
        return vm.DIED, ""

    guest.boots = [dies, lambda guest: guest.do("b", "c", "d")]
    assert [outcome(tests, name) for name in "abcd"] == 4 * ["passed"]
    assert guest.asked == [["a", "b", "c", "d"], ["b", "c", "d"]]


def test_when_the_time_is_over_the_guest_is_killed_and_what_it_told_counts(guest, tests, monkeypatch):
    def boot(guest):
        guest.do("a")
        guest.begin("b")
        monkeypatch.setenv(budget.DEADLINE, str(time.monotonic()))
        guest.wait(60)

    guest.boots = [boot]
    assert [outcome(tests, name) for name in "abcd"] == ["passed", None, None, None]
    assert tests.out_of_time("b") and tests.out_of_time("d") and len(guest.asked) == 1


def test_what_a_guest_did_not_end_well_is_a_failure_also_when_the_time_is_over(guest, tests, monkeypatch):
    guest.boots = [lambda guest: (vm.DIED, "")] * batch.MAX_BOOTS
    assert outcome(tests, "a") is None
    monkeypatch.setenv(budget.DEADLINE, str(time.monotonic()))
    assert not tests.out_of_time("a")


def test_no_guest_is_booted_when_the_time_is_over(guest, tests, monkeypatch):
    monkeypatch.setenv(budget.DEADLINE, str(time.monotonic()))
    assert tests.result("a") is None and tests.out_of_time("a") and not guest.asked


def test_a_worker_takes_over_the_results_of_one_that_died(guest, tests, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "this session")
    guest.boots = [lambda guest: guest.do("a", "b") or (vm.DIED, ""), lambda guest: guest.do("c", "d")]
    assert outcome(tests, "d") == "passed"
    other = batch.Batch("6.12", {})
    other.nodeids = ["a", "b", "c", "d", "e"]
    guest.boots.append(lambda guest: guest.do("e"))
    assert outcome(other, "e") == outcome(other, "a") == "passed"
    assert guest.asked[2] == ["e"]
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", "another session")
    third = batch.Batch("6.12", {})
    third.nodeids = ["a"]
    guest.boots.append(lambda guest: guest.do("a"))
    assert outcome(third, "a") == "passed" and guest.asked[3] == ["a"]


def test_an_error_of_the_hosts_side_reaches_every_test_that_waits(tests, monkeypatch):
    def broken(series):
        raise RuntimeError("no compiler")
    monkeypatch.setattr(batch.gates, "module", broken)
    for name in "ab":
        with pytest.raises(RuntimeError, match="no compiler"):
            tests.result(name)


# A session whose guest reports results and never ends.
ENDLESS = """
import sys
import time
sys.path.insert(0, {here!r})
import pytest
from lab.plugins import batch, host_plugin
from test_batch import Guest
from pathlib import Path

def boot(guest):
    guest.do("endless.py::test_one[0]", "endless.py::test_one[1]")
    guest.begin("endless.py::test_one[2]")
    guest.wait(600)

guest = Guest(Path({out!r}))
guest.boots = [boot]
batch.OUT = Path({out!r})
batch.vm.run = guest.run
batch.gates.module = lambda series: Path({out!r}, "dm-align.ko")
batch.kernels.release = lambda series: series
batch.matrix.FOUND = Path({out!r}, "matrix")
made = batch.Batch("6.12", {{}})
made.nodeids = [f"endless.py::test_one[{{number}}]" for number in range(4)]

@pytest.mark.parametrize("number", range(4))
def test_one(number):
    assert made.result(made.nodeids[number])["outcome"] == "passed"
"""


def test_a_session_that_is_killed_has_told_what_ran_until_then(tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS.format(here=os.path.dirname(__file__), out=str(tmp_path / "out")))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    said = tmp_path / "said"
    environment = {name: value for name, value in os.environ.items() if name != machines.VARIABLE}
    with open(said, "w") as output, subprocess.Popen(
            [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "endless.py"], cwd=tmp_path, stdout=output,
            stderr=subprocess.STDOUT, env={**environment, "PYTHONUNBUFFERED": "1"}) as session:
        limit = pace.Limit(30)
        while "test_one[2]" not in said.read_text() and not limit.over() and session.poll() is None:
            time.sleep(0.1)
        session.kill()
    assert said.read_text().count("PASSED") == 2, said.read_text()
    # A later look finds the results in the record.
    record = Path(tmp_path, "out", "tests-6.12.results.jsonl").read_text().splitlines()
    assert [json.loads(line)["test"][-2] for line in record[1:]] == ["0", "1"]


def test_a_guest_has_alignctl_and_all_that_it_loads_in_its_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "MEMORY", tmp_path / "memory")
    told = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c",
                           f"{batch.keep_programs()} && ldd {batch.ALIGNCTL} && cat /proc/self/mountinfo"],
                          capture_output=True, text=True, check=True).stdout
    loaded = re.findall(r"^\t.* => (.*) \(", told, re.M)
    assert len(loaded) > 5 and all(library.startswith(f"{tmp_path}/memory/") for library in loaded), told
    assert re.search(rf" \S+/memory/alignctl {batch.ALIGNCTL} ", told)
    assert re.search(r" \S+/memory/(ld-\S+) \S+/\1 ", told)
