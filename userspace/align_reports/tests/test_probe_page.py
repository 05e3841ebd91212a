# SPDX-License-Identifier: GPL-2.0
"""The page of a method shows every figure, needs nothing but itself, and fits any window."""

import random
import re
from dataclasses import replace

import pytest
from html_checks import Outline, check_layout, stands_alone

from align_reports.charts import LEFT, RIGHT
from align_reports.probe import fits, page
from align_reports.probe.block_size import Block, Finding, Scan, write_kinds
from align_reports.probe.block_size_method import MOST_POINTS, Searched
from align_reports.probe.depth import Probe
from align_reports.probe.found import Curve, Task
from align_reports.probe.methods import METHODS, Chunk, Sorted, chunk_sizes
from align_reports.probe.positions import Pair, Stretch
from align_reports.probe.rotation import Read
from align_reports.probe.statistics import Estimate
from align_reports.probe.target import Says
from align_reports.svg import WIDTH
from align_reports.table import duration
from lab.plugins.extent import only_all

TASK = Task("/dev/<test>", None, None, 1, None)
MACHINE = {"date": "made up", "kernel": "none"}


def chunks():
    """Make the results of a drive with an access time of 8 ms and 150 MB/s."""
    for size in chunk_sizes(512, 1 << 40):
        us = fits.response_ms(0, 8, size, 150e6) * 1000
        yield Chunk(size, 100, 1e6 / us, size / us, us, 2 * us)


def searched(**more):
    """Make what block-size finds on a disk behind a bridge that says 512; `more` replaces members of the finding."""
    kinds = write_kinds(Block(4096, 3584), 512)
    for index, kind in enumerate(kinds):
        kind.times = [5000.0 + 8333 * (index > 0) + at for at in range(30)]
    for kind in kinds[1:]:
        kind.slower, kind.chance = Estimate(8333, 8200, 8400), 1e-9
    finding = Finding(block=Block(4096, 3584), penalty=Estimate(8333, 8200, 8400), method="writes, each with a flush",
                      kinds=kinds, scan=Scan(4096, 4096, {offset: [5000.0 + offset, 6000] for offset in range(0, 4096, 512)}),
                      cache="on", cache_why="as a flush takes", requests=900, elapsed_s=12.5)
    return Searched(replace(finding, **more), Says(1 << 40, 512, 512, 0, True, False), "/kept/by.json")


RESULTS = {
    "block-size": [searched()],
    "chunk-size": list(chunks()),
    "cncread": [Probe(at, 100, 5000.0 * min(at, 4), 200.0 * max(at / 4, 1), 250.0 * max(at / 4, 1))
                for at in range(1, 15)],
    # within 2 % of each other, and no two the same
    "sorted-reads": [Sorted(turn, window, 1000, wall * (1 + 0.01 * turn))
                     for turn in (1, 2, 3) for window, wall in ((1, 18.11), (32, 12.19), (1024, 9.46))],
    "rnddeltaread": [Pair(at * 4096, 1000 + 10 * at + 500 * (at % 7)) for at in range(1, 201)],
    "seqread": [Stretch(at << 30, 200 - at / 2) for at in range(100)],
    "rndread": [2000.0 + 11 * (at * 7919 % 1000) for at in range(1000)],
    # as a disk of 5400 rpm; each place is read from two sides
    "rotation": [Read(at << 24, at + way << 24, 3000 + (way * at * 997) % 11111) for way in (1, -1) for at in range(1, 400)],
}


def rendered(method, results, stopped=None):
    return page.render(method, TASK.device, METHODS[method].found(TASK, results), MACHINE, stopped)


@pytest.mark.parametrize("method", RESULTS)
def test_the_page_stands_alone_and_shows_every_figure(method):
    text = rendered(method, RESULTS[method])
    outline = Outline(text)
    assert outline.open == [] and stands_alone(text)
    rows = {"block-size": 5, "sorted-reads": 3, "rnddeltaread": 10, "seqread": 10, "rndread": 6,
            "rotation": 3}.get(method, len(RESULTS[method]))
    assert len([tag for tag, _ in outline.tags if tag == "tr"]) == rows + 1
    drawings = [attrs for tag, attrs in outline.tags if tag == "svg"]
    assert len(drawings) == (2 if rows > 10 else 1) and all(drawing["aria-label"] for drawing in drawings)
    assert "Stopped: a &lt;signal&gt;." in rendered(method, RESULTS[method], "a <signal>")


@pytest.mark.parametrize("method, upto", [*((method, None) for method in RESULTS), ("cncread", 1),
                                          ("rnddeltaread", 1), ("sorted-reads", 1)])
def test_every_point_lies_inside_its_picture(method, upto):
    for picture in METHODS[method].found(TASK, RESULTS[method][:upto]).curves:
        drawing = page.DRAW[type(picture)](picture)
        if isinstance(picture, Curve):
            [line] = re.findall(r'<polyline points="([^"]*)"', drawing)
            points = [tuple(map(float, point.split(","))) for point in line.split()]
        else:
            points = [(float(x) + 1, float(y) + 1)
                      for x, y in re.findall(r'<rect x="([\d.-]+)" y="([\d.-]+)"', drawing)]
        assert len(points) == len(picture.points)
        assert all(LEFT <= x <= WIDTH - RIGHT and 6 <= y <= page.HEIGHT + 6 for x, y in points)
        assert [x for x, _ in points] == sorted(x for x, _ in points)


