# SPDX-License-Identifier: GPL-2.0
"""What in a C source is comment, what is string, and what is neither."""

import re

TEXT = re.compile(r"/\*(?P<comment>(?:[^*]|\*(?!/))*)\*/|\"(?P<message>(?:[^\"\\\n]|\\.)*)\"|'(?:[^'\\\n]|\\.)+'", re.S)


def without_comments(text):
    """Return a source as the compiler takes it: without comments, blank lines and blanks at the ends of lines."""
    code = TEXT.sub(lambda found: found[0] if found["comment"] is None else " ", text)
    return "\n".join(line.rstrip() for line in code.splitlines() if line.strip())
