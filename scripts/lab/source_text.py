# SPDX-License-Identifier: GPL-2.0
"""What in a source is comment or docstring, and what is not."""

import io
import re
import tokenize

C_TEXT = re.compile(r"/\*(?P<comment>(?:[^*]|\*(?!/))*)\*/|\"(?P<message>(?:[^\"\\\n]|\\.)*)\"|'(?:[^'\\\n]|\\.)+'", re.S)


def without_blanks(text):
    """Return a text without blank lines and blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def c_code(text):
    """Return a C source as the compiler takes it: without comments, blank lines and blanks at the ends of lines."""
    return without_blanks(C_TEXT.sub(lambda found: found[0] if found["comment"] is None else " ", text))


def _notes(text):
    """Yield (first line, first column, last line, last column) of each comment and docstring of a Python source."""
    begins, string = True, None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield *token.start, *token.end
        elif token.type == tokenize.STRING and begins:
            string = (*token.start, *token.end)
        elif token.type == tokenize.NEWLINE and string:
            yield string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            string = string if token.type == tokenize.STRING else None


def python_code(text):
    """Return a Python source without comments, strings that are statements, blank lines and blanks at the ends of lines."""
    lines = text.splitlines()
    for first, begin, last, end in sorted(_notes(text), reverse=True):
        lines[first - 1:last] = [lines[first - 1][:begin] + lines[last - 1][end:]]
    return without_blanks("\n".join(lines))


CODE = {".c": c_code, ".h": c_code, ".py": python_code}


def code(path):
    """Return what a file says to a program: of a C or Python source all but comments and docstrings; of others the bytes."""
    return CODE[path.suffix](path.read_text()) if path.suffix in CODE else path.read_bytes()
