# SPDX-License-Identifier: GPL-2.0
"""alignctl convert as its user meets it: usage, errors, what is written."""

import contextlib
import csv
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from alignctl_program import ALIGNCTL, alignctl, man_section
from lab.pace import Limit, patience

FINE, FINDINGS, USAGE, IO, BUSY = range(5)
TRACES = Path(__file__).parents[1] / "trace/samples"
ROWS = "time_ns,op,offset,bytes,flags\n0,write,512,4096,fua\n5,flush,,,\n"


@pytest.mark.parametrize("arguments, words", [
    ([], ["convert: needs IN..."]),
    (["{old}"], ["convert: --output FILE is needed"]),
    (["", "--output", "{new}"], ['SOURCE "": is empty; give a trace\'s path']),
    (["{old}", "--output", "-"], ['--output "-"', "must name a file, not standard output\n"]),
    (["{old}", "--output", "/dev/stdout"], ["/dev/stdout", "not overwritten; name another file"]),
    (["{old}", "--output", "{old}"], ["{old}", "not overwritten; remove it or name another file"]),
    (["{old}", "{new}", "--output", "{new}"], ["{old} and {new} do not belong to one blktrace", "one trace at a time"]),
    (["{old}", "--output", "{new}", "--to", "blktrace"], ["--to blktrace: must be recording, fio, csv or parquet"]),
    (["{old}", "--output", "{new}", "--from", "cvs"],
     ["--from cvs: must be recording, fio, blktrace, blkparse, csv, msr, ", "; did you mean 'csv'?"]),
    (["{old}", "--output", "{new}", "--from", "fio"], ["{old}: is in format csv, not fio"]),
    (["{old}", "--output", "{new}", "--seconds", "1"], ["unrecognized option '--seconds'"]),
    (["/none", "--output", "{new}"], ["/none", "No such file"]),
])
def test_a_wrong_use_is_named(tmp_path, arguments, words):
    (tmp_path / "old").write_text(ROWS)
    names = {"old": tmp_path / "old", "new": tmp_path / "new"}
    done = alignctl("convert", *(word.format(**names) for word in arguments), cwd=tmp_path)
    assert done.returncode == USAGE and not done.stdout
    for word in words:
        assert word.format(**names) in done.stderr
    assert os.listdir(tmp_path) == ["old"], "something was left behind"


def test_a_trace_is_converted_there_and_back(tmp_path):
    first, packed, second = tmp_path / "a.csv", tmp_path / "a.rec", tmp_path / "b.csv"
    first.write_text("time_ns,op,offset,bytes,flags,pid,comm\n"
                     "0,write,512,4096,,7,a b]c\n"
                     "5,flush,0,0,,7,a b]c\n"
                     "9,write-zeroes,8192,65536,,8,dd\n")
    assert alignctl("convert", first, "--output", packed).returncode == FINE
    assert alignctl("convert", packed, "--output", second, "--to", "csv").returncode == FINE
    with open(second, newline="") as file:
        named = list(csv.DictReader(file))
    assert [(row["time_ns"], row["op"], row["offset"], row["bytes"], row["pid"], row["comm"]) for row in named] == \
        [("0", "write", "512", "4096", "7", "a b]c"), ("5", "flush", "0", "0", "7", "a b]c"),
         ("9", "write-zeroes", "8192", "65536", "8", "dd")]


