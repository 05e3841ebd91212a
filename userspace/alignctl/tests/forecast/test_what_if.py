# SPDX-License-Identifier: GPL-2.0
"""The what-if table of alignctl plan: against plan itself on such blocks, and against writes counted one by one."""

import json
import random
from collections import defaultdict

import pytest

from alignctl_program import alignctl, tables

SIZES = [4096 << i for i in range(7)]


def plan(*arguments, **options):
    done = alignctl("plan", *arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(params=[False, True], ids=["untimed", "timed"])
def trace(tmp_path, request):
    """Writes, write-zeroes, discards, flushes and reads of all lengths, most of them a sector before a block."""
    chance = random.Random(7)
    path, now = tmp_path / "trace", 0
    with path.open("w") as file:
        file.write(("time_ms," if request.param else "") + "op,offset_sectors,sectors\n")
        for _ in range(1000):
            now += chance.choice([0, 1, 200])
            op = chance.choices(["write", "write-zeroes", "discard", "flush", "read"], [20, 2, 1, 1, 1])[0]
            start = chance.randrange(600) * 8 + chance.choice([7, 7, 7, 0, 3])
            length = chance.choice([1, 5, 8, 8, 64, 130, 512, 700])
            file.write((f"{now}," if request.param else "") + (f"{op},,\n" if op == "flush" else f"{op},{start},{length}\n"))
    return path


def writes_of(trace):
    """[(first sector, sector behind the last)] of writes and write-zeroes."""
    rows = (row.split(",")[-3:] for row in trace.read_text().splitlines()[1:])
    return [(int(start), int(start) + int(length)) for op, start, length in rows if op.startswith("write")]


@pytest.mark.parametrize("options", [[], ["--offset", "3584"], ["--physical", "16384", "--offset", "1024"]])
def test_blocks_of_each_size_cost_what_plan_says_of_them(trace, options):
    offset = int(options[-1]) if options else 0
    result = plan(trace, "--size", "1G", *options)
    timed = "_as_timed" if result["modes"]["pad_as_timed"] else ""
    by_size = {each["physical_block_size"]: each for each in result["what_if"]}
    assert list(by_size) == SIZES
    for size in SIZES:
        for case in (by_size[size]["as_is"], by_size[size]["best"]):
            # the start moved on is an alignment offset that much lower
            moved = (offset - 512 * case["move_sectors"]) % size
            alone = plan(trace, "--size", "1G", "--physical", size, "--offset", moved)
            assert (case["touches"], case["rmin"]) == (alone["touches_expected"], alone["rmin"])
            for mode in ("pad", "coalesce"):
                figures = alone["modes"][mode + timed]
                assert case[f"{mode}_left"] == figures["rmw_host"] + figures["touches_left"], (size, case)
            assert case["touches"] == by_size[size]["touches_if_moved"][case["move_sectors"]]


def one_by_one(writes, sectors, shift):
    """Count writes moved by `shift` sectors: touches, blocks, and blocks inside the device whose rest no write covers."""
    touches = blocks = 0
    written = defaultdict(set)
    for first, end in ((first + shift, end + shift) for first, end in writes):
        head, tail = first // sectors, (end - 1) // sectors
        blocks += tail - head + 1
        touches += len({block for block in (head, tail) if first > block * sectors or end < (block + 1) * sectors})
        for block in range(head, tail + 1):
            written[block].update(range(max(first, block * sectors), min(end, (block + 1) * sectors)))
    rmin = sum(len(covered) < sectors for block, covered in written.items() if block * sectors >= shift)
    return touches, blocks, rmin


@pytest.mark.parametrize("offset", [0, 1536])
def test_every_size_and_move_is_what_writes_one_by_one_come_to(trace, offset):
    trace.write_text("".join(trace.read_text().splitlines(keepends=True)[:150]))
    writes = writes_of(trace)
    total = sum(end - first for first, end in writes)
    for each in plan(trace, "--offset", offset)["what_if"]:
        sectors = each["physical_block_size"] // 512
        assert len(each["touches_if_moved"]) == len(each["write_amplification_if_moved"]) == sectors
        for moved in sorted({0, 1, 7, sectors - 1, each["best"]["move_sectors"]}):
            touches, blocks, rmin = one_by_one(writes, sectors, moved - offset // 512)
            assert each["touches_if_moved"][moved] == touches, (sectors, moved)
            assert each["write_amplification_if_moved"][moved] == pytest.approx(blocks * sectors / total)
            for case in (each["as_is"], each["best"]):
                assert case["move_sectors"] != moved or (case["rmin"], case["extra_bytes"]) == \
                    (rmin, (blocks * sectors - total) * 512), (sectors, moved)
        assert each["touches_if_moved"].index(min(each["touches_if_moved"])) == each["best"]["move_sectors"]


def test_a_device_of_4096_byte_sectors_moves_by_these(tmp_path):
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{8 + 32 * i},32\n" for i in range(50)))
    result = plan(trace, "--logical", 4096)
    best = {each["physical_block_size"]: each["best"]["move_sectors"] for each in result["what_if"]}
    assert (best[4096], best[8192], best[16384]) == (0, 8, 24) and all(move % 8 == 0 for move in best.values())


def test_all_of_plan_moves_such_a_device_by_its_sectors(tmp_path):
    """Requests of a device with smaller logical blocks than the drive may be best at a start that no drive has."""
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{start},32\n" for start in [5 + 64 * i for i in range(100)]))
    options = [trace, "--logical", 4096, "--physical", 16384]
    result, disk = plan(*options), plan(*options, "--each-disk")["disks"][0]
    assert result["touches_if_moved"][27] == 0 and result["touches_expected"] == 200
    assert result["best_move_sectors"] == result["worthwhile_move_sectors"] == disk["best_move_sectors"] == 0
    assert result["recommendation"]["remedy"] == disk["recommendation"] == "nothing"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{start},32\n" for start in [8 + 64 * i for i in range(100)]))
    result, disk = plan(*options), plan(*options, "--each-disk")["disks"][0]
    assert result["best_move_sectors"] == disk["best_move_sectors"] == 24 and result["recommendation"]["remedy"] == "move"


ONE_MOVE = [(5 + 16 * i, 8) for i in range(100)]
SMALL = [(64 * i * 7919 % 1000003 // 64 * 64, 1) for i in range(100)]


def test_no_mode_has_anything_to_do_where_no_write_has_a_touch(tmp_path):
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{start},{length}\n" for start, length in ONE_MOVE))
    best = {each["physical_block_size"]: each["best"] for each in plan(trace)["what_if"]}
    assert [best[4096][key] for key in ("move_sectors", "touches", "pad_left", "coalesce_left", "rmin")] == [3, 0, 0, 0, 0]
    assert all(best[size]["touches"] and best[size]["pad_left"] for size in SIZES[1:])


@pytest.mark.parametrize("writes, remedy, left, words", [
    (ONE_MOVE, "move", 0, "move the start by 3 sectors; it leaves 0 of 200 read-modify-writes, 100 % less\n"),
    ([(8 * i, 8) for i in range(50)], "nothing", 0, "nothing; no move saves 10 %, and no mode 5 %\n"),
    (SMALL, "nothing", 100, "nothing; no move saves 10 %, and no mode 5 %\n"),
    # two streams, of which a move mends one and spoils the other
    ([(place + 8 * i, 8) for i in range(100) for place in (7, 8 * 4096 + 4)], "coalesce", 4,
     "mode coalesce; it leaves 4 of 400 read-modify-writes, 99 % less\n")])
def test_one_thing_is_recommended_with_its_gain(tmp_path, writes, remedy, left, words):
    trace = tmp_path / "trace"
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{start},{length}\n" for start, length in writes))
    advice = plan(trace)["recommendation"]
    touches = plan(trace)["touches_expected"]
    assert (advice["remedy"], advice["left"]) == (remedy, left)
    assert advice["gain_percent"] == pytest.approx(100 * (touches - left) / touches if touches else 0)
    assert f"\n  recommended: {words}" in alignctl("plan", trace).stdout


def test_a_move_that_is_not_worth_its_trouble_is_not_recommended_either(tmp_path):
    """A tenth of the touches is what a move has to save, in the table of moves and in the recommendation."""
    trace = tmp_path / "trace"
    for nr, remedy in ((4, "nothing"), (6, "move")):
        # each of them has two touches, and none if it is moved by seven sectors
        writes = [(1003 + 64 * i, 1) for i in range(93)] + [(100001 + 64 * i, 8) for i in range(nr)]
        trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{start},{length}\n" for start, length in writes))
        result, text = plan(trace), alignctl("plan", trace).stdout
        assert (result["best_move_sectors"], result["worthwhile_move_sectors"]) == (7, 7 if remedy == "move" else 0)
        assert result["recommendation"]["remedy"] == remedy
        assert plan(trace, "--each-disk")["disks"][0]["recommendation"] == remedy
        assert ("nothing to gain by moving" in text) == ("recommended: nothing" in text) == (remedy == "nothing")


@pytest.mark.parametrize("options", [[], ["--each-disk"], ["--touches-only"], ["--buffered"]])
def test_bytes_above_64_bits_are_refused(tmp_path, options):
    trace = tmp_path / "trace"
    trace.write_text("op,offset,bytes\n" + f"discard,0,{2 ** 63 - 512}\n" * 3)
    done = alignctl("plan", trace, *options, "--json")
    assert (done.returncode, done.stdout) == (2, "") and "above 64 bits" in done.stderr, done.stdout[:1000]


def test_blocks_of_which_too_many_would_be_held_are_named(tmp_path):
    """The limit is one of memory: three quarters of 16 MiB are 96 blocks of 128 KiB, and 48 of 256 KiB."""
    trace = tmp_path / "trace"
    for nr, crowded in ((48, []), (49, ["256 KiB"]), (97, ["128 KiB", "256 KiB"])):
        trace.write_text("op,offset_sectors,sectors\n" + "".join(f"write,{1024 * i + 1},1\n" for i in range(nr)))
        result, text = plan(trace), alignctl("plan", trace).stdout
        assert [f"{each['physical_block_size'] >> 10} KiB" for each in result["what_if"] if each["as_is"]["coalesce_crowded"]] \
            == crowded and not result["modes"]["coalesce_crowded"]
        assert (f" depends on when it empties them: {', '.join(crowded)}\n" in text) == bool(crowded)
    assert {each["as_is"]["coalesce_crowded"] for each in plan("-", input=trace.read_text())["what_if"]} == {None}


def test_a_pipe_is_read_once_and_what_needs_more_is_not_known(trace):
    whole, once = plan(trace)["what_if"], plan("-", input=trace.read_text())["what_if"]
    for each, other in zip(whole, once, strict=True):
        assert each["touches_if_moved"] == other["touches_if_moved"]
        for case in ("as_is", "best"):
            assert other[case]["touches"] == each[case]["touches"]
            assert other[case]["rmin"] is other[case]["pad_left"] is other[case]["coalesce_left"] is None
        assert each["as_is"]["rmin"] is not None and each["as_is"]["pad_left"] is not None


def test_people_get_each_size_and_where_it_is_best(trace):
    shown = tables(alignctl("plan", trace).stdout, "PHYSICAL")
    result = plan(trace)["what_if"]
    rows = [case for each in result for case in ([each["as_is"], each["best"]] if each["best"]["move_sectors"] else
                                                 [each["as_is"]])]
    assert [(row["MOVED"], row["TOUCHES"], row["RMIN"]) for row in shown] == \
        [(str(case["move_sectors"]), str(case["touches"]), str(case["rmin"])) for case in rows]
