# SPDX-License-Identifier: GPL-2.0
"""Smaller logical blocks: the cases, their runs, the races, and the verdicts."""

from dataclasses import asdict, replace
from itertools import islice

import pytest

from lab.bench import __main__ as bench, races, report, smaller
from lab.bench.arms import BLOCK, SECTOR
from lab.bench.figures import FIXING, MET, MISSING, NOT_MET, ROWS, VOID
from lab.bench.races import Races
from lab.bench.record import Record
from lab.bench.smaller import CASES, LOOP, Result
from lab.linux import kernels
from lab.machines.remote import GuestError

MIXED = next(case for case in CASES if case.name == "mixed512-32")
READS = next(case for case in CASES if case.name == "read512-32")
LEDGER = {"rmw_expected": 5, "rmw_avoided": 2, "rmw_host": 3, "rmw_drive": 0, "rmw_lost": 0, "rmw_pending": 0, "pad_reads": 3}
RACES = "requests that meet in a block: faults that conform finds, "


def made(arm, wall_s=1.0, flush_s=0.0, case=smaller.RANDOM.name):
    return Result(case, arm, 100, wall_s, flush_s, 10.0, 20.0, 48, 5, 1, 5, 5, 3, 0, LEDGER if arm in FIXING else None,
                  False if arm == LOOP else None)


def raced(arm, faulty, rounds=100):
    return Races(arm, rounds, faulty, {"lost-update": faulty, "stale-read": 0}, 312, min(faulty, 7), None if faulty else 34)


def found(*results, raced_arms=()):
    """Return {measure: figure}."""
    return {figure.measure.split(", requests")[0]: figure
            for figure in ROWS["smaller"].figures(Record(smaller=list(results), races=list(raced_arms)))}


@pytest.mark.parametrize("reads, size", [(0, SECTOR), (0.7, SECTOR), (1, SECTOR), (0, BLOCK)])
def test_requests_at_random_lie_at_multiples_of_their_size_and_the_share_of_reads_is_as_asked(reads, size):
    requests = list(smaller.scattered(reads, size)(4000, 1))
    assert sum(operation == "read" for operation, _, _ in requests) / 4000 == pytest.approx(reads, abs=0.03)
    assert {offset % size for _, offset, _ in requests} == {0} and {bytes_ for _, _, bytes_ in requests} == {size}
    assert max(offset for _, offset, _ in requests) < smaller.START_BYTES + smaller.SPAN_BYTES
    assert requests == list(smaller.scattered(reads, size)(4000, 1)) != list(smaller.scattered(reads, size)(4000, 2))


def test_writes_in_a_row_follow_each_other_and_those_of_the_stream_begin_and_end_inside_a_block():
    assert list(smaller.in_a_row(3584, 512)(3, 1)) == [("write", 3584, 512), ("write", 4096, 512), ("write", 4608, 512)]
    stream = next(case for case in CASES if case.name == "seq4k-off")
    assert all(offset % BLOCK and (offset + size) % BLOCK for _, offset, size in stream.requests(9, 1))


@pytest.mark.parametrize("request_, count", [
    (("write", 0, BLOCK), 0), (("write", SECTOR, SECTOR), 1), (("write", 0, SECTOR), 1), (("write", BLOCK - SECTOR, SECTOR), 1),
    (("write", SECTOR, BLOCK), 2), (("write", SECTOR, 2 * BLOCK - SECTOR), 1), (("read", SECTOR, SECTOR), 0)])
def test_a_touch_is_a_block_that_a_write_covers_in_part(request_, count):
    assert smaller.touches([request_, request_]) == 2 * count


def test_a_trace_has_a_line_for_each_request():
    assert list(smaller.lines(islice(smaller.in_a_row(65536, 512)(9, 1), 2))) == [
        "time_ns,op,offset,bytes\n", "0,write,65536,512\n", "1,write,66048,512\n"]


class Guest:
    """A stand-in for the guest, which records all commands; conform finds two faults, of one kind of two."""

    def __init__(self):
        self.lines, self.stat = [], 0

    def run(self, *argv, **_):
        self.lines.append(" ".join(argv))
        if argv[-1].endswith("/stat"):
            self.stat += 1
            return " ".join(str((i + 1) * self.stat) for i in range(17))
        return {"blockdev": "524288\n", "losetup": "/dev/loop0\n", "cat": "0\n"}.get(argv[0], "")

    def json(self, *argv, **options):
        self.run(*argv, **options)
        if "stats" in argv:
            return {"devices": [{"counters": LEDGER}]}
        if "--check" in argv:
            return {"done": True, **{state: {"blocks": 3 * (state == "new")} for state in ("lost", "torn", "old", "new")}}
        if "conform" in argv:
            return {"rounds": 624, "faulty": 2, "faults": {"lost-update": 2}, "fewer_than_one_in": None,
                    "kinds": [{"kind": "a", "faulty": 2}, {"kind": "b", "faulty": 0}]}
        return {"requests": 50, "wall_s": 2.0, "flush_s": 0.5, "service_us": {"mean": 7.0, "p99": 9.0}}


