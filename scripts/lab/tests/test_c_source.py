# SPDX-License-Identifier: GPL-2.0
"""Only comments and blanks are taken from a C source: what a compiler reads stays."""

import subprocess

import pytest

from lab.c_source import without_comments
from lab.paths import REPO

CODE = 'char *a = "/* no comment */ \\" */"; char b = \'"\'; int c = 1 / 2;'


@pytest.mark.parametrize("text", [
    f"/* one */\n{CODE}\n", f"\n{CODE}  \n/*\n * of * several / lines **/\n\n", f"{CODE} /* behind */\n/**/\n"])
def test_comments_and_blank_lines_are_left_out(text):
    assert without_comments(text) == CODE


@pytest.mark.parametrize("other", [CODE.replace("no", "a"), CODE.replace("1 / 2", "1 /* 2 */"), CODE.replace("'\"'", "'a'")])
def test_strings_and_code_are_not(other):
    assert without_comments(other) != CODE


def test_a_comment_between_two_words_leaves_them_two():
    assert without_comments("int/**/a;") == "int a;"


def test_the_compiler_reads_the_same_of_the_engine():
    """gcc's own preprocessor, told to leave all but comments, agrees about each file."""
    files = [path for pattern in ("*.c", "*.h") for path in (REPO / "kmod").glob(pattern)]
    assert files
    for path in files:
        def words(text):
            done = subprocess.run(["gcc", "-fpreprocessed", "-dD", "-E", "-P", "-x", "c", "-"], input=text, text=True,
                                  stdout=subprocess.PIPE, check=True)
            return done.stdout
        text = path.read_text()
        assert words(without_comments(text)) == words(text), path
        assert "".join(words(text).split()) == "".join(without_comments(text).removeprefix(text.split("\n")[0]).split()), path
