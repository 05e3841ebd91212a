# SPDX-License-Identifier: GPL-2.0
"""The page and the picture of the emulated drive's profiles show what the program has measured, and can be read."""

import json
import re
import subprocess

import pytest
from html_checks import Outline, check_labels, stands_alone

import lab.drive.__main__ as command
from align_reports.svg import svg
from lab.drive import picture
from lab.drive.__main__ import BROKEN, DOCUMENT, FINE, PICTURE, PROGRAM, main, page
from lab.drive.documents import with_block
from lab.pace import patience
from lab.paths import OUT, REPO, locked

LARGEST = 60 * 1024
DRIVE = REPO / "userspace/drive512e"


@pytest.fixture(scope="module")
def program():
    """drive512e-bench, which `make programs` does not build: any test of this file may be a worker's first."""
    # Each worker builds it; all but the first find it built.
    built = OUT / "bin/drive512e-bench"
    with locked("drive512e-bench", OUT):
        subprocess.run(["make", "-s", "-C", DRIVE, f"OUT={OUT}", built], check=True, timeout=patience(300), capture_output=True)
    return built


@pytest.fixture(scope="module")
def figures(program, tmp_path_factory):
    """What drive512e-bench measures now, on the virtual clock."""
    written = tmp_path_factory.mktemp("bench") / "bench-drive.json"
    done = subprocess.run([program, "--json", written], capture_output=True, text=True, timeout=patience(120))
    assert done.returncode == 0, done.stdout
    return json.loads(written.read_text()) | {"printed": done.stdout}


def row(percent, claimed=True, holds=True):
    return {"name": "a row", "source": "A", "unit": "ms", "published": 100.0, "measured": 100.0 + percent,
            "deviation_percent": percent, "not_claimed": None if claimed else "for a reason", "holds": holds}


def marks(parts):
    return [(css, float(x)) for x, css in re.findall(r'<rect x="([\d.]+)"[^>]*class="(holds|off|hollow)"', "".join(parts))]


def test_the_program_prints_every_row_with_its_deviation_or_its_reason(figures):
    for profile in figures["profiles"]:
        for each in profile["rows"]:
            printed = re.sub(r"\n {6}(?=\S)", " ", figures["printed"]).partition(f"{profile['name']}: ")[2].splitlines()
            [number, *_] = [number for number, line in enumerate(printed)
                            if re.match(rf"  {re.escape(each['name'])} +{re.escape(each['source'])} ", line)]
            if each["deviation_percent"] is not None:
                assert f"{each['deviation_percent']:+.1f} %" in printed[number] or abs(each["deviation_percent"]) < 0.05
            assert not each["not_claimed"] or printed[number + 1] == f"    not claimed: {each['not_claimed']}"
            assert each["not_claimed"] or abs(each["deviation_percent"]) <= figures["tolerance_percent"]


def test_the_program_knows_its_arguments(program):
    one = subprocess.run([program, "--only", "hdd5400"], capture_output=True, text=True, timeout=patience(60))
    assert one.returncode == 0 and "hdd5400: " in one.stdout and "hdd7200: " not in one.stdout
    for bad, told in ((["--only", "instant"], "--only instant"), (["--json", "/nonexistent/x"], "--json /nonexistent/x"),
                      (["a", "b"], "Usage")):
        done = subprocess.run([program, *bad], capture_output=True, text=True, timeout=patience(60))
        assert done.returncode == 2 and told in done.stderr


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


def test_the_table_in_the_document_is_what_the_program_prints(figures):
    """Else `make bench-drive DOCUMENTS=1` has to write it anew."""
    text = DOCUMENT.read_text()
    assert "w4k_132k" in figures["printed"] and with_block(text, PROGRAM.name, figures["printed"]) == text
    assert with_block(text, PROGRAM.name, "a: table\n\nof three lines") != text
    with pytest.raises(ValueError, match="DOCUMENTS=1"):
        with_block("no place", PROGRAM.name, figures["printed"])


def test_unreadable_figures_are_refused(tmp_path, capsys):
    missing = tmp_path / "none.json"
    assert main(["--figures", str(missing), "--page", str(tmp_path / "page.html")]) == BROKEN
    assert "none.json" in capsys.readouterr().err
    old = tmp_path / "old.json"
    old.write_text('{"format": 0}')
    assert main(["--figures", str(old), "--page", str(tmp_path / "page.html")]) == BROKEN
    assert "format 0" in capsys.readouterr().err


def test_page_and_documents_are_written(figures, tmp_path, monkeypatch):
    given, made, drawn, told = (tmp_path / name for name in ("f.json", "page.html", "p.svg", "d.rst"))
    given.write_text(json.dumps({key: value for key, value in figures.items() if key != "printed"}))
    told.write_text(DOCUMENT.read_text().replace("w136k, wall", "w136k, wrong"))
    monkeypatch.setattr(command, "PICTURE", drawn)
    monkeypatch.setattr(command, "DOCUMENT", told)
    assert main(["--figures", str(given), "--page", str(made)]) == FINE
    assert "drive512e" in made.read_text() and not drawn.exists() and "wrong" in told.read_text()
    assert main(["--figures", str(given), "--page", str(made), "--documents"]) == FINE
    assert drawn.read_text() == picture.draw(figures) and told.read_text() == DOCUMENT.read_text()
