# SPDX-License-Identifier: GPL-2.0
"""The report of a run's time by kernel and by file adds up."""

import pytest

from lab.plugins import spent


@pytest.mark.parametrize("nodeid, part", [
    ("kmod/tests/guest/test_order.py::test_x[linux-6.12-0-600]", "kmod/tests/guest, linux-6.12"),
    ("kmod/tests/guest/test_order.py::test_x[linux-6.12]@guest-6.12", "kmod/tests/guest, linux-6.12"),
    ("kmod/tests/guest/test_order.py::test_x[pad-linux-uml]", "kmod/tests/guest, linux-uml"),
    ("scripts/lab/tests/proof/test_kunit.py::test_kunit[suite-um]", "scripts/lab/tests/proof/test_kunit.py"),
    ("scripts/tests/test_setup.py::test_linux-6.12", "scripts/tests/test_setup.py"),
])
def test_a_test_belongs_to_its_kernel_or_its_file(nodeid, part):
    assert spent.part(nodeid) == part


def test_the_longest_come_first_the_short_together_and_all_add_up():
    told = spent.lines([("a.py::x", 60), ("a.py::x", 6), ("b.py::y", 600), ("c.py::z", 12), ("d.py::w", 12), ("a.py::v", 0)])
    assert told == ["minutes  tests",
                    "   10.0      1  b.py",
                    "    1.1      2  a.py",
                    "    0.4      2  2 others",
                    "   11.5      5  all"]


def test_a_short_run_has_nothing_to_explain():
    assert spent.lines([("a.py::x", 60)]) == []


def test_of_each_test_all_phases_count_and_the_costliest_comes_first():
    assert spent.costliest([("a", 1), ("b", 5), ("a", 6.5)]) == ["7.50\ta", "5.00\tb"]
