# SPDX-License-Identifier: GPL-2.0
"""The table and the page show every run, and the page needs nothing but itself."""

import re

import pytest
from html_checks import Outline, check_layout, stands_alone

from align_reports.results import MODES as ALL_MODES, PROFILES, Results
from align_reports.verify import page
from align_reports.verify.table import COLUMNS
from align_reports.verify.verdict import headline, verdicts
from lab.demo import __main__ as demo
from lab.demo.schedule import MODES_ON
from lab.demo.workloads import WORKLOADS
from lab.plugins.extent import only_all


def rendered(results, wrong=()):
    return page.render(results, verdicts(results, list(ALL_MODES)), list(wrong), None)


def test_the_page_is_verifys_with_a_table_and_pictures_for_each_drive(made_up):
    text = rendered(made_up)
    outline = Outline(text)
    assert outline.open == []
    rows = [a for tag, a in outline.tags if tag == "tr" and "class" in a]
    assert len(rows) == len(WORKLOADS) * sum(len(MODES_ON[profile]) for profile in PROFILES)
    drawings = [a for tag, a in outline.tags if tag == "svg"]
    untouched = sum(not workload.touches_expected(40) for workload in WORKLOADS)
    assert len(drawings) == len(PROFILES) * (5 * len(WORKLOADS) - untouched)
    assert all(drawing["aria-label"] for drawing in drawings)
    heads = re.findall(r"<thead><tr>(.*?)</tr></thead>", text)
    assert [re.findall(r">([^<]+)</th>", head) for head in heads] == [[c.heading for c in COLUMNS]] * len(PROFILES)


def test_the_times_and_the_touches_of_each_drive_come_first(made_up):
    titles = re.findall(r"<h2>(.*?)</h2>", rendered(made_up))
    assert titles[:6] == [f"{profile}: {title}" for profile in PROFILES for title in (
        "Time before and after", "What became of the partial touches", "Time where there is nothing to align")]


def test_the_page_needs_no_script_and_no_other_file(made_up):
    assert stands_alone(rendered(made_up, ["a <finding>"]))


def test_findings_are_on_the_page_and_change_its_verdict(made_up):
    assert "Nothing was lost" in rendered(made_up)
    spoiled = rendered(made_up, ["w512 & co: 1 < 2"])
    assert "Nothing was lost" not in spoiled and "w512 &amp; co: 1 &lt; 2" in spoiled


def test_the_headline_tells_gains_with_their_interval_and_where_there_is_none(made_up):
    touches, faster, same, without = headline(verdicts(made_up, list(ALL_MODES)))
    assert re.fullmatch(r"Of [\d\u202f]+ partial touches, none reached the drive through pad and coalesce\.", touches)
    assert faster.startswith("Faster than raw on st1000dm003: w512 through pad, 1.91 times [1.91 to 1.91]; ")
    assert "coalesce" not in faster and without.startswith("Faster than raw on hdd-nocache: w512 through pad, ")
    assert same.startswith("No difference in time shown on st1000dm003: w512 through coalesce; ")


def test_a_workload_without_touches_is_no_gain_however_fast(made_up):
    for run in made_up.repetitions("st1000dm003", "w4096", "pad"):
        run.replay.update(wall_s=1e-6)
    found = verdicts(made_up, list(ALL_MODES))
    [of] = [each for each in found if (each.device, each.workload, each.mode) == ("st1000dm003", "w4096", "pad")]
    assert of.to_raw.high < 0.1 and of.words == "nothing to align"
    assert "w4096 " not in " ".join(headline(found))
    for run in made_up.repetitions("st1000dm003", "w4096", "pad"):
        run.replay.update(wall_s=1.0)
    found = verdicts(made_up, list(ALL_MODES))
    [of] = [each for each in found if (each.device, each.workload, each.mode) == ("st1000dm003", "w4096", "pad")]
    assert "times slower" in of.words, "what it costs is said"


def test_mode_report_is_no_gain_however_fast(made_up):
    for run in made_up.repetitions("st1000dm003", "w512", "report"):
        run.replay.update(wall_s=1e-6)
    found = verdicts(made_up, list(ALL_MODES))
    [of] = [each for each in found if (each.device, each.workload, each.mode) == ("st1000dm003", "w512", "report")]
    assert of.words == "every touch reaches the drive" and "report" not in " ".join(headline(found))


def test_from_one_repetition_the_headline_names_nobody(made_up):
    once = Results(made_up.machine, [run for run in made_up.runs if run.repetition == 1])
    assert headline(verdicts(once, list(ALL_MODES)))[1:] == ["Times are judged from 3 repetitions with a raw run each."]


def test_the_demo_repeats_often_enough_to_judge():
    assert demo.arguments([]).repeat >= 3


def test_saved_results_load_as_they_were(made_up, tmp_path):
    made_up.save(tmp_path / "demo.json", ["one finding"])
    loaded = Results.load(tmp_path / "demo.json")
    assert loaded == made_up


def test_a_result_of_another_format_is_refused(made_up, tmp_path):
    path = tmp_path / "demo.json"
    made_up.save(path, [])
    path.write_text(path.read_text().replace('"format": 3', '"format": 99'))
    with pytest.raises(ValueError, match="format 99.*run the demo again"):
        Results.load(path)


@pytest.mark.parametrize("width", [380, only_all("a narrower and a wider page", 1200), 1440])
def test_a_browser_lays_the_page_out_without_sideways_scrolling(made_up, tmp_path, width):
    check_layout(rendered(made_up), tmp_path, width)
