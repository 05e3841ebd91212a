# SPDX-License-Identifier: GPL-2.0
"""Published sets of traces become a folder of the layout, in any order of the rows and in less memory than they have."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from align_reports.parquet import command, gather, layout
from lab.pace import Limit, patience
from lab.paths import OUT, REPO

FINE, FINDINGS, USAGE, IO = range(4)
TRACES = REPO / "userspace/alignctl/tests/trace/samples"
ALIBABA = "7,W,4096,512,1577808000000046\n12,R,0,4096,1577808000000045\n7,R,512,512,1577808000000046\n7,W,0,0,1577808000000001\n"
TENCENT = "1538323200,12910952,128,0,1063\n1538323199,8,8,1,1063\n1538323200,16,8,1,9\n"


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Run the program on texts that become files; return (status, standard error, folder)."""
    def run(name, *texts, options=(), files=()):
        monkeypatch.chdir(tmp_path)
        for number, text in enumerate(texts):
            Path(f"{number}.csv").write_text(text)
        operands = [*(f"{number}.csv" for number in range(len(texts))), *files]
        status = command.main([name, *operands, "--output", "folder", *options])
        said = capsys.readouterr()
        assert status == FINE or not said.out
        return status, said.err, tmp_path / "folder"
    return run


def rows(folder, volume):
    return duckdb.execute(f"SELECT {', '.join(layout.COLUMNS)} FROM '{folder}/volume={volume}/part.parquet'").fetchall()


def metadata(folder, volume):
    return {key.decode().removeprefix("block_trace."): value.decode() for key, value in duckdb.execute(
        "SELECT key, value FROM parquet_kv_metadata(?)", [f"{folder}/volume={volume}/part.parquet"]).fetchall()}


@pytest.mark.parametrize("header", ["", "device_id,opcode,offset,length,timestamp\n"])
def test_alibabas_rows_are_sorted_by_volume_and_time_and_ties_keep_their_order(run, header):
    status, said, folder = run("alibaba", header + ALIBABA)
    assert (status, said) == (FINE, "") and sorted(os.listdir(folder)) == ["volume=12", "volume=7"]
    at = 1577808000000000000
    assert rows(folder, 7) == [(at + 1000, 3, 1, 0, 0), (at + 46000, 0, 1, 4096, 512), (at + 46000, 2, 0, 512, 512)]
    assert rows(folder, 12) == [(at + 45000, 1, 0, 0, 4096)]
    kept = metadata(folder, 7)
    assert kept.keys() >= set(layout.REQUIRED) and kept.keys() <= {*layout.REQUIRED, *layout.OPTIONAL}
    assert (kept["volume"], kept["rows"], kept["time_unit"], kept["epoch"]) == ("7", "3", "us", "unix")
    assert kept["licence"] == "CC-BY-4.0"
    assert "github.com/alibaba/block-traces" in kept["source"]


def test_tencents_hours_are_one_set_of_sectors_and_seconds(run):
    status, said, folder = run("tencent", TENCENT, "Timestamp,Offset,Size,IOType,VolumeID\n1538323199,1,1,1,9\n")
    assert (status, said) == (FINE, "") and sorted(os.listdir(folder)) == ["volume=1063", "volume=9"]
    s = 10**9
    assert rows(folder, 1063) == [(1538323199 * s, 1, 1, 4096, 4096), (1538323200 * s, 0, 0, 12910952 * 512, 65536)]
    assert rows(folder, 9) == [(1538323199 * s, 3, 1, 512, 512), (1538323200 * s, 2, 1, 8192, 4096)]
    assert metadata(folder, 9)["offset_unit"] == "512 bytes" and "iotta.snia.org" in metadata(folder, 9)["source"]


@pytest.mark.parametrize("name", ["alibaba", "tencent"])
def test_alignctl_reads_of_a_volume_what_it_reads_of_the_text(run, tmp_path, monkeypatch, name):
    """Also that entries without a length are left out, and counted."""
    monkeypatch.setenv("ALIGNCTL_PYTHON", sys.executable)
    empty = {"alibaba": "419,R,0,0,1577808000000041\n", "tencent": "1538323201,8,0,1,1063\n"}[name]
    _, _, folder = run(name, (TRACES / f"{name}.csv").read_text().upper() + empty)
    part, *_ = sorted(folder.glob("*/part.parquet"))
    volume = metadata(folder, part.parent.name.removeprefix("volume="))["volume"]
    found = []
    for number, source in enumerate(([part], [tmp_path / "0.csv", "--disk", volume])):
        written = tmp_path / f"rows{number}"
        done = subprocess.run([OUT / "bin/alignctl", "convert", *source, "--to", "csv", "--output", written, "--json"],
                              capture_output=True, text=True, timeout=patience(60), check=True)
        found.append((written.read_text(), json.loads(done.stdout)["left_out_by_reason"]["no_length"]))
    assert found[0] == found[1] and found[0][0].count("\n") > 1 and found[0][1] == 1


