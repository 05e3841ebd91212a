# SPDX-License-Identifier: GPL-2.0
"""Labels of a picture are readable, ticks stand at the bars, and a legend names what the picture shows."""

import re
from dataclasses import replace

import pytest
from html_checks import check_labels, labels
from verify_samples import made_up_verification

from align_reports import charts
from align_reports.probe import page as method_page
from align_reports.probe.found import Curve
from align_reports.results import MODES
from align_reports.verify import charts as verify_charts, page
from align_reports.verify.verdict import verdicts


@pytest.fixture
def made_up():
    return made_up_verification()


def rendered(results):
    return page.render(results, verdicts(results, list(MODES)), [], None)


def drawings(text):
    return re.findall(r"<svg.*?</svg>", text)


def legends(text):
    """Return the kinds in each section's legend, by the section's title."""
    return {title: re.findall(r'<i class="(\w+)">', key)
            for title, key in re.findall(r'<h2>([^<]*)</h2><p>[^<]*</p><ul class="key">(.*?)</ul>', text)}


@pytest.mark.parametrize("scale", [1e-2, 1, 30, 1e4])
def test_every_label_can_be_read(made_up, scale):
    for run in made_up.runs:
        run.replay["wall_s"] *= scale
        for part in run.replay["time_line"]:
            part.update(end_s=part["end_s"] * scale, mean_us=part["mean_us"] * scale)
        latency = run.latency
        latency.update(mean=latency["mean"] * scale, p99=latency["p99"] * scale, max=latency["max"] * scale, histogram=[
            [bound and bound * scale, count] for bound, count in latency["histogram"]])
    found = drawings(rendered(made_up))
    assert found
    for drawing in found:
        check_labels(drawing)


def test_what_became_of_many_touches_fits_beside_the_axis(made_up):
    found = [replace(each, touches=7654321, at_drive=1234567, host=2345678, avoided=4074076)
             for each in verdicts(made_up, list(MODES)) if each.workload == "w512"]
    check_labels(verify_charts.rmw_panel(found))


@pytest.mark.parametrize("low, high", [(0.3, 9e6), (1, 2), (10, 25), (100, 1e4), (15, 16)])
@pytest.mark.parametrize("unit", ["depth", "bytes"])
def test_ticks_of_a_curve_leave_room_for_each_other(low, high, unit):
    points = [(low * (high / low) ** (step / 12), high / (step + 1)) for step in range(13)]
    check_labels(method_page.line_panel(Curve("any", "any", unit, points)))


def test_each_tick_below_the_bars_stands_under_the_bar_that_it_names(made_up):
    runs = [run for run in made_up.runs if run.workload == "w512"]
    for run in runs:
        if run.phases:
            run.phases[:] = [[0, 30], [512, 5], [3584, 10]]
    drawing = verify_charts.phase_panel(runs)
    bars = [(float(x), float(x) + float(width)) for x, width in re.findall(
        r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawing)]
    named = {words: (left + right) / 2 for words, left, _, right, _ in labels(drawing)}
    assert "4096" not in named, "no write begins there"
    for name, (left, right) in zip(("0", "512", "3584"), bars, strict=True):
        assert left < named[name] < right


def test_a_misaligned_write_has_no_good_colour_wherever_it_begins(made_up):
    """w512 begins at a block and covers an eighth of it."""
    styles = re.search(r"<style>(.*?)</style>", rendered(made_up), re.DOTALL)[1]
    colours = dict(re.findall(r"--([a-z]+): (#\w+);", styles))
    drawing = verify_charts.phase_panel([run for run in made_up.runs if run.workload == "w512"])
    kinds = set(re.findall(r'class="bar (\w+)"', drawing))
    assert kinds == {"boundary", "inside"}
    assert not {colours[kind] for kind in kinds} & {colours["good"], colours["avoided"]}


def test_a_legend_names_what_the_pictures_show_and_nothing_else(made_up):
    for run in made_up.runs:
        if run.phases:
            run.phases[:] = [[3584, 40]]
        if run.ledger:
            run.ledger.update(rmw_avoided=0, rmw_host=run.ledger["rmw_host"] + run.ledger["rmw_avoided"])
    made_up.runs = [run for run in made_up.runs if run.mode in ("raw", "pad")]
    text = rendered(made_up)
    assert legends(text) == {
        "Time before and after": ["repetition", "interval"], "What became of the partial touches": ["drive", "host"],
        "Time where there is nothing to align": ["repetition", "interval"],
        "Latency before and after": ["raw", "pad"], "Where the writes begin": ["inside"],
        "Latency over time": ["raw", "pad"]}
    for kinds in legends(text).values():
        assert all(re.search(rf'class="[\w ]*\b{kind}"', svg) for kind in kinds for svg in ["".join(drawings(text))])


def test_a_time_line_is_a_median_and_a_band_in_columns():
    points = [(0.05 * at + 0.01, 100 if at % 2 else 900) for at in range(20)]
    columns = verify_charts.in_columns(points, 0.25)
    assert len(columns) == 4
    assert [(least, most) for _, _, least, most in columns] == [(100, 900)] * 4
    assert [median for _, median, _, _ in columns] == [900, 100, 900, 100]
    assert [middle for middle, *_ in columns] == pytest.approx([0.11, 0.36, 0.61, 0.86])


def test_a_long_time_line_has_no_more_points_than_it_has_room_for(made_up):
    for run in made_up.runs:
        run.replay["time_line"] = [{"end_s": 0.01 * at, "count": 10, "mean_us": 500 + 7000 * (at % 2), "max_us": 9000}
                                   for at in range(1, 101)]
    drawing = verify_charts.line_panel([run for run in made_up.runs if run.workload == "w512"])
    for points in re.findall(r'<polyline points="([^"]*)"', drawing):
        assert len(points.split()) <= verify_charts.TIME_COLUMNS + 1
    assert drawing.count('class="band ') == len(MODES)


def test_ticks_of_the_finest_choice_that_has_room_are_taken():
    wide = charts.across(charts.log_ticks(1, 1000), lambda value: 100 * len(str(int(value))), str)
    assert [value for value, _, _ in wide] == [1, 10, 100, 1000][:len(wide)] and len(wide) > 1
