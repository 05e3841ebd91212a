# SPDX-License-Identifier: GPL-2.0
"""A figure that may be unknown: the compiler refuses to compare it as if it were a number."""

import os
import subprocess

import pytest

from lab.paths import REPO

PROGRAM = '#include "base/maybe.h"\nbool f(struct maybe m);\nbool f(struct maybe m)\n{{\n\treturn {expression};\n}}\n'


def compiled(expression):
    return subprocess.run([os.environ.get("CC", "gcc"), "-fsyntax-only", "-Wall", "-Werror", f"-I{REPO}/userspace/alignctl",
                           "-x", "c", "-"], input=PROGRAM.format(expression=expression), text=True, capture_output=True,
                          check=False)


@pytest.mark.parametrize("expression", ["maybe_is(m, 4096)", "maybe_below(m, 4096)", "maybe_or(m, 0) < 4096",
                                        "!maybe_known(m)", "maybe_same(m, MAYBE_UNKNOWN)"])
def test_a_comparison_that_says_what_unknown_means_compiles(expression):
    done = compiled(expression)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("expression", ["m == 4096", "m < 4096", "!m", "m.maybe_number < 4096", "m.maybe_there"])
def test_a_comparison_that_does_not_is_refused(expression):
    assert compiled(expression).returncode != 0
