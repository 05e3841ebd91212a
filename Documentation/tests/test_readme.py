# SPDX-License-Identifier: GPL-2.0
"""What the front page tells a reader to run, look at and set exists."""

import re
from pathlib import Path

import pytest
from align_reports.verify.table import COLUMNS
from align_reports.workloads import WORKLOADS

TOP = Path(__file__).resolve().parents[2]
README = (TOP / "README.md").read_text()


def test_every_make_target_exists():
    targets = set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", README, re.MULTILINE))
    assert {"demo", "check"} <= named
    assert named <= targets, f"no such target: {named - targets}"


def test_every_verb_and_option_of_alignctl_exists():
    rooms = TOP / "userspace" / "alignctl"
    source = "".join(path.read_text() for path in rooms.rglob("*.[ch]")
                     if path.relative_to(rooms).parts[0] not in ("fuzz", "tests"))
    verbs = set(re.findall(r"(?:^ {4}|`)alignctl ([a-z]+)", README, re.MULTILINE))
    assert {"attach", "set", "stats", "detach"} <= verbs
    for verb in verbs:
        assert re.search(rf'^\t"{verb}", "', source, re.MULTILINE), f"no verb {verb}"
    for line in re.findall(r"alignctl [a-z]+ [^#`\n]*--[^#`\n]*", README):
        for option in re.findall(r"--([a-z-]+)", line):
            assert f'{{ "{option}",' in source, f"no option --{option}: {line}"


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    for link in links:
        assert (TOP / link).exists(), link
    for anchor in re.findall(r"\]\(#([^)]+)\)", README):
        titles = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)", README, re.MULTILINE)]
        assert anchor in titles, anchor


def test_every_folder_exists():
    folders = re.findall(r"`([\w/]+/)`", README)
    assert "kmod/" in folders
    for folder in folders:
        assert (TOP / folder).is_dir(), folder


def test_every_column_of_the_demo_is_explained_in_order():
    text = README.split("### What the demo's table means")[1].split("\n## ")[0]
    named = [name for cell in re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)[1:] for name in cell.split(", ")]
    assert named == [column.heading for column in COLUMNS]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_the_published_figures_are_those_that_the_demo_compares_with(workload):
    row = re.search(rf"^\| `{workload.name}` \| ([^|]*)\| ([^|]*)\| ([^|]*)\|$", README, re.MULTILINE)
    assert row, f"{workload.name} is not in the table"
    assert str(workload.published_count) in row[1]
    assert row[2].strip() == " and ".join(map(str, workload.published_us)) + " µs"
    assert row[3].strip() == f"{workload.published_wall_s:.1f} s"


def test_every_setting_is_read_by_something():
    names = set(re.findall(r"DM_ALIGN_\w+", README))
    assert names
    sources = [path for pattern in ("*.py", "python") for path in (TOP / "scripts").rglob(pattern)]
    sources += (TOP / "kmod" / "tests").rglob("*.py")
    read = "".join(path.read_text() for path in sources)
    for name in names:
        assert name in read, name
