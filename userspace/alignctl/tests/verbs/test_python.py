# SPDX-License-Identifier: GPL-2.0
"""The Python that alignctl runs has what its programs import, wherever such a one is."""

import os
import sys
import venv

import pytest

from alignctl_program import alignctl

IO = 3
SYSTEM = "/usr/bin/python3"


@pytest.fixture
def bare(tmp_path):
    """A folder with a python3 that has no libraries but Python's own."""
    venv.create(tmp_path / "bare", symlinks=True, with_pip=False)
    return tmp_path / "bare/bin"


def ranked(tmp_path, **environment):
    """What fleet says of a host, in an environment."""
    (tmp_path / "a.check.json").write_text("{}")
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("ALIGNCTL", "PYTHON"))}
    return alignctl("fleet", tmp_path / "a.check.json", env={**outside, **environment})


def works(done):
    return done.returncode == IO and "a.check.json: is no document of check" in done.stderr


def test_a_python_without_rich_that_is_first_in_path_is_passed_by(bare, tmp_path):
    done = ranked(tmp_path, PATH=f"{bare}:{os.environ['PATH']}")
    assert works(done), done.stderr


def test_where_there_is_none_in_path_it_is_the_systems(tmp_path):
    done = ranked(tmp_path, PATH=str(tmp_path))
    assert works(done), done.stderr


def test_one_that_is_named_is_the_only_one(bare, tmp_path):
    python = bare / "python3"
    done = ranked(tmp_path, ALIGNCTL_PYTHON=str(python), ALIGNCTL_NEXT_PYTHON=SYSTEM)
    assert done.returncode == IO and done.stderr == (
        f"alignctl fleet: needs the Python library rich, which {python} does not have: apt-get install python3-rich "
        "installs it for the system's Python; ALIGNCTL_PYTHON names another one\n")
    done = ranked(tmp_path, ALIGNCTL_PYTHON=sys.executable)
    assert works(done), done.stderr
    done = ranked(tmp_path, ALIGNCTL_PYTHON="/none/python3")
    assert (done.returncode, done.stderr) == (
        IO, "alignctl: fleet: /none/python3: No such file or directory; ALIGNCTL_PYTHON names it\n")
