# SPDX-License-Identifier: GPL-2.0
"""The pictures in the documents show the dashboards as they are; every chart can be read, and draws what the queries answered."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from html_checks import check_labels

from lab.dashboard import command, fleet, picture
from lab.dashboard.__main__ import interval
from lab.dashboard.answers import drawn
from lab.dashboard.panels import DASHBOARD, FLEET, Panel, Target, filled, panels, rate_interval
from lab.paths import REPO

KIB = 1024
LARGEST = 150 * KIB


@dataclass(frozen=True)
class Shown:
    """A picture, its dashboard, the document that has it, and the names of its stretches."""

    file: Path
    dashboard: Path
    document: str
    stretches: tuple[str, ...]

    @property
    def text(self):
        return self.file.read_text()

    @property
    def panels(self):
        return panels(self.dashboard)


SHOWN = [Shown(command.picture("dashboard"), DASHBOARD, "admin/production.rst", ("report", "pad", "coalesce")),
         Shown(command.picture("fleet-dashboard"), FLEET, "admin/fleet.rst", ("as found", f"{fleet.MENDED} mended"))]


@pytest.fixture(params=SHOWN, ids=lambda shown: shown.file.stem)
def shown(request):
    return request.param


def groups(text):
    return re.findall(r"<g [^>]*>(.*?)</g>", text)


def words(text, kind=None):
    found = re.findall(r'<text [^>]*?(?:class="(\w+)")?>([^<]*)</text>', text)
    return [each.replace("&#x27;", "'") for css, each in found if kind is None or css == kind]


def test_the_picture_has_the_dashboards_panels(shown):
    """Else `make dashboard` or `make fleet-dashboard` has to draw it anew."""
    assert [words(group, "name") for group in groups(shown.text)] == [[panel.title] for panel in shown.panels]


def test_the_picture_has_a_line_for_each_query(shown):
    for group, panel in zip(groups(shown.text), shown.panels, strict=True):
        told = " ".join(words(group))
        for target in panel.targets:
            name = re.sub(r"{{name}}(: )?", "", re.sub(r"{{(?!name)\w+}}", "", target.legend)).strip(" ,:")
            assert name in told, f"{panel.title}: {target.legend}"
        assert "<polyline" in group, f"{panel.title} is empty"


def test_the_picture_is_small_and_needs_nothing_else(shown):
    assert len(shown.text) < LARGEST
    assert not re.search(r"href|url\(|<script|var\(", shown.text)
    # Paper below everything: the viewer's background may be dark.
    assert re.search(r"</style>\s*<rect x=\"0.0\" y=\"0.0\" [^>]*class=\"paper\"", shown.text)
    for stretch in shown.stretches:
        assert words(shown.text).count(stretch) == len(shown.panels)


def test_the_picture_is_in_the_documents_with_words_instead(shown):
    text = (REPO / "Documentation" / shown.document).read_text()
    [options] = re.findall(rf"^\.\. image:: {shown.file.name}\n((?:   .*\n)+)", text, re.MULTILINE)
    assert ":alt:" in options


def test_every_unit_of_the_dashboard_can_be_shown(shown):
    assert {panel.unit for panel in shown.panels} <= set(picture.UNITS)


def test_only_the_price_may_fall_below_zero():
    """With an axis from 0, Grafana would not show that misaligned writes are the faster ones, as held ones are."""
    assert [panel.title.split()[0] for panel in panels() if panel.least is None] == ["Price"]
    assert all(panel.least is not None for panel in panels(FLEET))


def test_variables_are_replaced_as_grafana_does():
    assert rate_interval(15, 15) == 60 and rate_interval(120, 15) == 135
    assert filled('x{name=~"$name", instance=~"$instance"}[$__rate_interval]', 60) == 'x{name=~".*", instance=~".*"}[60000ms]'
    with pytest.raises(ValueError):
        filled("x[$__range]", 60)
    assert interval() > 0 and DASHBOARD.exists()


def chart(*curves, unit="cps", stacked=False, least=0.0):
    return picture.Chart("What a test makes up", unit, stacked, least, 0, 0, 15.0,
                         [picture.Curve(name, points) for name, points in curves])


MODES = [picture.Stretch("report", 0, 250), picture.Stretch("pad", 270, 520), picture.Stretch("coalesce", 540, 800)]
STEADY = [(15.0 * at, 3.0) for at in range(54)]


@pytest.mark.parametrize("unit", picture.UNITS)
@pytest.mark.parametrize("high", [2e-4, 0.07, 1, 33, 950, 1.5e6])
@pytest.mark.parametrize("low", [0, -0.3, -1])
def test_every_label_can_be_read(unit, high, low):
    points = [(at, low * high if number % 2 else high) for number, (at, _) in enumerate(STEADY)]
    parts, height = picture.chart(chart(("align-vda: one of many words", points), ("align-vda: two", STEADY),
                                        ("align-vda: lost, for a reason that is told at length", [(0, 0), (15, 0)]),
                                        unit=unit, least=None), MODES, 800)
    check_labels(f'<svg viewBox="0 0 {picture.WIDTH} {height}">{"".join(parts)}</svg>')


def test_a_long_time_is_told_in_round_hours():
    parts, _ = picture.chart(chart(("one", [(at, 28800.0) for at, _ in STEADY]), unit="s"), MODES, 800)
    told = [each for each in words("".join(parts)) if each.endswith((" h", " s"))]
    assert told and set(told) <= {f"{hours} h" for hours in range(1, 10)} | {"0 s"}


def polylines(parts):
    return [[tuple(map(float, point.split(","))) for point in points.split()]
            for points in re.findall(r'<polyline points="([^"]*)"', "".join(parts))]


def test_a_line_has_the_points_and_no_others():
    """What is no number, or was not scraped, is a gap."""
    points = [*STEADY[:5], *STEADY[8:20], STEADY[30]]
    parts, _ = picture.chart(chart(("one", points)), MODES, 800)
    found = polylines(parts)
    assert [len(line) for line in found] == [5, 12, 2]
    assert len({y for line in found for _, y in line}) == 1
    low, high = found[2][0][0], found[2][1][0]
    assert 0 < high - low < picture.WIDTH * 15 / 800, "a point alone is shorter than a step"


def test_stacked_lines_stand_on_each_other():
    upper = [(at, 2 * value) for at, value in STEADY]
    parts, _ = picture.chart(chart(("one", STEADY), ("two", upper), stacked=True), MODES, 800)
    [one], [two] = {y for _, y in polylines(parts)[0]}, {y for _, y in polylines(parts)[1]}
    [axis] = {float(y) for y in re.findall(r'y1="([\d.]+)" x2="\d+\.\d" y2="\1" class="axis"', "".join(parts))}
    assert axis - two == pytest.approx(3 * (axis - one), abs=0.5)


def test_what_is_always_zero_is_told_and_not_drawn():
    parts, _ = picture.chart(chart(("align-vda: some", STEADY), ("align-vda: lost", [(0, 0), (15, 0)])), MODES, 800)
    assert "always 0: lost" in words("".join(parts)) and len(polylines(parts)) == 1


def test_more_lines_than_colours_are_refused():
    with pytest.raises(ValueError, match="colours"):
        picture.chart(chart(*((f"line {number}", STEADY) for number in range(len(picture.LINES) + 1))), MODES, 800)


def test_an_answer_is_drawn_in_the_place_of_its_panel():
    charts = [{**vars(replace(chart(("one", STEADY)), title=title, x=x, y=y)), "curves": [{"legend": "one", "points": STEADY}]}
              for title, x, y in (("a", 0, 0), ("b", 12, 0), ("c", 0, 8))]
    text = drawn({"said": "Three panels", "charts": charts, "span": 800.0, "stretches": [vars(each) for each in MODES]})
    places = [tuple(map(float, place)) for place in re.findall(r'translate\(([\d.]+) ([\d.]+)\)', text)]
    assert places[0][1] == places[1][1] < places[2][1] and places[0][0] == places[2][0] < places[1][0]


def test_a_legend_has_the_labels_of_its_series():
    assert Target("x", "{{name}}: {{ reason }}, {{none}}").named({"name": "a", "reason": "b"}) == "a: b, "
    assert all(isinstance(panel, Panel) for panel in panels())
