# SPDX-License-Identifier: GPL-2.0
"""A signal ends verify as Ctrl-C does: the target is detached, the folder removed, and the results so far are printed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fleet_samples import check, save
from handed import handed, left, taken
from verify_samples import made_up_verification

import align_reports
from align_reports import interrupt
from align_reports.fleet import command as fleet, documents
from align_reports.machine import Here
from lab.pace import Limit, patience

# A stand-in for alignctl. A run through a target lasts until a signal ends it, and a detach takes half a second.
ALIGNCTL = """#!/bin/sh
echo "$*" >> "$DIARY"
case "$*" in
*/dev/mapper/*--phase\\ run*)
	trap 'echo ended >> "$DIARY"; kill $!; exit 1' INT TERM HUP
	sleep 60 &
	echo running >> "$DIARY"
	wait ;;
attach*) [ -z "$SLOW_ATTACH" ] || sleep 0.5; echo attached >> "$DIARY" ;;
detach*) sleep 0.5; echo detached >> "$DIARY" ;;
*) cat "$REPLAY" ;;
esac
"""
PACKAGE = Path(align_reports.__file__).parent
pytestmark = pytest.mark.usefixtures("hangup")
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a verification in raw and then in pad mode."""
    (tmp_path / "tmp").mkdir()
    program = tmp_path / "alignctl"
    program.write_text(ALIGNCTL)
    program.chmod(0o755)
    replay = made_up_verification().find("/dev/test", "w512", "raw").replay
    (tmp_path / "replay").write_text(json.dumps({"count": 40, **replay}))
    started = []

    def run(*arguments, **environment):
        given = left(handed("verify", "w512", "--on", "/dev/test", "--json", "--repeat", "1", *arguments))
        started.append(subprocess.Popen(
            [sys.executable, PACKAGE, "verify", str(given)], pass_fds=[given],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, "ALIGNCTL": str(program), "DIARY": str(tmp_path / "diary"),
                 "REPLAY": str(tmp_path / "replay"), "TMPDIR": str(tmp_path / "tmp"), **environment}))
        os.close(given)
        return started[0]
    yield run
    for each in started:
        each.kill()
        each.communicate()


def lines(tmp_path):
    diary = tmp_path / "diary"
    return diary.read_text().splitlines() if diary.exists() else []


def wait_for(tmp_path, word, after=None):
    limit = Limit(30)
    while not limit.over():
        found = lines(tmp_path)
        if after:
            found = found[found.index(after):] if after in found else []
        if any(line.startswith(word) for line in found):
            return
        time.sleep(0.05)
    raise AssertionError(f"no {word} in {lines(tmp_path)}")


@pytest.mark.parametrize("number", SIGNALS)
def test_it_ends_as_by_ctrl_c_also_when_it_is_asked_again(start, tmp_path, number):
    running = start("--modes", "raw,pad")
    wait_for(tmp_path, "running")
    # Signal the program alone, so that it has to end its command.
    os.kill(running.pid, number)
    wait_for(tmp_path, f"detach alignctl-verify-{running.pid}", after="ended")
    for again in SIGNALS:
        os.killpg(running.pid, again)
    out, err = running.communicate(timeout=patience(30))
    assert running.returncode == 128 + number, err
    assert lines(tmp_path)[-3:] == ["ended", f"detach alignctl-verify-{running.pid}", "detached"]
    result = json.loads(out)
    assert result["stopped"].startswith("interrupted") and [run["mode"] for run in result["runs"]] == ["raw"]
    assert "Traceback" not in err and os.listdir(tmp_path / "tmp") == []


def test_a_target_that_is_just_being_made_is_made_and_removed(start, tmp_path):
    running = start("--modes", "pad", SLOW_ATTACH="1")
    wait_for(tmp_path, "attach")
    os.killpg(running.pid, signal.SIGINT)
    err = running.communicate(timeout=patience(30))[1]
    assert running.returncode == 130 and "Traceback" not in err, err
    made = [line for line in lines(tmp_path) if line in ("attached", "detached")]
    assert made and len(made) % 2 == 0 and made[-1] == "detached" and "running" not in lines(tmp_path)
    assert os.listdir(tmp_path / "tmp") == []


def test_what_is_ignored_by_nohup_stays_so(start, tmp_path):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        running = start("--modes", "pad")
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(tmp_path, "running")
    os.kill(running.pid, signal.SIGHUP)
    time.sleep(0.3)
    assert running.poll() is None
    os.kill(running.pid, signal.SIGTERM)
    assert running.wait(timeout=patience(30)) == 128 + signal.SIGTERM


@pytest.fixture
def caught():
    before = [(number, signal.getsignal(number)) for number in SIGNALS]
    interrupt.catch()
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_one_that_comes_where_it_may_end_nothing_waits(caught, number):
    os.kill(os.getpid(), number)
    with pytest.raises(interrupt.Interrupted) as raised, interrupt.allowed():
        raise AssertionError("the signal was not delayed")
    assert raised.value.status == 128 + number
    with interrupt.allowed():
        pass


@pytest.mark.parametrize("number", SIGNALS)
def test_it_ends_fleet_while_documents_are_read(caught, monkeypatch, tmp_path, capsys, number):
    folder = save(tmp_path, {f"{name}.check.json": check() for name in "abc"})
    monkeypatch.setattr(documents, "_check", lambda _document: os.kill(os.getpid(), number))
    assert fleet.main(taken(fleet, "fleet", folder)) == 128 + number
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("alignctl fleet: interrupted")


def test_where_nothing_is_left_to_clean_up_it_ends_the_program():
    code = ("import os, signal; from align_reports import interrupt; interrupt.catch(); interrupt.release(); "
            "os.kill(os.getpid(), signal.SIGTERM)")
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, timeout=patience(30), check=False)
    assert done.returncode == -signal.SIGTERM


def test_a_command_that_does_not_heed_a_signal_is_killed(caught, monkeypatch):
    monkeypatch.setattr("align_reports.machine.GRACE_S", 0.2)
    command = "trap '' TERM; kill -TERM $PPID; sleep 30 >/dev/null"
    began = time.monotonic()
    with pytest.raises(interrupt.Interrupted):
        Here().json("sh", "-c", command)
    assert time.monotonic() - began < patience(10)
