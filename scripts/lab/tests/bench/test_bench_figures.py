# SPDX-License-Identifier: GPL-2.0
"""The arithmetic of the required figures, on made-up records just inside and just outside."""

import json
from dataclasses import replace

import pytest
from bench_samples import QUEUE, record, run

from lab.bench import checks, figures, overhead, report
from lab.bench.figures import MET, MISSING, NOT_MET, ROWS, VOID
from lab.bench.noise import Usage
from lab.bench.record import Record, Series


def verdicts(row, *runs, **options):
    return [figure.verdict for figure in ROWS[row].figures(record(*runs, **options))]


@pytest.mark.parametrize("row", figures.QUICK_ROWS)
def test_a_figure_without_its_runs_is_not_measured_and_names_them(row):
    found = list(ROWS[row].figures(record()))
    assert found
    for figure in found:
        assert figure.verdict == MISSING and figure.measured.startswith("no run of ")


@pytest.mark.parametrize("touches, pad_reads, verdict", [(0, 2, MET), (1, 2, NOT_MET),
                                                         (0, 3, NOT_MET)])
def test_a_stream_has_no_touch_and_rmin_reads_in_every_repetition(touches, pad_reads, verdict):
    good = [run("instant", case, "coalesce", pad_reads=2) for case, _ in figures.STREAMS]
    second = run("instant", "w136k", "coalesce", 1, touches=touches, expected=touches,
                 pad_reads=pad_reads)
    assert verdicts("streams", *good, second) == [verdict, MET, MET, MET]


@pytest.mark.parametrize("pad_reads, verdict", [(100, MET), (101, NOT_MET)])
def test_a_fresh_file_costs_at_most_one_read_for_each_large_write(pad_reads, verdict):
    made = run("instant", "diskbenchi-fresh", "coalesce", requests=501, pad_reads=pad_reads)
    assert verdicts("fresh", made) == [verdict]


def test_the_largest_request_is_bounded_by_segments_or_by_bytes():
    assert figures.largest_request({"max_sectors_kb": 1280, "max_segments": 254}) == 254 * 4096
    assert figures.largest_request({"max_sectors_kb": 512, "max_segments": 254}) == 512 << 10


@pytest.mark.parametrize("reads, writes, verdict", [(81, 81, MET), (82, 81, NOT_MET),
                                                    (81, 82, NOT_MET)])
def test_held_neighbours_leave_in_as_few_requests_as_the_queue_allows(reads, writes, verdict):
    # 20000 * 4096 / (254 * 4096) = 78.7: 79 requests, and two more.
    made = run("instant", "w512-held", "coalesce", count=20000, reads=reads, writes=writes)
    assert verdicts("w512-requests", made) == [verdict]


@pytest.mark.parametrize("mean_us, verdict", [(2300, MET), (2301, NOT_MET)])
def test_latency_compares_medians_of_the_repetitions(mean_us, verdict):
    raw = [run("fixed-2ms", "w136k-aligned", "raw", i, mean_us=us)
           for i, us in enumerate((1000, 2000, 9000))]
    held = [run("fixed-2ms", "w136k", "coalesce", i, mean_us=us)
            for i, us in enumerate((8000, mean_us, 100))]
    assert verdicts("w136k-latency", *raw, *held) == [verdict]


@pytest.mark.parametrize("pair_s, verdict", [(0.25, MET), (0.2501, NOT_MET)])
def test_a_pair_of_writes_is_compared_with_the_write_that_covers_it(pair_s, verdict):
    pairs = run("fixed-2ms", "w4k_132k", "coalesce", requests=200, wall_s=pair_s)
    whole = run("fixed-2ms", "w136k", "coalesce", wall_s=0.2)
    assert verdicts("w4k-wall", pairs, whole) == [verdict]