def test_memory_far_below_the_size_of_a_shuffled_set_is_enough(tmp_path):
    """Over a hundred volumes, some with a hundred times the rows of others; a row has 29 bytes without its volume's name."""
    rows_nr, memory = 1500000, 20 << 20
    assert rows_nr * 29 > 2 * memory
    text, folder = tmp_path / "big.csv", tmp_path / "folder"
    duckdb.execute(f"""COPY (SELECT least(299, floor(1 / pow(0.001 + hash(range, 1) % 9973 / 9973, 0.9)))::INT,
                                    if(hash(range, 2) % 4 = 0, 'R', 'W'), hash(range, 3) % 268435456 * 512,
                                    (1 + hash(range, 4) % 64) * 512, hash(range, 5) % {rows_nr}
                             FROM range({rows_nr})) TO '{text}' (FORMAT csv, HEADER false)""")
    done = subprocess.run([sys.executable, REPO / "userspace/align_reports", "parquet", "alibaba", text, "--output", folder,
                           "--memory", str(memory)], capture_output=True, text=True, check=False, timeout=patience(120))
    volumes = len(os.listdir(folder)) if done.returncode == FINE else 0
    assert (done.returncode, done.stdout) == (FINE, f"{rows_nr} rows of {volumes} volumes are in {folder}\n"), done.stderr
    assert volumes > 100 and sorted(os.listdir(tmp_path)) == ["big.csv", "folder"]
    duckdb.execute(f"""CREATE OR REPLACE TEMP TABLE wanted AS SELECT volume, us * 1000 AS ts_ns, row_number() OVER () - 1 AS seq,
                       if(op = 'W', 1, 0) AS op, byte, bytes
                       FROM read_csv('{text}', header = false, names = ['volume', 'op', 'byte', 'bytes', 'us'])""")
    duckdb.execute(f"""CREATE OR REPLACE TEMP TABLE found AS
                       SELECT volume::BIGINT AS volume, {', '.join(layout.COLUMNS)}, file_row_number AS nth
                       FROM read_parquet('{folder}/*/*.parquet', file_row_number = true)""")
    assert duckdb.execute("SELECT count(*) FROM (FROM wanted EXCEPT SELECT * EXCLUDE (nth) FROM found)").fetchall() == [(0,)]
    assert duckdb.execute("SELECT count(*), count(DISTINCT seq) FROM found").fetchall() == [(rows_nr, rows_nr)]
    out_of_order = duckdb.execute("""SELECT count(*) FROM (
        SELECT nth, row_number() OVER (PARTITION BY volume ORDER BY ts_ns, seq) - 1 AS place FROM found) WHERE nth <> place""")
    assert out_of_order.fetchall() == [(0,)]


@pytest.mark.parametrize("name, text, words", [
    ("alibaba", "1,X,0,512,5\n", "0.csv: the line '1,X,0,512,5' has opcode 'X'"),
    ("alibaba", "1,W,-512,512,5\n", "the line '1,W,-512,512,5' has offset '-512'"),
    ("alibaba", "1,W,1.5,512,5\n", "has offset '1.5'"),
    ("alibaba", "1,W,0,4294967296,5\n", "has length '4294967296'"),
    ("alibaba", f"1,W,{2**63},512,5\n", f"has offset '{2**63}'"),
    ("alibaba", f"1,W,{2**63 - 512},512,5\n",
     f"row 1 of volume 1, ts_ns 5000, reaches beyond byte {2**63 - 1} (offset_bytes {2**63 - 512}"),
    ("alibaba", f"1,W,0,512,{2**63 // 1000 + 1}\n", "has timestamp '"),
    ("alibaba", "1,W,,512,5\n", "the line '1,W,,512,5' has offset ''"),
    ("alibaba", ",W,0,512,5\n", "the line ',W,0,512,5' has device_id ''"),
    ("alibaba", "1,W,0,512,5\n1,W,0\n",
     "0.csv: CSV Error on Line: 2 Original Line: 1,W,0 Expected Number of Columns: 5 Found: 3"),
    ("alibaba", "1,W,0,512,5,6\n", "Expected Number of Columns: 5 Found: 6"),
    ("alibaba", "", "0.csv: no rows; name the extracted files of the set"),
    ("tencent", "1538323200,0,8,2,1\n", "the line '1538323200,0,8,2,1' has IOType '2'"),
    ("tencent", "1538323200,18014398509481984,8,1,1\n", "has Offset '18014398509481984'"),
    ("tencent", "1538323200,0,8388608,1,1\n", "has Size '8388608'"),
    ("tencent", "1538323200.5,0,8,1,1\n", "has Timestamp '1538323200.5'"),
])
def test_a_row_that_is_not_as_described_ends_all_with_its_value(run, tmp_path, name, text, words):
    status, said, folder = run(name, text)
    assert status == USAGE and words in said and said.startswith("align_reports parquet: ") and said.count("\n") == 1, said
    assert os.listdir(tmp_path) == ["0.csv"]


