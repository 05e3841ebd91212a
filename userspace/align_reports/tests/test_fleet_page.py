# SPDX-License-Identifier: GPL-2.0
"""The page of a fleet shows every host and each file that is no use, needs nothing but itself, and fits any window."""

import re

import pytest
from fleet_samples import check, plan, random_fleet, save, stats
from html_checks import Outline, check_layout, stands_alone

from align_reports.fleet import layout, page, ranking


@pytest.fixture
def rendered(tmp_path):
    def render(files, only=None):
        paths, unusable = layout.files([str(save(tmp_path, files))])
        return page.render(ranking.gather(paths, unusable), only)
    return render


def test_the_page_stands_alone_and_shows_every_host(rendered, tmp_path):
    files = {**random_fleet(1), "broken.json": "", "db<1>.check.json": check()}
    text = rendered(files)
    assert Outline(text).open == [] and stands_alone(text)
    for host in {name.partition("/")[0] for name in files if "/" in name}:
        assert f'data-heading="HOST">{host}</td>' in text
    assert ">db&lt;1&gt;</td>" in text and f"<dt>{tmp_path}/broken.json</dt><dd>is empty: make it again</dd>" in text
    assert re.findall("<h2>By (.*?)</h2>", text) == ["host", "device", "model", "finding"]


def test_its_verdict_is_bad_where_something_is_wrong(rendered):
    assert 'class="verdict"' in rendered({"a.json": check()})
    assert 'class="verdict bad"' in rendered({"b.json": plan(1)})


def test_a_table_has_as_many_rows_as_a_browser_can_show_and_says_how_many_it_has_not(rendered, monkeypatch):
    files = {f"host{number}.json": check([("partition-start", "sda1"), ("extent", "sdb1")], [("sda", "A"), ("sdb", "B")])
             for number in range(5)}
    monkeypatch.setattr(page, "MOST_ROWS", 5)
    text = rendered(files)
    assert text.count('data-heading="RANK">') == 5 and text.count('data-heading="DEVICE">') == 5
    assert re.findall(r"<p>(\d+) more rows are left out; --json has all.</p>", text) == ["5"]


@pytest.mark.parametrize("scheme, width", [("light", 380), ("dark", 1440)])
def test_a_browser_lays_the_page_out_without_sideways_scrolling(rendered, tmp_path, scheme, width):
    files = {**random_fleet(2), f"{'long-name' * 12}.stats.json": stats({"d" * 90: ("sda", "pad", 1, 10**12)}, 0.5)}
    check_layout(rendered(files), tmp_path, width, scheme)