def test_names_of_processes_have_fifteen_characters(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("op,offset,bytes,comm\nwrite,0,512,0123456789abcdefgh\nwrite,0,512,0123456789abcde\n")
    assert alignctl("convert", first, "--output", second, "--to", "csv").returncode == FINE
    with open(second, newline="") as file:
        assert [row["comm"] for row in csv.DictReader(file)] == 2 * ["0123456789abcde"]
    assert re.search(r"\n\.I comm\nhas 15 bytes at most", man_section("alignctl-trace.5", "DESCRIPTION"))


def test_a_source_that_is_no_trace_leaves_no_file(tmp_path):
    (tmp_path / "text").write_text("once upon a time\n")
    done = alignctl("convert", tmp_path / "text", "--output", tmp_path / "new")
    assert done.returncode == USAGE and "text" in done.stderr
    assert os.listdir(tmp_path) == ["text"]


def test_a_recording_that_was_cut_short_is_not_written_over(tmp_path):
    (tmp_path / "t").write_text("op,offset,bytes\nwrite,0,4096\n")
    (tmp_path / "r.new").write_bytes(b"precious")
    failed = alignctl("convert", tmp_path / "t", "--output", tmp_path / "r")
    assert failed.returncode == USAGE and "r.new: exists" in failed.stderr and "maybe an unfinished recording" in failed.stderr
    assert (tmp_path / "r.new").read_bytes() == b"precious" and not (tmp_path / "r").exists()


def anothers(path):
    path.touch()
    os.chown(path, 65534, 65534)


@pytest.mark.parametrize("make", [
    os.mkfifo, lambda path: os.link(path.with_name("other"), path),
    pytest.param(anothers, marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user"))])
def test_no_trace_is_written_to_a_draft_that_another_user_may_have_made(make, tmp_path):
    (tmp_path / "t").write_text("op,offset,bytes\nwrite,0,4096\n")
    (tmp_path / "other").touch()
    make(tmp_path / "r.new")
    before = sorted(os.listdir(tmp_path))
    failed = alignctl("convert", tmp_path / "t", "--output", tmp_path / "r")
    assert failed.returncode in (USAGE, IO) and not (tmp_path / "other").stat().st_size
    assert sorted(os.listdir(tmp_path)) == before


@contextlib.contextmanager
def half_converted(folder, form):
    """Yield a conversion that waits for the rest of its input, with its draft in the folder."""
    source, end = os.pipe()
    with open(end, "w") as text, subprocess.Popen(
            [ALIGNCTL, "convert", "-", "--output", folder / "new", "--to", form], stdin=source, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True) as running:
        os.close(source)
        text.write("op,offset,bytes\n" + "write,0,512\n" * 20000)
        text.flush()
        limit = Limit(30)
        while not (folder / "new.new").exists():
            assert running.poll() is None and not limit.over()
            time.sleep(0.01)
        yield running


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("form", ["recording", "parquet"])
def test_a_signal_ends_a_conversion_and_leaves_no_draft(tmp_path, form, number):
    with half_converted(tmp_path, form) as running:
        running.send_signal(number)
        said = running.communicate(timeout=patience(30))
    assert (running.returncode, said, os.listdir(tmp_path)) == (-number, ("", ""), [])


def test_a_file_that_was_made_meanwhile_is_not_overwritten(tmp_path):
    source, end = os.pipe()
    with open(end, "w") as text, subprocess.Popen([ALIGNCTL, "convert", "-", "--output", tmp_path / "new"], stdin=source,
                                                  stderr=subprocess.PIPE, text=True) as running:
        os.close(source)
        text.write("op,offset,bytes\n" + "write,0,512\n" * 20000)
        text.flush()
        limit = Limit(30)
        while not (tmp_path / "new.new").exists():
            assert running.poll() is None and not limit.over()
            time.sleep(0.01)
        (tmp_path / "new").write_text("precious")
        text.close()
        said = running.communicate(timeout=patience(30))[1]
    assert (running.returncode, said) == (BUSY, f"alignctl: {tmp_path}/new: has been made meanwhile, and is not overwritten; "
                                                f"the whole trace is {tmp_path}/new.new, rename it\n")
    assert (tmp_path / "new").read_text() == "precious"
    again = alignctl("convert", tmp_path / "new.new", "--output", tmp_path / "again", "--to", "csv")
    assert again.returncode == FINE and len((tmp_path / "again").read_text().splitlines()) == 20001


def test_what_a_killed_conversion_leaves_is_named_with_the_way_out(tmp_path):
    with half_converted(tmp_path, "parquet") as running:
        running.kill()
    (tmp_path / "t").write_text("op,offset,bytes\nwrite,0,4096\n")
    draft = tmp_path / "new.new"
    again = alignctl("convert", tmp_path / "t", "--output", tmp_path / "new", "--to", "parquet")
    assert again.returncode == USAGE
    assert again.stderr == f"alignctl: {draft}: exists, maybe an unfinished recording or conversion; rename or remove it\n"
    draft.unlink()
    assert os.listdir(tmp_path) == ["t"]


@pytest.mark.parametrize("form", ["recording", "fio", "csv"])
def test_a_trace_that_is_written_is_read_as_what_it_was_written_as(tmp_path, form):
    (tmp_path / "rows").write_text(ROWS)
    assert alignctl("convert", tmp_path / "rows", "--output", tmp_path / "new", "--to", form).returncode == FINE
    again = alignctl("convert", "-", "--from", form, "--output", tmp_path / "again", "--to", "csv",
                     stdin=(tmp_path / "new").open("rb"))
    assert again.returncode == FINE and not again.stdout, again.stderr
    assert [row["op"] for row in csv.DictReader((tmp_path / "again").open(newline=""))] == ["write", "flush"]


def test_the_document_says_what_was_written_and_what_could_not_be_expressed(tmp_path):
    (tmp_path / "rows").write_text(ROWS)
    done = alignctl("convert", tmp_path / "rows", "--output", tmp_path / "new", "--to", "fio", "--json")
    assert done.returncode == FINE and "format fio cannot express FUA: 1 requests" in done.stderr
    document = json.loads(done.stdout)
    assert (document["source"], document["source_format"]) == (str(tmp_path / "rows"), "csv")
    assert (document["output"], document["output_format"]) == (str(tmp_path / "new"), "fio")
    assert (document["requests"], document["lost"], document["left_out"]) == (2, 0, 0)
    assert {name: (op["count"], op["bytes"]) for name, op in document["operations"].items() if op["count"]} == \
        {"write": (1, 4096), "flush": (1, 0)}
    assert document["not_expressed"] == {"fua": 1, "preflush": 0, "write_zeroes": 0, "process": 0, "line_end": 0}


def test_what_is_left_out_is_counted(tmp_path):
    (tmp_path / "log").write_text("fio version 3 iolog\n0 f add\n0 f open\n0 f sync_file_range 0 512\n0 f write 0 512\n")
    done = alignctl("convert", tmp_path / "log", "--output", tmp_path / "new", "--json")
    assert done.returncode == FINE, done.stderr
    document = json.loads(done.stdout)
    assert (document["source_format"], document["requests"], document["left_out"]) == ("fio iolog v3", 1, 1)
    assert {why: nr for why, nr in document["left_out_by_reason"].items() if nr} == {"sync_file_range": 1}


def test_a_recording_keeps_what_the_text_of_a_trace_says_is_lost(tmp_path):
    """Of which a part comes behind the first request."""
    (tmp_path / "text").write_text("CPU:1 [LOST 23 EVENTS]\ndd-7  [000] ..... 1.000001: block_bio_queue: 8,0 W 8 + 8 [dd]\n"
                                   "CPU:0 [LOST 5 EVENTS]\ndd-7  [000] ..... 1.000002: block_bio_queue: 8,0 N 8 + 8 [dd]\n")
    done = alignctl("convert", tmp_path / "text", "--output", tmp_path / "new", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["requests"], document["lost"]) == (FINE, 1, 28), done.stderr
    assert {why: nr for why, nr in document["left_out_by_reason"].items() if nr} == {"other_command": 1}
    assert f"{tmp_path / 'text'}: incomplete: 28 events were lost, first at line 1; trace with a larger buffer\n" in done.stderr
    assert "incomplete: 28 requests were lost while recording" in alignctl("plan", tmp_path / "new").stderr


def test_the_files_of_a_blktrace_are_one_trace(tmp_path):
    """As the shell writes disk.blktrace.* out."""
    for file in TRACES.glob("disk.blktrace.*"):
        shutil.copy(file, tmp_path)
    members = sorted(tmp_path.iterdir())
    assert len(members) > 1
    # beside them, the same ones compressed
    packed = [member.with_name(f"{member.name}.gz") for member in members]
    for member, file in zip(members, packed, strict=True):
        file.write_bytes(gzip.compress(member.read_bytes()))
    documents = [json.loads(alignctl("convert", *sources, "--output", tmp_path / f"new{number}", "--json").stdout)
                 for number, sources in enumerate([members, members[:1], packed, packed[1:], [tmp_path / "disk"]])]
    assert documents[0]["requests"] > 10 and all(one["operations"] == documents[0]["operations"] for one in documents)
    mixed = alignctl("convert", members[0], packed[1], "--output", tmp_path / "new")
    assert mixed.returncode == USAGE and "do not belong to one blktrace" in mixed.stderr
    other = shutil.copy(members[0], tmp_path / "other.blktrace.0")
    refused = alignctl("convert", members[0], other, "--output", tmp_path / "new")
    assert refused.returncode == USAGE and "do not belong to one blktrace" in refused.stderr
