# SPDX-License-Identifier: GPL-2.0
"""A recorder's cost is a write's cost with it, less the cost without one; and the recording must be complete."""

import json

import pytest

from lab.bench import recording
from lab.bench.figures import MET, MISSING, NOT_MET, ROWS, VOID
from lab.bench.record import Record
from lab.bench.recording import ALIGNCTL, BLKTRACE, NONE, RECORDERS, TOP, Recorded


def rounds(*costs, lost=0, every=200):
    """
    Make runs of each recorder, a tuple a round of those that keep requests; following adds 1700, counting live 300 or 900, and
    counting every disk `every`. Each lost `lost` writes.
    """
    each = [(*made, *(made[0] + more for more in (1700, 300, 900, every))) for made in costs]
    return [Recorded(name, cost, 1000, 1000 - (lost if name != NONE else 0))
            for made in each for name, cost in zip(RECORDERS, made, strict=True)]


def figure(runs):
    return next(iter(ROWS["record"].figures(Record(recording=runs))))


@pytest.mark.parametrize("own, verdict", [(8999, MET), (9000, MET), (9001, NOT_MET)])
def test_no_more_may_be_added_than_by_blktrace(own, verdict):
    found = figure(rounds((7000, own, 9000)))
    assert found.verdict == verdict
    assert found.value == pytest.approx((own - 7000) / 2000)


@pytest.mark.parametrize("every, verdict", [(299, MET), (300, MET), (301, NOT_MET)])
def test_counting_every_disk_adds_no_more_than_top(every, verdict):
    _, found = ROWS["record"].figures(Record(recording=rounds((7000, 8000, 9000), every=every)))
    assert (found.verdict, found.value) == (verdict, pytest.approx(every / 300))
    _, lost = ROWS["record"].figures(Record(recording=rounds((7000, 8000, 9000), every=every, lost=3)))
    assert lost.verdict == VOID


def test_a_run_is_compared_with_the_one_alone_of_its_round():
    runs = rounds((7000, 8000, 9000), (9000, 10000, 11000), (100, 1100, 2100))
    assert recording.added(runs, ALIGNCTL) == [1000] * 3
    assert figure(runs).value == 0.5
    assert "beside the 7000 of a write" in figure(runs).measured
    assert recording.added(runs, TOP) == [300] * 3
    assert "alignctl record --requests 1700; alignctl top 300; alignctl top --drive 900" in figure(runs).measured


def test_a_recorder_that_has_lost_writes_proves_nothing():
    found = figure(rounds((7000, 7001, 9000), lost=3))
    assert found.verdict == VOID
    assert "alignctl record: has 997 of 1000 writes" in found.measured
    assert "blktrace: has 997 of 1000 writes" in found.measured
    assert "alignctl top --drive: has 997 of 1000 writes" in found.measured


def test_what_was_not_run_is_not_met():
    assert figure([]).verdict == MISSING


def test_a_record_keeps_what_was_measured(tmp_path):
    record = Record(recording=rounds((7000, 8000, 9000)))
    record.save(tmp_path / "bench.json", [], [])
    assert Record.load(tmp_path / "bench.json") == record


class Guest:
    """A stand-in for the guest; blktrace's trace has several events of each of three writes."""

    def __init__(self, status=0):
        self.recorders, self.writes, self.status = [], [], status

    def run(self, *argv, **_):
        said = {"blkparse": "D W\nC W\nQ W\n" * 3,
                "cat": 'alignctl_disk_writes_total{device="vda"} 9\nalignctl_disk_writes_total{device="nullb0"} 3\n'}
        return said.get(argv[0], "8\n")

    def json(self, *argv, **_):
        recorder = json.loads(argv[3])
        self.recorders.append(recorder[0] if recorder else None)
        self.writes += [int(word.partition("=")[2]) for word in json.loads(argv[5]) if word.startswith("--number_ios=")]
        said = {"operations": {"write": {"count": 3}}, "followed": {"writes": 3}, "writes": 3, "drive": {"requests": 3}}
        return {"status": self.status, "said": json.dumps(said),
                "load": {"jobs": [{"write": {"iops": 125000, "total_ios": 3}}]}}


def test_recorders_take_turns_and_the_first_round_is_short_and_dropped():
    guest, steps = Guest(), []
    beside = recording.Recording(guest, "/bin/alignctl", 30)
    beside.set_up()
    found = beside.measure(2, lambda done, total: steps.append((done, total)))
    assert guest.recorders == [None, "/run/alignctl", "blktrace", *["/run/alignctl"] * 4] * 3
    assert found == [Recorded(name, 8000.0, 3, 3) for name in RECORDERS] * 2
    assert steps[-1] == (21, 21)
    assert guest.writes == [3] * 7 + [30] * 14


def test_a_recorder_that_failed_is_an_error():
    with pytest.raises(ValueError, match="blktrace: status 1"):
        recording.Recording(Guest(status=1), "/bin/alignctl", 3).run(BLKTRACE)
