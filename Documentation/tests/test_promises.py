# SPDX-License-Identifier: GPL-2.0
"""Each test that the page of promises names exists, and no file of guest tests is missing there."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
TESTS = TOP / "kmod" / "tests"
PAGE = (TOP / "Documentation" / "target" / "promises.rst").read_text()
# ``guest/test_order.py::test_name``, or a file alone
NAMED = re.findall(r"``([\w/]+\.(?:py|sh|c))(?:::(\w+))?``", PAGE)


def test_the_page_names_tests():
    assert len(NAMED) > 50


@pytest.mark.parametrize("file,name", sorted(set(NAMED)))
def test_a_named_test_exists(file, name):
    text = (TESTS / file).read_text()
    assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), f"{file} has no {name}"


@pytest.mark.parametrize("file", sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")))
def test_every_file_of_tests_backs_a_promise(file):
    assert file in {named for named, _ in NAMED}, f"which promise does kmod/tests/{file} keep? Say so in promises.rst"
