# SPDX-License-Identifier: GPL-2.0
"""alignctl plan of several disks: against plan of each disk alone, and parts put together against one pass."""

import json
import random
import resource
from itertools import pairwise

import pytest

from alignctl_program import alignctl, tables

DISKS = ["sda", "b disk", "50%", "ü"]
OPTIONS = [[], ["--physical", "16384", "--offset", "1024"], ["--logical", "4096", "--physical", "8192"], ["--shift", "3"],
           ["--physical", "1M"]]
FINE, USAGE, IO = 0, 2, 3


def document(*arguments):
    done = alignctl("plan", *arguments, "--json")
    assert done.returncode == FINE, done.stderr
    return json.loads(done.stdout)


def write(path, rows):
    path.write_text("time_ms,disk,op,offset_sectors,sectors\n" + "".join(f"{row}\n" for row in rows))
    return path


@pytest.fixture
def rows(request):
    """Requests of all kinds to some disks, of which the first gets most, by rising times."""
    chance = random.Random(getattr(request, "param", 1))
    now, found = 0, []
    for _ in range(1500):
        now += chance.choice([1, 1, 40, 700])
        op = chance.choices(["write", "write-zeroes", "discard", "flush", "read"], [20, 2, 1, 1, 3])[0]
        disk = chance.choices(DISKS, [40, 5, 5, 1])[0]
        start = chance.randrange(300) * 8 + chance.choice([7, 7, 0, 3])
        found.append(f"{now},{disk},{op}," + ("," if op == "flush" else
                                              f"{start},{chance.choice([1, 5, 8, 8, 64, 130, 512, 700, 3000])}"))
    return found


@pytest.fixture
def trace(tmp_path, rows):
    return write(tmp_path / "all.csv", rows)


def parts_by_disk(folder, rows, *options):
    for number, disk in enumerate(DISKS):
        part = folder / f"disk{number}.part"
        shard = write(folder / "shard.csv", [row for row in rows if row.split(",")[1] == disk])
        assert alignctl("plan", shard, "--partial", part, *options).returncode == FINE
        yield part


def parts_by_time(folder, rows, ends):
    for number, (first, end) in enumerate(pairwise([0, *ends, len(rows)])):
        part = folder / f"time{number}.part"
        shard = write(folder / "shard.csv", rows[first:end])
        assert alignctl("plan", shard, "--partial", part, "--touches-only").returncode == FINE
        yield part


@pytest.mark.parametrize("options", OPTIONS)
def test_each_disk_costs_what_plan_says_of_it_alone(tmp_path, rows, trace, options):
    found = {each["disk"]: each for each in document(trace, "--each-disk", *options)["disks"]}
    assert sorted(found) == sorted(DISKS)
    for disk, each in found.items():
        alone = document(trace, "--disk", disk, *options)
        written = [alone["requests"][op] for op in ("write", "write-zeroes")]
        assert each["requests"] == sum(of["requests"] for of in alone["requests"].values())
        assert each["writes"] == sum(of["requests"] for of in written)
        assert each["bytes_written"] == sum(of["bytes"] for of in written)
        assert each["touches"] == alone["touches_expected"]
        # a start is at a logical block, which the list of moves of plan does not mind
        step = alone["logical_block_size"] // 512
        moved = alone["touches_if_moved"][::step]
        assert each["best_move_sectors"] == step * moved.index(min(moved)) and each["touches_moved"] == min(moved)
        for mode in ("pad", "coalesce"):
            figures = alone["modes"][f"{mode}_as_timed"]
            assert each[f"{mode}_left"] == (figures and figures["rmw_host"] + figures["touches_left"])
        if step == 1:
            assert each["recommendation"] == alone["recommendation"]["remedy"]
        for size, other in zip(each["what_if"], alone["what_if"], strict=True):
            assert size == {
                "physical_block_size": other["physical_block_size"], "touches": other["as_is"]["touches"],
                "extra_bytes": other["as_is"]["extra_bytes"], "write_amplification": other["as_is"]["write_amplification"],
                "best_move_sectors": other["best"]["move_sectors"], "touches_moved": other["best"]["touches"],
                "extra_bytes_moved": other["best"]["extra_bytes"]}


