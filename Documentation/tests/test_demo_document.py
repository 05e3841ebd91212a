# SPDX-License-Identifier: GPL-2.0
"""The demo's page explains each column of its table and has the published figures."""

import re
from pathlib import Path

import pytest

from align_reports.verify.table import COLUMNS
from lab.demo.workloads import WORKLOADS
from lab.drive.rows import WORKLOADS as PUBLISHED

PAGE = (Path(__file__).resolve().parents[1] / "develop" / "demo.rst").read_text()


def test_every_column_is_explained_in_order():
    text = PAGE.split("What the table means")[1]
    named = [name for cell in re.findall(r"^   \* - (.+)$", text, re.MULTILINE)[1:] for name in cell.split(", ")]
    assert named == [column.heading for column in COLUMNS]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_the_published_figures_are_those_that_the_drive_models_are_held_to(workload):
    row = re.search(rf"^   \* - ``{workload.name}``\n     - (.*)\n     - (.*)\n     - (.*)$", PAGE, re.MULTILINE)
    assert row, f"{workload.name} is not in the table"
    assert str(workload.published_count) in row[1]
    assert row[2].strip() == " and ".join(map(str, PUBLISHED[workload.name].mean_us)) + " µs"
    assert row[3].strip() == f"{PUBLISHED[workload.name].wall_s:.1f} s"
