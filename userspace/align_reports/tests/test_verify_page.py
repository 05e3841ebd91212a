# SPDX-License-Identifier: GPL-2.0
"""The page of a verification shows every figure, needs nothing but itself, and fits any window."""

import re

import pytest
from html_checks import Outline, check_layout, stands_alone
from verify_samples import SHAPES, made_up_verification

from align_reports.results import MODES
from align_reports.verify import charts, page
from align_reports.verify.verdict import verdicts
from lab.plugins.extent import only_all


@pytest.fixture
def made_up():
    return made_up_verification()


def rendered(results, wrong=(), stopped=None):
    return page.render(results, verdicts(results, list(MODES)), list(wrong), stopped)


def test_the_page_is_well_formed_and_shows_every_verdict(made_up):
    outline = Outline(rendered(made_up))
    assert outline.open == []
    rows = [attrs for tag, attrs in outline.tags if tag == "tr" and "class" in attrs]
    assert len(rows) == len(SHAPES) * len(MODES)
    drawings = [attrs for tag, attrs in outline.tags if tag == "svg"]
    assert len(drawings) == 5 * len(SHAPES) - 1, "of the touches of w4096 there is nothing to draw"
    assert all(drawing["aria-label"] for drawing in drawings)


def test_the_page_needs_no_script_and_no_other_file(made_up):
    assert stands_alone(rendered(made_up, ["a <finding>"]))


def test_findings_and_an_early_end_change_its_verdict(made_up):
    assert "Nothing was lost" in rendered(made_up)
    for spoiled in (rendered(made_up, ["w512 & co: 1 < 2"]), rendered(made_up, [], "w512 &amp; 1 < 2")):
        assert "Nothing was lost" not in spoiled and "Not verified" in spoiled and "1 &lt; 2" in spoiled


def test_the_share_of_writes_by_latency_rises_to_all_of_them(made_up):
    for name in SHAPES:
        points = charts.cumulative(bin for run in made_up.runs if run.workload == name
                                   for bin in charts.bounded(run.latency))
        assert points == sorted(points) and points[-1][1] == pytest.approx(1)
        assert [share for _, share in points] == sorted(share for _, share in points)


def test_percentiles_are_told_from_the_samples_not_from_the_ends_of_bins(made_up):
    runs = [run for run in made_up.runs if (run.workload, run.mode) == ("w512", "raw")]
    for run in runs:
        run.latency.update(p50=17.0, p99=21.0, histogram=[[32, 90], [64, 10]])
    assert "raw: p50 17.0 \u00b5s, p99 21.0 \u00b5s" in charts.cdf_panel(runs)


def test_every_line_lies_inside_its_picture(made_up):
    for name in SHAPES:
        runs = [run for run in made_up.runs if run.workload == name]
        for drawing in (charts.cdf_panel(runs), charts.line_panel(runs)):
            lines = re.findall(r'<polyline points="([^"]*)"', drawing)
            assert len(lines) == len(MODES)
            for x, y in (map(float, point.split(",")) for line in lines for point in line.split()):
                assert charts.LEFT - 0.1 <= x <= charts.WIDTH - charts.RIGHT + 0.1
                assert 0 <= y <= charts.TOP + charts.HEIGHT


def test_every_bar_lies_inside_its_picture(made_up):
    found = verdicts(made_up, list(MODES))
    for name in SHAPES:
        runs, mine = ([each for each in of if each.workload == name] for of in (made_up.runs, found))
        touches = [charts.rmw_panel(mine)] if mine[0].touches else []
        for drawing in (*touches, charts.phase_panel(runs), charts.time_panel(mine, runs)):
            height = float(re.search(r'viewBox="0 0 \d+ (\d+)"', drawing)[1])
            bars = re.findall(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" '
                              r'height="([\d.]+)"', drawing)
            assert bars
            for x, y, width, tall in (map(float, bar) for bar in bars):
                assert charts.LEFT - 0.1 <= x and x + width <= charts.WIDTH + 0.1
                assert 0 <= y and y + tall <= height


@pytest.mark.parametrize("width, scheme", [(380, "light"), (1440, "dark"), *(
    only_all("the narrowest and the widest, and both colours", *other)
    for other in ((380, "dark"), (1200, "light"), (1200, "dark"), (1440, "light")))])
def test_a_browser_lays_the_page_out_without_sideways_scrolling(made_up, tmp_path, width, scheme):
    check_layout(rendered(made_up), tmp_path, width, scheme)
