# SPDX-License-Identifier: GPL-2.0
"""Standard output that cannot be written: every verb says so, and a pipe without a reader ends it without a word."""

import os
import signal
import subprocess
import sys

import pytest
from handed import handed, left

from alignctl_program import ALIGNCTL, AREA, METHODS, VERBS, alignctl, few
from lab.pace import patience
from lab.paths import REPO

IO = 3
FULL = "alignctl: standard output: No space left on device\n"
CLOSED = "alignctl: standard output: Bad file descriptor\n"

# What each verb prints that works without device-mapper; DISK, OTHER, TRACE and STATE are made for each test.
PRINTED = [
    ["--help"], ["--version"],
    *([verb, option] for verb in VERBS for option in ("--help", "--version")),
    ["check", "DISK"], ["check", "DISK", "--json"], ["check", "DISK", "--layout", "--physical", "4096"],
    ["check", "DISK", "--format", "prometheus"],
    ["list"], ["list", "--json"],
    ["stats"], ["stats", "--json"], ["stats", "--interval", "1"], ["stats", "--interval", "1", "--json"],
    ["stats", "--histograms"], ["stats", "--counters", "*"], ["stats", "--format", "prometheus"],
    ["stats", "--drive"], ["stats", "--drive", "--json"], ["stats", "--drive", "--interval", "1"],
    ["stats", "--compare", "SAVED"], ["stats", "--compare", "SAVED", "--json"],
    ["workloads"], ["workloads", "--json"],
    ["plan", "w512"], ["plan", "w512", "--json"], ["plan", "TRACE"],
    ["fleet", "SAVED"], ["fleet", "SAVED", "--json"],
    *(["conform", "DISK", "--rounds", "20", "--write", "0+4M", "--depth", "2", *more] for more in ([], ["--json"])),
    *(["conform", "DISK", "--after", "CUT", *more] for more in ([], ["--json"])),
    *(["replay", source, "--on", "DISK", *more] for source in ("w512", "TRACE")
      for more in ([], ["--json"], ["--dry-run"], ["--dry-run", "--json"])),
    ["replay", "db-read", "--on", "DISK", "--count", "20"],
    ["replay", "w512", "--on", "DISK", "--count", "20", "--phase", "prepare", "--state", "STATE"],
    *(["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--count", "20", "--repeat", "1", *more]
      for more in ([], ["--json"], ["--dry-run"], ["--dry-run", "--json"])),
    *(["probe", method, "DISK", "--dry-run", *few(method), *(AREA if writes else [])]
      for method, writes in METHODS.items()),
    ["probe", "sorted-reads", "DISK", "--count", "20", "--span", "8M"],
]


@pytest.fixture
def command(disk, tmp_path, memory, machine):
    """
    The words of a command with files to work on, CUT on another disk than DISK, and a machine with one align device in its
    environment.
    """
    other, trace, saved = tmp_path / "other", tmp_path / "trace.csv", tmp_path / "saved.json"
    with open(other, "wb") as file:
        file.truncate(disk.stat().st_size)
    trace.write_text("op,offset,bytes\nwrite,0,4096\nread,0,4096\n")
    saved.write_text(alignctl("stats", "--json", env=environment(["stats"], machine)).stdout)
    files = {"DISK": disk, "OTHER": other, "TRACE": trace, "STATE": tmp_path / "state", "SAVED": saved,
             "CUT": memory / "state"}

    def words(arguments):
        if "CUT" in arguments:
            alignctl("conform", disk, "--prepare", files["CUT"], "--rounds", 20, "--write", "0+4M")
        runs = "w512" in arguments and arguments[0] in ("replay", "verify")
        few = ["--count", "20"] if runs and "--count" not in arguments else []
        return [ALIGNCTL, *(str(files.get(word, word)) for word in arguments), *few]
    return words


def environment(arguments, machine):
    return {**os.environ, "ALIGNCTL_SYSROOT": str(machine[0])} if arguments[0] in ("list", "stats") else None


