# SPDX-License-Identifier: GPL-2.0
"""The report of a run's time by kernel and by file adds up."""

import os
import re
import subprocess
import sys

import pytest

from lab.pace import patience
from lab.paths import REPO
from lab.plugins import spent

SCRIPTS = REPO / "scripts"
# Tests that use the processor for 0.3 s, by its own clock.
TESTS = """
import subprocess, sys, time
USE = "import time\\nwhile time.process_time() < until: pass"
def test_of_itself():
    exec(USE, {"until": time.process_time() + 0.3})
def test_of_a_child():
    subprocess.run([sys.executable, "-c", "until = 0.3\\n" + USE], check=True)
def test_of_none():
    time.sleep(0.3)
"""
# A plugin that prints what each test's call is said to have used.
SEE = """
def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.stats["passed"]:
        if report.when == "call":
            terminalreporter.line(f"used {report.nodeid.partition('::')[2]} {report.processor}")
"""


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
    told = spent.lines([("a.py::x", 60, 30), ("a.py::x", 6, 0), ("b.py::y", 600, 1200), ("c.py::z", 12, 6), ("d.py::w", 12, 0),
                        ("a.py::v", 0, 0)])
    assert told == ["minutes  processor  tests",
                    "   10.0       20.0      1  b.py",
                    "    1.1        0.5      2  a.py",
                    "    0.4        0.1      2  2 others",
                    "   11.5       20.6      5  all"]


def test_a_short_run_has_nothing_to_explain():
    assert spent.lines([("a.py::x", 60, 60)]) == []


def test_of_each_test_all_phases_count_and_the_costliest_comes_first():
    assert spent.costliest([("a", 1, 0), ("b", 5, 2), ("a", 6.5, 0.25)]) == ["7.50\t0.25\ta", "5.00\t2.00\tb"]


def test_the_processor_time_of_a_phase_is_that_of_the_worker_and_of_what_has_ended_in_it(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "see.py").write_text(SEE)
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "lab.plugins.spent", "-p", "see",
                          "-n", "1", "--rootdir", tmp_path, "-c", "/dev/null", tmp_path / "test_it.py"],
                         env={**os.environ, "PYTHONPATH": f"{SCRIPTS}:{tmp_path}"}, capture_output=True, text=True,
                         timeout=patience(120))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    used = dict(re.findall(r"^used (\w+) (\S+)$", ran.stdout, re.M))
    assert float(used["test_of_itself"]) >= 0.3 and float(used["test_of_a_child"]) >= 0.3
    # Of a wait there is none, even after work.
    assert float(used["test_of_none"]) < 0.3
