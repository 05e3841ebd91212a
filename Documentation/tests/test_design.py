# SPDX-License-Identifier: GPL-2.0
"""The page of the design has what the code says of it: the text of each DOC: comment, as the kernel's kernel-doc reads it."""

import subprocess
from pathlib import Path

import pytest

from lab.linux import kernels
from lab.program import load

TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "Documentation/target/design.rst").read_text()
design = load(TOP / "Documentation/gen-design")
COMMENTS = design.texts()


def test_the_page_has_the_comments_as_they_are():
    assert len(COMMENTS) > 20
    assert design.findings(PAGE, COMMENTS) == []


def words(text):
    """The text without its lines: kernel-doc adds empty ones."""
    return text.split()


@pytest.mark.parametrize("file,title", COMMENTS, ids=lambda word: word.replace(" ", "-"))
def test_kernel_doc_reads_the_same(file, title):
    script = kernels.fetch_source(kernels.USUAL) / "scripts/kernel-doc"
    # Without a version it asks Sphinx, which may not be installed.
    command = ["perl", script, "-rst", "-sphinx-version", "3.0", "-function", title, TOP / file]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stderr
    assert words(done.stdout) == words(COMMENTS[file, title])


# The test of the tests: what is wrong is found.

PLACE = ".. kernel-doc of kmod/a.c: One\n\nIt is so.\n\n.. end of kernel-doc\n"


@pytest.mark.parametrize("page,comments,wrong", [
    (PLACE, {("kmod/a.c", "One"): "It is so.\n"}, []),
    (PLACE, {("kmod/a.c", "One"): "It is not so.\n"},
     ["the page has another text than 'DOC: One' of kmod/a.c: run 'Documentation/gen-design update'"]),
    (PLACE, {}, ["the page has a place for 'DOC: One' of kmod/a.c, which has no such comment"]),
    (PLACE * 2, {("kmod/a.c", "One"): "It is so.\n"}, ["kmod/a.c: 'DOC: One' has 2 places on the page, not one"]),
    ("", {("kmod/a.c", "One"): "It is so.\n"}, ["kmod/a.c: 'DOC: One' has 0 places on the page, not one"]),
], ids=["same", "other text", "no comment", "twice", "no place"])
def test_a_difference_is_found(page, comments, wrong):
    assert design.findings(page, comments) == wrong


def test_a_place_gets_the_text_of_its_comment():
    assert design.filled(PLACE, {("kmod/a.c", "One"): "It is\nnot so.\n"}) == PLACE.replace("It is so.", "It is\nnot so.")


@pytest.mark.parametrize("comment", ["/*\n * DOC: One\n *\n * It is so.\n */\n", "/**\n * DOC: One\n * It is so. */\n"])
def test_a_comment_of_another_form_is_refused(tmp_path, comment):
    (tmp_path / "a.c").write_text(comment)
    with pytest.raises(SystemExit, match="has not the form"):
        design.texts(tmp_path)
