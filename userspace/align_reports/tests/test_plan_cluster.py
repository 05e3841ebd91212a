# SPDX-License-Identifier: GPL-2.0
"""plan_cluster.py on workers that are real processes, one of which is killed at work: the same bytes as one pass."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from lab.pace import Limit, patience
from lab.paths import OUT, REPO

PROGRAM = REPO / "userspace/align_reports/plan_cluster.py"
ALIGNCTL = OUT / "bin/alignctl"
FINE, USAGE, IO = 0, 2, 3


def write(path, rows):
    path.write_text("time_ms,disk,op,offset_sectors,sectors\n" + "".join(rows))
    return path


@pytest.fixture
def traces(tmp_path):
    """A trace of seven disks, and each disk in a trace of its own."""
    chance, rows = random.Random(4), []
    for now in range(4000):
        rows.append(f"{now},d{chance.randrange(7)},write,{chance.randrange(4000)},{chance.choice([1, 8, 64])}\n")
    return write(tmp_path / "all.csv", rows), [
        write(tmp_path / f"d{disk}.csv", [row for row in rows if f",d{disk}," in row]) for disk in range(7)]


def one_pass(folder, trace, *options):
    part = folder / "one-pass"
    subprocess.run([ALIGNCTL, "plan", trace, "--partial", part, *options], check=True)
    return part.read_bytes()


def planned(traces, output, *arguments, alignctl=ALIGNCTL, options=()):
    return subprocess.run([sys.executable, PROGRAM, *traces, "--output", output, "--alignctl", alignctl, *arguments, "--",
                           *options], capture_output=True, text=True, timeout=patience(120))


def test_two_workers_find_what_one_pass_finds(tmp_path, traces):
    whole, apart = traces
    done = planned(apart, tmp_path / "all.part", "--workers", "2", "--html", tmp_path / "page.html",
                   options=["--physical", "8192"])
    assert done.returncode == FINE, done.stderr
    assert "7 disks on physical blocks of 8 KiB" in done.stdout and "<td" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "all.part").read_bytes() == one_pass(tmp_path, whole, "--physical", "8192")


def test_a_worker_that_is_killed_at_work_changes_no_byte(tmp_path, traces):
    whole, apart = traces
    # the first to plan for a disk says so, and ends only when it is killed
    at_work, slow = tmp_path / "at-work", tmp_path / "alignctl"
    slow.write_text(f"#!/bin/sh\ncase $2 in\n*d3.csv) mkdir {at_work} 2>/dev/null && exec sleep 1000 ;;\nesac\n"
                    f"exec {ALIGNCTL} \"$@\"\n")
    slow.chmod(0o755)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        with subprocess.Popen([sys.executable, PROGRAM, *apart, "--output", tmp_path / "all.part", "--alignctl", slow,
                               "--scheduler", cluster.scheduler_address], stderr=subprocess.PIPE, text=True) as program:
            try:
                sleeping = sleeper(program, at_work)
                worker = int((sleeping / "stat").read_text().rsplit(")", 1)[1].split()[1])
                before = set(client.scheduler_info()["workers"])
                os.kill(worker, signal.SIGKILL)
                os.kill(int(sleeping.name), signal.SIGKILL)
                said = program.communicate(timeout=patience(120))[1]
            finally:
                program.kill()
            assert program.returncode == FINE, said
        assert set(client.scheduler_info()["workers"]) != before
    assert (tmp_path / "all.part").read_bytes() == one_pass(tmp_path, whole)


def sleeper(program, at_work):
    """The process of the command that sleeps, once asleep."""
    limit = Limit(120)
    while True:
        assert program.poll() is None and not limit.over(), limit
        if at_work.exists():
            for process in Path("/proc").glob("[0-9]*"):
                if is_of(process, b"sleep\x001000\x00", os.getpid()):
                    return process
        time.sleep(0.05)


def is_of(process, command, ancestor):
    """Whether a process runs a command, and descends from another one."""
    try:
        if (process / "cmdline").read_bytes() != command:
            return False
        while process.name != "1":
            if int(process.name) == ancestor:
                return True
            process = process.parent / (process / "stat").read_text().rsplit(")", 1)[1].split()[1]
    except OSError:
        pass
    return False


def test_a_trace_that_cannot_be_planned_for_is_named_and_nothing_is_written(tmp_path, traces):
    bad = tmp_path / "bad.csv"
    bad.write_text("no,trace\n")
    done = planned([*traces[1], bad], tmp_path / "all.part", "--workers", "1")
    assert done.returncode == USAGE
    assert f"alignctl: {bad}: unknown format" in done.stderr and "is not written" in done.stderr
    assert not (tmp_path / "all.part").exists()


def test_a_trace_whose_alignctl_is_killed_is_named_and_nothing_is_written(tmp_path, traces):
    killed = tmp_path / "alignctl"
    killed.write_text(f"#!/bin/sh\ncase $2 in\n*d3.csv) kill -9 $$ ;;\nesac\nexec {ALIGNCTL} \"$@\"\n")
    killed.chmod(0o755)
    done = planned(traces[1], tmp_path / "all.part", "--workers", "1", alignctl=killed)
    assert done.returncode == IO and "d3.csv: alignctl was ended by signal 9" in done.stderr
    assert not (tmp_path / "all.part").exists()


def test_a_trace_that_is_named_twice_is_planned_for_once_and_memory_is_that_of_all(tmp_path, traces):
    trace = tmp_path / "one.csv"
    trace.write_text("op,offset_sectors,sectors\nwrite,1,8\n")
    again = f"{tmp_path}/../{tmp_path.name}/./one.csv"
    done = planned([trace, again, *traces[1]], tmp_path / "all.part", "--workers", "1", "--memory", "1G")
    assert done.returncode == FINE and "8 disks" in done.stdout
    done = planned(traces[1], tmp_path / "all.part", "--workers", "1", "--memory", "1K")
    assert done.returncode == USAGE and "more than 1 KiB of memory" in done.stderr


def test_a_missing_alignctl_is_named(tmp_path, traces):
    done = planned(traces[1][:1], tmp_path / "all.part", "--workers", "1", alignctl="/missing/alignctl")
    assert done.returncode == IO and "/missing/alignctl: No such file" in done.stderr and "Traceback" not in done.stderr


def test_many_parts_are_put_together_in_groups(tmp_path, traces, monkeypatch):
    from align_reports import plan_cluster

    whole, apart = traces
    parts = []
    for trace in apart:
        parts.append(tmp_path / f"{trace.stem}.part")
        subprocess.run([ALIGNCTL, "plan", trace, "--partial", parts[-1]], check=True)
    monkeypatch.setattr(plan_cluster, "AT_ONCE", 2)
    assert plan_cluster.merge(str(ALIGNCTL), parts, "--memory", "1G", "--partial", str(tmp_path / "all.part")) == FINE
    assert (tmp_path / "all.part").read_bytes() == one_pass(tmp_path, whole)


def test_the_program_is_short_enough_to_read():
    assert len(PROGRAM.read_text().splitlines()) <= 150
