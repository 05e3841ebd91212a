# SPDX-License-Identifier: GPL-2.0
"""The page of alignctl conform shows each fault with its requests' times and places, needs nothing but itself, and fits."""

import re
import shlex
from html import unescape

import pytest
from html_checks import Outline, check_labels, check_layout, stands_alone

from align_reports.conform import page
from align_reports.svg import WIDTH
from lab.plugins.extent import only_all

DEVICE = "/dev/disk/by-id/ata-A_MADE_UP_DRIVE_WITH_A_LONG_NAME_S3Z9NB0K123456<&>"
BLOCK, LOGICAL, START = 4096, 512, 512 * 7
MACHINE = {"date": "made up", "kernel": "none"}


def request(name, offset, length, sent, ended):
    return {"request": name, "offset": offset, "bytes": length, "memory_offset": 0, "sent_us": sent, "ended_us": ended}


# In the second block of the area a part is lost, at an end of the block, while the whole is written; and what a read found in
# the fourth was replaced before.
LOST = {"fault": "lost-update", "kind": "sub-block+whole+flush/in-block", "method": "sync", "round": 28,
        "offset": START + BLOCK + 512, "text": "must have that of request 2 (whole), has <zeroes>", "read_by": None,
        "content_of": 0, "requests": [request("sub-block", START + BLOCK, 1024, 0.0, 8000.0),
                                      request("whole", START + BLOCK, BLOCK, 2000.0, 6000.0),
                                      request("flush", None, None, 1000.0, 1000.5)]}
STALE = {**LOST, "fault": "stale-read", "kind": "read+zeroes/across", "method": "io_uring", "round": 9, "read_by": 0,
         "offset": START + 4 * BLOCK, "requests": [request("read", START + 3 * BLOCK, 2 * BLOCK, 40.0, 90.0),
                                                   request("zeroes", START + 4 * BLOCK - 512, 1024, 0.0, 30.0)]}


def found(**other):
    kinds = [{"kind": "fua+fua/across", "rounds": 400, "faulty": 0, "fewer_than_one_in": 134},
             {"kind": "sub-block+whole+flush/in-block", "rounds": 401, "faulty": 33, "fewer_than_one_in": None}]
    return {"format": 1, "device": DEVICE, "logical_block_size": LOGICAL, "physical_block_size": BLOCK, "block_size": BLOCK,
            "start": START, "length": 1 << 30, "memory_alignment": 4, "seed": 17, "seconds": 60.1, "restored": True,
            "rounds": 12345, "faulty": 34, "fewer_than_one_in": None,
            "faults": {"lost-update": 33, "stale-read": 1, "torn-block": 0, "neighbour": 0, "foreign": 0},
            "cannot_tell": {"discard": "Operation not supported"}, "kinds": kinds,
            "methods": [{"method": "io_uring", "rounds": 6172, "faulty": 1}, {"method": "sync", "rounds": 6173, "faulty": 33}],
            "examples": [LOST, STALE], **other}


CLEAN = {"faulty": 0, "fewer_than_one_in": 4121, "faults": {}, "examples": [], "physical_block_size": LOGICAL, "cannot_tell": {}}


def rendered(**other):
    return page.render(found(**other), MACHINE)


def drawings(text):
    return re.findall(r"<svg .*?</svg>", text)


def bars(drawing):
    """Return (class, left, right, title) of each bar, from the top."""
    return [(kind, float(x), float(x) + float(width), unescape(title)) for x, width, kind, title in re.findall(
        r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+" class="(\w+)"><title>(.*?)</title>', drawing)]


def test_the_page_stands_alone_and_says_what_was_found():
    text = rendered()
    assert Outline(text).open == [] and stands_alone(text)
    words = unescape(re.sub(r"<[^>]+>", " ", text))
    for wanted in ("34 of 12\u202f345 rounds had a fault: lost-update 33, stale-read 1.", "Cannot tell: discard: Operation not",
                   "lost-update, round 28", "must have that of request 2 (whole), has <zeroes>; a read afterwards has found it.",
                   "request 1 read it.", "32 more are counted only.", f"Whether {DEVICE} keeps its word", "restored"):
        assert wanted in words, wanted
    for kind in ("sub-block+whole+flush/in-block --method sync", "read+zeroes/across --method io_uring"):
        assert f"alignctl conform {shlex.quote(DEVICE)} --kind {kind} --seed 17" in words
    assert 'class="verdict bad"' in text


def test_kinds_with_most_faults_come_first_and_methods_have_their_own_table():
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", rendered())]
    assert [row for row in rows if row] == [
        ["io_uring", "6\u202f172", "1"], ["sync", "6\u202f173", "33"],
        ["sub-block+whole+flush/in-block", "401", "33", "\u2013"], ["fua+fua/across", "400", "0", "134"]]


def test_bars_lie_where_the_times_and_the_bytes_are():
    lost, stale = drawings(rendered())
    sub, whole, flush, part, covered, wrong = bars(lost)
    assert [kind for kind, *_ in bars(lost)] == ["write", "write", "flush", "write", "write", "wrong"]
    left, right = sub[1], sub[2]
    assert (whole[1] - left) / (right - left) == pytest.approx(0.25, abs=0.01)
    assert (whole[2] - left) / (right - left) == pytest.approx(0.75, abs=0.01)
    assert flush[2] - flush[1] == 2, "one that took no time is seen, too"
    block = covered[2] - covered[1]
    assert part[1] == covered[1] and (part[2] - part[1]) / block == pytest.approx(1 / 4, abs=0.01)
    assert (wrong[1] - covered[1]) / block == pytest.approx(1 / 8, abs=0.01)
    assert (wrong[2] - wrong[1]) / block == pytest.approx(1 / 8, abs=0.01) and "byte 8192" in wrong[3]
    read, zeroes, reads, clears, _ = bars(stale)
    assert (read[0], zeroes[0], reads[0], clears[0]) == ("read", "clear", "read", "clear") and zeroes[2] < read[1]
    # The boundary that the zeroes lie across is one of the three of two blocks.
    lines = sorted(float(x) for x in re.findall(r'<line x1="([\d.]+)"[^>]* class="axis"', stale))
    assert len(lines) == 3 and clears[1] < lines[1] < clears[2] and (reads[1], reads[2]) == pytest.approx((lines[0], lines[2]))


@pytest.mark.parametrize("scale", [1e-3, 1, 1e5])
def test_labels_meet_nothing_and_bars_lie_in_the_picture(scale):
    faults = [{**fault, "requests": [{**each, "sent_us": each["sent_us"] * scale, "ended_us": each["ended_us"] * scale}
                                     for each in fault["requests"]]} for fault in (LOST, STALE)]
    for drawing in drawings(rendered(examples=faults)):
        check_labels(drawing)
        assert all(0 <= left < right <= WIDTH for _, left, right, _ in bars(drawing))


def test_a_device_without_a_fault_has_the_bound_and_no_picture():
    text = rendered(**CLEAN)
    assert not drawings(text) and 'class="verdict"' in text and "<h2>Faulty rounds" not in text
    words = unescape(text)
    assert "None of 12\u202f345 rounds had a fault: fewer than 1 in 4\u202f121 has one" in words
    assert "The physical block is the logical one; blocks of 4 KiB were tried" in words


@pytest.mark.parametrize("scheme, width", [("light", 380), only_all("the narrow page is the harder one", "dark", 1440)])
def test_a_browser_lays_the_page_out_without_sideways_scrolling(tmp_path, scheme, width):
    check_layout(rendered(), tmp_path, width, scheme)