def test_the_dearest_disk_comes_first_and_the_total_is_the_sum(trace):
    whole = document(trace, "--each-disk")
    costs = [each["extra_bytes"] for each in whole["disks"]]
    assert costs == sorted(costs, reverse=True) and len(set(costs)) > 1
    total = whole["total"]
    for key in ("writes", "bytes_written", "touches", "extra_bytes", "touches_moved", "extra_bytes_moved", "pad_left",
                "coalesce_left"):
        assert total[key] == sum(each[key] for each in whole["disks"]), key
    for number, size in enumerate(total["what_if"]):
        for key in ("touches", "extra_bytes", "touches_moved", "extra_bytes_moved"):
            assert size[key] == sum(each["what_if"][number][key] for each in whole["disks"]), key


def test_people_get_the_figures_of_the_document(trace):
    whole = document(trace, "--each-disk")
    text = alignctl("plan", trace, "--each-disk").stdout
    shown = tables(text, "DISK")
    assert [(row["DISK"], row["WRITES"], row["TOUCHES"], row["BEST-MOVE"], row["MOVED"], row["PAD"], row["COALESCE"],
             row["RECOMMENDED"]) for row in shown[:-1]] == [
        (each["disk"], *(str(each[key]) for key in ("writes", "touches", "best_move_sectors", "touches_moved", "pad_left",
                                                    "coalesce_left", "recommendation"))) for each in whole["disks"]]
    assert shown[-1]["DISK"] == "all" and shown[-1]["TOUCHES"] == str(whole["total"]["touches"])
    sizes = tables(text, "PHYSICAL")
    assert [(row["TOUCHES"], row["MOVED"]) for row in sizes] == [
        (str(size["touches"]), str(size["touches_moved"])) for size in whole["total"]["what_if"]]


@pytest.mark.parametrize("rows", range(6), indirect=True)
def test_parts_by_disk_come_to_one_pass_in_any_order_and_grouping_and_twice(tmp_path, rows, trace, request):
    chance = random.Random(request.node.name)
    parts = list(parts_by_disk(tmp_path, rows))
    whole = tmp_path / "whole.part"
    assert alignctl("plan", trace, "--partial", whole).returncode == FINE
    for number in range(4):
        some = chance.sample(parts, chance.randrange(1, len(parts)))
        group, merged = tmp_path / f"group{number}", tmp_path / f"merged{number}"
        assert alignctl("plan", "--merge", *some, "--partial", group).returncode == FINE
        # each part once more, alone or in the group
        given = [*parts, group, *chance.choices([*parts, group], k=2)]
        chance.shuffle(given)
        done = alignctl("plan", "--merge", *given, "--partial", merged)
        assert done.returncode == FINE
        twice = sum(len(some) if each == group else 1 for each in given) - len(parts)
        assert f"warning: {twice} part" in done.stderr
        assert merged.read_bytes() == whole.read_bytes()
    assert document("--merge", *parts) == document(trace, "--each-disk")


@pytest.mark.parametrize("rows", range(6), indirect=True)
def test_parts_by_time_come_to_one_pass_of_the_touches(tmp_path, rows, trace, request):
    chance = random.Random(request.node.name)
    # requests at one time are of one part, or of two that only meet
    parts = list(parts_by_time(tmp_path, rows, sorted(chance.sample(range(1, len(rows)), 5))))
    chance.shuffle(parts)
    group = tmp_path / "group"
    assert alignctl("plan", "--merge", *parts[:3], "--partial", group).returncode == FINE
    assert document("--merge", *parts[2:], group) == document(trace, "--each-disk", "--touches-only")


def test_what_depends_on_order_is_never_put_together(tmp_path, rows, trace):
    parts = []
    for number, some in enumerate((rows[:700], rows[700:])):
        parts.append(tmp_path / f"{number}.part")
        assert alignctl("plan", write(tmp_path / "shard.csv", some), "--partial", parts[-1]).returncode == FINE
    done = alignctl("plan", "--merge", *parts)
    assert done.returncode == USAGE
    assert "is in two parts, and what the modes leave depends on the order of all its requests" in done.stderr


def test_parts_that_overlap_in_time_are_refused(tmp_path, rows):
    parts = [*parts_by_time(tmp_path, rows, [700])]
    both = tmp_path / "both.part"
    shard = write(tmp_path / "shard.csv", rows[650:750])
    assert alignctl("plan", shard, "--partial", both, "--touches-only").returncode == FINE
    for some in ([parts[0], both], [both, parts[1]], [parts[1], both, parts[0]]):
        done = alignctl("plan", "--merge", *some)
        assert done.returncode == USAGE and "overlap in time" in done.stderr


