# SPDX-License-Identifier: GPL-2.0
"""A trace of many disks, where one is wanted, is refused with all of them: their writes, and the blocks these cover in part."""

import json
import os
import random
import re
from collections import Counter

import pytest

from alignctl_program import alignctl, tables
from audited import MIB, Machine

USAGE = 2
SECTOR = 512
BLOCK = 4096
NR = 1500
ROWS = 9000


@pytest.fixture(scope="module")
def rows():
    """[(operation, offset, bytes, disk)]: disks that only read, that only zero, and one whose first request is the last."""
    rng = random.Random(20261127)
    made = []
    for number in range(ROWS - 1):
        disk = f"v{number * 37 % (NR - 1)}"
        op = "read" if disk == "v7" else "write-zeroes" if disk == "v8" else rng.choice(
            ("write", "write", "write", "read", "discard", "write-zeroes", "flush"))
        if op == "flush":
            made.append((op, "", "", disk))
        else:
            made.append((op, rng.randrange(1 << 14) * SECTOR, rng.choice((1, 3, 8, 16, rng.randrange(1, 60))) * SECTOR, disk))
    return [*made, ("write", BLOCK, BLOCK, "last")]


@pytest.fixture
def trace(rows, tmp_path):
    return write_trace(tmp_path / "many.csv", rows)


