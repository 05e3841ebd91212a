# SPDX-License-Identifier: GPL-2.0
"""make check leaves out and counts the tests of make check-all, but none that the user named."""

import os
import subprocess
import sys

import pytest

from lab.paths import REPO
from lab.plugins import extent

TESTS = """import pytest


def test_always():
    pass


@pytest.mark.check_all("another test shows it sooner")
@pytest.mark.parametrize("number", range(3))
def test_at_length(number):
    pass
"""


OF_KERNELS = """import pytest
from lab.plugins.extent import only_usual


@pytest.mark.parametrize("kernel", ["6.1", "6.12", "uml"])
@pytest.mark.parametrize("mode", ["pad", only_usual("pad is enough", "report")])
def test_on_each(kernel, mode):
    pass
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs pytest on a folder with the sample and returns its output."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_sample.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\n")

    def run(*arguments, everything="0"):
        environment = {**os.environ, extent.VARIABLE: everything, "PYTHONPATH": str(REPO / "scripts")}
        done = subprocess.run([sys.executable, "-m", "pytest", "-p", "lab.plugins.extent", "-p", "no:cacheprovider", *arguments],
                              cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        return done.stdout
    return run


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["one process", "workers"])
def test_what_is_left_out_is_counted(run, workers):
    said = run(*workers)
    assert "1 passed" in said and "\n3 tests of those collected here" in said


@pytest.mark.parametrize("arguments", [["tests/test_sample.py"], ["-k", "at_length or always"]])
def test_nothing_that_is_named_is_left_out(run, arguments):
    said = run(*arguments)
    assert "4 passed" in said and "left to make check-all" not in said


def test_a_parameter_of_one_kernel_is_left_out_on_the_other_kernels_only(run, tmp_path):
    (tmp_path / "tests/test_sample.py").write_text(OF_KERNELS)
    assert "5 passed" in run() and "\n1 tests of those collected here" in run()
    said = run("--collect-only", "-q")
    assert "[report-6.12]" in said and "[report-uml]" in said and "[report-6.1]" not in said
    assert "6 passed" in run(everything="1")


def test_check_all_leaves_nothing_out(run):
    assert "4 passed" in run(everything="1")


def test_a_slice_has_its_length_from_its_variable_or_from_the_run(monkeypatch):
    short, full, _ = extent.LENGTHS["DM_ALIGN_STRESS_SECONDS"]
    monkeypatch.delenv("DM_ALIGN_STRESS_SECONDS", raising=False)
    for everything, expected in (("", short), ("0", short), ("1", full)):
        monkeypatch.setenv(extent.VARIABLE, everything)
        assert extent.length("DM_ALIGN_STRESS_SECONDS") == expected
    monkeypatch.setenv("DM_ALIGN_STRESS_SECONDS", "7.5")
    assert extent.length("DM_ALIGN_STRESS_SECONDS") == 7.5


def test_no_slice_is_longer_in_make_check():
    assert all(0 < short <= full for short, full, _ in extent.LENGTHS.values())


def test_the_document_has_the_lengths():
    """To mend a failure, put the result of extent.table() between the two marks."""
    assert extent.table() in (REPO / "Documentation/develop/testing.rst").read_text()
