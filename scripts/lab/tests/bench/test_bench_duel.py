# SPDX-License-Identifier: GPL-2.0
"""alignctl replay and fio make the same kind of requests, and the verdicts on their figures are right."""

import pytest

from lab.bench import duel
from lab.bench.arms import BLOCK
from lab.bench.figures import MET, NOT_MET, ROWS
from lab.bench.record import Record


def results(own, theirs, place="null_blk", load=duel.FULL):
    """Make results of both programs from (iops, mean, p99) of each run."""
    return [duel.Result(place, program, *figures, load) for program, runs in (("alignctl", own), ("fio", theirs))
            for figures in runs]


# A full load with 32 in flight, and a paced one.
FIO = [(1000, 32000, 60000), (1100, 29000, 66000), (1050, 30500, 63000)]
PACED = [(100, 30, 60), (100, 32, 66), (100, 31, 63)]


def verdicts(own=FIO, paced=PACED):
    """Return the verdicts on rate, in flight, and mean and p99 at full load and paced."""
    found = [each for place in duel.PLACES for each in
             results(own, FIO, place) + results(paced, PACED, place, duel.PACED)]
    found = [figure.verdict for figure in ROWS["replay-fio"].figures(Record(duel=found))]
    assert found[:6] == found[6:]
    return "".join("+" if verdict == MET else "-" if verdict == NOT_MET else "?" for verdict in found[:6])


def test_a_replay_that_is_fio_meets_all():
    assert verdicts() == "++++++"


@pytest.mark.parametrize("run, expected", [
    ((990, 32000, 63000), "-+++++"),
    ((1050, 20000, 63000), "+-++++"),       # 21 of 32 in flight
    ((1050, 34000, 63000), "++-+++"),
    ((1050, 30500, 70000), "+++-++"),
    ((2000, 16000, 20000), "++++++"),       # faster is not worse
])
def test_each_figure_at_full_load_is_judged_by_itself(run, expected):
    assert verdicts(own=[run] * 3) == expected


@pytest.mark.parametrize("run, expected", [
    ((100, 33, 65), "++++++"), ((100, 28, 63), "++++-+"), ((100, 34, 63), "++++-+"), ((100, 31, 50), "+++++-"),
    ((100, 31, 70), "+++++-"),
])
def test_at_an_equal_rate_latencies_must_neither_be_longer_nor_shorter(run, expected):
    assert verdicts(paced=[run] * 3) == expected


def test_a_record_without_a_paced_load_has_the_figures_of_the_full_one():
    found = [each for place in duel.PLACES for each in results(FIO, FIO, place)]
    assert len(list(ROWS["replay-fio"].figures(Record(duel=found)))) == 8


def test_the_trace_is_the_same_each_time_and_stays_inside_the_file():
    lines = list(duel.trace_lines(1000))
    assert lines == list(duel.trace_lines(1000))
    assert lines[0] == "time_ns,op,offset,bytes\n"
    assert [int(line.split(",")[0]) for line in lines[1:4]] == [0, 10**9 // duel.PACE, 2 * 10**9 // duel.PACE]
    places = [int(line.split(",")[2]) for line in lines[1:]]
    assert all(place % BLOCK == 0 and 0 <= place <= duel.FILE_BYTES - BLOCK for place in places)
    assert len(set(places)) > 900


def test_a_rate_is_compared_with_that_of_its_own_round():
    """Pairs of 0.9, 1.6 and 0.5; the quotient of the medians would be 1.6."""
    own, theirs = [(900, 1, 1), (800, 1, 1), (100, 1, 1)], [(1000, 1, 1), (500, 1, 1), (200, 1, 1)]
    assert duel.rate_ratio(results(own, theirs), "null_blk") == pytest.approx(0.9)


def test_a_fio_that_wrote_nothing_is_an_error():
    job = {"error": 0, "write": {"total_ios": 0}}
    with pytest.raises(ValueError, match="0 writes"):
        duel.fio_result("file", duel.FULL, {"jobs": [job]})


class Guest:
    """A stand-in for the guest, in which every program has a fixed pace."""

    def __init__(self):
        self.made = []

    def run(self, *argv, **_):
        return "/dev/duel\n"

    def json(self, *argv, **_):
        program = "fio" if argv[0] == "fio" else "alignctl"
        paced = "--rate_iops=1000" in argv if program == "fio" else "open" in argv and duel.PACED_TRACE in argv
        self.made.append((program, "paced" if paced else "full"))
        if program == "fio":
            latency = {"mean": 20000.0, "percentile": {"99.000000": 40000}}
            return {"jobs": [{"error": 0, "write": {"total_ios": 5, "iops": 7.0, "lat_ns": latency}}]}
        return {"iops": 8.0, "service_us": {"mean": 21.0, "p99": 41.0}}


def test_both_take_turns_and_the_first_round_is_dropped(tmp_path):
    guest, steps = Guest(), []
    contest = duel.Duel(guest, "/bin/alignctl", tmp_path, 10)
    contest.set_up()
    found = contest.measure(2, lambda done, total: steps.append((done, total)))
    assert len(guest.made) == 24 and len(found) == 16
    assert guest.made[:4] == [("fio", "full"), ("alignctl", "full"), ("fio", "paced"), ("alignctl", "paced")]
    assert guest.made[8:10] == [("alignctl", "full"), ("fio", "full")]
    assert guest.made[16:18] == guest.made[:2]
    assert steps[-1] == (24, 24)
    assert duel.Result("null_blk", "fio", 7.0, 20.0, 40.0, "full") in found
    assert duel.Result("file", "alignctl", 8.0, 21.0, 41.0, "paced") in found


def test_a_record_with_a_duel_loads_as_it_was(tmp_path):
    record = Record(duel=results([(1, 2, 3)], FIO))
    record.save(tmp_path / "bench.json", [], [])
    assert Record.load(tmp_path / "bench.json") == record
