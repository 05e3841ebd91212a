# SPDX-License-Identifier: GPL-2.0
"""The page of alignctl plan of several disks shows the figures of its document, needs nothing but itself, and fits."""

import re
from html import unescape

import pytest
from html_checks import Outline, check_labels, check_layout, stands_alone

from align_reports.disks import page
from align_reports.svg import WIDTH
from lab.plugins.extent import only_all

MACHINE = {"date": "made up", "kernel": "none"}
SIZES = [4096 << step for step in range(7)]
WRITTEN = 1 << 30


def costs(extra, factor=1.0):
    """The costs on blocks of each size: twice as much on blocks of twice the size, and half of it once the start is moved."""
    return [{"physical_block_size": size, "touches": 1000 * index, "extra_bytes": int(extra * 2 ** index * factor),
             "write_amplification": 1 + extra * 2 ** index * factor / WRITTEN, "touches_moved": 500 * index,
             "extra_bytes_moved": int(extra * 2 ** index * factor) // 2} for index, size in enumerate(SIZES)]


def disk(name, extra, **other):
    return {"disk": name, "requests": 5000, "writes": 4000, "bytes_written": WRITTEN, "touches": 1000, "extra_bytes": extra,
            "best_move_sectors": 7, "touches_moved": 12, "extra_bytes_moved": extra // 2, "pad_left": 900, "coalesce_left": 20,
            "recommendation": "move" if extra else "nothing", "what_if": costs(extra), **other}


def document(disks, **other):
    sums = {key: sum(each[key] for each in disks) for key in ("writes", "bytes_written", "touches", "extra_bytes",
                                                             "touches_moved", "extra_bytes_moved")}
    total = {**sums, "pad_left": None, "coalesce_left": None, "what_if": costs(sums["extra_bytes"])}
    return {"format": 1, "physical_block_size": 4096, "logical_block_size": 512, "alignment_offset": 0, "shift_sectors": 0,
            "disks": disks, "total": total, **other}


SOME = [disk(f"vol<{n}>", (20 - n) << 20) for n in range(20)] + [disk("idle", 0, pad_left=None, coalesce_left=None)]


def rendered(disks=SOME, **other):
    return page.render(document(disks, **other), MACHINE)


def words(text):
    return unescape(re.sub(r"<[^>]+>", " ", text))


def rows(text):
    found = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]
    return [[unescape(cell) for cell in row] for row in found if row]


def test_the_page_stands_alone_and_says_what_was_found():
    text = rendered()
    assert Outline(text).open == [] and stands_alone(text)
    said = words(text)
    assert "On physical blocks of 4 KiB, 20 of 21 disks make partial touches: 21\u202f000" in said
    assert "For 20 of them, a move of the start is recommended." in said
    # 210 MiB beyond 21 GiB, four and sixteen times as much, and half of that
    for size, amount, moved in (("16 KiB", "1.039", "1.02"), ("64 KiB", "1.156", "1.078")):
        assert re.search(rf"On blocks of {size} .* would write {amount} bytes for each; with each start moved to where it is "
                         rf"best, {moved}\.", said), size


def test_disks_have_a_row_in_the_order_of_the_document_and_what_is_not_known_no_figure():
    found = [row for row in rows(rendered()) if len(row) > 10]
    assert [row[0] for row in found] == [each["disk"] for each in SOME]
    assert found[0][:10] == ["vol<0>", "4\u202f000", "1 GiB", "1\u202f000", "20 MiB", "7", "12", "900", "20", "move"]
    assert found[-1][7:10] == ["\u2013", "\u2013", "nothing"] and found[0][10:12] == ["1.02", "1.039"]


def test_bars_are_as_long_as_the_costs_and_the_moved_ones_half_of_it():
    bars = [(kind, float(width)) for width, kind in re.findall(
        r'<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="[\d.]+" class="(raw|pad)">', rendered())]
    assert [kind for kind, _ in bars] == ["raw", "pad"] * 7
    for index in range(7):
        assert bars[2 * index][1] == pytest.approx(bars[-2][1] / 2 ** (6 - index), abs=0.1)
        assert bars[2 * index + 1][1] == pytest.approx(bars[2 * index][1] / 2, abs=0.1)


def test_the_dearest_disks_are_on_the_left_of_a_line_that_ends_at_all():
    points = re.search(r'<polyline points="([^"]*)"', rendered())[1].split()
    places = [tuple(map(float, point.split(","))) for point in points]
    assert places[0][1] == page.TOP + page.HEIGHT and places[-1][1] == page.TOP
    steps = [before[1] - after[1] for before, after in zip(places, places[1:], strict=False)]
    assert steps == sorted(steps, reverse=True) and steps[0] == pytest.approx(page.HEIGHT * 20 / 210, abs=0.1)


@pytest.mark.parametrize("extra", [0, 1, 1 << 20, 1 << 50])
def test_labels_meet_nothing_and_bars_lie_in_the_picture(extra):
    for disks in ([disk("a", extra)], [disk("a", extra), disk("b", extra)]):
        for drawing in re.findall(r"<svg .*?</svg>", rendered(disks)):
            check_labels(drawing)
            for left, width in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawing):
                assert 0 <= float(left) and float(left) + float(width) <= WIDTH


def test_disks_without_writes_and_no_disks_have_a_page():
    nothing = {"writes": 0, "bytes_written": 0, "touches": 0, "touches_moved": 0}
    for disks in ([], [disk("idle", 0, **nothing)]):
        text = rendered(disks)
        assert Outline(text).open == [] and 'class="verdict"' in text


def test_of_very_many_disks_the_page_says_how_many_it_leaves_out():
    text = rendered([disk(str(n), 1 << 20) for n in range(page.MOST_ROWS + 3)])
    assert "3 more, which cost less, are in the document" in words(text)
    assert len([row for row in rows(text) if len(row) > 10]) == page.MOST_ROWS


@pytest.mark.parametrize("scheme, width", [("light", 380), only_all("the narrow page is the harder one", "dark", 1440)])
def test_a_browser_lays_the_page_out_without_sideways_scrolling(tmp_path, scheme, width):
    check_layout(rendered(), tmp_path, width, scheme)