def test_the_words_name_the_best_and_the_model():
    [best] = METHODS["cncread"].found(TASK, RESULTS["cncread"]).words
    assert best == "best depth 4: 20\u202f000 IOPS, 4.00 times those at depth 1"
    unsure = METHODS["cncread"].found(TASK, RESULTS["cncread"][:4])
    assert "a greater one may be better" in unsure.words[1] and not unsure.document["best"]["sure"]
    found = METHODS["chunk-size"].found(TASK, RESULTS["chunk-size"])
    assert "fastest with 16 MiB" in found.words[0] and "from 8 MiB on" in found.words[0]
    assert "8 ms to reach its place and then 150 MB/s: with 1200 kB both take as long, 75 MB/s" in found.words[1]
    assert found.document["model"]["balanced_bytes"] == pytest.approx(1.2e6)


def test_sorted_reads_are_compared_with_unsorted_ones_of_the_same_round():
    found = METHODS["sorted-reads"].found(TASK, RESULTS["sorted-reads"])
    ratios = {row["window"]: row["ratio"] and row["ratio"]["mean"] for row in found.document["windows"]}
    assert ratios == {1: None, 32: pytest.approx(12.19 / 18.11), 1024: pytest.approx(9.46 / 18.11)}
    assert found.words[1] == "windows of 1024, beside unsorted reads: 1.91 times faster [1.91 to 1.91]"
    once = METHODS["sorted-reads"].found(TASK, RESULTS["sorted-reads"][:3])
    assert "nothing can be said from fewer than 3" in once.words[0]


def test_times_of_second_reads_are_told_by_tenths_of_the_distances():
    found = METHODS["rnddeltaread"].found(TASK, RESULTS["rnddeltaread"])
    tenths = found.document["tenths"]
    assert [tenth["pairs"] for tenth in tenths] == [20] * 10
    assert (tenths[0]["from_bytes"], tenths[0]["to_bytes"], tenths[9]["to_bytes"]) == (4096, 20 * 4096, 200 * 4096)
    times = sorted(pair.us for pair in RESULTS["rnddeltaread"][:20])
    assert (tenths[0]["p10_us"], tenths[0]["p50_us"], tenths[0]["p90_us"]) == (times[1], times[9], times[17])
    assert found.words[0].startswith(f"half of the nearest tenth took {duration(times[9])} at most")


def test_distances_that_are_nearly_the_same_tell_no_seek():
    for seed in range(40):
        draw = random.Random(seed)
        pairs = [Pair(10**15 + draw.randrange(100), draw.uniform(1, 3)) for _ in range(50)]
        assert METHODS["rnddeltaread"].found(TASK, pairs).document["seek_us"] is None, seed


@pytest.mark.parametrize("method", RESULTS)
def test_no_cell_has_a_figure_of_seven_digits_and_each_time_has_its_unit(method):
    far = [Pair(987654321 * at, 1234567.8 * at) for at in range(1, 201)]
    table = METHODS[method].found(TASK, far if method == "rnddeltaread" else RESULTS[method]).table
    cells = {str(column.header): list(map(str, column.cells)) for column in table.columns}
    assert not any(re.search(r"\d[\d.\u202f]{6}", cell) for column in cells.values() for cell in column)
    for name in set(cells) & {"mean", "p99 \u2264", "p90 \u2264", "model", "p50", "p10", "p90", "wall"}:
        assert all(re.match(r"[\d.\u202f]+ (\u00b5s|ms|s)\b", cell) for cell in cells[name]), name


@pytest.mark.parametrize("method", RESULTS)
@pytest.mark.parametrize("scheme, width", [("light", 380), only_all("the narrow page is the harder one", "dark", 1440)])
def test_a_browser_lays_the_page_out_without_sideways_scrolling(tmp_path, method, scheme, width):
    check_layout(rendered(method, RESULTS[method]), tmp_path, width, scheme)


def test_a_block_is_told_with_what_contradicts_it_and_where_it_is_kept():
    found = METHODS["block-size"].found(TASK, [searched()])
    assert found.words == [
        "block: 4096 bytes, from byte 3584 on; the drive says 512 bytes from byte 0 on, which is wrong",
        "a write of a part of a block takes 8.33 ms (8.20 ms to 8.40 ms) more",
        "write cache: on, although the drive says off: as a flush takes", "900 requests in 12.5 s",
        "kept in /kept/by.json, for check and attach"]
    assert found.document["contradicts"] and found.document["block"]["offset"] == 3584
    agreed = METHODS["block-size"].found(TASK, [searched(block=Block(512, 0))])
    assert agreed.words[0].endswith(", too") and agreed.document["contradicts"] is False


def test_a_block_that_cannot_be_told_has_its_reason_and_the_times_of_the_scan():
    found = METHODS["block-size"].found(TASK, [searched(block=None, penalty=None, why="a reason", kinds=[], cache=None,
                                                        reads=Block(16384, 512))])
    assert found.words[:3] == ["block: cannot tell: a reason; the drive says 512 bytes from byte 0 on",
                               "reads across every 16384 bytes, from byte 512 on, take longer",
                               "write cache: cannot tell, and the drive says off: as a flush takes"]
    assert found.document["block"] is found.document["contradicts"] is None
    assert found.table.row_count == 1 and len(found.curves[0].points) == 16


def test_of_many_times_the_picture_has_the_medians():
    scan = Scan(4096, 1024, {offset: [1.0, 2, 3] * (MOST_POINTS // 20) for offset in range(0, 4096, 512)})
    picture, = METHODS["block-size"].found(TASK, [searched(scan=scan)]).curves
    assert picture.points == [(offset, 2) for offset in range(0, 4096, 512)]
