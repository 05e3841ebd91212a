# SPDX-License-Identifier: GPL-2.0
"""drive512e-nbd: the plugin in real time, by the lines that drive the model on a virtual clock."""
import subprocess

import pytest

from lab.pace import patience
from lab.paths import OUT, REPO, locked

NBD, CLOCK, PLUGIN = (OUT / "bin" / name for name in ("drive512e-nbd", "drive512e-clock", "drive512e.so"))
MS = 1_000_000


@pytest.fixture(scope="module", autouse=True)
def program():
    with locked("drive512e-nbd", OUT):
        subprocess.run(["make", "-s", "-C", REPO / "userspace/drive512e", f"OUT={OUT}", NBD], check=True, timeout=patience(300),
                       capture_output=True)


def run(program, commands):
    """Run a program; return what came of it."""
    return subprocess.run(program, input="".join(f"{command}\n" for command in commands), capture_output=True, text=True,
                          timeout=patience(30))


def lines(program, commands=()):
    """Run a program that succeeds; return its lines."""
    done = run(program, commands)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("parameters", [
    ["profile=st1000dm003"], ["profile=usb-liar"], ["profile=qlc-64k", "cache=off"], ["physical=8192", "alignment=512"]])
def test_says_what_the_model_says(parameters):
    assert lines([NBD, PLUGIN, "size=1G", *parameters]) == lines([CLOCK, "size=1G", *parameters])


def test_a_request_takes_as_long_as_the_drive_at_least():
    read, write, flush, waited, now = map(int, lines([NBD, PLUGIN, "profile=fixed", "latency_us=3000", "size=1G"],
                                                     ["R 0 512", "W 512 1024", "F", "wait 7000000", "time"])[1:])
    # An answer that left late is made up for by the next one, so only the first one and the sum have a lower limit.
    assert read >= 3 * MS and min(write, flush) > 0 and waited == 7 * MS and now >= 3 * 3 * MS + waited


def test_the_drive_gets_the_requests_of_the_lines_and_each_is_timed(tmp_path):
    """Eight requests, two at a time on a drive that serves two, take four times as long as one."""
    log = tmp_path / "log"
    depth, begun, *times, ended = map(int, lines(
        [NBD, PLUGIN, "profile=fixed", "latency_us=3000", "depth=2", "size=1G", f"log={log}"],
        ["depth 2", "time", "batch 8", *(f"W {at * 4096} 512" for at in range(8)), "time"])[1:])
    assert depth == 2 and len(times) == 8 and min(times) > 0 and ended - begun >= 4 * 3 * MS
    logged = [line.split()[1:4] for line in log.read_text().splitlines()]
    assert sorted(logged) == sorted(["W", str(at * 4096), "512"] for at in range(8))


@pytest.mark.parametrize("command", ["jobs 1", "count rmws"])
def test_the_commands_of_the_virtual_clock_are_unknown(command):
    done = run([NBD, PLUGIN, "size=1M"], [command])
    assert done.returncode == 2 and f"{command}: no such command" in done.stderr


@pytest.mark.parametrize("arguments, status, said", [
    ([], 2, "PLUGIN: give the path of the plugin first"),
    ([PLUGIN, "size=1M", "noise=10"], 2, "parameters: "),
    (["/nowhere/drive512e.so", "size=1M"], 3, "/nowhere/drive512e.so: "),
    ([PLUGIN, "size=1M", *["physical=4096"] * 40], 3, "too many parameters")])
def test_what_cannot_be_started_is_named(arguments, status, said):
    done = run([NBD, *arguments], [])
    assert done.returncode == status and said in done.stderr and "drive512e-nbd: " in done.stderr, done.stderr
