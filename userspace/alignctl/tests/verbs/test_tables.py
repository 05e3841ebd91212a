# SPDX-License-Identifier: GPL-2.0
"""The tables of all verbs: one list of columns feeds text and JSON, and a narrow terminal loses nothing."""

import json
import os
import re
import subprocess

import pytest

from alignctl_program import ALIGNCTL, BINS, alignctl, keys, man_section, shown, tables, terminal
from lab.paths import REPO

FINE = 0
TOP = REPO / "userspace/alignctl"
# The verb that shows the columns of a file, to people and in its document.
SHOWN = {
    "audit/report.c": ["check"],
    "audit/drive_report.c": ["stats --drive"],
    "audit/drive_interval.c": ["stats --drive --interval 1 1"],
    "audit/layout_report.c": ["check --layout"],
    "verbs/list.c": ["list"],
    "ledger/ledger_report.c": ["stats"],
    "ledger/ledger_interval.c": ["stats --interval 1 1"],
    "ledger/ledger_bars.c": ["stats --histograms"],
    "ledger/ledger_compare.c": ["stats --compare"],
    "verbs/workloads.c": ["workloads"],
    "workload/method.c": ["workloads"],
    "forecast/report.c": ["plan"],
    "forecast/disks_report.c": ["plan --each-disk"],
    "trace/operations.c": ["plan", "convert"],
    "replay/times.c": ["replay"],
}
# Two need a kernel that counts, and one a device with faults: kmod/tests/guest/test_top.py, test_record_requests.py and
# test_conform.py look at them. One is part of an error, which has no document: tests/trace/test_disks.py. With the section of a
# man page that explains the columns; a verb's are in TABLES of its page.
ELSEWHERE = {
    "top/report.c": ("alignctl-top.8", "TABLES"),
    "record/shapes_report.c": ("alignctl-record.8", "TABLES"),
    "conform/report.c": ("alignctl-conform.8", "TABLES"),
    "trace/disks.c": ("alignctl-trace.5", "DESCRIPTION"),
}
# Verbs that have the columns in a document alone.
WITHOUT_TABLES = {"convert"}
# Columns that are in no document by a name of their own: derived from others, the name of a row's object, its place in an
# array, help, or a member of another name (OPERATION's).
FOR_PEOPLE = {"STATE", "TIME", "COUNTER", "UNIT", "MEANING", "HISTOGRAM", "FIRST-BYTE", "WRITES", "SHARE", "MODE", "SECTORS",
              "OPERATION", "MISALIGNED", "TOUCHES", "NAME", "BIN", "COUNT", "BAR", "MEASURE", "DEVICE", "CONTENT", "MOUNTED"}


