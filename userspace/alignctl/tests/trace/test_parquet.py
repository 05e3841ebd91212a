# SPDX-License-Identifier: GPL-2.0
"""Traces in Parquet: what is written comes back, is laid out as traces.rst says, and is refused by name where it is wrong."""

import csv
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import duckdb
import pytest

from align_reports.parquet import layout
from align_reports.parquet.read import header as header_of
from alignctl_program import ALIGNCTL, alignctl
from lab.pace import Limit, patience, tries

FINE, FINDINGS, USAGE, IO, BUSY = range(5)
TRACES = Path(__file__).with_name("samples")
SAMPLES = sorted(path.name for path in TRACES.iterdir() if path.name != "README" and not path.name.endswith(".1"))
# All operations and flags, requests at equal times, the first one late, and the last byte of any file.
ALL = """time_ns,op,offset,bytes,flags
7,write,512,4096,fua
7,read,0,512,
7,flush,0,0,
8,discard,0,4294967295,
9,write-zeroes,8192,65536,preflush+fua
9,write,9223372036854771711,4096,preflush
"""
NAMED = ("/dev/mapper/a b", "x=1&y", "50%25", "__HIVE_DEFAULT_PARTITION__", "..", "é", "-~")
REQUIRED = {f"block_trace.{key}": value for key, value in {
    "layout": "1", "source": "by hand", "licence": "CC0-1.0", "time_unit": "ns", "offset_unit": "byte", "length_unit": "byte",
    "epoch": "start", "op": layout.OP}.items()}


@pytest.fixture(autouse=True)
def python(monkeypatch):
    """Let alignctl run this Python, which has duckdb."""
    monkeypatch.setenv("ALIGNCTL_PYTHON", sys.executable)


def requests(path):
    """What the columns of the layout have of a trace in CSV, by its files."""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["file"], []).append(tuple(row[key] for key in ("time_ns", "op", "offset", "bytes", "flags")))
    return found


def convert(source, output, form):
    done = alignctl("convert", source, "--output", output, "--to", form)
    assert done.returncode == FINE, done.stderr
    return output


def parts(folder):
    return sorted(folder.glob("volume=*/part.parquet"))


def back(folder, tmp_path):
    """The requests of all parts: of the first one as alignctl reads it, of the others as the layout means them."""
    first, *others = parts(folder)
    found = requests(convert(first, tmp_path / "back", "csv"))
    ops = ("read", "write", "flush", "discard", "write-zeroes")
    for part in others:
        name = layout.decoded(metadata(part)["block_trace.volume"]).decode()
        found[name] = [(str(ts), ops[op & 15], str(offset), str(length), "+".join(["preflush"][:op >> 4 & 1] + ["fua"][:op >> 5]))
                       for ts, _, op, offset, length in duckdb.read_parquet(str(part), hive_partitioning=False).fetchall()]
    return found


def metadata(part):
    return {key.decode(): value.decode() for key, value in
            duckdb.execute("SELECT key, value FROM parquet_kv_metadata(?)", [str(part)]).fetchall()}


def kept(keys):
    """Metadata as SQL has it."""
    return "{" + ", ".join(f"'{key}': '{text}'" for key, text in keys.items()) + "}"


def write(path, rows, keys=REQUIRED, types=layout.COLUMNS):
    """Write rows of the columns that `types` names as a file in Parquet, with that metadata."""
    values = ", ".join(f"({', '.join('NULL' if value is None else str(value) for value in row)})" for row in rows)
    columns = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in types.items())
    duckdb.execute(f"COPY (SELECT {columns} FROM (VALUES {values}) AS row({', '.join(types)})) TO '{path}' "
                   f"(FORMAT parquet, KV_METADATA {kept(keys)})")
    return path


