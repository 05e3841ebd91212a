# SPDX-License-Identifier: GPL-2.0
"""The page of a comparison shows every figure of both devices, needs nothing but itself, and fits any window."""

import re

import pytest
from html_checks import Outline, check_layout, stands_alone

from align_reports.charts import LEFT, RIGHT
from align_reports.compare import page
from align_reports.compare.comparison import QUANTITIES, Sample, lines, saved_times
from align_reports.compare.table import label
from align_reports.intervals import interval
from align_reports.svg import WIDTH
from align_reports.table import SHOWN

ON = "/dev/disk/by-id/ata-A_MADE_UP_DRIVE_WITH_A_LONG_NAME_S3Z9NB0K123456<&>"
VS = "/dev/mapper/align-of-the-same"
MACHINE = {"date": "made up", "kernel": "none"}
PACES = (1.0, 1.03, 0.98, 1.01)
TIMES = {ON: ((8000.0, 40), (9000.0, 55), (30000.0, 5)), VS: ((4000.0, 90), (16000.0, 10))}


def sample(repetition, device, **other):
    pace = PACES[repetition] * (1 if device == ON else 0.5 * PACES[-repetition])
    replay = {"requests": 100, "bytes": 51200, "wall_s": pace, "flush_s": 0.1 * pace, "iops": 100 / pace,
              "stopped": None, "touches_expected": 100, "data_check": {"status": "ok", "sectors": 9, "mismatches": 0},
              "service_us": {"mean": 9000 * pace, "p50": 8000 * pace, "p99": 20000 * pace, "p99_9": 30000 * pace}}
    return Sample(repetition, device, replay | other, True, (0, 100), None, None, TIMES[device])


@pytest.fixture
def samples():
    return [sample(repetition, device) for repetition in (1, 2, 3) for device in (ON, VS)]


def rendered(samples, stopped=None):
    return page.render("w512", samples, ON, VS, MACHINE, stopped)


def drawings(text):
    return [attrs["aria-label"] for tag, attrs in Outline(text).tags if tag == "svg"]


def test_the_page_stands_alone_and_shows_every_figure(samples):
    text = rendered(samples)
    assert Outline(text).open == [] and stands_alone(text)
    for line in lines(samples, ON, VS):
        row = re.search(rf"<tr><td[^>]*>{re.escape(label(line, samples))}</td>.*?</tr>", text)[0]
        unit = SHOWN[line.unit]
        for shown in (interval(line.on, unit), interval(line.vs, unit), interval(line.ratio), line.words):
            assert f">{shown}</td>" in row
    assert "times faster [" in text and "by the time until all was durable" in text and "kernel: writes" in text
    latencies, ratios = drawings(text)
    assert f"{ON}: p50 8.05 ms, p99 20.1 ms; {VS}: p50 4.05 ms, p99 10.1 ms" in latencies, "not the ends of bins"
    assert all(f"{quantity.name} " in ratios for quantity in QUANTITIES)


def test_every_pair_and_every_interval_is_in_its_row(samples):
    found = lines(samples, ON, VS)
    drawing = page.ratio_panel(found, samples, ON, VS)
    each = page.ratios(samples, ON, VS)
    assert all(len(each[quantity.name]) == 3 for quantity in QUANTITIES)
    places = {kind: [tuple(map(float, place)) for place in re.findall(
        rf'<rect x="([\d.-]+)" y="([\d.-]+)" width="4.0" height="[\d.]+" class="{kind}"', drawing)]
        for kind in ("pair", "ratio")}
    ends = re.findall(r'<line x1="([\d.-]+)" y1="[\d.-]+" x2="([\d.-]+)" y2="[\d.-]+" class="interval"', drawing)
    middle = float(re.search(r'x1="([\d.]+)"[^>]* class="axis"', drawing)[1])
    assert (len(places["pair"]), len(places["ratio"]), len(ends)) == (3 * len(found), len(found), len(found))
    for row, quantity in enumerate(found):
        low, high = map(float, ends[row])
        pairs = [x + 2 for x, _ in places["pair"][3 * row:3 * row + 3]]
        assert LEFT <= low < places["ratio"][row][0] + 2 < high <= WIDTH - RIGHT
        assert all(LEFT <= x <= WIDTH - RIGHT for x in pairs)
        # half as long on the second: the ratio is above 1, but for the rate
        assert all((x > middle) == (quantity.name != "IOPS") for x in (low, high, *pairs))


@pytest.mark.parametrize("values", [(1, 1), (1e-6, 1e6), (3, 3.0001)])
def test_ratios_of_any_size_lie_in_the_picture(values):
    samples = [sample(n, device, wall_s=value, flush_s=0) for n, pair in enumerate((values, values[::-1], (1, 1)), 1)
               for device, value in zip((ON, VS), pair, strict=True)]
    drawing = page.ratio_panel(lines(samples, ON, VS), samples, ON, VS)
    places = [float(x) for x in re.findall(r' x1?2?="([\d.-]+)"', drawing)]
    assert places and all(0 <= x <= WIDTH for x in places)


def test_findings_and_an_early_end_change_its_verdict(samples):
    assert 'class="verdict"' in rendered(samples)
    stopped = rendered(samples[:1], "a <signal>")
    assert "Stopped: a &lt;signal&gt;." in stopped and "no repetition was made on both" in stopped
    assert len(drawings(stopped)) == 1, "of one device there is a distribution, and no ratio"
    wrong = rendered([sample(1, ON), sample(1, VS, bytes=1)])
    assert 'class="verdict bad"' in wrong and "Finding: repetition 1: not the same requests" in wrong


@pytest.mark.parametrize("clocked, times", [(True, ((0.1, 2), (2.015, 3))), (False, ((0.001, 7), (0.09, 4)))])
def test_times_of_a_trace_are_read_from_its_file(tmp_path, clocked, times):
    path = tmp_path / "times"
    path.write_text("# alignctl histogram 1\nservice-write 1 1 7\nservice-read 90 90 4\nresponse 100 100 2\n"
                    "response 2000 2015 3\nlag 0 0 5\n")
    assert saved_times(path, clocked) == times


@pytest.mark.parametrize("scheme, width", [("light", 380), ("dark", 380), ("light", 1200), ("dark", 1440)])
def test_a_browser_lays_the_page_out_without_sideways_scrolling(samples, tmp_path, scheme, width):
    check_layout(rendered(samples), tmp_path, width, scheme)
