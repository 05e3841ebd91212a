# SPDX-License-Identifier: GPL-2.0
"""A run counts its own writes only, and the guest's agent executes requests."""

import io
import json
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from lab.demo.runner import Arm, Runner
from lab.demo.schedule import Step
from lab.demo.workloads import BY_NAME, WORKLOADS
from lab.machines import remote_agent
from lab.machines.remote import Guest, GuestError
from lab.pace import patience


class Diary:
    """A stand-in for the guest and for the drive that records all commands, in order."""

    def __init__(self, check_status=0):
        self.lines = []
        self.check_status = check_status

    def run(self, *argv, ok=(0,), **_):
        words = [word for word in argv if not word.startswith("/")]
        self.lines.append(" ".join(words))
        status = self.check_status if "check" in argv else 0
        if status not in ok:
            raise GuestError(f"status {status}")
        return ""

    def json(self, *argv, **options):
        self.run(*argv, **options)
        if "stats" in argv:
            return {"devices": [{"counters": {"rmw_expected": 7}, "histograms": {"phase": {"bins": []}}}]}
        phase = argv[argv.index("--phase") + 1]
        return {"requests": 7, "count": 7, "touches_expected": 8, "data_check": {"status": f"from {phase}"}}

    def read(self, path, offsets, size):
        self.lines.append(f"read {path}")
        self.read_from = min(offsets)

    def control(self, command):
        self.lines.append(f"drive {command}")
        return {"touches": 7, "size": 1 << 30}


def one_run(mode, **options):
    diary = Diary(**options)
    runner = Runner(diary, Path("/alignctl"), [Arm("st1000dm003", mode, diary, "vda")])
    run = runner.make(Step("st1000dm003", 2, BY_NAME["w512"], mode, 7))
    return run, diary.lines


def place(lines, words):
    """Return the index of the one line that has these words."""
    found = [i for i, line in enumerate(lines) if words in line]
    assert len(found) == 1, (words, lines)
    return found[0]


def test_both_counts_start_after_the_preparation_and_end_before_the_check():
    run, lines = one_run("pad")
    order = [place(lines, words) for words in
             ("attach", "--phase prepare", "read /dev/vda", "--reset-stats", "drive reset", "--phase run",
              "stats alignctl-verify-", "detach")]
    assert order == sorted(order)
    assert lines[order[5] + 1] == "drive stats"
    # Through the target, and on the drive after the target was removed.
    first, second = [i for i, line in enumerate(lines) if "--phase check" in line]
    assert order[6] < first < order[7] < second
    assert run.drive["touches"] == 7 and run.ledger == {"rmw_expected": 7}
    assert run.replay["data_check"] == {"status": "from check"}
    # By the demo's own arithmetic, not replay's.
    assert run.touches_expected == 7 and (run.profile, run.count, run.repetition) == ("st1000dm003", 7, 2)


def test_the_reads_that_empty_the_drives_buffer_stay_off_every_workload():
    diary = Diary()
    arm = Arm("st1000dm003", "raw", diary, "vda")
    Runner(diary, Path("/alignctl"), [arm]).make(Step("st1000dm003", 1, BY_NAME["w512"], "raw", 7))
    assert diary.read_from > max(w.span(w.published_count) for w in WORKLOADS)


def test_a_raw_run_asks_for_no_ledger():
    run, lines = one_run("raw")
    assert run.ledger is None
    assert not any("reset-stats" in line or line.startswith("stats") for line in lines)


def test_a_failed_data_check_is_left_to_the_checks():
    run, _ = one_run("raw", check_status=1)
    assert run.replay["data_check"] == {"status": "from check"}


def test_a_data_check_that_could_not_read_ends_the_demo():
    with pytest.raises(GuestError):
        one_run("raw", check_status=3)


@pytest.fixture
def linked():
    """Yield a host's end, with an agent that serves the other end of a socket pair."""
    host, agent = socket.socketpair()
    thread = threading.Thread(target=remote_agent.serve,
                              args=(io.BufferedRWPair(*[agent.makefile("rwb", buffering=0)] * 2),))
    thread.start()
    yield Guest(host)
    host.close()
    agent.shutdown(socket.SHUT_RDWR)
    thread.join(patience(10))
    assert not thread.is_alive()


def test_a_command_in_the_guest_gives_its_output(linked):
    assert linked.run("echo", "two words") == "two words\n"
    long = linked.run(sys.executable, "-c", "print('x' * 300000)")
    assert long == "x" * 300000 + "\n"
    assert linked.json("echo", '{"a": 1}') == {"a": 1}


def test_a_failed_command_is_named_with_its_status_and_its_words(linked):
    with pytest.raises(GuestError, match=r"sh -c 'echo why >&2; exit 3': status 3: why"):
        linked.run("sh", "-c", "echo why >&2; exit 3")
    assert linked.run("sh", "-c", "echo found; exit 1", ok=(0, 1)) == "found\n"


def test_a_read_in_the_guest_reads_every_place(linked, tmp_path):
    holed = tmp_path / "device"
    holed.write_bytes(bytes(3 * 4096))
    try:
        os.close(os.open(holed, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        pytest.skip("no direct reads on this file system")
    linked.read(str(holed), [0, 8192], 4096)
    with pytest.raises(GuestError, match="status 1: .*Invalid argument"):
        linked.read(str(holed), [1], 4096)
    with pytest.raises(GuestError, match="read /no/such: status 1"):
        linked.read("/no/such", [0], 4096)


def test_a_guest_that_does_not_answer_is_given_up():
    host, agent = socket.socketpair()
    with host, agent, pytest.raises(GuestError, match="no answer from the guest"):
        Guest(host).run("sleep", "1", timeout=0.2)


def test_a_guest_that_died_is_told_from_one_that_is_slow():
    host, agent = socket.socketpair()
    agent.close()
    with host, pytest.raises(GuestError, match="the guest is gone|the guest ended"):
        Guest(host).run("true")


def test_the_agent_ends_when_it_is_told_to():
    asked = io.BytesIO(json.dumps({"end": True}).encode() + b"\n" + b"not read")
    remote_agent.serve(asked)
    assert asked.read() == b"not read"


def test_scattered_memory_keeps_every_other_page(linked):
    page = remote_agent.mmap.PAGESIZE
    linked.scatter(8 * page)
    kept = remote_agent._kept.pop()
    # A freed page reads as zeroes.
    assert [kept[i * page] for i in range(8)] == [0, 1] * 4
