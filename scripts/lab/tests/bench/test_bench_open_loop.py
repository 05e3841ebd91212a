# SPDX-License-Identifier: GPL-2.0
"""A long open loop is judged by its start, its memory and its clock, and its trace is a recording."""

import json
import subprocess

import pytest

from lab.bench import open_loop
from lab.bench.arms import BLOCK
from lab.bench.figures import MET, MISSING, NOT_MET, ROWS
from lab.bench.record import Record
from lab.paths import OUT

ALIGNCTL = OUT / "bin" / "alignctl"


def run(**given):
    """Make a run of 400 s, with half a second for start and end, half of the memory and a tenth of the drift."""
    return open_loop.OpenLoop(**{"requests": 10_000_000, "elapsed_s": 400.6, "wall_s": 400, "flush_s": 0.1,
                                 "max_rss_kib": 32 << 10, "drift": 0.0001, **given})


@pytest.mark.parametrize("given, expected", [
    ({}, [MET, MET, MET]),
    ({"elapsed_s": 401.2}, [NOT_MET, MET, MET]),
    ({"max_rss_kib": 64 << 10}, [MET, NOT_MET, MET]),
    ({"drift": 0.001}, [MET, MET, NOT_MET]),
])
def test_each_limit_is_judged_by_itself(given, expected):
    assert [figure.verdict for figure in ROWS["replay-open"].figures(Record(open_loop=[run(**given)]))] == expected


def test_the_worst_of_several_runs_counts():
    figures = ROWS["replay-open"].figures(Record(open_loop=[run(drift=0.01), run(elapsed_s=500)]))
    assert [figure.verdict for figure in figures] == [NOT_MET, MET, NOT_MET]


def test_what_was_not_run_is_not_met():
    assert [figure.verdict for figure in ROWS["replay-open"].figures(Record())] == [MISSING] * 3


def test_a_record_keeps_what_was_measured(tmp_path):
    Record(open_loop=[run()]).save(tmp_path / "bench.json", [], [])
    assert Record.load(tmp_path / "bench.json").open_loop == [run()]


def test_the_recording_has_its_requests_at_their_rate(tmp_path):
    recording = open_loop.make_trace(ALIGNCTL, tmp_path, 1000)
    assert list(tmp_path.iterdir()) == [recording]
    planned = subprocess.run([ALIGNCTL, "plan", recording, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(planned.stdout)["requests"]["write"] == {"requests": 1000, "bytes": 1000 * BLOCK}
    back = tmp_path / "back.csv"
    subprocess.run([ALIGNCTL, "convert", recording, "--to", "csv", "--output", back], check=True)
    assert [int(line.split(",")[0]) for line in back.read_text().splitlines()[1:]] == \
        [number * 10**9 // open_loop.RATE for number in range(1000)]
