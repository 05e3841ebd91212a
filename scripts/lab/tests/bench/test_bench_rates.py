# SPDX-License-Identifier: GPL-2.0
"""Rates of writes on a clock of instructions, and the verdicts on their ratios."""

import pytest

from lab.bench import __main__ as bench, rates
from lab.bench.arms import BLOCK, SECTOR
from lab.bench.figures import MET, MISSING, NOT_MET, ROWS
from lab.bench.record import Record
from lab.linux import kernels


def verdicts(found):
    return [figure.verdict for figure in ROWS["cpus-8"].figures(Record(rates={"cpus-8": found}))]


@pytest.mark.parametrize("linear, pad, expected", [
    (1100.0, 970.0, [MET, MET]), (1100.0, 969.0, [NOT_MET, MET]), (1150.0, 970.0, [MET, NOT_MET])])
def test_both_modes_are_compared_with_report_and_with_linear(linear, pad, expected):
    found = {"linear": [linear] * 3, "report": [1000.0] * 3, "pad": [pad] * 3, "coalesce": [1000.0] * 3}
    assert verdicts(found) == [*expected, MET, MET]
    del found["pad"]
    assert verdicts(found) == [MISSING, MISSING, MET, MET]


def test_a_ratio_is_one_of_medians_and_shows_those_of_the_rounds():
    found = {"linear": [1000.0, 1000.0, 1000.0], "report": [1000.0, 1000.0, 1000.0], "pad": [980.0, 500.0, 990.0],
             "coalesce": [990.0] * 3}
    figure = next(iter(ROWS["cpus-8"].figures(Record(rates={"cpus-8": found}))))
    assert figure.value == 0.98 and "0.500 to 0.990 in 3 rounds" in figure.measured


def test_an_older_module_is_compared_arm_by_arm_and_without_one_there_is_no_figure():
    now = {arm: [1000.0] * 3 for arm in rates.MIXED.arms}
    before = {**now, "pad": [1054.0] * 3, "coalesce": [1052.0] * 3}
    found = {figure.measure.split(": ")[1].split(",")[0]: figure.verdict for figure in
             ROWS["one-percent"].figures(Record(rates={"one-percent": now}, before={"one-percent": before}))}
    assert found == {"raw": MET, "linear": MET, "report": MET, "pad": NOT_MET, "coalesce": MET}
    assert list(ROWS["one-percent"].figures(Record(rates={"one-percent": now}))) == []


def test_one_write_of_a_hundred_is_a_sector_off():
    places = [int(line.split(",")[2]) for line in list(rates.trace_lines(20000))[1:]]
    off = [place for place in places if place % BLOCK]
    assert {place % BLOCK for place in off} == {SECTOR}
    assert len(off) / len(places) == pytest.approx(rates.MISALIGNED, rel=0.2)
    assert max(places) + BLOCK <= rates.SPAN_BYTES


class Guest:
    """A stand-in that answers fio and notes the parameters of modules."""

    def __init__(self, writes):
        self.writes, self.ran = writes, []

    def run(self, *argv, **_):
        self.ran.append(argv)
        return "8388608" if argv[0] == "blockdev" else ""

    def json(self, *argv, **_):
        self.ran.append(argv)
        return {"jobs": [{"error": 0, "write": {"total_ios": self.writes, "iops": 1e5}}]}


def test_a_rate_is_that_of_all_jobs_and_all_writes_must_be_made(tmp_path):
    guest = Guest(800)
    counted = rates.Rates(guest, rates.JOBS, tmp_path, tmp_path, 800)
    assert counted.set_up([]) == {}
    assert counted.run("pad") == 1e5
    loaded = next(argv for argv in guest.ran if argv[:2] == ("modprobe", "null_blk"))
    assert "submit_queues=8" in loaded and "submit_queues=1" not in loaded
    assert {"--numjobs=8", "--number_ios=100", "--filename=/dev/mapper/pad"} <= set(guest.ran[-1])
    guest.writes = 799
    with pytest.raises(ValueError, match="fio made 799 of 800 writes"):
        counted.run("pad")


def test_the_older_module_is_measured_as_well_as_the_present_one(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "main_series", lambda: kernels.USUAL)
    for argv, expected in ([], ["one-percent"]), (["--before", "old.ko"], ["one-percent", "one-percent-before"]):
        made = bench.Bench(bench.arguments(["--only", "one-percent", *argv, "--out", str(tmp_path)]), None)
        made._modules = ["new.ko"]
        assert [each.args[3] for each in made.counted([ROWS["one-percent"]])] == expected
