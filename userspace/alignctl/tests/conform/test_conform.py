# SPDX-License-Identifier: GPL-2.0
"""alignctl conform on a regular file: what it refuses, what it prints, and what its manual says of the document."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from alignctl_program import ALIGNCTL, alignctl
from lab.pace import patience

FINE, USAGE, IO, BUSY = 0, 2, 3, 4
MEBIBYTE = 1 << 20


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    with open(path, "wb") as opened:
        opened.truncate(8 * MEBIBYTE)
    return path


@pytest.mark.parametrize("options, words", [
    (["--block", "512"], "--block 512: must be a power of two from 1024 to 1048576"),
    (["--block", "3000"], "--block 3000: must be a power of two"),
    (["--block", "2M"], "--block 2M: must be a power of two"),
    (["--time", "0"], "--time 0: must be a whole number of seconds"),
    (["--rounds", "x"], "--rounds x: must be a whole number"),
    (["--depth", "65"], "--depth 65: must be a whole number from 1 to 64"),
    (["--seed", "-1"], "--seed -1: must be a whole number"),
    (["--method", "aio"], "--method aio: must be io_uring or sync"),
    (["--kind", "read/in-block"], "--kind read/in-block: must be two or three requests"),
    (["--kind", "read+whole/across"], "--kind read+whole/across: must be two or three requests"),
    (["--write", "1M"], "--write 1M: must be START+LENGTH"),
    (["--write", "0+512K"], "--write 0+512K: must be multiples of 4096, and at least 1M long"),
    (["--write", "0+16M"], "has 8388608 bytes; name an area in it"),
    (["--block", "1M"], "the area is too small"),
    (["--force", "/dev/null"], "--force names /dev/null"),
])
def test_what_makes_no_sense_is_refused_with_its_reason(file, options, words):
    done = alignctl("conform", file, *options)
    assert (done.returncode, done.stdout) == (USAGE, "") and words in done.stderr, done.stderr


def test_a_file_with_data_is_refused_unless_it_is_forced_or_saved(file, tmp_path):
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    refused = alignctl("conform", file, "--rounds", 20)
    assert refused.returncode == BUSY and f"--force {file}" in refused.stderr and file.read_bytes() == before
    saved = alignctl("conform", file, "--rounds", 20, "--save", tmp_path / "saved")
    assert saved.returncode == FINE and file.read_bytes() == before and os.listdir(tmp_path) == ["file"]
    (tmp_path / "saved").write_text("of an earlier run")
    again = alignctl("conform", file, "--rounds", 20, "--save", tmp_path / "saved")
    assert again.returncode == USAGE and "exists" in again.stderr and file.read_bytes() == before
    assert (tmp_path / "saved").read_text() == "of an earlier run"
    assert alignctl("conform", file, "--rounds", 20, "--force", file).returncode == FINE and file.read_bytes() != before


def test_the_saved_area_is_there_after_a_kill_and_its_place_is_told(file, tmp_path):
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    words = [str(word) for word in (ALIGNCTL, "conform", file, "--write", "2M+4M", "--save", tmp_path / "saved", "--time", 3600)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        limit = time.monotonic() + patience(30)
        while file.read_bytes() == before and time.monotonic() < limit:
            time.sleep(0.05)
        process.kill()
        told = process.stderr.read()
    assert file.read_bytes() != before, "conform writes nothing"
    start, end, command = re.search(r"bytes (\d+) to (\d+) are saved in .*; if this program is killed, restore them with: (.*)",
                                    told).groups()
    assert (int(start), int(end)) == (2 * MEBIBYTE, 6 * MEBIBYTE - 1)
    assert (tmp_path / "saved").read_bytes() == before[int(start):int(end) + 1]
    subprocess.run(command, shell=True, check=True, stderr=subprocess.DEVNULL, timeout=patience(30))
    assert file.read_bytes() == before


def test_a_saved_area_that_a_crash_of_the_machine_would_take_is_told(file, memory):
    """The device may take the machine down, and /tmp is in memory on many machines."""
    said = alignctl("conform", file, "--rounds", 20, "--save", memory / "saved")
    assert said.returncode == FINE
    assert f"--save {memory}/saved: is in this machine's memory, and lost if that crashes; name a file on a disk\n" in said.stderr


@pytest.mark.parametrize("instead", [None, b"of another program"])
def test_the_area_is_restored_although_the_name_of_the_saved_one_is_gone(file, tmp_path, instead):
    """Programs that clean up folders of temporary files go by the age of a file only."""
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    saved = tmp_path / "saved"
    words = [str(word) for word in (ALIGNCTL, "conform", file, "--save", saved, "--time", 3600)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        limit = time.monotonic() + patience(30)
        while file.read_bytes() == before and time.monotonic() < limit:
            time.sleep(0.05)
        saved.unlink()
        if instead:
            saved.write_bytes(instead)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=patience(30))
    assert process.returncode == -signal.SIGTERM and file.read_bytes() == before
    assert (saved.read_bytes() if saved.exists() else None) == instead


def hooked(hook, how):
    return {**os.environ, "LD_PRELOAD": str(hook), "REQUESTHOOK": how}


def test_an_error_that_nobody_reads_does_not_end_it_before_the_area_is_restored(file, tmp_path, requests_hook):
    """Its standard error may be a pipe whose reader has ended, as of 2>&1 | head."""
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    command = [ALIGNCTL, "conform", file, "--save", tmp_path / "saved", "--method", "sync", "--rounds", "1000"]
    done = alignctl(*command[1:], env=hooked(requests_hook, "fail-writes"))
    assert done.returncode == IO and "writing" in done.stderr and file.read_bytes() == before, done.stderr
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=hooked(requests_hook, "fail-writes")) as process:
        process.stderr.readline()
        process.stderr.close()
        assert process.wait(patience(30)) == IO
    assert file.read_bytes() == before and os.listdir(tmp_path) == ["file"]


def test_without_threads_nothing_is_written(file, tmp_path, requests_hook):
    before = os.urandom(8 * MEBIBYTE)
    file.write_bytes(before)
    done = alignctl("conform", file, "--save", tmp_path / "saved", "--rounds", 20, env=hooked(requests_hook, "no-thread"))
    assert done.returncode == IO and "cannot start a thread for requests" in done.stderr and file.read_bytes() == before


def test_the_text_and_the_document_say_the_same(file):
    text = alignctl("conform", file, "--rounds", 100, "--seed", 7)
    found = json.loads(alignctl("conform", file, "--rounds", 100, "--seed", 7, "--json").stdout)
    assert re.search(r"^rounds: 100 of 100 kinds in [\d.]+ s, seed 7; faulty: 0; fewer than 1 in 33 at 95 %, ", text.stdout, re.M)
    assert (found["rounds"], found["faulty"], found["fewer_than_one_in"], found["seed"]) == (100, 0, 33, 7)
    assert sum(kind["rounds"] for kind in found["kinds"]) == 100 and set(found["faults"].values()) == {0}


def test_one_kind_is_all_that_is_tried(file):
    found = json.loads(alignctl("conform", file, "--rounds", 50, "--kind", "sub-block+read/across", "--json").stdout)
    assert found["kinds"] == [{"kind": "sub-block+read/across", "rounds": 50, "faulty": 0, "fewer_than_one_in": 17}]


def test_the_area_ends_with_a_whole_block(file):
    options = ["--rounds", 5, "--block", "16K", "--depth", 4, "--write", "4K+1040K"]
    found = json.loads(alignctl("conform", file, *options, "--json").stdout)
    assert (found["start"], found["length"], found["block_size"]) == (16 << 10, 1 << 20, 16 << 10)


@pytest.mark.parametrize("method", ["io_uring", "sync"])
def test_a_method_is_the_only_one(file, method):
    found = json.loads(alignctl("conform", file, "--rounds", 50, "--method", method, "--json").stdout)
    assert found["methods"] == [{"method": method, "rounds": 50, "faulty": 0}]
    assert f", by {method}\n" in alignctl("conform", file, "--rounds", 10, "--method", method).stdout


def test_methods_take_turns_in_each_kind(file):
    found = json.loads(alignctl("conform", file, "--rounds", 20, "--kind", "sub-block+read/across", "--json").stdout)
    assert found["methods"] == [{"method": method, "rounds": 10, "faulty": 0} for method in ("io_uring", "sync")]
    assert ", by io_uring and sync\n" in alignctl("conform", file, "--rounds", 10).stdout


@pytest.mark.parametrize("kind", ["sub-block+discard/in-block", "discard+discard/across"])
def test_a_trim_that_is_done_late_is_no_fault(file, requests_hook, kind):
    """What a discarded block reads as may change until the block is written, as on drives without a deterministic trim."""
    done = alignctl("conform", file, "--rounds", 300, "--method", "sync", "--kind", kind, "--json",
                    env=hooked(requests_hook, "late-trim"))
    found = json.loads(done.stdout)
    assert done.returncode == FINE and (found["rounds"], found["faulty"]) == (300, 0), found["faults"]


def test_a_page_is_written_beside_the_text_and_of_the_same_run(file, tmp_path):
    done = alignctl("conform", file, "--rounds", 20, "--html", tmp_path / "page.html", "--json")
    assert done.returncode == FINE and json.loads(done.stdout)["rounds"] == 20, done.stderr
    text = (tmp_path / "page.html").read_text()
    assert f"Whether {file} keeps its word" in text and "None of 20 rounds had a fault" in text
    again = alignctl("conform", file, "--rounds", 30, "--force", file, "--html", tmp_path / "page.html")
    assert again.stdout.startswith(f"{file}: blocks of 4096 bytes")
    assert "None of 30 rounds" in (tmp_path / "page.html").read_text()


def test_a_page_that_cannot_be_written_is_refused_before_anything_is(file, tmp_path):
    (tmp_path / "mine").write_text("not a page")
    for html, words in ((tmp_path / "mine", "is not a report of alignctl"), (file, "which the runs need"),
                        (tmp_path / "no" / "page", "cannot create files in")):
        done = alignctl("conform", file, "--rounds", 20, "--html", html, "--save", tmp_path / "saved")
        assert (done.returncode, done.stdout) == (USAGE, "") and words in done.stderr, done.stderr
    assert not any(file.read_bytes()) and not (tmp_path / "saved").exists()


def members(value):
    if isinstance(value, dict):
        return set(value) | {name for each in value.values() for name in members(each)}
    return {name for each in value for name in members(each)} if isinstance(value, list) else set()