def test_the_drives_busy_time_and_the_wall_time_are_two_figures():
    raw = run("st1000dm003", "w4k_132k", "raw", requests=200, wall_s=2.0, busy_s=2.0)
    own = run("st1000dm003", "w4k_132k", "coalesce", requests=200, wall_s=1.01, busy_s=0.4)
    floor = run("st1000dm003", "w136k-aligned", "raw", busy_s=0.1)
    assert verdicts("w4k-st1000dm003", raw, own, floor) == [MET, NOT_MET]
    assert "aligned raw, the same bytes: busy 1 ms" in next(
        ROWS["w4k-st1000dm003"].figures(record(raw, own, floor))).measured


def test_the_flush_behind_held_writes_counts_in_a_figure_of_its_own():
    raw = run("hdd-nocache", "w512", "raw", wall_s=20.0)
    own = run("hdd-nocache", "w512", "coalesce", wall_s=0.5, flush_s=0.6)
    assert verdicts("w512-nocache", raw, own) == [MET, NOT_MET]


@pytest.mark.parametrize("cpu, wall_s, verdict", [
    (0.80, 2.0, MET), (0.81, 2.0, VOID), (0.3, 2.3, NOT_MET), (0.9, 2.3, VOID)])
def test_a_depth_of_32_is_void_where_the_guest_is_full(cpu, wall_s, verdict):
    raw = run("fixed-10ms", "rand512-32", "raw", wall_s=1.0)
    pad = run("fixed-10ms", "rand512-32", "pad", wall_s=wall_s, cpu=cpu)
    assert verdicts("rand512-raw", raw, pad) == [verdict]


def test_dm_ebs_is_compared_by_its_rate_as_it_makes_fewer_writes():
    ebs = run("fixed-10ms", "rand512-32", "ebs", count=25, wall_s=1.5)
    pad = run("fixed-10ms", "rand512-32", "pad", wall_s=2.0)
    assert verdicts("rand512-ebs", ebs, pad) == [MET]
    assert verdicts("rand512-ebs", replace(ebs, replay={**ebs.replay, "wall_s": 1.49}),
                    pad) == [NOT_MET]


def test_a_log_is_read_once_for_each_block():
    def made(pad_reads):
        return [run("instant", "append-512-dsync", arm, count=512, pad_reads=pad_reads)
                for arm in ("pad", "coalesce")]
    assert verdicts("append", *made(64)) == [MET, MET]
    assert verdicts("append", *made(65)) == [NOT_MET, NOT_MET]


def test_overhead_is_a_ratio_of_medians():
    arms = {"raw": [100.0] * 9, "linear": [200.0] * 9, "report": [220.0] * 5 + [999.0] * 4,
            "pad": [226.0] * 9, "coalesce": [225.0] * 9}
    assert overhead.ratio(arms, "report") == 1.2
    assert overhead.ratio(arms, "ebs") is None
    assert verdicts("overhead", overhead={engine: arms for engine in overhead.ENGINES}) == \
        [MET, NOT_MET, MET] * 2


def test_overhead_of_too_few_runs_is_void():
    arms = {arm: [value] * (overhead.FEWEST_RUNS - 1) for arm, value in
            {"raw": 1.0, "linear": 2.0, "report": 2.1, "pad": 2.1, "coalesce": 2.1}.items()}
    assert set(verdicts("overhead", overhead={e: arms for e in overhead.ENGINES})) == {VOID}


def test_the_spread_of_overhead_pairs_the_runs_of_a_round():
    arms = {"raw": [0.0, 100.0], "linear": [100.0, 200.0], "pad": [150.0, 260.0]}
    assert overhead.ratio_spread(arms, "pad") == (1.5, 1.6)


def test_fio_that_failed_is_no_measurement():
    def document(error, ios):
        return {"jobs": [{"error": error, "write": {"total_ios": ios, "lat_ns": {"mean": 7.0}}}]}
    assert overhead.fio_mean_ns(document(0, 5)) == 7.0
    for bad in (document(5, 5), document(0, 0)):
        with pytest.raises(ValueError, match="fio made"):
            overhead.fio_mean_ns(bad)


