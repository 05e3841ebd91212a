# SPDX-License-Identifier: GPL-2.0
"""traces.rst has the layout as the code has it, and its statements make and read a trace that alignctl takes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from align_reports.parquet import gather, layout
from lab.pace import patience
from lab.paths import OUT

TOP = Path(__file__).resolve().parents[2]
DOCUMENT = (TOP / "Documentation/admin/traces.rst").read_text()


def table(heading):
    """The first two cells of each row of the simple table whose first heading that is."""
    rows = re.search(rf"^{heading} [^\n]*\n[= ]+\n(.*?)\n=", DOCUMENT, re.M | re.S)[1]
    return re.findall(r"^(\S+) +(.*)", rows, re.M)


def test_columns_are_those_of_the_layout():
    types = {"BIGINT": "int64", "UTINYINT": "uint8", "UBIGINT": "uint64", "UINTEGER": "uint32"}
    found = [(name, text.split()[0]) for name, text in table("column")]
    assert found == [(f"``{name}``", types[kind]) for name, kind in layout.COLUMNS.items()]


def test_keys_are_those_of_the_layout_and_those_that_must_be_there_come_first():
    found = [name for name, _ in table("key") if name.startswith("``block_trace.")]
    assert set(found) == {f"``{layout.PREFIX}{key}``" for key in (*layout.REQUIRED, *layout.OPTIONAL)}
    assert set(found[:8]) == {f"``{layout.PREFIX}{key}``" for key in layout.REQUIRED}
    assert f"``{layout.OP}``" in " ".join(DOCUMENT.split())


def test_operations_are_those_of_the_layout():
    words = re.findall(r"(\+?\d+) (\w+)", layout.OP)
    assert [(value, text.split(";")[0].split(":")[0].split()[0].lower()) for value, text in table("value")] == \
        [(value, word.lower()) for value, word in words]


def test_sets_are_those_that_there_are():
    assert [name for name, _ in table("set")] == gather.names()
    for name in gather.names():
        heading = re.search(rf"^{name} +``(.*?)``", DOCUMENT, re.M)[1]
        assert f"line <> '{heading}'" in (gather.SETS / f"{name}.sql").read_text()


def test_the_statements_write_and_read_a_trace(tmp_path, monkeypatch):
    write, read = (re.sub("^    ", "", text, flags=re.M) for text in
                   re.findall(r"::\n\n((?:    .*\n|\n)*?    .*;\n)", DOCUMENT.partition("Other programs\n")[2]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ALIGNCTL_PYTHON", sys.executable)
    os.makedirs("traces/volume=a")
    database = duckdb.connect()
    database.execute("CREATE TABLE trace AS SELECT * FROM (VALUES (7, true, 9, 8), (5, true, 8, 8), (7, false, 0, 1)) "
                     "AS row(us, write, sector, sectors)")
    database.execute(write)
    done = subprocess.run([OUT / "bin/alignctl", "convert", "traces/volume=a/part.parquet", "--to", "csv", "--output", "csv"],
                          capture_output=True, text=True, timeout=patience(60), check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("csv").read_text().splitlines()[1:] == [
        "0,write,4096,4096,,0,,a", "2000,write,4608,4096,,0,,a", "2000,read,0,512,,0,,a"]
    assert database.execute(read).fetchall() == [("a", 2, 1)]


@pytest.mark.parametrize("command", re.findall(r"align_reports parquet (\w+) .*?--output (\w+)", DOCUMENT.replace("\\\n", "")))
def test_commands_name_sets_that_there_are(command):
    assert command[0] in gather.names()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The folder of the document's synthetic set, as `make traces` makes it, and what `make study` prints of it."""
    folder = tmp_path_factory.mktemp("study")
    name, *options = re.search(r'^    \$ make traces TRACES="(.*)"$', DOCUMENT, re.M)[1].split()
    environment = {**os.environ, "ALIGNCTL_PYTHON": sys.executable}
    with (folder / "set.csv").open("w") as text:
        subprocess.run([sys.executable, "-m", "lab.traces", name, *options], stdout=text, check=True, timeout=patience(60))
    subprocess.run([sys.executable, "-m", "align_reports", "parquet", name, folder / "set.csv", "--output", folder / "set"],
                   check=True, timeout=patience(60), capture_output=True)
    done = subprocess.run([sys.executable, TOP / "userspace/align_reports/plan_cluster.py",
                           *(folder / "set").glob("*/part.parquet"), "--alignctl", OUT / "bin/alignctl",
                           "--output", folder / "study.part", "--html", folder / "study.html"],
                          env=environment, capture_output=True, text=True, check=True, timeout=patience(120))
    return folder, done.stdout


def test_a_set_costs_what_the_document_says(study):
    folder, printed = study
    shown = DOCUMENT.partition("    $ make study\n")[2].partition("\n\nThe page is in")[0]
    assert [line.removeprefix("    ") for line in shown.splitlines()] == printed.splitlines()
    assert "<td" in (folder / "study.html").read_text()


def test_volumes_in_parquet_come_to_one_pass_over_the_text(study):
    folder, _ = study
    subprocess.run([OUT / "bin/alignctl", "plan", folder / "set.csv", "--partial", folder / "one.part"], check=True,
                   timeout=patience(60))
    assert (folder / "one.part").read_bytes() == (folder / "study.part").read_bytes()