@pytest.mark.parametrize("name", SAMPLES)
def test_a_trace_of_any_format_comes_back_from_parquet(tmp_path, name):
    expected = requests(convert(TRACES / name, tmp_path / "csv", "csv"))
    folder = convert(TRACES / name, tmp_path / "folder", "parquet")
    assert sum(map(len, expected.values())) > 0 and back(folder, tmp_path) == expected


def test_all_operations_flags_and_times_come_back(tmp_path):
    (tmp_path / "all").write_text(ALL)
    folder = convert(tmp_path / "all", tmp_path / "folder", "parquet")
    expected = requests(convert(tmp_path / "all", tmp_path / "csv", "csv"))
    assert back(folder, tmp_path) == expected and len(expected[""]) == 6
    assert [part.relative_to(folder).as_posix() for part in parts(folder)] == ["volume=__HIVE_DEFAULT_PARTITION__/part.parquet"]
    assert "block_trace.volume" not in metadata(parts(folder)[0])


def test_a_part_has_the_columns_the_order_and_the_metadata_of_the_layout(tmp_path):
    (tmp_path / "all").write_text(ALL)
    [part] = parts(convert(tmp_path / "all", tmp_path / "folder", "parquet"))
    described = duckdb.execute(f"DESCRIBE SELECT * FROM read_parquet('{part}', hive_partitioning = false)").fetchall()
    assert [row[:2] for row in described] == [("ts_ns", "BIGINT"), ("seq", "BIGINT"), ("op", "UTINYINT"),
                                              ("offset_bytes", "UBIGINT"), ("len_bytes", "UINTEGER")]
    assert duckdb.read_parquet(str(part), hive_partitioning=False).fetchall() == [
        (7, 0, 1 + 32, 512, 4096), (7, 1, 0, 0, 512), (7, 2, 2, 0, 0), (8, 3, 3, 0, 2**32 - 1), (9, 4, 4 + 16 + 32, 8192, 65536),
        (9, 5, 1 + 16, 2**63 - 4097, 4096)]
    assert duckdb.execute("SELECT DISTINCT compression FROM parquet_metadata(?)", [str(part)]).fetchall() == [("ZSTD",)]
    assert metadata(part) == {**REQUIRED, "block_trace.rows": "6",
                              "block_trace.sums": f"47 15 107 {2**63 - 4097 + 8192 + 512} {4096 * 2 + 512 + 65536 + 2**32 - 1}",
                              "block_trace.source": "alignctl convert, of a trace in format csv",
                              "block_trace.licence": "unknown", "block_trace.time_unit": "unknown",
                              "block_trace.offset_unit": "unknown", "block_trace.length_unit": "unknown"}


def test_metadata_tells_units_and_what_a_recording_knows_of_its_device(tmp_path):
    [part, *_] = parts(convert(TRACES / "tencent.csv", tmp_path / "folder", "parquet"))
    found = metadata(part)
    assert (found["block_trace.time_unit"], found["block_trace.offset_unit"], found["block_trace.length_unit"]) == \
        ("s", "512 bytes", "512 bytes")
    device = {"device": "dm-0", "logical_block_bytes": "512", "physical_block_bytes": "8192",
              "alignment_offset_bytes": "3584", "lost": "3", "start_ns": "1577808000000000000"}
    write(tmp_path / "known", [(5, 0, 1, 512, 8192)], REQUIRED | {f"block_trace.{key}": text for key, text in device.items()})
    convert(tmp_path / "known", tmp_path / "recording", "recording")
    [again] = parts(convert(tmp_path / "recording", tmp_path / "again", "parquet"))
    assert device.items() <= {key.removeprefix("block_trace."): text for key, text in metadata(again).items()}.items()
    planned = json.loads(alignctl("plan", tmp_path / "known", "--touches-only", "--json").stdout)
    assert (planned["physical_block_size"], planned["alignment_offset"]) == (8192, 3584)


