# SPDX-License-Identifier: GPL-2.0
"""What the document on probe shows is what the methods make of the models of drives; else make bench-drive DOCUMENTS=1."""

import re

import pytest

from lab.drive import block_size_truth, documents, probe_truth, probed, real_time_truth
from lab.drive.block_size_truth import HEADING, OTHERS, PROFILES, renewed
from lab.drive.documents import PROBE, plain, with_block, write

LARGEST = 80 * 1024


def test_the_picture_is_of_these_methods():
    shown = probed.PICTURE.read_text()
    assert shown == probed.draw() and len(shown) < LARGEST
    assert not re.search(r"href|url\(|<script|var\(", shown)
    [options] = re.findall(r"^\.\. image:: probe\.svg\n((?:   .*\n)+)", PROBE.read_text(), re.MULTILINE)
    assert ":alt:" in options


def test_the_table_of_speeds_is_what_the_methods_tell():
    made, status = probe_truth.table()
    text = PROBE.read_text()
    assert status == 0 and with_block(text, "probe_truth", plain(made)) == text


def test_the_table_of_blocks_has_a_row_of_a_hundred_runs_for_each_profile():
    rows = re.findall(r"^  (\S+(?: \S+=\S+)*) +\d+ \+\d+ +(\d+) +(\d+) +(\d+) ", PROBE.read_text(), re.MULTILINE)
    assert f"  {HEADING}" in PROBE.read_text()
    assert [(name, sum(map(int, runs))) for name, *runs in rows] == [(str(truth), 100) for truth in PROFILES]


def test_the_rows_of_one_profile_are_renewed_alone(tmp_path, monkeypatch, capsys):
    """A new profile gets a row at its place, and what is said of other blocks stays out of the document."""
    document = tmp_path / "probe.rst"
    before = PROBE.read_text().splitlines()
    nvme, = (line for line in before if line.startswith("  nvme-512e "))
    usb, = (line for line in before if line.startswith("  usb-liar "))
    other, = (line for line in before if line.startswith("  hdd7200 "))
    mark = other.replace(" on ", " as it was ")
    document.write_text("".join(f"{mark if line == other else line}\n" for line in before if line != usb))
    monkeypatch.setattr(documents, "PROBE", document)
    monkeypatch.setattr(block_size_truth, "OTHERS", [truth for truth in OTHERS if truth.profile in ("nvme-512e", "qlc-16k")][:1])
    assert block_size_truth.main(["2", "nvme-512e", "--document", "usb-liar"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["profile", "usb-liar", "nvme-512e", "nvme-512e"]
    after = document.read_text().splitlines()
    changed = [(was, now) for was, now in zip(before, after, strict=True) if was != now]
    assert [now for _, now in changed] == [mark, f"  {lines[1]}", f"  {lines[2]}"]
    assert [was for was, _ in changed[1:]] == [usb, nvme]


def test_a_row_is_not_put_under_other_columns():
    with pytest.raises(ValueError, match="renew the rows of all"):
        renewed(["profile", "nvme-512e 1"], {"qlc-16k": "qlc-16k 2"})
    rows = {str(truth): f"{truth} 2" for truth in PROFILES}
    assert renewed(["profile", "nvme-512e 1"], rows) == [HEADING, *rows.values()]


def test_a_profile_that_does_not_exist_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        block_size_truth.main(["1", "hdd7201"])
    assert "no such profile: hdd7201; there are st1000dm003 " in capsys.readouterr().err


def test_a_table_of_few_profiles_in_real_time_does_not_replace_that_of_all(capsys):
    with pytest.raises(SystemExit, match="2"):
        real_time_truth.main(["nvme-512e", "--document"])
    assert "the document is of all profiles" in capsys.readouterr().err


def test_a_table_has_one_place_in_a_document(tmp_path):
    document = tmp_path / "a.rst"
    block = ".. The next block is by it; make bench-drive DOCUMENTS=1 writes it.\n\n::\n\n  old\n\n  lines\n\nbehind\n"
    document.write_text(f"before\n\n{block}")
    write(document, "it", "a\n\nb\n")
    assert document.read_text().endswith("::\n\n  a\n\n  b\n\nbehind\n")
    with pytest.raises(ValueError, match=r"a.rst: 0 places for what other prints"):
        write(document, "other", "a")
    document.write_text(f"before\n\n{block}\n{block}")
    with pytest.raises(ValueError, match="2 places"):
        write(document, "it", "a")