def test_parts_that_nothing_tells_apart_are_refused(tmp_path):
    pieces = []
    for number, (heading, rows) in enumerate([("", ["write,1,8", "write,9,8"]), ("", ["write,1,8"]),
                                              ("time_ms,", ["5,write,1,8"]), ("time_ms,", ["5,write,1,8", "5,write,9,8"])]):
        trace, part = tmp_path / "trace.csv", tmp_path / f"{number}.part"
        trace.write_text(f"{heading}op,offset_sectors,sectors\n" + "\n".join(rows) + "\n")
        assert alignctl("plan", trace, "--partial", part, "--touches-only").returncode == FINE
        pieces.append(part)
    for some, said in ((pieces[:2], "without times"), (pieces[2:], "overlap in time")):
        done = alignctl("plan", "--merge", *some)
        assert done.returncode == USAGE and said in done.stderr


def test_sums_that_do_not_fit_are_refused(tmp_path):
    trace = write(tmp_path / "huge.csv", [f"{n},sda,discard,0,{2**53}" for n in range(4)])
    done = alignctl("plan", trace, "--partial", tmp_path / "part", "--touches-only")
    assert done.returncode == USAGE and "above 64 bits" in done.stderr


def test_a_line_without_an_end_takes_no_memory():
    done = alignctl("plan", "--merge", "/dev/zero")
    assert done.returncode == USAGE and "/dev/zero: line 1: has a byte 0" in done.stderr


def test_parts_that_answer_something_else_are_refused(tmp_path, trace):
    parts = []
    for options in ([], ["--physical", "8192"], ["--shift", "1"], ["--touches-only"], ["--size", "1T"], ["--offset", "512"]):
        parts.append(tmp_path / f"{len(parts)}.part")
        assert alignctl("plan", trace, "--partial", parts[-1], *options).returncode == FINE
    for other in parts[1:]:
        done = alignctl("plan", "--merge", parts[0], other)
        assert done.returncode == USAGE and f"{other}: line " in done.stderr and "answers for other blocks" in done.stderr


def test_a_damaged_part_is_refused_with_its_line(tmp_path, trace):
    part, bad = tmp_path / "part", tmp_path / "bad"
    assert alignctl("plan", trace, "--partial", part).returncode == FINE
    whole = part.read_bytes()
    chance = random.Random(5)
    for _ in range(150):
        at = chance.randrange(len(whole))
        damaged = chance.choice([whole[:at], whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1:],
                                 whole + b"x", whole[:at] + whole[at + 1:]])
        bad.write_bytes(damaged)
        done = alignctl("plan", "--merge", bad)
        assert done.returncode == USAGE and f"alignctl: {bad}: line " in done.stderr and not done.stdout, (at, done.stderr)
    done = alignctl("plan", "--merge", tmp_path / "missing")
    assert done.returncode == IO and f"{tmp_path}/missing: No such file" in done.stderr


def test_a_partial_plan_replaces_no_other_file(tmp_path, trace):
    other = tmp_path / "precious"
    other.write_text("mine\n")
    done = alignctl("plan", trace, "--partial", other)
    assert done.returncode == USAGE and "exists with other content" in done.stderr and other.read_text() == "mine\n"


