# SPDX-License-Identifier: GPL-2.0
"""What the document on probe shows is what the methods make of the models of drives; else make bench-drive DOCUMENTS=1."""

import re

import pytest

from lab.drive import probe_truth, probed
from lab.drive.block_size_truth import HEADING, PROFILES
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
