# SPDX-License-Identifier: GPL-2.0
"""The page and the picture of the emulated drive's profiles show what the program has measured, and can be read."""

import re

import pytest
from html_checks import Outline, check_labels, stands_alone

import lab.drive.__main__ as command
from align_reports.svg import svg
from lab.drive import picture, published
from lab.drive.__main__ import DOCUMENT, FINE, PICTURE, PROGRAM, main, page
from lab.drive.documents import with_block

LARGEST = 60 * 1024

pytestmark = pytest.mark.xdist_group("published figures")


def row(percent, claimed=True, holds=True):
    return {"name": "a row", "source": "A", "unit": "ms", "published": 100.0, "measured": 100.0 + percent,
            "deviation_percent": percent, "not_claimed": None if claimed else "for a reason", "holds": holds}


def marks(parts):
    return [(css, float(x)) for x, css in re.findall(r'<rect x="([\d.]+)"[^>]*class="(holds|off|hollow)"', "".join(parts))]


def test_a_mark_lies_where_the_deviation_is_and_tells_what_is_claimed():
    parts, _ = picture.rows([row(0), row(10), row(-20, claimed=False), row(30, holds=False), row(900, claimed=False)], 10, 0)
    found = marks(parts)
    assert [css for css, _ in found] == ["holds", "holds", "hollow", "off", "hollow"]
    zero, ten, less, more, far = (x for _, x in found)
    assert less < zero < ten < more < far
    assert zero - less == pytest.approx(2 * (ten - zero), abs=0.2) and far - zero == pytest.approx(4 * (ten - zero), abs=0.4)


def test_every_label_can_be_read(figures):
    for _, parts, height in picture.panels(figures):
        check_labels(svg(height, "a profile", parts))


def test_the_page_has_every_profile_row_and_reason_and_needs_nothing_else(figures):
    text = page(figures)
    assert stands_alone(text) and not Outline(text).open
    for profile in figures["profiles"]:
        assert f"<h2>{profile['name']}</h2>" in text
        for each in profile["rows"]:
            assert not each["not_claimed"] or each["not_claimed"].replace("'", "&#x27;") in text
    assert "All that is claimed is within 10 %" in text
    assert "claimed figures outside" in page(figures | {"within": False})


def test_the_runs_in_real_time_are_on_the_page(figures):
    live = [{"profile": "hdd7200", "model_us": 2830.0, "plugin_us": 2845.0, "touches": 200, "expected_touches": 200,
             "claimed": True, "holds": True}]
    assert "2845" in page(figures | {"live": live}) and "In real time" not in page(figures)


def test_the_picture_in_the_document_is_of_these_figures(figures):
    """Else `make bench-drive DOCUMENTS=1` has to draw it anew."""
    shown = PICTURE.read_text()
    assert shown == picture.draw(figures)
    assert len(shown) < LARGEST and not re.search(r"href|url\(|<script|var\(", shown)
    [options] = re.findall(r"^\.\. image:: drive512e\.svg\n((?:   .*\n)+)", DOCUMENT.read_text(), re.MULTILINE)
    assert ":alt:" in options


def test_the_table_in_the_document_is_what_is_printed(figures):
    """Else `make bench-drive DOCUMENTS=1` has to write it anew."""
    text, printed = DOCUMENT.read_text(), published.text(figures)
    assert "w4k_132k" in printed and with_block(text, PROGRAM, printed) == text
    assert with_block(text, PROGRAM, "a: table\n\nof three lines") != text
    with pytest.raises(ValueError, match="DOCUMENTS=1"):
        with_block("no place", PROGRAM, printed)


def test_page_and_documents_are_written(figures, tmp_path, monkeypatch):
    made, drawn, told = (tmp_path / name for name in ("page.html", "p.svg", "d.rst"))
    told.write_text(DOCUMENT.read_text().replace("w136k, wall", "w136k, wrong"))
    monkeypatch.setattr(command, "PICTURE", drawn)
    monkeypatch.setattr(command, "DOCUMENT", told)
    monkeypatch.setattr(published, "figures", lambda only: figures)
    written = ["--virtual", "--json", str(tmp_path / "f.json"), "--page", str(made)]
    assert main(written) == FINE
    assert "drive512e" in made.read_text() and not drawn.exists() and "wrong" in told.read_text()
    assert main([*written, "--documents"]) == FINE
    assert drawn.read_text() == picture.draw(figures) and told.read_text() == DOCUMENT.read_text()
