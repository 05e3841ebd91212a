# SPDX-License-Identifier: GPL-2.0
"""What alignctl's exit status says of a trace: 2 where its content is wrong, wherever that is, 3 where reading fails."""

import gzip
import os
import resource
import signal
import socket
import struct
from pathlib import Path

import pytest

from alignctl_program import alignctl

FINE, FINDINGS, USAGE, IO, BUSY = range(5)
TRACES = Path(__file__).with_name("samples")
VERBS = ["plan", "replay", "replay --scan", "convert"]
# A pipe is read once.
ONCE = ["plan", "replay --no-check", "convert"]


@pytest.fixture
def read(disk, tmp_path):
    """Has a verb read a trace."""
    def run(verb, trace, **options):
        name, *more = verb.split()
        arguments = {"plan": [trace], "replay": [trace, "--on", disk, "--wrap", *more],
                     "convert": [trace, "--output", tmp_path / "new"]}
        return alignctl(name, *arguments[name], **options)
    return run


def recording(folder):
    """Some 10000 bytes of requests, all in one chunk."""
    rows = "".join(f"{n * 99991},write,{n * n % 1000 * 512},{512 + n % 7 * 512},{n}\n" for n in range(1, 1500))
    (folder / "rows").write_text("time_ns,op,offset,bytes,pid\n" + rows)
    assert alignctl("convert", folder / "rows", "--output", folder / "recording").returncode == FINE
    return (folder / "recording").read_bytes()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("text", [
    "op,offset,length\n", "op,offset,bytes\ndance,0,512\n", "op,offset,bytes\nwrite,0,512\nwrite,0",
    "fio version 4 iolog\n", "fio version 3 iolog\n0 x dance\n", "fio version 2 iolog\nx",
    "  8,0    1        1     0.000000000   199  Q WS 800 + 8 [dd]\nhello\n"])
def test_a_malformed_trace_is_a_wrong_argument_in_any_line(tmp_path, read, verb, text):
    trace = tmp_path / "trace"
    trace.write_text(text)
    refused = read(verb, trace)
    assert refused.returncode == USAGE and f"{trace}: line " in refused.stderr, refused.stderr


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("length", [49, 300, 1001, -1])
@pytest.mark.parametrize("form", ["blktrace", "recording"])
def test_a_trace_that_is_cut_off_is_a_wrong_argument_wherever_it_ends(tmp_path, read, verb, length, form):
    whole = recording(tmp_path) if form == "recording" else (TRACES / "disk.merged").read_bytes()
    trace = tmp_path / "trace"
    trace.write_bytes(whole[:length])
    refused = read(verb, trace)
    assert refused.returncode == USAGE and f"{trace}: byte " in refused.stderr, refused.stderr


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("length", [20, 3000, 30000, -1])
@pytest.mark.parametrize("spoilt", [False, True])
def test_compressed_data_that_is_cut_off_or_damaged_is_a_wrong_argument_wherever_it_is(tmp_path, read, verb, length, spoilt):
    whole = LONG["columns in other order, gzip"]
    trace = tmp_path / "trace"
    trace.write_bytes(whole[:length] + (bytes(100) + whole[length + 100:] if spoilt else b""))
    refused = read(verb, trace)
    assert refused.returncode == USAGE and f"alignctl: {trace}: " in refused.stderr
    # damage may unpack to what is no trace, before the data turns out to be damaged
    assert spoilt or " of the gzip data: the file is truncated\n" in refused.stderr


def event(action, time=0, behind=0):
    """A record of blktrace, of 48 bytes."""
    return struct.pack("=IIQQIIIIIHH", 0x65617407, 0, time, 8, 512, action, 1, 8 << 20, 0, 0, behind)