def columns(file):
    """[(key, heading)] of every column that a file has, as its lists say; "" for NULL."""
    text = re.sub(r"\\\n|/\*.*?\*/", "", (TOP / file).read_text(), flags=re.S)
    # a key that a macro's argument is
    made = re.findall(r'_COLUMNS\("(\w+)"\)', text)
    found = []
    for column in re.findall(r"(?:\[\w+\] = \{|_COLUMNS\()([^{}]*?\.(?:key|heading) = [^{}]*?)(?:\}|\);)", text):
        key, heading = (re.search(rf'\.{field} = ["(]?([\w./-]+)', column) for field in ("key", "heading"))
        quoted = not key or f'"{key[1]}"' in column
        found += [(each, heading[1] if heading else "") for each in ([key[1] if key else ""] if quoted else made)]
    return found


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Of each kind of request, of two processes, at times."""
    path = tmp_path_factory.mktemp("trace") / "trace.csv"
    path.write_text("time_s,op,offset,bytes,comm\n0,write,512,4096,a\n1,write,8192,8192,b\n2,read,0,512,a\n3,flush,,,a\n"
                    "4,write-zeroes,512,512,a\n5,discard,65536,4096,b\n")
    return path


@pytest.fixture
def ledger(machine):
    """A machine with a ledger in which everything has happened; its environment."""
    root, align = machine
    for path in align.glob("*_histogram"):
        if not path.name.startswith("baseline"):
            bins = BINS[path.name.split("_")[0] if path.name.startswith(("phase", "size")) else "latency"]
            path.write_text(" ".join(str(n + 1) for n in range(bins)) + "\n")
    for name in ("rmw_expected", "rmw_drive", "writes", "write_bytes"):
        (align / name).write_text("12345678\n")
    # a disk below it, for its drive to be looked for
    below = root / "sys/devices/pci0/block/sda"
    (root / "sys/class/block/sda").symlink_to(below)
    (align.parent / "slaves/sda").mkdir(parents=True)
    (below / "dev").write_text("8:0\n")
    # which has larger logical blocks
    (below / "queue").mkdir()
    (below / "queue/logical_block_size").write_text("4096\n")
    for folder in (align.parent, below):
        (folder / "size").write_text("65536\n")
    return {**os.environ, "ALIGNCTL_SYSROOT": str(root)}


def arguments(verb, trace, folder):
    disk = folder / "disk"
    with open(disk, "wb") as file:
        file.truncate(1 << 20)
    return [*verb.split(), *{"check": [disk], "check --layout": [disk, "--physical", "4096"], "plan": [trace],
                             "plan --each-disk": [trace],
                             "convert": [trace, "--output", folder / "new"],
                             "replay": [trace, "--on", disk, "--timing", "fast"],
                             "stats --compare": [folder / "before.json"]}.get(verb, [])]


def test_every_file_with_columns_is_looked_at():
    with_columns = {path.relative_to(TOP).as_posix() for path in TOP.rglob("*.c") if "TABLE_TYPE(" in path.read_text()}
    assert with_columns == {*SHOWN, *ELSEWHERE}
    assert all(len(columns(file)) >= 3 for file in with_columns)


def test_one_list_feeds_text_and_json(ledger, trace, tmp_path):
    texts, members = {}, {}
    (tmp_path / "before.json").write_text(alignctl("stats", "--json", env=ledger).stdout)
    for verb in {verb for verbs in SHOWN.values() for verb in verbs}:
        # bars are for people: the document has all bins
        done = alignctl(*arguments(verb.removesuffix(" --histograms"), trace, tmp_path), "--json", env=ledger)
        assert done.returncode == FINE, done.stderr
        members[verb] = set(keys(json.loads(done.stdout)))
        (tmp_path / "new").unlink(missing_ok=True)
        texts[verb] = alignctl(*arguments(verb, trace, tmp_path), env=ledger).stdout
        (tmp_path / "new").unlink(missing_ok=True)
    for file, verbs in SHOWN.items():
        text, known = "".join(texts[verb] for verb in verbs), set().union(*(members[verb] for verb in verbs))
        for key, heading in columns(file):
            assert key or heading in FOR_PEOPLE or not heading, f"{file}: {heading} has no key"
            for part in filter(None, key.split(".")):
                assert part in known, f"{file}: {key} is in no document of {verbs}"
            assert re.search(rf"(?<!\S){heading}(?!\S)", text), f"{file}: {heading} is not shown by {verbs}"


def test_every_heading_is_explained_in_the_man_page():
    explained = {file: {(f"alignctl-{verb.split()[0]}.8", "TABLES") for verb in verbs if verb not in WITHOUT_TABLES}
                 for file, verbs in SHOWN.items()}
    explained |= {file: {place} for file, place in ELSEWHERE.items()}
    for file, places in explained.items():
        for name, title in places:
            for heading in {heading for _, heading in columns(file) if heading}:
                section = man_section(name, title)
                assert re.search(rf"(?<![\w-]){heading}(?![\w-])", section), f"{heading} is not in {title} of {name}"


def test_no_figure_has_seven_digits(ledger):
    for words in (["stats"], ["list"], ["plan", "diskbenchi"]):
        done = alignctl(*words, env=ledger)
        assert done.returncode == FINE and not re.search(r"\d{7}", done.stdout), done.stdout
    shown = {row["COUNTER"]: row["VALUE"] for row in tables(alignctl("stats", env=ledger).stdout, "COUNTER")}
    assert (shown["rmw_expected"], shown["write_bytes"]) == ("12.3 M", "11.8 MiB")
    [device] = json.loads(alignctl("stats", "--json", env=ledger).stdout)["devices"]
    assert device["counters"]["rmw_expected"] == device["counters"]["write_bytes"] == 12345678
    assert "; 2.05 M distinct blocks\n" in alignctl("plan", "diskbenchi").stdout
    rows = [cell for row in tables(alignctl("workloads").stdout, "NAME") for cell in row.values()]
    assert "3.28 M" in rows and not any(re.search(r"\d{7}", cell) for cell in rows)


def on_a_terminal(width, environment, *words):
    """What a verb prints on a terminal so wide."""
    with terminal(width) as (ours, theirs), \
            subprocess.Popen([ALIGNCTL, *words], stdout=theirs, stderr=subprocess.PIPE, env=environment) as running:
        said = shown(running, ours, theirs)
    assert running.returncode == FINE
    return said.replace("\r\n", "\n")


@pytest.mark.parametrize("words", [["stats"], ["list"], ["workloads"], ["plan", "w4k_132k"]], ids=" ".join)
def test_a_wide_terminal_shows_what_a_pipe_gets(ledger, words):
    assert on_a_terminal(250, ledger, *words) == alignctl(*words, env=ledger).stdout


def test_a_narrow_terminal_has_meanings_in_several_lines_and_loses_no_figure(ledger):
    whole = tables(alignctl("stats", env=ledger).stdout, "COUNTER")
    said = on_a_terminal(60, ledger, "stats")
    assert max(len(line) for line in said.splitlines() if "rmw_" in line) == 60
    for row in whole:
        assert re.search(rf"^  {row['COUNTER']} +{re.escape(row['VALUE'])}  {row['UNIT']}  ", said, re.M), row
    # a word may be cut in two, but not lost
    for row in whole:
        assert re.sub(r"\s", "", row["MEANING"]) in re.sub(r"\s", "", said)


@pytest.mark.parametrize("words", [["list"], ["workloads"], ["plan", "w4k_132k"]], ids=" ".join)
def test_a_narrow_terminal_loses_no_figure(ledger, words):
    narrow, whole = on_a_terminal(30, ledger, *words), alignctl(*words, env=ledger).stdout
    # the methods of `workloads` have summaries, which are broken
    assert narrow.partition("\nMethods")[0].split() == whole.partition("\nMethods")[0].split()


def test_tables_are_plain_ascii(ledger):
    for words in (["stats"], ["list"], ["workloads"], ["plan", "w512"]):
        shown = alignctl(*words, env={**ledger, "LC_ALL": "C.UTF-8"}).stdout
        assert shown.isascii()