@pytest.mark.parametrize("arguments, said", [
    (["w512", "--each-disk"], "w512: is a workload, which has one disk"),
    (["{trace}", "{trace}"], "is a second SOURCE"),
    (["{trace}", "--memory", "1G"], "--memory: needs --each-disk, --partial FILE or --merge; add one"),
    (["{trace}", "--jobs", "2"], "--jobs: needs --each-disk or --partial FILE; add one"),
    (["{trace}", "--each-disk", "--buffered"], "--each-disk, --buffered: exclude each other"),
    (["{trace}", "--each-disk", "--fdatasync"], "--each-disk, --fdatasync: exclude each other"),
    (["{trace}", "--each-disk", "--on", "/dev/null"], "--each-disk, --on: exclude each other"),
    (["{trace}", "--partial", "{folder}/p", "--json"], "--partial, --json: exclude each other"),
    (["{trace}", "--html", "{folder}/p"], "--html: needs --each-disk or --merge; add one"),
    (["--merge", "{trace}", "--html", "{folder}/p", "--partial", "{folder}/q"], "--partial, --html: exclude each other"),
    (["--merge", "{trace}", "--physical", "4096"], "--physical: does not apply to --merge"),
    (["--merge", "{trace}", "--seed", "4"], "--seed: does not apply to --merge"),
    (["--merge", "{trace}", "--from", "csv"], "--from: does not apply to --merge"),
    (["--merge", "{trace}"], "{trace}: line 1: is no partial plan of this version"),
])
def test_options_that_do_not_go_together_are_refused(tmp_path, trace, arguments, said):
    def filled(text):
        return text.format(trace=trace, folder=tmp_path)

    done = alignctl("plan", *map(filled, arguments))
    assert done.returncode == USAGE and filled(said) in done.stderr and not done.stdout


def test_disks_that_need_too_much_memory_are_refused_with_the_way_out(tmp_path):
    trace = write(tmp_path / "many.csv", [f"{n},d{n},write,{n},1" for n in range(20000)])
    done = alignctl("plan", trace, "--each-disk", "--memory", "16M")
    assert done.returncode == USAGE
    assert "disks need more than 16 MiB of memory" in done.stderr and "--touches-only" in done.stderr
    done = alignctl("plan", trace, "--each-disk", "--memory", "1M", "--touches-only")
    assert done.returncode == USAGE and "fewer disks" in done.stderr and "--touches-only" not in done.stderr
    few = write(tmp_path / "few.csv", [f"{n},d{n % 2},write,{n},1" for n in range(1500)])
    for jobs in (1, 2, 8):
        assert alignctl("plan", few, "--each-disk", "--memory", "16K", "--jobs", jobs).returncode == USAGE


def test_memory_is_what_the_limit_says(tmp_path):
    """All writes of a disk are of another kind, for the largest tables."""
    trace = write(tmp_path / "many.csv", [f"{n},d{n % 4000},write,{n % 509},{1 + n // 509 % 700}" for n in range(200000)])
    least = alignctl("plan", trace, "--each-disk", "--memory", "64M", "--touches-only", "--json",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (160 << 20, 160 << 20)))
    assert least.returncode == FINE, least.stderr
    assert len(json.loads(least.stdout)["disks"]) == 4000


def test_a_disk_without_a_name_has_that_of_the_trace(tmp_path):
    trace = tmp_path / "one.csv"
    trace.write_text("op,offset_sectors,sectors\nwrite,1,8\n")
    assert [each["disk"] for each in document(trace, "--each-disk")["disks"]] == [str(trace)]


def test_any_number_of_threads_find_the_same(tmp_path):
    chance = random.Random(8)
    trace = write(tmp_path / "many.csv", [
        f"{n},d{min(chance.randrange(40), chance.randrange(40))},write,{chance.randrange(4000)},{chance.choice([1, 8, 700])}"
        for n in range(40000)])
    found = [alignctl("plan", trace, "--each-disk", "--json", "--jobs", jobs).stdout for jobs in (1, 2, 3, 16)]
    assert found[0] and len(set(found)) == 1
    for jobs in (0, 17, "x"):
        done = alignctl("plan", trace, "--each-disk", "--jobs", jobs)
        assert done.returncode == USAGE and f"--jobs {jobs}: must be a whole number from 1 to 16" in done.stderr


def test_the_page_is_of_the_document_and_replaces_no_other_file(tmp_path, trace):
    page, part, other = tmp_path / "page.html", tmp_path / "part", tmp_path / "precious"
    text = alignctl("plan", trace, "--each-disk").stdout
    done = alignctl("plan", trace, "--each-disk", "--html", page)
    assert (done.returncode, done.stdout) == (FINE, text), done.stderr
    assert "<td" in page.read_text() and "4 of 4 disks make partial touches" in page.read_text()
    assert alignctl("plan", trace, "--partial", part).returncode == FINE
    assert alignctl("plan", "--merge", part, "--html", page).returncode == FINE
    other.write_text("mine")
    done = alignctl("plan", trace, "--each-disk", "--html", other)
    assert done.returncode == USAGE and "is not a report of alignctl" in done.stderr and not done.stdout
    assert other.read_text() == "mine"