NOTE, QUEUED, GIVEN = 1 << 26, 1 << 17 | 1, 1 << 17 | 7
# Longer than what is looked at to tell the format, which would be all that is read of it.
LONG = {
    "csv": b"op,offset,bytes\n" + 400 * b"write,0,512\n",
    "iolog, v2": b"fio version 2 iolog\nx add\n" + 400 * b"x write 0 512\n",
    "iolog, v3": b"fio version 3 iolog\n0 x add\n" + 400 * b"0 x write 0 512\n",
    "columns in other order, gzip": gzip.compress(b"bytes,op,offset\n" + b"".join(
        b"%d,write,%d\n" % (512 + n % 9 * 512, n * n * 7919 % 40009 * 512) for n in range(20000))),
    "alibaba": b"7,W,0,512,5\n" * 400,
    "mqsim": b"5 7 1 1 0\n" * 500,
    "blkreplay": b"start ; sector; length ; op\n" + b"0.5 ; 1 ; 1 ; W ; 0.0\n" * 400,
    "vscsi": b"".join(struct.pack("<IIIHHQQ", n, 512, 1, 0x2a, 1 << 8, n, n) for n in range(300)),
    "blkparse": (TRACES / "disk.blkparse").read_bytes()[:5000],
    "blktrace": (TRACES / "disk.merged").read_bytes()[:5000],
    "ftrace": b"dd-7 [000] ..... 1.000001: block_bio_queue: 8,0 W 1 + 8 [dd]\n" * 400,
    "blktrace, no event": 100 * event(NOTE),
    "blktrace, none queued": event(GIVEN) + 100 * event(NOTE),
    "blktrace, behind a queued one": event(QUEUED) + 100 * event(NOTE),
    "blktrace, in data": event(QUEUED) + event(NOTE, behind=60000) + bytes(5000),
}


def cut_by_an_error(read, verb, sent):
    """A socket whose other end has gone with something unread: ECONNRESET behind what was sent."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            ours.send(b"never read")
            theirs.send(sent)
        return read(verb, "-", stdin=ours)


def is_io_error(failed):
    return failed.returncode == IO and "cannot be read: Connection reset by peer" in failed.stderr and \
        "alignctl: standard input: byte " in failed.stderr


@pytest.mark.parametrize("verb", ONCE)
@pytest.mark.parametrize("form", LONG)
def test_a_trace_that_cannot_be_read_is_an_io_error(read, verb, form):
    failed = cut_by_an_error(read, verb, LONG[form])
    assert is_io_error(failed), failed
    failed = cut_by_an_error(read, verb, LONG[form][:60])
    assert is_io_error(failed), failed


@pytest.mark.parametrize("verb", ONCE)
@pytest.mark.parametrize("length", [100, 5000, None])
def test_a_recording_that_cannot_be_read_is_an_io_error(read, tmp_path, verb, length):
    failed = cut_by_an_error(read, verb, recording(tmp_path)[:length])
    assert is_io_error(failed), failed


@pytest.mark.parametrize("missing", [1, 20000])
def test_a_recording_whose_last_chunk_cannot_be_written_is_an_io_error(tmp_path, missing):
    """The header is written after that chunk, and it fits."""
    rows = "".join(f"{n * 99991},write,{n * 7919 % 2**20 * 512},{512 + n % 7 * 512}\n" for n in range(1, 15000))
    (tmp_path / "rows").write_text("time_ns,op,offset,bytes\n" + rows)

    def convert(name, **options):
        return alignctl("convert", tmp_path / "rows", "--output", tmp_path / name, **options)

    assert convert("whole").returncode == FINE
    size = (tmp_path / "whole").stat().st_size - missing
    assert size > 65536

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    assert convert("cut", preexec_fn=limit).returncode == IO
    assert not (tmp_path / "cut").exists()


def test_a_trace_that_was_changed_unseen_after_its_run_is_a_wrong_argument(tmp_path, disk):
    trace, state = tmp_path / "trace", tmp_path / "state"
    trace.write_text("op,offset,bytes\nwrite,0,512\nwrite,512,512\n")
    assert alignctl("replay", trace, "--on", disk, "--state", state).returncode == FINE
    was = trace.stat()
    trace.write_text(trace.read_text().replace("write,512", "dance,512"))
    os.utime(trace, ns=(was.st_atime_ns, was.st_mtime_ns))
    refused = alignctl("replay", "--check", state)
    assert refused.returncode == USAGE and "is no longer the trace that was replayed: request 2" in refused.stderr
