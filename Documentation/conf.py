# SPDX-License-Identifier: GPL-2.0
"""Settings of Sphinx for `make htmldocs`: the documents as pages, with a search."""

import subprocess
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref

HERE = Path(__file__).resolve().parent

project = "dm-align"
version = release = subprocess.run([HERE.parent / "scripts/version"], capture_output=True, text=True, check=True).stdout.strip()
exclude_patterns = ["tests", "man", "ABI"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "fixed_sidebar": True}
html_show_copyright = False
# Blocks are sessions of a shell, C and tables of figures: no language suits all.
highlight_language = "none"


def link_documents(app, tree):
    """Make a link of each document that a text names as ``name.rst``. Such a name without its document is a warning."""
    here = HERE / Path(app.env.docname).parent
    for literal in list(tree.findall(nodes.literal)):
        name = literal.astext()
        if not name.endswith(".rst"):
            continue
        path = (HERE.parent if name.startswith("Documentation/") else here) / name
        target = Path("/", path.resolve().relative_to(HERE)).with_suffix("").as_posix()
        link = pending_xref("", refdomain="std", reftype="doc", reftarget=target, refdoc=app.env.docname, refexplicit=True,
                            refwarn=True)
        literal.replace_self(link)
        link += literal


def setup(app):
    app.connect("doctree-read", link_documents)
    return {"parallel_read_safe": True}
