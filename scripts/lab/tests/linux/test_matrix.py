# SPDX-License-Identifier: GPL-2.0
"""The matrix has the highest result of all runs for each kernel and host, and loses none."""

import pytest

from lab.linux import matrix

PAGE = f"head\n{matrix.BEGIN}\n{matrix.table({})}\n{matrix.END}tail\n"


@pytest.fixture
def found(tmp_path, monkeypatch):
    monkeypatch.setattr(matrix, "FOUND", tmp_path / "matrix")
    monkeypatch.setattr(matrix, "host", lambda: "Debian 12")
    monkeypatch.setattr(matrix, "commit", lambda: "abcdef0")


@pytest.mark.parametrize("release, row", [
    ("6.1.0-56-amd64", "6.1, Debian 12"), ("6.12.117+deb12-amd64", "6.12, Debian 12"),
    ("6.12.90+deb13.1-amd64", "6.12, Debian 13"), ("7.2.12+deb14-amd64", "7.2, Debian 14")])
def test_a_release_has_a_row(release, row):
    assert matrix.kernel(release) == row


def test_a_table_can_be_read_back():
    cells = {("6.1, Debian 12", "Debian 13"): ("built", "gcc-12; 6.1.0-56-amd64"), ("6.18, Fedora", "Fedora 43"): ("booted", "")}
    known = {place: cell for place, cell in matrix.parse(matrix.table(cells)).items() if cell[0] != matrix.NOT_TRIED}
    assert known == cells


def test_what_was_not_tried_says_so():
    cells = matrix.parse(matrix.table({}))
    assert set(cells.values()) == {(matrix.NOT_TRIED, "")}
    assert {place for place in cells} == {(kernel, host) for kernel in matrix.KERNELS for host in matrix.HOSTS}


@pytest.mark.usefixtures("found")
def test_the_most_that_was_found_counts():
    matrix.note("7.2.12+deb14-amd64", matrix.ALL_TESTS, "7 passed")
    matrix.note("7.2.12+deb14-amd64", matrix.BUILT, "gcc-16")
    matrix.note("6.1.0-56-amd64", matrix.BUILT, "gcc-12")
    level, words = matrix.noted()["7.2, Debian 14", "Debian 12"]
    assert level == "all tests" and words.startswith("7 passed; 7.2.12+deb14-amd64; 20") and words.endswith("; abcdef0")
    text = matrix.page(PAGE, matrix.noted())
    assert text.startswith("head\n") and text.endswith("tail\n")
    # Another checkout has a lower result for one kernel, and a new one for another.
    again = matrix.page(text, {("7.2, Debian 14", "Debian 12"): ("booted", "TCG"),
                               ("6.12, Debian 13", "Debian 13"): ("booted", "TCG")})
    cells = matrix.parse(again)
    assert cells["7.2, Debian 14", "Debian 12"] == (level, words)
    assert cells["6.12, Debian 13", "Debian 13"] == ("booted", "TCG")
    assert cells["6.1, Debian 12", "Debian 12"][0] == "built"


@pytest.mark.usefixtures("found")
def test_newer_findings_of_the_same_kind_replace_older_ones():
    text = matrix.page(PAGE, {("6.1, Debian 12", "Debian 12"): ("all tests", "old")})
    assert "old" in text
    text = matrix.page(text, {("6.1, Debian 12", "Debian 12"): ("all tests", "new")})
    assert "new" in text and "old" not in text


def test_a_page_without_its_marks_is_left_alone():
    with pytest.raises(SystemExit):
        matrix.page("no marks", {})


def test_the_page_holds_a_table_of_ours():
    text = matrix.PAGE.read_text()
    assert matrix.page(text, {}) == text
    assert {level for level, _ in matrix.parse(text.partition(matrix.BEGIN)[2]).values()} <= {*matrix.LEVELS}