def test_a_trace_without_times_has_none_afterwards(tmp_path):
    (tmp_path / "rows").write_text("op,offset,bytes\nwrite,512,4096\nwrite,0,512\n")
    [part] = parts(convert(tmp_path / "rows", tmp_path / "folder", "parquet"))
    assert metadata(part)["block_trace.epoch"] == "none"
    first, second = (json.loads(alignctl("plan", path, "--touches-only", "--json").stdout) for path in (tmp_path / "rows", part))
    for document in (first, second):
        del document["source"], document["source_format"]
    assert first == second


def test_names_of_volumes_are_safe_as_folders_and_come_back(tmp_path):
    rows = "".join(f'{number},write,{number * 512},512,"{name}"\n' for number, name in enumerate(NAMED))
    (tmp_path / "rows").write_text("time_ns,op,offset,bytes,file\n" + rows)
    folder = convert(tmp_path / "rows", tmp_path / "folder", "parquet")
    assert {path.name for path in folder.iterdir()} == {
        "volume=%2Fdev%2Fmapper%2Fa%20b", "volume=x%3D1%26y", "volume=50%2525", "volume=%5F_HIVE_DEFAULT_PARTITION__",
        "volume=..", "volume=%C3%A9", "volume=-%7E"}
    assert {layout.decoded(metadata(part)["block_trace.volume"]).decode() for part in parts(folder)} == set(NAMED)
    assert back(folder, tmp_path) == requests(convert(tmp_path / "rows", tmp_path / "csv", "csv"))
    # and DuckDB itself reads them so
    named = duckdb.execute(f"SELECT volume FROM read_parquet('{folder}/*/*.parquet', hive_types = {{'volume': VARCHAR}})")
    assert {row[0] for row in named.fetchall()} == set(NAMED)


def test_a_name_of_bytes_that_are_no_text_comes_back(tmp_path):
    (tmp_path / "rows").write_bytes(b"op,offset,bytes,file\nwrite,0,512,a\xffb\n")
    folder = convert(tmp_path / "rows", tmp_path / "folder", "parquet")
    assert [path.name for path in folder.iterdir()] == ["volume=a%FFb"]
    name = b"a\xffb".decode(errors="surrogateescape")
    assert alignctl("plan", parts(folder)[0], "--touches-only", "--disk", name).returncode == FINE


def test_plan_and_replay_say_of_a_part_what_they_say_of_its_source(tmp_path, disk):
    part, *_ = parts(convert(TRACES / "alibaba.csv", tmp_path / "folder", "parquet"))
    name = part.parent.name.removeprefix("volume=")
    for verb in (["plan"], ["replay", "--on", disk, "--wrap", "--dry-run"]):
        documents = [json.loads(alignctl(*verb, *source, "--json").stdout)
                     for source in ([part, "--from", "parquet"], [TRACES / "alibaba.csv", "--disk", name])]
        for document in documents:
            # of one disk alone, times begin with its own first request
            for key in ("source", "source_format", "left_out", "left_out_by_reason", "seconds"):
                document.pop(key, None)
        assert documents[0] == documents[1]
    assert "is in format parquet, not csv" in alignctl("plan", part, "--from", "csv").stderr


def test_times_since_1970_begin_at_the_first_request(tmp_path):
    write(tmp_path / "part", [(1577808000000626000, 3, 1, 0, 512), (1577808000000627000, 9, 1, 512, 512)],
          REQUIRED | {"block_trace.epoch": "unix", "block_trace.volume": "a%2Fb"})
    found = requests(convert(tmp_path / "part", tmp_path / "csv", "csv"))
    assert found == {"a/b": [("0", "write", "0", "512", ""), ("1000", "write", "512", "512", "")]}


def test_rows_without_a_length_make_no_request_and_are_counted(tmp_path):
    write(tmp_path / "part", [(0, 0, 1, 512, 512), (1, 1, 1, 512, 0), (2, 2, 2, 0, 0)])
    done = alignctl("plan", tmp_path / "part", "--touches-only")
    assert done.returncode == FINE and "entries left out: 1 (length is 0)" in done.stderr