@pytest.mark.parametrize("high, verdict", [(64 * 4608 + 2 * 64 * 4096, MET),
                                           (64 * 4608 + 2 * 64 * 4096 + 1, NOT_MET)])
def test_memory_is_blocks_and_a_buffer_for_each_run_that_was_read(high, verdict):
    def made(case, arm, blocks, most):
        return run("instant", case, arm, pad_reads=2,
                   memory={"memory_bytes": 0, "memory_high_water_bytes": most,
                           "max_blocks": blocks})
    runs = [made("w512-64-blocks", "pad", 64, 64 * 4608),
            made("w512-64-blocks", "coalesce", 64, high),
            made("w512-1-block", "pad", 1, 4608), made("w512-1-block", "coalesce", 1, 4608)]
    assert verdicts("memory", *runs) == [MET, verdict, MET, MET]


def test_a_wrong_byte_an_unbalanced_ledger_and_a_stray_touch_are_findings():
    good = run("instant", "w512", "pad", touches=3, expected=5)
    assert checks.check(record(good)) == []
    wrong = replace(good, replay={**good.replay, "data_check": {
        "status": "mismatch", "sectors": 8, "mismatches": 1}})
    unbalanced = replace(good, ledger={**good.ledger, "rmw_host": 1})
    stray = replace(good, drive={**good.drive, "touches": 4})
    for bad, words in ((wrong, "data check"), (unbalanced, "does not balance"),
                       (stray, "rmw_drive says 3")):
        assert any(words in finding for finding in checks.check(record(bad)))
    raw = run("instant", "w512", "raw", touches=4, expected=5)
    assert "the workload has 5" in checks.check(record(raw))[0]


def test_usage_is_what_lies_between_two_moments():
    before = Usage.parse("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 ...")
    after = Usage.parse("cpu  130 0 60 840 60 0 0 10 0 0\ncpu0 ...")
    spent = after - before
    assert (spent.busy_share, spent.steal_share) == (0.5, 0.1)
    with pytest.raises(ValueError, match="expected 'cpu'"):
        Usage.parse("intr 5")


def test_spread_is_relative_to_the_median():
    assert Series((9.0, 10.0, 14.0)).spread == 0.5
    assert Series((3.0,)).spread == 0


def test_a_record_is_saved_with_its_figures_and_loads_as_it_was(tmp_path):
    whole = record(run("instant", "w136k", "coalesce", pad_reads=2),
                   overhead={"psync": {"raw": [1.0], "linear": [2.0], "pad": [2.5]}})
    found = figures.figures(whole, ("streams", "overhead"))
    whole.save(tmp_path / "bench.json", found, ["one finding"])
    assert Record.load(tmp_path / "bench.json") == whole
    saved = json.loads((tmp_path / "bench.json").read_text())
    assert saved["figures"][0]["verdict"] == MET and saved["findings"] == ["one finding"]
    assert saved["queues"]["instant"] == QUEUE


def test_the_page_shows_every_figure_every_arm_and_every_finding():
    arms = [run("fixed-2ms", "w136k", arm, mean_us=1000.0 * (i + 1))
            for i, arm in enumerate(("raw", "linear", "ebs", "pad", "coalesce"))]
    whole = record(*arms, overhead={"psync": {"raw": [1.0], "linear": [2.0], "pad": [2.5]}})
    found = figures.figures(whole, ("w136k-ebs",))
    text = report.page(whole, found, ["a <finding>"])
    assert "0 of 1 figures met, 1 findings" in text and "a &lt;finding&gt;" in text
    for arm in ("raw", "linear", "ebs", "pad", "coalesce"):
        assert f'class="bar {arm}"' in text
    assert text.count("<tr>") == 1 + 1 + 1 + len(arms)