@pytest.mark.parametrize("arguments", PRINTED, ids=" ".join)
def test_a_full_disk_under_standard_output_is_an_error(command, machine, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(command(arguments), stdout=full, stderr=subprocess.PIPE, text=True, timeout=patience(60),
                              env=environment(arguments, machine), check=False)
    assert done.returncode == IO
    assert done.stderr.endswith(FULL) and done.stderr.count("standard output") == 1
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.parametrize("arguments", PRINTED, ids=" ".join)
def test_a_pipe_that_nobody_reads_ends_it_without_a_word(command, machine, arguments):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(command(arguments), stdout=write, stderr=subprocess.PIPE, text=True, timeout=patience(60),
                              env=environment(arguments, machine), check=False)
    finally:
        os.close(write)
    assert done.returncode == -signal.SIGPIPE
    assert "standard output" not in done.stderr and "Broken pipe" not in done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.parametrize("arguments", [["plan", "w512"], ["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--repeat",
                                                          "1"]], ids=" ".join)
def test_that_is_so_where_the_caller_ignores_the_signal(command, arguments):
    """As systemd does for services: there the write fails, and the program is told."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(["sh", "-c", "trap '' PIPE; exec \"$@\"", "sh", *command(arguments)], stdout=write,
                              stderr=subprocess.PIPE, text=True, timeout=patience(60), restore_signals=False, check=False)
    finally:
        os.close(write)
    assert done.returncode == -signal.SIGPIPE and "standard output" not in done.stderr


def test_a_pipe_under_standard_error_that_nobody_reads_ends_many_runs_without_a_traceback(command, tmp_path):
    folder = tmp_path / "tmp"
    folder.mkdir()
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(command(["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--repeat", "1"]),
                              stdout=subprocess.PIPE, stderr=write, text=True, timeout=patience(60), check=False,
                              env={**os.environ, "TMPDIR": str(folder)})
    finally:
        os.close(write)
    assert done.returncode == -signal.SIGPIPE
    assert not list(folder.iterdir()), "what was made on the way is still there"


def test_standard_error_that_is_full_changes_nothing(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run(command(["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--repeat", "1"]),
                              stdout=subprocess.PIPE, stderr=full, text=True, timeout=patience(60), check=False)
    assert done.returncode == 0 and "wall" in done.stdout


@pytest.mark.parametrize("arguments", [["plan", "w512"], ["--version"], ["replay", "w512", "--on", "DISK"],
                                       ["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--repeat", "1"]],
                         ids=" ".join)
def test_output_that_is_closed_is_an_error_and_nothing_is_written_onto_a_device(command, disk, arguments):
    """The next file that is opened would have its number."""
    done = subprocess.run(["sh", "-c", "exec \"$@\" >&-", "sh", *command(arguments)], stderr=subprocess.PIPE, text=True,
                          timeout=patience(60), check=False)
    assert done.returncode == IO and done.stderr.endswith(CLOSED)
    assert b"wall" not in disk.read_bytes() and b"writes  " not in disk.read_bytes()


def test_a_graver_status_stays(command, disk):
    """The device is refused, which stands on standard error: that what was said besides is lost is no news."""
    with open(disk, "r+b") as file:
        file.write(b"precious")
    with open("/dev/full", "w") as full:
        done = subprocess.run(command(["replay", "w512", "--on", "DISK", "--dry-run"]), stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=patience(60), check=False)
    assert done.returncode == 4


def test_an_interval_ends_when_its_output_does(machine):
    """And not at the next Ctrl-C."""
    read, write = os.pipe()
    with subprocess.Popen([ALIGNCTL, "stats", "--interval", "1", "--json"], stdout=write, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, "ALIGNCTL_SYSROOT": str(machine[0])}) as running:
        os.close(write)
        assert os.read(read, 1 << 20).startswith(b'{"format":1,"interval_s":1')
        os.close(read)
        assert running.wait(timeout=patience(20)) == -signal.SIGPIPE
        assert not running.stderr.read()


@pytest.mark.parametrize("full, status, said", [(True, IO, FULL), (False, -signal.SIGPIPE, "")])
def test_verify_ends_so_too(tmp_path, full, status, said):
    """Its table, of made-up results, in place of runs that need a drive."""
    program = tmp_path / "verifying.py"
    program.write_text("""
import sys
from align_reports import given, output
from align_reports.verify import command as verify
from verify_samples import made_up_verification
def measure(given, folder, results, console):
    results.runs += made_up_verification().runs
verify.measure = measure
output.run("alignctl", lambda words: verify.main(given.read(verify.Given, int(words[0]))))
""")
    read, write = os.pipe()
    os.close(read)
    where = os.open("/dev/full", os.O_WRONLY) if full else os.dup(write)
    try:
        folders = [str(REPO / "userspace" / folder) for folder in ("", "align_reports/tests")]
        for options in ([], ["--json"]):
            arguments = left(handed("verify", "w512", "--on", "/dev/null", *options))
            done = subprocess.run([sys.executable, program, str(arguments)], stdout=where, pass_fds=[arguments],
                                  stderr=subprocess.PIPE, text=True, timeout=patience(60), check=False,
                                  env={**os.environ, "ALIGNCTL": "none", "PYTHONPATH": os.pathsep.join(folders)})
            assert (done.returncode, done.stderr) == (status, said)
    finally:
        os.close(where)
        os.close(write)


@pytest.mark.parametrize("program", ["bench", "demo"])
def test_so_do_the_developers_programs(program):
    with open("/dev/full", "w") as full:
        done = subprocess.run([REPO / "scripts/python", "-m", f"lab.{program}", "--help"], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=patience(60), check=False)
    assert (done.returncode, done.stderr) == (IO, FULL.replace("alignctl", program))