def test_other_columns_are_ignored_by_their_names(tmp_path):
    write(tmp_path / "part", [(0, 0, 1, 512, 512, 5, 6)], types={**layout.COLUMNS, "latency": "BIGINT", "queue": "BIGINT"})
    done = alignctl("plan", tmp_path / "part", "--touches-only")
    assert done.returncode == FINE and "columns ignored: latency, queue" in done.stderr


GOOD = (0, 0, 1, 512, 512)
WITHOUT_OP = {name: kind for name, kind in layout.COLUMNS.items() if name != "op"}


def child(tmp_path, monkeypatch, text):
    """Let alignctl run a program of ours in place of Python."""
    (tmp_path / "python").write_text("#!/bin/sh\n" + text)
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setenv("ALIGNCTL_PYTHON", str(tmp_path / "python"))


def told(changed):
    """The metadata with some keys changed, or missing."""
    return {key: text for key, text in (REQUIRED | {f"block_trace.{key}": text for key, text in changed.items()}).items() if text}


@pytest.mark.parametrize("value, words", [
    ((1, 1, None, 512, 512), ["row 2: op is null; every row has a number"]),
    ((-5, 1, 1, 512, 512), ["row 2: ts_ns -5 is negative"]),
    ((0, 1, 1, 2**63, 512), [f"row 2: offset_bytes {2**63}, len_bytes 512 end beyond byte {2**63 - 1}"]),
])
def test_what_duckdb_writes_of_a_wrong_row_is_refused_by_its_value(tmp_path, value, words):
    part = write(tmp_path / "part", [GOOD, value])
    refused = alignctl("plan", part)
    assert (refused.returncode, refused.stdout) == (USAGE, ""), refused.stderr
    [message] = refused.stderr.splitlines()
    for word in (f"alignctl: {part}: ", *words):
        assert word in message


@pytest.mark.parametrize("rows, header, words", [
    (["0,0,1,512,"], {}, "row 1: len_bytes is null; every row has a number"),
    (["0,-1,1,512,512"], {}, "row 1: seq -1 is negative"),
    (["0,0,256,512,512"], {}, 'row 1: op "256": is no number up to 255'),
    (["0,0,1,512"], {}, 'row 1: offset_bytes "512": is no number up to'),
    (["9,0,1,512,512", "8,1,1,512,512"], {},
     "row 2: ts_ns 8, seq 1 do not follow 9, 0 of the row before; sort the file by (ts_ns, seq)"),
    (["9,1,1,512,512", "9,0,1,512,512"], {}, "row 2: ts_ns 9, seq 0 do not follow 9, 1"),
    (["0,0,1,512,512", "0,0,1,512,512"], {}, "row 2: ts_ns 0, seq 0 do not follow 0, 0"),
    ([f"0,0,1,{2**63 - 511},512"], {}, f"row 1: offset_bytes {2**63 - 511}, len_bytes 512 end beyond byte {2**63 - 1}"),
    (["0,0,5,512,512"], {}, "row 1: op 5 is none of layout 1: 0 to 4, with 16 (preflush) and 32 (FUA)"),
    (["0,0,65,512,512"], {}, "row 1: op 65 is none of layout 1"),
    (["0,0,2,512,0"], {}, "row 1: offset_bytes 512, len_bytes 0 of a flush (op 2), which has 0 and 0"),
    (["3,0,1,512,512"], {"timed": False}, "row 1: ts_ns 3 in a file whose epoch is none"),
    (["0,0,1,512,0"], {"all_requests": True}, "row 1: len_bytes 0 is below the least one of the file's statistics"),
    (["0,0,1,512,512"], {"sums": [0, 0, 1, 512, 513]},
     ": the sum of column len_bytes is 512, and 513 in its metadata; the file is damaged"),
])
def test_a_row_that_breaks_the_layout_is_refused_by_its_value(tmp_path, monkeypatch, rows, header, words):
    text = "\n".join([json.dumps({"rows": len(rows), "timed": True} | header), *rows, f"end,{len(rows)}"])
    child(tmp_path, monkeypatch, f"cat <<'EOF'\n{text}\nEOF\n")
    (tmp_path / "part").write_text("PAR1")
    refused = alignctl("plan", tmp_path / "part")
    assert (refused.returncode, refused.stdout) == (USAGE, ""), refused.stderr
    [message] = refused.stderr.splitlines()
    assert message.startswith(f"alignctl: {tmp_path / 'part'}: ") and words in message


