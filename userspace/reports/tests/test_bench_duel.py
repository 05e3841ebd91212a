# SPDX-License-Identifier: GPL-2.0
"""alignctl replay and fio make the same kind of requests, and what is concluded from their figures is right."""

import pytest

from align_reports.bench import duel
from align_reports.bench.arms import BLOCK
from align_reports.bench.figures import MET, NOT_MET, ROWS
from align_reports.bench.record import Record


def results(own, theirs, place="null_blk"):
    """(iops, mean, p99) of each run."""
    return [duel.Result(place, program, *figures) for program, runs in (("alignctl", own), ("fio", theirs))
            for figures in runs]


def verdicts(found):
    other = results([(100, 10, 20)], [(100, 10, 20)], "file")
    figures = list(ROWS["replay-fio"].figures(Record(duel=found + other)))
    return [figure.verdict for figure in figures][:3]


FIO = [(1000, 30, 60), (1100, 32, 66), (1050, 31, 63)]


def test_a_replay_as_fast_as_fio_with_latencies_within_its_spread_meets_all():
    assert verdicts(results([(1000, 32, 65), (1020, 31, 64), (1010, 31.5, 66)], FIO)) == [MET] * 3


@pytest.mark.parametrize("run, expected", [((990, 31, 63), [NOT_MET, MET, MET]), ((1050, 34, 63), [MET, NOT_MET, MET]),
                                           ((1050, 31, 50), [MET, MET, NOT_MET])])
def test_each_figure_is_judged_by_itself(run, expected):
    assert verdicts(results([run] * 3, FIO)) == expected


def test_the_trace_is_the_same_each_time_and_stays_inside_the_file():
    lines = list(duel.trace_lines(1000))
    assert lines == list(duel.trace_lines(1000))
    assert lines[0] == "op,offset,bytes\n"
    places = [int(line.split(",")[1]) for line in lines[1:]]
    assert all(place % BLOCK == 0 and 0 <= place <= duel.FILE_BYTES - BLOCK for place in places)
    assert len(set(places)) > 900


def test_a_fio_that_wrote_nothing_is_an_error():
    job = {"error": 0, "write": {"total_ios": 0}}
    with pytest.raises(ValueError, match="0 writes"):
        duel.fio_result("file", {"jobs": [job]})


class Guest:
    """Stands in for the guest: every program has its pace."""

    def __init__(self):
        self.made = []

    def run(self, *argv, **_):
        return "/dev/duel\n"

    def json(self, *argv, **_):
        program = "fio" if argv[0] == "fio" else "alignctl"
        self.made.append((program, next(path for path in argv if "nullb0" in path or "duel/file" in path)))
        if program == "fio":
            latency = {"mean": 20000.0, "percentile": {"99.000000": 40000}}
            return {"jobs": [{"error": 0, "write": {"total_ios": 5, "iops": 7.0, "lat_ns": latency}}]}
        return {"iops": 8.0, "service_us": {"mean": 21.0, "p99": 41.0}}


def test_both_take_turns_and_the_first_round_is_dropped(tmp_path):
    guest, steps = Guest(), []
    contest = duel.Duel(guest, "/bin/alignctl", tmp_path, 10)
    contest.set_up()
    found = contest.measure(2, lambda done, total: steps.append((done, total)))
    assert len(guest.made) == 12 and len(found) == 8
    assert [program for program, _ in guest.made[:4]] == ["fio", "alignctl"] * 2
    assert steps[-1] == (12, 12)
    assert duel.Result("null_blk", "fio", 7.0, 20.0, 40.0) in found
    assert duel.Result("file", "alignctl", 8.0, 21.0, 41.0) in found


def test_a_record_with_a_duel_loads_as_it_was(tmp_path):
    record = Record(duel=results([(1, 2, 3)], FIO))
    record.save(tmp_path / "bench.json", [], [])
    assert Record.load(tmp_path / "bench.json") == record
