# SPDX-License-Identifier: GPL-2.0
"""The table and the page show every run, and the page needs nothing but itself."""

import itertools
import re

import pytest
from html_checks import Outline, check_layout, stands_alone

from align_reports import charts, page, table
from align_reports.results import PROFILES, Results
from align_reports.workloads import WORKLOADS


def test_the_page_is_well_formed_and_shows_every_run(made_up):
    outline = Outline(page.render(made_up, []))
    assert outline.open == []
    rows = [a for tag, a in outline.tags if tag == "tr" and "class" in a]
    drawings = [a for tag, a in outline.tags if tag == "svg"]
    assert len(rows) == len(made_up.runs)
    assert len(drawings) == 2 * len(PROFILES) * len(WORKLOADS)
    assert all(drawing["aria-label"] for drawing in drawings)


def test_the_page_needs_no_script_and_no_other_file(made_up):
    assert stands_alone(page.render(made_up, ["a <finding>"]))


def test_findings_are_on_the_page_and_change_its_verdict(made_up):
    assert "No finding in 35 runs" in page.render(made_up, [])
    spoiled = page.render(made_up, ["w512 & co: 1 < 2"])
    assert "No finding" not in spoiled and "w512 &amp; co: 1 &lt; 2" in spoiled


def test_an_unbalanced_ledger_is_shown_as_one(made_up):
    run = made_up.find("st1000dm003", "w512", "pad")
    assert "=" in table.ledger_sum(run)
    run.ledger["rmw_host"] += 1
    assert "=" not in table.ledger_sum(run) and "\u2260" in table.ledger_sum(run)


def test_shares_of_a_latency_distribution_add_up_to_one(made_up):
    for run in made_up.runs:
        assert abs(sum(charts.shares(run).values()) - 1) < 1e-9


def test_a_histogram_finer_than_the_chart_is_added_up(made_up):
    run = made_up.runs[0]
    run.latency["histogram"] = [[1000, 1], [1010, 2], [1020, 3], [1189, 4], [4000, 10]]
    assert sorted(charts.shares(run).values()) == pytest.approx([0.2, 0.3, 0.5])


def test_every_bar_lies_inside_its_chart(made_up):
    span = charts.latency_span(made_up.runs)
    for profile, workload in itertools.product(made_up.profiles, WORKLOADS):
        group = [run for run in made_up.runs if (run.profile, run.workload) == (profile, workload.name)]
        for drawing in (charts.rmw_panel(group), charts.latency_panel(group, span)):
            height = float(re.search(r'viewBox="0 0 \d+ (\d+)"', drawing)[1])
            bars = re.findall(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" '
                              r'height="([\d.]+)"', drawing)
            assert bars
            for x, y, width, tall in (map(float, bar) for bar in bars):
                assert charts.LEFT - 0.1 <= x and x + width <= charts.WIDTH + 0.1
                assert 0 <= y and y + tall <= height


def test_saved_results_load_as_they_were(made_up, tmp_path):
    made_up.save(tmp_path / "demo.json", ["one finding"])
    loaded = Results.load(tmp_path / "demo.json")
    assert loaded == made_up


def test_a_result_of_another_format_is_refused(made_up, tmp_path):
    path = tmp_path / "demo.json"
    made_up.save(path, [])
    path.write_text(path.read_text().replace('"format": 2', '"format": 99'))
    with pytest.raises(ValueError, match="format 99.*run the demo again"):
        Results.load(path)


@pytest.mark.parametrize("width", [380, 1440])
def test_a_browser_lays_the_page_out_without_sideways_scrolling(made_up, tmp_path, width):
    check_layout(page.render(made_up, []), tmp_path, width)