@pytest.mark.parametrize("rows, keys, types, words", [
    ([(0, 0, 512, 512)], {}, WITHOUT_OP, ["has no column op;"]),
    ([GOOD], {}, {**layout.COLUMNS, "offset_bytes": "BIGINT"},
     ["column offset_bytes has type BIGINT, not UBIGINT", "CAST(offset_bytes AS UBIGINT)"]),
    ([GOOD], {"layout": None}, None, ["has no block_trace.layout in its metadata"]),
    ([GOOD], {"licence": None}, None, ["has no block_trace.licence in its metadata"]),
    ([GOOD], {"layout": "2"}, None, ["block_trace.layout is '2', and this program reads layout 1; update it"]),
    ([GOOD], {"epoch": "1601"}, None, ["block_trace.epoch is '1601', not unix, start or none"]),
    ([GOOD], {"rows": "2"}, None, ["has 1 rows, and block_trace.rows is '2'"]),
    ([GOOD], {"sums": "0 0 1 512"}, None, ["block_trace.sums is '0 0 1 512', not 5 numbers of 64 bits"]),
    ([GOOD], {"lost": "-1"}, None, ["block_trace.lost is '-1', no number of 64 bits"]),
    ([GOOD], {"physical_block_bytes": str(2**32)}, None,
     [f"block_trace.physical_block_bytes is '{2**32}', no number of 32 bits"]),
    ([GOOD], {"volume": "a/b"}, None, ["block_trace.volume is 'a/b', with characters that are not percent-encoded"]),
], ids=lambda value: value[0][:30] if isinstance(value, list) and isinstance(value[0], str) else "")
def test_columns_and_metadata_that_break_the_layout_are_refused_by_their_values(tmp_path, rows, keys, types, words):
    part = write(tmp_path / "part", rows, told(keys), types or layout.COLUMNS)
    with pytest.raises(layout.Refused) as refused:
        header_of(duckdb.connect(), str(part))
    for word in words:
        assert word in str(refused.value)


def test_what_python_refuses_alignctl_says_of_the_file(tmp_path):
    part = write(tmp_path / "part", [GOOD], told({"layout": "2"}))
    refused = alignctl("plan", part)
    assert refused.returncode == USAGE
    assert refused.stderr == f"alignctl: {part}: block_trace.layout is '2', and this program reads layout 1; update it\n"


