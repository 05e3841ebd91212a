# SPDX-License-Identifier: GPL-2.0
"""The demo's page explains each column of its table and has the figures that the demo compares with."""

import re
from pathlib import Path

import pytest

from align_reports.verify.table import COLUMNS
from lab.demo.workloads import WORKLOADS

PAGE = (Path(__file__).resolve().parents[1] / "develop" / "demo.rst").read_text()


def test_every_column_is_explained_in_order():
    text = PAGE.split("What the table means")[1]
    named = [name for cell in re.findall(r"^   \* - (.+)$", text, re.MULTILINE)[1:] for name in cell.split(", ")]
    assert named == [column.heading for column in COLUMNS]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_the_published_figures_are_those_that_the_demo_compares_with(workload):
    row = re.search(rf"^   \* - ``{workload.name}``\n     - (.*)\n     - (.*)\n     - (.*)$", PAGE, re.MULTILINE)
    assert row, f"{workload.name} is not in the table"
    assert str(workload.published_count) in row[1]
    assert row[2].strip() == " and ".join(map(str, workload.published_us)) + " µs"
    assert row[3].strip() == f"{workload.published_wall_s:.1f} s"