def place(lines, words):
    """Return the index of the one line that has these words."""
    places = [i for i, line in enumerate(lines) if words in line]
    assert len(places) == 1, (words, lines)
    return places[0]


def play(case, arm, folder):
    guest = Guest()
    return smaller.Smaller(guest, folder / "alignctl", folder).run(case, arm, 50, 1), guest.lines


@pytest.mark.parametrize("arm, create, device, remove", [
    ("ebs", "524288 ebs /dev/nullb0 0 1 8", "/dev/mapper/smaller", "dmsetup remove"),
    ("coalesce", "align /dev/nullb0 0 4 mode coalesce logical_block_size 512", "/dev/mapper/smaller", "dmsetup remove"),
    (LOOP, "losetup --find --show --sector-size=512 --direct-io=on /dev/nullb0", "/dev/loop0", "losetup --detach /dev/loop0")])
def test_a_trace_is_replayed_on_the_device_and_judged_on_the_drive_when_the_device_is_gone(arm, create, device, remove, tmp_path):
    it, lines = play(MIXED, arm, tmp_path)
    order = [place(lines, words) for words in (f"cp {tmp_path}/mixed512-32-50-1.csv {smaller.TRACE}", create, "--timing fast",
                                               remove, "replay --check")]
    assert order == sorted(order)
    assert f"--on {device} " in lines[order[2]] and "--depth 32 " in lines[order[2]] and "--on /dev/nullb0 " in lines[order[-1]]
    requests = list(MIXED.requests(50, 1))
    assert (tmp_path / "mixed512-32-50-1.csv").read_text() == "".join(smaller.lines(requests))
    assert (it.touches, it.compared, it.wrong, it.rate) == (smaller.touches(requests), 3, 0, 20)
    assert it.written == sum(operation == "write" for operation, _, _ in requests)
    # Each number of /sys/block/nullb0/stat rises by its place there, counted from 1.
    assert (it.reads, it.writes, it.flushes) == (1, 5, 16)
    assert (it.ledger is not None) == (arm == "coalesce") and it.direct == (False if arm == LOOP else None)


def test_a_case_that_only_reads_has_nothing_to_compare(tmp_path):
    it, lines = play(READS, "pad", tmp_path)
    assert (it.written, it.compared, it.wrong) == (0, 0, 0) and not any("--check" in line for line in lines)


def test_a_device_is_removed_behind_a_run_that_failed(tmp_path):
    guest = Guest()
    def refuse(*argv, **_):
        raise GuestError(argv[1])
    guest.json = refuse
    with pytest.raises(GuestError):
        smaller.Smaller(guest, tmp_path, tmp_path).run(MIXED, "pad", 50, 1)
    assert guest.lines[-1] == "dmsetup remove smaller"


@pytest.mark.parametrize("state", ["lost", "torn", "old"])
def test_after_a_flush_no_block_may_be_lost_torn_or_old(state):
    document = {"done": True, **{name: {"blocks": 0} for name in ("lost", "torn", "old")}, "new": {"blocks": 2}}
    assert smaller.judged(document) == (2, 0) and smaller.judged({**document, state: {"blocks": 1}}) == (3, 1)
    with pytest.raises(ValueError, match="could not read"):
        smaller.judged({**document, "done": False})


def test_wrong_data_none_that_was_compared_and_a_ledger_that_is_not_right_are_findings():
    good = made("pad")
    assert list(smaller.check([good, made("ebs"), replace(good, written=0, compared=0)])) == []
    for bad, words in ((replace(good, wrong=1), "1 of 3 blocks"), (replace(good, compared=0), "nothing was compared"),
                       (replace(good, touches=6), "the requests have 6"),
                       (replace(good, ledger={**LEDGER, "rmw_avoided": 1}), "does not balance"),
                       (replace(good, ledger={**LEDGER, "rmw_avoided": 1, "rmw_drive": 1}), "rmw_drive is 1")):
        assert any(words in finding for finding in smaller.check([bad])), words


@pytest.mark.parametrize("pad_s, coalesce_s, verdict", [(0.2, 0.9, MET), (0.9, 0.2, MET), (0.201, 0.201, NOT_MET)])
def test_the_faster_mode_makes_five_times_the_small_random_writes_of_dm_ebs(pad_s, coalesce_s, verdict):
    figures = found(made("ebs"), made("pad", pad_s), made("coalesce", coalesce_s))
    assert figures["write512-32, the faster mode against ebs"].verdict == verdict