@pytest.mark.parametrize("length", [4, 100, 0.5, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path, length):
    whole = write(tmp_path / "whole", [(n, n, 1, n * 512, 512) for n in range(2000)]).read_bytes()
    (tmp_path / "part").write_bytes(whole[:int(len(whole) * length) if isinstance(length, float) else length])
    refused = alignctl("convert", tmp_path / "part", "--output", tmp_path / "new")
    assert refused.returncode == USAGE and f"alignctl: {tmp_path / 'part'}: " in refused.stderr
    assert len(refused.stderr.splitlines()) == 1 and "the file is damaged" in refused.stderr, refused.stderr
    assert "/dev/stdin" not in refused.stderr and not (tmp_path / "new").exists()


def test_damage_that_no_page_shows_is_found_by_the_sums_and_nothing_is_written(tmp_path):
    rows = "".join(f"write,{n * n * 7919 % 99991 * 512},512\n" for n in range(3000))
    (tmp_path / "rows").write_text("op,offset,bytes\n" + rows)
    [part] = parts(convert(tmp_path / "rows", tmp_path / "folder", "parquet"))
    whole = part.read_bytes()
    [(at, length)] = duckdb.execute("SELECT data_page_offset, total_compressed_size FROM parquet_metadata(?) "
                                    "WHERE path_in_schema = 'offset_bytes'", [str(part)]).fetchall()
    results = set()
    for place in range(at + 60, at + length, length // 4):
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
        refused = alignctl("convert", part, "--output", tmp_path / "new", "--to", "csv")
        assert refused.returncode == USAGE and f"alignctl: {part}: " in refused.stderr, (place, refused)
        assert "the file is damaged; fetch it again, or write it anew" in refused.stderr and not (tmp_path / "new").exists()
        results.add("sum of column offset_bytes" in refused.stderr)
    assert True in results, "no such damage"


HEADER = '{"rows": 9, "timed": true}'


@pytest.mark.parametrize("text, words", [
    (f"echo '{HEADER}'; echo 0,0,1,512,512; kill -9 $$\n", ["was ended by signal 9 (Killed)"]),
    (f"echo '{HEADER}'; printf 0,0,1,5; echo no space >&2; exit 3\n", [": no space\n"]),
    (f"echo '{HEADER}'; echo 0,0,1,512,512\n", ["has not written all rows"]),
    (f"echo '{HEADER}'; echo 0,0,1,512,512; echo end,1\n", ["has 9 rows by its index, and 1 were read"]),
    (f"echo '{HEADER}'; echo 0,0,1,512,512; echo end,9\n", ["has 9 rows by its index, and 1 were read"]),
    ("echo hello\n", ['says "hello" for the metadata']),
    ("exit 5\n", ["ended with status 5 and no word"]),
])
def test_a_child_that_fails_ends_the_trace_with_an_error(tmp_path, monkeypatch, text, words):
    part = write(tmp_path / "part", [GOOD])
    child(tmp_path, monkeypatch, text)
    failed = alignctl("convert", part, "--output", tmp_path / "new")
    assert failed.returncode == IO and not (tmp_path / "new").exists()
    for word in (f"alignctl: {part}: ", *words):
        assert word in failed.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_duckdb_writes_leaves_nothing(tmp_path, number):
    """Not even when alignctl alone gets it, as of kill, and DuckDB has a folder of its own."""
    source = tmp_path / "rows"
    duckdb.execute(f"COPY (SELECT 'write' AS op, hash(range) % 1048576 * 512 AS \"offset\", 512 AS bytes FROM range(1000000)) "
                   f"TO '{source}' (FORMAT csv)")
    for _ in tries("DuckDB has written all before the signal"):
        with subprocess.Popen([ALIGNCTL, "convert", source, "--output", tmp_path / "new", "--to", "parquet"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            limit = Limit(60)
            while not list(tmp_path.glob(".new.*/scratch.duckdb")) and running.poll() is None:
                assert not limit.over()
                time.sleep(0.01)
            running.send_signal(number)
            said = running.communicate(timeout=patience(60))
        if running.returncode != FINE:
            break
        shutil.rmtree(tmp_path / "new")
    assert (running.returncode, said, os.listdir(tmp_path)) == (-number, ("", ""), ["rows"])


def test_a_folder_that_is_complete_when_a_signal_comes_stays(tmp_path, monkeypatch):
    """DuckDB's program ends by itself then."""
    child(tmp_path, monkeypatch, f"""trap 'touch {tmp_path}/seen' TERM
                                     {sys.executable} "$@"
                                     touch {tmp_path}/written
                                     while [ ! -e {tmp_path}/seen ] && kill -0 $PPID; do sleep 0.01; done\n""")
    (tmp_path / "rows").write_text("op,offset,bytes\nwrite,0,512\n")
    with subprocess.Popen([ALIGNCTL, "convert", tmp_path / "rows", "--output", tmp_path / "new", "--to", "parquet"]) as running:
        limit = Limit(60)
        while not (tmp_path / "written").exists():
            assert running.poll() is None and not limit.over()
            time.sleep(0.01)
        running.terminate()
        assert running.wait(patience(60)) == -signal.SIGTERM
    monkeypatch.setenv("ALIGNCTL_PYTHON", sys.executable)
    assert alignctl("plan", *parts(tmp_path / "new")).returncode == FINE and not (tmp_path / "new.new").exists()
    again = alignctl("convert", tmp_path / "rows", "--output", tmp_path / "new", "--to", "parquet")
    assert again.returncode == USAGE and "new: exists and is not overwritten; name another file" in again.stderr
    assert alignctl("plan", *parts(tmp_path / "new")).returncode == FINE


@pytest.mark.parametrize("folder", ["", "/none"])
def test_what_is_read_many_times_is_kept_after_the_second(tmp_path, monkeypatch, folder):
    """And without room for that, read again each time: more places than plan counts at once take three passes."""
    part = tmp_path / "part"
    duckdb.execute(f"""COPY (SELECT range::BIGINT AS ts_ns, range::BIGINT AS seq, 1::UTINYINT AS op, 1536::UINTEGER AS len_bytes,
                                    (hash(range) % 1048576 * 8388608)::UBIGINT AS offset_bytes FROM range(200000))
                       TO '{part}' (FORMAT parquet, KV_METADATA {kept(REQUIRED)})""")
    convert(part, tmp_path / "recording", "recording")
    child(tmp_path, monkeypatch, f'echo >>{tmp_path / "started"}; exec {sys.executable} "$@"\n')
    monkeypatch.setenv("TMPDIR", folder or str(tmp_path))
    found = []
    for source in (part, tmp_path / "recording"):
        planned = json.loads(alignctl("plan", source, "--json").stdout)
        found.append({key: value for key, value in planned.items() if key not in ("source", "source_format")})
    started = (tmp_path / "started").read_text().count("\n")
    assert found[0] == found[1] and (started > 2 if folder else started == 2), started
    assert sorted(os.listdir(tmp_path)) == ["part", "python", "recording", "started"]


def test_what_is_missing_is_named_with_the_way_to_get_it(tmp_path, monkeypatch):
    part = write(tmp_path / "part", [GOOD])
    (tmp_path / "rows").write_text(ALL)
    child(tmp_path, monkeypatch, f'exec {sys.executable} -I -S "$@"\n')
    for arguments, name in ((["plan", part], part), (["convert", tmp_path / "rows", "--to", "parquet", "--output",
                                                      tmp_path / "new"], tmp_path / "new")):
        failed = alignctl(*arguments)
        assert failed.returncode == IO and failed.stderr.startswith(f"alignctl: {name}: "), failed.stderr
        assert "needs the Python library duckdb, which" in failed.stderr and "pip install duckdb" in failed.stderr
    monkeypatch.setenv("ALIGNCTL_PYTHON", "/none/python3")
    failed = alignctl("plan", part)
    assert failed.returncode == IO
    assert f"{part}: /none/python3: No such file or directory; ALIGNCTL_PYTHON names it" in failed.stderr
    assert sorted(os.listdir(tmp_path)) == ["part", "python", "rows"]


@pytest.mark.parametrize("there", [True, False])
def test_the_systems_python_is_tried_after_one_that_is_not_there_or_has_no_duckdb(tmp_path, monkeypatch, there):
    (tmp_path / "rows").write_text(ALL)
    part = write(tmp_path / "part", [GOOD])
    bare = tmp_path / "bare" / "bin"
    if there:
        venv.create(bare.parent, symlinks=True, with_pip=False)
    monkeypatch.setenv("PATH", str(bare))
    for name in [name for name in os.environ if name.startswith(("ALIGNCTL", "PYTHON"))]:
        monkeypatch.delenv(name)
    for arguments in (["plan", part], ["convert", tmp_path / "rows", "--to", "parquet", "--output", tmp_path / "new"]):
        done = alignctl(*arguments)
        assert done.returncode == FINE or "duckdb, which /usr/bin/python3 does not have" in done.stderr, done.stderr


def test_standard_input_must_be_a_file_and_no_compressed_one(tmp_path):
    part = write(tmp_path / "part", [GOOD])
    with open(part) as file:
        assert alignctl("plan", "-", "--touches-only", stdin=file).returncode == FINE
    reader, writer = os.pipe()
    os.write(writer, part.read_bytes())
    os.close(writer)
    refused = alignctl("plan", "-", stdin=reader)
    assert refused.returncode == USAGE and "standard input: is Parquet, whose index is at its end" in refused.stderr
    (tmp_path / "part.gz").write_bytes(gzip.compress(part.read_bytes()))
    refused = alignctl("plan", tmp_path / "part.gz")
    assert refused.returncode == USAGE and "is a compressed file of Parquet; unpack it first" in refused.stderr


@pytest.mark.parametrize("row, words", [
    ("0,discard,0,4294967296,", ["request 1 of 4294967296 bytes: column len_bytes ends at 4294967295; write a recording"]),
    (f"{2**63},write,0,512,", [f"request 1 at {2**63} ns: column ts_ns ends at 9223372036854775807; write a recording"]),
    (f"0,write,0,512,{'ü' * 90}", ["volume %C3%BC", "its folder's name would have 547 bytes, of 255 at most"]),
])
def test_what_the_layout_cannot_hold_is_refused_and_nothing_is_left(tmp_path, row, words):
    (tmp_path / "rows").write_text(f"time_ns,op,offset,bytes,file\n{row}\n")
    refused = alignctl("convert", tmp_path / "rows", "--to", "parquet", "--output", tmp_path / "new")
    assert refused.returncode == USAGE
    for word in (f"alignctl: {tmp_path / 'new'}: ", *words):
        assert word in refused.stderr
    assert os.listdir(tmp_path) == ["rows"]


def test_a_folder_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "rows").write_text(ALL)
    done = alignctl("convert", tmp_path / "rows", "--to", "parquet", "--output", f"{tmp_path / 'new'}///")
    assert done.returncode == FINE and sorted(os.listdir(tmp_path)) == ["new", "rows"]
    refused = alignctl("convert", tmp_path / "rows", "--to", "parquet", "--output", tmp_path / "new")
    assert refused.returncode == USAGE and f"{tmp_path / 'new'}: exists and is not overwritten" in refused.stderr
    # the folder appears while the rows are read
    child(tmp_path, monkeypatch, f'mkdir {tmp_path / "other"}; exec {sys.executable} "$@"\n')
    refused = alignctl("convert", tmp_path / "rows", "--to", "parquet", "--output", tmp_path / "other")
    assert refused.returncode == USAGE and f"{tmp_path / 'other'}: exists and is not overwritten" in refused.stderr
    assert sorted(os.listdir(tmp_path)) == ["new", "other", "python", "rows"] and not os.listdir(tmp_path / "other")


def test_processes_are_said_to_be_lost_and_requests_are_not(tmp_path):
    (tmp_path / "rows").write_text("op,offset,bytes,pid,comm\nwrite,0,512,7,dd\nwrite,0,512,,\n")
    done = alignctl("convert", tmp_path / "rows", "--to", "parquet", "--output", tmp_path / "new", "--json")
    document = json.loads(done.stdout)
    assert (document["output_format"], document["requests"], document["not_expressed"]["process"]) == ("parquet", 2, 1)
    assert "format parquet cannot express processes: 1 requests" in done.stderr


def test_record_writes_no_folder(tmp_path):
    refused = alignctl("record", "/dev/null", "--format", "parquet", "--output", tmp_path / "new")
    assert refused.returncode == USAGE and "--format parquet: must be recording, fio or csv" in refused.stderr