def write_trace(path, rows):
    path.write_text("op,offset,bytes,disk\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def touches(start, end, block, boundary):
    """The number of blocks of which the bytes from @start to @end cover a part; block n begins at boundary + n * block."""
    found = 0
    for number in {(start - boundary) // block, (end - 1 - boundary) // block}:
        low = boundary + number * block
        found += not (start <= low and low + block <= end)
    return found


def counted(rows, block=BLOCK, boundary=0):
    """[(disk, writes, touches)] in the order in which they are listed."""
    writes, touched = Counter(), Counter()
    for op, offset, length, disk in rows:
        writes[disk] += op == "write"
        touched[disk] += touches(offset, offset + length, block, boundary) if op in ("write", "write-zeroes") else 0
    return sorted(((disk, writes[disk], touched[disk]) for disk in writes), key=lambda row: (-row[2], row[0]))


def listed(stderr):
    """[(disk, writes, touches)] of the table in a message."""
    return [(row["DISK"], int(row["WRITES"]), int(row["TOUCHES"])) for row in tables(stderr, "DISK")]


def expect_list(failed, rows, block=BLOCK, boundary=0, printed=""):
    assert failed.returncode == USAGE and failed.stdout == printed
    assert "choose one with --disk\n" in failed.stderr
    wanted = counted(rows, block, boundary)
    assert f"{len(wanted)} disks; touches are of blocks of {block} bytes, with a boundary at byte {boundary}\n" in failed.stderr
    assert listed(failed.stderr) == wanted


@pytest.mark.parametrize("block, boundary", [(4096, 0), (4096, 512), (65536, 3584), (512, 0)])
def test_plan_counts_by_the_blocks_that_it_plans_for(trace, rows, block, boundary):
    expect_list(alignctl("plan", trace, "--physical", block, "--offset", boundary), rows, block, boundary)


def test_plan_counts_requests_where_it_shifts_them_to(trace, rows):
    expect_list(alignctl("plan", trace, "--shift", 3), rows, BLOCK, BLOCK - 3 * SECTOR)


def test_figures_of_a_disk_are_those_that_plan_has_for_it_alone(trace, rows):
    for disk, writes, touched in (counted(rows)[n] for n in (0, NR // 2, -1)):
        document = json.loads(alignctl("plan", trace, "--disk", disk, "--json").stdout)
        assert document["requests"].get("write", {"requests": 0})["requests"] == writes
        assert document["touches_expected"] == touched


def test_a_pipe_is_counted_from_its_first_row(trace, rows):
    expect_list(alignctl("plan", "-", input=trace.read_text()), rows)


def test_json_leaves_standard_output_empty(trace, rows):
    expect_list(alignctl("plan", trace, "--json"), rows)


@pytest.mark.parametrize("options", [[], ["--scan"], ["--dry-run"], ["--threads", 2]])
def test_replay_counts_by_the_blocks_of_the_device(trace, rows, disk, options):
    failed = alignctl("replay", trace, "--on", disk, "--physical", 8192, "--offset", 1024, *options)
    expect_list(failed, rows, 8192, 1024, printed=failed.stdout)
    assert bool(failed.stdout) == any(disk.read_bytes())


def test_check_counts_by_the_blocks_of_the_audited_device(trace, rows, tmp_path):
    machine = Machine(tmp_path)
    machine.disk("sda", (8, 0), bytes_=64 * MIB, offset=SECTOR)
    machine.disk("sdb", (8, 16), bytes_=64 * MIB, physical=1 << 17)
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(tmp_path)}
    expect_list(alignctl("check", "sda", "--recording", trace, env=environment), rows, BLOCK, SECTOR)
    expect_list(alignctl("check", "sdb", "--recording", trace, env=environment), rows, 1 << 17, 0)
    # boundaries that no align device has; the disks are told apart nevertheless
    machine.disk("sdc", (8, 32), bytes_=64 * MIB, offset=100)
    failed = alignctl("check", "sdc", "--recording", trace, env=environment)
    assert failed.returncode == USAGE
    assert "touches are not known: alignment_offset must be a multiple of the logical block size\n" in failed.stderr
    found = tables(failed.stderr, "DISK")
    assert [(row["DISK"], int(row["WRITES"])) for row in found] == sorted((row[0], row[1]) for row in counted(rows))
    assert {row["TOUCHES"] for row in found} == {"-"}


def test_a_disk_that_the_trace_does_not_have_is_answered_with_those_that_it_has(trace, rows, tmp_path):
    for verb in (["plan", trace], ["convert", trace, "--output", tmp_path / "new"]):
        failed = alignctl(*verb, "--disk", "v")
        assert f"{trace}: has no request to disk v; " in failed.stderr
        expect_list(failed, rows)
    assert not (tmp_path / "new").exists()


def test_a_list_that_a_broken_row_ends_says_so(rows, tmp_path):
    path = write_trace(tmp_path / "broken.csv", [*rows[:20], ("write", "here", 512, "v1"), *rows[20:]])
    failed = alignctl("plan", path)
    assert 'line 22: offset "here"' in failed.stderr
    assert f"{path}: the list of disks is incomplete: the trace cannot be read on at line 22\n" in failed.stderr
    expect_list(failed, rows[:20])


def test_a_flush_for_another_disk_is_refused_as_a_write_is(tmp_path):
    rows = [("write", 512, 512, "a"), ("flush", "", "", "b")]
    expect_list(alignctl("plan", write_trace(tmp_path / "t.csv", rows)), rows)


def test_another_disk_is_named_before_what_is_wrong_with_its_request(tmp_path):
    rows = [("write", 0, 4096, "a"), ("write", 100, 512, "b")]
    expect_list(alignctl("plan", write_trace(tmp_path / "t.csv", rows)), rows)


def test_a_file_of_an_iolog_that_has_no_request_is_not_listed_and_each_other_one_can_be_chosen(tmp_path):
    log = tmp_path / "log"
    log.write_text("fio version 2 iolog\n/a add\n/c add\n/b add\n/a open\n/c open\n/b open\n/a write 0 512\n/b write 0 8192\n")
    failed = alignctl("plan", log)
    expect_list(failed, [("write", 0, 512, "/a"), ("write", 0, 8192, "/b")])
    for disk, touched in (("/a", 1), ("/b", 0)):
        document = json.loads(alignctl("plan", log, "--disk", disk, "--json").stdout)
        assert document["touches_expected"] == touched


def test_more_disks_than_convert_tells_apart_are_refused_by_it_alone(trace, rows, tmp_path):
    failed = alignctl("convert", trace, "--output", tmp_path / "new")
    assert failed.returncode == USAGE and not (tmp_path / "new").exists()
    line = next(n for n in range(len(rows)) if len({row[3] for row in rows[:n]}) > 1024) + 1
    assert f"{trace}: line {line}: more than 1024 files or disks; choose one with --disk\n" in failed.stderr


def test_columns_of_tens_of_thousands_of_disks_are_in_line(tmp_path):
    """The table is printed in parts."""
    rows = [("write", number * SECTOR, BLOCK * (1 + number % 5), "v" + "x" * (number % 9) + str(number))
            for number in range(20000)]
    failed = alignctl("plan", write_trace(tmp_path / "t.csv", rows))
    expect_list(failed, rows)
    table = failed.stderr[failed.stderr.index("  DISK"):].splitlines()
    assert len({len(line) for line in table}) == 1
    assert len({re.search(r"\d+  +\d+$", line).end() for line in table[1:]}) == 1