@pytest.mark.parametrize("case", [case.name for case in CASES])
def test_in_no_case_is_a_mode_slower_than_dm_ebs(case):
    def verdicts(pad_s, coalesce_s):
        figures = found(made("ebs", case=case), made("pad", pad_s, case=case), made("coalesce", coalesce_s, case=case))
        return [figures[f"{case}, {arm} against ebs"].verdict for arm in FIXING]
    assert verdicts(1.0, 1.0) == [MET, MET]
    assert verdicts(1.01, 0.1) == [NOT_MET, MET] and verdicts(0.1, 1.01) == [MET, NOT_MET]


def test_what_is_acknowledged_from_memory_counts_when_it_is_written():
    figure = found(made("ebs"), made("coalesce", 0.1, 0.91), made(LOOP, 0.1, 0.9))["write512-32, coalesce against ebs"]
    assert figure.verdict == NOT_MET and "loop, through the page cache: 100/s" in figure.measured


def test_a_ratio_is_one_of_medians_of_the_rounds():
    figure = found(made("ebs"), made("ebs", 1.0), made("ebs", 9.0), made("pad", 0.5), made("pad", 0.5), made("pad", 0.1))[
        "write512-32, pad against ebs"]
    assert figure.value == 2 and "pad 200/s (200 to 1e+03 in 3 runs)" in figure.measured


@pytest.mark.parametrize("ebs, own, verdict", [(9, 0, MET), (9, 1, NOT_MET), (0, 1, NOT_MET), (0, 0, VOID)])
def test_no_fault_counts_only_where_dm_ebs_has_some(ebs, own, verdict):
    figures = found(raced_arms=[raced("ebs", ebs), raced(LOOP, 0), raced("pad", own), raced("coalesce", own)])
    for arm in FIXING:
        figure = figures[RACES + arm]
        assert figure.verdict == verdict and "loop: none in 100 rounds, fewer than 1 in 34" in figure.measured
    assert {figure.verdict for figure in found(raced_arms=[raced("pad", 0)]).values()} == {MISSING}


@pytest.mark.parametrize("arm, words", [("ebs", "ebs /dev/vda 0 1 8"), (LOOP, "losetup --find"),
                                        ("pad", "align /dev/vda 0 4 mode pad logical_block_size 512")])
def test_a_device_of_each_arm_is_examined_and_removed(arm, words):
    guest = Guest()
    assert races.examine(guest, arm, 624) == Races(arm, 624, 2, {"lost-update": 2}, 2, 1, None)
    order = [place(guest.lines, line) for line in (words, "--block 4096 --rounds 624", "detach" if arm == LOOP else "remove")]
    assert order == sorted(order)


@pytest.mark.parametrize("arm, verdict", [("ebs", VOID), (LOOP, MET), ("pad", NOT_MET)])
def test_an_arm_that_conform_cannot_go_on_with_has_the_reason_and_no_verdict(arm, verdict):
    guest = Guest()
    def refuse(*argv, **_):
        guest.run(*argv)
        raise GuestError("/run/alignctl conform x: status 3: alignctl: x: zeroes: Input/output error")
    guest.json = refuse
    examined = races.examine(guest, arm, 624)
    assert examined.words == "cannot be examined: x: zeroes: Input/output error"
    assert guest.lines[-1] == ("losetup --detach /dev/loop0" if arm == LOOP else "dmsetup remove smaller")
    others = [raced(other, 9 * (other == "ebs")) for other in smaller.ARMS if other != arm]
    assert found(raced_arms=[*others, examined])[RACES + "pad"].verdict == verdict


def test_results_are_saved_and_shown(tmp_path):
    whole = Record(machine={"noise": "made up"}, smaller=[made(arm) for arm in smaller.ARMS],
                   races=[raced("ebs", 9), raced("pad", 0)])
    whole.save(tmp_path / "bench.json", [], [])
    assert Record.load(tmp_path / "bench.json") == whole and asdict(whole)["races"][0]["kinds_faulty"] == 7
    columns = [list(column.cells) for column in report.races_table(whole).columns]
    assert columns[0] == ["ebs", "pad"] and columns[-1] == ["lost-update 9", "none; fewer than 1 in 34"]
    columns = [list(column.cells) for column in report.smaller_table(whole).columns]
    assert columns[1] == list(smaller.ARMS) and columns[6] == [report.DASH, report.DASH, "3", "3"]
    assert columns[-1] == ["ok"] * 4
    whole.smaller[0] = replace(whole.smaller[0], wrong=1)
    assert [list(column.cells) for column in report.smaller_table(whole).columns][-1] == ["WRONG", "ok", "ok", "ok"]


def test_the_row_is_measured_in_a_guest_that_counts_instructions(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "main_series", lambda: kernels.USUAL)
    it = bench.Bench(bench.arguments(["--only", "smaller", "--out", str(tmp_path)]), None)
    assert list(it.counted([ROWS["smaller"]])) == [it.count_smaller] and not list(it.counted([ROWS["streams"]]))
