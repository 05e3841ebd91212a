# SPDX-License-Identifier: GPL-2.0
"""Only comments and blanks are taken from a source: what a compiler or interpreter reads stays."""

import ast
import io
import subprocess
import tokenize

import pytest

from lab.paths import REPO
from lab.source_text import c_code, python_code

CODE = 'char *a = "/* no comment */ \\" */"; char b = \'"\'; int c = 1 / 2;'


@pytest.mark.parametrize("text", [
    f"/* one */\n{CODE}\n", f"\n{CODE}  \n/*\n * of * several / lines **/\n\n", f"{CODE} /* behind */\n/**/\n"])
def test_comments_and_blank_lines_are_left_out(text):
    assert c_code(text) == CODE


@pytest.mark.parametrize("other", [CODE.replace("no", "a"), CODE.replace("1 / 2", "1 /* 2 */"), CODE.replace("'\"'", "'a'")])
def test_strings_and_code_are_not(other):
    assert c_code(other) != CODE


def test_a_comment_between_two_words_leaves_them_two():
    assert c_code("int/**/a;") == "int a;"


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
        assert words(c_code(text)) == words(text), path
        assert "".join(words(text).split()) == "".join(c_code(text).removeprefix(text.split("\n")[0]).split()), path


PYTHON = """a = "# no comment"
def b():
    c = 1
    return 'no docstring', c
d = [
    "no docstring either",
]"""


@pytest.mark.parametrize("text", [
    f"# one\n{PYTHON}  # behind\n", f'"""What it is about.\n\nAt length."""\n\n{PYTHON}\n',
    PYTHON.replace("    c =", '    """Return \\"b\\",\n\n    and more."""\n    # why\n    c ='),
    PYTHON.replace("[\n", "[  # a list\n\n    # of one\n")])
def test_python_comments_and_docstrings_are_left_out(text):
    assert python_code(text) == PYTHON


def test_the_interpreter_reads_the_same_of_the_tests_of_the_target():
    files = [*(REPO / "kmod").rglob("*.py")]
    assert files
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)

    def words(text, left_out=()):
        return [token.string for token in tokenize.generate_tokens(io.StringIO(text).readline)
                if token.type not in layout and token.start not in left_out]
    for path in files:
        text = path.read_text()
        strings = {(node.value.lineno, node.value.col_offset) for node in ast.walk(ast.parse(text))
                   if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)}
        assert words(python_code(text)) == words(text, strings), path