def test_wrong_arguments_are_refused(run, tmp_path, capsys):
    status, said, _ = run("alibaba", files=["none.csv"])
    assert status == IO and "none.csv" in said
    for options in (["--memory", "much"], ["--memory", "0MB"]):
        with pytest.raises(SystemExit):
            run("alibaba", ALIBABA, options=options)
        assert "is no size, such as 512MB or 2GiB" in capsys.readouterr().err
    (tmp_path / "folder").mkdir()
    status, said, _ = run("alibaba", ALIBABA)
    assert status == USAGE and "folder: exists and is not overwritten; name another folder" in said


def test_too_little_memory_is_an_error_that_names_the_option(run, tmp_path):
    status, said, _ = run("alibaba", "".join(f"{n % 7},W,{n * 512},512,{n}\n" for n in range(20000)), options=["--memory", "1MB"])
    assert status == IO and "; allow more with --memory\n" in said and os.listdir(tmp_path) == ["0.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_leaves_nothing(tmp_path, number):
    text = tmp_path / "big.csv"
    duckdb.execute(f"COPY (SELECT range % 99, 'W', range * 512, 512, hash(range) % 1000000 FROM range(3000000)) TO '{text}' "
                   "(FORMAT csv, HEADER false)")
    running = subprocess.Popen([sys.executable, REPO / "userspace/align_reports", "parquet", "alibaba", text, "--output",
                                tmp_path / "folder"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = Limit(60)
    while not list(tmp_path.glob(".folder.*/scratch.duckdb")):
        assert running.poll() is None and not limit.over()
        time.sleep(0.01)
    running.send_signal(number)
    out, said = running.communicate(timeout=patience(60))
    assert (out, said.count("\n")) == ("", 1) and said.startswith("align_reports parquet: interrupted"), said
    assert running.returncode in (128 + signal.SIGINT, 128 + number) and os.listdir(tmp_path) == ["big.csv"]


def test_packed_files_names_with_wildcards_and_pipes_are_read(run, tmp_path):
    (tmp_path / "a[1]*.csv.gz").write_bytes(gzip.compress(ALIBABA.encode()))
    (tmp_path / "a1x.csv.gz").write_bytes(gzip.compress(b"99,W,0,512,5\n"))
    status, said, folder = run("alibaba", files=["a[1]*.csv.gz"])
    assert (status, said) == (FINE, "") and sorted(os.listdir(folder)) == ["volume=12", "volume=7"]
    piped = subprocess.run([sys.executable, REPO / "userspace/align_reports", "parquet", "alibaba", "-", "--output", "piped"],
                           input=ALIBABA, capture_output=True, text=True, cwd=tmp_path, timeout=patience(60), check=True)
    assert piped.stdout == "4 rows of 2 volumes are in piped; 1 have length 0, and make no request\n"
    assert rows(tmp_path / "piped", 7) == rows(folder, 7)


def test_each_set_tells_where_it_is_from_and_in_which_units(run):
    assert gather.names() == ["alibaba", "tencent"]
    for name in gather.names():
        database = duckdb.connect()
        database.execute("SET VARIABLE files = ['none']")
        database.execute(gather.MACROS.read_text())
        text = (gather.SETS / f"{name}.sql").read_text()
        database.execute(text.split("CREATE VIEW")[0])
        found = dict(database.execute("FROM metadata").fetchall())
        assert found.keys() == {*layout.REQUIRED} - {"layout", "op"} and found["epoch"] in layout.EPOCHS
