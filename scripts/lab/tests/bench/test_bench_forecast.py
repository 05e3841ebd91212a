# SPDX-License-Identifier: GPL-2.0
"""What alignctl plan costs is judged by its instructions and told in seconds; its trace and answers are what they say."""

import pytest

from lab.bench import __main__ as bench, forecast
from lab.bench.arms import BLOCK, SECTOR
from lab.bench.figures import MET, MISSING, NOT_MET, ROWS, SKIPPED, TOLD
from lab.bench.record import Record
from lab.paths import OUT

ALIGNCTL = OUT / "bin" / "alignctl"
SECONDS = {forecast.ALIGNCTL: [0.2, 0.1, 0.3], forecast.ONE_THREAD: [0.5, 0.5, 0.5], forecast.ALL_THREADS: [0.3, 0.3, 0.4]}


def found(**given):
    """A forecast of 100000 requests whose instructions are just few enough."""
    return forecast.Forecast(**{"rows": 100_000, "instructions": dict(forecast.MOST), "timed_rows": 1_000_000,
                                "seconds": {answer: SECONDS for answer in forecast.MOST}, **given})


def verdicts(of):
    return [figure.verdict for figure in ROWS["plan"].figures(Record(forecast=of))]


def test_instructions_are_judged_and_seconds_are_told():
    assert verdicts(found()) == [MET, MET, TOLD, TOLD]
    for number, answer in enumerate(forecast.MOST):
        expected = [MET, MET, TOLD, TOLD]
        expected[number] = NOT_MET
        assert verdicts(found(instructions={**forecast.MOST, answer: forecast.MOST[answer] + 1})) == expected
    words = [figure.measured for figure in ROWS["plan"].figures(Record(forecast=found()))]
    assert words[0].startswith("2000, 100000 requests") and "alignctl plan 0.2 (0.1 to 0.3 in 3 rounds)" in words[2]


def test_what_cannot_be_measured_here_is_skipped_with_its_reason():
    assert verdicts(found(instructions={}, skipped={"instructions": "no valgrind"})) == [SKIPPED, SKIPPED, TOLD, TOLD]
    assert verdicts(found(seconds={}, skipped={"seconds": "no duckdb"})) == [MET, MET, SKIPPED, SKIPPED]
    assert "no duckdb" in [figure.measured for figure in ROWS["plan"].figures(Record(
        forecast=found(seconds={}, skipped={"seconds": "no duckdb"})))]


def test_what_was_not_run_is_not_met():
    assert verdicts(None) == [MISSING] * 4


def test_a_record_keeps_what_was_measured(tmp_path):
    Record(forecast=found()).save(tmp_path / "bench.json", [], [])
    assert Record.load(tmp_path / "bench.json").forecast == found()


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("".join(forecast.lines(3000)))
    return path


def test_plan_says_of_the_trace_what_its_lines_come_to(trace):
    assert trace.read_text() == "".join(forecast.lines(3000))
    rows = [line.split(",") for line in trace.read_text().splitlines()]
    writes = [(int(row[4]), int(row[4]) + int(row[5])) for row in rows if row[3] == "Write"]
    touches, blocks = 0, set()
    for start, end in writes:
        touches += len({edge // BLOCK for edge, part in ((start, start % BLOCK), (end - 1, end % BLOCK)) if part})
        blocks.update(range(start // BLOCK, (end - 1) // BLOCK + 1))
    assert 0.65 < len(writes) / len(rows) < 0.75 and all(start % SECTOR == end % SECTOR == 0 for start, end in writes)
    assert forecast.planned(ALIGNCTL, trace, forecast.TOUCHES) == (touches,)
    assert forecast.planned(ALIGNCTL, trace, forecast.ALL) == (touches, len(blocks))


def test_duckdb_says_the_same(trace):
    pytest.importorskip("duckdb")
    timed = forecast.Forecast()
    forecast.time_all(ALIGNCTL, trace, 2, timed)
    assert timed.wrong == [] and {len(taken) for programs in timed.seconds.values() for taken in programs.values()} == {2}


def test_answers_that_differ_are_a_finding(trace, monkeypatch):
    monkeypatch.setattr(forecast, "counted", lambda _, answer, threads: (1, 2)[:len(forecast.QUERIES[answer])])
    timed = forecast.Forecast()
    forecast.time_all(ALIGNCTL, trace, 1, timed)
    assert [words.split(":")[0] for words in timed.wrong] == list(forecast.ASKED.values())


@pytest.mark.parametrize("instructions, status", [(2000, bench.FINE), (2001, bench.UNMET)])
def test_the_row_alone_needs_no_guest(tmp_path, monkeypatch, instructions, status):
    monkeypatch.setattr(forecast, "measure", lambda *_: found(instructions={forecast.TOUCHES: instructions, forecast.ALL: 7000}))
    monkeypatch.setattr(bench.Bench, "build", lambda _: pytest.fail("a guest is prepared"))
    assert bench.main(["--only", "plan", "--out", str(tmp_path / "out")]) == status
    assert "alignctl plan 0.2" in (tmp_path / "out/bench.txt").read_text()
