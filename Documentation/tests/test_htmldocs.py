# SPDX-License-Identifier: GPL-2.0
"""The documents become pages without a warning, with a search; a document that is missing or named wrongly is a warning."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
DOCUMENTS = [path.relative_to(TOP / "Documentation") for path in sorted((TOP / "Documentation").rglob("*.rst"))]


@pytest.fixture
def tree(tmp_path):
    """Return a tree like this one, whose documents a test may change."""
    for path in TOP.iterdir():
        if path.name not in ("Documentation", "out", ".git"):
            (tmp_path / path.name).symlink_to(path)
    shutil.copytree(TOP / "Documentation", tmp_path / "Documentation", ignore=shutil.ignore_patterns("tests"))
    return tmp_path


def htmldocs(tree):
    done = subprocess.run(["make", "-s", "-C", tree, "htmldocs", f"OUT={tree}/out"], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_the_documents_become_pages_that_a_search_finds(tree):
    status, said = htmldocs(tree)
    assert status == 0, said
    pages = tree / "out/html"
    assert said == f"the first page is {pages}/index.html\n"
    assert len(DOCUMENTS) > 15 and not [path for path in DOCUMENTS if not (pages / path).with_suffix(".html").exists()]
    assert "searchindex.js" in (pages / "search.html").read_text()
    index = (pages / "searchindex.js").read_text()
    assert all(f'"{path.with_suffix("")}"' in index for path in DOCUMENTS)
    # A document that another one names is a link there.
    assert re.search(r'href="\.\./develop/simulation\.html"', (pages / "target/promises.html").read_text())


FAULTS = [
    ("admin/fleet.rst", "\nSee ``nowhere.rst``.\n", "unknown document: '/admin/nowhere'"),
    ("target/kernels.rst", "\nSee `Nowhere`_.\n", 'Unknown target name: "nowhere"'),
    ("develop/new.rst", "===\nNew\n===\n\nText.\n", "isn't included in any toctree"),
]


def test_faults_of_documents_fail(tree):
    for document, text, _ in FAULTS:
        with open(tree / "Documentation" / document, "a", encoding="utf-8") as file:
            file.write(text)
    status, said = htmldocs(tree)
    assert status
    for document, _, warning in FAULTS:
        assert re.search(rf"{document}.*{re.escape(warning)}", said), said
